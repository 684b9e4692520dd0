"""Sinking: a loop around a sequence of loops moves into the sequence, where legal and where the inner loops walk
through memory better for it.

isl keeps statements that depend on each other in one band as deep as it can. In ``for k { for j { for i S; for i T }
}`` the statements may only be tied together by k: with a j loop of its own each can have j innermost.
"""

from __future__ import annotations

from collections.abc import Callable

import islpy as isl
from msgspec import Struct

from scopt.ir.scop import Scop
from scopt.poly.bands import Ordered, active
from scopt.poly.isl_utils import joined
from scopt.poly.restructure import distributable, has_inner_bands, leaf_parts, sequence_of, topological
from scopt.scheduler.locality.strides import LinearSchedule, linear_schedule, strides

_TYPE = isl.schedule_node_type


class _Part(Struct, frozen=True, eq=False):
    """A child of the sequence: its statements, its leaf band if it has one, and the statement groups at its leaves."""

    domain: isl.UnionSet
    band: isl.ScheduleNode | None
    groups: tuple[isl.UnionSet, ...]


def sink_loops(
    scop: Scop,
    dependences: Ordered,
    tree: isl.Schedule,
    *,
    tile: bool,
    is_short: Callable[[isl.ScheduleNode], bool] = lambda _node: False,
) -> isl.Schedule:
    """Sink the last member of every band with bands below where that is legal and gains. Flags of the result have to be
    recomputed.

    tile: bands that are going to be tiled in wavefronts are left: what sinks there is the loop inside a tile. is_short:
    whether a nest is too short for threads to share its only member: then that may sink as a whole.
    """

    def descend(node: isl.ScheduleNode) -> isl.ScheduleNode:
        if node.get_type() == _TYPE.band and has_inner_bands(node) and not (tile and waits_for_tiles(node)):
            node = sunk(scop, dependences, node, whole=is_short(node)) or node
        for position in range(node.n_children()):
            node = descend(node.child(position)).parent()
        return node

    return descend(tree.get_root()).get_schedule()


def waits_for_tiles(node: isl.ScheduleNode) -> bool:
    """Whether only wavefronts of tiles make a band parallel."""
    width = node.band_n_member()
    return (
        width >= 2
        and bool(node.band_get_permutable())
        and not any(node.band_member_get_coincident(k) for k in range(width))
    )


def sunk(scop: Scop, dependences: Ordered, node: isl.ScheduleNode, *, whole: bool = False) -> isl.ScheduleNode | None:
    """The band without its last member, which is sunk; above a single band, without one that carries nothing. None
    where that is illegal or gains nothing. whole: a band of one member may become the sequence."""
    if node.child(0).get_type() == _TYPE.band:
        return _sunk_into(scop, dependences, node)
    members = node.band_n_member()
    parts = _parts(node.child(0))
    if (members < 2 and not whole) or parts is None:
        return None
    last = _last_sunk(scop, dependences, node, parts)
    if last is not None or not node.band_get_permutable():
        return last
    bands = [part.band for part in parts if part.band is not None]
    free = [k for k in range(members - 1) if node.band_member_get_coincident(k)]
    free.sort(key=lambda k: -max((_score(scop, node, band, k) for band in bands), default=0.0))
    return _last_sunk(scop, dependences, _with_last(node, free[0]), parts) if free else None


def _with_last(node: isl.ScheduleNode, member: int) -> isl.ScheduleNode:
    """A permutable band with one of its members as the last one."""
    upper = node.band_get_partial_schedule()
    order = [k for k in range(node.band_n_member()) if k != member] + [member]
    moved = joined([upper.get_at(k) for k in order])
    return node.delete().insert_partial_schedule(moved).band_set_permutable(1)


