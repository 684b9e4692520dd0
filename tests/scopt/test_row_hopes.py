"""Which rows with cells for their results may run together, and when statements are taken as they were read."""

from __future__ import annotations

import time

import pytest

from scopt.astgen.rewrite_setting import Watch
from scopt.options import Options
from scopt.rewritten_scop import dependences_of, rows_scops
from scopt.row_hopes import may_run_together
from scopt.stage_clock import Clock
from scopt.statement_forms import READ, Forms
from tests.sources import scop_of

BEFORE = "double norm;"
SUM = "for (i = 0; i < n; i++) { s = 0; for (j = 0; j < m; j++) s += A[i][j] * x[j]; norm += s * s; }"
# A loop in time, whose next step goes on with the sum of all that this one has done.
STEPS = (
    "for (i = 0; i < n; i++) { s = 0; for (j = 0; j < m; j++) { double e = x[j], t = 0;"
    " for (int k = 0; k < m; k++) t += e * A[j][k]; s += t * x[j]; } norm += s;"
    " for (j = 0; j < m; j++) x[j] += norm * y[j]; }"
)


@pytest.mark.parametrize(("body", "together"), [(SUM, True), (STEPS, False)])
def test_sums_that_the_next_iteration_waits_for(body: str, together: bool) -> None:
    scop = scop_of(body, before=BEFORE)
    deps = dependences_of(scop, Options())
    found = rows_scops(scop, deps, Options())
    assert found
    assert may_run_together(scop, deps, found[0][0].scop, found[0][0].extents) is together


@pytest.mark.parametrize(("late", "names"), [(False, 3), (True, 2)])
def test_statements_as_read_come_next_when_time_runs_out(late: bool, names: int) -> None:
    scop = scop_of(SUM, before=BEFORE)
    deps, options = dependences_of(scop, Options()), Options()
    begun = time.process_time() - (options.budget if late else 0)
    forms = Forms(None, scop, deps, options, False, Clock(), Watch(), begun)  # type: ignore[arg-type]
    listed = [form.name for form in forms.in_time(forms.listed())]
    assert listed[-1] == READ
    assert len(listed) == names
