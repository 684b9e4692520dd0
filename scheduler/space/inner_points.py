"""Some generators of a polytope that has too many: a point of it, and short directions in which it is unbounded.

Their combinations are points of the polytope (it is convex, and its recession cone too), so they are legal; but not all
points are combinations of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import lcm

import highspy
import numpy as np

from scopt.poly.generators import Row, normalized
from scopt.poly.ilp import Column, LinearRow, Program, lexmin
from scopt.poly.quiet_solver import quiet_solver
from scopt.scheduler.space.space_problem import DelayRow

# Denominators in the vertices of the linear programs; what isn't such a fraction fails the exact check.
MAX_DENOMINATOR = 10_000
# Solutions this close to an integer are meant to be it: less than half the distance of the nearest fraction.
CLOSE = 1e-6

Bound = tuple[DelayRow, int]


def inner_generators(
    width: int, columns: Sequence[int], strong: Sequence[DelayRow], weak: Sequence[DelayRow]
) -> tuple[tuple[tuple[Fraction, ...], ...], tuple[Row, ...]]:
    """(the point with the least sum of absolute values, for each column and sign the least ray that has it), over all
    columns of the problem.

    columns: that are not zero. No point: the polytope is empty. The linear programs are solved in floating point; what
    they find is checked exactly, a ray that fails is left out, the point is looked for once more by an integer program.
    """
    bounds = [*((row, row.strong) for row in strong), *((row, 0) for row in weak)]
    point = _LeastSum(columns, bounds).solution() or _least_integer(columns, bounds)
    if point is None:
        return (), ()
    directions = _LeastSum(columns, [(row, 0) for row, _ in bounds])
    rays: dict[Row, None] = {}
    for position in range(len(columns)):
        for sign in (1, -1):
            ray = directions.solution((position, sign))
            if ray is not None:
                scale = lcm(*(value.denominator for value in ray))
                rays[tuple(map(int, _widened(width, columns, normalized([int(value * scale) for value in ray]))))] = (
                    None
                )
    return (tuple(map(Fraction, _widened(width, columns, point))),), tuple(rays)


class _LeastSum:
    """The linear program whose solution has the least sum of absolute values and is at least so much in each row."""

    def __init__(self, columns: Sequence[int], bounds: Iterable[Bound]) -> None:
        self._rows = tuple(dict.fromkeys((_entries(row, columns), bound, row.line) for row, bound in bounds))
        self._count = len(columns)
        self._factors = np.zeros((len(self._rows), self._count), dtype=np.int64)
        for number, (entries, _, _) in enumerate(self._rows):
            for k, value in entries:
                self._factors[number, k] = value
        self._bounds = np.array([bound for _, bound, _ in self._rows], dtype=np.int64)
        self._lines = np.array([line for _, _, line in self._rows], dtype=bool)
        self._largest_sum = int((np.abs(self._factors).sum(axis=1) + np.abs(self._bounds)).max(initial=1))
        self._solver = quiet_solver()
        self._solver.passModel(self._model())

    def solution(self, fixed: tuple[int, int] | None = None) -> tuple[Fraction, ...] | None:
        """None if there is none, or it isn't exact.
        fixed: (position, value) of an entry that is given, value 1 or -1."""
        if fixed is not None:
            self._fix(*fixed)
        self._solver.run()
        found = None
        if self._solver.getModelStatus() == highspy.HighsModelStatus.kOptimal:
            values = np.asarray(self._solver.getSolution().col_value)
            parts = tuple(_rational(value) for value in (values[: self._count] - values[self._count :]).tolist())
            found = parts if self._allows(parts) else None
        if fixed is not None:
            self._free(fixed[0])
        return found

    def _model(self) -> highspy.HighsLp:
        """Each entry is the difference of two unknowns that are not negative."""
        infinity, count = highspy.kHighsInf, self._count
        model = highspy.HighsLp()
        model.num_col_, model.num_row_ = 2 * count, len(self._rows)
        model.col_cost_ = np.ones(2 * count)
        model.col_lower_ = np.zeros(2 * count)
        model.col_upper_ = np.full(2 * count, infinity)
        model.row_lower_ = np.array([bound for _, bound, _ in self._rows], dtype=np.float64)
        model.row_upper_ = np.array([bound if line else infinity for _, bound, line in self._rows], dtype=np.float64)
        starts = np.zeros(len(self._rows) + 1, dtype=np.int32)
        np.cumsum([2 * len(entries) for entries, _, _ in self._rows], out=starts[1:])
        model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        model.a_matrix_.start_ = starts
        pairs = [
            pair for entries, _, _ in self._rows for k, value in entries for pair in ((k, value), (count + k, -value))
        ]
        model.a_matrix_.index_ = np.array([column for column, _ in pairs], dtype=np.int32)
        model.a_matrix_.value_ = np.array([value for _, value in pairs], dtype=np.float64)
        return model

    def _fix(self, position: int, value: int) -> None:
        # By the unknowns' bounds alone, so that the solver goes on from where it is.
        used, unused = (position, self._count + position) if value > 0 else (self._count + position, position)
        self._solver.changeColBounds(used, 1.0, 1.0)
        self._solver.changeColBounds(unused, 0.0, 0.0)

    def _free(self, position: int) -> None:
        for column in (position, self._count + position):
            self._solver.changeColBounds(column, 0.0, highspy.kHighsInf)

    def _allows(self, values: Sequence[Fraction]) -> bool:
        """Whether the values keep all rows (exact)."""
        scale = lcm(*(value.denominator for value in values))
        scaled = [value.numerator * (scale // value.denominator) for value in values]
        # Python's integers where 64 bits might not do
        small = max(scale, *map(abs, scaled)) < 2**62 // self._largest_sum
        kind = np.int64 if small else np.object_
        surplus = self._factors.astype(kind) @ np.array(scaled, dtype=kind) - self._bounds.astype(kind) * scale
        return bool(np.all(surplus >= 0) and not np.any(surplus[self._lines]))


def _rational(value: float) -> Fraction:
    """The simple fraction that a floating point number stands for."""
    nearest = round(value)
    return Fraction(nearest) if abs(value - nearest) < CLOSE else Fraction(value).limit_denominator(MAX_DENOMINATOR)


def _least_integer(columns: Sequence[int], bounds: Iterable[Bound]) -> tuple[Fraction, ...] | None:
    """The integer vector with the least sum of absolute values that is at least so much in each row;
    None if there is none."""
    count = len(columns)
    conditions = []
    for row, bound in bounds:
        terms = tuple(
            sorted(
                (at, factor) for k, value in _entries(row, columns) for at, factor in ((k, value), (count + k, -value))
            )
        )
        conditions.append(LinearRow(terms, -bound, row.line))
    unknowns = tuple(Column(f"{part}{k}", 0, None) for part in "pn" for k in range(count))
    solution = lexmin(Program(unknowns, tuple(dict.fromkeys(conditions)), (tuple((k, 1) for k in range(2 * count)),)))
    return None if solution is None else tuple(Fraction(solution[k] - solution[count + k]) for k in range(count))


def _entries(row: DelayRow, columns: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """A delay row's (position, value) that aren't zero."""
    return tuple((k, row.weak[column]) for k, column in enumerate(columns) if row.weak[column])


def _widened(width: int, columns: Sequence[int], values: Sequence[Fraction | int]) -> tuple[Fraction | int, ...]:
    wide: list[Fraction | int] = [0] * width
    for column, value in zip(columns, values, strict=True):
        wide[column] = value
    return tuple(wide)
