"""Searches that leave out blocks: which loops do, that results stay the same, and that faults are refused."""

from __future__ import annotations

import pytest

from scopt import ir, pipeline
from scopt.astgen.passes.eager import Sure
from scopt.ir.scop import Scop, Statement
from scopt.options import Options
from scopt.poly.searches import tests_of as asking_of
from tests.conftest import RunC
from tests.same_results import check_same_results
from tests.sources import scop_of


def asked_of(scop: Scop, only: Statement, moving: set[str]) -> tuple[Statement, ...] | None:
    def sure(statement: Statement, node: ir.Node) -> bool:
        return Sure(scop, statement).may_be_evaluated(node)

    return asking_of(scop, "found", [(only, frozenset(moving))], sure)


PARAMS = (
    "int n, int m, int a[1000], int b[1000], double x[1000], float y[1000], int p[1000], int best, int at, double top, "
    "double low, const unsigned char c[1000], unsigned char least"
)


# The best ones so far, in their order.
INSERTION = "int k = m - 1; while (k > 0 && y[k - 1] > x[i]) { y[k] = y[k - 1]; k--; } y[k] = x[i];"


def text_of(loop: str) -> str:
    region = f"#pragma scop\n{loop}\n#pragma endscop\n"
    source = f"void f({PARAMS}, int *out)\n{{\n  int i;\n{region}  out[0] = best + at + top;\n}}\n"
    return pipeline.optimize(source.encode(), Options(), file="in.c").text.decode()


@pytest.mark.parametrize(
    ("loop", "asked"),
    [
        ("for (i = 0; i < n; i++) if (a[i] < best) { best = a[i]; at = i; }", "found |= a[i] < best;"),
        ("for (i = 0; i < n; i++) if (top < x[i]) top = x[i];", "found |= top < x[i];"),
        ("for (i = 0; i < n; i++) if (y[i] > y[at]) at = i;", "found |= y[i] > y[at];"),
        ("for (i = m; i < n; i++) if (fabs(x[i] - y[i]) > top) { top = fabs(x[i] - y[i]); at = i; }", "> top;"),
        ("for (i = 0; i < n; i++) { double d = x[i] * x[i]; if (d < top) { top = d; at = i; } }", "found |= d < top;"),
        (
            "for (i = 0; i < n; i++) { if (x[i] > top) top = x[i]; if (a[i] < best) { best = a[i]; at = i; } }",
            "x[i] > top;",
        ),
        ("for (i = 0; i < n; i++) if (a[i] <= best) { best = a[i]; at = i; }", "found |= a[i] <= best;"),
        ("for (i = 0; i < n; i++) if (b[i] > 3 && x[i] >= top) { top = x[i]; at = i; }", "b[i] > 3 && x[i] >= top;"),
        ("for (i = 0; i < n; i++) top = x[i] > top ? x[i] : top;", "found |= x[i] > top;"),
        ("for (i = 0; i < n; i++) low = low <= x[i] ? low : x[i];", "found |= !(low <= x[i]);"),
        (
            "for (i = 0; i < n; i++) { if (x[i] > top) { low = top; top = x[i]; } else if (x[i] > low) low = x[i]; }",
            "found |= (x[i] > top) | (x[i] > low);",
        ),
        (
            "for (i = 0; i < n; i++) { if (x[i] > top) top = x[i]; double d = top - x[i]; if (d > low) low = d; }",
            "d = top - x[i];",
        ),
        (f"for (i = 0; i < n; i++) if (x[i] < y[m - 1]) {{ {INSERTION} }}", "found |= x[i] < y[m - 1];"),
    ],
)
def test_searches_ask_first(loop: str, asked: str) -> None:
    text = text_of(loop)
    assert "int found = 0;" in text
    assert asked in text
    assert "if (found)" in text


@pytest.mark.parametrize(
    "loop",
    [
        "for (i = 0; i < n; i++) if (a[i] < best) best = a[i];",  # compilers make vectors of that
        "for (i = 0; i < n; i++) if (x[i] > 3) { at = i; best++; }",  # that may be often so
        "for (i = 0; i < n; i++) if (c[i] <= least) { least = c[i]; at = i; }",  # equal again and again
        "for (i = 0; i < n; i++) if (a[i] < best && b[i] > 3) { best = a[i]; at = i; }",
        "for (i = 0; i < n; i++) if (a[i] < best) { best = a[i]; at = i; } else at = 3;",
        "for (i = 0; i < n; i++) if (a[i] - best < 3) { best = a[i]; at = i; }",  # might overflow, asked early
        "for (i = 0; i < n; i++) if (a[i] < best) { best = a[i]; a[at] = i; at = i; }",  # what is compared, changes
        "for (i = 0; i < n; i++) { if (a[i] < best) { best = a[i]; at = i; } b[i] = best; }",
        "for (i = 0; i < n; i++) { if (a[i] < best) { best = a[i]; at = i; } best++; }",
        "for (i = 1; i < n; i++) if (x[i] > x[at + 1]) at = i;",
        "for (i = 0; i < n; i++) if (x[p[i]] > top) { top = x[p[i]]; at = i; }",  # gathered
        "for (i = 0; i < n; i++) if (exp(x[i]) > top) { top = exp(x[i]); at = i; }",  # called twice
        "for (i = 0; i < 100; i++) if (x[i] > top) { top = x[i]; at = i; }",
    ],
)
def test_others_do_not(loop: str) -> None:
    assert "found" not in text_of(loop)


