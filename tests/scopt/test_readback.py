from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl
import pytest
from msgspec.structs import replace

from scopt.diagnostics import InternalError
from scopt.ir import expr as ex
from scopt.ir.nest import (
    Block,
    Call,
    Compare,
    Const,
    Expr,
    FloorDiv,
    For,
    If,
    LoopMark,
    LoopNest,
    Max,
    Min,
    Mod,
    Name,
    Select,
)
from scopt.ir.nest_walks import items, map_block
from scopt.ir.scop import Scop
from scopt.poly.isl_utils import sets_of
from scopt.poly.readback import check_coverage, nest_to_schedule, width
from tests.astgen.scops import S, dates, loops, make_scop, trace

IT, N = Name("i"), Name("n")
LINE = make_scop(S("S0[i] : 0 <= i < n"))
SQUARE = make_scop(S("S0[i, j] : 0 <= i < n and 0 <= j < n"))
TWO = make_scop(S("S0[i, j] : 0 <= i < n and 0 <= j <= i"), S("S1[i] : 1 <= i < n"))


def line(*body: For | If | Call, lower: Expr, upper: Expr, step: int = 1) -> LoopNest:
    return LoopNest(Block((For("i", lower, upper, step, Block(body)),)))


def assert_dates_follow_execution(scop: Scop, nest: LoopNest, values: Mapping[str, int]) -> None:
    when = dates(nest_to_schedule(scop, nest).schedule, values)
    ran = trace(nest, values)
    assert set(ran) == set(when)
    assert [when[instance] for instance in ran] == sorted(set(when.values()))


CALL = Call("S0", (IT,))
LAST = ex.plus(N, -1)
EVEN = Compare(Mod(IT, 2, zero_test=True), "==", Const(0))
NESTS = {
    "plain": line(CALL, lower=Const(0), upper=LAST),
    "reversed": line(Call("S0", (ex.scale(IT, -1),)), lower=ex.scale(LAST, -1), upper=Const(0)),
    "minimum above": line(CALL, lower=Const(0), upper=Min((Const(4), LAST))),
    "maximum above": line(CALL, lower=Const(0), upper=Max((Const(4), LAST))),
    "maximum below": line(CALL, lower=Max((Const(-2), ex.scale(N, -1))), upper=LAST),
    "minimum below": line(CALL, lower=Min((Const(2), ex.scale(N, -1))), upper=LAST),
    "step": line(CALL, lower=Const(1), upper=LAST, step=3),
    "step from a parameter": line(CALL, lower=ex.scale(N, -1), upper=LAST, step=2),
    "step from incongruent bounds": line(CALL, lower=Max((Const(-3), ex.scale(N, -1))), upper=LAST, step=3),
    "step from congruent bounds": line(
        CALL, lower=Max((Const(-3), ex.add(ex.plus(N, -9), ex.scale(Mod(N, 3), -1)))), upper=LAST, step=3
    ),
    "floor division": line(
        Call("S0", (FloorDiv(ex.plus(IT, -5), 2),)), lower=Const(0), upper=FloorDiv(ex.scale(N, 7), 2), step=2
    ),
    "remainder": line(Call("S0", (ex.add(IT, Mod(ex.plus(IT, -4), 3)),)), lower=Const(0), upper=LAST, step=3),
    "select": line(CALL, lower=Const(0), upper=Select(Compare(N, ">", Const(3)), LAST, Const(6))),
    "select of arguments": line(
        Call("S0", (Select(Compare(IT, "<", Const(3)), ex.plus(IT, 100), IT),)), lower=Const(0), upper=LAST
    ),
    "if": line(If(EVEN, Block((CALL,))), lower=Const(0), upper=LAST),
    "if and else": line(
        If(EVEN, Block((CALL,)), Block((Call("S0", (ex.plus(IT, 100),)),))), lower=Const(0), upper=LAST
    ),
    "not equal": line(If(Compare(IT, "!=", Const(2)), Block((CALL,))), lower=Const(0), upper=LAST),
    "or": line(
        If(ex.disjunction((Compare(IT, "<", Const(2)), Compare(IT, ">", Const(4)))), Block((CALL,))),
        lower=Const(0),
        upper=LAST,
    ),
    "sequence in an if": line(If(EVEN, Block((CALL, Call("S0", (ex.plus(IT, 1),))))), lower=Const(0), upper=LAST),
}


@pytest.mark.parametrize("n", [0, 1, 4, 9])
@pytest.mark.parametrize("nest", NESTS.values(), ids=NESTS.keys())
def test_hand_written_nests(nest: LoopNest, n: int) -> None:
    assert_dates_follow_execution(LINE, nest, {"n": n})


@pytest.mark.parametrize("n", [0, 1, 7])
@pytest.mark.parametrize("sizes", [(), (2, 3), (4, 4)])
@pytest.mark.parametrize(
    "rows",
    [
        ("S0[i, j] -> [i]", "S0[i, j] -> [j]"),
        ("S0[i, j] -> [i + j]", "S0[i, j] -> [j]"),
        ("S0[i, j] -> [2i + j]", "S0[i, j] -> [-j]"),
        ("S0[i, j] -> [2j]", "S0[i, j] -> [3i]"),
    ],
)
def test_generated_nests(rows: Sequence[str], sizes: Sequence[int], n: int) -> None:
    nest = loops(SQUARE, *rows, sizes=sizes)
    check_coverage(SQUARE, nest_to_schedule(SQUARE, nest))
    assert_dates_follow_execution(SQUARE, nest, {"n": n})


