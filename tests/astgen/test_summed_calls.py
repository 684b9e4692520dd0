"""Calls that sum several rows up say what the loops say that they stand for, and their functions do it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.lower.row_sums import RowSums, Update
from scopt.astgen.passes.turned_sums import Summing
from scopt.astgen.transformed_program import Program
from scopt.check.functions.sums_of_rows import check_sums
from scopt.check.functions.workshop import Workshop
from scopt.check.summed_calls import check_row_sums
from scopt.diagnostics import InternalError
from scopt.ir.scop import Dependences
from scopt.ir.walks import walk, with_nodes
from scopt.options import Options
from scopt.poly.isl_utils import OUT
from tests.check.definitions import TYPES, checked, expression
from tests.check.planted import check, program_of, with_body
from tests.sources import optimize, source_of

PARAMS = "int n, int m, double A[3000][2000], double B[3000][2000], double x[2000], double y[3000], double w[2000]"
SUM = "for (i = 0; i < n; i++) { s = 0; for (j = 0; j < m; j++) s += A[i][j] * x[j]; y[i] = s; }"
DISTANCE = """for (i = 0; i < n; i++) { s = 0;
  for (j = 0; j < m; j++) { double d = A[i][j] - x[j]; s += d * d * w[j]; } y[i] = s; }"""
TWO = """for (i = 0; i < n; i++) { s = 0; double t = 0;
  for (j = 0; j < m; j++) { s += A[i][j] * B[i][j]; t -= A[i][j] / y[i]; } y[i] = s + t; }"""


def summed(body: str) -> tuple[Program, Dependences, str]:
    """A region in which one call sums rows up, and its statement's name."""
    program, deps = program_of(body, PARAMS)
    (name,) = program.summing.calls
    return program, deps, name


def refused(program: Program, deps: Dependences, match: str) -> None:
    with pytest.raises(InternalError, match=match):
        check_row_sums(program, deps)


def argument(position: int, made: Callable[[ir.Node], ir.Node]) -> Callable[[ir.Node], ir.Node]:
    """The change of one of the call's arguments."""

    def change(body: ir.Node) -> ir.Node:
        assert isinstance(body, ir.FuncCall)
        chosen = body.args.exprs[position]
        return with_nodes(body, {chosen: made(chosen)})

    return change


def swapped(first: str, second: str) -> Callable[[ir.Node], ir.Node]:
    """One name in another's place."""

    def change(node: ir.Node) -> ir.Node:
        return with_nodes(
            node, {one: ir.ID(second) for one in walk(node) if isinstance(one, ir.ID) and one.name == first}
        )

    return change


@pytest.mark.parametrize("body", [SUM, DISTANCE, TWO])
def test_calls_are_what_they_stand_for(body: str) -> None:
    program, deps, _ = summed(body)
    check_row_sums(program, deps)
    check(program, deps)


def test_other_calls_are_refused() -> None:
    program, deps, name = summed(SUM)
    for change, message in (
        (argument(1, swapped("i", "j")), "other elements"),
        (argument(1, swapped("A", "x")), "something else than an array"),
        (argument(3, swapped("A", "x")), "other rows"),
        (argument(3, swapped("j", "i")), "other rows"),
        (argument(9, swapped("j", "i")), "other elements"),
        (argument(9, swapped("x", "y")), "something else up"),
        (argument(10, swapped("i", "j")), "somewhere else"),
    ):
        refused(with_body(program, name, change), deps, message)
    call = program.summing.calls[name]
    for other in (replace(call, row=call.step, step=call.row), replace(call, width=call.width // 2)):
        changed = Summing({name: other}, program.summing.functions)
        refused(replace(program, summing=changed), deps, "other elements|other rows")
    function = program.summing.functions[0]
    update = replace(function.updates[0], op="-=")
    changed = Summing(program.summing.calls, (replace(function, updates=(update,)),))
    refused(replace(program, summing=changed), deps, "something else up")


def test_variables_that_others_read_are_set() -> None:
    program, deps, _ = summed(DISTANCE)
    (flow, *_) = [one for one in deps.strict().select("flow") if program.source.arrays[one.array].spelling == "d"]
    later = replace(flow, relation=flow.relation.set_tuple_name(OUT, "S0"))
    refused(program, Dependences((*deps.strict().all, later), deps.reductions), "doesn't set 'd'")


@pytest.mark.parametrize(
    "body",
    [
        SUM.replace("x[j]", "y[j]").replace("s = 0", "s = y[i]"),
        SUM.replace("A[i][j]", "(float)A[i][j]"),
        SUM.replace("A[i][j]", "A[i][2 * j]"),
        SUM.replace("A[i][j]", "A[j][i]"),
        SUM.replace("A[i][j] *", "y[n - 1 - i] *"),
        SUM.replace("A[i][j] *", "fabs(A[i][j]) *"),
        DISTANCE.replace("y[i] = s", "y[i] = s + d"),
    ],
    ids=["a sum that others read", "conversion", "every second", "columns", "no row", "call", "read behind"],
)
def test_other_loops_keep_their_statements(body: str) -> None:
    behind = "s + d" in body
    body, params = (body.replace("double d = ", "d = "), f"{PARAMS}, double d") if behind else (body, PARAMS)
    assert "scopt_sums_" not in optimize(source_of(body, params), Options(eager=True)).text.decode()


# --- functions --------------------------------------------------------------------------------------------------------


def function(width: int = 8, lanes: int = 4, ctype: str = "double") -> RowSums:
    updates = (
        Update("temporary0", "=", expression("row0 - common0")),
        Update("own0", "+=", expression("temporary0 * temporary0 * scalar0")),
        Update("own1", "-=", expression("row1 / own2")),
    )
    return RowSums("scopt_sums_0_0", updates, 2, 1, 1, 3, TYPES[ctype], width, "long", lanes)


def test_functions_do_their_updates() -> None:
    for one in (function(), function(8, 8), function(8, 8, "float")):
        assert not checked(check_sums, Workshop(), one, one.text)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("common0[k + 1]", "common0[k + 2]"),
        ("(row0_3 + k)", "(row1_3 + k)"),
        ("(row0_3 + k)", "(row0_2 + k)"),
        ("r1c2 / own2_0", "r1c3 / own2_0"),
        ("0, 4, 2, 6", "0, 4, 6, 2"),
        ("k + 4 <= count; k += 4", "k + 4 <= count; k += 3"),
        ("k < count", "k <= count"),
        ("own1_at2 -= ", "own1_at2 += "),
        ("own0[1] = own0_at1;", ""),
        ("*(scopt_sums_0_0_v *)(own0 + 4) = own0_1;", ""),
        ("long k = 0", "long k = 1"),
    ],
)
def test_faults_in_functions_are_seen(old: str, new: str) -> None:
    text = function().text
    assert old in text
    assert checked(check_sums, Workshop(), function(), text.replace(old, new))
