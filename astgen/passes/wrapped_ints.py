"""Sums, differences and products of ints in what vector loops divide though a condition doesn't ask for it.

``x <= low ? 0 : x >= high ? 256 : (x - low) * 256 / (high - low)`` is a ramp between limits that nobody knows. Where x
is no number of the ramp, nothing says that its differences are ints. Processors compute something all the same; so may
C, by calls that wrap around: ``scopt_times(scopt_minus(x, low), 256)``. (Measured for the weights of a deinterlacer,
whose loop is a vector loop then: a third of the time by gcc.)
"""

from __future__ import annotations

from scopt import ir
from scopt.astgen.emit.c_expr import WRAPPED, helper_name
from scopt.astgen.lower.body_syntax import call
from scopt.astgen.passes.divided_ints import conditional_parts, is_int, is_quotient, subscripts
from scopt.astgen.passes.eager import Sure
from scopt.ir.scop import Scop, Statement
from scopt.ir.walks import rewritten, walk


def with_wrapped_ints(scop: Scop, statement: Statement, body: ir.Node) -> ir.Node:
    """A statement's body, with calls for quotients, that computes what is divided behind conditions by such calls."""
    behind = [inner for node in walk(body) for part in conditional_parts(node) for inner in walk(part)]
    divided = {inner for node in behind if is_quotient(scop, node) for inner in walk(node)}

    def change(node: ir.Node, made: ir.Node) -> ir.Node:
        if node not in divided or not may_wrap(scop, statement, node):
            return made
        return call(helper_name(WRAPPED[made.op], scop.reserved), [made.left, made.right])

    return rewritten(body, change, {}) if divided else body


def may_wrap(scop: Scop, statement: Statement, node: ir.Node) -> bool:
    """Whether a part of a statement is a sum, a difference or a product of ints of which nothing says that it is an
    int."""
    return may_overflow(scop, statement, node) and is_int(scop, statement, node)


def may_overflow(scop: Scop, statement: Statement, node: ir.Node) -> bool:
    """Likewise of any integers; what is in a subscript is none."""
    if not isinstance(node, ir.BinaryOp) or node.op not in WRAPPED or node in subscripts(statement):
        return False
    return not Sure(scop, statement).fits(node)


def is_wrapped(scop: Scop, node: ir.Node, operators: tuple[str, ...] = tuple(WRAPPED)) -> bool:
    """Whether it is a call of such a function, for one of these operators."""
    match node:
        case ir.FuncCall(name=ir.ID(name=name)):
            return name in wrapped_names(scop, operators)
    return False


def wrapped_names(scop: Scop, operators: tuple[str, ...] = tuple(WRAPPED)) -> frozenset[str]:
    return frozenset(helper_name(WRAPPED[one], scop.reserved) for one in operators)
