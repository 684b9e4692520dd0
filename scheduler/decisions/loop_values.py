"""How often the loops of the source run, and how many values rows over their iterators have: the same whatever the
schedule is, so that trees of other structure can be compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import islpy as isl

from scopt.ir.scop import Access, Scop, Statement
from scopt.machine.costs import LARGE_EXTENT
from scopt.poly.isl_utils import PARAM
from scopt.poly.linear import Vector, subscript_rows
from scopt.poly.source_loops import source_loops
from scopt.scheduler.decisions.small_loops import span
from scopt.scheduler.locality.footprints import known_extents

# What is left of a row that others before it make up.
_NOTHING = 1e-9


@lru_cache(maxsize=512)
def spans(statement: Statement) -> tuple[int | None, ...]:
    """How many values a statement's iterators have; None where that depends on parameters."""
    return tuple(span(statement.domain, k) for k in range(len(statement.iterators)))


@lru_cache(maxsize=512)
def guessed_spans(scop: Scop, statement: Statement) -> tuple[int | None, ...]:
    """The same with the values that macros and arrays' extents let parameters have; None where one has none."""
    domain = statement.domain
    for parameter in scop.parameters:
        position = domain.find_dim_by_name(PARAM, parameter.name)
        if position >= 0 and parameter.estimate is not None:
            domain = domain.fix_val(PARAM, position, isl.Val(parameter.estimate))
    return tuple(span(domain, k) for k in range(len(statement.iterators)))


@lru_cache(maxsize=16)
def iterations(scop: Scop) -> Mapping[str, tuple[int, ...]]:
    """By statement, how often each loop around it runs, about: as often as that is known, else no more often than fits
    the arrays that it walks through, for any statement inside. Sizes that nobody knows are taken to be large."""
    loops, found = source_loops(scop), dict[int, int]()
    for statement in scop.statements:
        for loop, number in zip(loops[statement.name], _fitting(scop, statement), strict=False):
            if number is not None:
                found[loop] = min(found.get(loop, number), number)
    return {
        one.name: tuple(
            found.get(loops[one.name][k], LARGE_EXTENT) if k < len(loops[one.name]) else LARGE_EXTENT
            for k in range(len(one.iterators))
        )
        for one in scop.statements
    }


def _fitting(scop: Scop, statement: Statement) -> list[int | None]:
    """The same for one statement; None where it tells nothing."""
    walks = [[_fits(scop, one, k) for one in statement.accesses] for k in range(len(statement.iterators))]
    known = (min((each for each in own if each is not None), default=None) for own in walks)
    own, guesses = spans(statement), guessed_spans(scop, statement)
    return [_first(three) for three in zip(own, known, guesses, strict=True)]


def _first(numbers: Iterable[int | None]) -> int | None:
    """The first one that is known, which is at least 1."""
    return next((max(one, 1) for one in numbers if one is not None), None)


def _fits(scop: Scop, access: Access, iterator: int) -> int | None:
    """How many values of an iterator an access has cells for."""
    extents = known_extents(scop, scop.arrays[access.array])
    rows = subscript_rows(access.relation) or ()
    steps = [
        int(extent // abs(row[iterator]))
        for row, extent in zip(rows, extents, strict=False)
        if row[iterator] and extent is not None
    ]
    return max(min(steps), 1) if steps else None


def values_in_turn(
    outside: Iterable[Vector], rows: Sequence[Vector], counts: Sequence[int]
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """How many values rows have, each while those before it stand still: of the rows outside, and of the others.
    counts: of values of each iterator."""
    kept: list[tuple[int, list[float]]] = []

    def values(row: Vector) -> float:
        left = [float(value) for value in row]
        for pivot, other in kept:
            factor = left[pivot] / other[pivot]
            left = [a - factor * b for a, b in zip(left, other, strict=True)]
        left = [value if abs(value) > _NOTHING else 0.0 for value in left]
        reach = [abs(value) * (count - 1) for value, count in zip(left, counts, strict=True)]
        if not any(reach):
            return 1.0
        kept.append((max(range(len(reach)), key=reach.__getitem__), left))
        return 1 + sum(reach) / min(abs(value) for value in left if value)

    return tuple(map(values, outside)), tuple(map(values, rows))
