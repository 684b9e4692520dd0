"""What loops in order hand on in variables: where, and that nobody takes them elsewhere."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from scopt.astgen.emit.emit_c import emit
from scopt.astgen.emit.reparse import check_printed
from scopt.astgen.passes.carried_cells import with_carried_cells
from scopt.astgen.passes.held_check import check_held
from scopt.diagnostics import InternalError
from scopt.ir.expr import plus
from scopt.ir.nest import Block, Call, Const, For, Held, Hold, If, LoopMark, LoopNest, Name
from scopt.ir.scop import Scop
from tests.sources import scop_of

PARAMS = "int n, int h[100][100], int e[100][100], double y[100], double x[100], int at[100]"
ROWS = "e[i][j] = h[i][j - 1] - e[i][j - 1];\nh[i][j] = e[i][j] + h[i - 1][j];"


def made(body: str, mark: LoopMark | None = None) -> tuple[Scop, LoopNest]:
    """The SCoP of a body of two loops, and its nest in the source's order."""
    scop = scop_of(f"for (i = 1; i < n; i++) for (j = 2; j < n; j++) {{ {body} }}", PARAMS)
    calls = tuple(Call(one.name, (Name("i"), Name("j"))) for one in scop.statements)
    last = plus(Name("n"), -1)
    inner = For("j", Const(2), last, 1, Block(calls), mark or LoopMark())
    return scop, LoopNest(Block((For("i", Const(1), last, 1, Block((inner,))),)))


def region(body: str, mark: LoopMark | None = None) -> str:
    scop, nest = made(body, mark)
    carrying = with_carried_cells(scop, nest)
    check_held(scop, carrying)
    emitted = emit(scop, carrying)
    check_printed(scop, carrying, emitted)
    return " ".join(emitted.text.split())


def test_rows_hand_on_in_variables() -> None:
    assert (
        "if (n >= 3) { int e_0 = e[i][1], h_0 = h[i][1]; #pragma GCC unroll 4 for (long j = 2; j < n; j++) "
        "{ e[i][j] = h_0 - e_0; e_0 = e[i][j]; h[i][j] = e[i][j] + h[i - 1][j]; h_0 = h[i][j]; } }" in region(ROWS)
    )


@pytest.mark.parametrize(
    ("body", "carried"),
    [
        ("y[j] = x[j] + y[j - 1] / 2;", ["y_0"]),
        ("if (x[j] > 0) x[j] = 1;\ny[j] = at[j - 1] + y[j - 1];", ["y_0"]),
        ("h[i][j] = h[i][j] + h[i][j - 1];", ["h_0"]),
        ("x[j] = y[j - 1] > 0 ? 1 : 2;\ny[j] = x[j];", ["y_0"]),
        ("y[j] = x[j] + y[j - 2];", []),  # not of the last iteration
        ("y[j] = x[j] + y[1];", []),
        ("if (x[j] > 0) y[j] = y[j - 1];", []),  # perhaps
        ("y[j] += y[j - 1];", []),
        ("y[j] = y[j - 1];\ny[at[j]] = 3;", []),
        ("y[j] = x[j];\ny[1] = y[j - 1];", []),
        ("y[j] = x[j];\nx[j] = y[j - 1];", []),  # behind the write
        ("at[j] = x[j] > 3 ? at[j - 1] : 2;", []),  # nobody reads the first one for sure
        ("h[j][i] = h[j + 1][i];", []),
    ],
)
def test_what_is_handed_on(body: str, carried: list[str]) -> None:
    text = region(body)
    assert [name for name in ("e_0", "h_0", "y_0", "x_0", "at_0") if f"{name} = " in text] == carried


@pytest.mark.parametrize("mark", [LoopMark(simd=True), LoopMark(parallel=True)])
def test_loops_in_no_order_hand_nothing_on(mark: LoopMark) -> None:
    assert "y_0" not in region("y[j] = x[j] + y[j - 1] / 2;", mark)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("h_0 = h[i][1]", "h_0 = h[i][2]"),
        ("h_0 = h[i][j];", ""),
        ("h_0 = h[i][j];", "h_0 = h[i][j - 1];"),
        ("h_0 = h[i][j];", "e_0 = h[i][j];"),
        ("h_0 = h[i][j];", "h_0 += h[i][j];"),
        ("e_0 = e[i][j];", "e_0 = e[i][j]; h_0 = h[i][j];"),
        ("h_0 - e_0", "e_0 - h_0"),
    ],
)
def test_what_is_printed_is_read(old: str, new: str) -> None:
    scop, nest = made(ROWS)
    carrying = with_carried_cells(scop, nest)
    emitted = emit(scop, carrying)
    assert old in emitted.text
    with pytest.raises(InternalError):
        check_printed(scop, carrying, replace(emitted, text=emitted.text.replace(old, new, 1)))


def _changed(nest: LoopNest, change: Callable[[Hold], Hold], *, guarded: bool = True) -> LoopNest:
    """The nest with another hold in its only row."""
    (outer,) = nest.body.items
    assert isinstance(outer, For)
    (test,) = outer.body.items
    assert isinstance(test, If)
    (hold,) = test.then.items
    assert isinstance(hold, Hold)
    new = change(hold)
    item = replace(test, then=Block((new,))) if guarded else new
    return LoopNest(Block((replace(outer, body=Block((item,))),)))


def _calls(hold: Hold, change: Callable[[Call], Call]) -> Hold:
    (loop,) = hold.body.items
    assert isinstance(loop, For)
    body = Block(tuple(change(one) if isinstance(one, Call) else one for one in loop.body.items))
    return replace(hold, body=Block((replace(loop, body=body),)))


def _cells(hold: Hold, change: Callable[[Held], Held]) -> Hold:
    return replace(hold, cells=tuple(map(change, hold.cells)))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda hold: _calls(hold, lambda one: replace(one, kept=())),
        lambda hold: _calls(hold, lambda one: replace(one, kept=one.kept * 2)),
        lambda hold: _cells(hold, lambda one: replace(one, subscripts=(Name("i"), Const(2)))),
        lambda hold: _cells(hold, lambda one: replace(one, stored=True)),
        lambda hold: _cells(hold, lambda one: replace(one, carried=False)),
        lambda hold: replace(hold, body=Block(hold.body.items * 2)),
    ],
)
def test_what_is_handed_on_is_proved(wrong: Callable[[Hold], Hold]) -> None:
    scop, nest = made(ROWS)
    carrying = with_carried_cells(scop, nest)
    check_held(scop, _changed(carrying, lambda hold: hold))
    with pytest.raises(InternalError):
        check_held(scop, _changed(carrying, wrong))
    with pytest.raises(InternalError):  # the loop may be empty, and the cell not there
        check_held(scop, _changed(carrying, lambda hold: hold, guarded=False))
