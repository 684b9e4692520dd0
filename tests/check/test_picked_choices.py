"""Choices among constants, and among numbers: which become calls, and that the proof tells other statements from
such."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.c_expr import PICKS
from scopt.astgen.emit.helper_texts import helper_definitions
from scopt.astgen.passes.divided_ints import with_quotients
from scopt.astgen.passes.eager import with_both_sides
from scopt.astgen.passes.picking import with_picked_operands, with_picks
from scopt.astgen.passes.value_kinds import Values
from scopt.check.picked_choices import is_picked
from scopt.ir.walks import replaced, same_tree
from scopt.options import Options
from scopt.pipeline import optimize
from tests.conftest import RunC
from tests.fuzz.harness import without_thresholds
from tests.same_results import check_same_results
from tests.sources import scop_of, source_of

PARAMS = "int n, int u[n], int c[n], float x[n], float y[n]"
VALUES = "for (i = 0; i < n; i++) c[i] = u[i] == 1 ? 7 : u[i] == 2 ? 5 : u[i] > 3;"
BRANCHES = """for (i = 1; i < n - 1; i++) {
  c[i] = x[i - 1] + x[i + 1] > x[i];
  if (u[i] == 1) y[i] = 0.5f * (x[i - 1] + x[i + 1]);
  else if (u[i] == 2) y[i] = x[i];
  else if (u[i] == 3) y[i] = -x[i];
  else y[i] = 0.0f; }"""
# nothing else says that there are such cells of x
GUARDED = (
    "for (i = 0; i < n; i++) { if (u[i] == 1) y[i] = 1; else if (u[i] == 2) y[i] = x[i]; else y[i] = 2; }".replace(
        "= 1;", "= 1.0f;"
    ).replace("= 2; }", "= 2.0f; }")
)

KEPT = """for (i = 0; i < n; i++) {
  int w = c[i], t = u[i];
  float v = x[i] * 0.5f;
  if (v > 1.0f) v = 1.0f; else if (w > 2 && t != 3) v = -5.0f;
  y[i] = v + 2.0f; }"""


LIMITED = """for (i = 1; i < n - 1; i++) {
  float d = x[i] - x[i - 1], e = x[i + 1] - x[i], s;
  if (d * e <= 0.0f) s = 0.0f; else s = fabsf(d) < fabsf(e) ? d : e;
  y[i] = x[i] + 0.5f * s; }"""


def text(body: str) -> str:
    result = optimize(source_of(body, PARAMS, "#include <math.h>\n"), Options())
    assert [remark.id for remark in result.remarks if remark.kind == "passed"] == ["region.transformed"]
    return result.text.decode().partition("#pragma scop\n")[2]


def test_both_sides_are_computed() -> None:
    assert "c[i] = u[i] == 1 ? 7 : scopt_pick(u[i] == 2, 5, u[i] > 3);" in text(VALUES)


def test_what_only_its_own_constant_lets_through_stays_behind_it() -> None:
    assert "y[i] = scopt_pickf(u[i] == 1, 1.0f, u[i] == 2 ? x[i] : 2.0f);" in text(GUARDED)
    made = text(BRANCHES)
    assert "if (u[i]" not in made
    assert "y[i] = u[i] == 1 ? " in made or "y[i] = scopt_pickf(u[i] == 1" in made


def test_one_cell_that_both_branches_assign_is_chosen() -> None:
    both = "for (i = 0; i < n; i++) { if (u[i] > 2) y[i] = x[i] * 2.0f; else y[i] = x[i]; }"
    assert "y[i] = scopt_pickf(u[i] > 2, x[i] * 2.0f, x[i]);" in text(both)
    assert "y[i] = u[i] > 2 ? x[i] * 2.0f : x[n - i - 1];" in text(both.replace("= x[i];", "= x[n - 1 - i];"))
    assert "if (u[i] > 2)" in text(both.replace("= x[i];", "= 2.0;"))  # another type


@pytest.mark.parametrize(
    "body",
    [
        VALUES.replace("u[i] == 2", "u[i] > 2"),  # one constant is no switch
        VALUES.replace("? 5", "? 5000000000"),  # no int
        VALUES.replace("? 5", "? 0xffffffff"),
        VALUES.replace("u[i] > 3", "c[n - 1 - i]"),  # nothing else says that there is such a cell
        VALUES.replace("7", "u[i] + u[i]").replace("5", "u[i] + u[i]"),  # may overflow
        VALUES.replace("5", "5.0"),  # two types
        GUARDED.replace("2.0f", "x[n - 1 - i]"),
        GUARDED.replace("y[i] = 1.0f", "c[i] = 1"),
    ],
)
def test_others_are_left_alone(body: str) -> None:
    assert "scopt_pick" not in text(body)


def test_variables_may_keep_what_they_have() -> None:
    assert "v = scopt_pickf(v > 1.0f, 1.0f, scopt_pickf((w > 2) & (t != 3), -5.0f, v));" in text(KEPT)
    scop = scop_of(KEPT, PARAMS)
    (base,) = (one for one in scop.statements if isinstance(one.body, ir.If))
    made = with_picks(scop, base, with_both_sides(scop, base, base.body))
    assert made is not None
    assert is_picked(scop, replace(base, body=made), base)

    def dropped(node: ir.Node) -> ir.Node:
        return ir.Constant("float", "0.0f") if node is made.lvalue else node

    dead = ir.Assignment("=", made.lvalue, replaced(made.rvalue, dropped))
    assert not is_picked(scop, replace(base, body=dead), base)
    unset = tuple(
        one for one in scop.statements if one is base or not any(a.array == "v" and a.is_write for a in one.accesses)
    )
    assert not is_picked(replace(scop, statements=unset), replace(base, body=made), base)


AROUND = """for (i = 0; i < n; i++) {
  float v = x[i] * 0.5f;
  if (v < 0) v += 8;
  if (v >= 8) v -= 8;
  y[i] = v; }"""


def test_variables_may_be_changed() -> None:
    made = text(AROUND)
    assert "v = scopt_pickf(v < 0, v + 8, v);" in made
    assert "v = scopt_pickf(v >= 8, v - 8, v);" in made
    macro = optimize(source_of(AROUND.replace("8", "SIDE"), PARAMS, "#define SIDE 8\n"), Options()).text.decode()
    assert "v = scopt_pickf(v >= SIDE, v - SIDE, v);" in macro
    scop = scop_of(AROUND, PARAMS)
    base, other = (one for one in scop.statements if isinstance(one.body, ir.If))
    picked = with_picks(scop, base, base.body)
    assert is_picked(scop, replace(base, body=picked), base)
    assert not is_picked(scop, replace(other, body=with_picks(scop, base, base.body)), other)

    def less(node: ir.Node) -> ir.Node:
        return ir.BinaryOp("-", node.left, node.right) if isinstance(node, ir.BinaryOp) and node.op == "+" else node

    def of_others(node: ir.Node) -> ir.Node:
        match node:
            case ir.BinaryOp(op="+", right=right):
                return ir.BinaryOp("+", ir.ID("n"), right)
        return node

    for change in (less, of_others):
        assert not is_picked(scop, replace(base, body=replaced(picked, change)), base)


@pytest.mark.parametrize(
    "body",
    [
        AROUND.replace("v += 8", "v /= 8"),
        AROUND.replace("v += 8", "v += 8.0").replace("v -= 8", "v -= 8.0"),  # a double in between
        "{ float v = 0; for (i = 0; i < n; i++) if (x[i] > 0) v += x[i]; y[0] = v; }",  # a sum
        AROUND.replace("float v = x[i] * 0.5f", "int v = u[i]").replace("v +=", "v += c[i] +"),  # may overflow
    ],
)
def test_other_changes_stay(body: str) -> None:
    assert "scopt_pickf(v < 0" not in text(body)
    assert "scopt_pick(v < 0" not in text(body)


def test_sides_that_compute_floating_point_numbers_are_both_computed() -> None:
    picked = "s = scopt_pickf(d * e <= 0.0f, 0.0f, scopt_pickf(fabsf(d) < fabsf(e), d, e));"
    assert picked in text(LIMITED)
    assert "scopt_pick" not in text(LIMITED.replace("fabsf(d) < fabsf(e)", "sqrtf(d) < e"))
    scop = scop_of(LIMITED, PARAMS, "#include <math.h>\n")
    (base,) = (one for one in scop.statements if isinstance(one.body, ir.If))
    made = with_picks(scop, base, base.body)
    assert made is not None
    assert is_picked(scop, replace(base, body=made), base)

    def other(node: ir.Node) -> ir.Node:
        return ir.ID("sqrtf") if isinstance(node, ir.ID) and node.name == "fabsf" else node

    assert not is_picked(scop, replace(base, body=replaced(made, other)), base)


def test_picked_numbers_keep_their_bits(run_c: Callable[..., str]) -> None:
    """By gcc's masks and by a choice: also those of numbers that are none, and of the negative zero."""
    source = "".join(
        [
            "#include <stdio.h>\n#include <string.h>\n",
            helper_definitions(tuple(PICKS.values()), "long", frozenset()),
            'int main(void)\n{\n  float f[4] = {-0.0f, 1.5f, __builtin_inff(), -__builtin_nanf("7")};\n',
            '  double d[4] = {-0.0, 1.5, __builtin_inf(), -__builtin_nan("7")};\n',
            "  int c[4] = {-1, 0, 1, -2147483647 - 1}, wrong = 0;\n",
            "  for (int a = 0; a < 4; a++) for (int b = 0; b < 4; b++) for (int h = -1; h < 3; h++) {\n",
            "    float p = scopt_pickf(h, f[a], f[b]);\n    double q = scopt_pickd(h, d[a], d[b]);\n",
            "    wrong += memcmp(&p, h ? &f[a] : &f[b], sizeof p) != 0;\n",
            "    wrong += memcmp(&q, h ? &d[a] : &d[b], sizeof q) != 0;\n",
            "    wrong += scopt_pick(h, c[a], c[b]) != (h ? c[a] : c[b]);\n  }\n",
            '  printf("%d\\n", wrong);\n}\n',
        ]
    )
    assert run_c(source).strip() == "0"


