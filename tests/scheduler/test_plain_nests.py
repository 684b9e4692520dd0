"""Nests that gain nothing by a scheduler's order get that of the source back."""

from __future__ import annotations

import islpy as isl

from scopt.ir.marked_schedule import MarkedSchedule
from scopt.ir.nest import LoopMark
from scopt.ir.scop import Scop
from scopt.scheduler.passes.plain_nests import is_mixed, without_mixed_loops
from tests.sources import scop_of

# What stands beside the loop over k is put into it.
BODY = "for (i = 0; i < n; i++) { x[i] = 0; for (k = 0; k < 4; k++) x[i] += y[4 * i + k]; }"
MIXED = "[{S0[i] -> [i]; S1[i, k] -> [i]}]", "[{S0[i] -> [0]; S1[i, k] -> [k]}]"
OWN = "[{S2[i] -> [i]}]"


def bands(scop: Scop, names: str, *functions: str) -> isl.Schedule:
    domain = isl.UnionSet("{}")
    for one in scop.statements:
        if one.name in names:
            domain = domain.union(isl.UnionSet.from_set(one.domain))
    tree = isl.Schedule.from_domain(domain)
    for function in reversed(functions):
        partial = isl.MultiUnionPwAff(function).intersect_domain(tree.get_domain())
        tree = tree.insert_partial_schedule(partial)
    return tree


def test_statements_stand_beside_loops_that_are_not_theirs() -> None:
    scop = scop_of(BODY)
    mixed = MarkedSchedule(bands(scop, "S0 S1", *MIXED), {})
    assert is_mixed(scop, mixed)
    made = without_mixed_loops(scop, mixed)
    assert made.tree.get_map().is_equal(scop.schedule.get_map())
    assert without_mixed_loops(scop, made) is made


def test_other_nests_and_their_marks_stay() -> None:
    scop = scop_of(f"{BODY} for (i = 0; i < n; i++) y[i] = 1;")
    own = bands(scop, "S2", OWN)
    node = own.get_root().child(0).insert_mark(isl.Id("loop"))
    marks = {"loop": LoopMark(parallel=True)}
    tree = bands(scop, "S0 S1", *MIXED).sequence(node.get_schedule())
    made = without_mixed_loops(scop, MarkedSchedule(tree, marks))
    assert not made.tree.plain_is_equal(tree)
    assert made.marks == marks
    assert made.tree.get_domain().is_equal(scop.schedule.get_domain())


def test_statements_stand_beside_loops_inside_of_parallel_ones() -> None:
    scop = scop_of(BODY)
    tree = bands(scop, "S0 S1", *MIXED)
    tree = tree.get_root().child(0).insert_mark(isl.Id("loop")).get_schedule()
    marked = MarkedSchedule(tree, {"loop": LoopMark(parallel=True)})
    made = without_mixed_loops(scop, marked)
    assert made.marks == marked.marks
    assert made.tree.get_root().child(0).child(0).child(0).get_type() == isl.schedule_node_type.sequence
    assert without_mixed_loops(scop, made) is made


# Rows are apart, so that threads may share them; inside, the scheduler has let two loops run against each other.
ROWS = "for (i = 0; i < n; i++) { for (k = 0; k < 4; k++) A[i][k] = x[k]; for (k = 0; k < 4; k++) B[i][k] = A[i][k]; }"
AGAINST = "[{S0[i, k] -> [-k]; S1[i, k] -> [k + 4]}]"


def test_loops_inside_of_parallel_ones_run_as_in_the_source() -> None:
    scop = scop_of(ROWS)
    inner = bands(scop, "S0 S1", AGAINST)
    rows = isl.MultiUnionPwAff("[{S0[i, k] -> [i]; S1[i, k] -> [i]}]").intersect_domain(inner.get_domain())
    tree = inner.insert_partial_schedule(rows)
    tree = tree.get_root().child(0).insert_mark(isl.Id("loop")).get_schedule()
    marks = {"loop": LoopMark(parallel=True)}
    made = without_mixed_loops(scop, MarkedSchedule(tree, marks))
    assert made.marks == marks
    assert (
        made.tree.get_map()
        .gist_domain(made.tree.get_domain())
        .is_equal(scop.schedule.get_map().gist_domain(scop.schedule.get_domain()))
    )
    # both loops of the parallel nest are what the mark is about
    both = {"loop": LoopMark(parallel=True, collapse=2)}
    kept = MarkedSchedule(tree, both)
    assert without_mixed_loops(scop, kept) is kept
    # iterations of a skewed loop aren't those of the source
    skewed = inner.insert_partial_schedule(
        isl.MultiUnionPwAff("[{S0[i, k] -> [i + k]; S1[i, k] -> [i + k]}]").intersect_domain(inner.get_domain())
    )
    skewed = skewed.get_root().child(0).insert_mark(isl.Id("loop")).get_schedule()
    other = MarkedSchedule(skewed, marks)
    assert without_mixed_loops(scop, other) is other
