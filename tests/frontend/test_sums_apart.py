"""Sums beside stores under one condition: where each gets a condition of its own, and where they stay together."""

from __future__ import annotations

import pytest

from scopt import ir
from scopt.options import Options
from tests.conftest import RunC
from tests.sources import optimize, scop_of

PARAMS = "int n, double A[99][99], double B[99][99], double x[99], double y[99], double *restrict total"


def bodies(loop: str, before: str = "") -> list[str]:
    """The statements of a loop over j, inside of one over i."""
    scop = scop_of(f"for (i = 0; i < n; i++) {{ {before} for (j = 0; j < n; j++) {{ {loop} }} }}\nx[0] += s;", PARAMS)
    texts = (ir.printing.CPrinter().visit(one.body) for one in scop.statements if len(one.iterators) > 1)
    return [" ".join(text.split()) for text in texts]


def test_sums_of_all_rows() -> None:
    found = bodies("if (A[i][j] > 1) { s += A[i][j]; B[i][j] = 2; total[0] *= .5; } else { B[i][j] = 3; s -= 1; }")
    assert found[:3] == [
        "if (A[i][j] > 1) s += A[i][j];",
        "if (A[i][j] > 1) total[0] *= .5;",
        "if (!(A[i][j] > 1)) s -= 1;",
    ]
    assert found[3:] == ["if (A[i][j] > 1) { B[i][j] = 2; } else { B[i][j] = 3; }"]


@pytest.mark.parametrize(
    ("loop", "before"),
    [
        # a sum of each row
        ("if (A[i][j] > 1) { s += A[i][j]; B[i][j] = 2; }", "s = 0;"),
        ("if (A[i][j] > 1) { x[i] += A[i][j]; B[i][j] = 2; }", ""),
        # nothing to be stored beside it, or nothing that moves
        ("if (A[i][j] > 1) { s += A[i][j]; y[0] += 2; }", ""),
        # what is added, and what decides, is written beside it
        ("if (A[i][j] > 1) { A[i][j] = 2; s += A[i][j]; }", ""),
        ("if (A[i][j] > 1) { A[i][j] = 2; s += B[i][j]; }", ""),
        # the sum is looked at
        ("if (A[i][j] > 1) { s += A[i][j]; B[i][j] = s; }", ""),
        ("if (A[i][j] > s) { s += A[i][j]; B[i][j] = 1; }", ""),
    ],
)
def test_others_stay(loop: str, before: str) -> None:
    assert len([one for one in bodies(loop, before) if "if" in one]) == 1


PROGRAM = """#include <stdio.h>
#include <math.h>
double h[5][37], out[5][37], vol[3];
static void steps(int nt, int n, int m, double h[n][m], double out[n][m], double vol[nt]) {
#pragma scop
  for (int t = 0; t < nt; t++) {
    vol[t] = 0;
    for (int y = 0; y < n; y++)
      for (int x = 0; x < m; x++)
        if (h[y][x] > .3) {
          vol[t] += h[y][x];
          out[y][x] = fmin(1, h[y][x] * 1.5);
        } else
          out[y][x] = 0;
    for (int y = 0; y < n; y++)
      for (int x = 0; x < m; x++)
        h[y][x] = .75 * out[y][x] + .125;
  }
#pragma endscop
}
int main(void) {
  for (int k = 0; k < 5 * 37; k++) h[k / 37][k % 37] = k * 31 % 41 / 40.;
  steps(3, 5, 37, h, out, vol);
  double sum = 0;
  for (int k = 0; k < 5 * 37; k++) sum = sum * .99 + h[k / 37][k % 37] + out[k / 37][k % 37];
  printf("%a %a %a %a\\n", sum, vol[0], vol[1], vol[2]);
}
"""


def test_results_stay_the_same(run_c: RunC) -> None:
    made = optimize(PROGRAM.encode(), Options()).text.decode()
    # the cell is in a variable, and what is stored is a vector loop
    assert "vol_0 += h[y][x];" in made
    assert made.count("#pragma omp simd") >= 2
    flags = ("-O2", "-ffp-contract=off")
    assert run_c(made, *flags, "-lm", name="made") == run_c(PROGRAM, *flags, "-lm", name="source")
