"""Buffers: texts that fill them, use them or empty them otherwise are refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from scopt.astgen.transformed_program import Program
from scopt.ir.expr import plus
from scopt.ir.nest import Call, For
from scopt.ir.nest_walks import Item
from tests.check import planted
from tests.check.planted import (
    FACTORIZATION,
    FILTER,
    LARGE,
    LAST,
    MATRICES,
    PRODUCT,
    ROWS,
    SEEN,
    SWEEP,
    TRIANGULAR,
    check,
    program_of,
    refused,
    reordered,
    runs,
    with_body,
    with_nest,
    without,
)

Fault = Callable[[Program], Program]
# Where calls that copy many cells say how many rows these are in, and how many steps there are along each.
LINES, STEPS = -2, -1


@pytest.mark.parametrize("body", [FACTORIZATION, LAST], ids=["factorization", "panels that the last tiles write"])
def test_sound_texts_are_not_refused(body: str) -> None:
    program, deps = program_of(body, LARGE if body is LAST else MATRICES)
    assert program.lowered.made or program.buffered.packed
    check(program, deps)


def dropped(*names: str) -> Fault:
    return lambda program: with_nest(program, without(names))


def behind(first: str, after: str) -> Fault:
    return lambda program: reordered(program, first, after)


def moved(statement: str, array: str, position: int = -1, by: str = "1") -> Fault:
    return lambda program: with_body(program, statement, planted.moved(array, position, by))


def shared(program: Program) -> Program:
    """All threads use the same variables."""

    def visit(item: Item) -> tuple[Item, ...]:
        return (replace(item, mark=replace(item.mark, private=())),) if isinstance(item, For) else (item,)

    return with_nest(program, visit)


def shorter(*statements: str, lower: int = 0, upper: int = -1) -> Fault:
    """Innermost loops over statements begin and end elsewhere."""

    def visit(item: Item) -> tuple[Item, ...]:
        if (
            isinstance(item, For)
            and runs(item) == set(statements)
            and all(isinstance(one, Call) for one in item.body.items)
        ):
            return (replace(item, lower=plus(item.lower, lower), upper=plus(item.upper, upper)),)
        return (item,)

    return lambda program: with_nest(program, visit)


def fewer(statement: str, position: int) -> Fault:
    """Calls that copy many cells copy less. position: of the number of rows, or of each one's cells, in the call."""

    def visit(item: Item) -> tuple[Item, ...]:
        if not isinstance(item, Call) or item.statement != statement:
            return (item,)
        arguments = list(item.args)
        arguments[position] = plus(arguments[position], -1)
        return (replace(item, args=tuple(arguments)),)

    return lambda program: with_nest(program, visit)


def smaller(name: str) -> Fault:
    """A buffer with one element less."""

    def fault(program: Program) -> Program:
        array = program.scop.arrays[name]
        (size,) = array.sizes
        assert size is not None
        arrays = {**program.scop.arrays, name: replace(array, sizes=(size - 1,))}
        return replace(program, scop=replace(program.scop, arrays=arrays))

    return fault


def narrower(old: str, new: str) -> Fault:
    """Memory of another size."""

    def fault(program: Program) -> Program:
        allocations = program.buffered.allocations
        needed = tuple(replace(one, declaration=one.declaration.replace(old, new)) for one in allocations)
        assert needed != allocations
        return replace(program, buffered=replace(program.buffered, allocations=needed))

    return fault


@pytest.mark.parametrize(
    ("fault", "match"),
    [
        pytest.param(dropped("S0_load"), "'C_tile'", id="no load"),
        pytest.param(dropped("S0_store"), "'C_tile'", id="no store"),
        pytest.param(dropped("S0_rows0_all"), "'A_rows'", id="no rows"),
        pytest.param(behind("S0_load", "S0_part_steps"), "copied in too late", id="load behind the steps"),
        pytest.param(behind("S0_part_steps", "S0_store"), "copied out too early", id="store before the steps"),
        pytest.param(behind("S0_columns0", "S0_part_steps"), "copied in too late", id="columns behind the tile"),
        pytest.param(shared, "threads|shared|private", id="threads share buffers"),
        pytest.param(shorter("S0_load"), "'C_tile'", id="a column isn't loaded"),
        pytest.param(shorter("S0_load", lower=1, upper=0), "'C_tile'", id="nor the first one"),
        pytest.param(shorter("S0_store"), "'C_tile'", id="a column isn't stored"),
        pytest.param(shorter("S0_columns0"), "'B_columns'", id="a column isn't packed"),
        pytest.param(moved("S0_load", "C"), "two things|need not exist", id="other cells are loaded"),
        pytest.param(moved("S0_store", "C", 0), "two things", id="cells are stored in another row"),
        pytest.param(moved("S0_columns0", "B_columns"), "two things|where nothing", id="columns at another place"),
        pytest.param(smaller("A_rows"), "A_rows", id="room for rows"),
        pytest.param(smaller("B_columns"), "B_columns", id="room for columns"),
        pytest.param(smaller("C_tile"), "C_tile", id="room for cells"),
    ],
)
def test_faults_in_register_tiles(fault: Fault, match: str) -> None:
    program, deps = program_of(PRODUCT)
    refused(fault(program), deps, match)


@pytest.mark.parametrize(
    ("fault", "match"),
    [
        pytest.param(moved("S0_load", "B"), "two things|need not exist", id="other cells are loaded"),
        pytest.param(behind("S0_load", "S0_part_steps"), "copied in too late", id="load behind the steps"),
    ],
)
def test_faults_in_a_product_in_place(fault: Fault, match: str) -> None:
    program, deps = program_of(TRIANGULAR)
    refused(fault(program), deps, match)


