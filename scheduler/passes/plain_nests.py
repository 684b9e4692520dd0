"""Nests that gain nothing by a scheduler's order get that of the source back.

A scheduler that wants permutable bands puts statements that stand beside a loop into it, each at one of its iterations:
``for k < 4: { if (k == 0) d = …; … }``. That is fine where threads, vectors or tiles come of it. Where none do, each
iteration is left with the conditions, and compilers with a loop that they unroll no more.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

import islpy as isl
from msgspec.structs import replace

from scopt.ir.marked_schedule import MarkedSchedule
from scopt.ir.scop import Scop
from scopt.poly.isl_utils import sets_of, walk
from scopt.scheduler.passes.vector_share import is_plain, running_together

_TYPE = isl.schedule_node_type


def without_mixed_loops(scop: Scop, schedule: MarkedSchedule) -> MarkedSchedule:
    """The schedule with the source's order in the place of such outermost nests. That keeps to the dependences: those
    between two of the nests by the nests' order, those inside of one by the source's."""
    if not any(_is_mixed(scop, part) for part in _nests(schedule.tree)):
        return schedule
    together = running_together(schedule)
    made, found = list[isl.Schedule](), False
    for nest in _nests(schedule.tree):
        domain = nest.get_domain()
        names = {str(part.get_tuple_name()) for part in sets_of(domain)}
        plain = together.isdisjoint(names) and _is_mixed(scop, nest)
        made.append((scop.schedule if plain else schedule.tree).intersect_domain(domain))
        found = found or plain
    if not found:
        return schedule
    tree = reduce(isl.Schedule.sequence, made)
    there = {node.mark_get_id().get_name() for node in walk(tree.get_root()) if node.get_type() == _TYPE.mark}
    return replace(schedule, tree=tree, marks={name: mark for name, mark in schedule.marks.items() if name in there})


def is_mixed(scop: Scop, schedule: MarkedSchedule) -> bool:
    """Whether nothing runs in parallel or in vectors, and some statement stands in a loop that isn't its own."""
    return is_plain(schedule) and any(_is_mixed(scop, nest) for nest in _nests(schedule.tree))


def _nests(tree: isl.Schedule) -> list[isl.ScheduleNode]:
    """What runs one after the other, outermost."""
    node = tree.get_root().child(0)
    if node.get_type() not in (_TYPE.sequence, _TYPE.set):
        return [node]
    return [node.child(k).child(0) for k in range(node.n_children())]


def _is_mixed(scop: Scop, nest: isl.ScheduleNode) -> bool:
    """Whether some statements stand in more loops than are theirs, while none stands in loops over tiles."""
    more = {(loops - len(scop.statement(name).iterators), loops) for name, loops in _loops(nest, 0)}
    deepest = max((loops for _, loops in more), default=0)
    return any(extra > 0 for extra, _ in more) and any(extra == 0 and loops == deepest for extra, loops in more)


def _loops(node: isl.ScheduleNode, around: int) -> Iterator[tuple[str, int]]:
    """The statements below a node, each with how many loops it stands in."""
    if node.get_type() == _TYPE.leaf:
        yield from ((str(part.get_tuple_name()), around) for part in sets_of(node.get_domain()))
    inside = around + (int(node.band_n_member()) if node.get_type() == _TYPE.band else 0)
    for position in range(node.n_children()):
        yield from _loops(node.child(position), inside)
