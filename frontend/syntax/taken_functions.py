"""Names of functions of C's library, and of OpenMP's, that a file has for things of its own: nothing that our text says
at file scope leads to the library's functions there, and a linker takes a file's own ``malloc`` for the one that
``__builtin_malloc`` calls.

Parameters, local variables, members and tags don't matter: our text calls such functions at file scope, or as
``__builtin_…``; nor do macros with parameters, as their names have parentheses around them there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate, takewhile

from scopt.frontend.syntax.unit import TranslationUnit
from scopt.frontend.text.chunks import Chunk, split
from scopt.frontend.text.preprocessed import Preprocessed
from scopt.ir.library_names import ALIGNED, MEMORY, THREADS

# What declares nothing: attributes, directives, and literals.
_ASIDE = re.compile(
    r"\b__attribute(?:__)?\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)|^[ \t]*#[^\n]*"
    r'|"(?:\\[\s\S]|[^"\\\n])*"|\'(?:\\[\s\S]|[^\'\\\n])*\'',
    re.MULTILINE,
)
_TOKEN = re.compile(r"\w+|[^\w\s]")
_BEFORE_NAMES = frozenset("* ( const volatile restrict".split())
_OTHERWISE = re.compile(r"\b(?:static|typedef)\b")


def taken_functions(tu: TranslationUnit) -> frozenset[str]:
    """Those of these names that the file, or a header of its own, gives to something else."""
    return tu.worked_out("taken functions", lambda: frozenset(_taken(tu.preprocessed)))


def _taken(result: Preprocessed) -> Iterator[str]:
    called = (ALIGNED, *THREADS)  # by these names
    yield from (name for name in called if name in result.all_macros and result.all_macros[name].parameters is None)
    names = [name for name in (*MEMORY, *called) if name in result.text]
    for chunk in split(result) if names else ():
        if not chunk.system:
            text = _ASIDE.sub(" ", result.text[chunk.start : chunk.body if chunk.body >= 0 else chunk.end])
            yield from (
                name
                for name in names
                if name in text and _is_declared(text, name, chunk) and not _is_library(text, name, chunk)
            )


def _is_declared(text: str, name: str, chunk: Chunk) -> bool:
    """Whether an external declaration may declare the name at file scope: in no list of parameters, in no braces but
    those of an enumeration, and as no tag."""
    tokens = _TOKEN.findall(text)
    constants = "enum" in tokens and chunk.body < 0
    depths = accumulate((token == "(") - (token == ")") for token in tokens)
    braces = accumulate((token == "{") - (token == "}") for token in tokens)
    for k, (token, depth, inside) in enumerate(zip(tokens, depths, braces, strict=True)):
        if token == name and (not inside or constants):
            before = list(takewhile(_BEFORE_NAMES.__contains__, reversed(tokens[:k])))
            tag = tokens[k - 1] in ("struct", "union", "enum") if k else False
            if depth == before.count("(") and not tag:
                return True
    return False


def _is_library(text: str, name: str, chunk: Chunk) -> bool:
    """Whether a declaration is one of the library's function."""
    if chunk.body >= 0 or _OTHERWISE.search(text):
        return False
    if name in MEMORY:
        return re.search(rf"[\w*,]\s*(?:\b{name}|\(\s*{name}\s*\))\s*\(", text) is not None
    return (
        name in THREADS
        and re.fullmatch(rf"(?:extern\s+)?int\s+{name}\s*\(\s*(?:void)?\s*\)\s*;", text.strip()) is not None
    )
