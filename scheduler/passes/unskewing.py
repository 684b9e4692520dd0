"""Loops that run as far as they are skewed get back their iterators.

A scheduler that wants one permutable band of ``for p < 16: for q < 16: s += …``, whose order counts, skews q by p times
15: no two rows of p then share a date. Tiles of such a band are no better than the loops; and the loops read badly, for
people as for compilers, which find no vectors in them. With multiples of outer members taken away the points keep their
order, whatever the dependences are; only permutability is lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import islpy as isl

from scopt.ir.scop import Scop
from scopt.poly.bands import Ordered, with_properties_below
from scopt.poly.isl_utils import joined, sets_of
from scopt.poly.linear import Vector, solve
from scopt.poly.restructure import filters_of, leaf_parts, united
from scopt.scheduler.decisions.small_loops import FEW_POINTS, span
from scopt.scheduler.locality.strides import linear_schedule, shape_rows

_TYPE = isl.schedule_node_type


def unskew_loops(scop: Scop, dependences: Ordered, tree: isl.Schedule) -> isl.Schedule:
    """The tree with such members as bands of their own."""
    node, found = _below(scop, dependences, tree.get_root())
    return node.get_schedule() if found else tree


def _below(scop: Scop, dependences: Ordered, node: isl.ScheduleNode) -> tuple[isl.ScheduleNode, bool]:
    """The node, with all done that is to be done at it and below; and whether there was anything."""
    found = False
    if node.get_type() == _TYPE.band and (node.band_get_permutable() or node.band_n_member() == 1):
        place = next(_skewed(scop, node), None)
        window = _window(scop, node) if place is None else None
        if place is not None:
            position, factor, outer = place
            node, found = with_properties_below(scop, dependences, _without(node, position, factor, outer)), True
        elif window is not None:
            node, found = with_properties_below(scop, dependences, _as_windows(node, *window)), True
    for position in range(node.n_children()):
        child, inner = _below(scop, dependences, node.child(position))
        node, found = child.parent(), found or inner
    return node, found


def _skewed(scop: Scop, node: isl.ScheduleNode) -> Iterator[tuple[int, int, int]]:
    """Members of a band that are one iterator, of a few values, and a multiple of an outer member that is no less than
    these values reach: the member's position, the factor, the other's position."""
    rows = linear_schedule(scop, node).members
    parts = {str(part.get_tuple_name()): part for part in sets_of(node.get_domain())}
    if rows.keys() != parts.keys():
        return
    for member in range(1, node.band_n_member()):
        for outer in range(member):
            factors = {_factor(parts[name], own[member], own[outer]) for name, own in rows.items()}
            factors.discard(0)
            if len(factors) == 1 and (factor := factors.pop()) is not None:
                yield member, factor, outer


def _factor(part: isl.Set, row: Vector, outer: Vector) -> int | None:
    """The factor of an outer member in a member of one statement; None if that doesn't leave an iterator whose values
    reach no farther. 0 where both stand still: the statement runs once beside the loops."""
    moving = [k for k, value in enumerate(outer) if value]
    if not any((*row, *outer)):
        return 0
    if len(moving) != 1 or outer[moving[0]] != 1 or row[moving[0]] < 2 or row[moving[0]].denominator != 1:
        return None
    factor = int(row[moving[0]])
    left = [k for k, value in enumerate(row) if value and k != moving[0]]
    if len(left) != 1 or row[left[0]] != 1:
        return None
    reach = span(part, left[0])
    return factor if reach is not None and reach - 1 <= factor else None


def _without(node: isl.ScheduleNode, member: int, factor: int, outer: int) -> isl.ScheduleNode:
    """The band with a member, and those behind it, in a band of their own, the former less a multiple of another one.
    Statements that run before or after all others of these loops stand before or behind them."""
    partial = node.band_get_partial_schedule()
    members = [partial.get_at(k) for k in range(node.band_n_member())]
    members[member] = members[member].sub(members[outer].scale_val(isl.Val(factor)))
    before, after = _beside(node, joined(members[outer:]))
    node = node.delete().insert_partial_schedule(joined(members[member:])).band_set_permutable(0)
    node = node.insert_partial_schedule(joined(members[outer:member])).band_set_permutable(1)
    if before or after:
        rest = node.get_domain().subtract(united([*before, *after]))
        node = node.insert_sequence(filters_of([*before, rest, *after]))
        for position in (*range(len(before)), *range(len(before) + 1, len(before) + 1 + len(after))):
            node = node.child(position).child(0).delete().delete().parent().parent()
    return node.insert_partial_schedule(joined(members[:outer])).band_set_permutable(1) if outer else node


# --- windows ----------------------------------------------------------------------------------------------------------


def _window(scop: Scop, node: isl.ScheduleNode) -> tuple[int, Vector] | None:
    """A member of a band that is an iterator of a few values, up or down, and multiples of dates around it, one of
    which is no less than these values reach: its position, and the factor of each date."""
    around, own = node.get_prefix_schedule_multi_union_pw_aff(), node.band_get_partial_schedule()
    dates = [around.get_at(k) for k in range(around.dim(isl.dim_type.out))]
    members = [own.get_at(k) for k in range(own.dim(isl.dim_type.out))]
    rows = {
        str(part.get_tuple_name()): (part, shape_rows(scop, joined([*dates, *members]), str(part.get_tuple_name())))
        for part in sets_of(node.get_domain())
    }
    if any(len(own) != len(dates) + len(members) for _, own in rows.values()):
        return None
    for member in range(len(dates), len(dates) + len(members)):
        skewed = {name: own for name, own in rows.items() if sum(map(bool, own[1][member])) > 1}
        factors = next((f for part, own in skewed.values() for f in _factors(part, own[member], own[:member])), None)
        if factors is not None and all(
            _is_left(part, own[member], own[:member], factors) for part, own in rows.values()
        ):
            return member - len(dates), factors
    return None


def _factors(part: isl.Set, row: Vector, outer: tuple[Vector, ...]) -> Iterator[Vector]:
    """Factors of outer dates that leave one iterator of a few values of a row."""
    if any(value.denominator != 1 for value in row):
        return
    for k, sign in product(range(len(row)), (1, -1)):
        reach = span(part, k) if outer else None
        if reach is None or not 1 < reach <= FEW_POINTS:
            continue
        wanted = [int(value) - sign * (place == k) for place, value in enumerate(row)]
        found = solve([tuple(one[place] for one in outer) for place in range(len(row))], wanted)
        if found is not None and all(f.denominator == 1 for f in found) and max(map(abs, found)) >= max(reach - 1, 2):
            yield found


def _is_left(part: isl.Set, row: Vector, outer: tuple[Vector, ...], factors: Vector) -> bool:
    """Whether no more is left of a row than an iterator of a few values."""
    taken = [sum((f * one[k] for f, one in zip(factors, outer, strict=True)), Fraction(0)) for k in range(len(row))]
    left = {k: a - b for k, (a, b) in enumerate(zip(row, taken, strict=True)) if a != b}
    return not left or (
        len(left) == 1 and all(abs(value) == 1 and 0 < (span(part, k) or 0) <= FEW_POINTS for k, value in left.items())
    )


def _as_windows(node: isl.ScheduleNode, member: int, factors: Vector) -> isl.ScheduleNode:
    """The band with a member, and those behind it, in a band of their own, the former less multiples of the dates
    around it: a constant for each of these, so that the points keep their order."""
    around, partial = node.get_prefix_schedule_multi_union_pw_aff(), node.band_get_partial_schedule()
    members = [partial.get_at(k) for k in range(node.band_n_member())]
    dates = [*(around.get_at(k) for k in range(around.dim(isl.dim_type.out))), *members[:member]]
    for factor, date in zip(factors, dates, strict=True):
        if factor:
            members[member] = members[member].sub(date.scale_val(isl.Val(int(factor))))
    node = node.delete().insert_partial_schedule(joined(members[member:])).band_set_permutable(0)
    return node.insert_partial_schedule(joined(members[:member])).band_set_permutable(1) if member else node


def _beside(node: isl.ScheduleNode, loops: isl.MultiUnionPwAff) -> tuple[list[isl.UnionSet], list[isl.UnionSet]]:
    """The statements below a band that run once for some of its loops, at their first point and before all others, or
    at their last point and behind them."""
    parts = leaf_parts(node.child(0)) or []
    dates = [isl.UnionMap.from_multi_union_pw_aff(loops).intersect_domain(part).range() for part in parts]
    points = [isl.Set.from_union_set(date).project_out_all_params() for date in dates]
    still = [point.is_singleton() for point in points]
    if all(still) or not any(still):
        return [], []
    moving = [k for k, one in enumerate(still) if not one]
    reached = isl.Set.from_union_set(united([isl.UnionSet.from_set(points[k]) for k in moving]))
    if not reached.is_bounded():
        return [], []
    first, last = reached.lexmin(), reached.lexmax()
    before = [parts[k] for k in range(moving[0]) if points[k].is_equal(first)]
    after = [parts[k] for k in range(moving[-1] + 1, len(parts)) if points[k].is_equal(last)]
    return (before, after) if len(before) + len(after) == sum(still) else ([], [])
