"""Questions about pairs of statement instances, each asked of isl once for all pairs of statements that differ in their
names alone.

Straight code of many statements has hundreds of dependences, nearly all of them from an iteration to itself. What
a loop around them has to order follows from the pairs, from where their ends are, and from what both ends have for the
loops: where these are the same up to the statements' names, so is the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import reduce

import islpy as isl
from msgspec import Struct, field

from scopt.poly.isl_utils import IN, OUT, maps_of, sets_of, total


class Moves(Struct, frozen=True):
    """How far some pairs lead along a schedule dimension, from source to sink. empty: there are none; zero: nowhere;
    forward: never backwards."""

    empty: bool = True
    zero: bool = True
    forward: bool = True


class Piece(Struct, frozen=True, eq=False):
    """The pairs between two statements. number: of their class. first, last: the spaces of their instances."""

    source: str
    sink: str
    relation: isl.Map
    number: int
    first: isl.Space
    last: isl.Space

    @staticmethod
    def of(classes: Classes, relation: isl.Map) -> Piece:
        space = relation.get_space()
        names = str(relation.get_tuple_name(IN)), str(relation.get_tuple_name(OUT))
        return Piece(*names, relation, classes.number(relation), space.domain(), space.range())


class Classes(Struct, frozen=True, eq=False):
    """What is known of the pairs of one SCoP. numbers: of sets and maps that differ in names of tuples alone, by hash;
    known: of some of them, by their `id`, with the maps themselves; pieces: of unions, by their `id`, with the unions
    themselves; moves, facts: answers by the numbers of all that they follow from; pairs, equal: by these and the names
    of their ends."""

    numbers: dict[int, list[tuple[isl.Map, int]]] = field(default_factory=dict)
    known: dict[int, tuple[isl.Map, int]] = field(default_factory=dict)
    pieces: dict[int, tuple[isl.UnionMap, tuple[Piece, ...]]] = field(default_factory=dict)
    moves: dict[tuple[object, ...], Moves] = field(default_factory=dict)
    facts: dict[tuple[object, ...], bool] = field(default_factory=dict)
    pairs: dict[tuple[object, ...], isl.Map] = field(default_factory=dict)
    equal: dict[tuple[object, ...], isl.Map] = field(default_factory=dict)
    dated: dict[tuple[object, ...], isl.Set | None] = field(default_factory=dict)
    count: list[int] = field(default_factory=lambda: [0])

    def number(self, relation: isl.Map) -> int:
        """The number of the relation's class."""
        bare = relation.reset_tuple_id(IN).reset_tuple_id(OUT)
        alike = self.numbers.setdefault(hash(bare), [])
        for other, found in alike:
            if bare.plain_is_equal(other):
                return found
        self.count[0] += 1
        alike.append((bare, self.count[0]))
        return self.count[0]

    def lasting(self, relation: isl.Map) -> int:
        """The same of one that is asked about again."""
        if id(relation) not in self.known:
            self.known[id(relation)] = relation, self.number(relation)
        return self.known[id(relation)][1]

    def pieces_of(self, pairs: isl.UnionMap) -> tuple[Piece, ...]:
        """The pairs by the statements that they are between."""
        if id(pairs) not in self.pieces:
            found = tuple(Piece.of(self, one) for one in maps_of(pairs))
            self.pieces[id(pairs)] = pairs, found
        return self.pieces[id(pairs)][1]


class _Part(Struct, frozen=True, eq=False):
    """What instances of one statement have of functions. key: their numbers."""

    functions: tuple[isl.PwAff, ...]
    key: tuple[int, ...]


class Functions(Struct, frozen=True, eq=False):
    """Schedule dimensions, looked at by statement. everywhere: for instances that don't have them, too (see `total`).
    parts: by statement, as far as somebody has asked."""

    classes: Classes
    each: tuple[isl.UnionPwAff, ...]
    everywhere: bool = False
    parts: dict[str, _Part] = field(default_factory=dict)

    def of(self, name: str, space: isl.Space) -> _Part:
        """space: of the statement's instances."""
        if name not in self.parts:
            to_one = space.from_domain().add_dims(OUT, 1)
            own = tuple(one.extract_pw_aff(to_one) for one in self.each)
            own = tuple(map(total, own)) if self.everywhere else own
            key = tuple(self.classes.number(isl.Map.from_pw_aff(one)) for one in own)
            self.parts[name] = _Part(own, key)
        return self.parts[name]


