"""Choices in subscripts that an innermost loop leaves as they are."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from scopt.astgen.emit.emit_c import Emitted, emit
from scopt.astgen.emit.reparse import check_printed
from scopt.astgen.passes.common_choices import with_common_choices
from scopt.diagnostics import InternalError
from scopt.ir.nest import Block, Call, Chosen, Const, For, Hold, LoopNest, Name
from scopt.ir.nest_walks import items
from scopt.ir.scop import Scop
from scopt.options import Options
from tests.sources import optimize, scop_of, source_of

PARAMS = "int n, int m, int field, unsigned char x[90][70], unsigned char y[90][70]"
# Lines of a field: above and below the missing ones.
LINES = """for (i = 0; i < n; i++) {
  int up = field ? i - 1 : i, down = up + 1;
  if (up < 0) up = 0;
  if (down > n - 1) down = n - 1;
  for (j = 0; j < m; j++) {
    int best = 99;
    for (k = 0; k < 3; k++) if (x[up][j] + k * x[down][j] < best) best = x[up][j] + k;
    y[i][j] = (unsigned char)best;
  } }"""
PARITY = "for (i = 0; i < n; i++) for (j = 0; j < m; j++) y[i][j] = x[(i % 2 ? i - 1 : i) + (i > m ? 1 : 0)][j];"
BITS = """for (k = 0; k < n; k++) for (i = 0; i < m; i++) for (j = 0; j < 70; j++)
  y[k][j] += x[k & 1 ? (i > 0 ? i - 1 : 0) : (2 * i - 3 & 3) == 3 ? i : m - 1][j];"""
ALONE = "for (j = 0; j < m; j++) y[0][j] = x[0][j > 3 ? j - 1 : j];"


def text(body: str) -> str:
    result = optimize(source_of(body, PARAMS), Options(eager=True))
    assert [remark.id for remark in result.remarks if remark.kind == "passed"] == ["region.transformed"]
    return result.text.decode()


@pytest.mark.parametrize("body", [LINES, PARITY, BITS], ids=["lines", "parity", "bits"])
def test_a_variable_stands_in_front_of_the_loop(body: str) -> None:
    found = text(body)
    assert re.search(r"long chosen = [^\n]*\?[^\n]*;\n( *long chosen2 = [^\n]*\n)?( *#[^\n]*\n)* *for \(", found)
    assert not re.search(r"\[[^]\n]*\?", found)


def test_low_bits_are_remainders() -> None:
    """C's where they are compared with 0, and else those of numbers below 0, too."""
    found = text(BITS)
    assert "k % 2 != 0 ? " in found
    assert "scopt_mod(2 * i - 3, 4) == 3 ? " in found


def test_clamped_flat_rows_run_in_strips() -> None:
    """With what else stands in front of the loop, whose references lie along it wherever a choice begins them."""
    params = "int n, int m, int r, unsigned long stride, unsigned char y[90][70], const unsigned char *x, const int *c"
    line = "(i + k < 0 ? 0 : i + k > n - 1 ? n - 1 : i + k)"
    body = f"""for (i = 0; i < n; i++) for (j = 0; j < m; j++) {{ int sum = 8;
  for (k = -r; k <= r; k++) sum += c[k + r] * x[{line} * stride + j]; y[i][j] = sum >> 4; }}"""
    found = optimize(source_of(body, params), Options(eager=True)).text.decode()
    assert re.search(r"long chosen = [^\n]*;\n( *#[^\n]*\n)* *for \([^\n]*\n *sum_rows\[.*\] \+= c_0 \* x\[", found)


def test_choices_of_the_loop_itself_stay() -> None:
    assert "chosen" not in text(ALONE)


def test_quotients_are_those_of_names() -> None:
    """Of a sum, C's and the mathematical one are simplified in different ways."""
    assert "chosen" not in text(
        "for (i = 0; i < n; i++) for (j = 0; j < m; j++) y[i][j] = x[(2 * i - 1) % 2 ? i : 0][j];"
    )


def nest() -> tuple[Scop, LoopNest, Emitted]:
    scop = scop_of("for (i = 0; i < n; i++) for (j = 0; j < m; j++) A[i][j] = B[i > 0 ? i - 1 : 0][j];")
    inner = For("j", Const(0), Name("m"), 1, Block((Call("S0", (Name("i"), Name("j"))),)))
    outer = For("i", Const(0), Name("n"), 1, Block((inner,)))
    made = with_common_choices(scop, LoopNest(Block((outer,))))
    return scop, made, emit(scop, made)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("i > 0 ? i - 1 : 0", "i > 0 ? i - 2 : 0"),
        ("i > 0 ? i - 1 : 0", "i > 1 ? i - 1 : 0"),
        ("long chosen", "int chosen"),
        ("B[chosen][j]", "B[i][j]"),
        ("B[chosen][j]", "B[chosen][chosen]"),
    ],
)
def test_the_proof_reads_values(old: str, new: str) -> None:
    scop, made, emitted = nest()
    check_printed(scop, made, emitted)
    assert old in emitted.text
    with pytest.raises(InternalError):
        check_printed(scop, made, replace(emitted, text=emitted.text.replace(old, new)))


@pytest.mark.parametrize("name", ["i", "n", "chosen"])
def test_the_proof_compares_values_with_what_they_stand_for(name: str) -> None:
    """A nest that says something else than the statement does is refused, however it is printed."""
    scop, made, _ = nest()
    (outer,) = made.body.items
    assert isinstance(outer, For)
    (hold,) = (item for item in items(made.body) if isinstance(item, Hold))
    wrong = replace(hold, choices=(Chosen(name, Name("i")),))
    inner = LoopNest(Block((replace(outer, body=Block((wrong,))),)))
    with pytest.raises(InternalError):
        check_printed(scop, inner, emit(scop, inner))


PROGRAM = """
#include <stdio.h>
static unsigned char x[90][70], y[90][70];
int main(void) {
  for (int k = 0; k < 90 * 70; k++) x[k / 70][k % 70] = (unsigned char)(k * 2654435761u >> 13);
  for (int odd = 0; odd < 2; odd++) {
    f(88, 65, odd, x, y);
    for (int k = 0; k < 90 * 70; k++) printf("%d ", y[k / 70][k % 70]);
  }
}
"""


@pytest.mark.parametrize("body", [LINES, PARITY, BITS], ids=["lines", "parity", "bits"])
def test_results_stay(body: str, run_c: Callable[..., str]) -> None:
    made = run_c(text(body) + PROGRAM, "-O2", "-fopenmp", name="ours")
    assert made == run_c(source_of(body, PARAMS).decode() + PROGRAM, "-O2", name="theirs")
