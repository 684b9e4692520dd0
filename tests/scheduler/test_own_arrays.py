"""Arrays that iterations share as memory alone: where threads get their own, what is left, and where they stay."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from scopt.machine import Machine
from scopt.options import Options
from scopt.poly.dependences import dependences
from scopt.rewritten_scop import rewriting_fault
from scopt.scheduler.passes.expansion import Expansion
from scopt.scheduler.passes.own_arrays import own_arrays
from tests.conftest import RunC
from tests.sources import optimize, scop_of, source_of

PARAMS = (
    "int n, int m, unsigned char x[restrict 400][600], unsigned char c[restrict 3][600], "
    "unsigned char y[restrict 400][600], int best[restrict 400], int last[restrict 600]"
)
# little work is enough
SOON = replace(Machine(), fork_nanoseconds=1)
ROWS = """
for (i = 0; i < n; i++) {
  int least = 1 << 30, at = 0;
  for (j = 0; j < m; j++) {
    c[0][j] = x[i][j];
    c[1][j] = (unsigned char)(x[i][j] + i);
    c[2][j] = (unsigned char)(3 * x[i][j]);
  }
  for (k = 0; k < 3; k++) {
    int s = 0;
    for (j = 0; j < m; j++)
      s += c[k][j];
    if (s < least) {
      least = s;
      at = k;
    }
  }
  best[i] = at;
  for (j = 0; j < m; j++)
    y[i][j] = c[at][j];
}"""
# a cell is left by the last iteration that writes it
SHORTER = """
for (i = 0; i < n; i++) {
  for (j = i; j < m; j++)
    last[j] = x[i][j] * 3;
  for (j = i + 1; j < m; j++)
    y[i][j] = (unsigned char)(last[j] + last[j - 1]);
}"""

# a histogram for each pair of columns: in an array of one's own, other than in a table, nothing is added up
PAIRS = """
for (i = 0; i < n; i++)
  for (j = 0; j < i; j++) {
    for (k = 0; k < 16; k++)
      last[k] = 0;
    for (k = 0; k < m; k++)
      last[(x[i][k] + x[j][k]) / 32]++;
    best[i] += last[3];
  }"""

# data say which cells get other values, of those that have all got one
UPDATED = """
for (i = 0; i < n; i++) {
  for (j = 0; j < 600; j++)
    last[j] = x[i][j];
  for (k = 0; k < m; k++)
    last[x[i][k]] = (last[x[i][k]] * 3 + k) % 256;
  for (j = 0; j < 600; j++)
    y[i][j] = (unsigned char)last[j];
}"""

# with few columns, the only ones for which no data say what is left, nothing writes the flags
FLAGGED = """
for (i = 0; i < n; i++) {
  for (j = 0; j < m; j++)
    last[j] = x[i][j];
  for (j = 300; j < m; j++)
    if (x[i][j] > 3)
      c[0][j] = 1;
  for (j = 0; j < m; j++)
    y[i][j] = (unsigned char)last[j];
}"""
# any long row leaves the array, so that only short ones are left, in which nothing is done
OUTSIDE = """
for (i = 0; i < n; i++)
  for (j = 5; j < m; j++) {
    if (x[i][j] > 3)
      c[0][j + 600] = 1;
    y[i][j] = x[i][j];
  }"""

# blocks that straight code, which is a statement, sets where iterators say so, the rest beside; the first one anyway
BLOCKS = """
for (i = 0; i < n; i++) {
  for (k = 0; k < m; k++) {
    double v = x[i][k], w[64];
    WEIGHTS
    for (j = 0; j < 2; j++) {
      d[k][j] = w[j];
      if (k < m - 1)
        e[k + 1][j] = 3 * w[1 - j];
    }
  }
  for (j = 0; j < 2; j++)
    e[0][j] = 0.5;
  for (j = 1; j < 2; j++)
    d[0][j] *= d[0][j - 1];
  for (k = 1; k < m; k++)
    for (j = 0; j < 2; j++)
      d[k][j] = (d[k][j] + e[k][j]) / (d[k - 1][j] + 2);
  for (k = 0; k < m; k++)
    z[i][k] = d[k][1];
}""".replace("WEIGHTS", " ".join(f"w[{q}] = v * {q + 1};" for q in range(64)))
BLOCK_PARAMS = "int n, int m, double x[restrict 400][600], double z[restrict 400][600], double d[restrict 600][2], "
BLOCK_PARAMS += "double e[restrict 600][2]"


def text(body: str) -> str:
    return optimize(source_of(body, PARAMS), Options(machine=SOON)).text.decode().partition("#pragma scop\n")[2]


def has_own(body: str) -> bool:
    scop = scop_of(body, PARAMS)
    return own_arrays(scop, dependences(scop), SOON) is not None


def test_threads_have_arrays_of_their_own_where_data_say_what_is_read() -> None:
    made = text(ROWS)
    head = r"#pragma omp parallel for.*\n *for \(long i = 0; i < n; i\+\+\) \{\n"
    assert re.search(rf"{head} *unsigned char c_own\[3\]\[600\];", made)
    assert "y[i][j] = c_own_row[j];" in made
    assert "c[c_0][c_1] = c_own[c_0][c_1];" in made
    assert "m <= 600" in made


def test_what_is_counted_anew_in_each_iteration_needs_no_table() -> None:
    made = text(PAIRS)
    assert re.search(r"i\+\+\) \{\n *int last_own\[600\];", made)
    assert re.search(r"\n *last_own\[\(x\[i\]\[k\] \+ x\[j\]\[k\]\) / 32\]\+\+;", made)


def test_blocks_that_iterators_alone_leave_unwritten_are_their_own() -> None:
    scop = scop_of(BLOCKS, BLOCK_PARAMS)
    found = own_arrays(scop, dependences(scop), SOON)
    assert found is not None
    assert found.names == {"d_own", "e_own"}
    assert rewriting_fault(scop, Expansion(found.scop, {})) is None
    made = optimize(source_of(BLOCKS, BLOCK_PARAMS), Options(machine=SOON)).text.decode()
    assert "double d_own[600][2];" in made
    scop = scop_of(BLOCKS.replace("k < m - 1)", "x[i][k] > 0)"), BLOCK_PARAMS)
    assert own_arrays(scop, dependences(scop), SOON) is None  # but not where data do


@pytest.mark.parametrize(
    "body",
    [
        ROWS.replace("at = k;", "at = k + 1;"),
        ROWS.replace("c[1][j] =", "if (x[i][j] > 3) c[1][j] ="),
        ROWS.replace("c[2][j] =", "c[2][j] = c[2][j] +"),
        ROWS.replace("best[i] = at", "best[0] += best[0] ^ at"),
        "for (i = 0; i < n; i++) for (j = 0; j < m; j++) last[j] = last[0] * 0 + x[0][j];",
        "for (t = 0; t < n; t++) for (j = 0; j < m; j++) last[j] = x[0][j] * t;",
    ],
    ids=[
        "data may leave the array",
        "perhaps not written",
        "older values",
        "something else is handed on",
        "read before it is written",
        "the same again and again",
    ],
)
def test_other_iterations_share_them(body: str) -> None:
    assert body != ROWS
    assert not has_own(body)


def test_each_cell_is_left_by_the_last_iteration_that_writes_it() -> None:
    scop = scop_of(SHORTER, PARAMS)
    found = own_arrays(scop, dependences(scop), SOON)
    assert found is not None
    assert rewriting_fault(scop, Expansion(found.scop, {})) is None
    copies = [one for one in found.scop.statements if one.name.endswith("_last")]
    every = tuple(one for one in found.scop.statements if one not in copies)
    assert rewriting_fault(scop, Expansion(replace(found.scop, statements=every), {})) is not None


def test_data_may_say_which_cells_are_written_among_those_that_are_anyway() -> None:
    scop = scop_of(UPDATED, PARAMS)
    found = own_arrays(scop, dependences(scop), SOON)
    assert found is not None
    assert rewriting_fault(scop, Expansion(found.scop, {})) is None
    copies = [one for one in found.scop.statements if one.name.endswith("_last")]
    every = tuple(one for one in found.scop.statements if one not in copies)
    assert rewriting_fault(scop, Expansion(replace(found.scop, statements=every), {})) is not None
    shared = tuple(scop.statement("S1") if one.name == "S1" else one for one in found.scop.statements)
    assert rewriting_fault(scop, Expansion(replace(found.scop, statements=shared), {})) is not None
    assert not has_own(UPDATED.replace("j = 0; j < 600", "j = 1; j < 600"))


def test_arrays_that_nothing_writes_where_others_are_own_stay() -> None:
    scop = scop_of(FLAGGED, PARAMS)
    found = own_arrays(scop, dependences(scop), SOON)
    assert found is not None
    assert found.names == {"last_own"}
    assert rewriting_fault(scop, Expansion(found.scop, {})) is None
    assert not has_own(OUTSIDE)


def test_arrays_are_left_as_they_were(run_c: RunC) -> None:
    main = """
#include <stdio.h>
static unsigned char x[400][600], c[3][600], y[400][600];
static int best[400], last[600];
int main(void) {
  for (int i = 0; i < 400; i++)
    for (int j = 0; j < 600; j++)
      x[i][j] = (unsigned char)(i * 7 + j * j * 3);
  f(97, 600, x, c, y, best, last);
  unsigned long h = 0;
  for (int i = 0; i < 400; i++) {
    h = h * 31 + best[i];
    for (int j = 0; j < 600; j++)
      h = h * 31 + y[i][j] + (i < 3 ? c[i][j] : 0) + (i ? 0 : last[j]);
  }
  printf("%lu\\n", h);
  return 0;
}
"""
    source = source_of(ROWS + UPDATED.replace("y[i][j] =", "y[i][j] ^="), PARAMS) + main.encode()
    made = optimize(source, Options(machine=SOON)).text
    assert b"c_own" in made
    assert b"last_own" in made
    before = run_c(source, "-O1", "-w", name="before")
    assert run_c(made, "-O1", "-w", "-fopenmp", name="after") == before
