"""Flags that iterations set to one value: where they are collected, and where they stay as they were."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from scopt.options import Options
from scopt.pipeline import optimize
from tests.fuzz.harness import without_thresholds
from tests.sources import scop_of, source_of

PARAMS = "int n, int m, int flag, double top, int A[99][99], double x[99], double y[99]"


@pytest.mark.parametrize(
    "body",
    [
        "if (x[i] > top) flag = 1;",
        "if (x[i] > top) { y[i] = top; flag = 0; } else y[i] = x[i];",
        "if (x[i] > top) flag = m; else if (x[i] < -top) flag = m;",
        "for (j = 0; j < m; j++) { double r = x[j] - y[i]; if (r > top) flag = -1; A[i][j] = 2; }",
    ],
)
def test_flags_are_collected(body: str) -> None:
    scop = scop_of(f"for (i = 0; i < n; i++) {{ {body} }}", PARAMS)
    assert "flag_set" in scop.arrays
    assert sum(any(one.array == "flag" for one in statement.accesses) for statement in scop.statements) == 1


@pytest.mark.parametrize(
    "body",
    [
        "flag = 1;",  # whatever data say
        "if (x[i] > top) flag = 1; else flag = 0;",
        "if (x[i] > top) flag = i;",
        "if (x[i] > top) flag = 1; y[i] = flag;",  # somebody asks for it in between
        "if (flag && x[i] > top) flag = 0;",
        "if (x[i] > top) flag++;",
        "for (j = 0; j < m; j++) if (x[j] > top) { flag = 1; break; }",
    ],
)
def test_other_variables_stay(body: str) -> None:
    assert "flag_set" not in scop_of(f"for (i = 0; i < n; i++) {{ {body} }}", PARAMS).arrays


WINDOW = """for (i = 0; i < n; i++) {
  int any = 7;
  if (x[i] > top) { int last = i < n - 1 ? i + 1 : n - 1; for (j = i; j <= last; j++) if (y[j] > 2) any = 3; }
  A[i][0] = any; }"""


def test_flags_below_conditions_that_stay_are_as_they_were() -> None:
    """Conditions that go inside of loops take the flags with them."""
    assert "any_set" not in optimize(source_of(WINDOW, PARAMS), Options()).text.decode()
    inside = "if (x[i] > top) for (j = 0; j < m; j++) if (y[j] > 2) any = 3;"
    body = f"for (i = 0; i < n; i++) {{ int any = 7; {inside} A[i][0] = any; }}"
    assert "any_set" in scop_of(body, PARAMS).arrays


def test_results_are_the_same(run_c: Callable[..., str]) -> None:
    """Of a flag that is set before, after and never, in loops with and without iterations."""
    body = """for (i = 0; i < n; i++) {
      int any = 7;
      for (j = 0; j < m; j++) {
        double r = x[j] * y[i];
        if (r > top) { A[i][j] = 1; any = 3; } else A[i][j] = 0;
      }
      y[i] += any;
    }
    for (i = 0; i < n; i++) {
      int any = 7, last = i < n - 1 ? i + 1 : n - 1;
      if (x[i] > top) for (j = i; j <= last; j++) if (y[j] > 2) any = 3;
      A[i][n] = any;
    }
    for (i = 0; i < n; i++) if (y[i] > 12) flag = 5;
    x[0] = flag;"""
    main = """
#include <stdio.h>
static double x[99], y[99];
static int a[99][99];
int main(void) {
  for (int k = 0; k < 4; k++) {
    for (int i = 0; i < 99; i++) x[i] = i % 7, y[i] = i % 5 - 2;
    f(k ? 99 : 0, k < 2 ? 99 : 0, 2, 4.0 * k, a, x, y);
    for (int i = 0; i < 99; i++) printf("%g %g %d ", x[i], y[i], a[i][i]);
  }
  return 0;
}
"""
    source = source_of(body, PARAMS)
    made = optimize(source, Options(eager=True)).text.decode()
    assert "reduction(|: " in made
    before = run_c(source.decode() + main, "-O1", "-w", name="before")
    assert run_c(without_thresholds(made) + main, "-O2", "-fopenmp", "-w", name="after") == before
