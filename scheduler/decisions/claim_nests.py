"""Bands around sequences of others: a parallel loop outside, or wavefronts of tiles, a part of which may run in
register tiles; or loops in their order."""

from __future__ import annotations

from typing import ClassVar

import islpy as isl
from msgspec import Struct

from scopt.ir.nest import LoopMark, Reduction
from scopt.poly.isl_utils import joined
from scopt.poly.restructure import filters_of, reordered
from scopt.scheduler.decisions.band_costs import Work
from scopt.scheduler.decisions.claim_register_tiles import kernel_cycles
from scopt.scheduler.decisions.claims import Band, Builder, Claim, Reason
from scopt.scheduler.decisions.inner_contraction import InnerPart, inner_contraction, inner_part
from scopt.scheduler.decisions.kernel_loops import parallel_member, with_register_tiles
from scopt.scheduler.decisions.panels import TiledLoops
from scopt.scheduler.decisions.private_copies import private_for, private_for_wavefront
from scopt.scheduler.decisions.register_tiles import band_tile, tile_notes, wanted
from scopt.scheduler.decisions.shared_loops import collapsed_loops
from scopt.scheduler.decisions.small_loops import inner_bands, is_small_box
from scopt.scheduler.decisions.thread_tiles import for_all_threads, unevenness
from scopt.scheduler.locality.strides import linear_schedule, strides
from scopt.scheduler.locality.tile_reuse import has_far_reuse
from scopt.scheduler.locality.tile_sizes import CANDIDATES, band_sizes
from scopt.scheduler.locality.tiling import (
    atomic,
    meet_on_diagonals,
    near_sizes,
    sizes_for,
    tiled,
    tiled_along,
    wavefront,
)


class ParallelNest(Struct, frozen=True):
    """A member that carries nothing, or nothing but reductions, goes outermost."""

    name: ClassVar[str] = "a parallel loop outside"

    def claim(self, band: Band) -> Claim | Reason:
        if band.parallel_above:
            return Reason(self.name, "a loop around runs in parallel, or none may")
        threads = band.setting.wished(band.node, "parallel")
        found = self.member(band, threads)
        if found is None:
            return Reason(self.name, "each loop of the band carries something")
        member, reductions = found

        def make(build: Builder, node: isl.ScheduleNode) -> isl.ScheduleNode:
            node = reordered(node, [member, *(k for k in range(band.width) if k != member)])
            private = private_for(band.setting, node, 0)
            tiles = _tiles(band, node, shared=True)
            size = tiles.first if tiles is not None else 1
            alone = bool(reductions) or (tiles is not None and not tiles.second)
            collapse = 1 if alone else collapsed_loops(band.setting, node, 0, band.work.trips[member], size)
            node = _below(build, tiles.node if tiles is not None else node, 1 if tiles is not None else 0, True)
            if tiles is not None and tiles.loops is not None and not reductions:
                node = build.keep_in_panels(band, node, tiles.loops)
            mark = LoopMark(parallel=True, private=private, reductions=reductions, collapse=collapse)
            return build.marks.above_member(node, 0, mark)

        work = band.work
        cycles = work.parallel(work.scalar(None, {}), 0.0, 1)
        return Claim(self.name, "one member's iterations or tiles shared by threads", cycles, make, member, None)

    def member(self, band: Band, threads: int | None) -> tuple[int, tuple[Reduction, ...]] | None:
        """The member, and what it reduces."""
        if band.coincident:
            return min(band.coincident, key=lambda k: (k != threads, k)), ()
        return band.setting.planner.reduced_member(band.node)


class NestWavefronts(Struct, frozen=True):
    """Tiles on a diagonal run in parallel."""

    name: ClassVar[str] = "wavefronts"

    def claim(self, band: Band) -> Claim | Reason:
        why = _no_wavefronts(band)
        if why is not None:
            return Reason(self.name, why)

        def make(build: Builder, node: isl.ScheduleNode) -> isl.ScheduleNode:
            private = private_for_wavefront(band.setting, node)
            node, tiles = _tiled(band, node, on_diagonals=True)
            node = wavefront(node, 2)
            node = build.sunk(node.child(0)).parent()
            node = _below(build, node, 1, True)
            node = build.keep_in_panels(band, node, tiles)
            return build.marks.above_member(node, 1, LoopMark(parallel=True, private=private))

        work, machine = band.work, band.setting.options.machine
        sizes = band.setting.options.tile_sizes or for_all_threads(machine, work, _default_sizes(band, band.node))
        compute = work.scalar(None, {}) * unevenness(machine, work, sizes)
        return Claim(
            self.name, "tiles on diagonals in parallel", work.parallel(compute, 0.0, _diagonals(band)), make, 1, None
        )


