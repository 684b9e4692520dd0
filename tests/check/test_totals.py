"""SCoPs with totals compute what the original does; with any fault planted, they are refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from scopt import ir
from scopt.check.tables import check_tables
from scopt.diagnostics import InternalError
from scopt.ir.scop import Scop, Statement
from scopt.ir.walks import changed as changed_node, rebuilt
from scopt.scheduler.passes.totals import with_totals
from tests.check.test_tables import at, changed, dated, of_copies
from tests.sources import scop_of

PARAMS = "int n, int m, const unsigned char *p, int *count, unsigned *seen, int *x, int s1, int *most"
BODY = """for (t = 0; t < m; t++) { for (i = 0; i < n; i++) { s1 += p[i + t]; x[i] = t; } x[t] = s1; }
  for (i = 0; i < n; i++) { count[0] += p[i]; count[1]++; seen[m] |= p[i]; if (p[i] > most[m]) most[m] = p[i]; }"""


def made_of(body: str) -> tuple[Scop, Scop]:
    scop = scop_of(body, PARAMS)
    found = with_totals(scop, frozenset())
    assert found is not None
    return scop, found.scop


def test_sound_ones_are_not_refused() -> None:
    original, made = made_of(BODY)
    assert {*made.arrays} - {*original.arrays} == {
        *("s1_total", "count_total", "count_total2", "seen_total", "most_total")
    }
    check_tables(original, made)


def with_constants(first: str, second: str) -> Callable[[Statement], Statement]:
    """A statement with another constant, its references kept."""

    def change(node: ir.Node) -> ir.Node:
        return ir.Constant("int", second) if isinstance(node, ir.Constant) and node.value == first else node

    return lambda one: replace(one, body=rebuilt(one.body, change))


def with_operator(op: str) -> Callable[[Statement], Statement]:
    def change(one: Statement) -> Statement:
        match one.body:
            case ir.If(cond=cond, iftrue=ir.Assignment(lvalue=cell, rvalue=value)):
                return replace(one, body=ir.If(cond, ir.Assignment(op, cell, value), None))
        raise AssertionError

    return change


def turned(one: Statement) -> Statement:
    """The other extremum."""
    match one.body:
        case ir.If(cond=ir.BinaryOp(op=">", left=left, right=right), iftrue=then):
            return replace(one, body=ir.If(ir.BinaryOp("<", left, right), then, None))
    raise AssertionError


def to_another_cell(one: Statement) -> Statement:
    """What adds a total to another cell."""

    def change(node: ir.Node) -> ir.Node:
        return changed_node(node, subscript=ir.Constant("int", "0")) if isinstance(node, ir.ArrayRef) else node

    return replace(one, body=rebuilt(one.body, change))


def with_type(scop: Scop, name: str, **changes: object) -> Scop:
    table = scop.arrays[name]
    return replace(scop, arrays={**scop.arrays, name: replace(table, type=replace(table.type, **changes))})


def name_of(scop: Scop, table: str, kind: str) -> str:
    """The statement that clears a total, or adds it."""
    return next(one.name for one in scop.statements if kind in one.name and any(a.array == table for a in one.accesses))


def at_statement(table: str, kind: str, change: Callable[[Statement], Statement]) -> Callable[[Scop], Scop]:
    return lambda scop: changed(scop, name_of(scop, table, kind), change)


FAULTS: dict[str, Callable[[Scop], Scop]] = {
    "cleared to something else": at_statement("count_total", "clear", with_constants("0", "1")),
    "another neutral value": at_statement("most_total", "clear", with_constants("2147483647", "2147483646")),
    "added by something else": at_statement("seen_total", "add", with_operator("^=")),
    "taken off": at_statement("s1_total", "add", with_operator("-=")),
    "the other extremum": at_statement("most_total", "add", turned),
    "the other cell": at_statement("count_total2", "add", to_another_cell),
    "a sum of something else": lambda s: changed(s, "S3", of_copies),
    "cleared behind": lambda s: dated(s, name_of(s, "seen_total", "clear"), at(-1, 2)),
    "added before": lambda s: dated(s, name_of(s, "seen_total", "add"), at(1, -1)),
    "never added": lambda s: replace(
        s, statements=tuple(one for one in s.statements if one.name != name_of(s, "s1_total", "add"))
    ),
    "a signed sum": lambda s: with_type(s, "s1_total", signed=True, spelling="int"),
    "an unsigned extremum": lambda s: with_type(s, "most_total", signed=False, spelling="unsigned int"),
    "a narrow one": lambda s: with_type(s, "count_total", bits=16, spelling="unsigned short"),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_faults_are_refused(fault: Callable[[Scop], Scop]) -> None:
    original, made = made_of(BODY)
    with pytest.raises(InternalError):
        check_tables(original, fault(made))


@pytest.mark.parametrize(
    "reader", ["x[i] = count[0];", "x[i] = count[i];", "count[0] = 3;", "count[p[i]] = i;", "count[m] = i;"]
)
def test_what_touches_the_cell_in_between_is_seen(reader: str) -> None:
    original = scop_of(f"for (i = 0; i < n; i++) {{ count[0] += p[i]; {reader} }}", PARAMS)
    seen = original.statement("S1")
    blind = replace(seen, accesses=tuple(a for a in seen.accesses if a.array != "count"))
    found = with_totals(changed(original, "S1", lambda _: blind), frozenset())
    assert found is not None
    with pytest.raises(InternalError, match="in between"):
        check_tables(original, changed(found.scop, "S1", lambda _: seen))


def test_cells_that_might_not_be_there_are_not_compared() -> None:
    body = "for (i = 0; i < n; i++) if (x[i]) { if (p[i] > most[m]) most[m] = p[i]; }"
    sure = scop_of(f"most[m] = 0; {body}", PARAMS)
    found = with_totals(sure, frozenset())
    assert found is not None
    check_tables(sure, found.scop)
    without = [
        replace(
            one, statements=one.statements[1:] if one is sure else tuple(s for s in one.statements if s.name != "S0")
        )
        for one in (sure, found.scop)
    ]
    with pytest.raises(InternalError):
        check_tables(*without)
