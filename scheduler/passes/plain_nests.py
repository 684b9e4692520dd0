"""Nests that gain nothing by a scheduler's order get that of the source back.

A scheduler that wants permutable bands puts statements that stand beside a loop into it, each at one of its iterations,
``for k < 4: { if (k == 0) d = …; … }``, or lets loops of a few iterations run against each other. That is fine where
threads, vectors or tiles come of it. Where none do, each iteration is left with the conditions, and compilers with
loops that they unroll no more.
"""

from __future__ import annotations

from collections.abc import Iterator

import islpy as isl
from msgspec.structs import replace

from scopt.ir.marked_schedule import MarkedSchedule
from scopt.ir.scop import Scop
from scopt.poly.isl_utils import sets_of, walk
from scopt.poly.restructure import filters_of
from scopt.poly.trees import Band, Leaf, Sequence, Tree, domain_of, nested, read, restricted
from scopt.scheduler.locality.strides import shape_rows
from scopt.scheduler.passes.vector_share import is_plain, is_together

_TYPE = isl.schedule_node_type


def without_mixed_loops(scop: Scop, schedule: MarkedSchedule) -> MarkedSchedule:
    """The schedule with the source's order in the place of such nests, also inside of loops of the source that gain
    something. That keeps to the dependences: those between two nests by the nests' order, those inside of one, for
    which the loops around stand still, by the source's."""
    node, found = _below(scop, schedule, schedule.tree.get_root())
    if not found:
        return schedule
    tree = node.get_schedule()
    there = {node.mark_get_id().get_name() for node in walk(tree.get_root()) if node.get_type() == _TYPE.mark}
    return replace(schedule, tree=tree, marks={name: mark for name, mark in schedule.marks.items() if name in there})


def is_mixed(scop: Scop, schedule: MarkedSchedule) -> bool:
    """Whether nothing runs in parallel or in vectors, and some statement stands in a loop that isn't its own."""
    node = schedule.tree.get_root().child(0)
    nests = [node] if node.get_type() not in (_TYPE.sequence, _TYPE.set) else list(_children(node))
    return is_plain(schedule) and any(_is_mixed(scop, nest) for nest in nests)


def _children(node: isl.ScheduleNode) -> Iterator[isl.ScheduleNode]:
    return (node.child(k).child(0) for k in range(node.n_children()))


def _below(
    scop: Scop, schedule: MarkedSchedule, node: isl.ScheduleNode, kept: int = 0
) -> tuple[isl.ScheduleNode, bool]:
    """The node, with all done that is to be done at it and below; and whether there was anything. kept: how many bands
    are what marks above are about."""
    kind, found = node.get_type(), False
    if kind == _TYPE.mark and is_together(schedule.mark(node)):
        kept = max(kept, schedule.loop(node).collapse)
    elif kind == _TYPE.band and kept:
        kept -= 1
    elif kind == _TYPE.band and not _has_gains(schedule, node):
        turned = _is_mixed(scop, node) or (_is_turned(scop, node) and not _is_straight(scop, node))
        if not turned or not _stands_in_source_loops(scop, node):
            return node, False
        own = restricted(read(scop.schedule.get_root()), node.get_domain())
        assert own is not None
        depth = int(node.get_schedule_depth())
        return _grown(node.cut(), _inside(own, depth)), True
    for position in range(node.n_children()):
        child, inside = _below(scop, schedule, node.child(position), kept)
        node, found = child.parent(), found or inside
    return node, found


def _has_gains(schedule: MarkedSchedule, node: isl.ScheduleNode) -> bool:
    """Whether something below runs in parallel, in vectors or with others."""
    return any(one.get_type() == _TYPE.mark and is_together(schedule.mark(one)) for one in walk(node))


def _stands_in_source_loops(scop: Scop, node: isl.ScheduleNode) -> bool:
    """Whether the loops around a node are the statements' outermost ones."""
    depth = int(node.get_schedule_depth())
    if not depth:
        return True
    dates = node.get_prefix_schedule_multi_union_pw_aff()
    for name, count in _iterators(scop, node):
        moving = [[k for k, factor in enumerate(row[:count]) if factor] for row in shape_rows(scop, dates, name)]
        if sorted(moving) != [[k] for k in range(depth)]:
            return False
    return True


def _is_turned(scop: Scop, node: isl.ScheduleNode) -> bool:
    """Whether a loop runs over a sum of iterators, or backwards."""
    for band in walk(node):
        if band.get_type() != _TYPE.band:
            continue
        partial = band.band_get_partial_schedule()
        for name, count in _iterators(scop, band):
            rows = [row[:count] for row in shape_rows(scop, partial, name)]
            if any(sum(map(bool, row)) > 1 or any(factor < 0 for factor in row) for row in rows):
                return True
    return False


def _iterators(scop: Scop, node: isl.ScheduleNode) -> list[tuple[str, int]]:
    """The statements below a node, each with how many iterators it has."""
    names = [str(part.get_tuple_name()) for part in sets_of(node.get_domain())]
    return [(name, len(scop.statement(name).iterators)) for name in names]


def _is_mixed(scop: Scop, nest: isl.ScheduleNode) -> bool:
    """Whether some statements stand in more loops than are theirs, while none stands in loops over tiles, or is
    straight code."""
    more = {(loops - len(scop.statement(name).iterators), loops) for name, loops in _places(nest)}
    deepest = max((loops for _, loops in more), default=0)
    mixed = any(extra > 0 for extra, _ in more) and any(extra == 0 and loops == deepest for extra, loops in more)
    return mixed and not _is_straight(scop, nest)


def _is_straight(scop: Scop, nest: isl.ScheduleNode) -> bool:
    """Whether iterations of a statement stand in several places, or without a loop."""
    places = _places(nest)
    if len(places) > len({name for name, _ in places}):
        return True
    return any(loops < len(scop.statement(name).iterators) for name, loops in places)


def _places(nest: isl.ScheduleNode) -> list[tuple[str, int]]:
    return list(_loops(nest, int(nest.get_schedule_depth())))


def _loops(node: isl.ScheduleNode, around: int) -> Iterator[tuple[str, int]]:
    """The statements below a node, each with how many loops it stands in."""
    if node.get_type() == _TYPE.leaf:
        yield from ((str(part.get_tuple_name()), around) for part in sets_of(node.get_domain()))
    inside = around + (int(node.band_n_member()) if node.get_type() == _TYPE.band else 0)
    for position in range(node.n_children()):
        yield from _loops(node.child(position), inside)


# --- the source's order -----------------------------------------------------------------------------------------------


def _inside(tree: Tree, depth: int) -> Tree:
    """What the outermost loops of a tree have inside."""
    match tree:
        case Band(partial, body) if depth:
            rest = [partial.get_at(k) for k in range(depth, tree.width)]
            return nested(rest, _inside(body, max(depth - tree.width, 0)))
        case Sequence(parts):
            return Sequence(tuple(_inside(part, depth) for part in parts))
    return tree


def _grown(leaf: isl.ScheduleNode, tree: Tree) -> isl.ScheduleNode:
    """A leaf with a tree in its place."""
    match tree:
        case Leaf():
            return leaf
        case Band(partial, body):
            return _grown(leaf.insert_partial_schedule(partial).child(0), body).parent()
        case Sequence(parts):
            node = leaf.insert_sequence(filters_of([domain_of(part) for part in parts]))
            for position, part in enumerate(parts):
                node = _grown(node.child(position).child(0), part).parent().parent()
            return node
