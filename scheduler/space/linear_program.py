"""Whether a dimension's polytope has any point: a linear program over the rationals."""

from __future__ import annotations

from collections.abc import Iterable

import highspy
import numpy as np

from scopt.poly.quiet_solver import quiet_solver
from scopt.scheduler.space.space_problem import DelayRow


def has_point(width: int, rows: Iterable[tuple[DelayRow, bool]]) -> bool:
    """Whether some rational point of that width satisfies the rows, each strongly (True) or weakly.

    HiGHS decides, in floating point; whoever takes its yes for granted is corrected by the exact generators.
    """
    kept = [(row, strongly) for row, strongly in rows if any(row.weak) or (strongly and row.strong)]
    if any(strongly and row.strong > 0 and not any(row.weak) for row, strongly in kept):
        return False
    infinity = highspy.kHighsInf
    terms = [[(k, value) for k, value in enumerate(row.weak) if value] for row, _ in kept]
    lower = [row.strong if strongly else 0 for row, strongly in kept]
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = width, len(kept)
    model.col_cost_ = np.zeros(width)
    model.col_lower_ = np.full(width, -infinity)
    model.col_upper_ = np.full(width, infinity)
    model.row_lower_ = np.array(lower, dtype=np.float64)
    model.row_upper_ = np.array([0.0 if row.line else infinity for row, _ in kept])
    starts = np.zeros(len(kept) + 1, dtype=np.int32)
    np.cumsum([len(line) for line in terms], out=starts[1:])
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = starts
    model.a_matrix_.index_ = np.array([column for line in terms for column, _ in line], dtype=np.int32)
    model.a_matrix_.value_ = np.array([factor for line in terms for _, factor in line], dtype=np.float64)
    solver = quiet_solver()
    solver.passModel(model)
    solver.run()
    return bool(solver.getModelStatus() == highspy.HighsModelStatus.kOptimal)
