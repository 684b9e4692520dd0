"""Statements that run in one iteration of a band run in front of it, or behind it.

Schedulers give ``tiny = f(d); for k: w[k] = g(k, tiny);`` one loop, the first statement in one of its iterations, since
that is where what it sets is read soonest. But then this iteration hands something on to all others, and a loop that
carries nothing by itself would have to be skewed, or split.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

import islpy as isl

from scopt.ir.scop import Scop
from scopt.poly.bands import Ordered, active, with_properties_below
from scopt.poly.isl_utils import sets_of, walk
from scopt.poly.restructure import distributable, filters_of, topological, united

_BAND = isl.schedule_node_type.band


def lone_apart(scop: Scop, dependences: Ordered, tree: isl.Schedule) -> isl.Schedule:
    """The tree with such statements beside the bands that carry less without them."""
    found = False

    def descend(node: isl.ScheduleNode) -> isl.ScheduleNode:
        nonlocal found
        if node.get_type() == _BAND:
            parts = _parts(scop, dependences, node) or _nests(scop, dependences, node)
            if parts is not None:
                node, found = _apart(scop, dependences, node, *parts), True
        for position in range(node.n_children()):
            node = descend(node.child(position)).parent()
        return node

    apart = descend(tree.get_root()).get_schedule()
    return apart if found else tree


# What goes in front of a band, what stays, and what goes behind.
Parts = tuple[list[isl.UnionSet], isl.UnionSet, list[isl.UnionSet]]


def _parts(scop: Scop, dependences: Ordered, node: isl.ScheduleNode) -> Parts | None:
    """What goes in front of a band, what stays, and what goes behind; None if nothing is gained."""
    members = range(node.band_n_member())
    carrying = [k for k in members if not node.band_member_get_coincident(k)]
    domain = node.get_domain()
    every = _in_order(scop, domain)
    if not carrying or len(every) < 2:
        return None
    alone = _running_once(node, every)
    if not alone or len(alone) == len(every):
        return None
    found = _divided(scop, dependences, node, [isl.UnionSet.from_set(one) for one in alone])
    if found is None:
        return None
    rest = found[1]
    loop = node.insert_sequence(filters_of([domain.subtract(rest), rest])).child(1).child(0)
    loop = with_properties_below(scop, dependences, loop)
    return found if any(loop.band_member_get_coincident(k) for k in carrying) else None


def _nests(scop: Scop, dependences: Ordered, node: isl.ScheduleNode) -> Parts | None:
    """The same for a loop that runs in order, and nests that stand in one of its iterations: those of one iteration
    stay together."""
    if node.band_n_member() > 1 or node.band_member_get_coincident(0):
        return None
    every = _in_order(scop, node.get_domain())
    if len(every) < 2:
        return None
    alone = _running_once(node, every)
    inside = {
        str(part.get_tuple_name())
        for inner in walk(node.child(0))
        if inner.get_type() == _BAND
        for part in sets_of(inner.get_domain())
    }
    if len(alone) == len(every) or not any(str(one.get_tuple_name()) in inside for one in alone):
        return None
    return _divided(scop, dependences, node, _by_iteration(node, alone))


def _in_order(scop: Scop, domain: isl.UnionSet) -> list[isl.Set]:
    """The statements' instances in the order of the source, which is kept where dependences leave a choice: what one
    condition decides stays together."""
    place = {one.name: k for k, one in enumerate(scop.statements)}
    return sorted(sets_of(domain), key=lambda one: place[str(one.get_tuple_name())])


def _by_iteration(node: isl.ScheduleNode, alone: list[isl.Set]) -> list[isl.UnionSet]:
    """Statements that run in one iteration of a loop, those of the same one together."""
    groups: list[tuple[isl.UnionMap, isl.UnionSet]] = []
    for one, iteration in zip(map(isl.UnionSet.from_set, alone), _iterations(node, alone), strict=True):
        for k, (others, group) in enumerate(groups):
            both = others.union(iteration)
            if both.is_single_valued():
                groups[k] = both, group.union(one)
                break
        else:
            groups.append((iteration, one))
    return [group for _, group in groups]


def _divided(scop: Scop, dependences: Ordered, node: isl.ScheduleNode, alone: list[isl.UnionSet]) -> Parts | None:
    """A band's statements, some of which may go in front of it or behind; None if all have to stay. What an iteration
    has in an array of its own stays in it: threads could have no copies else."""
    parts = [*alone, node.get_domain().subtract(united(alone))]
    own = (active(ranges, node) for name, ranges in dependences.ranges.items() if scop.arrays[name].rank)
    for one in own:
        within = (one.intersect_domain(part).intersect_range(part) for part in parts)
        if not one.is_subset(reduce(isl.UnionMap.union, within)):
            return None
    order = topological(parts, active(dependences.must, node))
    at = next(position for position, group in enumerate(order) if len(parts) - 1 in group)
    if len(order) < 2 or not distributable(parts, order, dependences, node):
        return None
    front, kept, behind = (
        [parts[index] for group in some for index in group] for some in (order[:at], [order[at]], order[at + 1 :])
    )
    return front, united(kept), behind


def _running_once(node: isl.ScheduleNode, every: list[isl.Set]) -> list[isl.Set]:
    """The statements that run in one iteration of a band, each time that the loops around come to it. Quotients that
    conditions needed in between would take seconds (`coalesce`)."""
    found = zip(every, _iterations(node, every), strict=True)
    return [one for one, iterations in found if iterations.coalesce().is_single_valued()]


def _iterations(node: isl.ScheduleNode, every: list[isl.Set]) -> Iterator[isl.UnionMap]:
    """The iterations of a band that each statement runs in, by what the loops around stand at."""
    around, values = node.get_prefix_schedule_union_map(), node.band_get_partial_schedule_union_map()
    for one in map(isl.UnionSet.from_set, every):
        yield around.intersect_domain(one).reverse().apply_range(values.intersect_domain(one))


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
