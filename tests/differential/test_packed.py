"""Triangles in packed storage: subscripts that are no linear functions, computed as ints."""

from __future__ import annotations

from scopt import pipeline
from scopt.options import Options
from tests.conftest import RunC

PROGRAM = """\
#include <stdio.h>
#define N 90

static void product(int n, const double *p, const double *x, double *y) {
#pragma scop
  for (int i = 0; i < n; i++)
    y[i] = 0;
  for (int j = 0; j < n; j++) {
    double t = 0;
    for (int i = 0; i < j; i++) {
      y[i] += x[j] * p[i + j * (j + 1) / 2];
      t += p[i + j * (j + 1) / 2] * x[i];
    }
    y[j] += x[j] * p[j + j * (j + 1) / 2] + t;
  }
#pragma endscop
}

int main(void) {
  static double p[N * (N + 1) / 2], x[N], y[N];
  for (int c = 0; c < N * (N + 1) / 2; c++) p[c] = (c * 37 % 101) / 7.0;
  for (int i = 0; i < N; i++) x[i] = 1.0 / (i + 1);
  product(N - 1, p, x, y);
  for (int i = 0; i < N; i++) printf("%a\\n", y[i]);
}
"""


def test_iterators_that_subscripts_are_computed_with_are_ints(run_c: RunC) -> None:
    text = pipeline.optimize(PROGRAM.encode(), Options(eager=True), file="in.c").text.decode()
    assert "for (int i" in text[text.index("simd") :]
    flags = ("-O2", "-ffp-contract=off", "-w")
    assert run_c(text, *flags, "-fopenmp", name="emitted") == run_c(PROGRAM, *flags, name="original")
