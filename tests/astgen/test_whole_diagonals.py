"""Diagonals of rows beside each other: those that no border cuts off, as straight code whose values are handed on."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from scopt.astgen.passes.carried_cells import with_carried_cells
from scopt.astgen.passes.held_check import check_held
from scopt.astgen.passes.whole_diagonals import with_whole_diagonals
from scopt.diagnostics import InternalError
from scopt.ir.expr import add, compare, conjunction, maximum, minimum, plus, subtract
from scopt.ir.nest import Block, Call, Condition, Const, For, Held, Hold, If, LoopMark, LoopNest, Name
from scopt.ir.scop import Scop
from scopt.options import Options
from tests.sources import optimize, scop_of

ROW, JS, N = Name("i"), Name("js"), Name("n")
LAST = plus(N, -1)
PARAMS = "int n, double a[n][n], double b[n], int c[n][n]"
BESIDE = LoopMark(scalar=True, most=5)
FULL = conjunction(
    [compare(plus(JS, -4), ">=", Const(1)), compare(plus(JS, -1), "<=", LAST), compare(LAST, ">", Const(4))]
)


def made(body: str, mark: LoopMark = BESIDE, full: Condition = FULL) -> tuple[Scop, LoopNest]:
    """The SCoP of a sweep, and a nest of its first four rows along diagonals."""
    scop = scop_of(f"for (i = 1; i < n; i++) for (j = 1; j < n; j++) {{ {body} }}", PARAMS)
    calls = Block(tuple(Call(one.name, (ROW, subtract(JS, ROW))) for one in scop.statements))
    rows = For("i", maximum([Const(1), subtract(JS, LAST)]), minimum([Const(4), plus(JS, -1), LAST]), 1, calls, mark)
    whole = For("i", Const(1), Const(4), 1, calls, mark)
    diagonals = For("js", Const(2), plus(LAST, 4), 1, Block((If(full, Block((whole,)), Block((rows,))),)))
    return scop, LoopNest(Block((diagonals,)))


def apart(nest: LoopNest) -> tuple[For, For, For]:
    """The three loops that have become of one."""
    (choice,) = nest.body.items
    assert isinstance(choice, If)
    before, middle, after = choice.then.items
    assert isinstance(before, For)
    assert isinstance(middle, For)
    assert isinstance(after, For)
    return before, middle, after


def test_a_loop_of_their_own() -> None:
    scop, nest = made("a[i][j] = a[i - 1][j] + a[i][j - 1] * b[j];")
    before, middle, after = apart(with_whole_diagonals(scop, nest))
    assert (before.lower, before.upper) == (Const(2), Const(4))
    assert (middle.lower, middle.upper) == (Const(5), N)
    assert (after.lower, after.upper) == (plus(N, 1), plus(N, 3))
    assert [one.args[0] for one in middle.body.items if isinstance(one, Call)] == [Const(k) for k in (4, 3, 2, 1)]


def test_what_they_hand_on_is_proved() -> None:
    scop, nest = made("a[i][j] = a[i - 1][j] + a[i][j - 1] * b[j];")
    carrying = with_carried_cells(scop, with_whole_diagonals(scop, nest))
    check_held(scop, carrying)
    (choice,) = carrying.body.items
    assert isinstance(choice, If)
    before, hold, after = choice.then.items
    assert isinstance(hold, Hold)
    assert [one.subscripts for one in hold.cells] == [(Const(k), Const(4 - k)) for k in (4, 3, 2, 1)]

    def changed(change: Callable[[tuple[Held, ...]], tuple[Held, ...]]) -> LoopNest:
        wrong = replace(hold, cells=change(hold.cells))
        return LoopNest(Block((replace(choice, then=Block((before, wrong, after))),)))

    for change in (
        lambda cells: cells[1:],
        lambda cells: (replace(cells[0], name=cells[1].name), replace(cells[1], name=cells[0].name), *cells[2:]),
        lambda cells: (replace(cells[0], subscripts=(Const(4), Const(1))), *cells[1:]),
    ):
        with pytest.raises(InternalError):
            check_held(scop, changed(change))


@pytest.mark.parametrize(
    ("body", "mark", "full"),
    [
        pytest.param("c[i][j] = a[i - 1][j];", BESIDE, FULL, id="nothing is handed on"),
        pytest.param("if (b[j] > 0) a[i][j] = a[i][j - 1];", BESIDE, FULL, id="perhaps"),
        pytest.param("a[i][j] = a[i][j - 1];", LoopMark(simd=True), FULL, id="a vector loop"),
        pytest.param("a[i][j] = a[i][j - 1];", LoopMark(), FULL, id="no rows beside each other"),
        pytest.param(
            "a[i][j] = a[i][j - 1];", BESIDE, compare(add(JS, JS), "<=", N), id="not from one value to another"
        ),
    ],
)
def test_others_stay(body: str, mark: LoopMark, full: Condition) -> None:
    scop, nest = made(body, mark, full)
    assert with_whole_diagonals(scop, nest) == nest


ROWS = "double a[n][n], double b[n][n]"
MAIN = """
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  for (int n = 1; n < 70; n += n < 40 ? 1 : 7) {
    TYPE *a = malloc(n * n * sizeof *a), *b = malloc(n * n * sizeof *b);
    for (int i = 0; i < n * n; i++) a[i] = (TYPE)(i % 7 * 3) / 4, b[i] = (TYPE)(i % 11) / 8;
    sweep(n, (void *)a, (void *)b);
    for (int i = 0; i < n * n; i++) printf("%g ", (double)a[i]);
    free(a), free(b);
  }
  return 0;
}
"""


@pytest.mark.parametrize(
    ("kind", "parameters", "target", "value"),
    [
        ("double", ROWS, "a[i][j]", "b[i][j] + (a[i - 1][j] < a[i][j - 1] ? a[i - 1][j] : a[i][j - 1])"),
        ("double", ROWS, "a[i][j]", "(b[i][j] - a[i - 1][j] - 0.5 * a[i][j - 1]) / (1 + b[i][j] * a[i - 1][j - 1])"),
        ("double", "double *a, double *b", "a[i * n + j]", "0.4 * a[(i - 1) * n + j] + 0.3 * a[i * n + j - 1] + b[j]"),
    ],
)
def test_results_are_the_same(kind: str, parameters: str, target: str, value: str, run_c: Callable[..., str]) -> None:
    loops = f"for (int i = 1; i < n; i++) for (int j = 1; j < n; j++) {target} = {value};"
    source = f"static void sweep(int n, {parameters}) {{\n#pragma scop\n{loops}\n#pragma endscop\n}}\n{MAIN}"
    text = optimize(source, Options(eager=True, tile_sizes=(16, 24))).text.decode()
    assert " a_0 = a[" in text
    flags = ("-O2", "-fopenmp", "-ffp-contract=off", f"-DTYPE={kind}")
    assert run_c(text, *flags, name="after") == run_c(source, *flags, name="before")
