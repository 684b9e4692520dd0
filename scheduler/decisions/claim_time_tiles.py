"""Tiles over several steps of a loop over time around sweeps that are nests apart: the claim on the loop."""

from __future__ import annotations

from typing import ClassVar

import islpy as isl
from msgspec import Struct

from scopt.ir.nest import LoopMark
from scopt.poly.isl_utils import joined
from scopt.scheduler.decisions.claims import Band, Builder, Claim, Reason
from scopt.scheduler.locality.tile_sizes import diamond_sizes
from scopt.scheduler.locality.tiling import atomic, shaped_tiles, sizes_for, wavefront
from scopt.scheduler.locality.time_tiles import TimePlanes, time_planes

# Steps without which tiles hold too few of them, and tiles' rows that threads have something to share with.
_STEPS, _TILES = 8, 4
# Of more statements hyperplanes, and their tiles' bounds, take long to find.
_MOST_STATEMENTS = 16


class TimeTiles(Struct, frozen=True):
    """Tiles on a diagonal run in parallel, each of some rows in some steps; inside, sweeps over these follow each other
    as they do without tiles."""

    name: ClassVar[str] = "tiles over time"

    def claim(self, band: Band) -> Claim | Reason:
        why = _no_tiles(band)
        if why is not None:
            return Reason(self.name, why)
        private = _private(band)
        if private is None:
            return Reason(self.name, "a variable hands a value into the loop, or out of it")
        dependences, domain = band.setting.dependences, band.node.get_domain()
        # what a private cell is given is used in the same tile
        pairs = [dependences.must, *(ranges.reverse() for ranges in dependences.ranges.values())]
        inside = [some.intersect_domain(domain).intersect_range(domain) for some in pairs]
        found = time_planes(band.setting.scop, inside, domain)
        if isinstance(found, str):
            return Reason(self.name, found)
        sizes = _sizes(band, found)
        if band.work.trips[1] < _TILES * sizes[0] // found.scales[0]:
            return Reason(self.name, "there are few rows")

        def make(build: Builder, node: isl.ScheduleNode) -> isl.ScheduleNode:
            build.note_tested(found.tested)
            node = atomic(atomic(wavefront(shaped_tiles(node, found.planes, sizes), 2)).child(0))
            node = build.visit(node.child(0), True).parent().parent()
            return build.marks.above_member(node, 1, LoopMark(parallel=True, private=private))

        work = band.work
        forks = max(work.trips[0] / sizes[0], 1)
        cycles = work.parallel(work.scalar(None, {}), 0.0, forks)
        return Claim(self.name, "rows of several steps on diagonals in parallel", cycles, make, 0, None)


def _no_tiles(band: Band) -> str | None:
    """Why there are none, as far as the loop tells."""
    setting = band.setting
    if band.parallel_above or band.node.get_schedule_depth():
        return "another loop is around, or none may run in parallel"
    if not setting.options.tile or setting.loops or setting.hopes:
        return "there are no tiles, or loops are asked for"
    if band.width > 1 or band.coincident or setting.planner.reduced_member(band.node) is not None:
        return "it isn't one loop in order"
    if len(band.names) > _MOST_STATEMENTS:
        return "it has many statements"
    return "it has few iterations" if band.work.trips[0] < _STEPS else None


def _private(band: Band) -> tuple[str, ...] | None:
    """The private arrays of the loop's statements; None if a value of them comes from elsewhere, or goes there."""
    scop, domain = band.setting.scop, band.node.get_domain()
    used = {access.array for name in band.names for access in scop.statement(name).accesses}
    names = tuple(name for name in band.setting.dependences.ranges if name in used)
    for name in names:
        ranges = band.setting.dependences.ranges[name]
        if not ranges.intersect_domain(domain).is_equal(ranges.intersect_range(domain)):
            return None
    return names


def _sizes(band: Band, found: TimePlanes) -> tuple[int, ...]:
    """Sizes between the hyperplanes: so many rows, or steps, whatever the rows' factor is."""
    setting = band.setting
    rows = [found.planes.get_at(k).scale_down_val(isl.Val(scale)) for k, scale in enumerate(found.scales)]
    own = diamond_sizes(setting.scop, setting.options.machine, band.node, joined(rows[:2]), len(rows) - 2, simd=True)
    sizes = sizes_for(setting.options.tile_sizes, own)
    return tuple(size * scale for size, scale in zip(sizes, found.scales, strict=True))
