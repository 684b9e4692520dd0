"""The rows of an integer program that a solver gets: where there are many of them, few matter, and the others are left
out as long as no solution breaks them.

Dependences between boxes have a vertex for each pair of corners, and so a row each: ten thousand of them over twenty
unknowns. A solution of some of the rows that keeps them all is one of all; where some have none, all have none."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct

# (column, factor), each column once, factors not 0.
Terms = tuple[tuple[int, int], ...]

# A solver gets no more rows than these at first, and so many more each time: the ones that are broken worst.
FEW_ROWS = 1000
# Of fewer rows for each unknown, most matter: looking for them takes longer than all of them do.
FEW_PER_COLUMN = 20
MORE_ROWS = 50
# Rows of few terms bound single unknowns, and say how few of them go together.
_SHORT = 3
# Integers of less than this are exact in 64 bits.
_EXACT = 1 << 62


class LinearRow(NamedTuple):
    """Σ factor·column + constant >= 0, or = 0."""

    terms: Terms
    constant: int = 0
    equality: bool = False

    def holds(self, point: Sequence[int]) -> bool:
        value = sum(factor * point[column] for column, factor in self.terms) + self.constant
        return value == 0 if self.equality else value >= 0


class RowTable(Struct, frozen=True, eq=False):
    """Rows one behind the other: row k has the terms from starts[k] up to starts[k + 1]. total: at least the sum of
    their numbers' sizes, in any part of the table."""

    starts: Any
    columns: Any
    factors: Any
    constants: Any
    equalities: Any
    total: int

    def broken_by(self, point: Sequence[int]) -> Any:
        """How far each row is from holding at a point, 0 where it holds; exact."""
        small = self.total * max(1, *map(abs, point)) < _EXACT
        return self._from_holding(np.array(point, dtype=np.int64 if small else object))

    def broken_about(self, point: Any) -> Any:
        """The same at a point of floating-point numbers; about."""
        return self._from_holding(point)

    def _from_holding(self, point: Any) -> Any:
        terms = self.factors * point[self.columns]
        sums = np.concatenate((terms[:1] * 0, np.cumsum(terms)))
        values = sums[self.starts[1:]] - sums[self.starts[:-1]] + self.constants
        return np.where(self.equalities, np.abs(values), np.maximum(-values, 0))


def row_table(rows: Sequence[LinearRow]) -> RowTable:
    """The table of rows that all have terms."""
    starts = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum([len(row.terms) for row in rows], out=starts[1:])
    flat = [*chain.from_iterable(chain.from_iterable(row.terms for row in rows))]
    factors, constants = flat[1::2], [row.constant for row in rows]
    total = sum(map(abs, factors)) + max(map(abs, constants), default=0)
    kind = np.int64 if total < _EXACT else object
    return RowTable(
        starts,
        np.array(flat[::2], dtype=np.int64),
        np.array(factors, dtype=kind),
        np.array(constants, dtype=kind),
        np.array([row.equality for row in rows], dtype=bool),
        total,
    )


def _joined(tables: Sequence[RowTable]) -> RowTable:
    """Tables one behind the other."""
    ends = np.cumsum([0, *(table.starts[-1] for table in tables)])
    starts = [table.starts[:-1] + end for table, end in zip(tables, ends, strict=False)]
    total = sum(table.total for table in tables)
    kind = np.int64 if total < _EXACT else object
    return RowTable(
        np.concatenate([*starts, ends[-1:]]),
        np.concatenate([table.columns for table in tables]),
        np.concatenate([table.factors for table in tables]).astype(kind),
        np.concatenate([table.constants for table in tables]).astype(kind),
        np.concatenate([table.equalities for table in tables]),
        total,
    )


class RowBlock:
    """Rows that are in many programs, each with terms. Their table is made once."""

    def __init__(self, rows: Iterable[LinearRow]) -> None:
        self.rows = dict.fromkeys(rows)

    @cached_property
    def with_terms(self) -> list[LinearRow]:
        return [row for row in self.rows if row.terms]

    @cached_property
    def table(self) -> RowTable:
        return row_table(self.with_terms)


class RowChoice:
    """The rows of a program, and those that a solver has been given. blocks: that the rows are made of, if that is
    known."""

    def __init__(self, rows: Sequence[LinearRow], blocks: Sequence[RowBlock] = (), columns: int = 0) -> None:
        self._table: RowTable | None = None
        self._rows = [row for row in rows if row.terms]
        if len(self._rows) > max(FEW_ROWS, FEW_PER_COLUMN * columns):
            parts = [one for one in (blocks or (RowBlock(rows),)) if one.with_terms]
            self._rows = [*chain.from_iterable(one.with_terms for one in parts)]
            self._table = _joined([one.table for one in parts])
        if self._table is not None:
            self._given = self._table.equalities | (np.diff(self._table.starts) <= _SHORT)
            self._sizes = np.maximum.reduceat(np.abs(self._table.factors), self._table.starts[:-1]).astype(np.float64)

    @property
    def leaves_out(self) -> bool:
        """Whether there are so many that a solver isn't given all of them."""
        return self._table is not None

    def first(self) -> list[LinearRow]:
        """Those that a solver is given first."""
        if self._table is None:
            return self._rows
        return [self._rows[k] for k in np.flatnonzero(self._given).tolist()]

    def rest(self) -> list[LinearRow]:
        """Those that it hasn't been given, which it is given now."""
        if self._table is None:
            return []
        left = np.flatnonzero(~self._given)
        self._given[:] = True
        return [self._rows[k] for k in left.tolist()]

    def broken(self, point: Sequence[int]) -> list[LinearRow]:
        """Some of the rows that a solution of those that were given breaks, which are given now; none: it keeps all.
        Raises ArithmeticError where it breaks one that was given."""
        if self._table is None:
            if all(row.holds(point) for row in self._rows):
                return []
            raise ArithmeticError("inexact solution")
        far = self._table.broken_by(point)
        found = np.flatnonzero(far)
        if self._given[found].any():
            raise ArithmeticError("inexact solution")
        return self._worst(far, found)

    def broken_about(self, point: Any, tolerance: float) -> list[LinearRow]:
        """The same of numbers in floating point, of rows that haven't been given."""
        if self._table is None:
            return []
        far = self._table.broken_about(point)
        return self._worst(far, np.flatnonzero((far > tolerance) & ~self._given))

    def _worst(self, far: Any, found: Any) -> list[LinearRow]:
        """Those of the rows found that are broken worst, which are given now."""
        if len(found) > MORE_ROWS:
            far = far[found].astype(np.float64) / self._sizes[found]
            found = np.sort(found[np.argsort(-far, kind="stable")[:MORE_ROWS]])
        self._given[found] = True
        return [self._rows[k] for k in found.tolist()]
