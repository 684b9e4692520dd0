"""Loops with one over the remainders of their iterator inside."""

from __future__ import annotations

import islpy as isl
import pytest

from tests.conftest import RunC
from tests.sources import optimize, scop_of


@pytest.mark.parametrize(
    ("body", "domain", "read"),
    [
        (
            "for (i = 0; i < 2 * n; i++) x[i] = y[i / 2];",
            "[n] -> { S0[q, r] : 0 <= q < n and 0 <= r <= 1 }",
            "{ S0[q, r] -> y[q] }",
        ),
        (
            "for (int i = 1; i < n; i++) x[i] = y[(i - 1) / 3];",
            "[n] -> { S0[q, r] : 0 <= r <= 2 and 1 <= 3q + r < n }",
            "{ S0[q, r] -> y[o] : 3o < 3q + r <= 3o + 3 }",
        ),
        (
            "for (int i = 0; i <= n - 1; i++) x[i] = y[i >> 1] + y[i / 4];",
            "[n] -> { S0[q, r] : 0 <= r <= 3 and 0 <= 4q + r < n }",
            "{ S0[q, r] -> y[o] : o = q or 2o = 4q + r or 2o + 1 = 4q + r }",
        ),
        (
            "for (int i = 0; i < n; i++) x[i] = y[i & ~1] + y[(i & -2) + 1];",
            "[n] -> { S0[q, r] : 0 <= r <= 1 and 0 <= 2q + r < n }",
            "{ S0[q, r] -> y[o] : 2q <= o <= 2q + 1 }",
        ),
        (
            "for (int i = 0; i < n; i++) x[i] = y[i >> 5] + y[(i + 64) / 32];",
            "[n] -> { S0[q, r] : 0 <= r < 32 and 0 <= 32q + r < n }",
            "{ S0[q, r] -> y[o] : o = q or o = q + 2 }",
        ),
    ],
)
def test_domains_and_subscripts(body: str, domain: str, read: str) -> None:
    (statement,) = scop_of(body).statements
    assert statement.domain.is_equal(isl.Set(domain))
    wanted = isl.Map(read).intersect_domain(isl.Set(domain))
    found = [one.relation for one in statement.accesses if one.array == "y"]
    both = found[0]
    for one in found[1:]:
        both = both.union(one)
    assert both.intersect_domain(isl.Set(domain)).is_equal(wanted)


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < n; i++) x[i] = i % 2 ? y[i] : 0;",  # a mask
        "for (int i = 0; i < 16; i++) x[i] = y[i / 2];",  # straight code
        "for (int i = 0; i < n; i++) x[i] = y[i / 12];",
        "for (int i = 0; i < n; i++) x[i] = y[i / 32] + y[i / 16];",
        "for (int i = 0; i < n; i++) x[i] = y[(i + 1) / 32];",
        "for (int i = 0; i < n; i++) x[i] = y[i & ~2];",
        "for (int i = -4; i < n; i++) x[i + 4] = y[i / 2 + 2];",
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) A[i][j] = B[i / 2][j];",
        "for (unsigned i = 1; i < n; i++) x[i] = y[i / 2];",
        "for (int i = 0; i < n; i++) x[i / 4] += y[i];",
        "for (int i = 0; i < n; i++) x[i >> 1]++;",
    ],
)
def test_others_stay(body: str) -> None:
    (statement,) = scop_of(body).statements
    assert len(statement.iterators) == body.count("for")


def test_results_stay(run_c: RunC) -> None:
    source = """#include <stdio.h>
void f(int n, const float *restrict scale, const signed char *restrict q, float *restrict x, int *restrict y) {
#pragma scop
  for (int i = 0; i < n; i++) x[i] = scale[i / 32] * q[i];
  for (int i = 0; i < n; i++) y[i] = 3 * q[i & ~1] + 5 * q[(i & ~1) + 1] - q[i];
#pragma endscop
}
int main(void) {
  static float scale[8], x[200];
  static signed char q[200];
  static int y[200];
  unsigned hash = 5381;
  for (int i = 0; i < 200; i++) scale[i % 8] = i / 3.0f, q[i] = (signed char)(i * 37);
  for (int n = 0; n < 199; n += 13) {
    f(n, scale, q, x, y);
    for (int i = 0; i < 200; i++) hash = hash * 33 + (unsigned)(int)(64 * x[i]) + (unsigned)y[i];
  }
  printf("%u\\n", hash);
}
"""
    made = optimize(source.encode()).text.decode()
    flags = ("-O1", "-ffp-contract=off", "-w")
    before = run_c(source, *flags, name="before")
    assert run_c(made, *flags, "-fopenmp", "-fsanitize=address,undefined", name="after") == before
