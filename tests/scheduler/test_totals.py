"""Totals: which nests get one, and that results stay the same."""

from __future__ import annotations

import pytest

from scopt import pipeline
from scopt.options import Options
from scopt.poly.reordering import Reorder, updates_of
from scopt.scheduler.passes.totals import with_totals
from tests.conftest import RunC
from tests.sources import scop_of

PARAMS = """int n, int m, int a[100][100], const unsigned char *p, int *cell, unsigned *bits, int s1, unsigned u1,
  long w1, float *x, int *y, short *h"""


def totals_of(body: str) -> list[str]:
    scop = scop_of(body, PARAMS, after="y[0] = s1 + u1 + w1;")
    found = with_totals(scop, frozenset(updates_of(scop, Reorder.SAFE)))
    return [] if found is None else sorted({*found.scop.arrays} - {*scop.arrays})


@pytest.mark.parametrize(
    ("body", "totals"),
    [
        ("for (i = 0; i < n; i++) s1 += a[3][i] * a[4][i];", ["s1_total"]),
        ("for (i = 0; i < n; i++) for (j = 0; j < m; j++) { s1 -= a[i][j]; w1 += a[i][j]; }", ["s1_total", "w1_total"]),
        ("for (t = 0; t < m; t++) { for (i = 0; i < n; i++) s1 += p[i]; y[t] = s1; }", ["s1_total"]),
        ("for (i = 0; i < n; i++) { if (p[i] > 3) cell[0]++; cell[7] += p[i]; }", ["cell_total", "cell_total2"]),
        ("for (i = 0; i < n; i++) { if (p[i] > 3) cell[1]++; else cell[1] += 2; }", ["cell_total"]),
        ("for (i = 0; i < n; i++) bits[2] |= p[i];", ["bits_total"]),
        ("for (i = 0; i < n; i++) if (cell[2] < p[i]) cell[2] = p[i];", ["cell_total"]),
        ("for (i = 0; i < n; i++) h[1] += p[i];", ["h_total"]),
        (
            "for (i = 0; i < n; i++) s1 += p[i]; for (i = 0; i < n; i++) for (int k = i + 1; k <= i; k++) s1 += p[k];",
            ["s1_total"],
        ),  # a loop that never runs
        ("for (i = 0; i < n; i++) s1 += __builtin_popcount(y[i]) + abs(y[i + 1]);", ["s1_total"]),
    ],
)
def test_what_gets_a_total(body: str, totals: list[str]) -> None:
    assert totals_of(body) == totals


@pytest.mark.parametrize(
    "body",
    [
        "for (i = 0; i < n; i++) s1 += p[i] > 3;",  # counts don't overflow
        "for (i = 0; i < n; i++) if (9u > 9u) bits[2] -= p[i];",  # never runs
        "for (i = 0; i < n; i++) u1 += p[i];",
        "for (i = 0; i < n; i++) s1 += abs(p[i] - p[i + 1]);",  # gcc has instructions for these
        "for (i = 0; i < n; i++) s1 += p[i] * p[n - i];",
        "for (i = 0; i < n; i++) { s1 += p[i]; y[i] = s1; }",
        "for (i = 0; i < n; i++) { s1 += p[i]; s1 ^= 3; }",
        "for (i = 0; i < n; i++) cell[i] += p[i];",
        "for (i = 0; i < n; i++) for (j = 0; j < m; j++) cell[i] += a[i][j];",
        "for (i = 0; i < n; i++) { cell[0] += p[i]; y[i] = cell[m]; }",
        "for (i = 0; i < n; i++) { cell[0] += p[i]; cell[m]++; }",  # perhaps the same one
        "for (i = 0; i < n; i++) { cell[0] += p[i]; cell[i + 1] = i; cell[p[i]] = 2; }",
        "for (i = 0; i < n; i++) if (p[i]) if (cell[2] < p[i]) cell[2] = p[i];",  # perhaps there is no such cell
        "for (i = 0; i < n; i++) if (h[2] < p[i]) h[2] = p[i];",
        "for (i = 0; i < n; i++) bits[n * m + 2] += p[i];",  # which one isn't known
        "for (i = 0; i < n; i++) x[0] += p[i];",
        "cell[0] += s1;",
    ],
)
def test_what_gets_none(body: str) -> None:
    assert not totals_of(body)


PROGRAM = """#include <stdio.h>
#include <stdlib.h>
static void run(int h, int w, signed char a[restrict h][w], const int k[restrict], int *restrict cell,
                unsigned long *restrict bits, long long *restrict out)
{
  int s = 5, c = -3;
  long t = 7;
#pragma scop
  for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) s += a[y][x] * k[y];
  for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) { c += a[y][x] > 3 ? 1 : -1; if (a[y][x] > 5) t -= x; }
#pragma endscop
  out[0] = s; out[1] = c; out[2] = t;
#pragma scop
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      if (a[y][x] > cell[0]) cell[0] = a[y][x];
      cell[1] = cell[1] < a[y][x] + x ? cell[1] : a[y][x] + x;
      if (a[y][x] == 7) cell[2]++;
      bits[1] ^= (unsigned long)a[y][x] << (x & 31);
      bits[2] |= a[y][x];
    }
#pragma endscop
#pragma scop
  for (int i = 0; i < 3; i++) {
    for (int y = 0; y < h; y++) for (int x = 0; x < w; x++) t += a[y][x] * i;
    out[i + 3] = t;
  }
#pragma endscop
}
int main(void)
{
  int sizes[][2] = {{0, 0}, {0, 5}, {5, 0}, {1, 1}, {3, 9999}, {90, 93}, {700, 311}};
  for (int u = 0; u < 7; u++) {
    int h = sizes[u][0], w = sizes[u][1], *k = malloc(4 * h + 4), *cell = h && w ? malloc(12) : 0;
    signed char *a = malloc(h * w + 1);
    unsigned long z = u * 77 + 1, bits[3] = {1, 2, 4};
    long long out[6];
    for (int i = 0; i < h * w; i++) z = z * 1664525 + 1013904223, a[i] = z >> 24;
    for (int i = 0; i < h; i++) k[i] = i % 2 ? 90000 : -90000;
    if (cell) cell[0] = -200 + u, cell[1] = 3 - u, cell[2] = 2147480000;
    run(h, w, (void *)a, k, cell, bits, out);
    for (int i = 0; i < 6; i++) printf("%lld ", out[i]);
    if (cell) printf("%d %d %d ", cell[0], cell[1], cell[2]);
    printf("%lx %lx\\n", bits[1], bits[2]);
    free(k); free(cell); free(a);
  }
}
"""


def test_results_stay_the_same(run_c: RunC) -> None:
    made = pipeline.optimize(PROGRAM, Options()).text.decode()
    for name in ("s", "c", "t", "cell", "bits"):
        assert f" {name}_total" in made
    expected = run_c(PROGRAM, "-O1", name="original")
    assert run_c(made, "-O2", "-fopenmp", name="threads") == expected
    assert run_c(made, "-O1", "-fsanitize=undefined,address", "-fno-sanitize-recover", name="sanitized") == expected


def test_variables_have_none_where_threads_have_no_part() -> None:
    text = pipeline.optimize(PROGRAM, Options(parallel=False)).text.decode()
    assert " s_total" not in text
    assert "cell_total" in text
