"""Pointers to rows that data pick: tables' cells take their places."""

from __future__ import annotations

import pytest

from scopt.options import Options
from tests.conftest import RunC
from tests.fuzz.harness import without_thresholds
from tests.sources import optimize, scop_of, source_of

PARAMS = "int n, int m, int pick[n], int other[m], float table[], float rows[9][40], float out[n]"
SUMS = """for (i = 0; i < n; i++) { const float *row = %s; float sum = 0;
  for (j = 0; j < m; j++) sum += row[%s] * j;
  out[i] = sum; }"""
PROGRAM = """
#include <stdio.h>
int main(void) {
  static int pick[200], other[40]; static float table[360], rows[9][40], out[200];
  for (int i = 0; i < 200; i++) pick[i] = i * 7 % 9;
  for (int i = 0; i < 360; i++) table[i] = rows[i / 40][i % 40] = i * 31 % 57;
  f(200, 40, pick, other, table, rows, out);
  double sum = 0;
  for (int i = 0; i < 200; i++) sum = sum * 0.9 + out[i];
  printf("%.17g\\n", sum);
  return 0;
}
"""


@pytest.mark.parametrize("row", ["table + pick[i] * m", "rows[pick[i]]", "&rows[pick[i]][0]", "&table[pick[i] * m]"])
def test_a_row_that_data_pick_is_a_row_of_its_table(row: str, run_c: RunC) -> None:
    assert len(scop_of(SUMS % (row, "j"), PARAMS).statements) == 4
    source = source_of(SUMS % (row, "j"), PARAMS)
    text = without_thresholds(optimize(source, Options()).text.decode())
    assert "pragma omp parallel for" in text
    ours = run_c(text + PROGRAM, "-O2", "-fopenmp", "-ffp-contract=off", name="ours")
    assert ours == run_c(source.decode() + PROGRAM, "-O2", "-ffp-contract=off", name="theirs")


def test_cells_that_data_pick_too(run_c: RunC) -> None:
    source = source_of(SUMS % ("rows[pick[i]]", "other[j]"), PARAMS)
    text = without_thresholds(optimize(source, Options()).text.decode())
    assert "row_at" in text
    ours = run_c(text + PROGRAM, "-O2", "-fopenmp", "-ffp-contract=off", name="ours")
    assert ours == run_c(source.decode() + PROGRAM, "-O2", "-ffp-contract=off", name="theirs")


def test_others_stay_pointers() -> None:
    result = optimize(source_of(SUMS % ("rows[pick[i] + (int)out[0]++]", "j"), PARAMS), Options())
    assert "row_at" not in result.text.decode()
