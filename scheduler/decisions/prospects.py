"""What may become of a band that isn't decided yet: for passes that ask whether they would spoil it."""

from __future__ import annotations

import islpy as isl

from scopt.machine.costs import MOST_STEP
from scopt.poly.bands import with_properties_below
from scopt.poly.restructure import has_inner_bands
from scopt.scheduler.decisions.contractions import contraction_of
from scopt.scheduler.decisions.diagonals import Diagonals, diagonals
from scopt.scheduler.decisions.jam import jam_of
from scopt.scheduler.decisions.register_tiles import wanted
from scopt.scheduler.decisions.setting import Setting
from scopt.scheduler.decisions.small_loops import values_of_member
from scopt.scheduler.locality.strides import linear_schedule, strides

# Loops over records, and over their elements; over rows, and along them.
_LOOPS = 2


def stands_apart(setting: Setting, node: isl.ScheduleNode) -> bool:
    """Whether a leaf band would lose by being fused around its first member: its register tiles, its jammed rows, its
    vector loop, or its choice of the innermost one."""
    node = with_properties_below(setting.scop, setting.dependences, node)
    if is_special(setting, node) or waits_both_ways(setting, node) or _has_diagonals(setting, node):
        return True
    if has_inner_bands(node) or _by_records(setting, node):
        return False
    plan = setting.planner.plan(node, False)
    return ((any(plan.simd) or plan.tiny) and len(plan.order) > 1) or (plan.order[-1] == 0 and len(plan.order) > 1)


def streams_rows(setting: Setting, node: isl.ScheduleNode) -> bool:
    """Whether a leaf band has nothing but vector loops along rows, one row after the other: around several such loops
    the first member stays as good, and rows stay in the cache from one to the next."""
    node = with_properties_below(setting.scop, setting.dependences, node)
    if is_special(setting, node) or has_inner_bands(node) or not node.band_member_get_coincident(0):
        return False
    plan = setting.planner.plan(node, False)
    natural = plan.order == tuple(range(len(plan.order)))
    return natural and all(plan.simd) and not (plan.tile or plan.tile_vector or plan.jumps or plan.skew)


def _by_records(setting: Setting, node: isl.ScheduleNode) -> bool:
    """Whether a band goes from record to record, and through the few elements of each."""
    if node.band_n_member() != _LOOPS or not node.band_member_get_coincident(0):
        return False
    if values_of_member(node, 1, MOST_STEP) is None:
        return False
    return not strides(setting.scop, linear_schedule(setting.scop, node), 0).leaves_lines


def is_special(setting: Setting, node: isl.ScheduleNode) -> bool:
    """Whether a band whose flags are set may get register tiles or jammed rows."""
    return holds_contraction(setting, node) or _jams(setting, node)


def waits_both_ways(setting: Setting, node: isl.ScheduleNode) -> bool:
    """Whether each member of an outermost band carries something, and tiles of it may run in wavefronts."""
    width, options = int(node.band_n_member()), setting.options
    whole = node.get_schedule_depth() == 0 and width > 1 and bool(node.band_get_permutable())
    free = any(node.band_member_get_coincident(k) for k in range(width))
    return whole and not free and options.tile and options.parallel


def _has_diagonals(setting: Setting, node: isl.ScheduleNode) -> bool:
    """Whether both members of a band carry something, and vectors may run along its diagonals, inside of others too."""
    if int(node.band_n_member()) != _LOOPS or not (node.band_get_permutable() and setting.options.simd):
        return False
    if any(node.band_member_get_coincident(k) for k in range(_LOOPS)) or has_inner_bands(node):
        return False
    return wanted(setting.options) and isinstance(diagonals(setting, node), Diagonals)


def _jams(setting: Setting, node: isl.ScheduleNode) -> bool:
    return jam_of(setting.scop, setting.dependences, node, setting.options) is not None


def lacks_vectors(setting: Setting, node: isl.ScheduleNode) -> bool:
    """Whether a leaf band would get no vector loop, nor anything better."""
    if holds_contraction(setting, node):
        return False
    plan = setting.planner.plan(node, False)
    return not (plan.tiny or any(plan.simd))


def holds_contraction(setting: Setting, node: isl.ScheduleNode) -> bool:
    """Whether a leaf band may get register tiles."""
    return wanted(setting.options) and contraction_of(setting.scop, node) is not None
