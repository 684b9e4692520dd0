"""Arrays of pointers to rows: rows that lie anywhere, at no fixed distance."""

from __future__ import annotations

import pytest

from scopt import pipeline
from scopt.options import Options
from tests.conftest import RunC, but_for

PROGRAM = """\
#include <stdio.h>
#include <stdlib.h>

#define N 70
typedef %(type)s real;

static void kernel(int n, real **a, real *const *b, real *c[], int r) {
#pragma scop
%(body)s
#pragma endscop
}

int main(void) {
  static real cells[3][4 * N][N + 9];
  real *rows[3][N];
  for (int m = 0; m < 3; m++)
    for (int i = 0; i < N; i++) {
      rows[m][i] = &cells[m][i * 37 %% (4 * N)][i %% 9]; /* in no order, at no distance */
      for (int j = 0; j < N; j++) rows[m][i][j] = (real)((i * 7 + j * (m + 3)) %% 23) / 8 + (i == j ? N : 0);
    }
  kernel(N - 1, rows[0], rows[1], rows[2], 1);
  for (int i = 0; i < N; i++) {
    double sum = 0;
    for (int j = 0; j < N; j++) sum += (j + 1.0) * rows[0][i][j] + (j * j) * (double)rows[2][i][j];
    printf("%%a\\n", sum);
  }
  return 0;
}
"""

BODIES = {
    "product": "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++)"
    " c[i][j] += a[i][k] * b[k][j];",
    "turned operand": "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++)"
    " c[i][j] += a[i][k] * b[j][k];",
    "factorization": "for (int k = 0; k < n; k++) for (int i = k + 1; i < n; i++) { a[i][k] /= a[k][k];"
    " for (int j = k + 1; j < n; j++) a[i][j] -= a[i][k] * a[k][j]; }",
    "sweeps": "for (int t = 0; t < 6; t++) for (int i = 1; i < n; i++) for (int j = 1; j < n; j++)"
    " a[i][j] = (a[i - 1][j] + a[i][j - 1] + a[i + 1][j] + a[i][j + 1] + b[i][j]) / 5;",
    "rows with names": "for (int i = 0; i < n; i++) { real *own = c[i]; const real *up = a[i + r];"
    " for (int j = 0; j < n; j++) own[j] = up[j + 1] - *(b[i] + j); }",
    "recurrences": "for (int i = 0; i < n; i++) { real s = 0; for (int j = 0; j < n; j++)"
    " { s = s / 2 + a[i][j]; c[i][j] = s; } }",
}


@pytest.mark.parametrize(
    ("body", "type"),
    [
        *((body, "double") for body in BODIES),
        *((body, "float") for body in but_for(BODIES, "product", "turned operand", "factorization", "sweeps")),
    ],
)
def test_every_bit_is_the_same(body: str, type: str, run_c: RunC) -> None:
    source = PROGRAM % {"body": BODIES[body], "type": type}
    result = pipeline.optimize(source.encode(), Options(eager=True), file="in.c")
    assert "region.transformed" in [remark.id for remark in result.remarks]
    assert "sizeof(" not in (text := result.text.decode())
    flags = ("-O2", "-fopenmp", "-ffp-contract=off", "-lm", "-w")
    assert run_c(text, *flags, name="emitted") == run_c(source, *flags, name="original")
