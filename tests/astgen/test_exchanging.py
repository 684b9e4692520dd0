"""Cells that are exchanged where they aren't in order: which statements lose their branch, and that results stay."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from scopt import ir, pipeline
from scopt.astgen.passes.exchanging import exchange, without_branch
from scopt.check.exchanged_cells import exchanges_the_same
from scopt.ir.from_pycparser import parse_c
from scopt.options import Options
from tests.conftest import RunC
from tests.sources import scop_of

PARAMS = "int n, int x[1000], int y[1000], unsigned u[1000], double r[1000], double p[9][99]"
LOOP = "for (i = 0; i + 1 < n; i += 2) {}"


def made_of(update: str, *, marked: bool = True) -> str:
    scop = replace(scop_of(LOOP.format(update), PARAMS), marked=marked)
    made = without_branch(scop, scop.statement("S0"))
    return ir.printing.CPrinter().visit(made.body) if made is not None else ""


@pytest.mark.parametrize(
    ("update", "least"),
    [
        (
            "if (x[i] > x[i + 1]) { int t = x[i]; x[i] = x[i + 1]; x[i + 1] = t; }",
            "x[i] = (t > x[i + 1]) ? (x[i + 1]) : (t)",
        ),
        ("if (x[i + 1] <= x[i]) { int t = x[i]; x[i] = x[i + 1]; x[i + 1] = t; }", "(x[i + 1] <= t) ?"),
        (
            "if (r[i] < r[i + 1]) { double t = r[i + 1]; r[i + 1] = r[i]; r[i] = t; }",
            "r[i + 1] = (r[i] < t) ? (r[i]) : (t)",
        ),
        ("if (x[i] > y[i]) { int t = x[i]; x[i] = y[i]; y[i] = t; }", "y[i] = (t > y[i]) ? (t) : (y[i])"),
    ],
)
def test_exchanges(update: str, least: str) -> None:
    assert least in made_of(update)
    assert not made_of(update, marked=False)  # perhaps they are constants, in order


@pytest.mark.parametrize(
    "update",
    [
        "if (x[i] > x[i + 1]) { int t = x[i]; x[i] = x[i + 1]; x[i + 1] = t + 1; }",
        "if (x[i] > x[i + 1]) { int t = x[i]; x[i] = x[i + 1]; x[i + 2] = t; }",
        "if (x[i] > 3) { int t = x[i]; x[i] = x[i + 1]; x[i + 1] = t; }",
        "if (x[i] != x[i + 1]) { int t = x[i]; x[i] = x[i + 1]; x[i + 1] = t; }",
        "if (x[i] > x[i + 1]) { short t = x[i]; x[i] = x[i + 1]; x[i + 1] = t; }",
        "if (x[i] > u[i]) { int t = x[i]; x[i] = u[i]; u[i] = t; }",
        "if (x[i] > x[i + 1]) { int t = x[i]; x[i] = x[i + 1]; x[i + 1] = t; } else x[i] = 0;",
    ],
)
def test_others_stay_as_they_are(update: str) -> None:
    assert not made_of(update)


def body(text: str) -> ir.Node:
    (only,) = parse_c(f"void f(void) {{ {text} }}").ext[0].body.block_items
    assert isinstance(only, ir.Node)
    return only


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("{ int t = a[1]; a[1] = t > b[2] ? b[2] : t; b[2] = t > b[2] ? t : b[2]; }", True),
        ("{ int t = a[1]; a[1] = a[1] > b[2] ? b[2] : t; b[2] = t > b[2] ? t : b[2]; }", True),
        ("{ int t = a[1]; a[1] = t > b[2] ? t : b[2]; b[2] = t > b[2] ? t : b[2]; }", False),
        ("{ int t = a[1]; a[1] = t > b[2] ? b[2] : t; b[2] = t < b[2] ? t : b[2]; }", False),
        (
            "{ int t = a[1]; a[1] = t > b[2] ? b[2] : t; b[2] = a[1] > b[2] ? t : b[2]; }",
            False,
        ),  # a[1] is another one by now
        ("{ int t = a[1]; a[1] = t > b[2] ? b[2] : t; b[2] = t > b[2] ? b[2] : t; }", False),
        ("{ short t = a[1]; a[1] = t > b[2] ? b[2] : t; b[2] = t > b[2] ? t : b[2]; }", False),
        ("{ int t = b[2]; a[1] = t > b[2] ? b[2] : t; b[2] = t > b[2] ? t : b[2]; }", False),
        ("{ int t = a[1]; a[1] = t > b[2] ? b[2] : t; b[3] = t > b[2] ? t : b[2]; }", False),
    ],
)
def test_the_text_is_read_for_itself(text: str, same: bool) -> None:
    original = exchange(body("if (a[1] > b[2]) { int t = a[1]; a[1] = b[2]; b[2] = t; }"))
    assert original is not None
    assert exchanges_the_same(body(text), original) is same


PROGRAM = """#include <stdio.h>
static unsigned short x[300][50];
static double r[400];
static void run(int rows, int n, unsigned short x[restrict 300][50], double r[restrict 400])
{
#pragma scop
  for (int k = 0; k < rows; k++)
    for (int round = 0; round < n; round++)
      for (int i = round % 2; i < n - 1; i += 2)
        if (x[k][i] > x[k][i + 1]) { unsigned short t = x[k][i]; x[k][i] = x[k][i + 1]; x[k][i + 1] = t; }
#pragma endscop
#pragma scop
  for (int i = 0; i < 200; i++)
    if (r[i + 200] <= r[i]) { double t = r[i + 200]; r[i + 200] = r[i]; r[i] = t; }
#pragma endscop
}
int main(void)
{
  double h = 0;
  for (int i = 0; i < 400; i++) r[i] = i % 5 ? i * 7919 % 613 : i % 2 ? 0.0 / (i % 5) : -0.0;
  for (int k = 0; k < 300; k++) for (int i = 0; i < 50; i++) x[k][i] = (k * 31 + i) * 40503u;
  run(300, 50, x, r);
  for (int k = 0; k < 300; k++) for (int i = 0; i < 50; i++) h = h * 0.75 + x[k][i];
  printf("%.17g\\n", h);
  for (int i = 0; i < 400; i++) printf("%g ", r[i]);
  return 0;
}
"""


def test_results_stay_the_same(run_c: RunC) -> None:
    made = pipeline.optimize(PROGRAM, Options())
    assert "t > x[k][i + 1] ? x[k][i + 1] : t" in made.text.decode()
    assert "r[i + 200] = t <= r[i] ? r[i] : t" in made.text.decode()
    assert [one.id for one in made.remarks].count("assume.writable") == 2
    assert run_c(made.text.decode(), "-O3", "-fopenmp") == run_c(PROGRAM, "-O1", name="original")
