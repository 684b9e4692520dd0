"""Innermost loops that gain nothing by standing apart: their statement groups, merged with the one before."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

import islpy as isl

from scopt import ir
from scopt.ir.nest import Reduction
from scopt.ir.scop import Access, Scop, Statement
from scopt.poly.isl_utils import OUT, sets_of
from scopt.poly.reductions import BETTER, widens
from scopt.poly.restructure import united
from scopt.poly.source_loops import source_loops
from scopt.scheduler.decisions.index_divisions import divide_alike


def with_lines_together(
    parts: Sequence[isl.UnionSet],
    order: Sequence[Sequence[int]],
    lines: Mapping[str, frozenset[str]],
    is_free: Callable[[isl.UnionSet], bool],
) -> list[list[int]]:
    """The groups, those merged with the ones before them, from the first one on that accesses other cells of the same
    cache lines, or has instances of the same statement: loops of their own would get all of that again. Only groups
    that carry nothing, where the merged one doesn't either. lines: of what, by statement."""
    names = [{str(one.get_tuple_name()) for one in sets_of(part)} for part in parts]
    if not any(lines.values()) and sum(map(len, names)) == len(set[str]().union(*names)):
        return [list(group) for group in order]

    def shared(group: Sequence[int], other: Sequence[int]) -> bool:
        known = [frozenset().union(*(lines[name] for k in some for name in names[k])) for some in (group, other)]
        own = [set[str]().union(*(names[k] for k in some)) for some in (group, other)]
        return bool(known[0] & known[1] or own[0] & own[1])

    merged: list[list[int]] = []
    for group in order:
        # what stands between two such groups comes along: straight code turns from array to array, and back
        first = next((k for k, one in enumerate(merged) if shared(one, group)), None)
        if first is not None:
            between = [*merged[first:], list(group)]
            together = sorted(index for one in between for index in one)
            if all(is_free(united([parts[k] for k in some])) for some in (*between, together)):
                merged[first:] = [together]
                continue
        merged.append(list(group))
    return merged


def with_nests_together(
    scop: Scop,
    node: isl.ScheduleNode,
    parts: Sequence[isl.UnionSet],
    order: Sequence[Sequence[int]],
    may_merge: Callable[[isl.UnionSet], bool],
) -> list[list[int]]:
    """The groups, those merged with the one before them that share an array with it, or divisions, stand in the same
    loops of the source, and run at the same points of the band. Loops that are straight code inside of the band don't
    count where one of the groups writes what the other one accesses. Only groups that carry nothing, or nothing but
    reductions of integers that may stand together, where the merged one doesn't carry more."""
    loops, accesses = source_loops(scop), {s.name: s.accesses for s in scop.statements}
    depth = int(node.get_schedule_depth()) + int(node.band_n_member())
    outside = isl.UnionMap.from_multi_union_pw_aff(node.band_get_partial_schedule())
    if node.get_schedule_depth():
        around = isl.UnionMap.from_multi_union_pw_aff(node.get_prefix_schedule_multi_union_pw_aff())
        outside = around.flat_range_product(outside)
    merged: list[list[int]] = []
    for group in order:
        if merged:
            own, other = (united([parts[k] for k in some]) for some in (merged[-1], group))
            names = [{str(part.get_tuple_name()) for part in sets_of(some)} for some in (own, other)]
            cells = [[a for name in some for a in accesses[name] if a.relation.dim(OUT)] for some in names]
            nests = {loops.get(name, ()) for some in names for name in some}
            if len(nests) == 1:
                near = _share_arrays(*cells) or divide_alike(*([scop.statement(n) for n in some] for some in names))
            else:
                near = len({one[:depth] for one in nests}) == 1 and _hand_on(*cells)
            dates = [outside.intersect_domain(some).range() for some in (own, other)]
            if near and dates[0].is_equal(dates[1]) and all(map(may_merge, (own, other, own.union(other)))):
                merged[-1] = sorted([*merged[-1], *group])
                continue
        merged.append(list(group))
    return merged


def _share_arrays(own: Sequence[Access], others: Sequence[Access]) -> bool:
    return not {access.array for access in own}.isdisjoint(access.array for access in others)


def _hand_on(own: Sequence[Access], others: Sequence[Access]) -> bool:
    """Whether one side writes an array that the other one accesses."""
    return any(a.array == b.array and (a.is_write or b.is_write) for a in own for b in others)


def may_stand_together(scop: Scop, domain: isl.UnionSet, reductions: Collection[Reduction]) -> bool:
    """Whether a vector loop may run all of these statements, which reduce something: integer variables, and none of
    them an extremum that is much wider than what is compared. (gcc masks several conditions of one loop with
    lanes of four times the width, as long as a clause asks for vectors, and no wider ones. Conditional sums become sums
    of choices, which it widens.)"""
    statements = [scop.statement(str(part.get_tuple_name())) for part in sets_of(domain)]
    collected = {one.array for one in reductions}
    if any(scop.arrays[name].rank or not scop.arrays[name].type.integer for name in collected):
        return False
    extremes = {one.array for one in reductions if one.operator in BETTER}
    masked = [one for one in statements if isinstance(one.body, ir.If) and _writes(one) & extremes]
    return not any(widens(scop, one) for one in masked)


def _writes(statement: Statement) -> set[str]:
    return {access.array for access in statement.accesses if access.is_write}
