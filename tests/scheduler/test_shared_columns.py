"""Register tiles of few rows: threads share the columns."""

from __future__ import annotations

import re

import pytest

from scopt.options import Options
from tests.conftest import RunC
from tests.same_results import check_same_results
from tests.sources import optimize, source_of

# The bands of a filter bank.
BANK = """
  for (int b = 0; b < {bands}; b++)
    for (int i = 0; i < n; i++) {{
      float sum = 0.0f;
      for (int k = 0; k < m; k++)
        sum += h[b][k] * x[i + k];
      y[b][i] = sum;
    }}
"""
PARAMS = "int n, int m, float x[n + m], float h[{bands}][m], float y[{bands}][n]"
# The loop around the packed rows, and what stands in front of it.
SHARED = re.compile(r"#pragma omp parallel for [^\n]*\n *for \(long (\w+) = 0; \w+ < (\w+); \w+ \+= (\d+)\)")


def source(bands: int) -> bytes:
    return source_of(BANK.format(bands=bands), PARAMS.format(bands=bands))


@pytest.mark.parametrize(("bands", "shared"), [(24, "columns"), (500, "rows")])
def test_columns_are_shared_where_rows_are_few(bands: int, shared: str) -> None:
    text = optimize(source(bands)).text.decode()
    assert "scopt_tile_0_0(" in text
    ends = {end for _, end, step in SHARED.findall(text) if int(step) > 1}
    assert ends == ({"n"} if shared == "columns" else {"500"})


@pytest.mark.parametrize("sanitized", [False, True])
def test_results_are_the_same(run_c: RunC, sanitized: bool) -> None:
    main = """
static float x[3000], h[24][40], y[24][2900];
int main(void) {
  for (int i = 0; i < 3000; i++) x[i] = i % 37 / 7.0f;
  for (int b = 0; b < 24; b++) for (int k = 0; k < 40; k++) h[b][k] = (b * k) % 11 / 3.0f;
  f(2900, 40, x, h, y);
  for (int b = 0; b < 24; b++) for (int i = 0; i < 2900; i += 7) printf("%a ", y[b][i]);
  return 0;
}
"""
    program = "#include <stdio.h>\n" + source(24).decode() + main
    made = optimize(program.encode(), Options()).text.decode()
    assert "scopt_tile_0_0(" in made
    check_same_results(run_c, program, made, sanitized=sanitized)
