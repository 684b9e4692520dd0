"""Calls of the mathematical library that stay the same in loops: which of them stand in front of these."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from scopt.options import Options
from tests.fuzz.harness import without_thresholds
from tests.sources import optimize, scop_of, source_of

PARAMS = "int n, int m, double A[99][99], double x[99], double y[99], float z[99]"


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("A[i][j] = cos(0.5 * i) * x[j];", 1),
        ("double t = 2 * exp(-x[i]); A[i][j] += t * cos(x[i]) + exp(-x[i]);", 2),
        ("A[i][j] = exp(cos(0.5 * i)) * cosf(z[i] / n);", 2),
        # another one in each iteration
        ("A[i][j] = cos(0.5 * j) * x[j];", 0),
        ("double t = x[j]; A[i][j] = cos(t);", 0),
        # a cell that the loop writes, or that perhaps isn't there
        ("x[j] = cos(x[i]);", 0),
        ("double *p = x + 1; p[j] = cos(x[i]);", 0),
        ("if (A[i][j] > 0) A[i][j] = cos(x[i]);", 0),
        ("A[i][j] = x[j] > 0 ? cos(x[i]) : 0;", 0),
        ("for (int k = 0; k < i; k++) A[i][j] += cos(x[j]);", 1),
        ("A[i][j] = sqrt(x[i]) + fabs(x[i]);", 0),
    ],
)
def test_calls_in_front(body: str, count: int) -> None:
    scop = scop_of(f"for (i = 0; i < n; i++) for (j = 0; j < m; j++) {{ {body} }}", PARAMS)
    assert len([name for name in scop.arrays if name.startswith("steady")]) == count


def test_results_are_the_same(run_c: Callable[..., str]) -> None:
    """Loops without iterations read nothing."""
    body = """for (i = 0; i < n; i++) for (j = 0; j < m; j++)
      A[i][j] += exp(-x[i]) * y[j] + cosf(z[i] / m) - cos(0.25 * n) * pow(0.5, i);"""
    main = """
#include <stdio.h>
static double a[99][99], x[99], y[99];
static float z[99];
int main(void) {
  for (int i = 0; i < 99; i++) x[i] = i % 7, y[i] = i % 5 - 2, z[i] = i % 3;
  f(99, 0, a, 0, y, 0);
  f(99, 99, a, x, y, z);
  for (int i = 0; i < 99; i++) for (int j = 0; j < 99; j++) printf("%a ", a[i][j]);
  return 0;
}
"""
    source = b"#include <math.h>\n" + source_of(body, PARAMS)
    made = optimize(source, Options(eager=True)).text.decode()
    assert "steady_2" in made
    flags = "-ffp-contract=off", "-w", "-lm"
    before = run_c(source.decode() + main, "-O1", *flags, name="before")
    assert run_c(without_thresholds(made) + main, "-O2", "-fopenmp", *flags, name="after") == before
