"""Loops that run through the same few points each time: what straight code may stand for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import islpy as isl

from scopt.poly.isl_utils import OUT, SET, sets_of
from scopt.poly.restructure import filters_of

# Instances that straight code may have in the place of loops, of one statement and of all: what compilers still keep in
# registers and schedule well.
MOST_INSTANCES, MOST_OF_ALL = 96, 128
# Likewise where many statements have few instances each: a window's derivatives, products and sums.
_FEW_INSTANCES, _MOST_OF_MANY = 32, 256
# Values of a member of a band that is small beside others.
FEW_POINTS = 16
# Of so many values at most one, in loops that step.
_SPARSE = 8
# From here on a bound says what a type holds (`stride <= 2147483648`, which is tested of rows of flat arrays), and not
# how often a loop runs.
_ENDLESS = 1 << 26


def inner_bands(node: isl.ScheduleNode) -> Iterator[isl.ScheduleNode]:
    """The bands at a node and below."""
    if node.get_type() == isl.schedule_node_type.band:
        yield node
    for position in range(node.n_children()):
        yield from inner_bands(node.child(position))


def is_small_box(node: isl.ScheduleNode) -> bool:
    """Whether a band runs through the same few points, whatever the loops around it are at."""
    points = values_of(node)
    if not points:
        return False
    around = node.get_prefix_schedule_relation()
    for part in sets_of(node.get_domain()):
        domain = isl.UnionSet.from_set(part)
        whole = around.intersect_domain(domain).range()
        own = isl.UnionMap.from_multi_union_pw_aff(node.band_get_partial_schedule()).intersect_domain(domain)
        for point in points:
            there = own.intersect_range(point).domain()
            if not there.is_empty() and not around.intersect_domain(there).range().is_equal(whole):
                return False
    return True


def is_short(node: isl.ScheduleNode, inner: tuple[isl.ScheduleNode, ...]) -> bool:
    """Whether straight code in the place of bands below a node has no more instances than it may."""
    counts = []
    for part in sets_of(node.get_domain()):
        own = isl.UnionSet.from_set(part)
        counts.append(prod(len(values_of(one, own) or ()) for one in inner if not one.get_domain().is_disjoint(own)))
    return are_few(counts)


def are_few(counts: Sequence[int]) -> bool:
    """Whether straight code may have so many instances of its statements."""
    most, together = max(counts, default=0), sum(counts)
    return together <= (_MOST_OF_MANY if most <= _FEW_INSTANCES else MOST_OF_ALL) and most <= MOST_INSTANCES


def straightened(node: isl.ScheduleNode) -> isl.ScheduleNode:
    """Everything below a node without bands: each point of a band is a child of a sequence."""
    if node.get_type() == isl.schedule_node_type.band:
        own = isl.UnionMap.from_multi_union_pw_aff(node.band_get_partial_schedule())
        domains = (own.intersect_range(point).domain() for point in values_of(node) or ())
        parts = [part for part in domains if not part.is_empty()]
        node = node.delete()
        node = node.insert_sequence(filters_of(parts)) if parts else node  # a part may have no instance
    for position in range(node.n_children()):
        node = straightened(node.child(position)).parent()
    return node


def values_of(node: isl.ScheduleNode, domain: isl.UnionSet | None = None) -> list[isl.UnionSet] | None:
    """The points of a band in their order, or those of a part of its instances; None if they are too many, or depend on
    parameters."""
    values = isl.UnionMap.from_multi_union_pw_aff(node.band_get_partial_schedule()).intersect_domain(node.get_domain())
    if domain is not None:
        values = values.intersect_domain(domain)
    return _ordered(values.range(), MOST_INSTANCES)


def values_of_member(node: isl.ScheduleNode, member: int, most: int) -> list[isl.UnionSet] | None:
    """The values of one member, likewise."""
    own = isl.UnionMap.from_union_pw_aff(node.band_get_partial_schedule().get_at(member))
    return _ordered(own.intersect_domain(node.get_domain()).range(), most)


def is_short_always(node: isl.ScheduleNode, member: int, most: int) -> bool:
    """Whether a member of a band has no more values than that whatever the others are at, and the loops around."""
    own = isl.UnionMap.from_multi_union_pw_aff(node.band_get_partial_schedule()).intersect_domain(node.get_domain())
    if node.get_schedule_depth():
        around = isl.UnionMap.from_multi_union_pw_aff(node.get_prefix_schedule_multi_union_pw_aff())
        own = around.intersect_domain(node.get_domain()).flat_range_product(own)
    dates = isl.Set.from_union_set(own.range())
    place = int(node.get_schedule_depth()) + member
    pieces = dates.get_basic_sets()
    # A long piece says it at once: of all pieces together, each one is compared with each other one.
    if len(pieces) > 1 and not all(_is_within(isl.Set.from_basic_set(one), place, most) for one in pieces):
        return False
    return _is_within(dates, place, most)


def _is_within(dates: isl.Set, place: int, most: int) -> bool:
    """Whether dates that differ at a place alone are no further apart there than so many values reach."""
    rest = dates.identity().project_out(OUT, place, 1)
    together = rest.apply_range(rest.reverse()).deltas().project_out_all_params()
    reach = together.dim_max_val(place)
    return bool(reach.is_int()) and int(reach.to_python()) < most


def _ordered(points: isl.UnionSet, most: int) -> list[isl.UnionSet] | None:
    if points.is_empty():
        return []
    rest = isl.Set.from_union_set(points).project_out_all_params().coalesce()
    found: list[isl.UnionSet] = []
    spans = [span(rest, k) for k in range(rest.dim(SET))]
    if any(one is None or one > most * _SPARSE for one in spans):
        return None
    while not rest.is_empty():
        if len(found) == most:
            return None
        first = rest.lexmin()
        rest = rest.subtract(first)
        found.append(isl.UnionSet.from_set(first))
    return found


def span(points: isl.Set, dimension: int) -> int | None:
    """From the least value of a dimension to the largest one, whatever the parameters are; None if there is no end, or
    if nothing but a type ends it, 0 if there is none."""
    values = points.project_onto_map(isl.dim_type.set, dimension, 1).range().project_out_all_params()
    if values.is_empty() or not values.is_bounded():
        return 0 if values.is_empty() else None
    found = int(values.dim_max_val(0).sub(values.dim_min_val(0)).to_python()) + 1
    return found if found < _ENDLESS else None


def reach(points: isl.Set, outer: int, dimension: int) -> int | None:
    """From the least value of a dimension to the largest one while the first ones stand still; None if there is no end,
    0 if there is none."""
    values = points.project_onto_map(isl.dim_type.set, dimension, 1)
    around = points.project_onto_map(isl.dim_type.set, 0, outer)
    together = around.reverse().apply_range(values)
    apart = together.reverse().apply_range(together).deltas().project_out_all_params()
    if apart.is_empty() or not apart.is_bounded():
        return 0 if apart.is_empty() else None
    return int(apart.dim_max_val(0).to_python()) + 1
