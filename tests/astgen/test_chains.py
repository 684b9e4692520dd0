"""Products that are added one after the other: where a function stands in between, and that the text is checked."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from scopt.astgen.emit.emit_c import emit
from scopt.astgen.emit.helper_texts import helper_definitions
from scopt.astgen.emit.reparse import check_printed
from scopt.astgen.passes.chains import with_products_apart
from scopt.diagnostics import InternalError
from scopt.ir.nest import Block, Call, Const, For, LoopMark, LoopNest, Name, Sum
from scopt.ir.scop import Scop
from tests.sources import scop_of

ROW, J = Name("i"), Name("j")
LAST = Sum(((1, Name("n")),), -1)
SUM = "for (i = 0; i < n; i++) for (j = 0; j < n; j++) s += x[j] * y[j];"
FLOATS = "int n, float *x, float *y, float A[100][100], double *z"


def nest(mark: LoopMark = LoopMark(), call: Call = Call("S0", (ROW, J))) -> LoopNest:  # noqa: B008 - frozen
    inner = For("j", Const(0), LAST, 1, Block((call,)), mark)
    return LoopNest(Block((For("i", Const(0), LAST, 1, Block((inner,))),)))


def printed(scop: Scop, loops: LoopNest) -> str:
    made, rewritten = with_products_apart(scop, loops)
    emitted = emit(made, rewritten)
    check_printed(made, rewritten, emitted)
    assert any(helper.startswith("scopt_product") for helper in emitted.helpers) == ("scopt_product" in emitted.text)
    return emitted.text


def test_a_sum_of_products() -> None:
    assert "s += scopt_product(x[j] * y[j]);" in printed(scop_of(SUM), nest())
    cell = scop_of(SUM.replace("s += x[j]", "x[i] -= A[i][j]"))
    assert "x[i] -= scopt_product(A[i][j] * y[j]);" in printed(cell, nest())


@pytest.mark.parametrize("mark", [LoopMark(simd=True), LoopMark(parallel=True), LoopMark(jammed=True)])
def test_loops_that_do_not_wait_are_left_alone(mark: LoopMark) -> None:
    assert "scopt_product" not in printed(scop_of(SUM), nest(mark))


def test_each_iteration_its_own_cell() -> None:
    cell = scop_of(SUM.replace("s += x[j]", "x[i] += A[i][j]"))
    assert "scopt_product" not in printed(cell, nest(call=Call("S0", (J, ROW))))


@pytest.mark.parametrize(
    ("update", "found"),
    [
        ("A[i][0] += x[j] * y[j];", "A[i][0] += scopt_productf(x[j] * y[j]);"),
        ("A[i][0] += x[j] * 0.5f * (1 - y[j]);", "A[i][0] += scopt_productf(x[j] * 0.5f * (1 - y[j]));"),
        ("z[i] += x[j] * y[j];", ""),  # the product is a float, the sum a double
        ("z[i] += x[j] * z[n + j];", ""),
        ("A[i][0] += x[j] * 0.5;", ""),
        ("A[i][0] += x[j] * j;", ""),
        ("A[i][0] += x[j] + y[j];", ""),
        ("A[i][0] = x[j] * y[j];", ""),
        ("A[i][0] *= x[j] * y[j];", ""),
    ],
)
def test_all_operands_have_the_cells_type(update: str, found: str) -> None:
    text = printed(scop_of(f"for (i = 0; i < n; i++) for (j = 0; j < n; j++) {update}", FLOATS), nest())
    assert (found in text) if found else ("scopt_product" not in text)


def test_a_call_of_another_function_is_seen() -> None:
    made, rewritten = with_products_apart(scop_of(SUM), nest())
    emitted = emit(made, rewritten)
    with pytest.raises(InternalError, match="is not as it was"):
        check_printed(made, rewritten, replace(emitted, text=emitted.text.replace("scopt_product", "scopt_prod")))


def test_results_stay_the_same(run_c: Callable[..., str]) -> None:
    scop, rewritten = with_products_apart(scop_of(SUM), nest())
    emitted = emit(scop, rewritten)
    main = (
        "int main(void) { static double x[50], y[50];"
        " for (int k = 0; k < 50; k++) x[k] = 1. / (k + 1), y[k] = k - 20.3;"
    )
    calls = (
        " int n = 50; double s = 0.1, t = 0.1;"
        " for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) t += x[j] * y[j];"
    )
    text = (
        f"#include <stdio.h>\n{helper_definitions(emitted.helpers, 'long', frozenset())}{main}{calls}\n"
        f'{emitted.text} printf("%d", s == t); }}'
    )
    assert run_c(text, "-O2", "-ffp-contract=off") == "1"
