"""Conditions inside of vector loops: which of them stand around loops of their own."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from scopt.astgen.passes.outer_conditions import in_two_forms, with_conditions_outside
from scopt.ir.nest import Block, Call, Compare, Const, For, If, LoopMark, LoopNest, Name
from scopt.options import Options
from tests.fuzz.harness import in_one_form, without_thresholds
from tests.sources import optimize, scop_of, source_of

PARAMS = "int n, unsigned x[128][n], unsigned w[128], unsigned o[n]"
# Rounds of a recurrence in each column: the first sixteen, and those that go on from them.
ROUNDS = """for (i = 0; i < n; i++) { unsigned a = 7;
  for (j = 16; j < 128; j++) x[j][i] = x[j - 16][i] + (x[j - 2][i] >> 3);
  for (j = 0; j < 128; j++) a = (a << 5 | a >> 27) * w[j] + x[j][i];
  o[i] = a; }"""
_VECTORS = re.compile(r"pragma omp simd[^\n]*\n(?:#[^\n]*\n)*( *)for \([^\n]*\n((?:\1 +[^\n]*\n)*)")


def text(body: str) -> str:
    result = optimize(source_of(body, PARAMS), Options(eager=True))
    assert [remark.id for remark in result.remarks if remark.kind == "passed"] == ["region.transformed"]
    return in_one_form(result.text.decode())


def test_conditions_of_the_steps_stand_around_the_lanes() -> None:
    found = text(ROUNDS)
    assert re.search(r"if \(j\d* [<>=]+ \d+", found)
    bodies = [body for _, body in _VECTORS.findall(found)]
    assert len(bodies) > 2
    assert not any("if (" in body for body in bodies)


@pytest.mark.parametrize(("second", "kept"), [("S1", True), ("S2", False)], ids=["handed-on", "apart"])
def test_private_variables_are_not_handed_on(second: str, kept: bool) -> None:
    scop = scop_of("for (i = 0; i < n; i++) { s = x[i]; y[i] = s; A[0][i] = 1; }")
    first = Compare(Name("k"), "==", Const(0))
    body = Block((Call("S0", (Name("i"),)), If(first, Block((Call(second, (Name("i"),)),)))))
    loop = For("i", Const(0), Name("n"), 1, body, LoopMark(simd=True, private=("s",)))
    made = with_conditions_outside(scop, LoopNest(Block((loop,)))).body.items
    assert [type(item) for item in made] == ([For] if kept else [For, If])


def test_lanes_of_strips_keep_their_private_variables() -> None:
    """Their statements don't say what they access: their text does."""
    found = text(ROUNDS.replace("a = (a << 5", "t = a << 5, a = (t").replace("unsigned a = 7;", "unsigned a = 7, t;"))
    assert "a_rows[" in found
    assert re.search(r"simd[^\n]* private\(t\)", found)


def test_conditions_of_the_lanes_stay() -> None:
    scop = scop_of("for (i = 0; i < n; i++) x[i] = 1;")
    own = Compare(Name("i"), "==", Name("k"))
    loop = For("i", Const(0), Name("n"), 1, Block((If(own, Block((Call("S0", (Name("i"),)),))),)), LoopMark(simd=True))
    assert with_conditions_outside(scop, LoopNest(Block((loop,)))).body.items == (loop,)


@pytest.mark.parametrize(("statements", "kept"), [(12, True), (16, False)], ids=["few", "many"])
def test_one_condition_of_many_statements_stands_around_them(statements: int, kept: bool) -> None:
    """Once for each answer, also where they hand something on: gcc does that itself for few, and has no vectors of
    many."""
    first, own = Compare(Name("k"), "==", Const(0)), Compare(Name("i"), "==", Name("k"))
    one, other, always = (Call(name, (Name("i"),)) for name in ("S0", "S1", "S2"))
    body = Block((always, If(first, Block((one,)), Block((other,)))) * (statements // 3) + (always,) * (statements % 3))
    loop = For("i", Const(0), Name("n"), 1, body, LoopMark(simd=True, private=("s",)))
    (made,) = in_two_forms(LoopNest(Block((loop,)))).body.items
    if kept:
        assert made == loop
        return
    ways = [Block((always, call) * 5 + (always,)) for call in (one, other)]
    assert made == If(first, *(Block((replace(loop, body=way),)) for way in ways))
    moving = replace(loop, body=Block((*body.items, If(own, Block((one,))))))
    (made,) = in_two_forms(LoopNest(Block((moving,)))).body.items
    ways = [Block((*way.items, If(own, Block((one,))))) for way in ways]
    assert made == If(first, *(Block((replace(moving, body=way),)) for way in ways))


PROGRAM = """
#include <stdio.h>
static unsigned x[128][45], w[128], o[45];
int main(void)
{
  for (unsigned k = 0; k < 45 * 128; k++) { x[k / 45][k % 45] = k * 2654435761u; w[k % 128] = k * 40503u | 1; }
  f(45, x, w, o);
  for (int k = 0; k < 45 * 128; k++) printf("%u ", x[k / 45][k % 45]);
  for (int k = 0; k < 45; k++) printf("%u ", o[k]);
}
"""


def test_results_stay(run_c: Callable[..., str]) -> None:
    made = run_c(without_thresholds(text(ROUNDS)) + PROGRAM, "-O2", "-fopenmp", name="ours")
    assert made == run_c(source_of(ROUNDS, PARAMS).decode() + PROGRAM, "-O2", name="theirs")


# Fluxes along both directions: a row has one more of the first ones, and variables keep them in one loop each.
FLUXES = """for (i = 1; i < 59; i++) for (j = 1; j <= m; j++) {
  float t = a[i][j] / (a[i + 1][j] + 2), u = t * t + a[i][j]; b[i][j] = t / u; }
for (i = 1; i <= 59; i++) for (j = 1; j < m; j++) {
  float t = a[i][j] / (a[i][j + 1] + 2), u = t * t + a[i][j]; c[i][j] = t / u; }"""


@pytest.mark.parametrize(
    "body",
    [
        FLUXES,
        FLUXES.replace("j = 1; j < m;", "j = 2; j <= m;"),
    ],
    ids=["last", "first"],
)
def test_what_ends_elsewhere_has_a_loop_with_that_end(body: str) -> None:
    params = "int m, float a[61][70], float b[60][70], float c[60][70]"
    found = in_one_form(optimize(source_of(body, params), Options(eager=True)).text.decode())
    found = found[found.index("#pragma scop") :]
    assert found.count("#pragma omp simd") >= 2
    assert not re.search(r"if \(j [<>=]", found)


BORDERS = """for (i = 0; i < n; i++)
  for (j = 0; j < n; j++)
    for (k = 0; k < n; k++) {
      double s = d[i][j][k];
      if (i > 0) s -= x[i - 1][j][k];
      if (j > 0) s -= x[i][j - 1][k];
      if (i < n - 1) s -= x[i + 1][j][k];
      if (j < n - 1) s -= x[i][j + 1][k];
      y[i][j][k] = s;
    }"""


def test_the_interior_has_loops_without_conditions() -> None:
    """Values that are handed on between them keep statements in one loop, which stands there twice."""
    source = source_of(BORDERS, "int n, double d[n][n][n], double x[n][n][n], double y[n][n][n]")
    found = in_one_form(optimize(source, Options(eager=True, tile=False)).text.decode())
    bodies = [body for _, body in _VECTORS.findall(found)]
    assert ["if (" in body for body in bodies] == [False, True]
