"""Triangles in packed storage: subscripts that are no linear functions, computed as ints."""

from __future__ import annotations

import pytest

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
    for (int i = 0; i < j; i++)
      y[i] += x[j] * p[i + j * (j + 1) / 2];
    y[j] += x[j] * p[j + j * (j + 1) / 2];
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


TRIANGLE = """\
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#define N 61
#define LOW(i, j) p[(i) * ((i) + 1) / 2 + (j)]
#define UPR(i, j) p[(i) * n - (i) * ((i) + 1) / 2 + (j)]
static inline int at(int n, int i, int j) { return i * (2 * n - i - 1) / 2 + j; }

static void kernel(int n, size_t z, double *p, double *c, double *x) {
%(body)s
}

int main(void) {
  static double p[N * (N + 1) / 2], c[N * N], x[N];
  for (int k = 0; k < N * (N + 1) / 2; k++) p[k] = (k * 37 %% 101) / 7.0 + 3;
  for (int k = 0; k < N * N; k++) c[k] = (k * 31 %% 113) / 17.0;
  for (int k = 0; k < N; k++) x[k] = 1.0 / (k + 1);
  kernel(N - 1, N - 1, p, c, x);
  for (int k = 0; k < N * (N + 1) / 2; k++) printf("%%a\\n", p[k]);
  for (int k = 0; k < N * N; k++) printf("%%a\\n", c[k]);
}
"""
BODIES = {
    "factorization, lower": "for (int i = 0; i < n; i++) { for (int j = 0; j < i; j++) {"
    " for (int k = 0; k < j; k++) LOW(i, j) -= LOW(i, k) * LOW(j, k); LOW(i, j) /= LOW(j, j); }"
    " for (int k = 0; k < i; k++) LOW(i, i) -= LOW(i, k) * LOW(i, k); LOW(i, i) = sqrt(fabs(LOW(i, i))); }",
    "factorization, upper": "for (int k = 0; k < n; k++) { UPR(k, k) = sqrt(fabs(UPR(k, k)));"
    " for (int j = k + 1; j < n; j++) UPR(k, j) /= UPR(k, k);"
    " for (int i = k + 1; i < n; i++) for (int j = i; j < n; j++) UPR(i, j) -= UPR(k, i) * UPR(k, j); }",
    "rank update": "for (int i = 0; i < n; i++) { int row = i * (i + 1) / 2; for (int j = 0; j <= i; j++)"
    " { double s = 0; for (int k = 0; k < n; k++) s += c[i * n + k] * c[j * n + k]; p[row + j] = s; } }",
    "distances": "for (size_t i = 0; i < z; i++) for (size_t j = i + 1; j < z; j++) { double s = 0;"
    " for (size_t k = 0; k < z; k++) s += fabs(c[i * z + k] - c[j * z + k]);"
    " p[z * i - i * (i + 1) / 2 + j - i - 1] = s; }",
    "product": "for (int i = n - 1; i >= 0; i--) for (int j = 0; j < n; j++) { double s = 0;"
    " for (int k = 0; k <= i; k++) s += LOW(i, k) * c[k * n + j]; c[i * n + j] = s; }",
    "calls": "for (int i = 0; i < n; i++) for (int j = i; j < n; j++) for (int k = 0; k < n; k++)"
    " p[at(n, i, j)] += c[k * n + i] * c[k * n + j];",
    "harmonics": "for (int l = 0; l * l < n; l++) for (int m = -l; m <= l; m++) p[l * l + l + m] *= x[l];"
    " for (int l = 0; l < n / 9; l++) for (int m = -l; m <= l; m++) for (int k = 0; k < n; k++)"
    " p[l * l + l + m] += c[k * n + l] * c[k * n + l + m];",
    "turned": "for (int i = 0; i < n; i++) for (int j = 0; j <= n - 1 - i; j++)"
    " p[(n - 1 - i) * (n - i) / 2 + j] *= x[i] + c[j * n + i];",
    "table": "for (int i = 1; i < n; i++) for (int j = 1; j < i; j++)"
    " LOW(i, j) = LOW(i - 1, j - 1) * 0.5 + LOW(i - 1, j) * 0.25;",
    "both triangles": "for (int i = 0; i < n; i++) for (int j = 0; j <= i; j++)"
    " c[i * n + j] = c[j * n + i] = LOW(i, j);",
}


@pytest.mark.parametrize(("body", "marked"), [(body, k % 2 == 0) for k, body in enumerate(BODIES)])
def test_every_bit_of_a_triangle_is_the_same(body: str, marked: bool, run_c: RunC) -> None:
    text = BODIES[body]
    source = TRIANGLE % {"body": f"#pragma scop\n{text}\n#pragma endscop" if marked else text}
    result = pipeline.optimize(source.encode(), Options(eager=True, autodetect=not marked), file="in.c")
    assert not [remark.message for remark in result.remarks if remark.id.startswith("internal.")]
    assert "region.transformed" in [remark.id for remark in result.remarks]
    flags = ("-O2", "-ffp-contract=off", "-w")
    emitted = run_c(result.text.decode(), *flags, "-fopenmp", name="emitted")
    assert emitted == run_c(source, *flags, name="original")
