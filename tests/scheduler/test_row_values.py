"""Row values: which lines get cells for what rows are added with, and that statements stay the same computation."""

from __future__ import annotations

import pytest

from scopt import pipeline
from scopt.options import Options
from scopt.rewritten_scop import dependences_of, rewriting_fault, values_scop
from scopt.scheduler.passes.expansion import Expansion
from tests.sources import scop_of, source_of

ADD = "for (j = 0; j < m; j++) y[j] += s * x[k * m + j];"
PARAMS = "int n, int m, double *restrict x, double *restrict y, double *restrict w, double *restrict z"


def _values(body: str) -> tuple[Expansion, frozenset[str]] | None:
    scop = scop_of(body, PARAMS)
    found = values_scop(scop, dependences_of(scop, Options()), Options())
    assert found is None or rewriting_fault(scop, found[0]) is None
    return found


@pytest.mark.parametrize(
    ("body", "cells"),
    [
        (f"for (k = 0; k < n; k++) {{ s = w[k]; {ADD} }}", ["s_all"]),
        (f"for (k = 0; k < n; k++) {{ s = w[k]; if (s == 0) continue; {ADD} }}", ["holds_all", "s_all"]),
        # what a value is computed from has cells, too; a count of its own hasn't
        (f"t = 0; for (k = 0; k < n; k++) {{ double v = w[k] * w[k]; s = v * v; t++; {ADD} }} z[0] = t;",
         ["s_all", "v_all"]),
        (f"for (i = 0; i < n; i++) {{ double v = z[i]; for (k = 0; k < n; k++) {{ s = v * w[k]; {ADD} }} }}",
         ["s_all", "v_all"]),
    ],
)  # fmt: skip
def test_values_of_rows_have_cells_before_the_line(body: str, cells: list[str]) -> None:
    found = _values(body)
    assert found is not None
    assert sorted(found[0].extents) == cells


@pytest.mark.parametrize(
    "body",
    [
        f"for (k = 0; k < n; k++) {{ s = y[k]; {ADD} }}",  # rows are added with what others have come to
        f"for (k = 0; k < n; k++) {{ s = w[k]; {ADD} }} z[0] = s;",  # it is left
        "for (k = 0; k < n; k++) { s = w[k]; for (j = 0; j < m; j++) y[k] += s * x[k * m + j]; }",  # no line
        "for (k = 0; k < n; k++) { s = w[k]; for (j = 0; j < m; j++) y[k * m + j] += s; }",  # threads share the rows
        "for (k = 0; k < n; k++) { s = w[k]; for (j = 1; j < m; j++) y[j] += s * y[j - 1]; }",  # in order
        "for (k = 0; k < n; k++) { s = w[k]; for (j = 0; j < 24; j++) y[j] += s * x[k * m + j]; }",  # a short line
        "for (k = 0; k < n; k++) { s = s * w[k]; for (j = 0; j < m; j++) y[j] += s * x[k * m + j]; }",  # carried
    ],
)  # fmt: skip
def test_loops_that_stay_as_they_are(body: str) -> None:
    assert _values(body) is None


def test_the_loop_over_the_line_comes_outside() -> None:
    body = f"for (k = 0; k < 6; k++) {{ s = w[k]; {ADD} }}"
    made = pipeline.optimize(source_of(body, PARAMS), Options()).text.decode()
    assert "double y_0 = y[j];" in made
    assert "y_0 += s_all_5 * x[" in made
