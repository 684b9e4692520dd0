"""Sums of products of bytes: where gcc isn't to know that a factor is one, and that the text is checked."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.c_expr import WIDENED
from scopt.astgen.emit.helper_texts import helper_definitions, widened
from scopt.astgen.passes.widened_factors import is_widened, widens_factors, with_widened_factors
from scopt.check.functions.faults import Fault
from scopt.check.functions.helper_functions import check_helpers
from scopt.check.functions.workshop import Workshop
from scopt.ir.nest import Block, Call, Const, Expr, For, LoopMark, LoopNest, Name, Sum
from scopt.ir.nest_walks import calls
from scopt.ir.walks import walk
from scopt.options import Options
from scopt.pipeline import optimize
from tests.conftest import RunC
from tests.fuzz.harness import without_thresholds
from tests.same_results import check_same_results
from tests.sources import scop_of

LAST = Sum(((1, Name("n")),), -1)
PARAMS = "int n, signed char *x, signed char *y, unsigned char *u, unsigned char *v, short *h, int *c, short *o"
SUM = "for (i = 0; i < n; i++) for (j = 0; j < n; j++) c[i] += x[j] * y[i + j];"


def nest(last: Expr = LAST, mark: LoopMark = LoopMark()) -> LoopNest:  # noqa: B008 - frozen
    inner = For("j", Const(0), last, 1, Block((Call("S0", (Name("i"), Name("j"))),)), mark)
    return LoopNest(Block((For("i", Const(0), LAST, 1, Block((inner,))),)))


@pytest.mark.parametrize(
    ("product", "helper"),
    [
        ("x[j] * y[i + j]", "scopt_wide"),
        ("(int)u[j] * (int)v[i + j]", "scopt_wide"),
        ("u[j] * y[i + j]", "scopt_wider"),
        ("x[i] * y[i + j]", "scopt_wide"),
        ("x[j] * h[j]", ""),
        ("x[j] * y[2 * j]", ""),  # nothing lies side by side
        ("x[i] * y[i]", ""),
        ("x[j] * 3", ""),
        ("x[j] + y[j]", ""),
    ],
)
def test_which_products(product: str, helper: str) -> None:
    scop = scop_of(SUM.replace("x[j] * y[i + j]", product), PARAMS)
    made, rewritten = with_widened_factors(scop, scop, nest())
    names = {one.statement for one in calls(rewritten.body)}
    assert names == ({"S0_wider"} if helper else {"S0"})
    assert widens_factors(scop, nest()) == widens_factors(made, rewritten) == bool(helper)
    if helper:
        body = made.statement("S0_wider").body
        assert is_widened(made, made.statement("S0_wider"), scop.statement("S0"))
        assert [node.name.name for node in walk(body) if isinstance(node, ir.FuncCall)] == [helper]


def test_which_loops() -> None:
    scop = scop_of(SUM, PARAMS)
    assert widens_factors(scop, nest(Const(63)))
    assert not widens_factors(scop, nest(Const(7)))
    assert not widens_factors(scop, nest(mark=LoopMark(simd=True)))
    assert not widens_factors(scop_of(SUM.replace("c[i] +=", "o[i] +="), PARAMS), nest())
    assert not widens_factors(scop_of(SUM.replace("c[i] +=", "c[j] +="), PARAMS), nest())


def test_another_statement_is_found() -> None:
    scop = scop_of(SUM, PARAMS)
    made, _ = with_widened_factors(scop, scop, nest())
    mine, base = made.statement("S0_wider"), scop.statement("S0")
    assert not is_widened(made, base, base)
    assert not is_widened(made, replace(mine, accesses=mine.accesses[:1]), base)
    other = scop_of(SUM.replace("x[j] * y", "y[j] * y"), PARAMS).statement("S0")
    assert not is_widened(made, replace(other, iterators=mine.iterators), base)


@pytest.mark.parametrize("alike", [True, False])
def test_what_functions_return(alike: bool) -> None:
    text = helper_definitions((WIDENED[alike],), "long", frozenset())
    check_helpers(Workshop(), text, "long", frozenset())
    for wrong in (text.replace("x ^ zero", "x + zero"), text.replace("return x;", "return x + 1;")):
        assert wrong != text
        with pytest.raises(Fault):
            check_helpers(Workshop(), wrong, "long", frozenset())
    assert ("VNNI__" in "".join(widened(alike)).replace("AVXVNNIINT8", "")) != alike


PROGRAM = """#include <stdio.h>
int f(int n, const signed char *x, const unsigned char *y, const signed char *z, unsigned *d) {
  int c = -3, e = 4;
  int s = 7;
#pragma scop
  for (int j = 0; j < n; j++) c += x[j] * z[j];
  for (int j = 0; j < n; j++) s += (int)y[j] * (int)y[j + 1];
  for (int j = 0; j < 24; j++) e += z[j] * y[j];
#pragma endscop
  *d = s;
  return c + e;
}
int main(void) {
  static signed char x[400], z[400];
  static unsigned char y[401];
  unsigned d;
  for (int i = 0; i < 400; i++) { z[i] = i * 37 % 256 - 128; y[i] = i * 91; x[i] = i * 53 % 256 - 128; }
  for (int n = 0; n < 400; n += n < 40 ? 1 : 57) {
    int c = f(n, x, y, z, &d);
    printf("%d %u\\n", c, d);
  }
}
"""


@pytest.mark.parametrize("sanitized", [False, True])
def test_results_are_the_same(run_c: RunC, sanitized: bool) -> None:
    text = without_thresholds(optimize(PROGRAM.encode(), Options()).text.decode())
    assert text.count("scopt_wide(") == 3
    assert text.count("scopt_wider(") == 2
    check_same_results(run_c, PROGRAM, text, sanitized=sanitized)
