"""What a tile touches: groups of references, and the lines, pages and cache sets that their cells lie in.

A tile is a box in the members of a band: so many consecutive values of each. References that differ by constants alone
touch nearly the same cells and make a group (uniformly generated references: Gannon, Jalby and Gallivan 1988; Wolf and
Lam 1991). Along each subscript a group's cells are an interval whose length is linear in the tile's sizes; the
footprint is the product of these lengths. Arrays lie in memory row by row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from math import ceil, gcd, prod

from msgspec import Struct

from scopt import ir
from scopt.ir.scop import Access, Array, Scop
from scopt.machine import Cache
from scopt.machine.costs import ELEMENT, UNKNOWN_EXTENT
from scopt.poly.linear import Vector, affine_rows, dot, quotient, solve, whole


class TileSpace(Struct, frozen=True):
    """The members of tiles, as rows by statement over its iterators. Rows outside are fixed in a tile.

    members: the tile's own, then those of the loops inside of them. directions: how the iterators move with each
      member, None where they can't.
    instances: of a statement for each point of the tile; 0 for those that don't run at every point: their share is
      small.
    """

    members: dict[str, tuple[Vector, ...]]
    directions: dict[str, tuple[Vector | None, ...]]
    instances: dict[str, Fraction]


class ReferenceGroup(Struct, frozen=True):
    """References to one array that differ by constants.

    moves: per subscript, by how much it grows with each member. spread: per subscript, the largest difference of their
      constants.
    extents: elements along each dimension, None if unknown. element: bytes of one.
    """

    array: str
    moves: tuple[Vector, ...]
    spread: tuple[int, ...]
    extents: tuple[int | None, ...]
    element: int

    def depends_on(self, member: int) -> bool:
        return any(row[member] for row in self.moves)

    def walks(self, member: int) -> bool:
        """Whether the member moves along a line: only the last subscript, by one element."""
        return bool(self.moves) and abs(self.moves[-1][member]) == 1 and not any(row[member] for row in self.moves[:-1])

    def length(self, subscript: int, sizes: Sequence[int]) -> Fraction:
        """Elements between the ends of the interval of one subscript in a tile."""
        spans = (abs(factor) * (size - 1) for factor, size in zip(self.moves[subscript], sizes, strict=True))
        extent = self.extents[subscript]
        length = 1 + self.spread[subscript] + sum(spans, whole(0))
        return length if extent is None else min(length, whole(extent))

    def segments(self, sizes: Sequence[int]) -> int:
        """Runs of neighbouring cells: one for each value of the outer subscripts."""
        return ceil(prod((self.length(k, sizes) for k in range(len(self.moves) - 1)), start=whole(1)))

    def bytes(self, sizes: Sequence[int]) -> int:
        """Bytes of a segment."""
        return ceil(self.length(len(self.moves) - 1, sizes)) * self.element if self.moves else self.element

    def lines(self, sizes: Sequence[int], line: int, *, borders: bool = True) -> int:
        """Distinct lines of so many bytes (or pages) in a tile. Segments that fill their rows follow each other without
        a gap.

        borders: count the line that a segment shares with the next tile's, too.
        """
        inner = self.extents[-1] if self.extents else None
        run, count = self.bytes(sizes), self.segments(sizes)
        if inner is not None and run >= inner * self.element:
            return ceil(run * count / line)
        # A segment that doesn't start at a line's border has one more.
        aligned = run <= self.element or not borders
        return min(count * (ceil(run / line) + (0 if aligned else 1)), count * ceil(run / self.element))

    def stride(self, member: int) -> int | None:
        """Bytes from one iteration of a member to the next one's cells; None if unknown."""
        total = whole(0)
        for subscript, row in enumerate(self.moves):
            if row[member]:
                inner = self.extents[subscript + 1 :]
                if None in inner:
                    return None
                total += row[member] * prod(extent for extent in inner if extent is not None)
        return abs(int(total * self.element))


def rows_in_cache(stride: int, cache: Cache) -> int:
    """How many addresses at a stride of bytes a cache keeps, of one line each: those whose distance divides the bytes
    of a way share their sets.

    Source: Coleman and McKinley, "Tile size selection using cache organization and data layout" (1995), section 3.
    """
    way = cache.sets * cache.line
    places = way // gcd(stride, way) if stride else 1
    return min(places, cache.sets) * cache.associativity


def tile_space(
    scop: Scop, prefix: Mapping[str, tuple[Vector, ...]], tiled: Mapping[str, tuple[Vector, ...]]
) -> TileSpace:
    """The tiles of rows below a prefix, with all iterations of the loops inside: iterators that the rows leave free
    become members after them."""
    members: dict[str, tuple[Vector, ...]] = {}
    for name, rows in tiled.items():
        depth = len(scop.statement(name).iterators)
        members[name] = (*rows, *_completion((*prefix.get(name, ()), *rows), depth))
    width = max((len(rows) for rows in members.values()), default=0)
    directions: dict[str, tuple[Vector | None, ...]] = {}
    instances: dict[str, Fraction] = {}
    for name, rows in members.items():
        outside = prefix.get(name, ())
        found = [_direction([*outside, *rows], len(outside) + k) for k in range(len(rows))]
        directions[name] = (*found, *[None] * (width - len(rows)))
        full = len(rows) == width and None not in found
        instances[name] = _density((*outside, *rows)) if full else Fraction(0)
    return TileSpace(members, directions, instances)


