"""Where the order of the source is kept, since more of it runs in vectors; and loops that are too short for them."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from scopt.options import Options
from scopt.poly.dependences import dependences
from scopt.scheduler.passes.band_passes import apply_passes
from scopt.scheduler.passes.vector_share import vector_share
from tests.fuzz.harness import without_thresholds
from tests.sources import optimize, scop_of, source_of

PARAMS = "int n, int m, double A[100][100], double B[100][100], double V[100][100]"
# Two sweeps in time, with scalars that each cell has for itself.
UPWIND = """for (t = 0; t < 9; t++) {
  for (i = 1; i < n - 1; i++) for (j = 1; j < n - 1; j++) { double d, e;
    if (V[i][j] > 0.0) d = A[i][j] - A[i-1][j]; else d = A[i+1][j] - A[i][j];
    if (V[j][i] > 0.0) e = A[i][j] - A[i][j-1]; else e = A[i][j+1] - A[i][j];
    B[i][j] = A[i][j] - 0.25 * V[i][j] * (d + e); }
  for (i = 1; i < n - 1; i++) for (j = 1; j < n - 1; j++) A[i][j] = B[i][j];
}"""
# A window that moves by two: each of its loops is short wherever the others are.
POOL = """for (i = 0; i < n; i++) for (j = 0; j < m; j++) { double v = 0.0;
  for (int p = 2 * i - 1; p <= 2 * i + 1; p++) for (int q = 2 * j - 1; q <= 2 * j + 1; q++)
    if (p >= 0 && q >= 0) v += A[p][q];
  B[i][j] = v; }"""


def text(body: str, **options: str) -> str:
    result = optimize(source_of(body, PARAMS), Options(**options))  # type: ignore[arg-type]
    assert [remark.id for remark in result.remarks if remark.kind == "passed"] == ["region.transformed"]
    return result.text.decode()


def test_sweeps_keep_their_vectors() -> None:
    """Tiles in time, or the order of the source: each sweep has its own."""
    assert text(UPWIND).count("omp simd") >= 2


def test_whoever_asks_for_a_schedule_gets_it() -> None:
    scop = scop_of(UPWIND, PARAMS)
    own = vector_share(scop, apply_passes(scop, dependences(scop), scop.schedule, Options()))
    assert own == 1.0
    assert "for (long t = 0; t < 9; t++)" not in text(UPWIND, scheduler="feautrier")


def test_windows_that_move_are_no_vector_loops() -> None:
    assert not re.search(r"omp simd.*\n.*for .*\n *(B\[i\]\[j\]|v) \+=", text(POOL))


MAIN = """
#include <stdio.h>
static double a[100][100], b[100][100], v[100][100];
int main(void) {
  for (int i = 0; i < 100; i++) for (int j = 0; j < 100; j++) {
    a[i][j] = (i * 37 + j * 11) % 23; v[i][j] = (i * 5 + j * 3) % 7 - 3;
  }
  f(47, 43, a, b, v);
  for (int i = 0; i < 100; i++) for (int j = 0; j < 100; j++) printf("%a %a ", a[i][j], b[i][j]);
  return 0;
}
"""


@pytest.mark.parametrize("body", [UPWIND, POOL], ids=["upwind", "pool"])
def test_results_are_the_same(body: str, run_c: Callable[..., str]) -> None:
    before = run_c(source_of(body, PARAMS).decode() + MAIN, "-O1", "-ffp-contract=off", "-w", name="before")
    after = without_thresholds(text(body)) + MAIN
    assert run_c(after, "-O2", "-fopenmp", "-ffp-contract=off", "-w", name="after") == before


def test_few_iterations_are_no_vector_loop() -> None:
    """Channels of an image: straight code, and vectors along the row."""
    body = "for (i = 0; i < n; i++) for (j = 0; j < m; j++) for (k = 0; k < 3; k++) C[i][j][k] = 2 * C[i][j][k];"
    found = optimize(source_of(body, "int n, int m, float C[500][500][3]"), Options()).text.decode()
    assert re.search(r"omp simd\n +for \(long j ", found)
    assert "for (long k " not in found


def test_a_window_in_order_has_no_wavefronts() -> None:
    """A loop of three iterations that moves with the one around it: nothing is gained by tiles."""
    body = """s = 0; for (i = 0; i < n; i++) { double r = 0;
  for (k = 0; k < 3; k++) r += A[i][k] * A[i][k];
  if (r < 1) s += 1 / (r + 1); }"""
    found = optimize(source_of(body + " A[0][0] = s;", "int n, double A[5000][3]"), Options()).text.decode()
    assert "scopt_floord" not in found
    assert "% 2" not in found


def test_sums_have_the_loop_that_walks_along_rows_inside() -> None:
    """Of a contraction over two loops in their order, the loop that carries nothing comes innermost."""
    body = """for (i = 0; i < n; i++) for (j = 0; j < n; j++) for (k = 0; k < n; k++) for (t = 0; t < n; t++)
  A[i][j] += D[i][k][t] * E[t][k][j];"""
    params = "int n, double A[60][60], double D[60][60][60], double E[60][60][60]"
    found = optimize(source_of(body, params), Options()).text.decode()
    assert re.search(r"omp simd\n +for \(long j ", found)


def test_tiles_are_for_jumps_that_are_known() -> None:
    """Where data or remainders say which cell is read, tiles keep no lines between."""
    body = "for (i = 0; i < n; i++) for (j = 0; j < n; j++) C[i][j] = A[(i + 1) % n][j] + A[i][(j + 1) % n];"
    found = optimize(source_of(body, "int n, double A[500][500], double C[500][500]"), Options()).text.decode()
    assert "omp parallel for" in found
    assert "scopt_min" not in found
