"""Plain loops: vector loops, an outer loop in parallel, and tiles where memory asks for them; or none of that."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import ClassVar

import islpy as isl
from msgspec import Struct

from scopt import ir
from scopt.machine.costs import ENTRY, LONE, MOST_STRAIGHT
from scopt.poly.isl_utils import sets_of
from scopt.poly.restructure import reordered
from scopt.scheduler.decisions.claims import Band, Builder, Claim, Reason
from scopt.scheduler.decisions.leaf_loops import LeafLoops, default_sizes
from scopt.scheduler.decisions.leaf_plan import LeafPlan
from scopt.scheduler.locality.tiling import sizes_for


class PlainLoops(Struct, frozen=True):
    """In order, or with a parallel loop outside; innermost a vector loop where that is legal and walks through memory
    well."""

    name: ClassVar[str] = "plain loops"

    def claim(self, band: Band) -> Claim | Reason:
        return self.of_plan(band, band.setting.planner.planned(band.facts, band.parallel_above, waves=False))

    def of_plan(self, band: Band, plan: LeafPlan) -> Claim:
        """The claim for a plan."""

        def make(build: Builder, node: isl.ScheduleNode) -> isl.ScheduleNode:
            return LeafLoops(band.setting, build.marks, plan).put(node)

        parallel = None if plan.parallel is None else thread_member(band, plan)
        vectors = frozenset({plan.order[-1]} if any(plan.simd) else ())
        tiled = plan.tile or plan.tile_vector
        taken = cycles(band, plan)
        whole = partial(_whole, band, plan)
        return Claim(self.name, words(plan), taken, make, parallel, vectors, tiled=tiled, whole=whole)


def thread_member(band: Band, plan: LeafPlan) -> int:
    """Position in the band of the member whose (tile) loop runs in parallel."""
    assert plan.parallel is not None
    outermost = plan.order[plan.parallel]
    whole = plan.tile_vector and plan.parallel == 0 and outermost not in band.coincident and not plan.threads
    return plan.order[-1] if whole else outermost


def words(plan: LeafPlan) -> str:
    """The decisions of a plan for plain loops."""
    vectors = sum(plan.simd)
    found = [
        "one loop in parallel" if plan.parallel is not None else "",
        f"{vectors} vector loop{'s' if vectors > 1 else ''}" if vectors else "no vector loop",
        "tiles" if plan.tile or plan.tile_vector else "",
    ]
    return ", ".join(part for part in found if part)


def innermost_cycles(band: Band, plan: LeafPlan, *, overlapped: bool = False) -> float:
    """What the innermost loops take on one core. overlapped: where it is better, they don't wait for each other's
    iterations, but walk across the lines."""
    if plan.hidden is not None:
        return plan.hidden.cycles
    work, total, vector = band.work, 0.0, plan.order[-1]
    kept = {vector: float(work.trips[vector])}
    vectors = (simd or ahead for simd, ahead in zip(plan.simd, plan.ahead, strict=True))
    for parts, simd in zip(plan.groups, vectors, strict=True):
        names = [name for part in parts for name in _names(part)]
        busy = work.scalar(names, kept)
        if simd:
            total += work.vector(names, kept, vector)
        elif plan.serial:
            waiting = max(busy, work.chained(names))
            total += min(waiting, across_cycles(band, plan, names)) if overlapped else waiting
        else:
            total += busy
    return total


def across_cycles(band: Band, plan: LeafPlan, names: Collection[str]) -> float:
    """Of some statements whose instances run along the diagonals of tiles: those of all rows of a tile, of which a
    diagonal in the middle has half on average, each in another line than the one before; or those of a few rows, in
    straight code but at both ends of a tile, whose values are handed on."""
    work, sizes = band.work, plan_sizes(band, plan)
    runs = work.instances(names) / max(len(names), 1)
    if plan.abreast and _hands_on(band, plan, names):
        ends = 2 * ENTRY * runs / max(sizes[-1], 1)
        return max(work.scalar(names, {}), work.chained(names, chains=plan.abreast)) + ends
    return work.jumping(names) + ENTRY * runs / max(min(sizes[-2:]) / 2, 1)


def _hands_on(band: Band, plan: LeafPlan, names: Collection[str]) -> bool:
    """Whether rows beside each other hand values on in variables, as far as statements tell."""
    statements = [band.setting.scop.statement(name) for name in names]
    arrays = band.setting.scop.arrays
    written = [arrays[access.array] for one in statements for access in one.accesses if access.is_write]
    plain = all(not array.within for array in written) and any(array.rank for array in written)
    few = plan.abreast * len(statements) <= MOST_STRAIGHT
    straight = all(isinstance(one.body, ir.Assignment) for one in statements)
    return band.setting.options.simd and plain and few and straight


def cycles(band: Band, plan: LeafPlan, *, resident: bool = False, moving: float = 0.0) -> float:
    """Of plain loops. The machine's own tiles bring no more lines than streams would; the user's, what they do.
    resident: the last cache has all lines. moving: of lines, between the caches."""
    work, compute, memory = band.work, innermost_cycles(band, plan) + moving, 0.0
    user = band.setting.options.tile_sizes
    if not resident:
        memory = work.tiled(tile_box(band, plan), plan.order) if plan.tile and user else work.streamed(plan.order)
    if plan.parallel is None:
        return work.alone(compute, memory if band.parallel_above else memory * LONE)
    return work.parallel(compute, memory, 1)


def _whole(band: Band, plan: LeafPlan, resident: bool) -> float:
    return cycles(band, plan, resident=resident, moving=moving_lines(band, plan, resident=resident))


def moving_lines(band: Band, plan: LeafPlan, *, resident: bool) -> float:
    """Cycles that lines take between the caches of a core."""
    work, last = band.work, plan.order[-1]
    inside = [(k, work.trips[k]) for k in reversed(range(len(work.trips))) if k not in plan.order]
    whole = [(k, work.trips[k]) for k in reversed(plan.order)]
    if not (plan.tile or plan.tile_vector):
        return work.moved([*inside, *whole], resident=resident)
    box = tile_box(band, plan)
    cut = [(k, box[k]) for k in reversed(plan.order) if (plan.tile_vector if k == last else plan.tile)]
    points = [(k, dict(cut).get(k, work.trips[k])) for k in reversed(plan.order)]
    return work.moved([*inside, *points, *whole], resident=resident)


def tile_box(band: Band, plan: LeafPlan) -> list[int]:
    """The iterations of one tile, by member, and of the loops inside."""
    sizes = plan_sizes(band, plan)
    box = list(band.work.trips)
    for member, size in zip(plan.order, sizes, strict=True):
        box[member] = size
    return box


def plan_sizes(band: Band, plan: LeafPlan) -> tuple[int, ...]:
    """The sizes of a plan's tiles, in its order."""
    own = default_sizes(band.setting, reordered(band.node, plan.order), plan)
    return sizes_for(band.setting.options.tile_sizes, own)


def _names(part: isl.UnionSet) -> list[str]:
    return [str(piece.get_tuple_name()) for piece in sets_of(part)]
