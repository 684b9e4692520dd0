"""Lexicographic minima of small integer programs.

HiGHS works in floating point: a solution is rounded and then checked exactly against every row; where that fails, isl's
exact (and for large programs much slower) lexmin decides. Whether there is a solution at all is HiGHS's word: an error
there costs a schedule, never legality.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import chain
from math import ceil
from typing import Any

import highspy
import islpy as isl
import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from scopt.diagnostics import InternalError
from scopt.poly.quiet_solver import quiet_solver
from scopt.poly.row_choice import LinearRow, RowBlock, RowChoice, Terms

__all__ = ["Column", "LinearRow", "Program", "Terms", "highs_lexmin", "improves", "isl_lexmin", "lexmin"]

# By how much HiGHS may be wrong about a minimum that is an integer, for each unit of it.
_TOLERANCE = 1e-6
# Of fewer rows integers are found at once.
_MANY_ROWS = 300


class Column(Struct, frozen=True):
    """An integer unknown and its bounds, None where it has none."""

    name: str
    lower: int | None = 0
    upper: int | None = None


class Program(Struct, frozen=True, eq=False):
    """columns: all integer. objectives: minimized one after the other, each among the minima of those before.
    blocks: that the rows are made of, if that is known."""

    columns: tuple[Column, ...]
    rows: tuple[LinearRow, ...]
    objectives: tuple[Terms, ...] = ()
    blocks: tuple[RowBlock, ...] = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Program) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[object, ...]:
        return self.columns, self.rows, self.objectives

    def allows(self, point: Sequence[int]) -> bool:
        """Whether a point keeps every bound and row (exact)."""
        return self.bounds(point) and all(row.holds(point) for row in self.rows)

    def bounds(self, point: Sequence[int]) -> bool:
        """Whether a point keeps every bound."""
        return all(
            (c.lower is None or c.lower <= value) and (c.upper is None or value <= c.upper)
            for c, value in zip(self.columns, point, strict=True)
        )


@lru_cache(maxsize=512)
def lexmin(program: Program) -> tuple[int, ...] | None:
    """A point with lexicographically minimal objectives; None if there is no point. Forms of one SCoP often ask for the
    same.

    Raises InternalError if an objective has no minimum: all builders bound theirs. (Where isl has to decide, it raises
      isl.Error.)
    """
    try:
        point = highs_lexmin(program)
    except ArithmeticError:
        return isl_lexmin(program)
    return point


def highs_lexmin(program: Program) -> tuple[int, ...] | None:
    """By HiGHS, one solve an objective. Raises ArithmeticError if its answer isn't one, and InternalError if an
    objective has no minimum."""
    if any(not row.terms and not row.holds(()) for row in program.rows):
        return None
    choice = RowChoice(program.rows, program.blocks, len(program.columns))
    if len(program.objectives) > 1 and (choice.leaves_out or _is_for_choices(program)):
        exact, found = _by_relaxation(program, choice)
        if exact:
            return found
    solver = _loaded(replace(program, rows=tuple(choice.first())))
    point: tuple[int, ...] | None = None
    for number, objective in enumerate(program.objectives or ((),)):
        cost = _costs(program, objective)
        if point is None or not objective or not _at_its_bounds(program, objective, point):
            status, least = _least(program, choice, solver, cost)
            if status == highspy.HighsModelStatus.kUnbounded:
                raise InternalError(f"objective {number} of an integer program has no minimum")
            if status == highspy.HighsModelStatus.kInfeasible:
                if point is None:
                    return None
                raise ArithmeticError("infeasible after a feasible objective")
            if least is None:
                raise ArithmeticError(str(status))
            point = least
        if number + 1 < len(program.objectives):
            _limit(solver, objective, _value(objective, point))
    assert point is not None
    return point


def _is_for_choices(program: Program) -> bool:
    """Whether many rows say what as many of some choices as possible can be made of: among all numbers these mostly are
    no more, and found in a small part of the time (thirty times as fast for 70 choices in 800 rows)."""
    bounds = {(program.columns[column].lower, program.columns[column].upper) for column, _ in program.objectives[0]}
    return len(program.rows) > _MANY_ROWS and bounds == {(0, 1)}


def _by_relaxation(program: Program, choice: RowChoice) -> tuple[bool, tuple[int, ...] | None]:
    """(True, a point with least objectives, or None if there is no point), with one integer solve, for the last
    objective: the minima of the others among all numbers, rounded up, are no more than theirs among integers. If the
    integers have no such point, there may be one nevertheless: False. Raises ArithmeticError.

    Of many rows, those that matter are found out by many solves, which take much less time without integers; and so do
    choices.
    """
    solver = _loaded(replace(program, rows=tuple(choice.first())))
    _set_integrality(solver, program, highspy.HighsVarType.kContinuous)
    fixed = True
    for objective in program.objectives[:-1]:
        if all(program.columns[column].lower == program.columns[column].upper for column, _ in objective):
            continue
        fixed = False
        cost = _costs(program, objective)
        status, point = _least_relaxed(choice, solver, cost)
        if status == highspy.HighsModelStatus.kInfeasible:
            return True, None
        if point is None:
            return False, None
        least = float(cost @ point)
        _limit(solver, objective, ceil(least - _TOLERANCE * max(1.0, abs(least))))
    cost = _costs(program, program.objectives[-1])
    if _least_relaxed(choice, solver, cost)[0] == highspy.HighsModelStatus.kInfeasible:
        return fixed, None
    _set_integrality(solver, program, highspy.HighsVarType.kInteger)
    status, found = _least(program, choice, solver, cost)
    if status == highspy.HighsModelStatus.kInfeasible:
        return fixed, None
    return found is not None, found


def _least_relaxed(choice: RowChoice, solver: Any, cost: Any) -> tuple[Any, Any]:
    """(status, point of least cost) of all rows, for a solver without integers; it is given those that it needs."""
    while True:
        status = _solved(solver, cost)
        if status != highspy.HighsModelStatus.kOptimal:
            return status, None
        point = np.array(solver.getSolution().col_value)
        broken = choice.broken_about(point, _TOLERANCE)
        if not broken:
            return status, point
        _add(solver, broken)


@lru_cache(maxsize=512)
def improves(program: Program, known: tuple[int, ...]) -> bool:
    """Whether the objectives' values at some point are lexicographically less than these. Takes less time than the
    least ones do. Raises as `lexmin` does."""
    try:
        return _improves(program, known)
    except ArithmeticError:
        point = isl_lexmin(program)
        return point is not None and tuple(_value(one, point) for one in program.objectives) < known


def _improves(program: Program, known: tuple[int, ...]) -> bool:
    """By HiGHS. Raises ArithmeticError if its answer isn't one."""
    if any(not row.terms and not row.holds(()) for row in program.rows):
        return False
    choice = RowChoice(program.rows, program.blocks, len(program.columns))
    solver = _loaded(replace(program, rows=tuple(choice.first())))
    last = len(program.objectives) - 1
    for number, (objective, value) in enumerate(zip(program.objectives, known, strict=True)):
        most = value - (number == last)
        lowest = _by_bounds(program, objective)
        if lowest is not None and lowest > most:
            return False
        _limit(solver, objective, most)
        if lowest == value:
            continue  # no less than that
        status, point = _least(program, choice, solver, _costs(program, objective))
        if status == highspy.HighsModelStatus.kInfeasible:
            return False
        if status == highspy.HighsModelStatus.kUnbounded:
            raise InternalError(f"objective {number} of an integer program has no minimum")
        if point is None or _value(objective, point) > most:
            raise ArithmeticError(str(status))
        if _value(objective, point) < value:
            return True
    return False


