"""Parameters with which subscripts stay in their rows: where that frees a loop, and where it doesn't."""

from __future__ import annotations

import islpy as isl

from scopt.machine import Machine
from scopt.options import Options
from scopt.poly.dependences import dependences
from scopt.poly.row_extents import within_rows
from tests.sources import optimize, scop_of, source_of

PARAMS = "int n, int m, int l, float g[40][32][1024], float d[32][256], float x[41][32][256]"
GATES = """
for (t = l - 1; t >= 0; t--)
  for (i = 0; i < m; i++)
    for (j = 0; j < n; j++) {
      d[i][j] = d[i][j] / (x[t + 1][i][j] + x[t][i][j]);
      g[t][i][j] = d[i][j];
      g[t][i][j + 256] = d[i][j] * x[t][i][j];
      g[t][i][j + 768] = d[i][j] - x[t][i][j];
    }"""


def context(body: str) -> isl.Set | None:
    scop = scop_of(body, PARAMS)
    made = within_rows(scop, dependences(scop))
    return None if made is None else made.context


def test_a_loop_that_nothing_keeps_in_order_inside_of_rows() -> None:
    found = context(GATES)
    assert found is not None
    assert found.is_equal(isl.Set("[n] -> { : n <= 256 }"))


def test_rows_long_enough_for_both_say_nothing() -> None:
    assert context("for (j = 0; j < n; j++) { g[0][0][j] = 2.0f; g[0][0][j + 256] = 1.0f; }") is None


def test_loops_in_order_for_other_reasons_have_no_test() -> None:
    body = "for (j = 1; j < n; j++) { g[0][0][j] = g[0][0][j - 1]; g[0][0][j + 256] = 1.0f; g[0][0][j + 768] = 2.0f; }"
    assert context(body) is None


def test_what_is_tested_already_is_not_tested_again() -> None:
    """The test that a parameter has a value of the long type would be taken for one of its sign."""
    params = f"unsigned long w, {PARAMS}"
    scop = scop_of(f"if (w != 5) {GATES}", params)
    made = within_rows(scop, dependences(scop))
    assert made is not None
    assert made.guard is not None
    assert made.guard.fits == ("w",)
    assert made.guard.parameters.is_equal(isl.Set("[n, w] -> { : n <= 256 or w = 5 }"))


def test_the_program_tests_for_it() -> None:
    """Steps are far apart: nothing along the lines waits for anything, so that these have vectors."""
    text = optimize(source_of(GATES, PARAMS), Options(machine=Machine())).text.decode()
    assert "n <= 256" in text
    assert "#pragma omp simd\n" in text
    assert "_rows" not in text