@pytest.mark.parametrize(
    "body",
    [
        KEPT.replace("float v = x[i] * 0.5f;", "float v; if (t > 1) v = x[i] * 0.5f;"),  # perhaps it has none yet
        KEPT.replace("= -5.0f", "= -5.0"),  # another type
        KEPT.replace("= -5.0f", "= y[n - 1 - i]"),
        # compilers make choices of these, unless they compute something from a constant
        KEPT.replace("w > 2 && t != 3", "w > 2").replace("v + 2.0f", "v + x[i]"),
    ],
)
def test_others_keep_their_branches(body: str) -> None:
    assert "scopt_pick" not in text(body)


FOLDED = """for (i = 0; i < n; i++) {
  float v = x[i] - x[i + 1];
  if (v < 0) v = 0;
  y[i] += v * 3.0f + 0.5f * (x[i] > 1.0f ? 1 : x[i]); }"""


def test_nothing_is_computed_from_constants_before_they_are_chosen() -> None:
    made = text(FOLDED)
    assert "v = scopt_pickf(v < 0, 0, v);" in made
    assert "+= v * 3.0f + 0.5f * scopt_pickf(x[i] > 1.0f, 1, x[i]);" in made
    assert "v = " in text(FOLDED.replace("v * 3.0f", "v * x[i]"))
    assert "scopt_pickf(v < 0" not in text(FOLDED.replace("v * 3.0f", "v * x[i]"))


