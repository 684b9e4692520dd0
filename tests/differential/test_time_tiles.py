"""Loops over time around sweeps that are nests apart: with sources, receivers, walls and ghost cells between them."""

from __future__ import annotations

import re

import pytest

from scopt.options import Options
from scopt.pipeline import optimize
from tests.conftest import RunC
from tests.same_results import check_same_results

WAVE = """static void wave(int n, int nt, float p[n][n], float q[n][n], float c[n][n], float *src, int x, int y,
                 float *rec)
{
#pragma scop
  for (int t = 0; t < nt; t++) {
    for (int i = 2; i < n - 2; i++)
      for (int j = 2; j < n - 2; j++) {
        float lap = p[i - 2][j] + p[i + 2][j] + p[i][j - 2] + p[i][j + 2] - 4 * p[i][j];
        q[i][j] = 2 * p[i][j] - q[i][j] + c[i][j] * lap;
      }
    q[x][y] += src[t];
    for (int i = 2; i < n - 2; i++)
      for (int j = 2; j < n - 2; j++) {
        float lap = q[i - 2][j] + q[i + 2][j] + q[i][j - 2] + q[i][j + 2] - 4 * q[i][j];
        p[i][j] = 2 * q[i][j] - p[i][j] + c[i][j] * lap;
      }
    for (int j = 0; j < n; j++) rec[t * n + j] = p[4][j];
  }
#pragma endscop
}
"""
WALLS = """static void walls(int n, int nt, float *restrict h, float *restrict u, float *restrict v, float g)
{
#pragma scop
  for (int t = 0; t < nt; t++) {
    for (int i = 1; i < n; i++)
      for (int j = 0; j < n; j++) u[i * n + j] -= g * (h[i * n + j] - h[(i - 1) * n + j]);
    for (int i = 0; i < n; i++)
      for (int j = 1; j < n; j++) v[i * n + j] -= g * (h[i * n + j] - h[i * n + j - 1]);
    for (int j = 0; j < n; j++) u[j] = 0.0f;
    for (int i = 0; i < n; i++) v[i * n] = 0.0f;
    for (int i = 0; i < n - 1; i++)
      for (int j = 0; j < n - 1; j++)
        h[i * n + j] -= 0.5f * (u[(i + 1) * n + j] - u[i * n + j] + v[i * n + j + 1] - v[i * n + j]);
    h[n / 2 * n + n / 2] += 0.01f;
  }
#pragma endscop
}
"""
GHOSTS = """static void ghosts(int n, int nt, double u[2][n][n], double r)
{
#pragma scop
  for (int t = 0; t < nt; t++) {
    int s = t % 2, d = 1 - s;
    for (int i = 1; i < n - 1; i++) { u[s][i][0] = u[s][i][1]; u[s][i][n - 1] = u[s][i][n - 2]; }
    for (int j = 1; j < n - 1; j++) { u[s][0][j] = u[s][1][j]; u[s][n - 1][j] = u[s][n - 2][j]; }
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        u[d][i][j] = u[s][i][j] + r * (u[s][i - 1][j] + u[s][i + 1][j] + u[s][i][j - 1] + u[s][i][j + 1]);
  }
#pragma endscop
}
"""
MAIN = """int main(void)
{
  static const int sizes[6][3] = {{5, 9, 1}, {6, 12, 3}, {9, 1, 4}, {40, 9, 20}, {70, 75, 37}, {150, 80, 145}};
  for (int k = 0; k < 6; k++) {
    int n = sizes[k][0], nt = sizes[k][1], x = sizes[k][2];
    float *f[4], *rec = calloc(nt * n, sizeof *rec), src[150];
    double *u = malloc(2 * sizeof *u * n * n);
    for (int m = 0; m < 4; m++) f[m] = malloc(sizeof *f[m] * n * n);
    for (int i = 0; i < 150; i++) src[i] = i % 7 - 3;
    for (int i = 0; i < 2 * n * n; i++) u[i] = (i * 37 % 101) / 101.0;
    for (int i = 0; i < n * n; i++)
      for (int m = 0; m < 4; m++) f[m][i] = ((i + m) * 41 % 103) / 1003.0f;
    CALLS
    for (int i = 0; i < n * n; i += 5) printf("%a %a %a %a\\n", f[0][i], f[1][i], f[2][i], u[i]);
    for (int i = 0; i < nt * n; i += 5) printf("%a\\n", rec[i]);
    for (int m = 0; m < 4; m++) free(f[m]);
    free(u); free(rec);
  }
}
"""
CALLS = (
    "wave(n, nt, (void *)f[0], (void *)f[1], (void *)f[3], src, x < n ? x : 0, x < n ? x : 0, rec);"
    " walls(n, nt, f[0], f[1], f[2], 0.1f); ghosts(n, nt, (void *)u, 0.125);"
)
PROGRAM = "#include <stdio.h>\n#include <stdlib.h>\n" + WAVE + WALLS + GHOSTS + MAIN.replace("CALLS", CALLS)


@pytest.fixture(scope="module")
def made() -> str:
    return optimize(PROGRAM.encode(), Options()).text.decode()


def function(text: str, name: str) -> str:
    return text.split(f"static void {name}(")[1].split("#pragma endscop")[0]


@pytest.mark.parametrize(("name", "test"), [("wave", "x >= 4"), ("walls", "n >= 5"), ("ghosts", "n >= 6")])
def test_time_loops_have_tiles_for_grids_of_some_rows(made: str, name: str, test: str) -> None:
    """Tiles that start below zero are diamonds, all of a wavefront at once."""
    text = function(made, name)
    before, *rest = re.split(r"for \(long t[1t] = -[12]; ", text)
    assert len(rest) == 1
    assert test in before
    assert "for (long j = " in text  # no sum of iterators


@pytest.mark.parametrize("sanitized", [False, True])
def test_results_stay_the_same(run_c: RunC, made: str, sanitized: bool) -> None:
    check_same_results(run_c, PROGRAM, made, sanitized=sanitized)
