"""Both sides of conditions evaluated: where, and that the proof tells other statements from such."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.passes.eager import _eager
from scopt.check.eager_conditions import is_eager
from scopt.ir.from_pycparser import parse_c
from scopt.ir.scop import Scop, Statement
from scopt.ir.walks import replaced, same_tree, walk
from scopt.options import Options
from scopt.pipeline import optimize
from tests.fuzz.harness import without_thresholds
from tests.sources import scop_of, source_of, without_helpers

PARAMS = "int n, int u[n], int c[n], int d[n], int o[n], float x[n], short h[n], unsigned short w[n]"
# Whether a cell lives on; its own state is read in any case.
LIVES = "for (i = 0; i < n; i++) { d[i] = c[i]; o[i] = u[i] == 3 || (u[i] == 2 && c[i]); }"
EAGER = r"\(u\[i\] == 3\) \| \(\(u\[i\] == 2\) & \((?:c\[i\]|c_0) != 0\)\)"

KINDS = """for (i = 0; i < n; i++) {
  o[i] = (u[i] == 1 || u[i] == 3 || u[i] == 4) - c[i];
  d[i] = u[i] != 0 && u[i] != 2 && u[i] != 4 ? 7 : c[i]; }"""

NESTED = """for (i = 1; i < n; i++) {
  int k = x[i - 1] > 2 | (x[i] > 3) << 1;
  if (k == 1 || k == 2) { float m = 0.5f * (x[i - 1] + x[i]); if (m < 2.5f) k = 3 - k; }
  o[i] = k; }"""


def text(body: str) -> str:
    result = optimize(source_of(body, PARAMS), Options())
    assert [remark.id for remark in result.remarks if remark.kind == "passed"] == ["region.transformed"]
    return result.text.decode()


def test_both_sides_are_evaluated_in_vector_loops() -> None:
    assert re.search(EAGER, text(LIVES))


@pytest.mark.parametrize(
    "condition",
    [
        "i > 0 && u[i - 1] == 2",  # the cell before the first one
        "c[i] != 0 && u[i] / c[i] == 2",
        "c[i] > 0 && c[i] + c[i] > 4",  # may overflow
        "c[i] > 0 && c[i] * 3 > 4",
        "c[i] > 0 && -c[i] > 4",
        "c[i] > 0 && w[i] * w[i] > 4",  # of unsigned numbers, as an int
        "c[i] > 0 && o[n - 1 - i] > 4",  # nothing else says that there is such a cell
    ],
)
def test_what_might_fail_is_left_to_conditions(condition: str) -> None:
    assert condition.split()[3] in text(f"for (i = 0; i < n; i++) d[i] = {condition};")
    assert "&&" in text(f"for (i = 0; i < n; i++) d[i] = {condition};")


@pytest.mark.parametrize(
    "condition",
    [
        "x[i] > 0 && x[i] * x[i] < 2",
        "x[i] > 0 && -x[i] * 3 > -7.5f",
        "h[i] > 0 && h[i] * h[i] > 4",
        "h[i] > 0 && (h[i] + 1) * 7 < -h[i] || w[i] - h[i] > 4",
        "x[i] > 0 && x[i] * (h[i] - 1) > 4",
    ],
)
def test_products_that_cannot_fail_are_computed_anyway(condition: str) -> None:
    """Of floating-point numbers, and of narrow ones that the int they become has room for."""
    made = text(f"for (i = 0; i < n; i++) o[i] = ({condition}) + h[i] + w[i];")
    region = made.split("#pragma scop")[1].replace("&& scopt_threads()", "")
    assert not re.search(r"&&|\|\|", region)


def test_a_cell_that_only_some_iterations_have_is_left_to_the_condition() -> None:
    """All of u is read anyway, but u[-1] isn't a part of it."""
    assert "&&" in text("for (i = 0; i < n; i++) d[i] = (i > 0 && u[i - 1] == 2) + u[i];")
    made = text("for (i = 1; i < n; i++) d[i] = (u[i] > 0 && u[i - 1] == 2) + u[i] + u[i - 1];")
    assert "&&" not in without_helpers(made).replace("&& scopt_threads()", "")


@pytest.mark.parametrize(
    ("condition", "added"),
    [
        ("u[i] == 2 || u[i] == 5", "(u[i] == 2) + (u[i] == 5) != 0"),
        ("u[i] == 2 || u[i] == 'b' || u[i] == -5", "(u[i] == 2) + (u[i] == 'b') + (u[i] == -5) != 0"),
        ("(u[i] == 2) | (u[i] == 5)", "(u[i] == 2) + (u[i] == 5) != 0"),
        ("!(u[i] == 2 || u[i] == 5) && c[i] > 3", "!((u[i] == 2) + (u[i] == 5) != 0) & (c[i] > 3)"),
        ("u[i] != 2 && u[i] != 5 && u[i] != 9", "(u[i] == 2) + (u[i] == 5) + (u[i] == 9) == 0"),
        ("u[i] == 2 || c[i] > 3 || u[i] == 5", "((u[i] == 2) + (u[i] == 5) != 0) | (c[i] > 3)"),
        ("u[i] == 2 || c[i] == 5", "(u[i] == 2) | (c[i] == 5)"),
        ("u[i] == 2 || u[i] > 5", "(u[i] == 2) | (u[i] > 5)"),
        ("u[i] == 2 || u[i] != 5", "(u[i] == 2) | (u[i] != 5)"),
        ("u[i] == c[i] || u[i] == 5", "(u[i] == c[i]) | (u[i] == 5)"),
    ],
)
def test_comparisons_of_one_value_are_added_up(condition: str, added: str) -> None:
    scop = scop_of(f"for (i = 0; i < n; i++) d[i] = ({condition}) + c[i];", PARAMS)
    (base,) = scop.statements
    made = _eager(scop, base)
    assert made is not None
    (wanted,) = parse_c(f"void f(void) {{ d[i] = ({added}) + c[i]; }}").ext[0].body.block_items
    assert same_tree(made.body, wanted)
    assert is_eager(scop, made, base)

    def product(node: ir.Node) -> ir.Node:
        return ir.BinaryOp("*", node.left, node.right) if isinstance(node, ir.BinaryOp) and node.op == "+" else node

    def other(node: ir.Node) -> ir.Node:
        return ir.Constant("int", "8") if isinstance(node, ir.Constant) and node.value == "5" else node

    def turned(node: ir.Node) -> ir.Node:
        match node:
            case ir.BinaryOp(op="!=" | "==" as op, right=ir.Constant(value="0")):
                return ir.BinaryOp("==" if op == "!=" else "!=", node.left, node.right)
        return node

    for change in (product, other, *([turned] if " 0" in added else [])):
        assert not is_eager(scop, replace(made, body=replaced(made.body, change)), base)


