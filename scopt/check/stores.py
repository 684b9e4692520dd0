"""When what instances write is in an array itself, though they have written it to a buffer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product

import islpy as isl
from msgspec import Struct

from scopt.check.forms import Copy, cell
from scopt.check.pairs import agreeing, forward, positions, same_key, united
from scopt.check.read_text import Text, flows_by_array
from scopt.check.uses import Part, written_array
from scopt.diagnostics import InternalError
from scopt.ir.scop import Dependence
from scopt.poly.isl_utils import IN, OUT, union_of_maps, union_of_sets


class Stored(Struct, frozen=True, eq=False):
    """When what instances write is in an array itself: ``{ S[…] -> [date] }``, or more. sure: those of which it surely
    is, at some time; None: all.
    depth: so many dimensions of the date are those of the instance's own."""

    dates: isl.UnionMap
    sure: isl.UnionSet | None
    depth: int

    def holds(self, instances: isl.UnionSet, but: isl.UnionSet | None = None) -> bool:
        """Whether what all of these write, some apart, is there at some time."""
        if self.sure is None:
            return True
        return bool((instances if but is None else instances.subtract(but)).is_subset(self.sure))


def stored_by(text: Text, parts: Sequence[Part]) -> dict[str, Stored]:
    """By array."""
    dates = {name: list[isl.Map]() for name in text.source.arrays}
    sure = {name: list[isl.Set]() for name in text.source.arrays}
    partial = set()
    depths = {name: text.width for name in text.source.arrays}
    for carrier in text.roles.carriers:
        statement = text.source.statement(carrier.statement)
        moved = {position for one in carrier.moved for position in one.accesses}
        for position, access in enumerate(statement.accesses):
            if access.is_write and position not in moved:
                dates[access.array].append(text.runs(carrier).apply_range(text.of(carrier.text)))
                sure[access.array].append(text.runs_exactly(carrier))
    for part, use in ((one, use) for one in parts for use in one.uses if use.writes):
        array = written_array(text, use)
        depths[array] = min(depths[array], part.epochs.depth)
        if not part.leaves(use):
            partial.add(array)
        for out in part.outs():
            if out.copy.content is not None and out.copy.content.get_tuple_name(OUT) == use.content.get_tuple_name(OUT):
                dates[array].append(same_key(use.key, out.key).apply_range(out.dates))
                sure[array].append(use.sure.intersect_range(out.sure).domain())
    return {
        name: Stored(_present(dates[name]), union_of_sets(sure[name]) if name in partial else None, depths[name])
        for name in dates
    }


def _present(relations: Iterable[isl.Map]) -> isl.UnionMap:
    return union_of_maps(relation for relation in relations if not relation.is_empty())


def check_order_of_stores(text: Text, parts: Sequence[Part], stored: Mapping[str, Stored]) -> None:
    """Values are stored before instances that read the cell itself, and before instances that write it again.

    Instances of different epochs have that order themselves; so have those of one epoch, if the array itself is only
    touched before all that happens to the buffer, or after it.
    """
    for part in parts:
        for array in sorted({written_array(text, use) for use in part.uses if use.writes}):
            if not is_apart(text, parts, part, array):
                _check_stores_of(text, part, array, stored[array])


def is_apart(text: Text, parts: Sequence[Part], part: Part, array: str) -> bool:
    """Whether nothing touches an array itself between the first and the last use of a buffer in an epoch."""
    touching = _touching(text, parts, array)
    return text.worked_out(("apart", part, touching), lambda: _is_apart(text, part, touching))


def _is_apart(text: Text, part: Part, touching: frozenset[str]) -> bool:
    depth = part.epochs.depth
    dates, exact = text.inside(part.epochs), text.inside_exactly(part.epochs)
    own = {use.carrier.text for use in part.uses} | {one.copy.text for one in part.copies}
    places = [place for name in own for place in positions(dates[name], depth)]
    epochs = text.worked_out(
        ("epochs", part), lambda: united(part.epochs.of(exact[name]).range() for name in sorted(own))
    )
    for name in touching - {one.copy.text for one in part.copies}:
        between = name in exact and any(min(places) <= place <= max(places) for place in positions(dates[name], depth))
        if between and not epochs.is_disjoint(isl.UnionSet.from_set(part.epochs.of(exact[name]).range())):
            return False
    return True


