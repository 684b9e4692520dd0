"""Several sums under one condition: where each of them gets a statement of its own, and where they stay together."""

from __future__ import annotations

import pytest

from scopt import ir, pipeline
from scopt.options import Options
from tests.conftest import RunC
from tests.sources import scop_of

PARAMS = "int n, int *a, unsigned char *b, double *x, long r[4], double top, int *restrict p"


def bodies(statement: str, params: str = PARAMS) -> list[str]:
    """The statements of a loop over i around this one."""
    scop = scop_of(
        f"int c = 0, d = 0; double g = 0;\nfor (i = 0; i < n; i++) {{ {statement} }}\na[0] = c + d + g;", params
    )
    return [ir.printing.CPrinter().visit(one.body) for one in scop.statements if one.iterators]


@pytest.mark.parametrize(
    ("statement", "apart"),
    [
        ("if (a[i] > 3) { c++; d += a[i]; }", ["if (a[i] > 3) c++", "if (a[i] > 3) d += a[i]"]),
        ("if (a[i] > 3) c++; else d++;", ["if (a[i] > 3) c++", "if (!(a[i] > 3)) d++"]),
        (
            "if (x[i] < top) r[0]++; else if (b[i]) { r[1] -= b[i]; } else r[2] |= 4;",
            [
                "if (x[i] < top) r[0]++",
                "if ((!(x[i] < top)) && b[i]) r[1] -= b[i]",
                "if ((!(x[i] < top)) && (!b[i])) r[2] |= 4",
            ],
        ),
        ("if (a[i]) { c++; if (b[i] > 3) d++; }", ["if (a[i]) c++", "if (a[i] && (b[i] > 3)) d++"]),
        ("if (a[i]) if (b[i]) c++;", ["if (a[i] && b[i]) c++"]),
        ("if (a[i]) { c++; c += b[i]; }", ["if (a[i]) c++", "if (a[i]) c += b[i]"]),
        (
            "if (b[i] > 3) { x[i] = top; r[n]++; } else x[i] = 0;",
            ["if (b[i] > 3) r[n]++", "if (b[i] > 3) x[i] = top; else x[i] = 0"],
        ),
    ],
)
def test_updates_get_statements_of_their_own(statement: str, apart: list[str]) -> None:
    assert [" ".join(one.replace("\n", " ").split()).rstrip(";") for one in bodies(statement)] == apart


@pytest.mark.parametrize(
    "statement",
    [
        "if (a[i] > 3) c++;",
        "if (a[i] > c) { c++; d += a[i]; }",  # the condition changes
        "if (r[0] > a[i]) { r[0]++; r[1]++; }",
        "if (a[i] > 3) { c++; d += c; }",  # what is added changes
        "if (a[i] > 3) { c++; g += x[i]; }",  # in its order
        "if (a[i] > 3) { c++; d = i; }",
        "if (a[i] > 3) { r[i & 3]++; c++; }",
        "if (a[i]++ > 3) { c++; d++; }",
        "if (a[i] > 3) { c++; d *= 3; }",
        "if (a[i] > 3) { a[c] = i; c++; }",  # a list
    ],
)
def test_others_stay_together(statement: str) -> None:
    assert len(bodies(statement)) == 1


PROGRAM = """#include <math.h>
#include <stdio.h>
#include <stdlib.h>
static void run(int n, const float *x, unsigned char *b, long r[5])
{
  int low = 0; unsigned char bits = 0; long sum = 0; unsigned weight = 1;
#pragma scop
  for (int k = 0; k < 5; k++) r[k] = k;
  for (int i = 0; i < n; i++) {
    if (x[i] < -0.25f) r[0]++;
    else if (x[i] < 0.25f && b[i] > 3) { r[1]++; r[3] -= b[i]; }
    else { r[2]++; r[4] ^= b[i]; }
  }
  for (int i = 0; i < n; i++)
    if (b[i] < 90) { b[i] = b[i] + 7; r[4]++; } else b[i] = b[i] - 1;
  for (int i = 0; i < n; i++)
    if (b[i] > 100) { low--; sum += i; weight -= b[i]; } else bits |= b[i];
#pragma endscop
  printf("%d %d %ld %u", low, bits, sum, weight);
  for (int k = 0; k < 5; k++) printf(" %ld", r[k]);
  printf("\\n");
}
int main(void)
{
  for (int n = 0; n < 3000; n += 1 + n / 3) {
    float *x = malloc(4 * n + 4);
    unsigned char *b = malloc(n + 1);
    long r[5];
    unsigned z = n + 3;
    for (int i = 0; i < n; i++) {
      z = z * 1664525u + 1013904223u;
      x[i] = z % 11 == 0 ? NAN : (z >> 8) / 16777216.0f - 0.5f;
      b[i] = z >> 21;
    }
    run(n, x, b, r);
    free(x); free(b);
  }
}
"""


def test_results_stay_the_same(run_c: RunC) -> None:
    made = pipeline.optimize(PROGRAM, Options()).text.decode()
    assert "r_total" in made
    assert "#pragma omp parallel for" in made
    expected = run_c(PROGRAM, "-O1", "-lm", name="original")
    assert run_c(made, "-O3", "-mavx2", "-fopenmp", "-lm", name="threads") == expected
    sanitized = ("-O1", "-fsanitize=undefined,address", "-fno-sanitize-recover", "-lm")
    assert run_c(made, *sanitized, name="sanitized") == expected
