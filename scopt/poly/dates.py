"""Dates of statement instances: their order over pairs of instances, and simpler forms of the same dates.

A map from instances to one integer space gives dates; they are compared lexicographically. A joint relation has pairs
of instances with both their dates, ``{ [S[i] -> T[j]] -> [t -> t'] }``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import islpy as isl

from scopt.poly.isl_utils import IN, OUT, SET, compact, maps_of, union_of_maps
from scopt.poly.same_object import of_same


def dated(relation: isl.Map, dates: isl.UnionMap) -> list[isl.Map]:
    """Pairs of instances with their dates, ``{ [S[i] -> T[j]] -> [t -> t'] }``.

    The instances stay in the relation: eliminating them, as composing with the dates would, is what makes such checks
    slow.
    """
    return with_dates(relation, dates, dates)


def with_dates(relation: isl.Map, first: isl.UnionMap, second: isl.UnionMap) -> list[isl.Map]:
    """Pairs of instances as `dated` has them, with dates of their own for sources (first) and for sinks (second)."""
    # A product of dates with the pairs put in: dates of each end by itself would have all of the pairs' pieces.
    pairs, space = relation.wrap(), relation.get_space()
    sources, sinks = _of(first, space.domain()), _of(second, space.range())
    joints = (one.product(other).intersect_domain(pairs) for one in sources for other in sinks)
    return [joint for joint in joints if not joint.plain_is_empty()]


@of_same(8)
def _by_statement(dates: isl.UnionMap) -> dict[tuple[str | None, int], list[isl.Map]]:
    """Those of each statement, by its name and how many iterators it has, whatever the parameters are."""
    found: dict[tuple[str | None, int], list[isl.Map]] = {}
    dates.foreach_map(lambda one: found.setdefault((one.get_tuple_name(IN), one.dim(IN)), []).append(one))
    return found


def _of(dates: isl.UnionMap, space: isl.Space) -> Sequence[isl.Map]:
    """The dates of one statement's instances."""
    return _by_statement(dates).get((space.get_tuple_name(SET), space.dim(SET)), ())


def date_length(joint: isl.Map) -> int:
    """Length of a date in the range of a joint relation."""
    return joint.dim(isl.dim_type.out) // 2


def goes_forward(joint: isl.Map) -> bool:
    """Whether every pair of dates is in strictly increasing lexicographic order;
    works through the dimensions, outermost first."""
    width = date_length(joint)
    rest = joint
    for position in range(width):
        known = _known(joint, position)
        if known == 0:
            continue
        if known is not None:
            return known > 0 or bool(rest.is_empty())
        if not rest.order_gt(isl.dim_type.out, position, isl.dim_type.out, width + position).is_empty():
            return False
        rest = rest.equate(isl.dim_type.out, position, isl.dim_type.out, width + position)
        if rest.is_empty():
            return True
    return bool(rest.is_empty())


def _known(joint: isl.Map, position: int) -> int | None:
    """How much later all sinks are than their sources in one dimension, where that stands there: their places in a
    block."""
    source, sink = (joint.plain_get_val_if_fixed(OUT, k) for k in (position, date_length(joint) + position))
    return sink.to_python() - source.to_python() if source.is_int() and sink.is_int() else None


def not_forward(joint: isl.Map) -> isl.Map:
    """The pairs whose dates are equal or decrease."""
    width = date_length(joint)
    rest, found = joint, joint.intersect_range(isl.Set.empty(joint.get_space().range()))
    for position in range(width):
        known = _known(joint, position)
        if known == 0:
            continue
        if known is not None:
            return found if known > 0 else found.union(rest)
        found = found.union(rest.order_gt(isl.dim_type.out, position, isl.dim_type.out, width + position))
        rest = rest.equate(isl.dim_type.out, position, isl.dim_type.out, width + position)
    return found.union(rest)


def differs(joint: isl.Map, position: int) -> bool:
    """Whether some pair's dates differ in one dimension."""
    known = _known(joint, position)
    if known is not None:
        return known != 0 and not joint.is_empty()
    other = date_length(joint) + position
    later = joint.order_lt(isl.dim_type.out, position, isl.dim_type.out, other)
    return not later.is_empty() or not joint.order_gt(isl.dim_type.out, position, isl.dim_type.out, other).is_empty()


def agreeing(joint: isl.Map, depth: int) -> isl.Map:
    """The pairs that agree in the first `depth` dimensions."""
    width = date_length(joint)
    open_ones = [position for position in range(depth) if _known(joint, position) != 0]
    if not open_ones:
        return joint
    same = isl.Map.universe(joint.get_space())  # all at once: each step would look at all of the pairs' pieces again
    for position in open_ones:
        same = same.equate(isl.dim_type.out, position, isl.dim_type.out, width + position)
    return joint.intersect(same)


def outer_part(dates: isl.UnionMap, depth: int, simpler: Callable[[isl.Set], isl.Set] = compact) -> isl.UnionMap:
    """The first dimensions of the dates, with as few pieces as possible: what happens inside multiplies them."""
    parts = []
    for relation in maps_of(dates):
        width = relation.dim(isl.dim_type.out)
        outer = relation.project_out(isl.dim_type.out, depth, width - depth) if width > depth else relation
        parts.append(simpler(outer.wrap()).unwrap())
    return union_of_maps(parts)


def by_place(relation: isl.Map) -> list[isl.Map]:
    """The pieces of a statement's dates together that are for one place in the text:
    even dimensions are positions there."""
    places: dict[tuple[str, ...], isl.Map] = {}
    for piece in relation.get_basic_maps():
        fixed = tuple(
            str(piece.plain_get_val_if_fixed(isl.dim_type.out, k)) for k in range(0, piece.dim(isl.dim_type.out), 2)
        )
        one = isl.Map.from_basic_map(piece)
        places[fixed] = places[fixed].union(one) if fixed in places else one
    return list(places.values())


def fewer_pieces(dates: isl.UnionMap) -> isl.UnionMap:
    """The same dates, in one piece for each place in the text where that is possible: what loops are cut into
    multiplies in every check."""
    return union_of_maps(compact(place.wrap()).unwrap() for relation in maps_of(dates) for place in by_place(relation))
