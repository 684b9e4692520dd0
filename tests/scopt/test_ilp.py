"""Lexicographic minima: by HiGHS, by isl, and that both say the same."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest
from hypothesis import given, settings, strategies as st

from scopt.diagnostics import InternalError
from scopt.poly import ilp, row_choice
from scopt.poly.ilp import Column, LinearRow, Program, Terms, highs_lexmin, improves, isl_lexmin, lexmin
from scopt.poly.row_choice import RowBlock, row_table

Solver = Callable[[Program], tuple[int, ...] | None]
SOLVERS = pytest.mark.parametrize("solve", [highs_lexmin, isl_lexmin])


def columns(count: int, lower: int | None = 0, upper: int | None = 10) -> tuple[Column, ...]:
    return tuple(Column(f"x{k}", lower, upper) for k in range(count))


def values(program: Program, point: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sum(factor * point[column] for column, factor in objective) for objective in program.objectives)


@SOLVERS
def test_the_first_objective_comes_first(solve: Solver) -> None:
    # x + y >= 4: the least x, and then the least y, is (0, 4); the other way round it is (4, 0).
    rows = (LinearRow(((0, 1), (1, 1)), -4),)
    assert solve(Program(columns(2), rows, (((0, 1),), ((1, 1),)))) == (0, 4)
    assert solve(Program(columns(2), rows, (((1, 1),), ((0, 1),)))) == (4, 0)


@SOLVERS
def test_a_later_objective_decides_among_minima(solve: Solver) -> None:
    rows = (LinearRow(((0, 1), (1, 1), (2, 1)), -4),)
    total: Terms = ((0, 1), (1, 1), (2, 1))
    assert solve(Program(columns(3), rows, (total, ((2, -1),)))) == (0, 0, 4)
    assert solve(Program(columns(3), rows, (total, ((1, -2), (2, -1))))) == (0, 4, 0)


@SOLVERS
def test_minima_are_integers(solve: Solver) -> None:
    # 2x >= 3 and 3y >= 4x: (1.5, 2) over the rationals.
    rows = (LinearRow(((0, 2),), -3), LinearRow(((0, -4), (1, 3))))
    assert solve(Program(columns(2), rows, (((0, 1),), ((1, 1),)))) == (2, 3)


@SOLVERS
def test_equalities(solve: Solver) -> None:
    rows = (LinearRow(((0, 2), (1, 3)), -12, equality=True),)
    assert solve(Program(columns(2), rows, (((1, -1),),))) == (0, 4)
    assert solve(Program(columns(2), (LinearRow(((0, 2), (1, 4)), -7, equality=True),), (((0, 1),),))) is None


@SOLVERS
def test_no_point(solve: Solver) -> None:
    assert solve(Program(columns(1), (LinearRow(((0, 1),), -11),), (((0, 1),),))) is None
    assert solve(Program(columns(1), (LinearRow((), -1),), (((0, 1),),))) is None
    assert solve(Program(columns(1), (LinearRow((), 1, equality=True),))) is None


@SOLVERS
def test_rows_without_unknowns_that_hold_are_nothing(solve: Solver) -> None:
    assert solve(Program(columns(1, 3), (LinearRow((), 5), LinearRow((), 0, equality=True)), (((0, 1),),))) == (3,)


@SOLVERS
def test_without_objectives_any_point_will_do(solve: Solver) -> None:
    program = Program(columns(2, -3, 3), (LinearRow(((0, 1), (1, 1)), 5, equality=True),))
    point = solve(program)
    assert point is not None
    assert program.allows(point)


@SOLVERS
def test_columns_without_upper_bound(solve: Solver) -> None:
    assert solve(Program(columns(2, 0, None), (LinearRow(((0, 1), (1, -3)), -7),), (((0, 1),), ((1, -1),)))) == (7, 0)


@SOLVERS
def test_columns_without_lower_bound(solve: Solver) -> None:
    assert solve(Program(columns(1, None, None), (LinearRow(((0, 1),), 7),), (((0, 1),),))) == (-7,)


FREE = Column("x", None, None)


@pytest.mark.parametrize(
    ("program", "number"),
    [
        (Program((FREE,), (), (((0, 1),),)), 0),
        (Program(columns(2, 0, None), (LinearRow(((0, 1), (1, -1))),), (((0, -1), (1, 1)),)), 0),
        (Program((Column("y"), FREE), (), (((0, 1),), ((1, 1),))), 1),
    ],
)
def test_an_objective_without_minimum_is_an_error(program: Program, number: int) -> None:
    with pytest.raises(InternalError, match=f"objective {number} "):
        lexmin(program)


def test_where_no_point_is_nothing_is_unbounded() -> None:
    assert lexmin(Program((FREE, Column("y", 0, 3)), (LinearRow(((1, 1),), -5),), (((0, 1),),))) is None
    # 2y + 4z = 7 has rational points only.
    rows = (LinearRow(((1, 2), (2, 4)), -7, equality=True),)
    assert lexmin(Program((FREE, *columns(2, 0, None)), rows, (((0, 1),),))) is None


def test_a_point_is_checked_exactly() -> None:
    program = Program(
        (Column("x", -1, 1), Column("y", None, 5)),
        (LinearRow(((0, 3), (1, 1)), -2), LinearRow(((0, 1), (1, -1)), 0, equality=True)),
    )
    assert program.allows((1, 1))
    assert not program.allows((0, 0))
    assert not program.allows((1, 2))
    assert not program.allows((2, 2))


# --- inexact answers --------------------------------------------------------------------------------------------------


def test_an_inexact_answer_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A solver that gives another point than it should, by way of a looser program."""
    program = Program(columns(2), (LinearRow(((0, 1), (1, 1)), -4),), (((0, 1), (1, 1)),))
    loaded = ilp._loaded
    monkeypatch.setattr(ilp, "_loaded", lambda given: loaded(Program(given.columns, (), given.objectives)))
    with pytest.raises(ArithmeticError, match="inexact"):
        highs_lexmin(program)
    assert sum(lexmin(program) or ()) == 4