def _touching(text: Text, parts: Sequence[Part], array: str) -> frozenset[str]:
    """The text's statements that touch an array itself."""
    found = set()
    for carrier in text.roles.carriers:
        moved = {position for one in carrier.moved for position in one.accesses}
        accesses = text.source.statement(carrier.statement).accesses
        if any(access.array == array and k not in moved for k, access in enumerate(accesses)):
            found.add(carrier.text)
    for part in parts:
        for one in part.copies:
            if array in _copied(text, part, one.copy):
                found.add(one.copy.text)
    return frozenset(found)


def _arrays_of(text: Text, part: Part, content: str) -> set[str]:
    """The arrays that a content has its values from."""
    if content.startswith(cell("")):
        return {content.removeprefix(cell(""))}
    uses = [use for use in part.uses if use.content.get_tuple_name(OUT) == content]
    return {text.source.statement(use.carrier.statement).accesses[k].array for use in uses for k in use.moved.accesses}


def _check_stores_of(text: Text, part: Part, array: str, places: Stored) -> None:
    """The same, pair by pair, for what is written in one part."""
    inside = union_of_sets(use.sure.domain() for use in part.uses if use.writes)
    touched = union_of_sets(use.sure.domain() for use in part.uses)
    private = text.source.arrays[array].private
    for dependence in (*text.flows, *text.deps.select("output")):
        if dependence.array != array or (private and dependence.kind == "output"):
            continue
        every = isl.UnionMap.from_map(dependence.relation)
        pairs = (
            union_of_maps(_unmoved(text, dependence)) if dependence.kind == "flow" else every.subtract_range(touched)
        )
        pairs = agreeing(pairs.intersect_domain(inside), text.own, part.epochs.depth).intersect_domain(
            places.dates.domain()
        )
        if not forward(pairs, places.dates, text.own):
            raise InternalError(f"{text.source.location}: generated loops: '{array}' is stored too late")


def _unmoved(text: Text, dependence: Dependence) -> Iterator[isl.Map]:
    """The part of a flow dependence whose sinks read the array itself."""
    for carrier in text.roles.carriers:
        if carrier.statement != dependence.sink:
            continue
        moved = {position for one in carrier.moved for position in one.accesses}
        statement = text.source.statement(carrier.statement)
        own = [
            k
            for k, a in enumerate(statement.accesses)
            if a.array == dependence.array and not a.is_write and k not in moved
        ]
        for _, flow in flows_by_array(text, dependence.sink, own, text.flows):
            if flow.get_tuple_name(IN) == dependence.source:
                yield flow.intersect_range(text.runs_exactly(carrier))


def same_slots(text: Text, parts: Sequence[Part]) -> dict[str, isl.UnionMap]:
    """By private array, pairs of instances that touch one slot in one epoch, or the array itself; only arrays that
    buffers stand for, without copies between both."""
    own: dict[str, list[isl.Set]] = {}
    mixed = {array for part in parts for one in part.copies for array in _copied(text, part, one.copy)}
    for carrier in text.roles.carriers:
        moved = {position for one in carrier.moved for position in one.accesses}
        accesses = text.source.statement(carrier.statement).accesses
        direct = {access.array for k, access in enumerate(accesses) if k not in moved}
        mixed |= direct & {access.array for k, access in enumerate(accesses) if k in moved}
        for name in direct:
            own.setdefault(name, []).append(text.runs(carrier).domain())
    found: dict[str, list[isl.Map]] = {}
    for name in {name for name, array in text.source.arrays.items() if array.private} - mixed:
        for part in parts:
            uses = [use for use in part.uses if use.content.get_tuple_name(OUT) == cell(name)]
            found.setdefault(name, []).extend(same_key(first.key, second.key) for first, second in product(uses, uses))
        if found.get(name):
            found[name].extend(isl.Map.from_domain_and_range(*both) for both in product(own.get(name, ()), repeat=2))
    return {name: union_of_maps(pairs) for name, pairs in found.items() if pairs}


def _copied(text: Text, part: Part, copy: Copy) -> set[str]:
    """The arrays whose cells are copied."""
    return set() if copy.content is None else _arrays_of(text, part, str(copy.content.get_tuple_name(OUT)))
