"""Relations between instances, and what has to hold of them: small things that the proof is made of."""

from __future__ import annotations

from collections.abc import Iterable
from math import inf

import islpy as isl

from scopt.poly.dates import goes_forward, outer_part, with_dates
from scopt.poly.isl_utils import IN, OUT, compact, maps_of, union_of_sets


def same_key(first: isl.Map, second: isl.Map) -> isl.Map:
    """Pairs with the same key."""
    space = first.get_space().align_params(second.get_space())
    first, second = first.align_params(space), second.align_params(space)
    if first.get_tuple_name(OUT) == second.get_tuple_name(OUT):
        return first.apply_range(second.reverse())
    return isl.Map.empty(first.get_space().domain().map_from_domain_and_range(second.get_space().domain()))


def by_content(content: isl.Map, epoch: isl.Map) -> isl.Map:
    """``{ […] -> content[…, epoch] }``"""
    return content.reset_tuple_id(OUT).flat_range_product(epoch).set_tuple_name(OUT, content.get_tuple_name(OUT))


def united(sets: Iterable[isl.Set]) -> isl.UnionSet:
    return union_of_sets(compact(one) for one in sets)


def covers(union: isl.UnionSet, part: isl.Set) -> bool:
    return bool(isl.UnionSet.from_set(part).is_subset(union))


def is_function(relations: Iterable[isl.Map]) -> bool:
    """Whether nothing leads to two things. Relations whose results have different names lead to different things."""
    whole: dict[tuple[str, str], isl.Map] = {}
    for relation in relations:
        name = str(relation.get_tuple_name(IN) or ""), str(relation.get_tuple_name(OUT) or "")
        whole[name] = whole[name].union(relation) if name in whole else relation
    for relation in whole.values():
        if not any(one.is_single_valued() for one in (hull(relation), relation)):
            return False
    domains = [isl.UnionSet.from_set(relation.domain()) for relation in whole.values()]
    return all(one.is_disjoint(other) for k, one in enumerate(domains) for other in domains[:k])


def positions(dates: isl.Map, dimension: int) -> list[float]:
    """Where in their block some instances stand; everywhere, if that isn't known."""
    values = [piece.plain_get_val_if_fixed(OUT, dimension) for piece in dates.get_basic_maps()]
    return [float(value.to_python()) for value in values] if all(value.is_int() for value in values) else [-inf, inf]


def forward(pairs: isl.UnionMap, first: isl.UnionMap, second: isl.UnionMap) -> bool:
    """Whether the first of each pair comes before the second one."""
    own = (relation for relation in maps_of(pairs) if not relation.is_empty())
    return all(goes_forward(joint) for relation in own for joint in with_dates(relation, first, second))


def agreeing(pairs: isl.UnionMap, dates: isl.UnionMap, depth: int) -> isl.UnionMap:
    """The pairs whose dates agree in so many dimensions."""
    outer = outer_part(dates, depth)
    return pairs.intersect(outer.apply_range(outer.reverse()))


def until(dates: isl.Map, dimension: int) -> isl.Map:
    """The dates up to a dimension, it included."""
    return dates.project_out(OUT, dimension + 1, dates.dim(OUT) - dimension - 1)


def is_carried(pairs: isl.Map, first: isl.Map, second: isl.Map, dimension: int) -> bool:
    """Whether some pair's dates agree outside of a loop and differ in it."""
    outer = [outer_part(isl.UnionMap.from_map(dates), dimension + 1, isl.Set.coalesce) for dates in (first, second)]
    for joint in with_dates(pairs, *outer):
        half = joint.dim(OUT) // 2
        for k in range(dimension):
            joint = joint.equate(OUT, k, OUT, half + k)
        if not joint.order_lt(OUT, dimension, OUT, half + dimension).is_empty():
            return True
        if not joint.order_gt(OUT, dimension, OUT, half + dimension).is_empty():
            return True
    return False


def hull(relation: isl.Map) -> isl.Map:
    """A superset in one piece."""
    return isl.Map.from_basic_map(relation.simple_hull()) if relation.n_basic_map() > 1 else relation


def lifted(size: isl.PwAff, space: isl.Space) -> isl.PwAff:
    """A function of the parameters as one on a space."""
    return size.insert_domain(space.align_params(size.get_space().params()))
