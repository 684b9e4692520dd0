"""Choices of a vector loop that ask the same: which are made by masks, and that this gives the same values."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.helper_texts import helper_definitions
from scopt.astgen.passes.picking import with_blends
from scopt.astgen.passes.value_kinds import Values
from scopt.check.picked_choices import is_picked
from scopt.ir.walks import replaced, walk
from scopt.options import Options
from tests.conftest import RunC
from tests.sources import optimize, scop_of, source_of

PARAMS = "int n, unsigned char r[n], unsigned char g[n], const unsigned char a[n]"
BODY = """for (i = 1; i < n - 1; i++) {
  int own = a[i], left = (a[i - 1] + own + 1) / 2, right = (a[i + 1] + own + 1) / 2;
  r[i] = (unsigned char)(i % 2 == 0 ? left : own);
  g[i] = (unsigned char)(i % 2 == 0 ? own : right); }"""


def text(body: str, params: str = PARAMS) -> str:
    return optimize(source_of(body, params), Options()).text.decode().partition("#pragma scop\n")[2]


def test_conditions_that_several_stores_ask_are_masks() -> None:
    made = text(BODY)
    assert "r[i] = (unsigned char)scopt_blend((int)i % 2 == 0, left, own);" in made
    assert "g[i] = (unsigned char)scopt_blend((int)i % 2 == 0, own, right);" in made


@pytest.mark.parametrize(
    "body",
    [
        BODY.replace("g[i] = (unsigned char)(i % 2 == 0", "g[i] = (unsigned char)(i % 3 == 0"),  # another condition
        BODY.replace("i % 2 == 0 ? own : right", "i % 2 == 0 ? right : left").replace(  # both answers need both
            "? left : own", "? left : right"
        ),
        BODY.replace("i % 2 == 0", "left < right").replace("? left : own", "? left : right"),  # one is a minimum
        BODY.replace(": right", ": a[n - 1 - i]").replace("? left", "? a[n - 2 - i]"),  # perhaps there is no such cell
    ],
)
def test_others_stay(body: str) -> None:
    assert "scopt_blend" not in text(body)


def test_ints_have_masks_of_their_own() -> None:
    assert "scopt_blend" not in text(
        BODY, PARAMS.replace("unsigned char r", "int r").replace("unsigned char g", "int g")
    )


def test_other_values_are_told_apart() -> None:
    scop = scop_of(BODY, PARAMS)
    base = next(one for one in scop.statements if any(a.array == "r" and a.is_write for a in one.accesses))
    (choice,) = (node for node in walk(base.body) if isinstance(node, ir.TernaryOp))
    made = with_blends(Values(scop, base), base.body, (choice.cond,))
    assert made is not base.body
    assert is_picked(scop, replace(base, body=made), base)

    def swapped(node: ir.Node) -> ir.Node:
        if isinstance(node, ir.ExprList) and len(node.exprs) == 3:
            return ir.ExprList([node.exprs[0], node.exprs[2], node.exprs[1]])
        return node

    assert not is_picked(scop, replace(base, body=replaced(made, swapped)), base)


def test_masks_give_one_of_two_ints(run_c: RunC) -> None:
    source = "".join(
        [
            "#include <stdio.h>\n",
            helper_definitions(("scopt_blend",), "long", frozenset()),
            "int main(void)\n{\n  int c[5] = {-1, 0, 1, 77, -2147483647 - 1}, wrong = 0;\n",
            "  for (int a = 0; a < 5; a++) for (int b = 0; b < 5; b++) for (int h = -2; h < 3; h++)\n",
            "    wrong += scopt_blend(h, c[a], c[b]) != (h ? c[a] : c[b]);\n",
            '  printf("%d\\n", wrong);\n}\n',
        ]
    )
    assert run_c(source).strip() == "0"


def test_results_are_the_same(run_c: RunC) -> None:
    head = "#include <stdio.h>\nstatic void f(" + PARAMS + ")\n{\n  int i;\n#pragma scop\n"
    tail = """
#pragma endscop
}
int main(void) {
  static unsigned char a[999], r[999], g[999];
  for (int i = 0; i < 999; i++) a[i] = (unsigned char)(i * 37 % 251);
  f(999, r, g, a);
  for (int i = 0; i < 999; i++) printf("%d %d ", r[i], g[i]);
  return 0;
}
"""
    source = head + BODY + tail
    made = optimize(source, Options()).text.decode()
    assert "scopt_blend" in made
    assert run_c(made, "-O3", "-mavx2", "-fopenmp", name="after") == run_c(source, "-O1", name="before")
