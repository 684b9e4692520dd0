"""What rewriting statements' references takes: other nodes in their place, and values that stay in an iteration."""

from __future__ import annotations

from collections.abc import Callable

import islpy as isl
from pycparser import c_ast

from scopt.poly.isl_utils import IN, OUT


def replaced(root: c_ast.Node, old: c_ast.Node, cell: Callable[[], c_ast.Node]) -> c_ast.Node:
    """Put a new cell in the place of a scalar, or at the base of an array reference, somewhere below `root`; returns
    the whole reference."""
    if isinstance(old, c_ast.ArrayRef):
        base = old
        while isinstance(base.name, c_ast.ArrayRef):
            base = base.name
        base.name = cell()
        return old
    new = cell()
    put(root, old, new)
    return new


def put(root: c_ast.Node, old: c_ast.Node, new: c_ast.Node) -> None:
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


def always_evaluated(root: c_ast.Node, leaf: c_ast.Node | None) -> bool:
    """Whether no condition decides if an operand is looked at: else a copy could read what doesn't exist."""
    if root is leaf:
        return True
    if isinstance(root, c_ast.BinaryOp) and root.op in ("&&", "||"):
        return False
    if not isinstance(
        root,
        c_ast.Assignment
        | c_ast.BinaryOp
        | c_ast.UnaryOp
        | c_ast.Cast
        | c_ast.FuncCall
        | c_ast.ExprList
        | c_ast.ArrayRef,
    ):
        return False
    return any(always_evaluated(child, leaf) for _, child in root.children())
