"""Passes over schedule trees are held to what they say that they keep: faults that a pass could make are found."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import islpy as isl
import pytest
from msgspec import Struct

from scopt.diagnostics import InternalError
from scopt.ir.marked_schedule import MarkedSchedule
from scopt.ir.nest import LoopMark
from scopt.ir.scop import Scop
from scopt.options import Options
from scopt.poly.bands import with_properties
from scopt.poly.dependences import dependences
from scopt.scheduler.decisions.setting import Setting
from scopt.scheduler.passes.band_passes import apply_passes, passes
from scopt.scheduler.passes.pass_contracts import EVERYTHING, LEGAL, Fact, check_contract
from tests.sources import scop_of

SKEWED = "for (i = 1; i < n; i++) for (j = 0; j < n - 1; j++) A[i][j] = A[i - 1][j + 1];"
ROWS = "for (i = 0; i < n; i++) for (j = 1; j < n; j++) A[i][j] = A[i][j - 1];"

Change = Callable[[isl.ScheduleNode], isl.ScheduleNode]


class Faulty(Struct, frozen=True):
    """A pass that does something to the outermost band, and says that it keeps everything."""

    change: Change
    marks: tuple[tuple[str, LoopMark], ...] = ()
    keeps: frozenset[Fact] = EVERYTHING
    name: ClassVar[str] = "faulty"
    what: ClassVar[str] = "a fault"
    needs: ClassVar[frozenset[Fact]] = LEGAL

    def run(self, schedule: MarkedSchedule, setting: Setting) -> MarkedSchedule:
        node = self.change(schedule.tree.get_root().child(0))
        return MarkedSchedule(node.get_schedule(), dict(self.marks))


def check(scop: Scop, one: Faulty) -> None:
    setting = Setting.of(scop, dependences(scop), Options())
    before = MarkedSchedule(with_properties(scop, setting.dependences, scop.schedule), {})
    check_contract(one, before, one.run(before, setting), setting)


def negated(node: isl.ScheduleNode) -> isl.ScheduleNode:
    member = node.band_get_partial_schedule().get_at(0).neg()
    return node.delete().insert_partial_schedule(isl.MultiUnionPwAff.from_union_pw_aff(member))


def with_less(node: isl.ScheduleNode) -> isl.ScheduleNode:
    return node.get_schedule().intersect_domain(isl.UnionSet("{ S0[i, j] : i > 3 }")).get_root().child(0)


def twice(node: isl.ScheduleNode) -> isl.ScheduleNode:
    parts = ("{ S0[i, j] : i < 4 }", "{ S0[i, j] : i > 2 }")
    filters = isl.UnionSetList.alloc(node.get_ctx(), 2)
    for part in parts:
        filters = filters.add(isl.UnionSet(part))
    return node.insert_sequence(filters)


def marked(node: isl.ScheduleNode) -> isl.ScheduleNode:
    return node.insert_mark(isl.Id("m"))


@pytest.mark.parametrize(
    ("source", "one", "words"),
    [
        (SKEWED, Faulty(negated), "is not executed in order"),
        (SKEWED, Faulty(with_less), "other instances"),
        (SKEWED, Faulty(twice), "more than once|not executed in order"),
        (ROWS, Faulty(lambda node: node.child(0).band_member_set_coincident(0, 1)), "isn't coincident"),
        (SKEWED, Faulty(lambda node: node.band_member_set_coincident(0, 1)), "isn't coincident"),
        (SKEWED, Faulty(marked), "no meaning"),
        (ROWS, Faulty(lambda node: node, (("m", LoopMark()),)), "of no node"),
        (SKEWED, Faulty(marked, (("m", LoopMark(parallel=True)),)), "is carried by the parallel loop"),
    ],
)
def test_a_pass_that_breaks_its_contract_is_named(source: str, one: Faulty, words: str) -> None:
    with pytest.raises(InternalError, match=f"pass faulty: .*({words})"):
        check(scop_of(source), one)


def test_a_band_that_claims_to_be_permutable() -> None:
    def joined(node: isl.ScheduleNode) -> isl.ScheduleNode:
        both = node.band_get_partial_schedule().flat_range_product(node.child(0).band_get_partial_schedule())
        return node.child(0).delete().parent().delete().insert_partial_schedule(both).band_set_permutable(1)

    with pytest.raises(InternalError, match="isn't permutable"):
        check(scop_of(SKEWED), Faulty(joined))


def test_what_a_pass_does_not_keep_is_not_asked_of_it() -> None:
    one = Faulty(lambda node: node.child(0).band_member_set_coincident(0, 1), keeps=LEGAL)
    check(scop_of(ROWS), one)


def test_a_loop_mark_stands_above_one_member() -> None:
    scop = scop_of("for (i = 0; i < n; i++) for (j = 0; j < n; j++) A[i][j] = 2;")

    def both(node: isl.ScheduleNode) -> isl.ScheduleNode:
        partial = node.band_get_partial_schedule().flat_range_product(node.child(0).band_get_partial_schedule())
        return marked(node.child(0).delete().parent().delete().insert_partial_schedule(partial))

    with pytest.raises(InternalError, match="band of one member"):
        check(scop, Faulty(both, (("m", LoopMark()),)))


def test_every_pass_is_shown_what_it_makes() -> None:
    scop, seen = scop_of(ROWS), []

    def watch(name: str, made: MarkedSchedule) -> MarkedSchedule:
        seen.append(name)
        return made

    apply_passes(scop, dependences(scop), scop.schedule, Options(), watch=watch)
    assert seen == [one.name for one in passes(Options())]


def test_passes_are_values() -> None:
    assert passes(Options()) == passes(Options())
    assert passes(Options()) != passes(Options(tile=False))
    assert len({one.name for one in passes(Options())}) == len(passes(Options()))