@pytest.mark.parametrize(
    "body",
    [
        FOLDED.replace("v < 0) v = 0;", "v < 0) v = 20000001;").replace("? 1 :", "? x[i + 1] :"),  # no float
        FOLDED.replace("v = 0;", "v = -0;").replace("? 1 :", "? x[i + 1] :"),  # 0, and no -0.0
        FOLDED.replace("v = 0;", "v = x[i];").replace("? 1 : x[i]", "? 1 : 2"),  # all are constants, or none is
    ],
)
def test_others_may_be_computed_from(body: str) -> None:
    assert "scopt_pick" not in text(body)


def test_other_values_computed_from_choices_are_told_apart() -> None:
    scop = scop_of(FOLDED, PARAMS)
    base = scop.statements[-1]
    cell = base.body.lvalue
    made = with_picked_operands(Values(scop, base, cell), base.body)
    assert made is not base.body
    assert is_picked(scop, replace(base, body=made), base)

    def sum_of(node: ir.Node) -> ir.Node:
        return ir.BinaryOp("-", node.left, node.right) if isinstance(node, ir.BinaryOp) and node.op == "+" else node

    def other(node: ir.Node) -> ir.Node:
        return ir.Constant("float", "0.25f") if isinstance(node, ir.Constant) and node.value == "0.5f" else node

    def turned(node: ir.Node) -> ir.Node:
        match node:
            case ir.FuncCall(args=ir.ExprList(exprs=[holds, one, two])):
                return ir.FuncCall(node.name, ir.ExprList([holds, two, one]))
        return node

    for change in (sum_of, other, turned):
        assert not is_picked(scop, replace(base, body=replaced(made, change)), base)
    assert not is_picked(scop, replace(base, body=ir.Assignment("-=", made.lvalue, made.rvalue)), base)


