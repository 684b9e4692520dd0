"""Statements of one iteration that hand each other values in private scalars are scheduled as one statement.

``for i: { double a = x[i] - m; double b = a * a; y[i] = a / (b + 1); }`` is three statements, which no order of loops
tells apart: scalars have one value at a time, so that whoever runs them apart needs arrays instead (which forms of the
statements are for). As one statement they are a ninth of the program that a scheduler has to solve, and live ranges
can't come to overlap, which costs it a second schedule, in which private scalars bind all iterations to their order.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import islpy as isl

from scopt.ir.scop import Dependences, Scop
from scopt.poly.components import ordered_components
from scopt.poly.isl_utils import sets_of
from scopt.poly.restructure import has_inner_bands
from scopt.scheduler.passes.compounds import Grouping, grouped

_BAND = isl.schedule_node_type.band


def with_bodies(scop: Scop, deps: Dependences) -> Grouping | None:
    """The SCoP with compounds for such statements; None if it has none."""
    # what a compound adds up isn't seen any more: loops that need copies for that would seem as good as others
    summing = {name for one in deps.reductions for name in (one.source, one.sink)}
    found = [
        _innermost(scop.schedule.intersect_domain(_domain(scop, part)).get_root())
        for names in _bodies(scop.schedule.get_root())
        for part in _tied(scop, deps, names)
        if len(part) > 1 and summing.isdisjoint(part) and _keeps_to_itself(scop, part)
    ]
    return grouped(scop, deps, found) if found else None


def _bodies(node: isl.ScheduleNode) -> Iterator[list[str]]:
    """The statements inside of each innermost loop."""
    if node.get_type() == _BAND and not has_inner_bands(node):
        yield [str(part.get_tuple_name()) for part in sets_of(node.get_domain())]
        return
    for position in range(node.n_children()):
        yield from _bodies(node.child(position))


def _keeps_to_itself(scop: Scop, names: tuple[str, ...]) -> bool:
    """Whether no other statement uses private arrays that these do: what is private isn't seen of a compound."""
    inside, outside = (
        {access.array for one in scop.statements if (one.name in names) is own for access in one.accesses}
        for own in (True, False)
    )
    return not any(scop.arrays[name].private for name in inside & outside)


def _domain(scop: Scop, names: tuple[str, ...]) -> isl.UnionSet:
    whole = isl.UnionSet("{ }")
    for name in names:
        whole = whole.union(isl.UnionSet.from_set(scop.statement(name).domain))
    return whole


def _innermost(node: isl.ScheduleNode) -> isl.ScheduleNode:
    """What the innermost loop around all statements of a tree has inside."""
    while node.get_type() != _BAND or has_inner_bands(node):
        node = node.child(0)
    return node.child(0)


def _tied(scop: Scop, deps: Dependences, names: list[str]) -> list[tuple[str, ...]]:
    """Statements that use the same private scalars, with those between that wait for some of them, and for which others
    wait."""
    order = [one.name for one in scop.statements if one.name in names]
    users: dict[str, list[str]] = {}
    for name in order:
        for access in scop.statement(name).accesses:
            if scop.arrays[access.array].private and not scop.arrays[access.array].rank:
                users.setdefault(access.array, []).append(name)
    place = {name: k for k, name in enumerate(order)}
    after: list[set[int]] = [set() for _ in order]
    for some in users.values():
        for one, other in pairwise(some):
            after[place[one]].add(place[other])
            after[place[other]].add(place[one])
    for dep in deps.all:
        source, sink = place.get(dep.source, -1), place.get(dep.sink, -1)
        if 0 <= source < sink:
            after[source].add(sink)
    return [tuple(order[k] for k in part) for part in ordered_components(after)]
