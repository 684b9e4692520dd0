"""Conditions as trees: their operators, what joins them, and what they are worth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce

from scopt import ir

ORDERS = ("<", "<=", ">", ">=")
COMPARISONS = (*ORDERS, "==", "!=")


def conjuncts(condition: ir.Node) -> Iterator[ir.Node]:
    """The parts of a condition that are joined by ``&&``, in their order."""
    if isinstance(condition, ir.BinaryOp) and condition.op == "&&":
        yield from conjuncts(condition.left)
        yield from conjuncts(condition.right)
    else:
        yield condition


def conjunction(parts: Sequence[ir.Node]) -> ir.Node:
    """Conditions, at least one, joined by ``&&``."""
    return reduce(lambda left, right: ir.BinaryOp("&&", left, right, left.coord), parts)


def truth(node: ir.Node) -> ir.Node:
    """0 or 1: whether an expression isn't zero."""
    return node if is_truth(node) else ir.BinaryOp("!=", node, ir.Constant("int", "0"))


def is_truth(node: ir.Node) -> bool:
    """Whether an expression is 0 or 1."""
    match node:
        case ir.BinaryOp(op="&" | "|", left=left, right=right):
            return is_truth(left) and is_truth(right)
        case ir.BinaryOp(op=op):
            return op in (*COMPARISONS, "&&", "||")
        case ir.UnaryOp(op="!"):
            return True
    return False
