"""Where gcc would compute something from a constant that a choice may have, before it is chosen.

``a[i] = (x > 0.0f ? x : 0.0f) * 3.0f`` is ``a[i] = x > 0.0f ? x * 3.0f : 0.0f`` to gcc, which looks at each way that
leads to an operation by itself (partial redundancies); then an operation on floating-point numbers stands behind a
branch, and there is no vector loop any more. So it is with a variable that gets the choice. A choice by a call keeps
what it gives to itself (measured for local contrast, whose variances are cut off at 0: a seventh of the time).
"""

from __future__ import annotations

from collections.abc import Iterator

from scopt import ir
from scopt.ir.scop import Scop
from scopt.ir.truths import COMPARISONS
from scopt.ir.walks import same_tree, walk

_OPERATORS = ("+", "-", "*", "/", *COMPARISONS)
# Integers of up to so many are the same numbers in all types of floating-point numbers.
_MOST_EXACT = 1 << 24


def is_constant(node: ir.Node) -> bool:
    match node:
        case ir.UnaryOp(op="-", expr=inner):
            return is_constant(inner)
    return isinstance(node, ir.Constant)


def is_small(node: ir.Node) -> bool:
    """Whether it is an integer that all types of numbers have."""
    match node:
        case ir.UnaryOp(op="-", expr=inner):
            # no integer is -0, which the other types have
            return is_small(inner) and not is_zero(inner)
        case ir.Constant(type="int", value=text):
            return text.isdecimal() and int(text) < _MOST_EXACT
    return False


def is_zero(node: ir.Node) -> bool:
    return isinstance(node, ir.Constant) and node.value.strip("0") == ""


def folded_operands(node: ir.Node) -> Iterator[ir.Node]:
    """The operands that gcc would compute an operation from before it is executed, were they constants."""
    match node:
        case ir.BinaryOp(op=op, left=left, right=right) if op in _OPERATORS:
            if is_constant(right) or same_tree(left, right):
                yield left
            if is_constant(left) or same_tree(left, right):
                yield right
        case ir.Cast(expr=inner):
            yield inner


def folding_variables(scop: Scop) -> frozenset[str]:
    """Variables of floating-point numbers that statements compute something from by constants alone. (Most comparisons
    are those of choices that give them another value.)"""
    used = {
        operand.name
        for statement in scop.statements
        for node in walk(statement.body)
        if not (isinstance(node, ir.BinaryOp) and node.op in COMPARISONS)
        for operand in folded_operands(node)
        if isinstance(operand, ir.ID)
    }
    floating = {one.spelling for one in scop.arrays.values() if not one.rank and one.type.floating}
    return frozenset(used & floating)
