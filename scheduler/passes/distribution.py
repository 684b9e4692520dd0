"""Loop distribution around writes to cells that only data name.

In ``for i: { y[perm[i]] = x[i]; z[i] = 2 * x[i]; }`` the first statement keeps the loop in its order, since any two of
its instances may write one cell, and the second one with it. In loops of their own only the first one stays in order.
"""

from __future__ import annotations

from collections.abc import Callable

import islpy as isl

from scopt.ir.scop import Scop
from scopt.poly.bands import Ordered, active, with_properties_below
from scopt.poly.isl_utils import joined, sets_of
from scopt.poly.linear import Vector, coefficients
from scopt.poly.restructure import distributable, filters_of, has_inner_bands, leaf_parts, topological

_BAND = isl.schedule_node_type.band
# Members of a band of sweeps: what they come again and again in, and two over a grid.
_SWEPT = 3


def set_apart(scop: Scop, dependences: Ordered, tree: isl.Schedule) -> isl.Schedule:
    """The leaf bands that such writes keep in order, distributed where that
    leaves others with a loop that carries nothing."""
    unknown = frozenset(
        s.name
        for s in scop.statements
        if any(a.kind == "may-write" and not a.relation.is_single_valued() for a in s.accesses)
    )

    def descend(node: isl.ScheduleNode) -> isl.ScheduleNode:
        if node.get_type() == _BAND and not has_inner_bands(node):
            return _distributed(scop, dependences, node, unknown)
        for position in range(node.n_children()):
            node = descend(node.child(position)).parent()
        return node

    return descend(tree.get_root()).get_schedule() if unknown else tree


def _distributed(scop: Scop, dependences: Ordered, node: isl.ScheduleNode, unknown: frozenset[str]) -> isl.ScheduleNode:
    """The band, or a sequence of bands in its place."""
    if _coincident(node) or not any(part.get_tuple_name() in unknown for part in sets_of(node.get_domain())):
        return node
    parts = leaf_parts(node.child(0)) or []
    order = topological(parts, active(dependences.must, node))
    if len(order) < 2 or not distributable(parts, order, dependences, node):
        return node
    merged: list[isl.UnionSet] = []
    free: list[bool] = []
    for indices in order:
        group = _union([parts[index] for index in indices])
        loose = _coincident(_alone(scop, dependences, node, group))
        # what stays in order stays together, and what doesn't too if it can
        if (
            merged
            and loose == free[-1]
            and (not loose or _coincident(_alone(scop, dependences, node, merged[-1].union(group))))
        ):
            merged[-1] = merged[-1].union(group)
        else:
            merged, free = [*merged, group], [*free, loose]
    if len(merged) < 2:
        return node
    node = node.insert_sequence(filters_of(merged))
    for position in range(node.n_children()):
        node = with_properties_below(scop, dependences, node.child(position).child(0)).parent().parent()
    return node


def _coincident(node: isl.ScheduleNode) -> bool:
    return any(node.band_member_get_coincident(k) for k in range(node.band_n_member()))


def _alone(scop: Scop, dependences: Ordered, node: isl.ScheduleNode, group: isl.UnionSet) -> isl.ScheduleNode:
    """The band over one group of its statements, the others before it:
    their order doesn't matter to what its loops carry."""
    rest = node.get_domain().subtract(group)
    inner = node.insert_sequence(filters_of([rest, group])).child(1).child(0)
    return with_properties_below(scop, dependences, inner)


def _union(parts: list[isl.UnionSet]) -> isl.UnionSet:
    result = parts[0]
    for part in parts[1:]:
        result = result.union(part)
    return result


def sweeps_apart(
    scop: Scop, dependences: Ordered, tree: isl.Schedule, waits: Callable[[isl.ScheduleNode], bool]
) -> isl.Schedule:
    """The leaf bands of sweeps over a grid that share their loops with what could be vector loops (borders, right hand
    sides): below the first loop, each gets a nest of its own. waits: whether instances of a band wait for each other
    for so long that rows beside each other are worth more than tiles over all of the band."""

    def descend(node: isl.ScheduleNode) -> isl.ScheduleNode:
        if node.get_type() == _BAND and not has_inner_bands(node):
            return _below_the_first(scop, dependences, node, waits)
        for position in range(node.n_children()):
            node = descend(node.child(position)).parent()
        return node

    return descend(tree.get_root()).get_schedule()


def _below_the_first(
    scop: Scop, dependences: Ordered, node: isl.ScheduleNode, waits: Callable[[isl.ScheduleNode], bool]
) -> isl.ScheduleNode:
    """The band, or its first member around a sequence of bands."""
    if node.band_n_member() < _SWEPT or not node.band_get_permutable() or _coincident(node):
        return node
    parts = leaf_parts(node.child(0)) or []
    if len(parts) < 2:
        return node
    first, inner = node.band_get_partial_schedule().get_at(0), node.band_split(1).child(0)
    order = topological(parts, active(dependences.must, inner))
    if len(order) < 2 or not distributable(parts, order, dependences, inner):
        return node
    inner = inner.insert_sequence(filters_of([_union([parts[index] for index in indices]) for indices in order]))
    ordered = list[bool]()
    for position in range(inner.n_children()):
        below = _unskewed(inner.child(position).child(0), first)
        below = with_properties_below(scop, dependences, below)
        inner = below.parent().parent()
        ordered.append(not _coincident(below))
        if ordered[-1] and not waits(below):
            return node
    return inner.parent() if any(ordered) and not all(ordered) else node


def _unskewed(node: isl.ScheduleNode, first: isl.UnionPwAff) -> isl.ScheduleNode:
    """A band of one statement without what its members add of the member around them, which stands still: their bounds
    are simpler."""
    parts = sets_of(node.get_domain())
    if len(parts) > 1:
        return node
    around = _row(first, parts[0])
    moving = [k for k, value in enumerate(around or ()) if value]
    if around is None or len(moving) != 1:
        return node
    partial, members = node.band_get_partial_schedule(), list[isl.UnionPwAff]()
    for k in range(node.band_n_member()):
        member = partial.get_at(k)
        row = _row(member, parts[0])
        times = row[moving[0]] / around[moving[0]] if row is not None else 0
        if times and times == int(times):
            member = member.sub(first.intersect_domain(node.get_domain()).scale_val(isl.Val(int(times))))
        members.append(member)
    return node.delete().insert_partial_schedule(joined(members)).band_set_permutable(1)


def _row(member: isl.UnionPwAff, part: isl.Set) -> Vector | None:
    """What a member is on the instances of a statement; None where that isn't linear."""
    pieces = member.intersect_domain(isl.UnionSet.from_set(part)).get_pw_aff_list()
    return coefficients(pieces.get_at(0)) if pieces.n_pw_aff() == 1 else None
