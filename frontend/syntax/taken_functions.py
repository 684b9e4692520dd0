"""Names of functions of C's library, and of OpenMP's, that a file has for things of its own: nothing that our text says
at file scope leads to the library's functions there, and a linker takes a file's own ``malloc`` for the one that
``__builtin_malloc`` calls.

Parameters, local variables, members and tags don't matter: our text calls such functions at file scope, or as
``__builtin_…``; nor do macros with parameters, as their names have parentheses around them there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from scopt.frontend.syntax.unit import TranslationUnit
from scopt.frontend.text.chunks import Chunk, split
from scopt.frontend.text.preprocessed import Preprocessed
from scopt.ir.library_names import ALIGNED, MEMORY, THREADS

_ATTRIBUTE = re.compile(
    r"\b__attribute(?:__)?\s*\(\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)|^[ \t]*#[^\n]*", re.MULTILINE
)
_TOKEN = re.compile(r'"(?:\\[\s\S]|[^"\\\n])*"|\'(?:\\[\s\S]|[^\'\\\n])*\'|\w+|[(){}]')
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
            text = _ATTRIBUTE.sub(" ", result.text[chunk.start : chunk.body if chunk.body >= 0 else chunk.end])
            yield from (
                name
                for name in names
                if name in text and _is_declared(text, name, chunk) and not _is_library(text, name, chunk)
            )


def _is_declared(text: str, name: str, chunk: Chunk) -> bool:
    """Whether an external declaration may declare the name at file scope: that stands in no parentheses but its own, in
    no braces but those of an enumeration, and in no body."""
    if re.search(rf"\(\s*(?:\*\s*)*{name}\s*[)(\[]", text):
        return True
    parentheses, braces, constants = 0, 0, re.search(r"\benum\b", text) is not None and chunk.body < 0
    for token in _TOKEN.findall(text):
        parentheses += (token == "(") - (token == ")")
        braces += (token == "{") - (token == "}")
        if token == name and parentheses == 0 and (braces == 0 or constants):
            return True
    return False


def _is_library(text: str, name: str, chunk: Chunk) -> bool:
    """Whether a declaration is one of the library's function."""
    if chunk.body >= 0 or _OTHERWISE.search(text):
        return False
    if name in MEMORY:
        return re.search(rf"[\w*]\s*(?:\b{name}|\(\s*{name}\s*\))\s*\(", text) is not None
    return (
        name in THREADS
        and re.fullmatch(rf"(?:extern\s+)?int\s+{name}\s*\(\s*(?:void)?\s*\)\s*;", text.strip()) is not None
    )
