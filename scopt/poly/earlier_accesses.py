"""Accesses before others to the same cells, in the order of the source, and the latest of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl
from msgspec import Struct, field
from msgspec.structs import replace

from scopt.poly.date_classes import Between, DateClasses
from scopt.poly.isl_utils import IN, OUT, maps_of, sets_of, union_of_maps
from scopt.poly.pair_classes import Classes

# So many numbers of dimensions are tried in which sources may agree with sinks.
_DEPTHS = 2


class Earlier(Struct, frozen=True, eq=False):
    """Accesses to one array before the sinks. dates: of the statements with some, from instances to one space. near: by
    statement of a sink, in how many leading dimensions of the dates a source has to agree with it."""

    sinks: isl.UnionMap
    order: SourceOrder
    dates: isl.UnionMap
    near: Mapping[str, int] = {}

    def pairs(self, sources: isl.UnionMap) -> isl.UnionMap:
        """All pairs of a source and a later sink of the same cell, ``{ S[i] -> [T[j] -> A[a]] }``."""
        same_cell = sources.apply_range(self.sinks.range_map().reverse())
        before = self.before(sources)
        return same_cell.intersect(before.apply_range(self.sinks.domain_map().reverse()))

    def before(self, sources: isl.UnionMap) -> isl.UnionMap:
        """The pairs of any instances of the sources' and the sinks' statements that are in this order. Which instances
        there are is known of the pairs: told of their order too, it would multiply the pieces."""
        ends = ({str(one.get_tuple_name(IN)) for one in maps_of(some)} for some in (sources, self.sinks))
        first, last = map(sorted, ends)
        return union_of_maps(
            self.order.before(source, sink, self.near.get(sink, 0)) for source in first for sink in last
        )


class SourceOrder(Struct, frozen=True, eq=False):
    """The source's order. known: which instances of two statements come before others, by `DateClasses.between` and by
    in how many dimensions they agree."""

    dates: DateClasses
    known: dict[tuple[Between | None, int], isl.Map] = field(default_factory=dict)

    @staticmethod
    def of(order: isl.UnionMap) -> SourceOrder:
        return SourceOrder(DateClasses.of(Classes(), order))

    def before(self, source: str, sink: str, agreeing: int = 0) -> isl.Map:
        """``{ S[i] -> T[j] }``. agreeing: in how many leading dimensions of the dates."""
        key = self.dates.between(source, sink), agreeing
        if key not in self.known:
            first, last = (self.dates.own[name][0] for name in (source, sink))
            outer, inner = _halves(first, agreeing), _halves(last, agreeing)
            later = outer[1].lex_lt_map(inner[1])
            self.known[key] = later.intersect(outer[0].apply_range(inner[0].reverse())) if agreeing else later
        return self.known[key].set_tuple_name(IN, source).set_tuple_name(OUT, sink)

    def shared(self, source: str, sink: str) -> int:
        """Up to where in the dates both stand in the same loops, if the source comes first there; else 0."""
        ends = zip(self.dates.own[source][1], self.dates.own[sink][1], strict=True)
        for position, (one, two) in enumerate(ends):
            if one is not None and two is not None and one != two:
                return position if one < two else 0
        return 0

    def of_some(self, instances: isl.UnionSet) -> isl.UnionMap:
        """The dates of some statements, as far as these ask for them: without dimensions in which all are at the same
        place, and with the other places counted anew. So they are the same whatever else stands around, and isl has
        less to look at."""
        own = [self.dates.own[str(one.get_tuple_name())] for one in sets_of(instances)]
        places = [_counted(column) for column in zip(*(fixed for _, fixed, _ in own), strict=True)]
        return union_of_maps(_at_places(dates, places) for dates, _, _ in own)


def _counted(column: Sequence[int | None]) -> dict[int, int] | None:
    """The places of some statements in one dimension, counted from 0; None where it isn't one of places for all."""
    if None in column:
        return None
    return {place: number for number, place in enumerate(sorted({place for place in column if place is not None}))}


def _at_places(dates: isl.Map, places: Sequence[Mapping[int, int] | None]) -> isl.Map:
    """A statement's dates with places counted anew, by dimension."""
    for position, counted in reversed([*enumerate(places)]):
        if counted is None:
            continue
        place = dates.plain_get_val_if_fixed(OUT, position).to_python()
        dates = dates.project_out(OUT, position, 1)
        if len(counted) > 1:
            dates = dates.insert_dims(OUT, position, 1).fix_val(OUT, position, isl.Val(counted[place]))
    return dates


def _halves(dates: isl.Map, count: int) -> tuple[isl.Map, isl.Map]:
    """The first dimensions of dates, so many, and the others."""
    width = int(dates.dim(OUT))
    return dates.project_out(OUT, count, width - count), dates.project_out(OUT, 0, count)


def near_sources(earlier: Earlier, hiding: isl.UnionMap) -> dict[str, int]:
    """By statement of a sink, in how many dimensions of the dates a source agrees with each sink. Of two that come
    before a sink, the one that agrees with it in more is later: others needn't be looked at, which may take isl
    hundreds of times as long as what a statement in the same iteration writes."""
    found = dict[str, int]()
    for sink in maps_of(earlier.sinks):
        name, one = str(sink.get_tuple_name(IN)), isl.UnionMap.from_map(sink)
        depths = {earlier.order.shared(str(source.get_tuple_name(IN)), name) for source in maps_of(hiding)}
        for depth in sorted(depths - {0}, reverse=True)[:_DEPTHS]:
            pairs = replace(earlier, sinks=one, near={name: depth}).pairs(hiding)
            if one.wrap().is_subset(pairs.range()):
                found[name] = depth
                break
    return found


def latest(earlier: Earlier, sources: isl.UnionMap, dates: isl.UnionMap) -> tuple[isl.UnionMap, isl.UnionMap]:
    """All pairs of a source and a later sink, and the dates of the last source of each sink. dates: of the sources'
    statements."""
    pairs = earlier.pairs(sources)
    return pairs, pairs.reverse().apply_range(dates).lexmax()
