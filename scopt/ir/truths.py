"""Conditions as trees: their operators, what joins them, and what they are worth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce

from scopt import ir

ORDERS = ("<", "<=", ">", ">=")
COMPARISONS = (*ORDERS, "==", "!=")


def conjuncts(condition: ir.Node) -> Iterator[ir.Node]:
    """The parts of a condition that are joined by ``&&``, in their order."""
    return operands("&&", condition)


def operands(op: str, node: ir.Node) -> Iterator[ir.Node]:
    """What an expression joins by one operator, in its order: the expression itself where it is none of these."""
    if isinstance(node, ir.BinaryOp) and node.op == op:
        yield from operands(op, node.left)
        yield from operands(op, node.right)
    else:
        yield node


def sum_of_equalities(node: ir.Node) -> tuple[str, list[ir.Node]] | None:
    """How a sum of ``==`` is compared with 0, ``==`` or ``!=``, and its terms; None where an expression is none."""
    match node:
        case ir.BinaryOp(
            op="!=" | "==" as op, left=ir.BinaryOp(op="+") as total, right=ir.Constant(type="int", value="0")
        ):
            terms = list(operands("+", total))
            if all(isinstance(one, ir.BinaryOp) and one.op == "==" for one in terms):
                return op, terms
    return None


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
