"""Sums whose terms, and how many there are, are known to be so few and small that an int holds each of them."""

from __future__ import annotations

from math import inf

import islpy as isl

from scopt import ir
from scopt.ir.ctypes import limits_of
from scopt.ir.expr import subtract
from scopt.ir.nest import Expr, For, Max, Min
from scopt.ir.scop import Scop, Statement
from scopt.ir.small_values import INT, Interval, hull, interval, negated
from scopt.poly.isl_utils import PARAM
from scopt.poly.nest_sets import Context, NestSpace
from scopt.poly.reductions import update_of

_NARROW, _WORD = 16, 32


def addend(scop: Scop, statement: Statement) -> tuple[str, Interval] | None:
    """The array that a statement accumulates into, and what it adds, at least and at most; None if it does anything
    else, or if nothing is known of that."""
    update = update_of(scop, statement)
    if update is None or update.operator != "+":
        return None
    cells = {access.node: scop.arrays[access.array].type for access in statement.accesses if access.node is not None}

    def known(node: ir.Node) -> Interval | None:
        ctype = cells.get(node)
        if ctype is not None:
            return limits_of(ctype) if ctype.integer and 0 < ctype.bits <= _NARROW else None
        match node:
            case ir.FuncCall(name=ir.ID(name=name)):
                return scop.returns.get(name)
        return None

    def added(body: ir.Node) -> Interval | None:
        match body:
            case ir.Compound(block_items=[ir.Node() as only]):
                return added(only)
            case ir.If(iftrue=ir.Node() as then, iffalse=None):
                return hull(added(then), (0, 0))
            case ir.Assignment(op="+=", rvalue=value):
                return interval(value, known)
            case ir.Assignment(op="-=", rvalue=value):
                return negated(interval(value, known))
            case ir.UnaryOp(op="++" | "p++"):
                return 1, 1
            case ir.UnaryOp(op="--" | "p--"):
                return -1, -1
        return None

    found = added(statement.body)
    return None if found is None else (update.array, found)


def most_iterations(space: NestSpace, loop: For, context: Context) -> float:
    """How many iterations a loop has at most, whatever its parameters of at most 32 bits are.
    context: of the loop itself."""
    domain = context.domain
    for parameter in space.scop.parameters:
        position = domain.find_dim_by_name(PARAM, parameter.name)
        if position >= 0 and 0 < parameter.type.bits <= _WORD:
            low, high = limits_of(parameter.type)
            domain = domain.lower_bound_val(PARAM, position, isl.Val(low))
            domain = domain.upper_bound_val(PARAM, position, isl.Val(high))
    lowers = loop.lower.args if isinstance(loop.lower, Max) else (loop.lower,)
    uppers = loop.upper.args if isinstance(loop.upper, Min) else (loop.upper,)
    return min(_most(space, subtract(upper, lower), context, domain) + 1 for upper in uppers for lower in lowers)


def fits(terms: float, one: Interval) -> bool:
    """Whether an int holds the sum of so many terms, however far it has got."""
    return terms < inf and terms * max(abs(one[0]), abs(one[1])) <= INT[1]


def _most(space: NestSpace, value: Expr, context: Context, domain: isl.Set) -> float:
    found = 0
    for piece, function in space.piecewise(value, context).get_pieces():
        most = domain.intersect(piece).max_val(function)
        if most.is_int():
            found = max(found, most.to_python())
        elif not most.is_nan():
            return inf
    return found