@pytest.mark.parametrize("sanitized", [False, True])
def test_results_with_picked_operands_stay_the_same(run_c: RunC, sanitized: bool) -> None:
    """For numbers that are none and zeros of both signs, too."""
    program = """#include <stdio.h>
#include <math.h>
static float x[4100], y[4100], z[4100];
static void f(int n)
{
#pragma scop
  for (int i = 0; i < n; i++) {
    float v = x[i] - x[i + 1];
    if (v < 0) v = 0;
    y[i] = v * 3.0f + 0.5f * (x[i] > 1.0f ? 1 : x[i]);
    z[i] = sqrtf((x[i] > 0.0f ? x[i] : 0.0f) + 0.25f) - (float)(x[i] > 1.0 ? 1.0 : x[i]);
  }
#pragma endscop
}
int main(void)
{
  for (int i = 0; i < 4100; i++)
    x[i] = i % 13 == 0 ? -0.0f : i % 17 == 0 ? NAN : i % 19 == 0 ? INFINITY : (float)(i * 37 % 101) / 10 - 5;
  f(4099);
  for (int i = 0; i < 4099; i++)
    if (y[i] == y[i] && z[i] == z[i]) printf("%a %a\\n", y[i], z[i]); else puts("none");
}
"""
    made = optimize(program.encode(), Options()).text.decode()
    assert made.count(" = scopt_pickf(") + made.count("(scopt_pickf(") >= 2
    check_same_results(run_c, program, made, sanitized=sanitized)


