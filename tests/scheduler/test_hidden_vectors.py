"""Loops of a sum that waits for itself, and of what fits beside it, stay as they are; where there is more, it has
vectors of its own."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from scopt.options import Options
from scopt.pipeline import optimize
from tests.fuzz.harness import without_thresholds
from tests.sources import source_of

PARAMS = "int n, double A[100][100], double B[100][100], double *x, double *y, double *z"
# A step, and how far it leads.
STEP = """double e = 0; for (j = 0; j < n; j++) { z[j] += y[1] * x[j]; e += z[j] * x[j]; }
y[0] = e;"""
# A field and its energy.
ENERGY = """double e = 0; for (i = 1; i < n - 1; i++) for (j = 1; j < n - 1; j++) {
  B[i][j] = 0.5 * (A[i][j - 1] - A[i][j + 1]); e += 0.5 * (B[i][j] * B[i][j]); }
y[0] = e;"""
DEVIATIONS = "double v = 0; for (j = 0; j < n; j++) { x[j] = x[j] - y[1]; v += x[j] * x[j]; } y[0] = v;"
# More than fits into the cycles of one addition.
SERIES = """double v = 0; for (j = 0; j < n; j++) {
  double p = x[j], q = p * p;
  z[j] = p * (1 + q * (2 + q * (3 + q * (4 + q * (5 + q * (6 + q * (7 + q * (8 + q * (9 + q * (8 + q * (7
    + q * (6 + q * (5 + q * (4 + q * (3 + q * (2 + q))))))))))))))));
  v += z[j]; }
y[0] = v;"""

# A chain along rows that take turns, beside what could be vectors but for private values that are handed on.
TURNS = """double q[2][100], u[2][100]; for (j = 0; j < n; j++) { q[0][j] = 0; u[0][j] = x[j]; }
for (i = 1; i < n; i++) { int cur = i & 1, old = cur ^ 1; q[cur][0] = u[cur][0] = y[i]; for (j = 1; j < n; j++) {
  double in = A[i][j] * 0.5 + q[old][j - 1] * 0.25;
  u[cur][j] = u[old][j] * x[j] + in;
  q[cur][j] = u[cur][j - 1] * 0.5 + q[cur][j - 1] * 0.75; } }
for (j = 0; j < n; j++) z[j] = q[(n - 1) & 1][j];"""


def text(body: str, *, reassociate: bool = False) -> str:
    return optimize(source_of(body, PARAMS), Options(reassociate=reassociate)).text.decode()


@pytest.mark.parametrize("body", [STEP, ENERGY, DEVIATIONS], ids=["step", "energy", "deviations"])
def test_what_a_sum_hides_stays_beside_it(body: str) -> None:
    found = text(body)
    assert "omp simd" not in found
    assert "omp parallel" not in found
    assert found.count("for (long j = ") == 1


def test_private_values_may_be_handed_on_beside_a_chain() -> None:
    assert "simd private(in)" not in text(TURNS)


def test_what_takes_longer_has_vectors() -> None:
    found = text(SERIES)
    assert "omp parallel for simd" in found
    assert found.count("for (long j = ") == 2


def test_sums_in_any_order_hide_nothing() -> None:
    assert "simd reduction(+: e)" in text(STEP, reassociate=True)


MAIN = """
#include <stdio.h>
static double a[100][100], b[100][100], x[100], y[100], z[100];
int main(void) {
  for (int i = 0; i < 100; i++) {
    x[i] = (i * 13 % 17 - 8) / 9.0; y[i] = i % 5; z[i] = i % 3;
    for (int j = 0; j < 100; j++) a[i][j] = (i * 37 + j * 11) % 23 / 7.0;
  }
  f(97, a, b, x, y, z);
  for (int i = 0; i < 100; i++) printf("%a %a %a %a ", b[i][i], x[i], y[i], z[i]);
  return 0;
}
"""


@pytest.mark.parametrize(
    "body", [STEP, ENERGY, DEVIATIONS, SERIES, TURNS], ids=["step", "energy", "deviations", "series", "turns"]
)
def test_results_are_the_same(body: str, run_c: Callable[..., str]) -> None:
    before = run_c(source_of(body, PARAMS).decode() + MAIN, "-O1", "-ffp-contract=off", "-w", name="before")
    after = without_thresholds(text(body)) + MAIN
    assert run_c(after, "-O2", "-fopenmp", "-ffp-contract=off", "-w", name="after") == before


def test_loops_of_other_lengths_are_not_put_together() -> None:
    body = "for (j = 0; j < n; j++) x[j] = 2 * x[j]; for (j = 1; j < 60; j++) y[j] = y[j - 1] * x[j] + x[j];"
    assert "omp simd" in text(body) or "parallel for simd" in text(body)
