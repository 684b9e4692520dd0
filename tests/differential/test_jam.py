"""Jammed reductions, compiled and run at all sizes around those of blocks and tiles: every bit as in the original."""

from __future__ import annotations

from pathlib import Path

import pytest

from scopt import pipeline
from scopt.options import Options
from tests.conftest import RunC, but_for
from tests.fuzz.harness import without_thresholds

PROGRAM = """#include <stdio.h>
#define MOST 300
static double A[MOST][MOST], x[MOST], y[MOST];
static void run(int n, int m)
{
#pragma scop
%s
#pragma endscop
}
int main(void)
{
  int sizes[] = {0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 255, 257, 273};
  for (int a = 0; a < 13; a++)
    for (int b = 0; b < 13; b++) {
      for (int i = 0; i < MOST; i++) {
        x[i] = 1.0 / (i + 3), y[i] = 0.7 * i - 9;
        for (int j = 0; j < MOST; j++)
          A[i][j] = ((7 * i + 3 * j) %% 11 + 1.3) / 97;
      }
      run(sizes[a], sizes[b]);
      unsigned long long sum = 0;
      for (int i = 0; i < MOST; i++) {
        union { double value; unsigned long long bits; } cell = {x[i]};
        sum = sum * 1099511628211u + cell.bits;
      }
      printf("%%d %%d %%llx\\n", sizes[a], sizes[b], sum);
    }
}
"""
CASES = {
    "rows": "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) x[i] = x[i] + A[i][j] * y[j];",
    "columns": "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) x[j] += A[i][j] * y[i];",
    "both": "for (int i = 0; i < n; i++) { y[i] = 0; for (int j = 0; j < m; j++) y[i] += A[i][j] * x[j]; }"
    "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) x[j] -= y[i] * A[i][j];",
    "triangle": "for (int i = 0; i < n; i++) for (int j = i + 1; j < m; j++) x[i] += A[i][j] * y[j];",
    "below": "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++) x[j] += A[i][j] * y[i];",
    "solve": (
        "for (int i = 0; i < n; i++) { x[i] = y[i];"
        " for (int j = 0; j < i; j++) x[i] -= A[i][j] * x[j]; x[i] = x[i] / A[i][i]; }"
    ),
    "back": (
        "for (int i = n - 1; i >= 0; i--) { for (int j = n - 1; j > i; j--)"
        " x[i] -= A[i][j] * x[j]; x[i] = x[i] / A[i][i]; }"
    ),
    "shifted": "for (int i = 0; i < n; i++) for (int j = 0; j < 20; j++) x[i + 20] += A[i][j] * x[j];",
}
FLAGS = ("-O2", "-ffp-contract=off", "-fopenmp", "-w")


@pytest.mark.parametrize(
    ("name", "scheduler"),
    [
        *((name, "pluto") for name in CASES),
        *((name, "isl") for name in but_for(CASES, "columns", "triangle", "below", "back", "shifted")),
    ],
)
def test_every_bit_is_the_same(name: str, scheduler: str, run_c: RunC, tmp_path: Path) -> None:
    source = PROGRAM % CASES[name]
    result = pipeline.optimize(source.encode(), Options(scheduler=scheduler, eager=True), file=str(tmp_path / "in.c"))
    text = result.text.decode()
    assert [remark.id for remark in result.remarks if remark.id in ("internal.error", "schedule.simplified")] == []
    assert "x_1" in text or "y_1" in text or "scopt_sums_" in text
    original, emitted = (
        run_c(one, *FLAGS, name=name) for one, name in ((source, "original"), (without_thresholds(text), "emitted"))
    )
    assert len(original.splitlines()) == 169
    assert emitted == original