def test_large_factors_are_exact_after_all() -> None:
    """2⁵³ + 1 isn't a double: x = 2⁵³ + 1 can't be what HiGHS finds."""
    odd = (1 << 53) + 1
    assert lexmin(Program((Column("x", 0, None),), (LinearRow(((0, 1),), -odd, equality=True),), (((0, 1),),))) == (
        odd,
    )


def test_isl_is_asked_where_highs_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def failing(program: Program) -> None:
        asked.append(program)
        raise ArithmeticError

    monkeypatch.setattr(ilp, "highs_lexmin", failing)
    program = Program(columns(2), (LinearRow(((0, 1), (1, 1)), -4),), (((0, 1),), ((1, 1),)))
    assert lexmin(program) == (0, 4)
    assert asked == [program]


# --- HiGHS against isl ------------------------------------------------------------------------------------------------


@st.composite
def programs(draw: st.DrawFn) -> Program:
    count = draw(st.integers(1, 4))

    def terms(most: int) -> Terms:
        factors = draw(st.lists(st.integers(-most, most), min_size=count, max_size=count))
        return tuple((column, factor) for column, factor in enumerate(factors) if factor)

    bounds = [draw(st.tuples(st.integers(-5, 2), st.integers(0, 6))) for _ in range(count)]
    rows = [
        LinearRow(terms(5), draw(st.integers(-9, 9)), draw(st.integers(0, 3)) == 0)
        for _ in range(draw(st.integers(0, 5)))
    ]
    objectives = [terms(3) for _ in range(draw(st.integers(1, 3)))]
    return Program(
        tuple(Column(f"x{k}", low, low + width) for k, (low, width) in enumerate(bounds)),
        tuple(rows),
        tuple(objectives),
    )


def test_a_program_that_isl_s_lexmin_gives_up() -> None:
    program = Program((Column("x0", 0, 1), Column("x1", 0, 1)), (LinearRow(((0, -1), (1, 1)), 0),), (((0, -2),),))
    assert isl_lexmin(program) == (1, 1)


@given(programs())
@settings(max_examples=150, deadline=None)
def test_highs_and_isl_agree(program: Program) -> None:
    found, exact = highs_lexmin(program), isl_lexmin(program)
    assert (found is None) == (exact is None)
    if found is not None and exact is not None:
        assert program.allows(found)
        assert program.allows(exact)
        assert values(program, found) == values(program, exact)


