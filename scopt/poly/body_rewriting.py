"""What rewriting statements' references takes: other nodes in their place, and values that stay in an iteration."""

from __future__ import annotations

from collections.abc import Callable

import islpy as isl

from scopt import ir
from scopt.poly.isl_utils import IN, OUT


def replaced(root: ir.Node, old: ir.Node, cell: Callable[[], ir.Node]) -> ir.Node:
    """Put a new cell in the place of a scalar, or at the base of an array reference, somewhere below `root`; returns
    the whole reference."""
    if isinstance(old, ir.ArrayRef):
        base = old
        while isinstance(base.name, ir.ArrayRef):
            base = base.name
        base.name = cell()
        return old
    new = cell()
    put(root, old, new)
    return new


def put(root: ir.Node, old: ir.Node, new: ir.Node) -> None:
    """Put one node in the place of another somewhere below `root`."""
    pending = [root]
    while pending:
        node = pending.pop()
        for role in node.__slots__:
            value = getattr(node, role, None)
            if value is old:
                setattr(node, role, new)
            elif isinstance(value, list) and any(item is old for item in value):
                setattr(node, role, [new if item is old else item for item in value])
        pending.extend(child for _, child in node.children())


def agree(relation: isl.Map, depth: int) -> bool:
    """Whether sources and sinks have the same first iterators."""
    same = isl.Map.universe(relation.get_space())
    for k in range(depth):
        same = same.equate(IN, k, OUT, k)
    return bool(relation.is_subset(same))


def always_evaluated(root: ir.Node, leaf: ir.Node | None) -> bool:
    """Whether no condition decides if an operand is looked at: else a copy could read what doesn't exist."""
    if root is leaf:
        return True
    if isinstance(root, ir.BinaryOp) and root.op in ("&&", "||"):
        return False
    if not isinstance(
        root, ir.Assignment | ir.BinaryOp | ir.UnaryOp | ir.Cast | ir.FuncCall | ir.ExprList | ir.ArrayRef
    ):
        return False
    return any(always_evaluated(child, leaf) for _, child in root.children())