def _last_sunk(scop: Scop, dependences: Ordered, node: isl.ScheduleNode, parts: list[_Part]) -> isl.ScheduleNode | None:
    """The band without its last member, which is sunk into the parts; None where that is illegal or gains nothing."""
    members = node.band_n_member()
    inner = node.band_split(members - 1).child(0) if members > 1 else node
    domains = [part.domain for part in parts]
    groups = topological(domains, active(dependences.must, inner))
    if any(len(group) > 1 for group in groups) or not distributable(domains, groups, dependences, inner):
        return None
    if not any(part.band is not None and _gains(scop, node, part.band) for part in parts):
        return None
    partial = inner.band_get_partial_schedule()
    bands = [part.band.band_get_partial_schedule() if part.band is not None else None for part in parts]
    node = inner.cut().insert_sequence(sequence_of([domains[group[0]] for group in groups]))
    for position, group in enumerate(groups):
        part, band = parts[group[0]], bands[group[0]]
        combined = partial if band is None else partial.flat_range_product(band)
        below = (
            node.child(position)
            .child(0)
            .insert_partial_schedule(combined.intersect_domain(part.domain))
            .band_set_permutable(0)
        )
        if len(part.groups) > 1:
            below = below.child(0).insert_sequence(sequence_of(part.groups)).parent()
        node = below.parent().parent()
    return node.parent() if members > 1 else node


def _sunk_into(scop: Scop, dependences: Ordered, node: isl.ScheduleNode) -> isl.ScheduleNode | None:
    """The band above a leaf band without a member that carries nothing and walks through memory better than those
    inside, which becomes the innermost one."""
    lower, width = node.child(0), node.band_n_member()
    if width < 2 or has_inner_bands(lower):
        return None
    tables = (dependences.ranges, dependences.reuse)
    if any(not active(pairs, node).is_empty() for table in tables for pairs in table.values()):
        return None  # iterations that need private copies would be mixed
    free = [k for k in range(width) if node.band_member_get_coincident(k)]
    scores = {k: _score(scop, node, lower, k) for k in free}
    best = max(free, key=lambda k: (scores[k], k), default=None)
    below = linear_schedule(scop, lower)
    if best is None or scores[best] <= max(strides(scop, below, k).score() for k in range(lower.band_n_member())):
        return None
    upper, inner = node.band_get_partial_schedule(), lower.band_get_partial_schedule()
    moved = isl.MultiUnionPwAff.from_union_pw_aff(upper.get_at(best))
    rest = joined([upper.get_at(k) for k in range(width) if k != best])
    permutable = int(bool(node.band_get_permutable()))
    node = node.child(0).delete().parent().delete()
    node = node.insert_partial_schedule(inner.flat_range_product(moved)).band_set_permutable(0)
    return node.insert_partial_schedule(rest).band_set_permutable(permutable)


def _score(scop: Scop, upper: isl.ScheduleNode, lower: isl.ScheduleNode, member: int) -> float:
    """Of a member of the upper band as the innermost loop of the lower one's statements."""
    below, place = linear_schedule(scop, lower), upper.get_schedule_depth() + member
    if any(len(rows) <= place for rows in below.prefix.values()):
        return float("-inf")
    moved = LinearSchedule(
        {name: (*rows[:place], *rows[place + 1 :]) for name, rows in below.prefix.items()},
        {name: (below.prefix[name][place], *rows) for name, rows in below.members.items()},
    )
    return strides(scop, moved, 0).score()


def _parts(sequence: isl.ScheduleNode) -> list[_Part] | None:
    """The children of a sequence, if each is a leaf band or plain statements."""
    if sequence.get_type() not in (_TYPE.sequence, _TYPE.set):
        return None
    parts = []
    for position in range(sequence.n_children()):
        child = sequence.child(position).child(0)
        band = child if child.get_type() == _TYPE.band else None
        groups = leaf_parts(child.child(0) if band is not None else child)
        if groups is None:
            return None
        parts.append(_Part(sequence.child(position).filter_get_filter(), band, tuple(groups)))
    return parts


def _gains(scop: Scop, upper: isl.ScheduleNode, lower: isl.ScheduleNode) -> bool:
    """Whether the upper band's last member would be a better innermost loop for the lower band's statements than any
    that it has."""
    below = linear_schedule(scop, lower)
    place = upper.get_schedule_depth() + upper.band_n_member() - 1
    moved = LinearSchedule(
        {name: rows[:place] for name, rows in below.prefix.items() if len(rows) > place},
        {name: (rows[place], *below.members[name]) for name, rows in below.prefix.items() if len(rows) > place},
    )
    return strides(scop, moved, 0).score() > max(strides(scop, below, k).score() for k in range(lower.band_n_member()))