def test_dates_are_padded_to_one_length() -> None:
    nest = loops(TWO, "S0[i, j] -> [i]; S1[i] -> [i]", "S0[i, j] -> [j]; S1[i] -> [0]")
    read = nest_to_schedule(TWO, nest)
    check_coverage(TWO, read)
    assert read.dims == 5
    assert {len(date) for date in dates(read.schedule, {"n": 3}).values()} == {5}


def test_marked_loops_and_what_they_run() -> None:
    parallel, simd = LoopMark(parallel=True), LoopMark(simd=True, private=("t",))
    nest = loops(
        TWO,
        "S0[i, j] -> [0]; S1[i] -> [1]",
        "S0[i, j] -> [i]; S1[i] -> [i]",
        "S0[i, j] -> [j]; S1[i] -> [0]",
        marks={1: parallel, 2: simd},
    )
    read = nest_to_schedule(TWO, nest)
    summary = [
        (loop.dimension, loop.mark, [s.get_tuple_name() for s in sets_of(loop.statements)]) for loop in read.loops
    ]
    assert summary == [(1, parallel, ["S0"]), (3, simd, ["S0"]), (1, parallel, ["S1"])]
    assert read.loops[0].statements.is_equal(isl.UnionSet.from_set(TWO.statements[0].domain))


def changed(nest: LoopNest, **new: object) -> LoopNest:
    """The nest with its innermost loop changed."""
    innermost = [item for item in items(nest.body) if isinstance(item, For)][-1]
    return LoopNest(map_block(nest.body, lambda item: (replace(innermost, **new) if item == innermost else item,)))  # type: ignore[arg-type]


TILED = loops(SQUARE, "S0[i, j] -> [i]", "S0[i, j] -> [j]", sizes=(4, 4))


@pytest.mark.parametrize(
    ("nest", "message"),
    [
        (changed(TILED, upper=ex.plus(N, -2)), "is not executed"),
        (changed(TILED, lower=Max((Name("jt"), Const(1)))), "is not executed"),
        (changed(TILED, step=2), "is not executed"),
        (changed(TILED, upper=ex.plus(Name("jt"), 3)), "not in its domain"),
        (changed(TILED, upper=Min((LAST, ex.plus(Name("jt"), 4)))), "more than once"),
        (changed(TILED, body=Block(())), "is not executed"),
        (LoopNest(Block((*TILED.body.items, *TILED.body.items))), "more than once"),
    ],
)
def test_wrong_nests_are_refused(nest: LoopNest, message: str) -> None:
    with pytest.raises(InternalError, match=message):
        check_coverage(SQUARE, nest_to_schedule(SQUARE, nest))


def test_the_message_names_an_instance() -> None:
    with pytest.raises(InternalError, match=r"n = \d+.*S0\["):
        check_coverage(SQUARE, nest_to_schedule(SQUARE, changed(TILED, upper=ex.plus(N, -2))))


def test_outside_of_the_context_anything_goes() -> None:
    scop = make_scop(S("S0[i] : 0 <= i < n"), context="n > 2")
    check_coverage(scop, nest_to_schedule(scop, line(CALL, lower=Const(0), upper=Max((LAST, Const(2))))))


def test_a_division_that_c_would_round_up_is_refused() -> None:
    half = FloorDiv(ex.plus(N, -1), 2, nonnegative=True)
    with pytest.raises(InternalError, match="negative numerator"):
        nest_to_schedule(LINE, line(CALL, lower=Const(0), upper=half))
    guarded = LoopNest(Block((If(Compare(N, ">", Const(0)), line(CALL, lower=Const(0), upper=half).body),)))
    nest_to_schedule(LINE, guarded)


def test_a_division_behind_a_condition_is_not_evaluated_where_that_fails() -> None:
    half = FloorDiv(IT, 2, nonnegative=True)
    guard = ex.conjunction((Compare(IT, ">=", Const(0)), Compare(half, ">=", Const(1))))
    both = If(guard, Block((CALL,)), Block((CALL,)))
    nest = line(both, lower=Const(-5), upper=LAST)
    assert_dates_follow_execution(LINE, nest, {"n": 4})
    with pytest.raises(InternalError, match="negative numerator"):
        nest_to_schedule(
            LINE, line(replace(both, condition=Compare(half, ">=", Const(1))), lower=Const(-5), upper=LAST)
        )


def test_a_remainder_of_unknown_sign_is_refused_but_where_it_is_compared_with_zero() -> None:
    for op, right in (("==", Const(1)), ("<", Const(0)), ("!=", N)):
        odd = If(Compare(Mod(IT, 2, zero_test=True), op, right), Block((CALL,)))  # type: ignore[arg-type]
        with pytest.raises(InternalError, match="remainder"):
            nest_to_schedule(LINE, line(odd, lower=Const(0), upper=LAST))


def test_unknown_names_are_refused() -> None:
    with pytest.raises(InternalError, match="unknown name 'k'"):
        nest_to_schedule(LINE, line(Call("S0", (Name("k"),)), lower=Const(0), upper=LAST))


def test_tests_in_many_tests_are_measured_once() -> None:
    inside = Block((CALL,))
    for _ in range(60):
        inside = Block((If(Compare(IT, ">=", Const(0)), inside),))
    assert width(inside.items[0]) == 1
