"""Choices that statements of strips make between floating-point numbers which they compute, by calls.

``if (d < r) { z = z * w + c; n = n + 1; }`` of lanes is ``z = scopt_pickf(d < r, z * w + c, z);`` and a choice of n.
Elsewise gcc would compute such numbers behind branches, and make no vectors of these (`scopt.astgen.passes.picking`
says why; measured: points of a fractal, a third of the time).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.c_expr import PICKS, helper_name
from scopt.astgen.lower.body_syntax import call
from scopt.astgen.passes.value_kinds import Values
from scopt.ir.chosen_values import assignments, element_type
from scopt.ir.nest import For, LoopNest
from scopt.ir.nest_walks import calls, items
from scopt.ir.scop import Scop, Statement
from scopt.ir.truths import is_truth
from scopt.ir.walks import same_tree, walk

_FLOATS = ("float", "double")


def with_own_choices(source: Scop, scop: Scop, nest: LoopNest, originals: Mapping[str, str]) -> Scop:
    """The SCoP with calls in statements of strips, which vector loops run. originals: by their names, those of the
    source's statements that they stand for."""
    loops = [one for one in items(nest.body) if isinstance(one, For) and one.mark.simd]
    names = {one.statement for loop in loops for one in calls(loop.body)} & originals.keys()

    def type_of(reference: ir.Node) -> str | None:
        return element_type(scop.arrays.values(), reference)

    def changed(one: Statement) -> Statement:
        if one.name not in names or not picks_own(source, source.statement(originals[one.name])):
            return one
        return replace(one, body=with_own_picks(scop, one.body, type_of))

    return replace(scop, statements=tuple(map(changed, scop.statements)))


def picks_own(scop: Scop, original: Statement) -> bool:
    """Whether a statement of the source chooses floating-point numbers, of its cells' types, that may be computed
    whatever its conditions say, and computes one of them."""
    found = [one for one in _choices(original.body) if _type(scop, original, one[0]) in _FLOATS]
    if not all(_may_pick(scop, original, target, value) for target, value in found):
        return False
    return any(_computes(Values(scop, original, target), value) for target, value in found)


def with_own_picks(scop: Scop, body: ir.Node, type_of: Callable[[ir.Node], str | None]) -> ir.Node:
    """Assignments of choices, where those of floating-point numbers are calls. type_of: how a reference's type is
    spelled."""
    match body:
        case ir.Compound(block_items=items):
            return ir.Compound([with_own_picks(scop, one, type_of) for one in items or ()])
        case ir.Assignment(op="=", lvalue=target, rvalue=ir.TernaryOp() as value):
            kind = type_of(target)
            made = _picked(value, helper_name(PICKS[kind], scop.reserved)) if kind in _FLOATS else value
            return ir.Assignment("=", target, made, body.coord)
    return body


def without_own_picks(scop: Scop, body: ir.Node, type_of: Callable[[ir.Node], str | None]) -> ir.Node:
    """The same assignments with choices in place of calls."""
    match body:
        case ir.Compound(block_items=items):
            return ir.Compound([without_own_picks(scop, one, type_of) for one in items or ()])
        case ir.Assignment(op="=", lvalue=target, rvalue=ir.Node() as value) if type_of(target) in _FLOATS:
            name = helper_name(PICKS[str(type_of(target))], scop.reserved)
            return ir.Assignment("=", target, _chosen(value, name), body.coord)
    return body


def _choices(body: ir.Node) -> Iterator[tuple[ir.Node, ir.Node]]:
    """What a statement gives to what by a choice."""
    match body:
        case ir.Compound(block_items=[ir.Node() as only]):
            yield from _choices(only)
        case ir.Assignment(op="=", lvalue=target, rvalue=ir.TernaryOp() as value):
            yield target, value
        case ir.If(cond=condition):
            yield from ((target, ir.TernaryOp(condition, value, target)) for target, value in assignments(body))


def _type(scop: Scop, original: Statement, target: ir.Node) -> str:
    found = (scop.arrays[one.array].type for one in original.accesses if one.node is target)
    return next((one.spelling for one in found if not (one.volatile or one.atomic)), "")


def _may_pick(scop: Scop, original: Statement, target: ir.Node, value: ir.Node) -> bool:
    """Whether all sides of a choice have the target's type, and may be computed anyway."""
    if isinstance(value, ir.TernaryOp):
        parts = (value.iftrue, value.iffalse)
        conditions = [one.cond for one in parts if isinstance(one, ir.TernaryOp)]
        values = Values(scop, original, target)
        inner = all(is_truth(one) and values.may_be_computed(one) for one in conditions)
        return is_truth(value.cond) and inner and all(_may_pick(scop, original, target, one) for one in parts)
    values = Values(scop, original, target)
    kind = _type(scop, original, target) if value is target else values.kind(value)
    return kind == _type(scop, original, target) and values.may_be_computed(value)


def _computes(values: Values, value: ir.Node, asked: ir.Node | None = None) -> bool:
    """Whether a side of a choice is computed, and not for its condition already (asked), as extremes are."""
    if not isinstance(value, ir.TernaryOp):
        known = asked is not None and any(same_tree(value, node) for node in walk(asked))
        return values.computes_floats(value) and not known
    sides = (value.iftrue, value.iffalse)
    conditions = [one.cond for one in sides if isinstance(one, ir.TernaryOp)]
    return any(map(values.computes_floats, conditions)) or any(_computes(values, one, value.cond) for one in sides)


def _picked(value: ir.Node, name: str) -> ir.Node:
    if not isinstance(value, ir.TernaryOp):
        return value
    return call(name, [value.cond, _picked(value.iftrue, name), _picked(value.iffalse, name)])


def _chosen(value: ir.Node, name: str) -> ir.Node:
    match value:
        case ir.FuncCall(name=ir.ID(name=called), args=ir.ExprList(exprs=[condition, one, other])) if called == name:
            return ir.TernaryOp(condition, _chosen(one, name), _chosen(other, name))
    return value
