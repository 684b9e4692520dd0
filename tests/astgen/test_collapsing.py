"""Loops of threads that are shared out together with the loop inside."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from scopt.astgen.passes.collapsing import with_collapsed_loops
from scopt.ir.nest import Block, Call, Const, For, LoopMark, LoopNest, Name
from scopt.machine import Machine
from scopt.options import Options
from scopt.pipeline import optimize
from tests.fuzz.harness import without_thresholds
from tests.sources import source_of

INNERMOST = For("k", Const(0), Name("n"), 1, Block((Call("S0", (Name("i"), Name("j"), Name("k"))),)))
INNER = For("j", Const(0), Name("m"), 1, Block((INNERMOST,)))
TWO = LoopMark(parallel=True, collapse=2)


@pytest.mark.parametrize(
    ("inner", "collapse"),
    [
        (INNER, 2),
        (replace(INNER, upper=Name("i")), 1),
        (replace(INNER, mark=LoopMark(simd=True)), 1),
        (replace(INNER, body=Block((replace(INNERMOST, upper=Const(7)),))), 1),
        (replace(INNER, body=INNERMOST.body), 1),
    ],
    ids=["two", "triangle", "vector", "short", "no-loop"],
)
def test_which_loops_are_collapsed(inner: For, collapse: int) -> None:
    (made,) = with_collapsed_loops(
        LoopNest(Block((For("i", Const(0), Name("n"), 1, Block((inner,)), TWO),)))
    ).body.items
    assert isinstance(made, For)
    assert made.mark.collapse == collapse


PARAMS = "int n, int m, int l, double a[n][m][l], double b[n][m][l], double c[m]"
NORMALIZED = """for (i = 0; i < n; i++) for (j = 0; j < m; j++) {
  double most = 0;
  for (k = 0; k < l; k++) most = a[i][j][k] > most ? a[i][j][k] : most;
  for (k = 0; k < l; k++) b[i][j][k] = a[i][j][k] / most; }"""
SCALED = "for (i = 0; i < n; i++) for (j = 0; j < m; j++) for (k = 0; k < l; k++) b[i][j][k] = c[j] * a[i][j][k];"


@pytest.mark.parametrize("body", [NORMALIZED, SCALED], ids=["normalized", "scaled"])
def test_few_iterations_or_nobody_knows_how_many(body: str) -> None:
    text = optimize(source_of(body, PARAMS)).text.decode()
    assert text.count("parallel for collapse(2)") == 1
    assert "+= 32" not in text  # nothing is used again that tiles would keep
    many = PARAMS.replace("a[n]", "a[2000]")
    assert "collapse" not in optimize(source_of(body, many)).text.decode()


def test_a_loop_of_one_tile_is_none_to_share_out() -> None:
    """The next one inside of it carries something."""
    body = """for (t = 0; t < l; t++) for (k = 10; k >= 1; k--) for (j = 1; j < 10; j++) for (i = 1; i < n; i++) {
      a[k][j][i] = 0.4f + 0.1f * a[k][j][i];
      b[k][j][i] = 0.4f * a[k + 1][j][i] + 0.1f * b[k][j][i]; }"""
    sizes = "int n, int l, float a[12][11][37], float b[12][11][37]"
    made = optimize(source_of(body, sizes), Options(eager=True))
    assert "schedule.simplified" not in {remark.id for remark in made.remarks}


def test_sums_over_rows_are_not_shared_out() -> None:
    """The loop inside carries something."""
    body = "for (i = 0; i < n; i++) for (j = 1; j < m; j++) for (k = 0; k < l; k++) b[i][j][k] += b[i][j - 1][k];"
    text = optimize(source_of(body, PARAMS)).text.decode()
    assert "parallel for" in text
    assert "collapse" not in text


def test_that_the_loop_inside_carries_nothing_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mark that is wrong doesn't get into the text."""
    monkeypatch.setattr("scopt.scheduler.decisions.leaf_loops.collapsed_loops", lambda *_: 2)
    body = "for (i = 0; i < n; i++) for (j = 1; j < m; j++) for (k = 0; k < l; k++) b[i][j][k] += b[i][j - 1][k];"
    assert "collapse" not in optimize(source_of(body, PARAMS)).text.decode()


MAIN = """
#include <stdio.h>
int main(void) {
  static double a[3][5][40], b[3][5][40], c[5];
  for (int i = 0; i < 600; i++) ((double *)a)[i] = i % 17 + 0.5;
  for (int i = 0; i < 5; i++) c[i] = i - 1.5;
  f(3, 5, 40, a, b, c);
  for (int i = 0; i < 600; i++) printf("%a\\n", ((double *)b)[i]);
}
"""


@pytest.mark.parametrize("body", [NORMALIZED, SCALED], ids=["normalized", "scaled"])
def test_the_same_values(run_c: Callable[..., str], body: str) -> None:
    source = source_of(body, PARAMS)
    text = without_thresholds(optimize(source).text.decode())
    before = run_c(source.decode() + MAIN, "-O1", "-ffp-contract=off", "-w", name="before")
    assert run_c(text + MAIN, "-O2", "-fopenmp", "-ffp-contract=off", "-w", name="after") == before


def test_each_thread_has_a_tile() -> None:
    """Of a batch of 8, tiles of 32 would leave one thread all the work."""
    body = "for (k = 0; k < m; k++) for (i = 0; i < n; i++) for (j = 0; j <= i; j++) r[k][i] += q[k][i][j];"
    source = source_of(body, "int n, int m, float q[8][256][256], float r[8][256]")
    text = optimize(source, Options(machine=Machine(cores=4))).text.decode()
    assert "kt += 2" in text
