"""What passes over a schedule tree need and keep, and a check that they do."""

from __future__ import annotations

from collections.abc import Set
from enum import Enum
from typing import Protocol

import islpy as isl

from scopt.diagnostics import InternalError
from scopt.ir.marked_schedule import MarkedSchedule, Strips
from scopt.ir.nest import LoopMark
from scopt.ir.scop import Dependence, Dependences
from scopt.poly.bands import active, band_nodes, distances, is_coincident, nonnegative
from scopt.poly.isl_utils import maps_of, walk
from scopt.poly.legality import check_marks, check_order
from scopt.scheduler.decisions.setting import Setting


class Fact(Enum):
    """What can be known of a tree between two passes.

    INSTANCES: each of the SCoP's instances runs once, and no other one. ORDER: they run as the dependences ask.
    FLAGS: members that are flagged coincident carry nothing, and bands that are flagged permutable are. MARKS: each
    mark node means something, and loops that are marked parallel or vector carry nothing.
    """

    INSTANCES = "instances"
    ORDER = "order"
    FLAGS = "flags"
    MARKS = "marks"


EVERYTHING = frozenset(Fact)
LEGAL = frozenset((Fact.INSTANCES, Fact.ORDER, Fact.MARKS))


class Pass(Protocol):
    """A step from tree to tree. Its fields are its options.

    name: for people, and for `Watch`. what: one line about it. needs: what has to be known of the tree that it takes.
    keeps: what is known of the one that it makes, if that was known before.
    """

    @property
    def name(self) -> str: ...

    @property
    def what(self) -> str: ...

    @property
    def needs(self) -> Set[Fact]: ...

    @property
    def keeps(self) -> Set[Fact]: ...

    def run(self, schedule: MarkedSchedule, setting: Setting) -> MarkedSchedule: ...


def check_contract(one: Pass, before: MarkedSchedule, after: MarkedSchedule, setting: Setting) -> None:
    """Raises InternalError, with the pass' name, if what it has made lacks something that it keeps."""
    if after is before:
        return
    try:
        if Fact.INSTANCES in one.keeps:
            _check_instances(before.tree, after.tree)
        if Fact.ORDER in one.keeps:
            check_order(setting.scop, _own_copies(setting.deps, after), after.tree.get_map())
        if Fact.FLAGS in one.keeps:
            check_flags(setting, after.tree)
        if Fact.MARKS in one.keeps:
            _check_known(after)
            check_marks(setting.scop, _own_copies(setting.deps, after), after)
    except InternalError as error:
        raise InternalError(f"pass {one.name}: {error}") from error


def _check_instances(before: isl.Schedule, after: isl.Schedule) -> None:
    domain = before.get_domain()
    dates = after.get_map().intersect_domain(domain)
    if not after.get_domain().is_equal(domain) or not dates.domain().is_equal(domain):
        raise InternalError("the tree runs other instances than before")
    if not all(relation.is_single_valued() for relation in maps_of(dates)):
        raise InternalError("the tree runs instances more than once")


def check_flags(setting: Setting, tree: isl.Schedule) -> None:
    """Raises InternalError if a band's flags say more than the dependences allow."""
    for node in band_nodes(tree):
        members = [node.band_get_partial_schedule().get_at(k) for k in range(node.band_n_member())]
        ordering = active(setting.dependences.must, node)
        for position, member in enumerate(members):
            if node.band_member_get_coincident(position) and not is_coincident(node, member, setting.dependences):
                raise InternalError(f"member {position} of a band isn't coincident: {member}")
            if len(members) > 1 and node.band_get_permutable() and not nonnegative(distances(ordering, member)):
                raise InternalError(f"a band isn't permutable: member {position} runs a dependence backwards: {member}")


def _check_known(schedule: MarkedSchedule) -> None:
    nodes = [node for node in walk(schedule.tree.get_root()) if node.get_type() == isl.schedule_node_type.mark]
    names = {node.mark_get_id().get_name() for node in nodes}
    if names != set(schedule.marks):
        raise InternalError(f"marks of no meaning, or of no node: {', '.join(sorted(names ^ set(schedule.marks)))}")
    for node in nodes:
        below = node.child(0)
        band = below.get_type() == isl.schedule_node_type.band and below.band_n_member() == 1
        if isinstance(schedule.mark(node), LoopMark) and not band:
            raise InternalError("a loop's mark stands above something else than a band of one member")


def _own_copies(deps: Dependences, schedule: MarkedSchedule) -> Dependences:
    """The dependences without those between copies of a scalar that the rows of a strip have of their own."""
    found = schedule.strips.values()
    if not found:
        return deps
    kept = tuple(one for one in deps.strict().all if not any(_is_copied(one, strips) for strips in found))
    return Dependences(kept, deps.reductions)


def _is_copied(one: Dependence, strips: Strips) -> bool:
    inside = {one.source, one.sink} <= set(strips.statements)
    return inside and one.array in strips.scalars and one.kind != "flow"