def test_what_is_known_is_not_looked_at_elsewhere() -> None:
    """Nothing that the loop changes may be read by its conditions, but for what they compare."""
    scop = scop_of("for (i = 1; i < n; i++) if (a[i - 1] < a[0]) a[0] = a[i - 1];", "int n, int a[1000]")
    (only,) = scop.statements
    assert asked_of(scop, only, {"i"}) is None
    scop = scop_of("for (i = 1; i < n; i++) if (b[i - 1] < a[0]) a[0] = b[i - 1];", "int n, int a[1000], int b[1000]")
    (only,) = scop.statements
    made = asked_of(scop, only, {"i"})
    assert made is not None
    assert ir.printing.CPrinter().visit(made[0].body) == "found |= b[i - 1] < a[0]"
    assert asked_of(scop, only, {"i", "a"}) is None


PROGRAM = """#include <math.h>
#include <stdio.h>
#include <stdlib.h>
static void run(int h, int w, double x[restrict h][w], const int a[restrict], double *restrict v, int *restrict out)
{
  int at = -1, row = -1, least = a[0], where = 0, far = 0;
  double top = v[0], lo = v[0], near = 1e300;
#pragma scop
  for (int r = 0; r < h; r++)
    for (int c = 0; c < w; c++)
      if (x[r][c] > top) { top = x[r][c]; row = r; at = c; }
#pragma endscop
#pragma scop
  for (int i = 1; i < h * w; i++) if (a[i] < least) { least = a[i]; where = i; }
#pragma endscop
#pragma scop
  for (int i = 1; i < h * w; i++) if (a[i] > a[far]) far = i;
#pragma endscop
#pragma scop
  for (int c = 0; c < w; c++) { if (x[h - 1][c] < lo) lo = x[h - 1][c]; if (x[0][c] > v[1]) v[1] = x[0][c]; }
#pragma endscop
#pragma scop
  for (int r = 0; r < h; r++) {
    double best = x[r][0];
    int index = 0;
    for (int c = 0; c < w; c++) {
      double d = (x[r][c] - 0.5) * (x[r][c] - 0.5);
      if (d < best) { best = d; index = c; }
    }
    out[r] = index;
    v[2] += best;
  }
#pragma endscop
  int last = 0, free = -1;
  double first = v[0], second = v[0], peak = v[0], fall = 0.0, some = v[0], low = v[0];
#pragma scop
  for (int i = 0; i < w; i++) if (x[0][i] >= x[0][last]) last = i;
#pragma endscop
  double list[5] = {1e300, 1e300, 1e300, 1e300, 1e300};
#pragma scop
  for (int i = 0; i < w; i++)
    if (x[0][i] < list[5 - 1]) {
      int k = 4;
      while (k > 0 && list[k - 1] > x[0][i]) { list[k] = list[k - 1]; k--; }
      list[k] = x[0][i];
    }
#pragma endscop
  v[2] += list[0] + list[1] * list[2] / list[3] + list[4];
#pragma scop
  for (int i = 0; i < w; i++) if (a[i] & 1 && x[0][i] < some) { some = x[0][i]; free = i; }
#pragma endscop
#pragma scop
  for (int i = 0; i < w; i++) {
    if (x[h - 1][i] > first) { second = first; first = x[h - 1][i]; }
    else if (x[h - 1][i] > second) second = x[h - 1][i];
  }
#pragma endscop
#pragma scop
  for (int i = 0; i < w; i++) {
    peak = x[0][i] > peak ? x[0][i] : peak;
    double d = peak - x[0][i];
    if (d > fall) fall = d;
  }
#pragma endscop
#pragma scop
  for (int i = 0; i < w; i++) low = low <= x[0][i] ? low : x[0][i];
#pragma endscop
  printf("%d %d %a %a %a %a %a %a ", last, free, first, second, peak, fall, some, low);
  printf("%d %d %d %d %d %a %a %a ", at, row, least, where, far, top, lo, near);
}
int main(void)
{
  int sizes[][2] = {{1, 1}, {1, 63}, {2, 64}, {3, 65}, {2, 193}, {3, 1000}, {5, 4000}};
  for (int u = 0; u < 35; u++) {
    int h = sizes[u % 7][0], w = sizes[u % 7][1], *a = malloc(4 * h * w), *out = malloc(4 * h), kind = u / 7;
    double *x = malloc(8 * h * w), v[3] = {kind == 1 ? 0.0 : kind == 2 ? NAN : -1.0, -2.0, 0.0};
    unsigned long z = u * 77 + 1;
    for (int i = 0; i < h * w; i++) {
      z = z * 6364136223846793005u + 1442695040888963407u;
      a[i] = kind == 3 ? i / 3 : kind == 4 ? -i : (int)(z >> 40);
      x[i] = kind == 3 ? i / 2 : kind == 4 ? (i & 1 ? -0.0 : 0.0) : (double)(z >> 44) / 1000.0;
      if (kind == 1 && z % 7 == 0) x[i] = NAN;
      if (kind == 2) x[i] = z % 3 ? -0.0 : 0.0;
    }
    run(h, w, (void *)x, a, v, out);
    printf("%a %a", v[1], v[2]);
    for (int r = 0; r < h; r++) printf(" %d", out[r]);
    printf("\\n");
    free(a); free(out); free(x);
  }
}
"""


@pytest.mark.parametrize("sanitized", [False, True])
def test_results_stay_the_same(run_c: RunC, sanitized: bool) -> None:
    made = pipeline.optimize(PROGRAM, Options()).text.decode()
    assert made.count("int found = 0;") >= 10
    check_same_results(run_c, PROGRAM, made, sanitized=sanitized)


def test_unmarked_searches_gain() -> None:
    source = """void f(int n, const float *x, int *out) {
  float top = x[0];
  int at = 0;
  for (int i = 1; i < n; i++) if (x[i] > top) { top = x[i]; at = i; }
  *out = at;
}
"""
    text = pipeline.optimize(source.encode(), Options(autodetect=True), file="in.c").text.decode()
    assert "if (found)" in text
