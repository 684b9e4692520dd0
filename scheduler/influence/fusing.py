"""Which statements should share their outer loops, and how their iterators correspond: through the subscripts of arrays
that both access."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from msgspec import Struct, field

from scopt.ir.scop import Access, Scop, Statement
from scopt.poly.linear import subscript_rows

# An iterator of a statement.
_Place = tuple[str, str]


class Tie(Struct, frozen=True):
    """Two statements that are to have equal rows in dimensions 0 … dimensions-1.

    pairs: iterators of both that correspond. apart: (statement, iterator) of those that don't, or can't be among these
      dimensions.
    """

    first: str
    second: str
    dimensions: int
    pairs: tuple[tuple[str, str], ...]
    apart: tuple[tuple[str, str], ...]


def ties(scop: Scop, innermost: Mapping[str, str]) -> tuple[Tie, ...]:
    """Ties that put statements that share data into common loops, as many as agree with the wished innermost iterators.

    In textual order each statement joins the cluster that gives it the most common dimensions, the latest one of
    equals.
    """
    classes = _corresponding(scop)
    sharing = _sharing(scop)
    clusters: list[list[Statement]] = []
    found: list[Tie] = []
    for statement in scop.statements:
        best: list[Statement] = []
        best_classes: tuple[int, ...] = ()
        for cluster in clusters:
            if any((other.name, statement.name) in sharing for other in cluster):
                common = _common(classes, [*cluster, statement], innermost)
                if common and len(common) >= len(best_classes):
                    best, best_classes = cluster, common
        if best:
            found.append(_tie(classes, best[0], statement, best_classes))
            best.append(statement)
        else:
            clusters.append([statement])
    return tuple(found)


def _common(
    classes: Mapping[_Place, int], statements: Sequence[Statement], innermost: Mapping[str, str]
) -> tuple[int, ...]:
    """The classes of iterators that all the statements can have in their first dimensions.

    A wished innermost iterator can only be there as a statement's last dimension: once all its other ones are there
    too.
    """
    own = [
        {classes[statement.name, iterator]: iterator for iterator in statement.iterators} for statement in statements
    ]
    shared = [number for number in own[0] if all(number in other for other in own)]
    vector = [classes[s.name, innermost[s.name]] if s.name in innermost else None for s in statements]
    chosen = [number for number in shared if number not in vector]
    grown = True
    while grown:
        grown = False
        for number in shared:
            last = all(
                len(s.iterators) == len(chosen) + 1
                for s, wished in zip(statements, vector, strict=True)
                if wished == number
            )
            if number not in chosen and last:
                chosen.append(number)
                grown = True
    return tuple(chosen)


def _tie(classes: Mapping[_Place, int], first: Statement, second: Statement, common: tuple[int, ...]) -> Tie:
    ours, theirs = ({classes[s.name, iterator]: iterator for iterator in s.iterators} for s in (first, second))
    pairs = tuple((iterator, theirs[number]) for number, iterator in ours.items() if number in common)
    apart = tuple(
        (s.name, iterator)
        for s in (first, second)
        for iterator in s.iterators
        if classes[s.name, iterator] not in common
    )
    return Tie(first.name, second.name, len(common), pairs, apart)


# --- which iterators correspond ---------------------------------------------------------------------------------------


def _sharing(scop: Scop) -> set[tuple[str, str]]:
    """Pairs of statements, in textual order, that access the same cells' array;
    a scalar counts only if one of them writes it."""
    return {(s.name, t.name) for s, t in combinations(scop.statements, 2) if any(_meeting(scop, s, t))}


def _meeting(scop: Scop, s: Statement, t: Statement) -> Iterator[tuple[Access, Access]]:
    """Pairs of accesses to one array: those with a write, which make dependences, before those of two reads."""
    pairs = [(a, b) for a in s.accesses for b in t.accesses if a.array == b.array]
    yield from (pair for pair in pairs if pair[0].is_write or pair[1].is_write)
    yield from (
        pair for pair in pairs if not (pair[0].is_write or pair[1].is_write) and scop.arrays[pair[0].array].rank
    )


class _Classes(Struct):
    """Union-find over iterators; a class never has two iterators of one statement."""

    members: dict[_Place, frozenset[_Place]] = field(default_factory=dict)

    def join(self, one: _Place, other: _Place) -> None:
        merged = self.members[one] | self.members[other]
        if len({name for name, _ in merged}) == len(merged):
            for place in merged:
                self.members[place] = merged

    def connect(self, s: Statement, t: Statement) -> bool:
        """Whether some iterators of two statements correspond."""
        return any((t.name, y) in self.members[s.name, x] for x in s.iterators for y in t.iterators)


def _corresponding(scop: Scop) -> dict[_Place, int]:
    """A number for each iterator of each statement, the same for those that correspond.

    Iterators correspond if they alone, with the same factor, are the subscripts of two accesses in the same place;
    then, between statements that share data, if they have the same name and depth (mostly one loop around both, such as
    a time loop); and loop by loop if that gives nothing and the statements are equally deep (scalars, opaque
    statements).
    """
    places = [(statement.name, iterator) for statement in scop.statements for iterator in statement.iterators]
    classes = _Classes({place: frozenset((place,)) for place in places})
    pairs = [(s, t, tuple(_meeting(scop, s, t))) for s, t in combinations(scop.statements, 2)]
    subscripts = {access: _subscripts(s, access) for s in scop.statements for access in s.accesses}
    for s, t, meeting in pairs:
        for a, b in meeting:
            # An access that isn't affine has none.
            for one, other in zip(subscripts[a], subscripts[b], strict=False):
                if one is not None and other is not None and one[0] == other[0]:
                    classes.join((s.name, one[1]), (t.name, other[1]))
    for s, t, meeting in pairs:
        for x, y in zip(s.iterators, t.iterators, strict=False):
            if meeting and x == y:
                classes.join((s.name, x), (t.name, y))
    for s, t, meeting in pairs:
        if meeting and len(s.iterators) == len(t.iterators) and not classes.connect(s, t):
            for x, y in zip(s.iterators, t.iterators, strict=True):
                classes.join((s.name, x), (t.name, y))
    ids: dict[frozenset[_Place], int] = {}
    return {place: ids.setdefault(classes.members[place], len(ids)) for place in places}


def _subscripts(statement: Statement, access: Access) -> tuple[tuple[str, str] | None, ...]:
    """For each subscript (factor, iterator) if it is one iterator,
    plus terms that don't depend on iterators; else None."""
    rows = subscript_rows(access.relation)
    if rows is None:
        return ()
    result: list[tuple[str, str] | None] = []
    for row in rows:
        moving = [k for k, factor in enumerate(row) if factor]
        result.append((str(row[moving[0]]), statement.iterators[moving[0]]) if len(moving) == 1 else None)
    return tuple(result)
