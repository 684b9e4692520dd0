"""Places of rows' extrema are those that the original finds; with any fault planted, they are refused."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest
from msgspec.structs import replace

from scopt import ir
from scopt.check.tables import check_tables
from scopt.diagnostics import InternalError
from scopt.ir.scop import Scop, Statement
from scopt.ir.walks import rebuilt
from scopt.poly.dependences import dependences
from scopt.scheduler.passes.row_totals import with_row_totals
from tests.check.test_tables import changed
from tests.sources import scop_of

PARAMS = "int n, int m, int *restrict x, int *restrict c, int best, double high, int *restrict row, int column, int *q"
BODY = """for (i = 0; i < m; i++) { for (j = 1; j < n; j++) {
  x[j] = (x[j] > x[j - 1] ? x[j] : x[j - 1]) + c[i];
  if (x[j] > best) { *row = i; best = x[j]; column = j; } } q[i] = best; }"""
NUMBERS = BODY.replace("x[j] > best)", "high < x[j])").replace("best = x[j]", "high = x[j]").replace("= best", "= high")


@cache
def made_of(body: str) -> tuple[Scop, Scop]:
    scop = scop_of(body, PARAMS)
    found = with_row_totals(scop, dependences(scop))
    assert found is not None
    return scop, found.scop


@pytest.mark.parametrize("body", [BODY, NUMBERS], ids=["integers", "numbers"])
def test_sound_ones_are_not_refused(body: str) -> None:
    original, made = made_of(body)
    assert {*made.arrays} - {*original.arrays} == {"high_total" if body is NUMBERS else "best_total", "column_total"}
    check_tables(original, made)


@pytest.mark.parametrize(
    "body",
    [
        BODY.replace("> best", ">= best"),
        BODY.replace("= best;", "= best + column;").replace("q[i] =", "x[0] ="),
        BODY.replace("column = j", "column += j"),
        BODY.replace("column = j", "column = *row"),
        BODY.replace("column = j", "q[j] = j"),
        BODY.replace("column = j; }", "column = j; } c[j] = column;"),
        BODY.replace("x[j] > best) ", "x[j] - column > best) ").replace("best = x[j]", "best = x[j] - column"),
    ],
    ids=["as good", "in between", "accumulated", "from another", "many cells", "read along rows", "compared with"],
)
def test_other_searches_stay(body: str) -> None:
    scop = scop_of(body, PARAMS)
    found = with_row_totals(scop, dependences(scop))
    if found is not None:  # it may have others
        assert "best_total" not in found.names or body.count("best + column")
        check_tables(scop, found.scop)


def rewritten(change: Callable[[ir.Node], ir.Node]) -> Callable[[Statement], Statement]:
    """The statement with other nodes, and the accesses of those that are left."""

    def made(one: Statement) -> Statement:
        body = rebuilt(one.body, change)
        return replace(one, body=body)

    return made


def last_left_out(one: Statement) -> Statement:
    def change(node: ir.Node) -> ir.Node:
        return ir.Compound(node.block_items[:-1]) if isinstance(node, ir.Compound) else node

    made = rebuilt(one.body, change)
    gone = (one.body.iftrue if isinstance(one.body, ir.If) else one.body).block_items[-1]  # type: ignore[union-attr]
    names = {gone.lvalue, gone.rvalue}
    return replace(one, body=made, accesses=tuple(a for a in one.accesses if a.node not in names))


def with_read(scop: Scop) -> Scop:
    """Another statement that looks at the row's own place."""
    extra = next(a for a in scop.statement("S1_add").accesses if a.array == "column_total")
    return changed(scop, "S0", lambda s: replace(s, accesses=(*s.accesses, extra)))


def constant(node: ir.Node) -> ir.Node:
    return ir.ID("n") if isinstance(node, ir.ID) and node.name == "i" else node


def swapped(node: ir.Node) -> ir.Node:
    """Sets the place to another iterator."""
    match node:
        case ir.Assignment(lvalue=cell, rvalue=ir.ID(name="j")):
            return ir.Assignment("=", cell, ir.ID("i"))
    return node


FAULTS: dict[str, Callable[[Scop], Scop]] = {
    "another place of the row": lambda s: changed(s, "S1", rewritten(swapped)),
    "another place behind it": lambda s: changed(s, "S1_add", rewritten(constant)),
    "a place left out of the row": lambda s: changed(s, "S1", last_left_out),
    "a place left out behind it": lambda s: changed(s, "S1_add", last_left_out),
    "another one that looks": with_read,
    "another type": lambda s: replace(
        s,
        arrays={
            **s.arrays,
            "column_total": replace(s.arrays["column_total"], type=replace(s.arrays["column_total"].type, bits=16)),
        },
    ),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_faults_are_refused(fault: Callable[[Scop], Scop]) -> None:
    original, made = made_of(BODY)
    with pytest.raises(InternalError):
        check_tables(original, fault(made))


def test_what_touches_a_place_in_between_is_seen() -> None:
    original = scop_of(BODY.replace("> x[j - 1]", "> x[j - 1] + column"), PARAMS)
    seen = original.statement("S0")
    blind = replace(seen, accesses=tuple(a for a in seen.accesses if a.array != "column"))
    hidden = changed(original, "S0", lambda _: blind)
    found = with_row_totals(hidden, dependences(hidden))
    assert found is not None
    with pytest.raises(InternalError, match="in between"):
        check_tables(original, changed(found.scop, "S0", lambda _: seen))