def _by_bounds(program: Program, objective: Terms) -> int | None:
    """What an objective is no less than, by the columns' bounds; None if they don't say it."""
    ends = [(program.columns[k].lower if factor > 0 else program.columns[k].upper, factor) for k, factor in objective]
    return None if any(end is None for end, _ in ends) else sum(end * factor for end, factor in ends if end is not None)


def _value(objective: Terms, point: Sequence[int]) -> int:
    return sum(factor * point[column] for column, factor in objective)


def _costs(program: Program, objective: Terms) -> Any:
    """An objective, as costs of all columns."""
    cost = np.zeros(len(program.columns))
    for column, factor in objective:
        cost[column] = factor
    return cost


def _limit(solver: Any, objective: Terms, most: int) -> None:
    """From now on, an objective has no larger value."""
    columns = np.array([column for column, _ in objective], dtype=np.int32)
    factors = np.array([factor for _, factor in objective], dtype=np.float64)
    solver.addRow(-highspy.kHighsInf, float(most), len(objective), columns, factors)


def _set_integrality(solver: Any, program: Program, kind: Any) -> None:
    count = len(program.columns)
    solver.changeColsIntegrality(count, np.arange(count, dtype=np.int32), np.array([kind] * count))


def _least(program: Program, choice: RowChoice, solver: Any, cost: Any) -> tuple[Any, tuple[int, ...] | None]:
    """(status, point of least cost) of all rows, of which the solver is given more as long as it needs them. Raises
    ArithmeticError where its answer isn't one."""
    while True:
        status = _solved(solver, cost)
        if status == highspy.HighsModelStatus.kUnbounded and (rest := choice.rest()):
            _add(solver, rest)
            continue
        if status != highspy.HighsModelStatus.kOptimal:
            return status, None
        point = tuple(round(value) for value in solver.getSolution().col_value)
        if not program.bounds(point):
            raise ArithmeticError("inexact solution")
        broken = choice.broken(point)
        if not broken:
            return status, point
        _add(solver, broken)


def _add(solver: Any, rows: Sequence[LinearRow]) -> None:
    """Give a solver more rows."""
    for row in rows:
        columns = np.array([column for column, _ in row.terms], dtype=np.int32)
        factors = np.array([factor for _, factor in row.terms], dtype=np.float64)
        upper = -float(row.constant) if row.equality else highspy.kHighsInf
        solver.addRow(-float(row.constant), upper, len(row.terms), columns, factors)


