"""Rows that take each other's place: where they run along diagonals, what is left of them, and where they stay."""

from __future__ import annotations

import re
from functools import cache

import pytest

from scopt.options import Options
from scopt.poly.dependences import dependences
from scopt.scheduler.passes.rolling_rows import rolled
from tests.conftest import RunC
from tests.sources import optimize, scop_of, source_of

PARAMS = "int n, int m, int row[restrict n], int next[restrict n], int a[restrict m], int b[restrict n]"
# edit distances, in one row
SINGLE = """
for (i = 0; i < m; i++) {
  int before = row[0];
  row[0] = i + 1;
  for (j = 1; j < n; j++) {
    int above = row[j], best = before + (a[i] != b[j]);
    if (above + 1 < best) best = above + 1;
    if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
    row[j] = best;
    before = above;
  }
}"""
# and in two
TURNS = """
for (i = 0; i < m; i++) {
  next[0] = i + 1;
  for (j = 1; j < n; j++) {
    int best = row[j - 1] + (a[i] != b[j]);
    if (row[j] + 1 < best) best = row[j] + 1;
    if (next[j - 1] + 1 < best) best = next[j - 1] + 1;
    next[j] = best;
  }
  for (j = 0; j < n; j++) row[j] = next[j];
}"""
# paths through a grid
PATHS = """
for (i = 0; i < m; i++) {
  row[0] = row[0] + a[i];
  for (j = 1; j < n; j++) row[j] = (row[j] > row[j - 1] ? row[j] : row[j - 1]) + ((a[i] * b[j]) & 15);
}"""
# what is handed on in scalars alone
SCALARS = """
for (i = 0; i < m; i++) {
  int gap = -3, left = 0, before = 0;
  for (j = 0; j < n; j++) {
    int here = before + (a[i] == b[j] ? 5 : -4);
    gap = gap - 1 > left - 4 ? gap - 1 : left - 4;
    next[j] = next[j] - 1 > row[j] - 4 ? next[j] - 1 : row[j] - 4;
    here = here > gap ? here : gap;
    here = here > next[j] ? here : next[j];
    left = here > 0 ? here : 0;
    before = row[j];
    row[j] = left;
  }
}"""
# the best of all cells, of one row and of a whole table
BEST = SCALARS.replace("row[j] = left;", "row[j] = left; if (left > peak) { peak = left; at = i; to = j; }")
PEAK = f"int peak = 0, at = 0, to = 0; {BEST} next[0] = peak * 7 + at * 1001 + to * 13;"
TABLE = """
int table[200][200], peak = -5, odd = 0;
for (j = 0; j < 200; j++) table[0][j] = row[0] + j;
for (i = 1; i < 200; i++) table[i][0] = i;
for (i = 1; i < 200; i++)
  for (j = 1; j < 200; j++) {
    int here = table[i - 1][j - 1] + ((a[0] + 7 * i) % 4 == (b[0] + 5 * j) % 4 ? 3 : -3);
    if (table[i - 1][j] - 2 > here) here = table[i - 1][j] - 2;
    if (table[i][j - 1] - 2 > here) here = table[i][j - 1] - 2;
    table[i][j] = here < 0 ? 0 : here;
    if (table[i][j] > peak) peak = table[i][j];
    odd ^= table[i][j] & 1;
  }
row[0] = peak + odd;
"""
# common subsequences, in two rows of one array
FOLDED = """
int f[2][500];
for (j = 0; j < n; j++) { f[0][j] = row[j]; f[1][j] = next[j]; }
for (i = 1; i < m; i++)
  for (j = 1; j < n; j++) {
    if (a[i] == b[j]) f[i % 2][j] = f[(i - 1) % 2][j - 1] + 1;
    else f[i % 2][j] = f[(i - 1) % 2][j] > f[i % 2][j - 1] ? f[(i - 1) % 2][j] : f[i % 2][j - 1];
  }
for (j = 0; j < n; j++) { row[j] = f[0][j]; next[j] = f[1][j]; }"""
BITS = FOLDED.replace("(i - 1) % 2", "(i + 1) & 1").replace("i % 2", "i & 1")
AGAIN = BITS.replace("if (a", "f[i & 1][0] = i; if (a")
BEGUN = FOLDED.replace("  for (j = 1; j < n; j++) {", "{ f[i % 2][0] = i; for (j = 1; j < n; j++) {")
BEGUN = BEGUN.replace("  }\nfor", "  }}\nfor")
TWICE = f"for (t = 0; t < 3; t++) {{{TURNS} for (j = 0; j < n; j++) row[j] = row[j] / 2; }}"
# the second row is shorter than what is computed of the first one
SHORTER = TURNS.replace("for (j = 0; j < n; j++) row[j]", "for (j = 0; j < n - 3; j++) row[j]")
ALL = {"single": SINGLE, "turns": TURNS, "paths": PATHS, "scalars": SCALARS, "peak": PEAK, "twice": TWICE}
ALL |= {"folded": FOLDED, "bits": BITS, "begun": BEGUN}


