"""Calls that pack whole panels say what the loops say that they stand for."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.lower.body_syntax import integer
from scopt.astgen.transformed_program import Program
from scopt.check.turned import check_turned
from scopt.diagnostics import InternalError
from scopt.ir.nest_walks import calls
from scopt.ir.walks import walk, with_nodes
from tests.check.planted import ACROSS, MATRICES, PRODUCT, SCALED, WITH_SCALAR, moved, program_of, with_body

CALL, LOOPS = "S0_rows0_all", "S0_rows0"


def test_calls_are_what_they_stand_for() -> None:
    for body, params, count in ((PRODUCT, MATRICES, 1), (ACROSS, MATRICES, 4), (WITH_SCALAR, SCALED, 1)):
        program, _ = program_of(body, params)
        assert len(program.lowered.turned) == count
        check_turned(program)


def test_rows_at_no_fixed_distance_are_not_turned() -> None:
    program, _ = program_of(PRODUCT)
    arrays = {name: replace(array, rows=name == "A") for name, array in program.source.arrays.items()}
    refused(replace(program, source=replace(program.source, arrays=arrays)), "fixed distances")


COMMON = """for (i = 0; i <= n; i++) S[i][0] = 0;
for (j = 0; j <= n; j++) S[0][j] = 0;
for (i = 1; i <= n; i++) for (j = 1; j <= n; j++) {
  if (x[i - 1] == y[j - 1]) S[i][j] = S[i - 1][j - 1] + 1;
  else if (S[i - 1][j] >= S[i][j - 1]) S[i][j] = S[i - 1][j];
  else S[i][j] = S[i][j - 1]; }"""
TABLE = "int n, int S[3000][3000], char x[3000], char y[3000]"
BACK, CELLS = "S_out_turned", "S_out"
Change = Callable[[ir.Node], ir.Node]


def refused(program: Program, match: str) -> None:
    with pytest.raises(InternalError, match=match):
        check_turned(program)


def test_panels_are_turned() -> None:
    program, _ = program_of(COMMON, TABLE)
    assert {one.skew for one in program.buffered.turned.values()} == {-1}
    assert BACK in {call.statement for call in calls(program.nest.body)}
    check_turned(program)


def test_panels_are_turned_as_their_loops_say() -> None:
    program, _ = program_of(COMMON, TABLE)
    buffered = program.buffered
    turned = buffered.turned[CELLS]
    others = [
        replace(turned, skew=0),
        replace(turned, skew=1),
        replace(turned, row=turned.step, step=turned.row),
    ]
    for other in others:
        changed = replace(buffered, turned={**buffered.turned, CELLS: other})
        refused(replace(program, buffered=changed), "other elements|to other places|rows to be longer")
    changed = replace(buffered, transposed=tuple(replace(one, width=one.width + 1) for one in buffered.transposed))
    refused(replace(program, buffered=changed), "to other places")
    changed = replace(buffered, transposed=tuple(replace(one, back=not one.back) for one in buffered.transposed))
    refused(replace(program, buffered=changed), "than a copy|no array|another buffer|something else")
    refused(with_body(program, BACK, argument(3, lambda length: length.left)), "rows to be longer")
    refused(with_body(program, CELLS, moved("S_panel")), "to other places")


def argument(position: int, made: Callable[[ir.Node], ir.Node]) -> Change:
    """The change of one of the call's arguments."""

    def change(body: ir.Node) -> ir.Node:
        assert isinstance(body, ir.FuncCall)
        return with_nodes(body, {body.args.exprs[position]: made(body.args.exprs[position])})

    return change


def named(node: ir.Node, old: str, new: str) -> ir.Node:
    """The node with another name in it."""
    found = (one for one in walk(node) if isinstance(one, ir.ID) and one.name == old)
    return with_nodes(node, {one: ir.ID(new) for one in found})


@pytest.mark.parametrize(
    ("change", "match"),
    [
        pytest.param(moved("A"), "packs something else", id="the next step's"),
        pytest.param(moved("A", 0), "packs something else", id="the next row's"),
        pytest.param(moved("A_rows"), "to other places", id="one element further"),
        pytest.param(argument(0, lambda node: ir.ID("$count")), "no call", id="as many rows as steps"),
        pytest.param(argument(1, lambda node: ir.ID("k")), "no call", id="another number of steps"),
        pytest.param(argument(3, lambda node: integer(99)), "rows to be longer", id="a number for the rows' length"),
        pytest.param(argument(3, lambda node: named(node, "A", "B")), "rows to be longer", id="another array's rows"),
        pytest.param(argument(2, lambda node: named(node, "A", "B")), "rows to be longer", id="another array"),
        pytest.param(argument(2, lambda node: named(node, "i", "k")), "other elements", id="a diagonal"),
        pytest.param(
            argument(2, lambda node: named(node, "A", "B_columns")), "something else than an array", id="a buffer"
        ),
        pytest.param(
            argument(4, lambda node: named(node, "A_rows", "B_columns")), "another buffer", id="to another buffer"
        ),
        pytest.param(argument(4, lambda node: named(node, "A_rows", "C")), "another buffer", id="to an array"),
        pytest.param(argument(4, lambda node: ir.ID("A_rows")), "no call", id="to the buffer's begin"),
        pytest.param(argument(5, lambda node: ir.ID("n")), "packs something else", id="another scalar"),
        pytest.param(argument(5, lambda node: integer(2)), "no call", id="a constant for the scalar"),
        pytest.param(
            lambda body: named(body, "scopt_transpose_0_0", "scopt_transpose_0_1"), "no call", id="no such function"
        ),
        pytest.param(lambda body: body.args, "no call", id="no call"),
    ],
)
def test_other_calls_are_refused(change: Change, match: str) -> None:
    refused(with_body(program_of(WITH_SCALAR, SCALED)[0], CALL, change), match)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        pytest.param(moved("A"), "packs something else", id="the next step's"),
        pytest.param(moved("A_rows"), "to other places", id="one element further"),
        pytest.param(lambda body: named(body, "a", "s"), "packs something else", id="another scalar"),
        pytest.param(
            lambda body: ir.Assignment("=", body.lvalue, body.rvalue.right), "packs something else", id="no product"
        ),
        pytest.param(lambda body: ir.Assignment("+=", body.lvalue, body.rvalue), "than a copy", id="a sum"),
    ],
)
def test_other_loops_are_refused(change: Change, match: str) -> None:
    refused(with_body(program_of(WITH_SCALAR, SCALED)[0], LOOPS, change), match)


