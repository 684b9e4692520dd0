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


def test_types_that_are_no_part_of_pointers_need_none() -> None:
    source = source_of(BODIES["rows"], PARAMS.replace("unsigned char", "short")).replace(b"unsigned char", b"short")
    assert "_row = " not in optimize(source, Options()).text.decode()


def test_rows_are_not_read_where_the_loop_has_no_iteration() -> None:
    text = optimize(source_of(BODIES["rows"], PARAMS), Options()).text.decode()
    assert re.search(r"if \(m > 0\) \{\n *const unsigned char \*in_row", text)