class NestWavefrontsWithKernel(Struct, frozen=True):
    """The same, with a part of each tile in register tiles, before or after all the rest."""

    name: ClassVar[str] = "wavefronts with register tiles"

    def claim(self, band: Band) -> Claim | Reason:
        setting = band.setting
        why = _no_wavefronts(band)
        if why is not None:
            return Reason(self.name, why)
        if not wanted(setting.options):
            return Reason(self.name, "register tiles are switched off, or there are no tiles")
        inner = inner_contraction(setting.scop, band.node, setting.options)
        if inner is None:
            return Reason(self.name, "no single statement below accumulates into cells that two loops walk through")
        size = band_tile(inner.contraction, setting.options)
        tiles = wavefront(tiled(band.node, (size,) * band.width, scaled=False), 2)
        part = inner_part(setting.scop, setting.dependences, tiles.child(0), inner, setting.options)
        if part is None:
            return Reason(self.name, "no part of a tile reads nothing that the tile writes")
        found = part

        def make(build: Builder, node: isl.ScheduleNode) -> isl.ScheduleNode:
            private = private_for_wavefront(setting, node)
            made = wavefront(tiled(node, (size,) * band.width, scaled=False), 2)
            return self.put(build, band, made, found, private)

        contraction, work = inner.contraction, band.work
        others = [name for name in work.statements if name not in contraction.statements]
        compute = kernel_cycles(setting, part.tiling, work.instances(contraction.statements))
        compute += work.scalar(others, {}) if others else 0.0
        column = setting.scop.statement(contraction.statements[0]).iterators[contraction.column]
        lanes = dict.fromkeys(contraction.statements, column)
        return Claim(
            self.name,
            f"tiles of {size} on diagonals; in them, {part.tiling.rows} × {part.tiling.columns} cells in registers",
            work.parallel(compute, 0.0, _diagonals(band)),
            make,
            1,
            None,
            lanes=lanes,
            notes=tile_notes(contraction, setting.options),
        )

    def put(
        self, build: Builder, band: Band, node: isl.ScheduleNode, part: InnerPart, private: tuple[str, ...]
    ) -> isl.ScheduleNode:
        """A tile band with a part of each tile before or after all the rest."""
        rest = node.get_domain().subtract(part.instances)
        points = node.child(0).insert_sequence(
            filters_of([part.instances, rest] if part.first else [rest, part.instances])
        )
        tile, other = (0, 1) if part.first else (1, 0)
        child = points.child(tile).child(0).cut().insert_partial_schedule(joined(part.members)).band_set_permutable(1)
        outermost = parallel_member(child, part.tiling)
        child = with_register_tiles(build.marks, child, part.tiling, band.setting.options, outermost, parallel=False)
        points = child.parent().parent()
        points = _below(build, atomic(build.sunk(points.child(other).child(0))), 0, True).parent().parent()
        return build.marks.above_member(atomic(points.parent()), 1, LoopMark(parallel=True, private=private))


class NestInOrder(Struct, frozen=True):
    """Loops in their order, tiled where there are several."""

    name: ClassVar[str] = "loops in order"

    def claim(self, band: Band) -> Claim | Reason:
        def make(build: Builder, node: isl.ScheduleNode) -> isl.ScheduleNode:
            tiles = _tiles(band, node, shared=False)
            if tiles is None:
                return _below(build, node, 0, band.parallel_above)
            node = _below(build, tiles.node, 1, band.parallel_above)
            if tiles.loops is None or (band.parallel_above and band.setting.options.parallel):
                return node
            return build.keep_in_panels(band, node, tiles.loops)

        work = band.work
        return Claim(self.name, "", work.alone(work.scalar(None, {}), 0.0), make, None, None)


def _no_wavefronts(band: Band) -> str | None:
    """Why a band's tiles don't run in wavefronts; None if they may."""
    if band.parallel_above:
        return "a loop around runs in parallel, or none may"
    if band.width < 2 or not band.setting.options.tile:
        return "there are no tiles"
    if band.coincident or band.setting.planner.reduced_member(band.node) is not None:
        return "a loop of the band is parallel as it is"
    if not meet_on_diagonals(band.node, sizes_for(band.setting.options.tile_sizes, _default_sizes(band, band.node))):
        return "one member runs along with the other: no two tiles are on one diagonal"
    return None


