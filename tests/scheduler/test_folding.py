"""Loops of a few iterations become one with the loop around that counts the same thing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from scopt.options import Options
from tests.fuzz.harness import without_thresholds
from tests.sources import optimize, source_of

PARAMS = "int nt, int n, double u[n][n], double f[n][n]"
RED_BLACK = """for (t = 0; t < nt; t++) for (int c = 0; c < 2; c++)
  for (i = 1; i < n - 1; i++) for (j = 1; j < n - 1; j++) if ((i + j) % 2 == c)
    u[i][j] = 0.25 * (u[i-1][j] + u[i+1][j] + u[i][j-1] + u[i][j+1] - f[i][j]);"""
FOUR_COLOURS = """for (t = 0; t < nt; t++) for (int c = 0; c < 4; c++)
  for (i = 1; i < n - 1; i++) for (j = 1; j < n - 1; j++) if ((i + 2 * j) % 4 == c)
    u[i][j] = 0.2 * (u[i-1][j-1] + u[i+1][j+1] + u[i][j-1] + u[i][j+1] - f[i][j]);"""
# The few iterations are parallel: nothing is gained by counting them with the steps.
PLANES = "for (t = 0; t < nt; t++) for (int c = 0; c < 2; c++) for (i = 1; i < n; i++) u[c][i] = 0.5 * u[c][i-1];"
# A fixed number of colours, or of steps, outside: rows count something else.
SWEEP = RED_BLACK.replace("for (t = 0; t < nt; t++) ", "")
FEW_STEPS = """for (t = 0; t < 4; t++) for (i = 1; i < n - 1; i++) for (j = 1; j < n - 1; j++)
    u[i][j] = 0.25 * (u[i-1][j] + u[i+1][j] + u[i][j-1] + u[i][j+1] - f[i][j]);"""
MAIN = """
#include <stdio.h>
static double u[70][70], g[70][70];
int main(void) {
  for (int i = 0; i < 70; i++) for (int j = 0; j < 70; j++) u[i][j] = i * j % 13, g[i][j] = 1.0 / (i + j + 1);
  f(9, 70, u, g);
  for (int i = 0; i < 70; i++) for (int j = 0; j < 70; j++) printf("%a ", u[i][j]);
  return 0;
}
"""


def text(body: str) -> str:
    result = optimize(source_of(body, PARAMS), Options())
    assert [remark.id for remark in result.remarks if remark.kind == "passed"] == ["region.transformed"]
    return result.text.decode()


def test_steps_and_colours_are_one_loop_with_tiles_in_parallel() -> None:
    found = text(RED_BLACK)
    assert "#pragma omp parallel for" in found
    assert "2L * nt" in found


def test_planes_stay_planes() -> None:
    assert "2L * nt" not in text(PLANES)


def test_colours_of_one_sweep_stay_apart_from_its_rows() -> None:
    found = text(SWEEP)
    assert "j += 2" in found  # a row's cells of one colour, one after the other


@pytest.mark.parametrize("body", [RED_BLACK, FOUR_COLOURS, SWEEP, FEW_STEPS])
def test_results_are_the_same(body: str, run_c: Callable[..., str]) -> None:
    before = run_c(source_of(body, PARAMS).decode() + MAIN, "-O1", "-w", "-ffp-contract=off", name="before")
    made = without_thresholds(text(body)) + MAIN
    assert run_c(made, "-O1", "-w", "-ffp-contract=off", "-fopenmp", name="after") == before