class Instances(Struct, frozen=True, eq=False):
    """Some instances, looked at by statement. parts: with the numbers of their classes."""

    whole: isl.UnionSet
    parts: dict[str, tuple[isl.Set, int]]

    @staticmethod
    def of(classes: Classes, whole: isl.UnionSet) -> Instances:
        each = [one.coalesce() for one in sets_of(whole)]  # parts of unrolled loops, mostly
        parts = {str(one.get_tuple_name()): (one, classes.number(isl.Map.from_range(one))) for one in each}
        return Instances(whole, parts)

    def number(self, name: str) -> int:
        """Of the class; 0 if there are none of this statement."""
        return self.parts[name][1] if name in self.parts else 0

    def at(self, name: str, space: isl.Space) -> isl.Set:
        return self.parts[name][0] if name in self.parts else isl.Set.empty(space)


class Agreement(Struct, frozen=True, eq=False):
    """The pairs with both ends among some instances that have the same values of some functions: what loops inside of
    others have to order. known: functions that were asked for, by their `id`."""

    classes: Classes
    instances: Instances
    same: Functions
    known: dict[int, Functions] = field(default_factory=dict)

    @staticmethod
    def of(
        classes: Classes, domain: isl.UnionSet, same: Iterable[isl.UnionPwAff], *, everywhere: bool = False
    ) -> Agreement:
        return Agreement(classes, Instances.of(classes, domain), Functions(classes, tuple(same), everywhere))

    def within(self, domain: isl.UnionSet) -> Agreement:
        """The same among fewer instances."""
        return Agreement(self.classes, Instances.of(self.classes, domain), self.same, self.known)

    def moves(self, pairs: isl.UnionMap, member: isl.UnionPwAff) -> Moves:
        """How far these pairs lead along a schedule dimension."""
        empty = zero = forward = True
        for _, found in self._each(pairs, member):
            empty, zero, forward = empty and found.empty, zero and found.zero, forward and found.forward
        return Moves(empty, zero, forward)

    def moving(self, pairs: isl.UnionMap, member: isl.UnionPwAff) -> list[tuple[str, str]]:
        """The statements that some of these pairs lead between which have other dates in a schedule dimension."""
        return [(piece.source, piece.sink) for piece, found in self._each(pairs, member) if not found.zero]

    def _each(self, pairs: isl.UnionMap, member: isl.UnionPwAff) -> Iterator[tuple[Piece, Moves]]:
        """How far the pairs between two statements lead, whichever these are."""
        if id(member) not in self.known:
            self.known[id(member)] = Functions(self.classes, (member,))
        along, own = self.known[id(member)], self.instances
        for piece in self.classes.pieces_of(pairs):
            if piece.source in own.parts and piece.sink in own.parts:
                yield piece, self._moves(piece, along)

    def _moves(self, piece: Piece, along: Functions) -> Moves:
        first, last = (piece.source, piece.first), (piece.sink, piece.last)
        ends = [(self.same.of(*one), along.of(*one)) for one in (first, last)]
        own = self.instances.number(piece.source), self.instances.number(piece.sink)
        key = (piece.number, *own, *(one.key for parts in ends for one in parts))
        if key not in self.classes.moves:
            source, sink = (one for _, one in ends)
            pairs = self._defined(piece, source, sink)
            dates = [total(one.functions[0]) for one in (source, sink)]
            self.classes.moves[key] = Moves() if pairs.is_empty() else _along(pairs, *dates)
        return self.classes.moves[key]

    def _defined(self, piece: Piece, source: _Part, sink: _Part) -> isl.Map:
        """The pairs of a piece whose ends have these dates: all of them, mostly."""
        pairs = self._pairs(piece)
        first, last = self._dated(piece.source, source), self._dated(piece.sink, sink)
        pairs = pairs if first is None else pairs.intersect_domain(first)
        return pairs if last is None else pairs.intersect_range(last)

    def _dated(self, name: str, along: _Part) -> isl.Set | None:
        """The instances that have a date; None where all of a statement's do that the agreement is about."""
        key = name, self.instances.number(name), along.key
        if key not in self.classes.dated:
            some = along.functions[0].domain().coalesce()
            inside = name not in self.instances.parts or self.instances.parts[name][0].is_subset(some)
            self.classes.dated[key] = None if inside else some
        return self.classes.dated[key]

    def ends(self, pairs: isl.UnionMap) -> list[tuple[str, str]]:
        """The statements that some of these pairs lead between."""
        own = self.instances.parts
        return [
            (piece.source, piece.sink)
            for piece in self.classes.pieces_of(pairs)
            if piece.source in own and piece.sink in own and not self._is_empty(piece)
        ]

    def _is_empty(self, piece: Piece) -> bool:
        parts = (self.same.of(piece.source, piece.first), self.same.of(piece.sink, piece.last))
        return self._fact("empty", piece, self._has_none, *(one.key for one in parts))

    def _has_none(self, piece: Piece) -> bool:
        return bool(self._pairs(piece).is_empty())

    def keeps(self, pairs: isl.UnionMap) -> bool:
        """Whether all of these pairs with an end among the instances have both there, and agree."""
        own = self.instances.parts
        return self.stays_inside(pairs) and all(
            self._agrees(piece) for piece in self.classes.pieces_of(pairs) if piece.source in own and piece.sink in own
        )

    def _agrees(self, piece: Piece) -> bool:
        parts = (self.same.of(piece.source, piece.first), self.same.of(piece.sink, piece.last))
        return self._fact("agrees", piece, self._are_asked, *(one.key for one in parts))

    def _are_asked(self, piece: Piece) -> bool:
        """Whether the agreement is about all pairs of a piece among the instances."""
        domain = self.instances.at(piece.source, piece.first)
        return bool(piece.relation.intersect_domain(domain).is_subset(self._pairs(piece)))

    def _pairs(self, piece: Piece) -> isl.Map:
        """The pairs of a piece that are asked about."""
        first, last = self.same.of(piece.source, piece.first), self.same.of(piece.sink, piece.last)
        key = (*self._among_key(piece), first.key, last.key)
        if key not in self.classes.pairs:
            agreeing = (self._equal(piece, first, last, k) for k in range(len(first.functions)))
            # functions with pieces (loops that were unrolled) have some hundred agreements, of which few pairs are left
            parts = sorted((self._among(piece), *agreeing), key=isl.Map.n_basic_map)
            self.classes.pairs[key] = reduce(isl.Map.intersect, parts)
        return self.classes.pairs[key]

    def _equal(self, piece: Piece, first: _Part, last: _Part, k: int) -> isl.Map:
        """All pairs of instances of a piece's statements for which the k-th function is the same: that of a loop is
        asked for again in all loops inside of it."""
        key = piece.source, piece.sink, first.key[k], last.key[k]
        if key not in self.classes.equal:
            self.classes.equal[key] = first.functions[k].eq_map(last.functions[k])
        return self.classes.equal[key]

    def _among(self, piece: Piece) -> isl.Map:
        """The pairs of a piece among the instances. Most have no others: they stay in their pieces then."""
        key, pairs = self._among_key(piece), piece.relation
        if key not in self.classes.pairs:
            first, last = (self.instances.at(piece.source, piece.first), self.instances.at(piece.sink, piece.last))
            pairs = pairs if pairs.domain().is_subset(first) else pairs.intersect_domain(first)
            pairs = pairs if pairs.range().is_subset(last) else pairs.intersect_range(last)
            self.classes.pairs[key] = pairs
        return self.classes.pairs[key]

    def _among_key(self, piece: Piece) -> tuple[object, ...]:
        own = self.instances
        return piece.number, piece.source, piece.sink, own.number(piece.source), own.number(piece.sink)

    def stays_inside(self, pairs: isl.UnionMap) -> bool:
        """Whether no pair leads from these instances to others, or from others to these."""
        return not any(
            self._fact("crosses", piece, self._crosses)
            for piece in self.classes.pieces_of(pairs)
            if piece.source in self.instances.parts or piece.sink in self.instances.parts
        )

    def _crosses(self, piece: Piece) -> bool:
        first = self.instances.at(piece.source, piece.first)
        last = self.instances.at(piece.sink, piece.last)
        entering = piece.relation.intersect_range(last).subtract_domain(first)
        leaving = piece.relation.intersect_domain(first).subtract_range(last)
        return not (entering.is_empty() and leaving.is_empty())

    def is_entered(self, pairs: isl.UnionMap) -> bool:
        """Whether a sink is among the instances."""
        return any(
            self._fact("entered", piece, self._is_entered)
            for piece in self.classes.pieces_of(pairs)
            if piece.sink in self.instances.parts
        )

    def is_left(self, pairs: isl.UnionMap) -> bool:
        """Whether a source is among the instances."""
        return any(
            self._fact("left", piece, self._is_left)
            for piece in self.classes.pieces_of(pairs)
            if piece.source in self.instances.parts
        )

    def _is_entered(self, piece: Piece) -> bool:
        return not piece.relation.intersect_range(self.instances.at(piece.sink, piece.last)).is_empty()

    def _is_left(self, piece: Piece) -> bool:
        return not piece.relation.intersect_domain(self.instances.at(piece.source, piece.first)).is_empty()

    def _fact(self, what: str, piece: Piece, ask: Callable[[Piece], bool], *more: object) -> bool:
        own = self.instances
        key = (what, piece.number, own.number(piece.source), own.number(piece.sink), *more)
        if key not in self.classes.facts:
            self.classes.facts[key] = ask(piece)
        return self.classes.facts[key]


def _along(pairs: isl.Map, source: isl.PwAff, sink: isl.PwAff) -> Moves:
    """What the dates of pairs say, of which there are some. (Without the set of all differences, for which isl would
    have to get rid of the instances.)"""
    forward = bool(pairs.intersect(source.gt_map(sink)).is_empty())
    zero = forward and bool(pairs.intersect(source.lt_map(sink)).is_empty())
    return Moves(empty=False, zero=zero, forward=forward)
