"""Values that one iteration hands to the next: where they are computed anew, and where they stay what they are."""

from __future__ import annotations

from contextlib import suppress

import pytest

from scopt import pipeline
from scopt.diagnostics import Refusal
from scopt.options import Options
from tests.conftest import RunC
from tests.sources import scop_of

PARAMS = "int n, unsigned m, int *a, const int *b, const float *x, float *y, float *z, volatile int *v, float last"


def is_anew(loops: str, after: str = "") -> bool:
    return scop_of(loops, PARAMS, "float g; int h(int);", after).narrowed


@pytest.mark.parametrize(
    "loop",
    [
        "for (int k = 0; k < n; k++) { y[k] = x[k] - last; last = x[k]; }",
        "for (int k = n; k >= 0; --k) { y[k] = x[k] - last; last = x[k]; }",
        "for (int k = 1; n > k; k += 1) { float own = x[k] * 2; y[k] = own + last; last = own; }",
        "t = n - 1; for (int k = 0; k < n; k++) { y[k] = x[k] + x[t]; t = k; }",
        "j = 0; t = 1; for (int k = 0; k < n; k++) { a[k] = b[k] + j + t; j = t; t = b[k]; }",
        "for (i = 0; i < n; i++) { y[i] = x[i] - last; last = x[i]; y[i] *= last; }",
        "for (i = 0; i < n; i++) { y[i] = x[i] - last; last = x[i]; } t = i;",
        "for (int k = 0; k < n; k++) { t += b[k]; y[k] = x[k] - last; last = x[k]; }",
    ],
)
def test_values_are_computed_anew(loop: str) -> None:
    assert is_anew(loop)


@pytest.mark.parametrize(
    "loop",
    [
        "for (int k = 0; k < n; k++) y[k] = x[k] - last;",
        "for (int k = 0; k < n; k++) { y[k] = x[k] - last; last = y[k]; }",  # what the loop writes
        "for (int k = 0; k < n; k++) { z[k] = last; last = y[k]; y[k] = 0; }",
        "for (int k = 0; k < n; k++) { y[k] = x[k] - last; last = x[k] - last; }",
        "for (int k = 0; k < n; k++) { y[k] = x[k] - last; if (x[k] > 0) last = x[k]; }",
        "for (int k = 0; k < n; k++) { y[k] = x[k] - last; last = x[k]; if (x[k] > 1) last = 1; }",
        "for (int k = 0; k < n; k++) { y[k] = x[k] - g; g = x[k]; }",  # what pointers may lead to
        "for (int k = 0; k < n; k++) { y[k] = x[k] - t; t = v[k]; }",
        "for (int k = 0; k < n; k++) { y[k] = x[k] - t; t = h(k); }",
        "for (int k = 0; k < n; k++) { y[k] = x[k] - last; last = x[k] / 3; }",  # costs more than it brings
        "for (int k = 0; k < n; k++) { s += x[k]; y[k] = x[k] - last; last = x[k]; }",  # no vector loop in any case
        "for (int k = 1; k < n; k++) { y[k] = y[k - 1] - last; last = x[k]; }",
        "for (unsigned k = 0; k < m; k++) { y[k] = x[k] - last; last = x[k]; }",  # may wrap
        "for (int k = 0; k < n; k += 2) { y[k] = x[k] - last; last = x[k]; }",
        "for (int k = 0; k < n; k++) { y[k] = x[k] - last; last = x[k]; for (int l = 0; l < 3; l++) z[k] = l; }",
    ],
)
def test_others_stay_what_they_are(loop: str) -> None:
    with suppress(Refusal):
        assert not is_anew(loop, "a[0] = t; y[0] = last + s;")


PROGRAM = """#include <stdio.h>
#include <stdlib.h>
static float up(int n, const float *x, float *y, float last)
{
  int i;
#pragma scop
  for (i = 0; i < n; i++) { y[i] = x[i] - last; last = x[i]; }
#pragma endscop
  return last + i;
}
static float down(int n, const float *x, float *y, float last)
{
#pragma scop
  for (int i = n - 1; i >= 0; i--) { y[i] = x[i] - last; last = x[i] * 3; y[i] += last; }
#pragma endscop
  return last;
}
static float three(int n, const float *x, float *y, float p, float q, float r)
{
#pragma scop
  for (int i = 0; i < n; i++) { y[i] = ((x[i] + p) + q) + r; r = q; q = p; p = x[i]; }
#pragma endscop
  return p + 2 * q + 4 * r;
}
static int bytes(int n, const float *x, float *y)
{
  unsigned char mark = 200; int at = n - 1, total = 0;
#pragma scop
  for (int i = 0; i < n; i++) {
    int next = 3 * i + 250;
    total += mark;
    y[i] = mark + x[at];
    at = i;
    mark = next;
  }
#pragma endscop
  return total + at + mark;
}
static float rows(int n, int m, const float x[n][m], float y[n][m])
{
  float last = 7;
#pragma scop
  for (int j = 0; j < n; j++)
    for (int i = 0; i < m; i++) { float v = x[j][i]; y[j][i] = v - last; last = v; }
#pragma endscop
  return last;
}
static float wide(size_t n, const float *x, float *y)
{
  float last = 3;
#pragma scop
  for (int i = 0; i < n; i++) { y[i] = x[i] * last; last = (i > -9) - i; }
#pragma endscop
  return last;
}
int main(void)
{
  for (int n = 0; n < 3000; n += 1 + n / 3) {
    float *x = malloc(4 * n), *y = malloc(4 * n);
    unsigned z = n + 3;
    for (int k = 0; k < 7; k++) {
      double sum = 0;
      for (int i = 0; i < n; i++) { z = z * 1664525u + 1013904223u; x[i] = (z >> 8) / 16777216.0f - 0.5f; y[i] = 0; }
      float r = k == 0 ? up(n, x, y, 5) : k == 1 ? down(n, x, y, 5) : k == 2 ? three(n, x, y, 1, 2, 3)
        : k == 3 ? bytes(n, x, y) : k == 4 ? rows(3, n / 3, (void *)x, (void *)y)
        : k == 6 ? wide(n, x, y) : rows(n / 2, 2, (void *)x, (void *)y);
      for (int i = 0; i < n; i++) sum = sum * 0.75 + y[i];
      printf("%d %d %a %a\\n", n, k, r, sum);
    }
    free(x); free(y);
  }
}
"""


@pytest.mark.parametrize("marked", [True, False])
def test_results_stay_the_same(run_c: RunC, marked: bool) -> None:
    source = PROGRAM if marked else "".join(one for one in PROGRAM.splitlines(True) if "#pragma" not in one)
    made = pipeline.optimize(source.encode(), Options(autodetect=not marked, eager=True)).text.decode()
    assert made.count("private(last_2") + made.count("private(p_2") + made.count("p_2)") >= 3
    expected = run_c(PROGRAM, "-O1", "-ffp-contract=off", name="original")
    assert run_c(made, "-O3", "-mavx2", "-ffp-contract=off", "-fopenmp", name="threads") == expected
    sanitized = ("-O1", "-ffp-contract=off", "-fsanitize=undefined,address", "-fno-sanitize-recover")
    assert run_c(made, *sanitized, name="sanitized") == expected
