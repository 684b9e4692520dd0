"""Extrema of rows: which there are, that they are shown to be right, and that results stay the same to the last bit."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from scopt import ir
from scopt.options import Options
from scopt.rewritten_scop import dependences_of, extrema_scops, rewriting_fault, tables_fault
from scopt.scheduler.passes.row_extrema import with_row_extrema
from tests.conftest import RunC
from tests.sources import optimize, scop_of

BEFORE = "double most, low; float few;"
LOOPS = "for (i = 0; i < n; i++) for (j = 0; j < m; j++) "


def cells(body: str) -> list[str]:
    """The arrays that rows' extrema get, which are shown to hold them."""
    scop = scop_of(body, before=BEFORE)
    found = extrema_scops(scop, dependences_of(scop, Options()), Options())
    if found is None:
        return []
    before, forms = found
    assert tables_fault(scop, before) is None
    assert not any(rewriting_fault(before, one) for one, _ in forms)
    return sorted(forms[0][0].extents)


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("if (A[i][j] > most) most = A[i][j];", ["most_total_all"]),
        ("most = A[i][j] < most ? A[i][j] : most;", ["most_total_all"]),
        ("{ B[i][j] = A[i][j] + 1; s = fabs(B[i][j]); if (s > most) most = s; }", ["most_total_all"]),
        ("{ s = A[i][j]; if (s > y[3]) y[3] = s; A[i][j] = 2; }", ["y_total_all"]),
        ("{ if (A[i][j] > y[3]) y[3] = A[i][j]; x[j] = y[i]; }", []),  # that cell, too
        ("{ if (A[i][j] > most) most = A[i][j]; if (x[j] < low) low = x[j]; }", ["low_total_all", "most_total_all"]),
        ("if (A[i][j] >= most) most = A[i][j];", []),  # the last one of those that are as good
        ("most = most > A[i][j] ? most : A[i][j];", []),  # takes what is no number
        ("if (A[i][j] > few) few = A[i][j];", []),  # rounded
        ("{ if (A[i][j] > most) most = A[i][j]; B[i][j] = most; }", []),
        ("{ if (A[i][j] > most) most = A[i][j]; A[i + 1][j] = A[i][j] / 2; }", []),  # rows in order anyway
    ],
)
def test_which_extrema_rows_have(body: str, found: list[str]) -> None:
    assert cells(LOOPS + body) == found


def test_another_comparison_is_found_out() -> None:
    """What lets through as good ones would take the last of two zeros."""
    scop = scop_of(LOOPS + "if (A[i][j] > most) most = A[i][j];", before=BEFORE)
    made = with_row_extrema(scop, dependences_of(scop, Options()))
    assert made is not None

    def worse(one: ir.Node) -> ir.Node:
        assert isinstance(one, ir.If)
        assert isinstance(one.cond, ir.BinaryOp)
        return ir.If(ir.BinaryOp(">=", one.cond.left, one.cond.right), one.iftrue, None)

    weaker = replace(
        scop, statements=tuple(replace(one, body=worse(one.body)) for one in scop.statements), schedule=scop.schedule
    )
    assert tables_fault(weaker, made) is not None


PROGRAM = """
#include <math.h>
#include <stdio.h>
double sweep(const double *restrict u, double *restrict v, int n, int m, double most, double *least, double *peak)
{
  double low = *least;
#pragma scop
  for (int j = 1; j < m - 1; j++)
    for (int i = 1; i < n - 1; i++) {
      v[j * n + i] = 0.25 * (u[j * n + i - 1] + u[j * n + i + 1] + u[(j - 1) * n + i] + u[(j + 1) * n + i]);
      double d = v[j * n + i] - u[j * n + i];
      if (d > most) most = d;
      if (fabs(d) > peak[0]) peak[0] = fabs(d);
      if (u[j * n + i] < low) low = u[j * n + i];
    }
#pragma endscop
  *least = low;
  return most;
}
static double u[150 * 90], v[150 * 90];
int main(void)
{
  const double some[] = {0.0, -0.0, NAN, INFINITY, -INFINITY, 2.5, -1e-310, 3, 3, -7};
  const double first[] = {0.0, -0.0, NAN, INFINITY, -INFINITY, -5};
  unsigned seed = 1;
  for (int kind = 2; kind <= 10; kind += 4)
    for (int n = 0; n < 150; n = 2 * n + 3)
      for (int m = 0; m < 90; m = 3 * m + 2)
        for (int k = 0; k < 6; k++) {
          for (int i = 0; i < n * m; i++) {
            seed = seed * 1103515245u + 12345u;
            u[i] = some[(seed >> 16) % kind];
          }
          double low = first[k], peak = low, most = sweep(u, v, n, m, low, &low, &peak);
          printf("%a %a %a\\n", most, low, peak);
        }
  return 0;
}
"""


def test_results_are_the_same(run_c: RunC) -> None:
    flags = ("-O2", "-march=native", "-ffp-contract=off", "-fopenmp", "-w", "-lm")
    text = optimize(PROGRAM.encode(), Options(eager=True), file="in.c").text
    assert b"most_total_all" in text
    assert b"low_total_all" in text
    assert b"peak_total_all" in text
    assert run_c(text, *flags, name="after") == run_c(PROGRAM, *flags, name="before")
