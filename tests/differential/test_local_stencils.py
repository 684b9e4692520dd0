"""Stencils whose values stand in local variables on the way: time loops get diamonds of tiles all the same."""

from __future__ import annotations

import pytest

from scopt.options import Options
from scopt.pipeline import optimize
from tests.conftest import RunC
from tests.same_results import check_same_results

PROGRAM = """#include <stdio.h>
#include <stdlib.h>
static void two_buffers(int n, int nt, double a[n][n], double b[n][n])
{
#pragma scop
  for (int t = 0; t < nt; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++) {
        double lap = a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1] - 4 * a[i][j];
        double c = a[i][j] > 0.5 ? 0.1 : 0.2;
        b[i][j] = a[i][j] + c * lap;
      }
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++) {
        double lap = b[i - 1][j] + b[i + 1][j] + b[i][j - 1] + b[i][j + 1] - 4 * b[i][j];
        double c = b[i][j] > 0.5 ? 0.1 : 0.2;
        a[i][j] = b[i][j] + c * lap;
      }
  }
#pragma endscop
}
static void by_parity(int n, int nt, double u[2][n][n])
{
#pragma scop
  for (int t = 0; t < nt; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++) {
        int old = t % 2, new = 1 - t % 2;
        double a = u[old][i][j];
        double sum = u[old][i - 1][j] + u[old][i + 1][j] + u[old][i][j - 1] + u[old][i][j + 1];
        u[new][i][j] = a + 0.125 * (sum - 4 * a) * a;
      }
#pragma endscop
}
int main(void)
{
  static const int sizes[4][2] = {{3, 5}, {40, 9}, {75, 70}, {130, 33}};
  for (int k = 0; k < 4; k++) {
    int n = sizes[k][0], nt = sizes[k][1];
    double *a = malloc(2 * sizeof *a * n * n), *b = malloc(sizeof *b * n * n);
    for (int i = 0; i < 2 * n * n; i++) a[i] = (i * 37 % 101) / 101.0;
    for (int i = 0; i < n * n; i++) b[i] = a[i];
    two_buffers(n, nt, (void *)a, (void *)b);
    by_parity(n, nt, (void *)a);
    for (int i = 0; i < 2 * n * n; i += 7) printf("%a\\n", a[i]);
    free(a); free(b);
  }
}
"""


@pytest.fixture(scope="module")
def made() -> str:
    return optimize(PROGRAM.encode(), Options()).text.decode()


def test_tiles_are_diamonds_with_vector_loops(made: str) -> None:
    """That tiles start below zero, all of a wavefront at once, is what only diamonds do."""
    assert made.count("for (long tt = -1; ") == 2
    assert made.count("private(lap, c, lap_2, c_2) firstprivate(") == 1
    assert "private(lap_2, c_2)\n" in made
    assert "for (long j = " in made  # no sum of iterators


@pytest.mark.parametrize("sanitized", [False, True])
def test_results_stay_the_same(run_c: RunC, made: str, sanitized: bool) -> None:
    check_same_results(run_c, PROGRAM, made, sanitized=sanitized)
