from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl
import pytest

from scopt.astgen.loops.isl_loops import build
from scopt.astgen.loops.offsets import _offsets
from scopt.diagnostics import InternalError
from scopt.ir.marked_schedule import MarkedSchedule
from scopt.ir.nest import Const, For, If, LoopMark, LoopNest, Max, Min, Name, Select
from scopt.ir.nest_walks import items
from scopt.ir.scop import Scop
from scopt.poly.readback import check_coverage, nest_to_schedule
from tests.astgen.scops import S, bands, dates, instances, loops, make_scop, trace

SQUARE = S("S0[i, j] : 0 <= i < n and 0 <= j < n")
TRIANGLE = S("S0[i, j] : 0 <= i < n and 0 <= j <= i")
PARALLEL, SIMD = LoopMark(parallel=True), LoopMark(simd=True)


def fors(nest: LoopNest) -> list[For]:
    return [item for item in items(nest.body) if isinstance(item, For)]


def marks(nest: LoopNest) -> dict[str, LoopMark]:
    return {loop.iterator: loop.mark for loop in fors(nest)}


def assert_runs_as_scheduled(scop: Scop, schedule: MarkedSchedule, nest: LoopNest, values: Mapping[str, int]) -> None:
    ran = trace(nest, values)
    assert sorted(ran) == sorted(instances(scop, values))
    when = dates(schedule.tree.get_map().intersect_domain(scop.domain), values)
    assert [when[i] for i in ran] == sorted(when.values())


@pytest.mark.parametrize("n", [0, 1, 2, 7])
@pytest.mark.parametrize("sizes", [(), (2, 3)])
@pytest.mark.parametrize(
    ("statement", "rows"),
    [
        (SQUARE, ("S0[i, j] -> [i]", "S0[i, j] -> [j]")),
        (SQUARE, ("S0[i, j] -> [j]", "S0[i, j] -> [-i]")),
        (SQUARE, ("S0[i, j] -> [i + j]", "S0[i, j] -> [j]")),
        (TRIANGLE, ("S0[i, j] -> [2i + j]", "S0[i, j] -> [i]")),
        (TRIANGLE, ("S0[i, j] -> [3j]", "S0[i, j] -> [2i]")),
        (S("S0[i, j] : 0 <= i < n and 0 <= j < n and (i + 2j) mod 3 = 1"), ("S0[i, j] -> [j]", "S0[i, j] -> [i]")),
        (S("S0[i, j] : 0 <= i < n and i <= 2j < n"), ("S0[i, j] -> [j]", "S0[i, j] -> [i]")),
        # isl on its own takes one of two iterations for both
        (
            S("S0[i, j] : 0 <= i <= 3 and (i + floor(n/4)) mod 2 = 0 and 0 <= j < n"),
            ("S0[i, j] -> [i]", "S0[i, j] -> [j]"),
        ),
    ],
)
def test_loops_run_as_scheduled(statement: S, rows: Sequence[str], sizes: Sequence[int], n: int) -> None:
    scop = make_scop(statement)
    schedule = bands(scop, *rows, sizes=sizes)
    assert_runs_as_scheduled(scop, schedule, build(scop, schedule), {"n": n})


@pytest.mark.parametrize("n", [0, 1, 6])
def test_two_statements_share_loops(n: int) -> None:
    scop = make_scop(TRIANGLE, S("S1[i] : 1 <= i <= n"))
    schedule = bands(scop, "S0[i, j] -> [i]; S1[i] -> [i]", "S0[i, j] -> [j]; S1[i] -> [i - 1]")
    assert_runs_as_scheduled(scop, schedule, build(scop, schedule), {"n": n})


def test_bounds_are_plain_minima_and_maxima() -> None:
    nest = loops(make_scop(SQUARE), "S0[i, j] -> [i + j]", "S0[i, j] -> [j]")
    inner = fors(nest)[1]
    assert isinstance(inner.lower, Max)
    assert isinstance(inner.upper, Min)
    assert not any(isinstance(item, If) for item in items(nest.body))


def test_a_stride_that_begins_at_a_quotient_takes_no_condition() -> None:
    begin = "n - 4 - 5 * floor((n - 4)/5)"
    nest = loops(make_scop(S(f"S0[i] : n >= 4 and {begin} <= i < n and (i - ({begin})) mod 2 = 0")), "S0[i] -> [i]")
    (loop,) = fors(nest)
    assert loop.step == 2
    assert not any(isinstance(item, If) for item in items(loop.body))


def test_a_part_without_instances_begins_nowhere() -> None:
    """A basic set may turn out to be empty only once it is taken alone."""
    assert list(_offsets(isl.Set("[n] -> { S0[i] : i = n and i = n + 1 }"))) == []


