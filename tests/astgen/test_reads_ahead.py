"""Cells that an iteration has to read before it writes: which are in variables, and that results stay the same."""

from __future__ import annotations

import pytest

from scopt import pipeline
from scopt.options import Options
from tests.conftest import RunC

PARAMS = "int n, float *a, float *b, float *c, float (*r)[4]"


def text_of(body: str) -> str:
    """What becomes of a loop over i."""
    source = f"void f({PARAMS}) {{\n#pragma scop\nfor (int i = 0; i < n; i++) {{ {body} }}\n#pragma endscop\n}}\n"
    return " ".join(pipeline.optimize(source.encode(), Options(parallel=False)).text.decode().split())


@pytest.mark.parametrize(
    ("body", "first"),
    [
        ("a[i] = b[i]; c[i] = a[i] * a[i + 1]; b[i] = c[i];", "float a_0 = a[i + 1]; a[i] = b[i];"),
        ("a[i] = b[i] * c[i]; b[i] = a[i] * a[i + 1];", "float a_0 = a[i + 1]; a[i] = b[i] * c[i];"),
        ("a[i] = b[i]; b[i] = a[i] * 2; a[i] = b[i] + a[i + 1];", "float a_0 = a[i], a_1 = a[i + 1];"),
    ],
)
def test_what_later_iterations_write_is_read_first(body: str, first: str) -> None:
    assert first in text_of(body)


@pytest.mark.parametrize(
    "body",
    [
        "b[i] = a[i + 1]; a[i] = b[i] * b[i + 1];",  # read first, where it stands
        "a[i] = b[i]; b[i] = a[i] * a[i + 1] * b[i - 1];",  # what the iteration before has written
        "a[i] = b[i] * c[i]; a[i + 1] = b[i] + a[i + 2]; b[i] = a[i];",  # in their order
        "a[i] = b[i] * c[0]; c[0] = a[i] * a[i + 1]; b[i] = 0;",
        "a[i] = b[i]; b[i] = a[i] + a[n - i];",  # sometimes later, sometimes earlier
        "a[i] = b[i]; if (c[i] > 0) b[i] = a[i] * a[i + 1]; else b[i] = 0;",  # perhaps there is no such cell
    ],
)
def test_other_loops_read_where_they_stand(body: str) -> None:
    assert "float a_0" not in text_of(body)
    assert "a_1" not in text_of(body)


PROGRAM = """#include <stdio.h>
#include <stdlib.h>
static void run(int n, float *a, float *b, float *c, double (*r)[3])
{
#pragma scop
  for (int i = 0; i < n - 1; i++) { a[i] = b[i] * c[i]; b[i] = a[i] * a[i + 1]; }
  for (int i = 0; i < n - 2; i++) { c[i] = b[i] + 1; b[i] = c[i] * b[i + 1]; c[i] += c[i + 2] - b[i]; }
  for (int i = n - 1; i >= 2; i--) { a[i] = b[i] - c[i]; b[i] = a[i] * a[i - 2]; }
  for (int j = 0; j < 2; j++)
    for (int i = 0; i < n / 2; i++) { r[i][j] = b[i] + j; b[i] = r[i][j] - r[i + 1][j] * r[i][j + 1]; }
#pragma endscop
}
int main(void)
{
  for (int n = 0; n < 3000; n += 1 + n / 3) {
    float *a = malloc(4 * n + 4), *b = malloc(4 * n + 4), *c = malloc(4 * n + 4);
    double (*r)[3] = malloc(sizeof *r * (n / 2 + 1)), sum = 0;
    unsigned z = n + 3;
    for (int i = 0; i < n; i++) {
      a[i] = ((z = z * 1664525u + 1013904223u) >> 8) / 16777216.0f;
      b[i] = ((z = z * 1664525u + 1013904223u) >> 8) / 16777216.0f;
      c[i] = ((z = z * 1664525u + 1013904223u) >> 8) / 16777216.0f;
    }
    for (int i = 0; i <= n / 2; i++) for (int j = 0; j < 3; j++) r[i][j] = i % 7 * 0.125 + j;
    run(n, a, b, c, r);
    for (int i = 0; i < n; i++) sum = sum * 0.75 + a[i] + 2 * b[i] + 3 * c[i];
    for (int i = 0; i < n / 2; i++) sum = sum * 0.75 + r[i][0] + r[i][1];
    printf("%d %a\\n", n, sum);
    free(a); free(b); free(c); free(r);
  }
}
"""


def test_results_stay_the_same(run_c: RunC) -> None:
    made = pipeline.optimize(PROGRAM, Options()).text.decode()
    assert "= a[i + 1]" in made
    expected = run_c(PROGRAM, "-O1", "-ffp-contract=off", name="original")
    assert run_c(made, "-O3", "-mavx2", "-ffp-contract=off", "-fopenmp", name="threads") == expected
    sanitized = ("-O1", "-ffp-contract=off", "-fsanitize=undefined,address", "-fno-sanitize-recover")
    assert run_c(made, *sanitized, name="sanitized") == expected