def _solved(solver: Any, cost: Any) -> Any:
    """The status of the program with these costs of its columns. Unbounded or infeasible, which of both: told by
    whether it has any point."""
    columns = np.arange(len(cost), dtype=np.int32)
    solver.changeColsCost(len(cost), columns, cost)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kUnboundedOrInfeasible:
        return solver.getModelStatus()
    solver.changeColsCost(len(cost), columns, np.zeros(len(cost)))
    solver.run()
    status = solver.getModelStatus()
    return highspy.HighsModelStatus.kUnbounded if status == highspy.HighsModelStatus.kOptimal else status


def _at_its_bounds(program: Program, objective: Terms, point: Sequence[int]) -> bool:
    """Whether no point can be better than this one, by the columns' bounds alone."""
    return all(
        point[column] == (program.columns[column].lower if factor > 0 else program.columns[column].upper)
        for column, factor in objective
    )


def _loaded(program: Program) -> Any:
    """A silent, sequential, deterministic solver that holds the program."""
    infinity = highspy.kHighsInf
    rows = [row for row in program.rows if row.terms]
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = len(program.columns), len(rows)
    model.col_cost_ = np.zeros(len(program.columns))
    model.col_lower_ = np.array([-infinity if c.lower is None else c.lower for c in program.columns], dtype=np.float64)
    model.col_upper_ = np.array([infinity if c.upper is None else c.upper for c in program.columns], dtype=np.float64)
    model.row_lower_ = np.array([-row.constant for row in rows], dtype=np.float64)
    model.row_upper_ = np.array([-row.constant if row.equality else infinity for row in rows], dtype=np.float64)
    starts = np.zeros(len(rows) + 1, dtype=np.int32)
    np.cumsum([len(row.terms) for row in rows], out=starts[1:])
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = starts
    flat = [*chain.from_iterable(chain.from_iterable(row.terms for row in rows))]
    model.a_matrix_.index_ = np.array(flat[::2], dtype=np.int32)
    model.a_matrix_.value_ = np.array(flat[1::2], dtype=np.float64)
    model.integrality_ = [highspy.HighsVarType.kInteger] * len(program.columns)
    solver = quiet_solver()
    for name, value in _settings():
        solver.setOptionValue(name, value)
    solver.passModel(model)
    return solver


@cache
def _settings() -> tuple[tuple[str, Any], ...]:
    return (
        # Programs are small: each run of this heuristic takes ten times what is left to do.
        ("mip_heuristic_run_feasibility_jump", False),
        ("parallel", "off"),
        ("random_seed", 0),
        ("mip_rel_gap", 0.0),
        ("mip_abs_gap", 0.5),
        ("time_limit", 20.0),
    )


def isl_lexmin(program: Program) -> tuple[int, ...] | None:
    """By isl, exactly: the objectives become the leading dimensions of a set. Objectives must be bounded from below."""
    objectives = program.objectives
    width = len(objectives) + len(program.columns)
    rows: list[tuple[list[int], int, bool]] = []
    for number, objective in enumerate(objectives):
        line = [0] * width
        line[number] = -1
        for column, factor in objective:
            line[len(objectives) + column] += factor
        rows.append((line, 0, True))
    for row in program.rows:
        line = [0] * width
        for column, factor in row.terms:
            line[len(objectives) + column] += factor
        rows.append((line, row.constant, row.equality))
    for number, bounded in enumerate(program.columns):
        unit = [int(k == len(objectives) + number) for k in range(width)]
        if bounded.lower is not None:
            rows.append((unit, -bounded.lower, False))
        if bounded.upper is not None:
            rows.append(([-x for x in unit], bounded.upper, False))
    context = isl.DEFAULT_CONTEXT
    matrices = []
    for equality in (True, False):
        chosen = [(*line, constant) for line, constant, is_equality in rows if is_equality == equality]
        matrix = isl.Mat.alloc(context, len(chosen), width + 1)
        for position, values in enumerate(chosen):
            for column, value in enumerate(values):
                matrix = matrix.set_element_val(position, column, isl.Val(value))
        matrices.append(matrix)
    equalities, inequalities = matrices
    kinds = (isl.dim_type.set, isl.dim_type.div, isl.dim_type.param, isl.dim_type.cst)
    space = isl.Space.set_alloc(context, 0, width)
    least = isl.Set.from_basic_set(isl.BasicSet.from_constraint_matrices(space, equalities, inequalities, *kinds))
    if least.is_empty():
        return None
    # isl's lexmin raises an error for a few such sets, the least value of one dimension does not
    for number in range(width):
        lowest = least.dim_min_val(number)
        if lowest.is_int():
            least = least.fix_val(isl.dim_type.set, number, lowest)
    point = least.sample_point()
    return tuple(
        int(str(point.get_coordinate_val(isl.dim_type.set, len(objectives) + k))) for k in range(len(program.columns))
    )