@given(programs(), st.lists(st.integers(-2, 2), min_size=3, max_size=3))
@settings(max_examples=60, deadline=None)
def test_what_improves_has_lesser_minima(program: Program, steps: list[int]) -> None:
    exact = isl_lexmin(program)
    least = values(program, exact) if exact is not None else (0,) * len(program.objectives)
    known = tuple(value + step for value, step in zip(least, steps, strict=False))
    assert improves(program, known) == (exact is not None and least < known)


@given(programs())
@settings(max_examples=100, deadline=None)
def test_choices_are_made_among_all_numbers_first(program: Program) -> None:
    """As many choices as possible, by the relaxation where that is exact: no other values than isl finds."""
    chosen = Program(
        (*program.columns, Column("e0", 0, 1), Column("e1", 0, 1)),
        tuple(
            row._replace(terms=(*row.terms, (len(program.columns) + k % 2, -2))) for k, row in enumerate(program.rows)
        ),
        (((len(program.columns), -1), (len(program.columns) + 1, -1)), *program.objectives),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ilp, "_MANY_ROWS", -1)
        found = highs_lexmin(chosen)
    exact = isl_lexmin(chosen)
    assert (found is None) == (exact is None)
    if found is not None and exact is not None:
        assert chosen.allows(found)
        assert values(chosen, found) == values(chosen, exact)


def test_nothing_is_printed() -> None:
    # In a process of its own: the C library writes what it has kept when that ends.
    program = "from scopt.poly.quiet_solver import quiet_solver; quiet_solver().run()"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")


# --- programs of many rows --------------------------------------------------------------------------------------------


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_few_of_many_rows_are_enough(data: st.DataObject) -> None:
    """A solver that is given rows one after the other finds what it finds of all, as far as objectives go."""
    program = data.draw(programs())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_choice, "FEW_ROWS", 0)
        patch.setattr(row_choice, "FEW_PER_COLUMN", 0)
        patch.setattr(row_choice, "MORE_ROWS", 1)
        patch.setattr(row_choice, "_SHORT", 0)
        few = highs_lexmin(program)
    found = highs_lexmin(program)
    assert (few is None) == (found is None)
    if few is not None and found is not None:
        assert program.allows(few)
        assert values(program, few) == values(program, found)


def test_rows_are_broken_by_as_much_as_they_are() -> None:
    large = 1 << 61
    rows = [
        LinearRow(((0, 1), (1, -1)), 2),
        LinearRow(((0, 1),), -3, equality=True),
        LinearRow(((0, large), (1, large)), 0),
    ]
    assert row_table(rows).broken_by((1, 5)).tolist() == [2, 2, 0]
    assert row_table(rows).broken_by((-7, 1)).tolist() == [6, 10, 6 * large]  # beyond 64 bits


def test_blocks_of_rows_are_all_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_choice, "FEW_ROWS", 0)
    monkeypatch.setattr(row_choice, "FEW_PER_COLUMN", 0)
    blocks = (RowBlock([LinearRow(((0, 1), (1, 1), (2, 1), (3, 1)), -9)]), RowBlock([LinearRow(((0, -1),), 2)]))
    rows = tuple(row for block in blocks for row in block.rows)
    total = tuple((k, 1) for k in range(4))
    point = highs_lexmin(Program(columns(4, 0, 4), rows, (total, ((0, -1),)), blocks))
    assert point is not None
    assert (sum(point), point[0]) == (9, 2)


def test_a_row_that_is_left_out_at_first_may_bound_an_objective(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_choice, "FEW_ROWS", 0)
    monkeypatch.setattr(row_choice, "FEW_PER_COLUMN", 0)
    monkeypatch.setattr(row_choice, "_SHORT", 0)
    free = tuple(Column(f"x{k}", None, None) for k in range(2))
    assert highs_lexmin(Program(free, (LinearRow(((0, 1),), 7), LinearRow(((1, 1),), 0)), (((0, 1), (1, 1)),))) == (
        -7,
        0,
    )
