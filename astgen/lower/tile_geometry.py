"""Where a register tile lies: instances and coordinates in the tree, and how operands' subscripts run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import islpy as isl

from scopt import ir
from scopt.astgen.emit.names import identifiers
from scopt.astgen.lower.tile_pieces import Irregular
from scopt.ir.marked_schedule import MarkedSchedule, TileMark
from scopt.ir.scop import Statement
from scopt.poly.isl_utils import SET, compact

_TYPE = isl.schedule_node_type
# Of what is cleared before operands are packed over it: in so many pieces exactly what they leave out, else more.
MAX_PIECES = 2


def simple_set(things: isl.Set) -> isl.Set:
    """A superset in one piece, where there are many."""
    things = compact(things)
    return isl.Set.from_basic_set(things.simple_hull()) if things.n_basic_set() > MAX_PIECES else things


def part_of(union: isl.UnionSet, statement: Statement) -> isl.Set:
    """The part of a union in a statement's space."""
    return isl.Set.from_union_set(
        union.intersect(isl.UnionSet.from_set(isl.Set.universe(statement.domain.get_space())))
    )


def coordinates(node: isl.ScheduleNode, statements: Sequence[Statement]) -> isl.Map:
    """``{ [i0, …] -> [p0, …] }``, the dates above a node, which are the same functions for all statements, without
    their domains.

    Raises Irregular if they aren't.
    """
    dates = node.get_prefix_schedule_multi_union_pw_aff()
    found: list[isl.Map] = []
    for statement in statements:
        space = statement.domain.get_space()
        functions = [single_value(dates.get_at(k), space) for k in range(dates.dim(isl.dim_type.set))]
        result = isl.MultiAff.from_aff(functions[0])
        for function in functions[1:]:
            result = result.flat_range_product(isl.MultiAff.from_aff(function))
        found.append(isl.Map.from_multi_aff(result).reset_tuple_id(isl.dim_type.in_))
    if not all(one.is_equal(found[0]) for one in found[1:]):
        raise Irregular("statements of one contraction have different dates")
    return found[0]


def single_value(function: isl.UnionPwAff, space: isl.Space) -> isl.Aff:
    """The only piece of a function on a statement's instances. Raises Irregular if it has several."""
    parts = function.get_pw_aff_list()
    all_parts = [parts.get_at(k) for k in range(parts.n_pw_aff())]
    found = [
        aff for part in all_parts if part.get_domain_space().has_equal_tuples(space) for _, aff in part.get_pieces()
    ]
    if not found or any(not aff.plain_is_equal(found[0]) for aff in found[1:]):
        raise Irregular("the dates around a register tile are piecewise")
    return found[0]


def marked_place(schedule: MarkedSchedule, node: isl.ScheduleNode, place: str) -> isl.ScheduleNode:
    """The mark below a node for a place."""
    while True:
        node = node.child(0)
        if node.get_type() == _TYPE.mark and isinstance(mark := schedule.mark(node), TileMark) and mark.place == place:
            return node


def without_dimensions(things: isl.Set, dropped: Sequence[int]) -> isl.Set:
    for dimension in sorted(dropped, reverse=True):
        things = things.project_out(SET, dimension, 1)
    return things


def runs_along(value: ir.Node, iterator: str) -> bool:
    """Whether all references in an expression that move with an iterator do so in their last subscript."""
    pending, good = [value], True
    while pending:
        node = pending.pop()
        if isinstance(node, ir.ArrayRef):
            good = good and not any(iterator in identifiers(inner) for inner in outer_subscripts(node))
        else:
            pending.extend(node.parts)
    return good


def outer_subscripts(node: ir.ArrayRef) -> Iterator[ir.Node]:
    inner = node.name
    while isinstance(inner, ir.ArrayRef):
        yield inner.subscript
        inner = inner.name


def array_name(value: ir.Node) -> str:
    """The name of the first array in an expression."""
    pending = [value]
    while pending:
        node = pending.pop(0)
        if isinstance(node, ir.ArrayRef):
            while isinstance(node, ir.ArrayRef):
                node = node.name
            return str(node.name) if isinstance(node, ir.ID) else "operand"
        pending.extend(node.parts)
    return "operand"
