"""Parameters with which subscripts stay in their rows.

Of ``g[b][h]`` and ``g[b][h + 256]``, with ``float g[B][1024]`` and h < n, the second one comes to cells of the first
one where n is above 256; but then ``g[b][h + 768]`` leaves its row. The program tests for that, wherever it is all that
two iterations have in common.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import islpy as isl
from msgspec.structs import replace

from scopt.ir.marked_schedule import MarkedSchedule
from scopt.ir.scop import Array, Dependences, Guard, Scop, Statement
from scopt.poly.isl_utils import IN, OUT, SET
from scopt.poly.source_loops import Loops, source_loops


def only_for(scop: Scop, context: isl.Set) -> Scop:
    """The SCoP for some parameters only, which the program tests; not what it has tested, or types say, already."""
    if scop.context.is_subset(context):
        return scop
    tested = context.gist(scop.context)
    guard = Guard(tested) if scop.guard is None else scop.guard
    guard = replace(guard, parameters=guard.parameters.intersect(tested).coalesce())
    return replace(scop, context=scop.context.intersect(context).coalesce(), guard=guard)


def for_parameters(scop: Scop, deps: Dependences, schedule: MarkedSchedule) -> tuple[Scop, Dependences, MarkedSchedule]:
    """The same for the parameters only that the schedule is for, which the program tests."""
    if schedule.tested is None:
        return scop, deps, schedule
    scop = narrowed(only_for(scop, schedule.tested))
    tree = schedule.tree.intersect_domain(schedule.tree.get_domain().intersect_params(scop.context))
    return scop, deps.within(scop.context), replace(schedule, tree=tree)


def trusted_sizes(array: Array) -> tuple[int | None, ...]:
    """The extents of an array that no subscript leaves, as numbers: of what a pointer leads to, not the first one."""
    return (None, *array.sizes[1:]) if array.pointer and array.rank else array.sizes


def within_sizes(relation: isl.Map, sizes: Sequence[int | None]) -> isl.Map:
    """The part of an access that is within extents, as far as these are numbers."""
    for position, size in enumerate(sizes):
        if size is not None:
            relation = relation.lower_bound_val(OUT, position, isl.Val(0))
            relation = relation.upper_bound_val(OUT, position, isl.Val(size - 1))
    return relation


def within_rows(scop: Scop, deps: Dependences) -> Scop | None:
    """The SCoP for those parameters with which subscripts but the first ones stay within their extents, as far as these
    are numbers, and as a loop is free of dependences then; None if there is no such loop."""
    candidates = list[isl.Set]()
    for statement in scop.statements:
        runs = statement.domain.params()
        for access in statement.accesses:
            sizes = scop.arrays[access.array].sizes
            for position in range(1, access.relation.dim(OUT)):
                size = sizes[position]
                outside = _outside(access.relation, position, size).gist(runs) if size is not None else None
                if outside is not None and not any(outside.is_equal(one) for one in candidates):
                    candidates.append(outside)
    context = scop.context
    for outside in candidates:
        inside = scop.context.subtract(outside)
        if not scop.context.is_subset(inside) and any(_ends(one.relation, inside) for one in deps.all):
            context = context.intersect(inside)
    if scop.context.is_subset(context) or context.is_empty() or not _frees(scop, deps, context):
        return None
    return narrowed(only_for(scop, context.coalesce()))


def _frees(scop: Scop, deps: Dependences, context: isl.Set) -> bool:
    """Whether there is a loop of the source that nothing keeps in order but what a context leaves out."""
    loops, before, after = source_loops(scop), set[Loops](), set[Loops]()
    for one in deps.all:
        if one.kind in ("anti", "output") and scop.arrays[one.array].private:
            continue
        carried = set(_carrying(one.relation, loops[one.source], loops[one.sink]))
        before |= carried
        after |= set[Loops]() if _ends(one.relation, context) else carried
    return after < before


def _carrying(relation: isl.Map, source: Loops, sink: Loops) -> Iterator[Loops]:
    """The loops around both ends of a relation that carry some of its pairs."""
    for depth in range(min(len(source), len(sink))):
        if source[: depth + 1] != sink[: depth + 1]:
            return
        if not relation.is_subset(relation.equate(IN, depth, OUT, depth)):
            yield source[: depth + 1]
        relation = relation.equate(IN, depth, OUT, depth)


def narrowed(scop: Scop) -> Scop:
    """The SCoP without the instances that its context leaves out."""

    def narrowed(one: Statement) -> Statement:
        accesses = tuple(replace(a, relation=a.relation.intersect_params(scop.context)) for a in one.accesses)
        return replace(one, domain=one.domain.intersect_params(scop.context), accesses=accesses)

    return replace(
        scop,
        statements=tuple(map(narrowed, scop.statements)),
        kills=tuple(map(narrowed, scop.kills)),
        schedule=scop.schedule.intersect_domain(scop.domain),
        order=scop.order.intersect_params(scop.context),
    )


def _ends(relation: isl.Map, context: isl.Set) -> bool:
    return relation.intersect_params(context).is_empty()


def _outside(relation: isl.Map, position: int, size: int) -> isl.Set:
    """The parameters with which a subscript leaves 0 … size - 1 somewhere."""
    cells = relation.range()
    above = cells.lower_bound_val(SET, position, isl.Val(size))
    return above.union(cells.upper_bound_val(SET, position, isl.Val(-1))).params().coalesce()
