"""Functions with a body that a call by their name needn't reach: another one may be put in their place when the program
is linked or loaded."""

from __future__ import annotations

import re

from scopt import ir
from scopt.frontend.syntax.purity import is_fixed
from scopt.frontend.text.preprocessed import Preprocessed

_GIVES_WAY = re.compile(r"\b_*(?:weak|weakref|ifunc|alias)_*\b")
_WORD = re.compile(r"[A-Za-z_]\w*")


def replaceable_functions(ast: ir.FileAST, preprocessed: Preprocessed) -> frozenset[str]:
    """Of external functions those that are said to be weak or the like; all of them in code for shared libraries, where
    compilers keep such calls, too."""
    external = frozenset(node.decl.name for node in ast.ext if isinstance(node, ir.FuncDef) and not is_fixed(node))
    if "__PIC__" in preprocessed.macros and "__PIE__" not in preprocessed.macros:
        return external
    return external & _giving_way(preprocessed.text) if _GIVES_WAY.search(preprocessed.text) else frozenset()


def _giving_way(text: str) -> frozenset[str]:
    """The words of declarations, and of directives, that say something like it."""
    words: set[str] = set()
    for found in _GIVES_WAY.finditer(text):
        line = text[text.rfind("\n", 0, found.start()) + 1 :].partition("\n")[0]
        if line.lstrip().startswith("#"):
            words |= set(_WORD.findall(line))
            continue
        start = max(text.rfind(end, 0, found.start()) for end in ";{}") + 1
        ends = (place for end in ";{" if (place := text.find(end, found.end())) >= 0)
        words |= set(_WORD.findall(text[start : min(ends, default=len(text))]))
    return frozenset(words)