class _Tiles(Struct, frozen=True, eq=False):
    """A tiled band: the band of the tile loops. loops: None where not all members are tiled.
    first: the size along the outermost loop. second: whether the next loop is one of tiles along the second member."""

    node: isl.ScheduleNode
    loops: TiledLoops | None
    first: int
    second: bool = True


def _tiles(band: Band, node: isl.ScheduleNode, *, shared: bool) -> _Tiles | None:
    """The band tiled, in readable steps, if it is; its loops are made one each. Small loops inside of one that streams
    through rows are left to the compiler, which unrolls them and makes that one its vector loop.

    shared: threads share the tiles of the first member, so that there have to be some for each. Of others, those that
    aren't longer than a tile stay one loop; no panels then.
    """
    options, schedule = band.setting.options, linear_schedule(band.setting.scop, node)
    if band.width < 2 or not options.tile or (not options.tile_sizes and streams(band, node)):
        return None
    if options.tile_sizes:
        node, loops = _tiled(band, node, on_diagonals=False)
        return _Tiles(node, loops, loops.sizes[0])
    if not has_far_reuse(band.setting.scop, options.machine, schedule):
        return None
    sizes = near_sizes(node, _default_sizes(band, node))
    trips = Work.of(band.setting.scop, options.machine, node).trips[: band.width]
    while shared and sizes[0] > 1 and trips[0] < 2 * options.machine.cores * sizes[0]:
        sizes[0] //= 2
    kept = [k for k in range(band.width) if sizes[k] < trips[k] or (shared and k == 0)]
    if not kept:
        return None
    first = sizes[0] if kept[0] == 0 else 1
    if len(kept) < band.width:
        return _Tiles(tiled_along(node, {k: sizes[k] for k in kept}), None, first, kept[1:2] == [1])
    loops = TiledLoops(schedule, node.band_get_partial_schedule(), tuple(sizes))
    return _Tiles(tiled(node, sizes, scaled=True), loops, first)


def streams(band: Band, node: isl.ScheduleNode) -> bool:
    """Whether the last member carries nothing and walks along lines, around nothing but small loops."""
    last = band.width - 1
    if not node.band_member_get_coincident(last):
        return False
    walk = strides(band.setting.scop, linear_schedule(band.setting.scop, node), last)
    return walk.along_lines and all(map(is_small_box, inner_bands(node.child(0))))


def _tiled(band: Band, node: isl.ScheduleNode, *, on_diagonals: bool) -> tuple[isl.ScheduleNode, TiledLoops]:
    """on_diagonals: tiles run in wavefronts, where threads share those of a diagonal, which are numbered one by one."""
    schedule, partial = linear_schedule(band.setting.scop, node), node.band_get_partial_schedule()
    sizes = _default_sizes(band, node)
    if on_diagonals:
        sizes = for_all_threads(band.setting.options.machine, band.work, sizes)
    sizes = sizes_for(band.setting.options.tile_sizes, sizes)
    return tiled(node, sizes, scaled=not on_diagonals), TiledLoops(schedule, partial, sizes)


def _default_sizes(band: Band, node: isl.ScheduleNode) -> tuple[int, ...]:
    setting, schedule = band.setting, linear_schedule(band.setting.scop, node)
    return band_sizes(setting.scop, setting.options.machine, schedule, [1] * band.width, simd=False)


def _below(build: Builder, node: isl.ScheduleNode, levels: int, parallel_above: bool) -> isl.ScheduleNode:
    """Decide what lies below a band and, if it was tiled, below its point band; returns the band."""
    if levels:
        node = atomic(atomic(node).child(0)).parent()
    for _ in range(levels + 1):
        node = node.child(0)
    node = build.visit(node, parallel_above)
    for _ in range(levels + 1):
        node = node.parent()
    return node


def _diagonals(band: Band) -> float:
    """How many wavefronts there are, about: the sizes of tiles are such that forks take little of the time."""
    sizes = band.setting.options.tile_sizes or CANDIDATES[-1:]
    first, second = band.work.trips[:2]
    return max(first / sizes[0], 1) + max(second / sizes[min(1, len(sizes) - 1)], 1)
