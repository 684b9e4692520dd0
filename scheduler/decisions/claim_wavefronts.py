"""Wavefronts of tiles: the claim on a leaf band all of whose members carry something."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import ClassVar

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt.ir.marked_schedule import TileShape
from scopt.machine.costs import LEAST_CHAIN, jam_rows, vector_gain
from scopt.poly.bands import active, agreeing_at, distances, functions_of, is_local, nonnegative
from scopt.scheduler.decisions.claim_loops import across_cycles, innermost_cycles, moving_lines, plan_sizes, tile_box
from scopt.scheduler.decisions.claims import Band, Builder, Claim, Reason
from scopt.scheduler.decisions.contractions import contraction_of
from scopt.scheduler.decisions.leaf_loops import LeafLoops
from scopt.scheduler.decisions.leaf_plan import LeafPlan
from scopt.scheduler.decisions.register_tiles import tile_notes, wanted
from scopt.scheduler.decisions.setting import Setting
from scopt.scheduler.locality.diamond import tile_shape
from scopt.scheduler.locality.footprints import rows_in_cache

# Members of a band of sweeps: how often, over the rows of a grid, along these. A single sweep uses nothing again: the
# lines of all rows of a tile come from memory, in pieces too short for prefetchers to follow (measured from 32 MB on:
# 0.55 of the original's speed with 64 rows beside each other, 1.6 with eight, 2.5 where these hand their values on in
# variables, in pieces of a page).
_SWEEPS, _ONE_SWEEP = 3, 2
# Rows beside each other whose operations overlap in a core: each of their lines has to stay in the first cache
# (measured on sweeps with seven arrays: as long as in order with half of that).
_ROWS_AT_ONCE = 4
# By how much these have to be faster: chains of integers may be shorter than they look (measured: integral images,
# whose sums gcc puts in another order, at 1.3, lost an eighth).
_WORTH = 1.4


class Wavefronts(Struct, frozen=True):
    """Tiles of the first two members on a diagonal run in parallel: diamonds that all start at once where dependences
    have room for them; else with their points interleaved where chains would be waited for."""

    name: ClassVar[str] = "wavefronts"

    def claim(self, band: Band) -> Claim | Reason:
        setting = band.setting
        if not setting.options.tile:
            return Reason(self.name, "there are no tiles")
        if band.parallel_above:
            return Reason(self.name, "a loop around runs in parallel, or none may")
        plan = setting.planner.planned(band.facts, band.parallel_above)
        if not plan.skew:
            why = "a loop of the band is parallel as it is" if band.width > 1 else "there is only one loop"
            return Reason(self.name, why)
        if any(setting.planner.is_window(band.node, member) for member in plan.order[:2]):
            return Reason(self.name, "a loop of a few iterations moves with another one")

        nested = band.node.get_schedule_depth() > 0
        if nested or band.width == _ONE_SWEEP:
            plan = replace(plan, abreast=jam_rows(setting.options.machine))
        overlaps = plan.serial and _overlaps(band, plan)
        if not overlaps:
            plan = replace(plan, abreast=0)
        if plan.serial and band.facts.walks[plan.order[-1]].contiguous and not overlaps:
            plan = replace(plan, rows=True)
        contraction = contraction_of(setting.scop, band.node) if wanted(setting.options) else None
        if plan.serial and nested and contraction is None and band.width == _SWEEPS:
            plan = replace(plan, around=True)
        wished = setting.wished(band.node, "vector")
        kernels = contraction is not None and wished in (None, contraction.members[1])

        def make(build: Builder, node: isl.ScheduleNode) -> isl.ScheduleNode:
            # Inside of other loops a band starts anew each time: diamonds, for a good start, pay for outermost ones.
            shape = _inner_shape(band, overlaps=overlaps) if nested else shape_for(setting, node)
            if shape is not None and shape.interleave and plan.rows:
                shape = replace(shape, interleave=False)
            if shape is not None and (shape.rows is not None or (shape.interleave and plan.serial)):
                build.note_shape(shape)
            return LeafLoops(setting, build.marks, plan, shape, kernels).put(node)

        vectors = frozenset({plan.order[-1]} if any(plan.simd) else ())
        notes = tile_notes(contraction, setting.options) if contraction is not None and kernels else ()
        kernels_of = contraction.statements if contraction is not None and kernels else ()
        cycles = _cycles(band, plan, kernels_of, overlapped=overlaps)
        whole = partial(_whole, band, plan, kernels_of, overlaps)
        return Claim(self.name, _words(plan), cycles, make, plan.order[1], vectors, notes=notes, whole=whole)


def waits_for_itself(setting: Setting, node: isl.ScheduleNode) -> bool:
    """Whether instances of a leaf band inside of other loops wait for each other for so long that rows beside each
    other are worth more than anything else that could become of it."""
    band = Band(setting, node, parallel_above=False)
    if band.width < _ONE_SWEEP or not (setting.options.tile and node.band_get_permutable()):
        return False
    plan = setting.planner.planned(band.facts, parallel_above=False)
    long = band.work.chained() >= LEAST_CHAIN * band.work.instances()
    return long and plan.skew and plan.serial and _overlaps(band, plan)


def shape_for(setting: Setting, node: isl.ScheduleNode) -> TileShape:
    """The shape of a band's tiles; rows only if they are legal there: no active pair goes backwards in any of them.
    Live ranges that stay within a point of the band do so in the rows, and points may change places then."""
    dependences, place = setting.dependences, agreeing_at(node, setting.dependences)
    members = functions_of(node.band_get_partial_schedule())
    local = {
        name: ranges
        for name, ranges in dependences.ranges.items()
        if all(is_local(ranges, member, place) for member in members)
    }
    ordered = [dependences.must, *(some for name, some in dependences.reuse.items() if name not in local)]
    pairs = [active(some, node) for some in (*ordered, *(ranges.reverse() for ranges in local.values()))]
    shape = tile_shape(setting.scop, pairs, node)
    rows = [shape.rows.get_at(k) for k in range(shape.rows.dim(isl.dim_type.out))] if shape.rows is not None else []
    return (
        shape
        if all(nonnegative(distances(some, row)) for some in pairs for row in rows)
        else TileShape(shape.statements)
    )


def _inner_shape(band: Band, *, overlaps: bool) -> TileShape | None:
    """The shape of tiles inside of other loops."""
    return TileShape(frozenset(band.names), interleave=True) if overlaps else None


def _overlaps(band: Band, plan: LeafPlan) -> bool:
    """Whether instances along a diagonal take less time than waiting for each other."""
    work = band.work
    names = tuple(work.statements)
    faster = across_cycles(band, plan, names) * _WORTH < max(work.scalar(names, {}), work.chained(names))
    return faster and _stay_beside_each_other(band, plan.order[-2])


def _stay_beside_each_other(band: Band, rows: int) -> bool:
    """Whether the first cache keeps the lines that rows are at, as far as their distance is known: those that lie a
    multiple of some pages apart, in all arrays, share few of its sets."""
    walked = [group for group in band.work.groups if group.depends_on(rows)]
    strides = [stride for group in walked if (stride := group.stride(rows)) is not None]
    cache = band.setting.options.machine.cache(1)
    return all(rows_in_cache(stride, cache) >= _ROWS_AT_ONCE * len(walked) for stride in strides)


def _words(plan: LeafPlan) -> str:
    return f"tiles on diagonals in parallel, {'a vector loop' if any(plan.simd) else 'no vector loop'} inside"


def _whole(band: Band, plan: LeafPlan, kernels: Collection[str], overlapped: bool, resident: bool) -> float:
    moving = 0.0 if kernels else moving_lines(band, plan, resident=resident)
    return _cycles(band, plan, kernels, overlapped=overlapped, resident=resident, moving=moving)


def _cycles(
    band: Band,
    plan: LeafPlan,
    kernels: Collection[str],
    *,
    overlapped: bool,
    resident: bool = False,
    moving: float = 0.0,
) -> float:
    """As many forks as there are diagonals. overlapped: chains of a tile's rows are. kernels: statements most of whose
    instances run in register tiles. resident, moving: as of plain loops."""
    work, machine = band.work, band.setting.options.machine
    compute = innermost_cycles(band, plan, overlapped=overlapped) + moving
    if kernels:
        rest = 1 - work.instances(kernels) / work.instances()
        compute = rest * compute + work.instances(kernels) / vector_gain(machine)
    counts = [
        max(work.trips[member] / max(size, 1), 1)
        for member, size in zip(plan.order, plan_sizes(band, plan), strict=True)
    ]
    memory = 0.0 if resident else work.tiled(tile_box(band, plan), plan.order)
    first, second = plan.diagonal
    return work.parallel(compute, memory, counts[first] + counts[second])
