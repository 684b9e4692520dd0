"""Band surgery that keeps the execution order of dependences: reorder members,
sink a loop into a sequence, merge nested bands."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import islpy as isl

from scopt.poly.bands import Ordered, active, agreeing_at
from scopt.poly.components import ordered_components
from scopt.poly.isl_utils import IN, OUT, joined, maps_of, sets_of, union_of_sets, walk
from scopt.poly.pair_classes import Agreement

_TYPE = isl.schedule_node_type


def has_inner_bands(node: isl.ScheduleNode) -> bool:
    """Whether a band node has bands below it."""
    return any(inner.get_type() == _TYPE.band for inner in walk(node.child(0)))


def reordered(node: isl.ScheduleNode, order: Sequence[int]) -> isl.ScheduleNode:
    """A permutable band with its members in another order, or with only some of them where others order everything."""
    if list(order) == list(range(node.band_n_member())):
        return node
    partial = node.band_get_partial_schedule()
    flags = [node.band_member_get_coincident(k) for k in order]
    node = node.delete().insert_partial_schedule(joined([partial.get_at(k) for k in order])).band_set_permutable(1)
    for position, flag in enumerate(flags):
        node = node.band_member_set_coincident(position, int(flag))
    return node


def leaf_parts(node: isl.ScheduleNode) -> list[isl.UnionSet] | None:
    """The statements below a band as groups in execution order,
    where only sequences and sets of leaves lie below; None otherwise."""
    kind = node.get_type()
    if kind == _TYPE.leaf:
        return [node.get_domain()]
    if kind in (_TYPE.sequence, _TYPE.set):
        parts: list[isl.UnionSet] = []
        for position in range(node.n_children()):
            inner = leaf_parts(node.child(position).child(0))
            if inner is None:
                return None
            parts += inner
        return parts
    return None


def topological(parts: Sequence[isl.UnionSet], pairs: isl.UnionMap) -> list[list[int]]:
    """Strongly connected components of the parts under some dependences, in a legal order that keeps the given one
    where it is free.

    Returns groups of indices into `parts`; a group with several parts can't be distributed.
    """
    successors: list[set[int]] = [set() for _ in parts]
    for source, sink in _between_parts(parts, pairs, lambda _source, _sink: True):
        successors[source].add(sink)
    return ordered_components(successors)


def _between_parts(
    parts: Sequence[isl.UnionSet], pairs: isl.UnionMap, matters: Callable[[int, int], bool]
) -> Iterator[tuple[int, int]]:
    """The parts that some instances are related between, if that matters; some may come again."""
    places: dict[str, list[tuple[int, isl.Set]]] = {}
    for position, part in enumerate(parts):
        for one in sets_of(part):
            places.setdefault(str(one.get_tuple_name()), []).append((position, one))
    for relation in maps_of(pairs):
        sinks = places.get(str(relation.get_tuple_name(OUT)), ())
        for source, first in places.get(str(relation.get_tuple_name(IN)), ()):
            asked = [(sink, last) for sink, last in sinks if matters(source, sink)]
            leaving = relation.intersect_domain(first) if asked else relation
            for sink, last in asked:
                if not leaving.intersect_range(last).is_empty():
                    yield source, sink


def topological_inside(parts: Sequence[isl.UnionSet], inside: Agreement, pairs: isl.UnionMap) -> list[list[int]] | None:
    """The same under those pairs that an agreement is about; None where parts share statements."""
    places = [(str(one.get_tuple_name()), k) for k, part in enumerate(parts) for one in sets_of(part)]
    own = dict(places)
    if len(own) < len(places) or not own.keys() <= inside.instances.parts.keys():
        return None
    successors: list[set[int]] = [set() for _ in parts]
    for source, sink in inside.ends(pairs):
        if source in own and sink in own:
            successors[own[source]].add(own[sink])
    return ordered_components(successors)


def distributable(
    parts: Sequence[isl.UnionSet], groups: Sequence[Sequence[int]], dependences: Ordered, node: isl.ScheduleNode
) -> bool:
    """Whether the cells of private arrays allow one loop a group."""
    return next(kept_together(parts, groups, dependences, node), None) is None


def kept_together(
    parts: Sequence[isl.UnionSet], groups: Sequence[Sequence[int]], dependences: Ordered, node: isl.ScheduleNode
) -> Iterator[str]:
    """The private arrays whose cells don't allow one loop a group.

    Where a live range leads from one group to another, all uses of its cells have to stay in their order: no pair from
    a later group to an earlier one, or the first loop would overwrite what the second one needs.
    """
    place = {part: position for position, group in enumerate(groups) for part in group}
    groups_of: dict[str, set[int]] = {}
    for position, part in enumerate(parts):
        for one in sets_of(part):
            groups_of.setdefault(str(one.get_tuple_name()), set()).add(place[position])
    inside = agreeing_at(node, dependences)
    for name, ranges in dependences.ranges.items():
        ends = (
            groups_of.get(source, set()) | groups_of.get(sink, set()) for source, sink in dependences.between(ranges)
        )
        if all(len(each) < 2 for each in ends):
            continue
        if _crossing(parts, place, groups_of, inside, node, ranges) and any(
            source > sink for source, sink in _crossing(parts, place, groups_of, inside, node, dependences.reuse[name])
        ):
            yield name


def _crossing(
    parts: Sequence[isl.UnionSet],
    place: Mapping[int, int],
    groups_of: Mapping[str, set[int]],
    inside: Agreement,
    node: isl.ScheduleNode,
    pairs: isl.UnionMap,
) -> set[tuple[int, int]]:
    """The pairs of different groups that the node has to order some pairs between. groups_of: by statement."""
    if any(len(groups) > 1 for groups in groups_of.values()):  # parts of statements
        return _between_groups(parts, place, active(pairs, node))
    ends = ((source, sink) for source, sink in inside.ends(pairs) if {source, sink} <= groups_of.keys())
    found = {(min(groups_of[source]), min(groups_of[sink])) for source, sink in ends}
    return {(source, sink) for source, sink in found if source != sink}


def _between_groups(
    parts: Sequence[isl.UnionSet], place: Mapping[int, int], pairs: isl.UnionMap
) -> set[tuple[int, int]]:
    """The pairs of different groups that some instances are related between."""
    found = set[tuple[int, int]]()

    def matters(source: int, sink: int) -> bool:
        return place[source] != place[sink] and (place[source], place[sink]) not in found

    for source, sink in _between_parts(parts, pairs, matters):
        found.add((place[source], place[sink]))
    return found


def united(parts: Sequence[isl.UnionSet]) -> isl.UnionSet:
    """The union of at least one set."""
    result = parts[0]
    for part in parts[1:]:
        result = result.union(part)
    return result


def sequence_of(parts: Sequence[isl.UnionSet]) -> isl.UnionSetList:
    """A list of filters for `insert_sequence`: whole statements, unless some are cut into parts."""
    names = [str(piece.get_tuple_name()) for part in parts for piece in sets_of(part)]
    if len(set(names)) < len(names):
        return filters_of(parts)
    result = isl.UnionSetList.alloc(parts[0].get_ctx(), len(parts))
    for part in parts:
        universes = union_of_sets(isl.Set.universe(piece.get_space()) for piece in sets_of(part))
        result = result.add(universes)
    return result


def filters_of(parts: Sequence[isl.UnionSet]) -> isl.UnionSetList:
    """A list of filters for `insert_sequence` where statements are cut into parts."""
    result = isl.UnionSetList.alloc(parts[0].get_ctx(), len(parts))
    for part in parts:
        result = result.add(part)
    return result
