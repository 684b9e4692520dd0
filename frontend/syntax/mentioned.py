"""Names that occur in pieces of a tree."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scopt import ir
from scopt.frontend.text.directives import is_directive
from scopt.frontend.text.openmp_clauses import clause_words, is_openmp
from scopt.ir.effects import opaque_words
from scopt.ir.walks import walk


def identifiers(node: Any) -> frozenset[str]:
    """Names of all variables, functions and constants that occur in a node;
    names of members and labels are left out."""
    names: set[str] = set()
    for found in walk(node):
        if isinstance(found, ir.ID):
            names.add(found.name)
        elif isinstance(found, ir.Pragma):
            names.update(_pragma_words(found))
        elif (words := opaque_words(found)) is not None:
            names.update(word.lstrip("&") for word in words)
    return frozenset(names)


def _pragma_words(pragma: Any) -> Iterable[str]:
    if is_directive(pragma):
        return []  # names loops, which is no use of their iterators
    text = pragma.string if isinstance(pragma.string, str) else str(getattr(pragma.string, "value", ""))
    if is_openmp(text):
        return clause_words(text)
    return "".join(c if c.isalnum() or c in "_$" else " " for c in text).split()
