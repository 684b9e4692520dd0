"""Cells that an iteration sets, and loops inside of it may change, in variables of the iteration; and counts that come
apart from the stores that a condition decides about, too."""

from __future__ import annotations

import re

import pytest

from scopt.options import Options
from tests.conftest import RunC
from tests.fuzz.harness import in_one_form, without_thresholds
from tests.sources import optimize, scop_of, source_of

PARAMS = "int n, double x[n][3], double c[7][3], int to[n], double best[n], double far[n], int *out"
NEAREST = """for (i = 0; i < n; i++) {
  int at = 0; best[i] = 1e30;
  for (k = 0; k < 7; k++) {
    double d = 0;
    for (j = 0; j < 3; j++) { double e = x[i][j] - c[k][j]; d += e * e; }
    if (d < best[i]) { best[i] = d; at = k; }
  }
  if (to[i] != at) { to[i] = at; moved++; } }"""
PROGRAM = """
#include <stdio.h>
int main(void) {
  static double x[500][3], c[7][3], best[500], far[500];
  static int to[500], out[1];
  for (int i = 0; i < 500; i++) for (int j = 0; j < 3; j++) x[i][j] = (i * (j + 3) * 37 % 101) / 7.0;
  for (int k = 0; k < 7; k++) for (int j = 0; j < 3; j++) c[k][j] = (k * 13 + j * 5) % 14;
  for (int i = 0; i < 500; i++) to[i] = i % 7;
  f(500, x, c, to, best, far, out);
  double sum = 0;
  for (int i = 0; i < 500; i++) sum = sum * 0.99 + best[i] + to[i];
  printf("%.17g %d\\n", sum, out[0]);
  return 0;
}
"""


def source(body: str) -> bytes:
    text = source_of(body, PARAMS, after="*out = moved;").decode()
    return text.replace("double s;", "double s; int moved = 0;").encode()


def made(body: str) -> str:
    """The region; one thread takes one row after the other."""
    found = in_one_form(optimize(source(body), Options(eager=True, simd=False, tile=False)).text.decode())
    return found[found.index("#pragma scop") : found.index("#pragma endscop")]


def test_a_best_value_waits_in_a_variable() -> None:
    found = made(NEAREST)
    assert "double best_0 = best[i];" in found
    assert "if (d < best_0)" in found
    assert found.count("best[i]") == 2


@pytest.mark.parametrize(
    "body",
    [
        NEAREST.replace("best[i] = 1e30;", "if (to[i]) best[i] = 1e30;"),  # not always set
        NEAREST.replace("at = k;", "at = k; far[i] = i ? best[i - 1] : 0;"),  # others are read meanwhile
        NEAREST.replace("if (d < best[i])", "if (d < best[to[i] % 500])"),  # nobody knows which
    ],
    ids=["unsure", "others", "unknown"],
)
def test_what_others_may_touch_stays(body: str) -> None:
    assert "best_0" not in made(body)


def test_results_are_the_same(run_c: RunC) -> None:
    text = without_thresholds(optimize(source(NEAREST), Options()).text.decode())
    assert "reduction(+: moved)" in text
    ours = run_c(text + PROGRAM, "-O2", "-fopenmp", "-ffp-contract=off", name="ours")
    assert ours == run_c(source(NEAREST).decode() + PROGRAM, "-O2", "-ffp-contract=off", name="theirs")


@pytest.mark.parametrize(
    ("body", "apart"),
    [
        ("if (y[i] > 2) { y[i] = 1; n++; }", True),
        ("if (y[i] > 2) { y[n] = 1; n++; }", False),  # where the count leads to
        ("if (y[i] > n) { y[i] = 1; n++; }", False),  # what it decides about
        ("if (y[i] > 2) { y[i] = 1; m = i; n++; }", False),  # a variable in the order of iterations
        ("if (i > 2) { y[i] = 1; n++; }", True),  # without a variable
    ],
)
def test_counts_come_apart_from_stores(body: str, apart: bool) -> None:
    scop = scop_of(f"for (i = 0; i < 99; i++) {body}", "int n, int m, int x[99], int y[99]")
    alone = [one for one in scop.statements if {a.array for a in one.accesses if a.is_write} == {"n"}]
    assert bool(alone) == apart
    assert len(re.findall("holds", str(scop.statements))) == 0 or apart
