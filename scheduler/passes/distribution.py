"""Loop distribution around writes to cells that only data name.

In ``for i: { y[perm[i]] = x[i]; z[i] = 2 * x[i]; }`` the first statement keeps the loop in its order, since any two of
its instances may write one cell, and the second one with it. In loops of their own only the first one stays in order.
"""

from __future__ import annotations

import islpy as isl

from scopt.ir.scop import Scop
from scopt.poly.bands import Ordered, active, with_properties_below
from scopt.poly.isl_utils import sets_of
from scopt.poly.restructure import distributable, filters_of, has_inner_bands, leaf_parts, topological

_BAND = isl.schedule_node_type.band


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
