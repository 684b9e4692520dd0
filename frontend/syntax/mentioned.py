"""Names in pieces of a tree: which occur, and which may be assigned."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scopt import ir
from scopt.frontend.syntax.structs import reference_of
from scopt.frontend.syntax.symbols import base_name
from scopt.frontend.text.directives import is_directive
from scopt.frontend.text.gnu import opaque_words
from scopt.ir.walks import walk


def written_in(nodes: Iterable[Any]) -> frozenset[str]:
    """Names of variables that may be assigned in the nodes, wholly or in part: ``x = …``, ``a[i] += …``, ``x++``, ``*p
    = …`` (p)."""
    written: set[str] = set()
    for node in walk(*nodes):
        target = None
        if isinstance(node, ir.Assignment):
            target = node.lvalue
        elif isinstance(node, ir.UnaryOp) and node.op in ("++", "--", "p++", "p--"):
            target = node.expr
        elif (words := opaque_words(node)) is not None:
            written.update(word.lstrip("&") for word in words)
        if target is not None and (name := base_name(target)) is not None:
            written.add(name)
    return frozenset(written)


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


def _pragma_words(pragma: Any) -> list[str]:
    if is_directive(pragma):
        return []  # names loops, which is no use of their iterators
    text = pragma.string if isinstance(pragma.string, str) else str(getattr(pragma.string, "value", ""))
    return "".join(c if c.isalnum() or c in "_$" else " " for c in text).split()


def written_names(node: Any) -> frozenset[str]:
    """Names of scalars and arrays that a node writes, iterators of its loops included."""
    found: set[str] = set()

    def visit(part: Any) -> None:
        target = None
        if isinstance(part, ir.Assignment):
            target = part.lvalue
        elif isinstance(part, ir.UnaryOp) and part.op in ("++", "--", "p++", "p--"):
            target = part.expr
        elif isinstance(part, ir.Decl) and part.init is not None:
            found.add(part.name)
        if target is not None:
            base = reference_of(target).base
            if isinstance(base, ir.ID):
                found.add(base.name)
        for child in part.parts:
            visit(child)

    visit(node)
    return frozenset(found)
