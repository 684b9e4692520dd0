"""Pieces of schedules that strips of rows are put together from."""

from __future__ import annotations

import islpy as isl

from scopt.poly.isl_utils import sets_of, walk
from scopt.poly.set_pieces import in_band

_TYPE = isl.schedule_node_type


def outside(node: isl.ScheduleNode) -> isl.MultiUnionPwAff:
    """The schedule outside a node, for all statements of the bands around it."""
    while node.parent().get_type() != _TYPE.band:
        node = node.parent()
    return node.get_prefix_schedule_multi_union_pw_aff()


def atomic_loop(tree: isl.Schedule, *, parallel: bool) -> isl.Schedule:
    band = tree.get_root().child(0).band_set_permutable(1)
    band = band.band_member_set_ast_loop_type(0, isl.ast_loop_type.atomic)
    return band.band_member_set_coincident(0, int(parallel)).get_schedule()


def with_band(inner: isl.Schedule, node: isl.ScheduleNode) -> isl.Schedule:
    """A schedule inside of a band like another one."""
    partial = node.band_get_partial_schedule()
    members = [partial.get_at(k).intersect_domain(inner.get_domain()) for k in range(node.band_n_member())]
    return in_band(inner, members, node)


def statements_of(node: isl.ScheduleNode) -> list[str]:
    """The names of the statements that reach a node."""
    return [str(part.get_tuple_name()) for part in sets_of(node.get_domain())]


def is_leaf_band(node: isl.ScheduleNode) -> bool:
    """Whether it is a band with none below it."""
    return node.get_type() == _TYPE.band and not any(below.get_type() == _TYPE.band for below in walk(node.child(0)))


def depth_of(node: isl.ScheduleNode) -> int:
    """Of the deepest statement below a node."""
    return max((part.dim(isl.dim_type.set) for part in sets_of(node.get_domain())), default=0)


def has_several(node: isl.ScheduleNode) -> bool:
    """Whether several loops stand one after the other below a node."""
    return any(
        below.get_type() in (_TYPE.sequence, _TYPE.set)
        and sum(any(part.get_type() == _TYPE.band for part in walk(child)) for child in _children(below)) > 1
        for below in walk(node)
    )


def _children(node: isl.ScheduleNode) -> list[isl.ScheduleNode]:
    return [node.child(position) for position in range(node.n_children())]
