"""Innermost loops in their order, and vector loops beside them: whether one loop would do the work of both sooner.

While a chain of sums waits, what else stands in its loop costs nothing, up to what the units do meanwhile: that much is
better off beside it than as vectors in a loop of its own. Where there is more of it, or the chains of several rows are
under way at the same time, one loop would run element by element what vectors do faster.
"""

from __future__ import annotations

import islpy as isl

from scopt.poly.bands import with_properties_below
from scopt.scheduler.decisions.claims import Band
from scopt.scheduler.decisions.setting import Setting


def slows_vectors(setting: Setting, first: isl.ScheduleNode, second: isl.ScheduleNode, *, beside: bool) -> bool:
    """Whether just one of two loops without loops inside is a vector loop, and the other one would keep it from being
    one for longer than it hides of it. beside: rows of the loop around may run beside each other, since it carries
    nothing. (Lines stay in a cache from one of the loops to the other.)"""
    bands = [
        Band(setting, with_properties_below(setting.scop, setting.dependences, one), True) for one in (first, second)
    ]
    if any(band.width > 1 for band in bands):
        return False
    free = [any(setting.planner.plan(band.node, True).simd) for band in bands]
    if free[0] == free[1]:
        return False
    vector, order = (bands[1], bands[0]) if free[1] else (bands[0], bands[1])
    if order.coincident:
        return False
    chains = setting.options.machine.fma_latency if beside else 1
    own = max(order.work.scalar(None, {}), order.work.chained(chains=chains))
    together = max(order.work.scalar(None, {}) + vector.work.scalar(None, {}), own)
    return own + vector.work.vector(None, {}, 0) < together
