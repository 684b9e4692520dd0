"""A loop in order around one that threads share: the claim on bands around others all of whose members carry something.

A scheduler that wants permutable bands skews ``for len: for i: table[i][i + len] = f(shorter intervals)`` into loops
over ends and lengths, which tiles on diagonals keep in order. But all of its dependences lead to longer intervals: for
one length, intervals have nothing to do with each other, and threads have parts of the same size, other than along a
diagonal of tiles, which has few of them at its ends, and lengths that differ.
"""

from __future__ import annotations

from typing import ClassVar

import islpy as isl
from msgspec import Struct

from scopt.ir.nest import LoopMark
from scopt.poly.bands import private_inside
from scopt.poly.restructure import reordered
from scopt.scheduler.decisions.claims import Band, Builder, Claim, Reason

# Of the time that a band's operations take, what lines may take that come to the cores anew in each iteration of the
# loop in order (chosen): tiles keep more of them.
_MOVING = 1 / 8


class SharedInside(Struct, frozen=True):
    """A member that carries all there is goes outermost, and one that carries nothing then inside of it."""

    name: ClassVar[str] = "a parallel loop inside"

    def claim(self, band: Band) -> Claim | Reason:
        if band.parallel_above:
            return Reason(self.name, "a loop around runs in parallel, or none may")
        if band.width < 2 or band.setting.options.tile_sizes:
            return Reason(self.name, "there is one loop, or tiles are asked for")
        if band.coincident or band.setting.planner.reduced_member(band.node) is not None:
            return Reason(self.name, "a loop of the band is parallel as it is")
        found = _members(band)
        if found is None:
            return Reason(self.name, "no loop of the band carries all that keeps another one in order")
        outer, inner, private = found
        work = band.work
        compute = work.scalar(None, {})
        loops = [(k, work.trips[k]) for k in reversed(range(len(work.trips)))]
        memory = work.streamed(range(band.width))
        if work.moved(loops, resident=False) + memory > _MOVING * compute:
            return Reason(self.name, "lines would come anew in each iteration of the loop around")

        def make(build: Builder, node: isl.ScheduleNode) -> isl.ScheduleNode:
            rest = (k for k in range(band.width) if k not in (outer, inner))
            node = reordered(node, [outer, inner, *rest]).child(0)
            node = build.visit(node, True).parent()
            return build.marks.above_member(node, 1, LoopMark(parallel=True, private=private))

        cores = band.setting.options.machine.cores
        uneven = 1 + (cores - 1) / 2 / max(work.trips[inner], 1)
        cycles = work.parallel(compute * uneven, memory, work.trips[outer])
        return Claim(self.name, "one loop in order, iterations of one inside shared by threads", cycles, make, inner)


def _members(band: Band) -> tuple[int, int, tuple[str, ...]] | None:
    """The member that carries all that another one does, that one, and the private arrays that threads have copies
    of then."""
    partial = band.node.band_get_partial_schedule()
    for outer in range(band.width):
        for inner in range(band.width):
            if inner == outer:
                continue
            private = private_inside(band.node, partial.get_at(outer), partial.get_at(inner), band.setting.dependences)
            if private is not None:
                return outer, inner, private
    return None
