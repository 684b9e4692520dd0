"""Forms of references, and of what they are compared with."""

from __future__ import annotations

from typing import Any

from scopt import ir


def element_of(node: Any) -> ir.ArrayRef | None:
    """The element ``a[i]`` whose member ``a[i].x``, or part of a member ``a[i].x[j].y``, a reference is; None for any
    other."""
    while (isinstance(node, ir.StructRef) and node.type == ".") or isinstance(node, ir.ArrayRef):
        if isinstance(node, ir.ArrayRef) and isinstance(node.name, ir.ID):
            return node
        node = node.name
    return None


def is_null(node: Any) -> bool:
    """``0``, ``(void *)0`` or the like."""
    while isinstance(node, ir.Cast):
        node = node.expr
    return isinstance(node, ir.Constant) and node.value == "0"
