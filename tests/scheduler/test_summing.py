"""Products inside of other loops that sum up, and of operands that wait in scalars: where they get register tiles."""

from __future__ import annotations

import pytest

from scopt.options import Options
from tests.conftest import RunC
from tests.sources import optimize, source_of

CONVOLUTION = """for (i = 0; i < n; i++) for (j = 0; j < n; j++) for (int o = 0; o < m; o++) {
  float v = h[o];
  for (int p = 0; p < 3; p++) for (int q = 0; q < 3; q++) for (k = 0; k < m; k++)
    v += x[i + p][j + q][k] * w[o][p][q][k];
  y[i][j][o] = v > 0 ? v : 0; }"""
LAYERS = "int n, int m, float x[n + 2][n + 2][m], float w[m][3][3][m], float h[m], float y[n][n][m]"
MATRICES = "int n, int m, double a[n][n], double b[n][n], double c[n][n], double *r, double g"
TILE = "scopt_tile_0"


def text(body: str, params: str) -> str:
    return optimize(source_of(body, params=params), Options()).text.decode()


def test_the_innermost_of_several_sums_and_the_cells() -> None:
    found = text(CONVOLUTION, LAYERS)
    assert TILE in found
    within = found[found.index("for (long p = 0") :]
    assert within.index("for (long q") < within.index("for (long kt")


@pytest.mark.parametrize(
    "body",
    [
        # the operand is what the sums before have made
        CONVOLUTION.replace("x[i + p][j + q][k] *", "x[i + p][j + q][k] * y[i][j][k] *"),
        # few steps at a time
        CONVOLUTION.replace("k < m", "k < 3"),
        # each cell gets several columns' sums
        CONVOLUTION.replace("y[i][j][o] = v > 0 ? v : 0", "y[i][j][0] += v"),
    ],
    ids=["recurrence", "few", "one cell"],
)
def test_others_stay(body: str) -> None:
    assert TILE not in text(body, LAYERS)


# each step's product is the next one's operand
STEPS = "for (j = 0; j < n; j++) for (i = 0; i < n; i++) a[j][i] += c[i][j] / 64;"
OPERANDS = [
    "for (j = 0; j < n; j++) for (k = 0; k < n; k++) { double v = g * b[j][k];"
    " for (i = 0; i < n; i++) c[j][i] += v * a[k][i]; }",
    "for (i = 0; i < n; i++) for (j = i; j < n; j++) { double v = 0;"
    " for (k = 0; k < n; k++) v += (a[k][i] - r[i]) * (a[k][j] - r[j]); c[i][j] = c[j][i] = v / n; }",
]


@pytest.mark.parametrize("body", OPERANDS, ids=["operand", "sum"])
def test_a_scalar_of_each_iteration(body: str) -> None:
    found = text(body, MATRICES)
    assert TILE in found
    assert "v_all)[scopt_max(n, 1)] = __builtin_malloc(" in found


def test_iterations_one_after_the_other_share_the_cells() -> None:
    found = text(f"for (t = 0; t < m; t++) {{ {OPERANDS[0]} {STEPS} }}", MATRICES)
    assert TILE in found
    assert "v_all)[scopt_max(n, 1)] = __builtin_malloc(" in found


def test_no_memory_for_all_pairs() -> None:
    """What is compared and forgotten gets no cells: there is no array as large."""
    body = """for (i = 0; i < n; i++) { double best = 1e30;
      for (j = 0; j < n; j++) { double v = 0;
        for (k = 0; k < m; k++) v += (a[i][k] - b[j][k]) * (a[i][k] - b[j][k]);
        if (v < best) best = v; }
      r[i] = best; }"""
    assert "v_all" not in text(body, "int n, int m, double a[n][m], double b[n][m], double *r")


PROGRAM = f"""#include <stdio.h>
static float x[{{n}} + 2][{{n}} + 2][{{m}}], w[{{m}}][3][3][{{m}}], h[{{m}}], y[{{n}}][{{n}}][{{m}}];
static double a[{{n}}][{{n}}], b[{{n}}][{{n}}], c[{{n}}][{{n}}], r[{{n}}];
__attribute__((noinline)) static void layer({LAYERS}) {{{{
  int i, j, k;
#pragma scop
  {CONVOLUTION.replace("{", "{{").replace("}", "}}")}
#pragma endscop
}}}}
__attribute__((noinline)) static void products({MATRICES}) {{{{
  int i, j, k, t;
#pragma scop
  for (t = 0; t < m; t++) {{{{ {OPERANDS[0].replace("{", "{{").replace("}", "}}")} {STEPS} }}}}
#pragma endscop
#pragma scop
  {OPERANDS[1].replace("{", "{{").replace("}", "}}")}
#pragma endscop
}}}}
int main(void) {{{{
  unsigned seed = 1;
  for (unsigned k = 0; k < sizeof x / 4; k++) ((float *)x)[k] = (seed = seed * 1664525 + 1) % 97 * .37f - 11;
  for (unsigned k = 0; k < sizeof w / 4; k++) ((float *)w)[k] = (seed = seed * 1664525 + 1) % 89 * .41f - 12;
  for (int k = 0; k < {{n}}; k++) r[k] = k % 7;
  for (int k = 0; k < {{n}} * {{n}}; k++) a[0][k] = k % 23 * .3, b[0][k] = k % 29 * .7, c[0][k] = k % 5;
  layer({{n}}, {{m}}, x, w, h, y);
  products({{n}}, 3, a, b, c, r, .7);
  double sum = 0;
  for (int k = 0; k < {{n}} * {{n}} * {{m}}; k++) sum = sum * .99 + y[0][0][k];
  for (int k = 0; k < {{n}} * {{n}}; k++) sum = sum * .99 + c[0][k];
  printf("%a\\n", sum);
}}}}
"""


def test_results_stay_the_same(run_c: RunC) -> None:
    source = PROGRAM.format(n=29, m=53)
    made = optimize(source.encode(), Options()).text.decode()
    assert TILE in made
    flags = ("-O2", "-ffp-contract=off")
    assert run_c(made, *flags, "-fopenmp", name="made") == run_c(source, *flags, name="source")
