"""What may become of a band that isn't decided yet: for passes that ask whether they would spoil it."""

from __future__ import annotations

import islpy as isl

from scopt.poly.bands import Ordered, is_coincident
from scopt.poly.restructure import has_inner_bands
from scopt.scheduler.decisions.contractions import contraction_of
from scopt.scheduler.decisions.jam import jam_of
from scopt.scheduler.decisions.register_tiles import wanted
from scopt.scheduler.decisions.setting import Setting


def stands_apart(setting: Setting, node: isl.ScheduleNode) -> bool:
    """Whether a leaf band would lose by being fused around its first member: its register tiles, its jammed rows, its
    vector loop, or its choice of the innermost one."""
    node = _flagged(node, setting.dependences)
    if holds_contraction(setting, node) or _jams(setting, node):
        return True
    if has_inner_bands(node):
        return False
    plan = setting.planner.plan(node, False)
    return (any(plan.simd) and len(plan.order) > 1) or (plan.order[-1] == 0 and len(plan.order) > 1)


def _jams(setting: Setting, node: isl.ScheduleNode) -> bool:
    return jam_of(setting.scop, setting.dependences, node, setting.options) is not None


def lacks_vectors(setting: Setting, node: isl.ScheduleNode) -> bool:
    """Whether a leaf band would get no vector loop, nor anything better."""
    return not holds_contraction(setting, node) and not any(setting.planner.plan(node, False).simd)


def holds_contraction(setting: Setting, node: isl.ScheduleNode) -> bool:
    """Whether a leaf band may get register tiles."""
    return wanted(setting.options) and contraction_of(setting.scop, node) is not None


def _flagged(node: isl.ScheduleNode, dependences: Ordered) -> isl.ScheduleNode:
    """A band node with the coincidence of its members as the dependences have it."""
    partial = node.band_get_partial_schedule()
    for position in range(node.band_n_member()):
        node = node.band_member_set_coincident(
            position, int(is_coincident(node, partial.get_at(position), dependences))
        )
    return node
