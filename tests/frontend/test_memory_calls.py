"""Calls that fill and copy memory as loops over elements."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from scopt.diagnostics import Refusal
from scopt.options import Options
from tests.sources import optimize, scop_of

PARAMS = "int n, int m, double *a, double *b, int *w, unsigned char *c, long *size, float x[3]"
BEFORE = """#include <string.h>
struct gaps { char c; double x; };
struct whole { double x; float y[2]; };
double grid[8][16];
"""
SOURCE = """#include <stdio.h>
#include <string.h>
struct item { long n; int low[3], high; };
static void bytes(int n, int m, int (*rows)[8], int *w, unsigned char *c) {
#pragma scop
  for (int i = 0; i < n; i++) {
    int dist[8];
    memset(dist, 0x3f, sizeof dist);
    (void)memset(c + i * 8, i + 250, m);
    bzero(rows[i] + 1, (m - 1) * sizeof(int));
    memset(w, -1, sizeof(int) * m);
    dist[i % 8] = dist[2] / 3 + i, w[i % 4] += i;
    memcpy(rows[i], dist, m * sizeof *dist);
  }
  memcpy(rows + n, rows, sizeof(rows[0]) * n);
#pragma endscop
}
static void places(int n, int m, struct item *s, double *d) {
  double line[16];
#pragma scop
  for (int i = 0; i < n; i++) {
    struct item one;
    memset(&one, 0, sizeof one);
    memcpy(line + 1, d + i, sizeof line / 2);
    memmove(d + 2, d, sizeof(double) * m);
    memmove(&d[9], d + 10, 4 * sizeof *d);
    d[0] += line[1] + line[m];
    one.high = one.low[1] + i;
    memcpy(&s[i], &one, sizeof(struct item));
  }
  memcpy(s + n, s, (size_t)n * sizeof(struct item));
#pragma endscop
}
static void g(int n, long (*size)[4]) {
#pragma scop
  for (int i = 0; i < n; i++)
    __builtin_memset(size[i], 0, size[i][0] * sizeof(long));
#pragma endscop
}
static void wraps(unsigned u, unsigned char *c) {
#pragma scop
  memset(c, 7, u * 2);
#pragma endscop
}
int main(void) {
  for (int n = 0; n < 9; n++)
    for (int m = 1; m < 8; m += 2) {
      static int rows[20][8], w[8];
      static unsigned char c[100];
      static struct item s[20];
      long size[2][4] = {{m, 2, 3, 4}, {m - 1, 3, 4, 5}};
      double d[40];
      for (int i = 0; i < 40; i++) d[i] = i * 0.7 + m;
      bytes(n, m, rows, w, c);
      places(n, m, s, d);
      g(2, size);
      wraps((1u << 31) + 5, c);
      long sum = 0;
      for (int i = 0; i < 20; i++) {
        for (int j = 0; j < 8; j++) sum = sum * 31 + rows[i][j] + w[j];
        sum = sum * 31 + s[i].high + s[i].low[1] * 3 + s[i].low[2] + s[i].n + c[5 * i];
      }
      printf("%ld %ld %ld ", sum, size[0][1] + size[1][2] * 10 + size[0][2] * 100 + size[1][0], (long)(d[0] * 1e3));
      for (int i = 0; i < 20; i++) printf("%g ", d[i]);
    }
  return 0;
}
"""


@pytest.mark.parametrize(
    ("call", "array"),
    [
        ("memset(a, 0, n * sizeof(double))", "a"),
        ("memset(w, 0xff, n * 4)", "w"),
        ("memset(c, m, n)", "c"),
        ("memcpy(a, b, (size_t)n * m * sizeof *a)", "a"),
        ("memmove(a, b + m, sizeof(double[4]))", "a"),
        ("memmove(a + 1, a, n * sizeof(double))", "a"),
        ("memset(grid[i % 8], 0, m * sizeof(double))", "grid"),
        ("memset(grid[0], 0, n * 16 * sizeof(double))", "grid"),
        ("memset(&grid[0][0], 0, sizeof grid)", "grid"),
        ("memset(x, 0, sizeof x)", "x"),  # the size of a pointer
    ],
)
def test_loops(call: str, array: str) -> None:
    made = scop_of(f"for (int i = 0; i < n; i++) {{ {call}; }}", params=PARAMS, before=BEFORE)
    assert [access.array for one in made.statements for access in one.accesses if access.is_write] == [array]


@pytest.mark.parametrize(
    "call",
    [
        "memset(a, 1, n * sizeof(double))",  # no value that is written in C
        "memset(a, 0, n)",  # parts of elements
        "memset(w, m, n * sizeof(int))",
        "memcpy(a, w, n * sizeof(double))",
        "memmove(a + m, a, n * sizeof(double))",  # in which direction?
        "memset(grid[0], 0, n * m * sizeof(double))",  # beyond the row
        "memset(grid[2] + 1, 0, 16 * sizeof(double))",
        "memset(w++, 0, sizeof(int))",
        "memset(c, c[0] + 1, n)",  # may be written there
        "memset(w + w[0], 0, n * sizeof(int))",
        "struct gaps g; memset(&g, 0, sizeof g)",
        "long double l[2]; memset(l, 0, sizeof l)",
    ],
)
def test_other_calls(call: str) -> None:
    with pytest.raises(Refusal):
        scop_of(f"for (int i = 0; i < n; i++) {{ {call}; b[i] = 1; }}", params=PARAMS, before=BEFORE)


def test_results_are_the_same(run_c: Callable[..., str]) -> None:
    text = optimize(SOURCE, Options(eager=True)).text.decode()
    assert text.count("mem") < SOURCE.count("mem") - 6, "loops"
    flags = ("-O1", "-ffp-contract=off")
    assert run_c(text, *flags, name="after") == run_c(SOURCE, *flags, name="before")