@cache
def whole(body: str) -> str:
    """The file that becomes of a body."""
    return optimize(source_of(body, PARAMS), Options(eager=True)).text.decode()


def text(body: str) -> str:
    return whole(body).partition("#pragma scop\n")[2]


@pytest.mark.parametrize("body", ALL.values(), ids=ALL)
def test_rows_run_along_diagonals(body: str) -> None:
    made = text(body)
    assert "#pragma omp simd" in made
    # cells of rows that are left come in the order of columns
    assert re.search(r"(?:row|f)_last\[j \+ m - is\] = (?:row|f_folded)\[j\];|left_all\[j \+ m - is\] = ", made)


def test_tables_with_totals_run_along_diagonals_too() -> None:
    made = text(TABLE)
    assert re.search(r"if \(table_panel\[is - .*\]\[.*\] > peak_total_all\[j - is \+ 199\]\)", made)
    assert "odd_total_all[j - is + 199] ^= " in made
    assert "#pragma omp simd reduction(max: peak)" in made


def test_the_second_row_is_written_once() -> None:
    made = text(TURNS)
    ours = made.partition("if (!scopt_done)")[0]
    assert {line.strip() for line in ours.splitlines() if "next[" in line} == {"next[j] = row[j];"}
    assert "row_before[j + m - is] = row_above;" in made


@pytest.mark.parametrize(
    "body",
    [
        PATHS.replace("row[j - 1] : row", "row[j - 1] : 2 * row").replace("row[j - 1])", "row[j + 1])"),
        PATHS.replace("row[j - 1]", "b[j - 1]"),
        PATHS.replace("row[j - 1]", "row[0]"),
        TURNS.replace("next[j - 1] + 1", "b[j - 1] + 1"),
        "for (i = 0; i < m; i++) for (j = 1; j < n; j++) row[j] = row[j - 1] + a[i];",
        FOLDED.replace("% 2", "% 3").replace("f[2]", "f[3]"),
        AGAIN,
    ],
    ids=["next", "rows alone", "one cell for all", "vectors along rows", "cells alone", "three rows", "a cell again"],
)
def test_other_rows_stay(body: str) -> None:
    scop = scop_of(body, PARAMS)
    assert rolled(scop, dependences(scop)) is None or "_last" not in text(body)


@pytest.mark.parametrize("body", [*ALL.values(), SHORTER, TABLE, AGAIN], ids=[*ALL, "shorter", "table", "again"])
def test_all_arrays_are_left_as_they_were(body: str, run_c: RunC) -> None:
    source = source_of(body, PARAMS).decode()
    before = run_c(DRIVER.replace("KERNEL", source), "-O1", "-w", name="before")
    flags = ("-O1", "-w", "-fsanitize=address,undefined", "-fopenmp")
    assert run_c(DRIVER.replace("KERNEL", whole(body)), *flags, name="after") == before


DRIVER = """
#include <stdio.h>
#include <stdlib.h>
KERNEL
int main(void) {
  static const int sizes[] = {0, 1, 2, 5, 64, 70, 400};
  for (int x = 1; x < 7; x++)
    for (int y = 0; y < 7; y++) {
      int n = sizes[x], m = sizes[y];
      int *row = malloc(4 * n), *next = malloc(4 * n), *a = calloc(m + 1, 4), *b = malloc(4 * n);
      for (int k = 0; k < n; k++) row[k] = k, next[k] = 7 * k % 5, b[k] = k * k % 4;
      for (int k = 0; k < m; k++) a[k] = k * 5 % 4;
      f(n, m, row, next, a, b);
      unsigned long hash = 5381;
      for (int k = 0; k < n; k++) hash = (hash * 33 + row[k]) * 33 + next[k];
      printf("%d %d %lu\\n", n, m, hash);
      free(row), free(next), free(a), free(b);
    }
}
"""
