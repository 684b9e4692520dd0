"""Rows of strips that are copied to their buffers, and back, in blocks that a function turns."""

from __future__ import annotations

import pytest

from scopt.options import Options
from tests.conftest import RunC
from tests.sources import optimize

PROGRAM = """#include <stdio.h>
#include <math.h>
#define T {type}
static T x[{n}][{m}], y[{n}][{m}], last[{n}];
static void rows(int n, int m, T x[n][m], T y[n][m], T last[n]) {{
#pragma scop
  for (int i = 0; i < n; i++) {{
    T s = 0;
    for (int k = 0; k < m; k++) {{
      T z = fmin{f}(x[i][k] * x[i][k] + (T)0.3, (T)0.9) / (1 + s * s);
      y[i][k] = z;
      s = (T)0.5 * s + fmax{f}(z, (T)0.2) * z;
    }}
    last[i] = s;
  }}
#pragma endscop
}}
int main(void) {{
  double sum = 0;
  for (int k = 0; k < {n} * {m}; k++) x[k / {m}][k % {m}] = k * 31 % 41 / (T)40;
  rows({n}, {m}, x, y, last);
  for (int k = 0; k < {n} * {m}; k++) sum = sum * .99 + y[k / {m}][k % {m}] + last[k / {m}];
  printf("%a\\n", sum);
}}
"""


@pytest.mark.parametrize("type", ["float", "double"])
def test_results_stay_the_same(type: str, run_c: RunC) -> None:
    # fewer rows and columns than a block has, and some more than whole ones
    source = PROGRAM.format(type=type, f="f" if type == "float" else "", n=43, m=77)
    made = optimize(source.encode(), Options()).text.decode()
    assert "scopt_turn_0_0(scopt_min(32, n - rowt)" in made
    assert "&y_rows[thread][columnt][0])" in made
    flags = ("-O2", "-ffp-contract=off", "-march=native", "-lm")
    assert run_c(made, *flags, name="made") == run_c(source, *flags, name="source")