@pytest.mark.parametrize(
    ("fault", "match"),
    [
        pytest.param(dropped("B_in"), "'B_rows'", id="nothing is copied in"),
        pytest.param(dropped("A_out"), "'A'|'A_rows'", id="nothing is copied out"),
        pytest.param(shorter("B_in"), "'B_rows'", id="a column less is copied in"),
        pytest.param(shorter("A_out"), "'A'|'A_rows'", id="a column less is copied out"),
        pytest.param(behind("B_in", "S1_rows"), "copied in too late", id="copied in too late"),
        pytest.param(behind("S1_rows", "A_out"), "copied out too early", id="copied out too early"),
        pytest.param(dropped("thread"), "thread", id="no thread is chosen"),
        pytest.param(behind("thread", "B_in"), "thread", id="the thread is chosen too late"),
        pytest.param(shared, "is shared", id="threads share their number"),
        pytest.param(moved("B_in", "B"), "two things|need not exist", id="other cells are copied in"),
        pytest.param(moved("A_out", "A"), "two things|nothing has been put", id="other cells are overwritten"),
        pytest.param(moved("S1_rows", "A_rows", -2), "A_rows|order", id="a statement writes another cell"),
        pytest.param(narrower("[32]", "[31]"), "A_rows|B_rows", id="room for fewer rows"),
    ],
)
def test_faults_in_strips(fault: Fault, match: str) -> None:
    program, deps = program_of(SWEEP, ROWS)
    assert not program.buffered.turned
    refused(fault(program), deps, match)


@pytest.mark.parametrize(
    ("fault", "match"),
    [
        pytest.param(dropped("B_in_turned"), "'B_rows'", id="nothing is copied in"),
        pytest.param(dropped("A_out_turned"), "'A'|'A_rows'", id="nothing is copied out"),
        pytest.param(fewer("B_in_turned", STEPS), "'B_rows'", id="a column less is copied in"),
        pytest.param(fewer("B_in_turned", LINES), "'B_rows'", id="a row less is copied in"),
        pytest.param(fewer("A_out_turned", STEPS), "'A'|'A_rows'", id="a column less is copied out"),
        pytest.param(fewer("A_out_turned", LINES), "'A'|'A_rows'", id="a row less is copied out"),
        pytest.param(behind("B_in_turned", "S1_rows"), "copied in too late", id="copied in too late"),
        pytest.param(behind("S1_rows", "A_out_turned"), "copied out too early", id="copied out too early"),
        pytest.param(behind("thread", "B_in_turned"), "thread", id="the thread is chosen too late"),
        pytest.param(shared, "is shared", id="threads share their number"),
        pytest.param(moved("B_in_turned", "B"), "packs something else", id="other cells are copied in"),
        pytest.param(moved("A_out_turned", "A"), "packs something else", id="other cells are overwritten"),
        pytest.param(narrower("[32]", "[31]"), "packs to other places", id="room for fewer rows"),
    ],
)
def test_faults_in_strips_that_are_turned(fault: Fault, match: str) -> None:
    program, deps = program_of(SWEEP)
    refused(fault(program), deps, match)


def test_rows_have_scalars_of_their_own() -> None:
    program, deps = program_of(FILTER)
    for statement in ("S0_rows", "S1_rows", "S2_rows"):
        refused(moved(statement, "s_rows")(program), deps, "s_rows")
    refused(smaller("s_rows")(program), deps, "s_rows")
    refused(shared(program), deps, "is shared")


def test_scalars_that_are_written_perhaps_stay_in_their_row() -> None:
    program, deps = program_of(SEEN, LARGE)
    check(program, deps)
    refused(shared(program), deps, "is shared")


@pytest.mark.parametrize(
    ("fault", "match"),
    [
        pytest.param(dropped("Q_in"), "Q_panel", id="nothing is copied in"),
        pytest.param(dropped("Q_out"), "Q", id="nothing is copied out"),
        pytest.param(shorter("Q_out"), "Q", id="a column less is copied out"),
        pytest.param(behind("Q_in", "S1_packed"), "Q_panel", id="copied in too late"),
        pytest.param(behind("Q_panel_choice", "Q_in"), "Q_panel", id="the panel is chosen too late"),
        pytest.param(dropped("Q_panel_choice"), "Q_panel", id="no panel is chosen"),
        pytest.param(shared, "A_panel|Q_panel", id="threads share their panels"),
        pytest.param(narrower("[32]", "[31]"), "Q_panel", id="panels are narrower"),
    ],
)
def test_faults_in_panels(fault: Fault, match: str) -> None:
    program, deps = program_of(LAST, LARGE)
    refused(fault(program), deps, match, 4_000_000)


# --- from a stage to the outcome --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "store", "others"),
    [
        pytest.param(ROWS, "A_out", [shorter("B_in"), behind("B_in", "S1_rows")], id="loops"),
        pytest.param(
            MATRICES, "A_out_turned", [fewer("B_in_turned", STEPS), behind("B_in_turned", "S1_rows")], id="calls"
        ),
    ],
)
def test_a_region_with_a_fault_is_transformed_otherwise(params: str, store: str, others: list[Fault]) -> None:
    assert not planted.given_up(SWEEP, params, "strips-and-panels", lambda buffered: buffered)
    other = planted.moved("A")
    planting = lambda buffered: replace(buffered, scop=planted.with_statement(buffered.scop, store, other))  # noqa: E731
    assert planted.given_up(SWEEP, params, "strips-and-panels", planting)
    for fault in (dropped(store), shared, *others):
        assert planted.given_up(SWEEP, params, "held-cells", fault)