def nested(body: str) -> tuple[Scop, Statement, Statement | None]:
    scop = scop_of(body, PARAMS)
    base = next(one for one in scop.statements if isinstance(one.body, ir.If))
    return scop, base, _eager(scop, base)


def test_conditions_in_conditions_are_one() -> None:
    scop, base, made = nested(NESTED)
    assert made is not None
    wanted = "if (((k == 1) + (k == 2) != 0) & (0.5f * (x[i - 1] + x[i]) < 2.5f)) k = 3 - k;"
    (only,) = parse_c(f"void f(void) {{ {wanted} }}").ext[0].body.block_items
    assert same_tree(made.body, only)
    assert is_eager(scop, made, base)

    def other(node: ir.Node) -> ir.Node:
        return ir.Constant("float", "0.25f") if isinstance(node, ir.Constant) and node.value == "0.5f" else node

    assert not is_eager(scop, replace(made, body=replaced(made.body, other)), base)


@pytest.mark.parametrize(
    ("part", "instead"),
    [
        ("float m", "double m"),  # it is rounded
        ("float m", "volatile float m"),
        ("float m", "int m"),
        ("m < 2.5f", "m * m < 2.5f"),
        ("k = 3 - k", "k = m"),
        ("0.5f * (x[i - 1]", "0.5f / (x[i - 1]"),
        ("k = 3 - k;", "k = 3 - k; else k = 0;"),
        ("x[i - 1] + x[i])", "x[i + 1] + x[i])"),  # nothing else says that there is such a cell
    ],
)
def test_others_stay_conditions_in_conditions(part: str, instead: str) -> None:
    assert part in NESTED
    head, _, tail = NESTED.partition("{ float m")
    _, _, made = nested(head + ("{ float m" + tail).replace(part, instead))
    assert made is None or len([one for one in walk(made.body) if isinstance(one, ir.If)]) > 1


def test_others_are_told_apart() -> None:
    scop = scop_of(LIVES, PARAMS)
    base = next(one for one in scop.statements if isinstance(one.body.rvalue, ir.BinaryOp))
    made = _eager(scop, base)
    assert made is not None
    assert is_eager(scop, made, base)

    def other(node: ir.Node) -> ir.Node:
        return ir.BinaryOp("|", node.left, node.right) if isinstance(node, ir.BinaryOp) and node.op == "&" else node

    def bare(node: ir.Node) -> ir.Node:
        """Two and another number have no bit in common."""
        return node.left if isinstance(node, ir.BinaryOp) and node.op == "!=" else node

    for change in (other, bare):
        assert not is_eager(scop, replace(made, body=replaced(made.body, change)), base)


def test_results_are_the_same(run_c: Callable[..., str]) -> None:
    main = """
#include <stdio.h>
static int u[999], c[999], d[999], o[999];
static float x[999];
static short h[999];
static unsigned short w[999];
int main(void) {
  for (int i = 0; i < 999; i++) { u[i] = i * 7 % 5; c[i] = i % 3 * 4; }
  f0(999, u, c, d, o, x, h, w);
  for (int i = 0; i < 999; i++) printf("%d ", o[i]);
  f1(999, u, c, d, o, x, h, w);
  for (int i = 0; i < 999; i++) printf("%d ", o[i] + d[i]), x[i] = i * 11 % 13 * 0.5f;
  f2(999, u, c, d, o, x, h, w);
  for (int i = 0; i < 999; i++) printf("%d ", o[i]);
  return 0;
}
"""
    regions = (LIVES, KINDS, NESTED)
    source = "".join(source_of(one, PARAMS).decode().replace(" f(", f" f{k}(") for k, one in enumerate(regions))
    before = run_c(source + main, "-O1", "-w", name="before")
    made = optimize(source.encode(), Options()).text.decode()
    assert "(u_0 == 1) + (u_0 == 3) + (u_0 == 4) != 0" in made
    assert run_c(without_thresholds(made) + main, "-O2", "-fopenmp", "-w", name="after") == before


@pytest.mark.parametrize(("most", "alone"), [("u[i] != 4", True), ("c[i] > 1", False)])
def test_what_no_compiler_makes_vectors_of_gains_without_threads(most: str, alone: bool) -> None:
    body = f"for (i = 0; i < n; i++) if (u[i] != 1 && u[i] != 3 && {most}) x[i] *= 0.5f;"
    source = source_of(body, PARAMS).replace(b"#pragma scop", b"").replace(b"#pragma endscop", b"")
    made = optimize(source, Options(autodetect=True)).text.decode()
    assert ("u[i] == 1) + (u[i] == 3) + (u[i] == 4) == 0" in made) is alone
