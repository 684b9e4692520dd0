"""Nests that feed each other in blocks of rows, for a machine with caches so small that they gain by it, compiled and
run at sizes around those of blocks and strips: every bit as in the original."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from scopt import pipeline
from scopt.machine import DEFAULT, Cache
from scopt.options import Options
from tests.conftest import RunC
from tests.fuzz.harness import without_thresholds

PROGRAM = """#include <stdio.h>
#define MOST 170
typedef float T;
static T A[MOST][MOST], B[MOST][MOST], C[MOST][MOST], D[MOST][MOST];
static void run(int n, int m)
{
  int i, j, k, t;
#pragma scop
%s
#pragma endscop
}
static unsigned long long sum;
static void add(const void *cells, size_t size)
{
  for (const unsigned char *p = cells, *end = p + size; p < end; p++)
    sum = (sum ^ *p) * 1099511628211u;
}
int main(void)
{
  int sizes[] = {0, 3, 31, 33, 66, 128, 170};
  for (int a = 0; a < 7; a++)
    for (int b = a %% 4; b < 7; b += 4) {
      for (int i = 0; i < MOST; i++)
        for (int j = 0; j < MOST; j++)
          A[i][j] = (i + 2 * j) %% 9 - 3, B[i][j] = (3 * i + j) %% 8 + 1, C[i][j] = (7 * i + 3 * j) %% 11, D[i][j] = j;
      run(sizes[a], sizes[b]);
      sum = 0;
      add(A, sizeof A), add(B, sizeof B), add(C, sizeof C), add(D, sizeof D);
      printf("%%d %%d %%llx\\n", sizes[a], sizes[b], sum);
    }
}
"""
SEPARABLE = """
  for (i = 0; i < n; i++) for (j = 1; j < m - 1; j++) B[i][j] = A[i][j - 1] * 0.25f + A[i][j] * 0.5f + A[i][j + 1];
  for (i = 2; i < n - 2; i++) for (j = 0; j < m; j++) C[i][j] = B[i - 2][j] + B[i - 1][j] + B[i + 1][j] + B[i + 2][j];
  for (i = 0; i < n; i++) for (j = 0; j < m; j++) D[i][j] = A[i][j] - C[i][j] * 0.125f;"""
# What the second nest writes, the first one reads in the rows around: nothing but old values, at the borders of blocks.
IN_PLACE = """
  for (t = 0; t < 2; t++) {
    for (i = 1; i < n - 1; i++) for (j = 1; j < m - 1; j++) {
      T s = A[i - 1][j] + A[i + 1][j], d = A[i][j - 1] + A[i][j + 1];
      B[i][j] += 0.125f * (s + d) - 0.5f * A[i][j];
    }
    for (i = 1; i < n - 1; i++) for (j = 1; j < m - 1; j++) A[i][j] += 0.25f * B[i][j];
    for (j = 0; j < m; j++) A[0][j] = A[n > 1 ? 1 : 0][j];
  }"""
# Only rows before, only rows behind; and a cell that several nests write.
ONE_SIDED = """
  for (i = 0; i < n; i++) for (j = 0; j < m; j++) B[i][j] = A[i][j] * 0.5f;
  for (i = 3; i < n; i++) for (j = 0; j < m; j++) { T s = B[i - 3][j] + B[i - 2][j]; C[i][j] = s * s; }
  for (i = 0; i < n - 2; i++) for (j = 0; j < m; j++) { T s = C[i + 1][j] + C[i + 2][j]; D[i][j] = s - B[i][j]; }
  for (i = 1; i < n; i++) for (j = 1; j < m; j++) B[i - 1][j] = D[i - 1][j - 1] + D[i][j - 1];"""
WINDOWS = """
  for (i = 1; i < n - 1; i++) for (j = 1; j < m - 1; j++) { T x = A[i + 1][j] - A[i - 1][j]; B[i][j] = x * C[i][j]; }
  for (i = 2; i < n - 2; i++) for (j = 2; j < m - 2; j++) {
    T x = 0;
    for (k = -1; k <= 1; k++) x += B[i + k][j - k];
    D[i][j] = x * x; }"""
# With kilobytes of the second cache: strips of several rows, or of one.
BODIES = {
    "separable": (SEPARABLE, 64),
    "in place": (IN_PLACE, 16),
    "one-sided": (ONE_SIDED, 32),
    "windows": (WINDOWS, 32),
}
FLAGS = ("-O1", "-ffp-contract=off", "-fopenmp", "-w")


@pytest.mark.parametrize(("body", "cache"), BODIES.values(), ids=BODIES)
def test_every_bit_is_as_in_the_original(run_c: RunC, body: str, cache: int) -> None:
    caches = (Cache(4 << 10, 8), Cache(cache << 10, 16), Cache(80 << 10, 10))
    machine = replace(DEFAULT, caches=caches, bandwidth=1.0)
    result = pipeline.optimize(PROGRAM % body, Options(machine=machine, explain=True, eager=True, register_tile=False))
    assert [remark for remark in result.remarks if remark.kind == "missed"] == []
    assert "nests in blocks of" in result.regions[0].explanation
    assert run_c(without_thresholds(result.text.decode()), *FLAGS) == run_c(PROGRAM % body, *FLAGS)
