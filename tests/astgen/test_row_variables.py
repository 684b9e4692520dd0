"""Pointers to rows in front of loops that write characters."""

from __future__ import annotations

import re

import pytest

from scopt.options import Options
from tests.conftest import RunC
from tests.fuzz.harness import without_thresholds
from tests.sources import optimize, source_of

PARAMS = "int n, int m, unsigned char *const *in, const signed char *pick, unsigned char **out"
BODIES = {
    "rows": "for (i = 0; i < n; i++) { unsigned char *o = out[i]; const unsigned char *s = in[i];"
    " for (j = 0; j < m; j++) o[j] = (s[j] >> 1) + 3; }",
    "rows beside each other": "for (i = 1; i < n; i++) for (j = 1; j < m; j++)"
    " out[i][j] = (in[i - 1][j] + in[i][j - 1] + in[i][j]) / 3;",
    "lookups": "for (i = 0; i < n; i++) for (j = 0; j < m; j++) out[i][j] = pick[in[i][j] & 63];",
    "under conditions": "for (i = 0; i < n; i++) for (j = 0; j < m; j++) if (in[i][j] > 40) out[i][j] = in[i][j] - 40;",
}
PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  unsigned char *in[40], *out[40]; signed char pick[64];
  for (int i = 0; i < 64; i++) pick[i] = i * 37;
  for (int i = 0; i < 40; i++) {
    in[i] = malloc(90), out[i] = malloc(90);
    for (int j = 0; j < 90; j++) in[i][j] = i * 31 + j * 57, out[i][j] = i ^ j;
  }
  f(40, 90, in, pick, out);
  f(40, 0, 0, 0, 0);
  unsigned sum = 0;
  for (int i = 0; i < 40; i++) for (int j = 0; j < 90; j++) sum = sum * 33 + out[i][j];
  printf("%u\\n", sum);
  return 0;
}
"""


@pytest.mark.parametrize("name", BODIES)
def test_loops_follow_variables(name: str, run_c: RunC) -> None:
    source = source_of(BODIES[name], PARAMS)
    text = without_thresholds(optimize(source, Options()).text.decode())
    assert "unsigned char *out_row = out[i];" in text or name == "under conditions"
    assert "const unsigned char *in_row = in[i" in text
    ours = run_c(text + PROGRAM, "-O2", "-fopenmp", "-ffp-contract=off", "-w", name="ours")
    assert ours == run_c(source.decode() + PROGRAM, "-O2", "-ffp-contract=off", "-w", name="theirs")


PICKED = """for (i = 0; i < n; i++) { const signed char *row = cost[in[i]]; int s = 0;
  for (j = 0; j < m; j++) s += row[a[j]] * j;
  out[i] = s; }"""
PICKED_PARAMS = "int n, int m, const unsigned char *in, const unsigned char *a, signed char cost[256][64], int *out"
PICKED_PROGRAM = """
#include <stdio.h>
int main(void) {
  static unsigned char in[99], a[77]; static signed char cost[256][64]; static int out[99];
  for (int i = 0; i < 99; i++) in[i] = i * 37, a[i % 77] = i * 7 % 64;
  for (int i = 0; i < 256 * 64; i++) cost[i / 64][i % 64] = i * 31;
  f(99, 77, in, a, cost, out);
  unsigned sum = 0;
  for (int i = 0; i < 99; i++) sum = sum * 33 + out[i];
  printf("%u\\n", sum);
  return 0;
}
"""


def test_rows_that_data_pick_have_variables_where_data_look_up_in_them(run_c: RunC) -> None:
    source = source_of(PICKED, PICKED_PARAMS)
    text = without_thresholds(optimize(source, Options()).text.decode())
    assert "const signed char *cost_row = cost[row_at];" in text
    assert "cost_row[a[j]]" in text
    ours = run_c(text + PICKED_PROGRAM, "-O2", "-fopenmp", "-w", name="ours")
    assert ours == run_c(source.decode() + PICKED_PROGRAM, "-O2", "-w", name="theirs")


def test_rows_that_the_loop_picks_anew_have_none() -> None:
    body = PICKED.replace("s += row", "{ k = in[j] & 7; s += cost[k][a[j]] + row").replace("* j;", "* j; }")
    text = optimize(source_of(body, PICKED_PARAMS), Options()).text.decode()
    assert "= cost[k];" not in text


def test_types_that_are_no_part_of_pointers_need_none() -> None:
    source = source_of(BODIES["rows"], PARAMS.replace("unsigned char", "short")).replace(b"unsigned char", b"short")
    assert "_row = " not in optimize(source, Options()).text.decode()


def test_rows_are_not_read_where_the_loop_has_no_iteration() -> None:
    text = optimize(source_of(BODIES["rows"], PARAMS), Options()).text.decode()
    assert re.search(r"if \(m > 0\) \{\n *const unsigned char \*in_row", text)
