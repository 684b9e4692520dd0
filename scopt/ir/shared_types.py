"""Declarations that define a type together: `struct {…} a, *b;` is two in the tree, which share the type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scopt import ir

_DECLARATORS = (ir.PtrDecl, ir.ArrayDecl, ir.FuncDecl, ir.TypeDecl)


def groups(items: Sequence[ir.Node]) -> list[list[ir.Node]]:
    """Items one by one, and together those that declare names of a type that is defined there: it has one body."""
    found: list[list[ir.Node]] = []
    for item in items:
        defined = _defined_type(item)
        last = found[-1][0] if found else None
        if (
            defined is not None
            and last is not None
            and _defined_type(last) is defined
            and _specifiers(last) == _specifiers(item)
        ):
            found[-1].append(item)
        else:
            found.append([item])
    return found


def _defined_type(n: ir.Node) -> ir.Node | None:
    """The structure, union or enumeration that a declaration defines."""
    if not isinstance(n, ir.Decl | ir.Typedef):
        return None
    found = n.type
    while isinstance(found, _DECLARATORS):
        found = found.type
    if isinstance(found, ir.Struct | ir.Union) and found.decls is not None:
        return found
    return found if isinstance(found, ir.Enum) and found.values is not None else None


def _specifiers(n: ir.Node) -> tuple[Any, ...]:
    """What declarations have to share to be written as one."""
    if isinstance(n, ir.Decl):
        return ir.Decl, n.quals, n.align, n.storage, n.funcspec
    return ir.Typedef, n.quals, n.storage
