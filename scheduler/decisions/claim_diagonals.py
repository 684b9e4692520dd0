"""Vectors along diagonals: the claim on a band of two loops, both of which carry something, of a dynamic program."""

from __future__ import annotations

from pathlib import PurePath
from typing import ClassVar

import islpy as isl
from msgspec import Struct

from scopt.ir.marked_schedule import PackedTile, PanelMark
from scopt.ir.nest import LoopMark
from scopt.machine.costs import (
    DIAGONAL_COPY,
    ELEMENT,
    ENTRY,
    GATHER,
    LARGE_EXTENT,
    LOADS,
    STORES,
    diagonal_rows,
    diagonal_steps,
)
from scopt.poly.isl_utils import joined
from scopt.poly.lookups import narrow_lookups
from scopt.poly.restructure import reordered
from scopt.scheduler.decisions.claims import Band, Builder, Claim, Reason
from scopt.scheduler.decisions.diagonals import Diagonals, diagonals, packed
from scopt.scheduler.decisions.register_tiles import wanted
from scopt.scheduler.locality.tiling import atomic, sizes_for, tiled, wavefront

# How many times as many rows tiles without panels have, and tiles across the rows of what nothing is known of, for each
# core (measured for alignments of 50 to 2000 cells a row by two threads, and by one: 0.7 of the time for 180 by 260,
# 0.95 for 2000).
_WIDER, _TILES = 4, 2


class DiagonalVectors(Struct, frozen=True):
    """Tiles of rows by diagonals, those of one wavefront in parallel; inside, all rows of a diagonal at once, in panels
    that are skewed."""

    name: ClassVar[str] = "vectors along diagonals"

    def claim(self, band: Band) -> Claim | Reason:
        options = band.setting.options
        if not (wanted(options) and options.simd):
            return Reason(self.name, "buffers or vectors are switched off, or there are no tiles")
        if band.width != 2 or band.coincident or not band.node.band_get_permutable():
            return Reason(self.name, "its loops aren't two that can be tiled and that both carry something")
        found = diagonals(band.setting, band.node)
        if isinstance(found, str):
            return Reason(self.name, found)
        scop = band.setting.scop
        if not _gathers_all(options.cc) and any(narrow_lookups(scop, scop.statement(one)) for one in found.statements):
            return Reason(self.name, "cells of a table of narrow ones are looked up, for which gcc makes no vectors")
        narrow, (rows, steps) = self.sizes(band, found), self.sizes(band, found, wider=True)
        if min(band.work.trips[:2]) < 2 * narrow[0]:
            return Reason(self.name, "there are too few rows or columns")

        def make(build: Builder, node: isl.ScheduleNode) -> isl.ScheduleNode:
            return _put(build, node, found, (rows, steps), parallel=not band.parallel_above)

        what = f"tiles of {rows} rows by {steps} diagonals"
        # of narrow tiles: what wide ones gain by borders doesn't decide between diagonals and rows
        return Claim(self.name, what, _cycles(band, found, *narrow), make, 0, frozenset({0, 1}))

    def sizes(self, band: Band, found: Diagonals, *, wider: bool = False) -> tuple[int, int]:
        """Rows and diagonals of a tile: the user's, or the machine's. wider: where there are no panels, which are
        copied, and which the caches have to keep: tiles are there for threads alone then, and their borders cost each
        of their diagonals."""
        machine, arrays = band.setting.options.machine, band.setting.scop.arrays
        rows = diagonal_rows(machine, _width(band, found))
        if wider and not found.panels:
            rows = max(rows, min(_WIDER * rows, LARGE_EXTENT // (_TILES * machine.cores)))
        cell = sum(max(arrays[one.array].type.bits or 64, 8) // 8 for one in found.panels) or ELEMENT
        first, second = sizes_for(band.setting.options.tile_sizes, (rows, diagonal_steps(machine, rows, cell)))
        return first, second


def _gathers_all(compiler: str) -> bool:
    """Whether the compiler makes vector loops of lookups in tables of narrow cells: clang puts these together one by
    one (measured for alignments with a table of bytes: 0.4 of the time, by gcc 1.4 times as long)."""
    return any(PurePath(word).name.startswith("clang") for word in compiler.split())


def _width(band: Band, found: Diagonals) -> int:
    """Bytes of the narrowest cell that panels have."""
    arrays = band.setting.scop.arrays
    return min((max(arrays[one.array].type.bits or 64, 8) // 8 for one in found.panels), default=ELEMENT)


def _cycles(band: Band, found: Diagonals, rows: int, steps: int) -> float:
    """As many lanes at once as vectors have, a loop over them for each diagonal of a tile, one copy of each table."""
    work = band.work
    cells = work.trips[0] * work.trips[1]  # statements that some iterations have are not counted for more
    busy = sum(
        min(one.count, cells) * max(one.arithmetic, one.uses.loads / LOADS, one.uses.stores / STORES)
        for one in work.statements.values()
    )
    instances = min(max(one.count for one in work.statements.values()), cells)
    compute = busy / work.lanes
    copied = sum(max(band.setting.scop.arrays[one.array].type.bits or 64, 8) // 8 for one in found.panels)
    compute += instances * (ENTRY / rows + found.apart * GATHER + copied * DIAGONAL_COPY)
    if band.parallel_above:
        return work.alone(compute, 0.0)
    forks = max(work.trips[:2]) * (1 / rows + 2 / steps)
    return work.parallel(compute, work.streamed((0, 1)), forks)


def _put(
    build: Builder, node: isl.ScheduleNode, found: Diagonals, sizes: tuple[int, int], *, parallel: bool
) -> isl.ScheduleNode:
    """What stands in place of the band."""
    members = joined([found.rows, found.dates])
    node = node.delete().insert_partial_schedule(members).band_set_permutable(1)
    node = atomic(wavefront(tiled(node, sizes, scaled=False), 2))
    lanes = LoopMark(simd=True, private=found.private)
    node = _inside(build, node.child(0), found, packed(found, *sizes), lanes).parent()
    if not parallel:
        return node
    return build.marks.above_member(node, 1, LoopMark(parallel=True, private=found.private, cut=True))


def _inside(
    build: Builder, node: isl.ScheduleNode, found: Diagonals, tile: PackedTile, lanes: LoopMark
) -> isl.ScheduleNode:
    """The points of a tile: diagonals, and in each its rows as a vector loop, the borders' cases apart."""
    node = reordered(node, (1, 0)).band_split(1).child(0)
    node = node.band_member_set_coincident(0, 1).band_member_set_ast_loop_type(0, isl.ast_loop_type.separate)
    node = build.marks.above(node, lanes).parent()
    if not (tile.panels or found.chosen):
        return node
    count = sum(isinstance(mark, PanelMark) for mark in build.marks.found.values())
    return build.marks.named(node, f"panels{count}", PanelMark(tile))
