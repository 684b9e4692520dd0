"""Innermost loops that threads share, beside others in order: whether one loop for both would cost more than they gain.

``for i: y[i] = exp(x[i]); for i: s += y[i];`` has one loop that threads can share, and one whose order stays. Together
they read ``y`` once; apart, all cores work on the first one, which is worth more where there is much to compute.
"""

from __future__ import annotations

import islpy as isl
from msgspec.structs import replace

from scopt.ir.scop import Scop
from scopt.poly.bands import with_properties_below
from scopt.poly.isl_utils import PARAM, sets_of
from scopt.scheduler.decisions.arbiter import decide
from scopt.scheduler.decisions.band_costs import Work
from scopt.scheduler.decisions.claim_loops import PlainLoops
from scopt.scheduler.decisions.claims import Band
from scopt.scheduler.decisions.setting import Setting

# Of what one loop for both costs, what the two have to cost together: one thread alone has both to do anyway, and pays
# for lines that come twice (chosen).
_LESS = 0.8


def shares_more(setting: Setting, first: isl.ScheduleNode, second: isl.ScheduleNode, both: isl.ScheduleNode) -> bool:
    """Whether two leaf bands, outside of any parallel loop, cost less than one in their place, by the model. both: that
    one."""
    if not setting.options.parallel:
        return False
    alone = sum(_cycles(setting, one) for one in (first, second))
    return alone < _LESS * _cycles(setting, both)


def is_short_nest(setting: Setting, node: isl.ScheduleNode) -> bool:
    """Whether a band of one member that carries nothing, inside of others, is nothing for threads: these share a loop
    around, or it is known to have too little to do. Enough iterations are left to fill a vector, or, where results that
    wait for each other would come to stand side by side, half of one."""
    if node.band_n_member() != 1 or not node.get_schedule_depth() or not node.band_member_get_coincident(0):
        return False
    machine = setting.options.machine
    if not setting.options.simd:
        return False
    work = Work.of(setting.scop, machine, node)
    if is_shared_outside(node):
        return work.trips[0] >= work.lanes // 2
    if not _has_known_size(setting.scop, node.get_domain()):
        return False
    return work.trips[0] >= work.lanes and work.scalar(None, {}) < machine.fork_nanoseconds * machine.gigahertz


def is_shared_outside(node: isl.ScheduleNode) -> bool:
    """Whether threads may take the iterations of a loop around."""
    while node.get_schedule_depth():
        node = node.parent()
        if node.get_type() == isl.schedule_node_type.band and any(
            node.band_member_get_coincident(k) for k in range(node.band_n_member())
        ):
            return True
    return False


def _cycles(setting: Setting, node: isl.ScheduleNode) -> float:
    """Of a leaf band. Where nobody knows how often it runs, the text tests if that is worth a fork."""
    if not _has_known_size(setting.scop, node.get_domain()):
        options = setting.options
        setting = replace(setting, options=replace(options, machine=replace(options.machine, fork_nanoseconds=1)))
    flagged = with_properties_below(setting.scop, setting.dependences, node)
    return decide(Band(setting, flagged, False), (PlainLoops(),))[0].cycles


def _has_known_size(scop: Scop, domain: isl.UnionSet) -> bool:
    unknown = {one.name for one in scop.parameters if one.estimate is None}
    return not any(
        part.involves_dims(PARAM, k, 1) and part.get_dim_name(PARAM, k) in unknown
        for part in sets_of(domain)
        for k in range(part.dim(PARAM))
    )
