"""Both sides of conditions evaluated: where, and that the proof tells other statements from such."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.passes.eager import _eager
from scopt.check.eager_conditions import is_eager
from scopt.ir.walks import replaced
from scopt.options import Options
from scopt.pipeline import optimize
from tests.fuzz.harness import without_thresholds
from tests.sources import scop_of, source_of

PARAMS = "int n, int u[n], int c[n], int d[n], int o[n]"
# Whether a cell lives on; its own state is read in any case.
LIVES = "for (i = 0; i < n; i++) { d[i] = c[i]; o[i] = u[i] == 3 || (u[i] == 2 && c[i]); }"
EAGER = r"\(u\[i\] == 3\) \| \(\(u\[i\] == 2\) & \(c\[i\] != 0\)\)"


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
        "c[i] > 0 && o[n - 1 - i] > 4",  # nothing else says that there is such a cell
    ],
)
def test_what_might_fail_is_left_to_conditions(condition: str) -> None:
    assert condition.split()[3] in text(f"for (i = 0; i < n; i++) d[i] = {condition};")
    assert "&&" in text(f"for (i = 0; i < n; i++) d[i] = {condition};")


def test_a_cell_that_only_some_iterations_have_is_left_to_the_condition() -> None:
    """All of u is read anyway, but u[-1] isn't a part of it."""
    assert "&&" in text("for (i = 0; i < n; i++) d[i] = (i > 0 && u[i - 1] == 2) + u[i];")
    made = text("for (i = 1; i < n; i++) d[i] = (u[i] > 0 && u[i - 1] == 2) + u[i] + u[i - 1];")
    assert "&&" not in made.replace("&& scopt_threads()", "")


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
int main(void) {
  for (int i = 0; i < 999; i++) { u[i] = i * 7 % 5; c[i] = i % 3 * 4; }
  f(999, u, c, d, o);
  for (int i = 0; i < 999; i++) printf("%d ", o[i]);
  return 0;
}
"""
    before = run_c(source_of(LIVES, PARAMS).decode() + main, "-O1", "-w", name="before")
    assert run_c(without_thresholds(text(LIVES)) + main, "-O2", "-fopenmp", "-w", name="after") == before