@pytest.mark.parametrize("body", [VALUES, BRANCHES, GUARDED])
def test_others_are_told_apart(body: str) -> None:
    scop = scop_of(body, PARAMS)
    base = scop.statements[-1]
    made = with_picks(scop, base, base.body)
    assert made is not None
    assert is_picked(scop, replace(base, body=made), base)

    def turned(node: ir.Node) -> ir.Node:
        match node:
            case ir.FuncCall(args=ir.ExprList(exprs=[holds, one, other])):
                return ir.FuncCall(node.name, ir.ExprList([holds, other, one]))
        return node

    def others(node: ir.Node) -> ir.Node:
        return ir.Constant("int", "9") if isinstance(node, ir.Constant) and node.value == "2" else node

    def open_to_all(node: ir.Node) -> ir.Node:
        """The choice that keeps a cell from being looked at as a call."""
        if isinstance(node, ir.TernaryOp):
            name = "scopt_pick" if body == VALUES else "scopt_pickf"
            return ir.FuncCall(ir.ID(name), ir.ExprList([node.cond, node.iftrue, node.iffalse]))
        return node

    for change in (turned, others, *([open_to_all] if body == GUARDED else [])):
        assert not is_picked(scop, replace(base, body=replaced(made, change)), base)


def test_a_value_may_go_into_another_cell_on_its_way() -> None:
    scop = scop_of("for (i = 0; i < n; i++) c[i] = u[i] = (i * 397 + 1) % m;", "int n, int m, int u[n], int c[n]")
    (base,) = scop.statements
    made = with_quotients(scop, base, base.body)
    assert made is not base.body
    assert is_picked(scop, replace(base, body=made), base)

    def elsewhere(node: ir.Node) -> ir.Node:
        same = isinstance(node, ir.ArrayRef) and isinstance(node.name, ir.ID) and node.name.name == "u"
        return ir.ArrayRef(ir.ID("c"), node.subscript) if same else node

    def kept(node: ir.Node) -> ir.Node:
        """What is computed, without the cell on the way."""
        inner = isinstance(node, ir.Assignment) and isinstance(node.rvalue, ir.FuncCall)
        return node.rvalue if isinstance(node, ir.Assignment) and inner else node

    for change in (elsewhere, kept):
        other = replaced(made, change)
        assert not same_tree(other, made)
        assert not is_picked(scop, replace(base, body=other), base)


def test_what_isnt_asked_for_another_constant_is_no_chain() -> None:
    scop = scop_of(GUARDED, PARAMS)
    (base,) = scop.statements
    made = with_picks(scop, base, base.body)
    same = replace(base, body=replaced(base.body, lambda node: _one(node)))
    assert made is not None
    assert not is_picked(
        replace(scop, statements=(same,)), replace(same, body=replaced(made, lambda node: _one(node))), same
    )


def _one(node: ir.Node) -> ir.Node:
    """Twice the same constant: the second condition holds nowhere."""
    return ir.Constant("int", "1") if isinstance(node, ir.Constant) and node.value == "2" else node


def test_results_are_the_same(run_c: Callable[..., str]) -> None:
    regions = (VALUES, BRANCHES, GUARDED, KEPT, LIMITED)
    main = """
static int u[999], c[999];
static float x[999], y[999];
int main(void) {
  for (int i = 0; i < 999; i++) { u[i] = i * 7 % 5; x[i] = i % 13 / 3.0f; }
  f0(999, u, c, x, y); f1(999, u, c, x, y);
  for (int i = 0; i < 999; i++) printf("%d %a ", c[i], y[i]);
  f2(999, u, c, x, y);
  for (int i = 0; i < 999; i++) printf("%a ", y[i]);
  f3(999, u, c, x, y);
  for (int i = 0; i < 999; i++) printf("%a ", y[i]);
  f4(999, u, c, x, y);
  for (int i = 0; i < 999; i++) printf("%a ", y[i]);
  return 0;
}
"""
    source = "#include <math.h>\n#include <stdio.h>\n"
    source += "".join(source_of(body, PARAMS).decode().replace(" f(", f" f{k}(") for k, body in enumerate(regions))
    made = optimize(source.encode(), Options()).text.decode()
    assert made.count("scopt_pick") > len(regions)
    before = run_c(source + main, "-O1", "-w", name="before")
    assert run_c(without_thresholds(made) + main, "-O2", "-fopenmp", "-w", name="after") == before