def test_a_loop_over_a_union_has_a_bound_without_cases() -> None:
    scop = make_scop(S("S0[i] : 0 <= i < n"), S("S1[i] : 0 <= i < m"), parameters={"n": SQUARE.type, "m": SQUARE.type})
    schedule = bands(scop, "S0[i] -> [floor(i/3)]; S1[i] -> [floor(i/2)]", "S0[i] -> [i]; S1[i] -> [i]")
    nest = build(scop, schedule)
    assert not any(isinstance(bound, Select) for loop in fors(nest) for bound in (loop.lower, loop.upper))
    assert_runs_as_scheduled(scop, schedule, nest, {"n": 5, "m": 7})


def test_a_mark_goes_to_the_loops_of_its_band() -> None:
    nest = loops(make_scop(SQUARE), "S0[i, j] -> [i]", "S0[i, j] -> [j]", sizes=(4, 4), marks={0: PARALLEL, 3: SIMD})
    assert marks(nest) == {"it": PARALLEL, "jt": LoopMark(), "i": LoopMark(), "j": SIMD}


def test_a_mark_goes_to_each_piece_of_a_separated_loop() -> None:
    scop = make_scop(S("S0[i] : 0 <= i < n"), S("S1[i] : 5 <= i < 9"), context="n > 20")
    schedule = bands(scop, "S0[i] -> [i]; S1[i] -> [i]", marks={0: PARALLEL})
    node = schedule.tree.get_root().child(0).child(0)
    assert node.get_type() == isl.schedule_node_type.band
    node = node.band_member_set_ast_loop_type(0, isl.ast_loop_type.separate)
    nest = build(scop, MarkedSchedule(node.get_schedule(), schedule.marks))
    assert [(loop.lower, loop.mark) for loop in fors(nest)] == [
        (Const(0), PARALLEL),
        (Const(5), PARALLEL),
        (Const(9), PARALLEL),
    ]


def test_the_mark_of_a_loop_with_one_iteration_is_dropped() -> None:
    # isl leaves the first loop out altogether; its mark must not go to the next one
    nest = loops(
        make_scop(SQUARE), "S0[i, j] -> [5]", "S0[i, j] -> [i + j]", "S0[i, j] -> [j]", marks={0: PARALLEL, 2: SIMD}
    )
    assert [loop.mark for loop in fors(nest)] == [LoopMark(), SIMD]


def test_loops_with_one_iteration_are_substituted() -> None:
    nest = loops(make_scop(SQUARE), "S0[i, j] -> [i]", "S0[i, j] -> [i + 3]", "S0[i, j] -> [j]")
    assert len(fors(nest)) == 2


def test_an_unbounded_domain_is_an_error() -> None:
    with pytest.raises(InternalError, match=r"upper bound|no loops"):
        loops(make_scop(S("S0[i] : i >= 0")), "S0[i] -> [i]")


def test_the_context_is_used() -> None:
    scop = make_scop(
        S("S0[i] : 0 <= i < n and i < m"), parameters={"n": SQUARE.type, "m": SQUARE.type}, context="n <= m"
    )
    (loop,) = fors(loops(scop, "S0[i] -> [i]"))
    assert loop.upper == loops(make_scop(S("S0[i] : 0 <= i < n")), "S0[i] -> [i]").body.items[0].upper  # type: ignore[union-attr]


def test_divisions_are_not_rounded_towards_zero_where_the_loop_does_not_run() -> None:
    # for n = 0, C's (n - 1) / 32 is 0, and the loop would run once
    scop = make_scop(S("S0[i] : 0 <= 32i < n"))
    nest = loops(scop, "S0[i] -> [i]")
    (loop,) = fors(nest)
    assert "nonnegative=False" in repr(loop.upper)
    check_coverage(scop, nest_to_schedule(scop, nest))
    positive = make_scop(S("S0[i] : 0 <= 32i < n"), context="n > 0")
    (loop,) = fors(loops(positive, "S0[i] -> [i]"))
    assert "nonnegative=True" in repr(loop.upper)


def test_iterators_are_declared_where_they_are_used() -> None:
    nest = loops(
        make_scop(SQUARE, S("S1[i] : 0 <= i < n")), "S0[i, j] -> [i]; S1[i] -> [i]", "S0[i, j] -> [j]; S1[i] -> [0]"
    )
    outer = fors(nest)[0]
    assert outer.upper == fors(nest)[0].upper
    assert Name(outer.iterator) in [arg for item in items(nest.body) for arg in getattr(item, "args", ())]
