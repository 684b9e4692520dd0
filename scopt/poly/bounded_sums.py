"""Sums whose terms, and how many there are, are known to be so few and small that a narrow type holds each of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from math import inf

import islpy as isl

from scopt import ir
from scopt.ir.ctypes import limits_of
from scopt.ir.expr import subtract
from scopt.ir.nest import Expr, For, Max, Min
from scopt.ir.scop import Scop, Statement
from scopt.ir.small_values import Interval, hull, interval, negated
from scopt.ir.truths import is_truth
from scopt.poly.isl_utils import PARAM
from scopt.poly.nest_sets import Context, NestSpace
from scopt.poly.reductions import update_of

_NARROW, _WORD = 16, 32
# What a comparison with a constant says of the other side, and the same the other way round.
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "=="}


def addend(
    scop: Scop, statement: Statement, values: Mapping[str, Interval] | None = None
) -> tuple[str, Interval] | None:
    """The array that a statement accumulates into, and what it adds, at least and at most; None if it does anything
    else, or if nothing is known of that. values: of variables, as `values_in` finds them."""
    update = update_of(scop, statement)
    if update is None or update.operator != "+":
        return None
    held = dict(values or {})

    known = partial(_known, scop, statement, held)

    def added(body: ir.Node) -> Interval | None:
        match body:
            case ir.Compound(block_items=[ir.Node() as only]):
                return added(only)
            case ir.If(cond=condition, iftrue=ir.Node() as then, iffalse=None):
                held.update(_where(condition, held))
                return hull(added(then), (0, 0))
            case ir.Assignment(op="+=", rvalue=value):
                return chosen(value)
            case ir.Assignment(op="-=", rvalue=value):
                return negated(chosen(value))
            case ir.UnaryOp(op="++" | "p++"):
                return 1, 1
            case ir.UnaryOp(op="--" | "p--"):
                return -1, -1
        return None

    def chosen(value: ir.Node) -> Interval | None:
        match value:
            case ir.TernaryOp(cond=condition, iftrue=then, iffalse=ir.Constant(type="int", value="0")):
                held.update(_where(condition, held))
                return hull(interval(then, known), (0, 0))
            case ir.BinaryOp(op="&", left=ir.UnaryOp(op="-", expr=condition), right=then) if is_truth(condition):
                held.update(_where(condition, held))
                return hull(interval(then, known), (0, 0))
        return interval(value, known)

    found = added(statement.body)
    return None if found is None else (update.array, found)


def values_in(scop: Scop, statements: Iterable[Statement]) -> dict[str, Interval]:
    """The least and greatest values of variables that some statements, which run one after the other, are sure to
    assign, as far as anything is known of them."""
    found = dict[str, Interval]()
    for statement in statements:
        match statement.body:
            case ir.Assignment(op="=", lvalue=ir.ID() as variable, rvalue=value):
                held = interval(value, partial(_known, scop, statement, found))
                kind = next((scop.arrays[a.array].type for a in statement.accesses if a.node is variable), None)
                if held is not None and kind is not None and kind.integer:
                    low, high = limits_of(kind)
                    if low <= held[0] and held[1] <= high:
                        found[variable.name] = held
                        continue
        for access in statement.accesses:
            if access.is_write:
                found.pop(scop.arrays[access.array].spelling, None)
    return found


def _known(scop: Scop, statement: Statement, values: Mapping[str, Interval], node: ir.Node) -> Interval | None:
    """Of a part of a statement: a variable that is known, a narrow cell, a call of a function of the file."""
    match node:
        case ir.ID(name=name) if name in values:
            return values[name]
        case ir.FuncCall(name=ir.ID(name=name)):
            return scop.returns.get(name)
    ctype = next((scop.arrays[one.array].type for one in statement.accesses if one.node is node), None)
    return limits_of(ctype) if ctype is not None and ctype.integer and 0 < ctype.bits <= _NARROW else None


def _where(condition: ir.Node, values: Mapping[str, Interval]) -> dict[str, Interval]:
    """What is left of the values of variables where a condition holds."""
    match condition:
        case ir.BinaryOp(op="&&" | "&", left=left, right=right) if is_truth(left) and is_truth(right):
            found = _where(left, values)
            return {**found, **_where(right, {**values, **found})}
        case ir.BinaryOp(op=op, left=ir.ID(name=name), right=constant) if op in _TURNED:
            return _compared(op, name, constant, values)
        case ir.BinaryOp(op=op, left=constant, right=ir.ID(name=name)) if op in _TURNED:
            return _compared(_TURNED[op], name, constant, values)
    return {}


def _compared(op: str, name: str, constant: ir.Node, values: Mapping[str, Interval]) -> dict[str, Interval]:
    number = interval(constant, lambda node: None)
    if number is None or number[0] != number[1] or number[0] < 0 or name not in values or values[name][0] < 0:
        return {}  # what is negative may be compared as something unsigned
    low, high = values[name]
    if op in ("<", "<="):
        high = min(high, number[0] - (op == "<"))
    elif op in (">", ">="):
        low = max(low, number[0] + (op == ">"))
    else:
        low, high = max(low, number[0]), min(high, number[0])
    return {name: (low, high)} if low <= high else {}


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


def fits(terms: float, one: Interval, most: int) -> bool:
    """Whether the sum of so many terms stays within a number, either way, however far it has got."""
    return terms < inf and terms * max(abs(one[0]), abs(one[1])) <= most


def _most(space: NestSpace, value: Expr, context: Context, domain: isl.Set) -> float:
    found = 0
    for piece, function in space.piecewise(value, context).get_pieces():
        most = domain.intersect(piece).max_val(function)
        if most.is_int():
            found = max(found, most.to_python())
        elif not most.is_nan():
            return inf
    return found
