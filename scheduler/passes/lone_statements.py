"""Statements that run in one iteration of a band run in front of it, or behind it.

Schedulers give ``tiny = f(d); for k: w[k] = g(k, tiny);`` one loop, the first statement in one of its iterations, since
that is where what it sets is read soonest. But then this iteration hands something on to all others, and a loop that
carries nothing by itself would have to be skewed, or split.
"""

from __future__ import annotations

import islpy as isl

from scopt.ir.scop import Scop
from scopt.poly.bands import Ordered, active, with_properties_below
from scopt.poly.isl_utils import sets_of
from scopt.poly.restructure import distributable, filters_of, topological, united

_BAND = isl.schedule_node_type.band


def lone_apart(scop: Scop, dependences: Ordered, tree: isl.Schedule) -> isl.Schedule:
    """The tree with such statements beside the bands that carry less without them."""
    found = False

    def descend(node: isl.ScheduleNode) -> isl.ScheduleNode:
        nonlocal found
        if node.get_type() == _BAND:
            parts = _parts(scop, dependences, node)
            if parts is not None:
                node, found = _apart(scop, dependences, node, *parts), True
        for position in range(node.n_children()):
            node = descend(node.child(position)).parent()
        return node

    apart = descend(tree.get_root()).get_schedule()
    return apart if found else tree


def _parts(
    scop: Scop, dependences: Ordered, node: isl.ScheduleNode
) -> tuple[list[isl.UnionSet], isl.UnionSet, list[isl.UnionSet]] | None:
    """What goes in front of a band, what stays, and what goes behind; None if nothing is gained."""
    members = range(node.band_n_member())
    carrying = [k for k in members if not node.band_member_get_coincident(k)]
    domain = node.get_domain()
    every = sets_of(domain)
    if not carrying or len(every) < 2:
        return None
    alone = [one for one in every if _runs_once(node, one)]
    if not alone or len(alone) == len(every):
        return None
    parts = [isl.UnionSet.from_set(one) for one in alone]
    parts.append(domain.subtract(united(parts)))
    order = topological(parts, active(dependences.must, node))
    at = next(position for position, group in enumerate(order) if len(parts) - 1 in group)
    if len(order) < 2 or not distributable(parts, order, dependences, node):
        return None
    front, kept, behind = (
        [parts[index] for group in some for index in group] for some in (order[:at], [order[at]], order[at + 1 :])
    )
    rest = united(kept)
    loop = node.insert_sequence(filters_of([domain.subtract(rest), rest])).child(1).child(0)
    loop = with_properties_below(scop, dependences, loop)
    return (front, rest, behind) if any(loop.band_member_get_coincident(k) for k in carrying) else None


def _runs_once(node: isl.ScheduleNode, instances: isl.Set) -> bool:
    """Whether a statement runs in one iteration of a band, each time that the loops around come to it."""
    one = isl.UnionSet.from_set(instances)
    around = node.get_prefix_schedule_union_map().intersect_domain(one)
    values = node.band_get_partial_schedule_union_map().intersect_domain(one)
    return bool(around.reverse().apply_range(values).is_single_valued())


def _apart(
    scop: Scop,
    dependences: Ordered,
    node: isl.ScheduleNode,
    front: list[isl.UnionSet],
    rest: isl.UnionSet,
    behind: list[isl.UnionSet],
) -> isl.ScheduleNode:
    """A sequence in the band's place, which stands around the rest."""
    node = node.insert_sequence(filters_of([*front, rest, *behind]))
    for position in range(node.n_children()):
        inner = node.child(position).child(0)
        inner = with_properties_below(scop, dependences, inner) if position == len(front) else inner.delete()
        node = inner.parent().parent()
    return node
