"""The legality check: right schedules pass, wrong ones are told with a pair of instances and a cell."""

from __future__ import annotations

import islpy as isl
import pytest

from scopt.diagnostics import InternalError
from scopt.ir.marked_schedule import MarkedSchedule
from scopt.ir.nest import LoopMark
from scopt.ir.scop import Scop
from scopt.poly.counterexamples import counterexample
from scopt.poly.dependences import dependences
from scopt.poly.legality import ParallelDim, check_marks, check_order
from tests.sources import scop_of


def check(scop: Scop, dates: str, parallel: int | None = None, private: tuple[str, ...] = ()) -> None:
    loops = [] if parallel is None else [ParallelDim(parallel, scop.domain, private)]
    check_order(scop, dependences(scop), isl.UnionMap(dates).intersect_domain(scop.domain), loops)


CHAIN = "for (i = 1; i < n; i++) for (j = 0; j < n; j++) A[i][j] = A[i - 1][j];"


def test_legal_orders_pass() -> None:
    scop = scop_of(CHAIN)
    check(scop, "{ S0[i, j] -> [i, j] }")
    check(scop, "{ S0[i, j] -> [j, i] }", parallel=0)
    check(scop, "{ S0[i, j] -> [i, -j] }", parallel=1)


@pytest.mark.parametrize(
    ("dates", "parallel", "words"),
    [
        ("{ S0[i, j] -> [-i, j] }", None, "flow dependence over 'A' is not executed in order"),
        ("{ S0[i, j] -> [0, j] }", None, "is not executed in order"),
        ("{ S0[i, j] -> [i, j] }", 0, "is carried by the parallel loop in dimension 0"),
        ("{ S0[i, j] -> [floor(-i/2), i, j] }", None, "is not executed in order"),
    ],
)
def test_illegal_orders_are_told_with_a_counterexample(dates: str, parallel: int | None, words: str) -> None:
    with pytest.raises(InternalError) as caught:
        check(scop_of(CHAIN), dates, parallel)
    message = str(caught.value)
    assert words in message
    assert "S0[" in message.split(": ")[-1]
    assert "through A[" in message
    assert "n = " in message


@pytest.mark.parametrize(
    ("body", "kind", "cell"),
    [
        ("x[0] = x[1]; x[1] = x[0];", "flow", "x[0]"),
        ("x[0] = x[1]; x[1] = x[0];", "anti", "x[1]"),
        ("x[1] = x[0]; x[0] = x[1];", "flow", "x[1]"),
        ("x[1] = x[0]; x[0] = x[1];", "anti", "x[0]"),
        # One of two cells is overwritten before it is read.
        ("x[0] = x[1] = 1; x[0] = 2; y[0] = x[0] + x[1];", "flow", "x[1]"),
        ("x[0] = x[1] = 1; x[1] = 2; y[0] = x[0] + x[1];", "flow", "x[0]"),
    ],
)
def test_the_cell_belongs_to_the_dependence(body: str, kind: str, cell: str) -> None:
    scop = scop_of(body)
    last = scop.statements[-1].name
    (found,) = (d for d in dependences(scop).all if (d.kind, d.array, d.source, d.sink) == (kind, "x", "S0", last))
    assert f" through {cell}" in counterexample(scop, "x", kind, isl.UnionMap.from_map(found.relation))


PRIVATE = "for (i = 0; i < n; i++) { double u = x[i]; y[i] = u; }"


def test_live_ranges_may_change_places() -> None:
    check(scop_of(PRIVATE), "{ S0[i] -> [-i, 0]; S1[i] -> [-i, 1] }")


def test_live_ranges_must_not_overlap() -> None:
    with pytest.raises(InternalError, match="overlaps another one"):
        check(scop_of(PRIVATE), "{ S0[i] -> [0, i]; S1[i] -> [1, i] }")


def test_parallel_loop_needs_its_private_copies() -> None:
    scop = scop_of(PRIVATE)
    check(scop, "{ S0[i] -> [i, 0]; S1[i] -> [i, 1] }", parallel=0, private=("u",))
    with pytest.raises(InternalError, match="parallel loop"):
        check(scop, "{ S0[i] -> [i, 0]; S1[i] -> [i, 1] }", parallel=0)


def test_copy_must_not_be_read_after_the_loop() -> None:
    scop = scop_of("for (i = 0; i < n; i++) { s = x[i]; y[i] = s; } y[0] = s;")
    inside = isl.UnionSet("{ S0[i]; S1[i] }").intersect(scop.domain)
    dates = isl.UnionMap("{ S0[i] -> [0, i, 0]; S1[i] -> [0, i, 1]; S2[] -> [1, 0, 0] }").intersect_domain(scop.domain)
    with pytest.raises(InternalError, match="leaves or enters"):
        check_order(scop, dependences(scop), dates, [ParallelDim(1, inside, ("s",))])


def test_marks_of_a_tree_are_checked() -> None:
    scop = scop_of(CHAIN)
    tree = scop.schedule.get_root().child(0).insert_mark(isl.Id("wrong")).get_schedule()
    with pytest.raises(InternalError, match="parallel loop in dimension 0"):
        check_marks(scop, dependences(scop), MarkedSchedule(tree, {"wrong": LoopMark(parallel=True)}))


def test_one_of_many_alike_is_told() -> None:
    """Pairs that differ in names alone are looked at once, but not the one that is out of order."""
    scalars = " ".join(f"double t{k} = t{k - 1} + 1.0;" for k in range(1, 8))
    scop = scop_of(f"for (i = 0; i < n; i++) {{ double t0 = A[i][0]; {scalars} A[i][1] = t7; }}")
    places = list(range(len(scop.statements)))

    def dates() -> str:
        alike = (f"{one.name}[i] -> [i, {place}]" for one, place in zip(scop.statements, places, strict=True))
        return f"{{ {'; '.join(alike)} }}"

    private = tuple(name for name, array in scop.arrays.items() if array.private)
    check(scop, dates(), 0, private)
    places[4], places[5] = places[5], places[4]
    with pytest.raises(InternalError, match="'t4' is not executed in order"):
        check(scop, dates())
    apart = "; ".join(f"{one.name}[i] -> [{int(k > 4)}, i, {k}]" for k, one in enumerate(scop.statements))
    with pytest.raises(InternalError, match="live range dependence over 't4' overlaps another one"):
        check(scop, f"{{ {apart} }}")