def reference_groups(scop: Scop, space: TileSpace) -> tuple[ReferenceGroup, ...]:
    """The groups of all references of the statements. References that aren't affine are left out."""
    names = tuple(parameter.name for parameter in scop.parameters)
    found: dict[tuple[str, tuple[Vector, ...], tuple[tuple[int, ...], ...]], list[tuple[int, ...]]] = {}
    for name, directions in space.directions.items():
        depth = len(scop.statement(name).iterators)
        for access in scop.statement(name).accesses:
            rows = _subscripts(access, names)
            if rows is None:
                continue
            moves = tuple(
                tuple(whole(0) if d is None else dot(tuple(map(whole, row[:depth])), d) for d in directions)
                for row in rows
            )
            key = (access.array, moves, tuple(row[depth:-1] for row in rows))
            found.setdefault(key, []).append(tuple(row[-1] for row in rows))
    groups = []
    for (array, moves, _), constants in found.items():
        spread = tuple(max(values) - min(values) for values in zip(*constants, strict=True))
        declared = scop.arrays[array]
        bits = declared.type.bits
        groups.append(ReferenceGroup(array, moves, spread, known_extents(scop, declared), bits // 8 or ELEMENT))
    return tuple(groups)


def trip_count(groups: Sequence[ReferenceGroup], member: int) -> int:
    """A hint how many iterations a member has: as many as fit into the arrays
    that it walks through, else `UNKNOWN_EXTENT`."""
    fitting = [
        extent // abs(row[member])
        for group in groups
        for row, extent in zip(group.moves, group.extents, strict=True)
        if row[member] and extent is not None
    ]
    return max(min(fitting, default=UNKNOWN_EXTENT), 1)


@lru_cache(maxsize=2048)
def _completion(rows: tuple[Vector, ...], depth: int) -> tuple[Vector, ...]:
    """Iterators, outermost first, that make the rows' rank full."""
    kept = list(rows)
    added: list[Vector] = []
    for k in range(depth):
        unit = tuple(whole(int(k == column)) for column in range(depth))
        if _rank([*kept, unit]) > _rank(kept):
            kept.append(unit)
            added.append(unit)
    return tuple(added)


Rows = Mapping[str, tuple[Vector, ...]]


def free_members(prefix: Rows, members: Rows, planes: Rows) -> list[int]:
    """Members of a band that tiles between some hyperplanes leave unbounded, for some statement.
    All by statement, over its iterators."""
    found: list[int] = []
    for k in range(min(map(len, members.values()), default=0)):
        for name, rows in members.items():
            kept = [*prefix.get(name, ()), *planes.get(name, ()), *(rows[other] for other in found)]
            if _rank([*kept, rows[k]]) > _rank(kept):
                found.append(k)
                break
    return found


def _direction(rows: Sequence[Vector], position: int) -> Vector | None:
    """How the iterators move with one row, all others fixed; None if they can't."""
    found = solve(rows, [int(k == position) for k in range(len(rows))])
    return found if found is not None and any(found) else None


def _rank(rows: Sequence[Vector]) -> int:
    left = [list(row) for row in rows if any(row)]
    rank = 0
    while left:
        pivot = left.pop()
        column = next(k for k, value in enumerate(pivot) if value)
        left = [_without(row, pivot, column) if row[column] else row for row in left]
        left = [row for row in left if any(row)]
        rank += 1
    return rank


def _without(row: Sequence[Fraction], pivot: Sequence[Fraction], column: int) -> list[Fraction]:
    """A row without its part along another one, by the value in one column."""
    factor = quotient(row[column], pivot[column])
    return [a - factor * b for a, b in zip(row, pivot, strict=True)]


@lru_cache(maxsize=256)
def _density(rows: tuple[Vector, ...]) -> Fraction:
    """Integer points of the iterators for each point of the rows' space: 1 / |determinant| of as many independent rows
    as there are iterators."""
    basis: list[Vector] = []
    for row in rows:
        if _rank([*basis, row]) > len(basis):
            basis.append(row)
    left = [list(row) for row in basis]
    result = Fraction(1)
    for k in range(len(left)):
        pivot = next(r for r in range(k, len(left)) if left[r][k])
        left[k], left[pivot] = left[pivot], left[k]
        result *= left[k][k]
        for r in range(k + 1, len(left)):
            left[r] = _without(left[r], left[k], k)
    return 1 / abs(result)


def _subscripts(access: Access, parameters: Sequence[str]) -> list[tuple[int, ...]] | None:
    """Rows over iterators, parameters and 1."""
    rows = affine_rows(access.relation, tuple(parameters))
    return [row for row in rows if row is not None] if None not in rows else None


def known_extents(scop: Scop, array: Array) -> tuple[int | None, ...]:
    """Sizes that are constants, or parameters whose values can be guessed."""
    sizes = array.sizes or (None,) * array.rank
    return tuple(_extent(scop, size, extent) for size, extent in zip(sizes, array.extents, strict=True))


def _extent(scop: Scop, size: int | None, extent: ir.Node | None) -> int | None:
    if size is None and isinstance(extent, ir.ID):
        size = next((p.estimate for p in scop.parameters if p.spelling == extent.name), None)
    return size if size is not None and size > 0 else None