def both(change: Change) -> Program:
    """The same change of the call and of the loops."""
    return with_body(with_body(program_of(PRODUCT)[0], CALL, change), LOOPS, change)


def test_what_both_say_has_to_be_what_the_function_does() -> None:
    check_turned(both(moved("A_rows")))
    check_turned(both(lambda body: named(body, "A", "B")))

    def across(body: ir.Node) -> ir.Node:
        return named(named(named(body, "i", "other"), "k", "i"), "other", "k")

    refused(both(across), "to other places|other elements")


def test_functions_have_to_be_those_of_the_operands() -> None:
    program, _ = program_of(PRODUCT)
    (function,) = program.lowered.transposed
    for other, match in (
        (replace(function, width=function.width + 1), "to other places"),
        (replace(function, operand=ir.BinaryOp("*", function.operand, integer(2))), "packs something else"),
        (replace(function, scalars=(ir.ID("a"),)), "no call"),
        (replace(function, type=replace(function.type, spelling="float")), "another buffer"),
    ):
        refused(replace(program, lowered=replace(program.lowered, transposed=(other,))), match)


def test_operands_read_nothing_that_the_call_does_not_say() -> None:
    program, _ = program_of(PRODUCT)
    (function,) = program.lowered.transposed
    more = ir.BinaryOp("*", function.operand, ir.ID("s"))
    program = replace(program, lowered=replace(program.lowered, transposed=(replace(function, operand=more),)))
    refused(with_body(program, LOOPS, lambda body: ir.Assignment("=", body.lvalue, more)), "reads more")


def test_iterators_have_to_be_those_that_move() -> None:
    program, _ = program_of(PRODUCT)
    (turned,) = program.lowered.turned.values()
    for other in (
        replace(turned, row=turned.step, step=turned.row),
        replace(turned, row=0),
        replace(turned, step=turned.row),
    ):
        refused(
            replace(program, lowered=replace(program.lowered, turned={LOOPS: other})), "other places|other iterators"
        )


def test_two_loops_do_not_share_a_call() -> None:
    program, _ = program_of(ACROSS)
    swapped = {
        name: replace(turned, name=turned.name.replace("rows0", "rows1"))
        for name, turned in program.lowered.turned.items()
    }
    refused(replace(program, lowered=replace(program.lowered, turned=swapped)), "two loops")
    other = {"S0_rows0": program.lowered.turned["S0_rows1"]}
    refused(replace(program, lowered=replace(program.lowered, turned=other)), "another buffer")


# Divisions enough for vectors of rows to pay, however long copies take.
LINES = """for (i = 0; i < n; i++) for (j = 1; j < n; j++)
  A[i][j] = (A[i][j - 1] + B[i][j]) / (1 + A[i][j - 1]) / (2 + A[i][j - 1]) / (3 + A[i][j - 1]) / (4 + A[i][j - 1])
    / (5 + A[i][j - 1]) / (6 + A[i][j - 1]) / (7 + A[i][j - 1]);"""


def test_rows_of_strips_are_turned() -> None:
    program, _ = program_of(LINES)
    buffered = program.buffered
    assert {one.skew for one in buffered.turned.values()} == {0}
    called = {call.statement for call in calls(program.nest.body)}
    assert {"A_out_turned", "B_in_turned"} <= called
    check_turned(program)
    for name, turned in buffered.turned.items():
        for other in (replace(turned, skew=1), replace(turned, row=turned.step, step=turned.row)):
            changed = replace(buffered, turned={**buffered.turned, name: other})
            refused(replace(program, buffered=changed), "other elements|to other places|rows to be longer")
    for name in ("A_out", "B_in"):
        array = f"{name[0]}_rows"
        refused(with_body(program, name, moved(array)), "to other places")
        # another thread's part
        refused(with_body(program, f"{name}_turned", lambda body: named(body, "thread", "x")), "linear|to other places")
        refused(with_body(program, name, lambda body: named(body, "thread", "n")), "linear|to other places")
    refused(with_body(program, "B_in_turned", lambda body: named(body, "B_rows", "A_rows")), "another buffer")
