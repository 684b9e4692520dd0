"""Vectors along diagonals: the claim on a band of two loops, both of which carry something, of a dynamic program."""

from __future__ import annotations

from typing import ClassVar

import islpy as isl
from msgspec import Struct

from scopt.ir.marked_schedule import PackedTile, PanelMark
from scopt.ir.nest import LoopMark
from scopt.machine.costs import DIAGONAL_COPY, ENTRY, GATHER, LOADS, STORES, diagonal_rows, diagonal_steps
from scopt.poly.isl_utils import joined
from scopt.poly.restructure import reordered
from scopt.scheduler.decisions.claims import Band, Builder, Claim, Reason
from scopt.scheduler.decisions.diagonals import Diagonals, diagonals, packed
from scopt.scheduler.decisions.register_tiles import wanted
from scopt.scheduler.locality.tiling import atomic, sizes_for, tiled, wavefront


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
        found, order = self.found(band)
        if isinstance(found, str):
            return Reason(self.name, found)
        rows, steps = self.sizes(band, found)
        if band.work.trips[order[0]] < 2 * rows or band.work.trips[order[1]] < 2 * rows:
            return Reason(self.name, "there are too few rows or columns")

        def make(build: Builder, node: isl.ScheduleNode) -> isl.ScheduleNode:
            return _put(build, reordered(node, order), found, (rows, steps), parallel=not band.parallel_above)

        lanes = {name: self.iterator(band, name, place[0][0]) for name, place in found.places.items()}
        what = f"tiles of {rows} rows by {steps} diagonals"
        cycles = _cycles(band, found, order, rows, steps)
        return Claim(self.name, what, cycles, make, order[1], frozenset({order[0]}), lanes)

    def found(self, band: Band) -> tuple[Diagonals | str, tuple[int, int]]:
        """What is where, and the members in their order: the rows first, of tables that have them one after another."""
        answers = dict[tuple[int, int], Diagonals | str]()
        for order in ((0, 1), (1, 0)):
            found = diagonals(band.setting, reordered(band.node, order))
            answers[order] = found
            if not isinstance(found, str) and all(one.subscripts[1][0] == len(one.extents) - 1 for one in found.panels):
                return found, order
        first = next((order for order, found in answers.items() if not isinstance(found, str)), (0, 1))
        return answers[first], first

    def iterator(self, band: Band, statement: str, position: int) -> str:
        return band.setting.scop.statement(statement).iterators[position]

    def sizes(self, band: Band, found: Diagonals) -> tuple[int, int]:
        """Rows and diagonals of a tile: the user's, or the machine's."""
        machine, arrays = band.setting.options.machine, band.setting.scop.arrays
        widths = [max(arrays[one.array].type.bits or 64, 8) // 8 for one in found.panels]
        rows = diagonal_rows(machine, min(widths))
        own = rows, diagonal_steps(machine, rows, sum(widths))
        first, second = sizes_for(band.setting.options.tile_sizes, own)
        return first, second


def _cycles(band: Band, found: Diagonals, order: tuple[int, int], rows: int, steps: int) -> float:
    """As many lanes at once as vectors have, a loop over them for each diagonal of a tile, one copy of each table."""
    work = band.work
    cells = work.trips[0] * work.trips[1]  # statements that some iterations have are not counted for more
    busy = sum(
        min(one.count, cells) * max(one.arithmetic, one.uses.loads / LOADS, one.uses.stores / STORES)
        for one in work.statements.values()
    )
    instances = min(max(one.count for one in work.statements.values()), cells)
    compute = busy / work.lanes
    compute += instances * (ENTRY / rows + found.apart * GATHER + len(found.panels) * DIAGONAL_COPY)
    if band.parallel_above:
        return work.alone(compute, 0.0)
    first, second = (work.trips[k] for k in order)
    forks = first / rows + (first + second) / steps
    return work.parallel(compute, work.streamed(order), forks)


def _put(
    build: Builder, node: isl.ScheduleNode, found: Diagonals, sizes: tuple[int, int], *, parallel: bool
) -> isl.ScheduleNode:
    """What stands in place of the band. node: its rows' member first."""
    tile = packed(node, found, *sizes)
    partial = node.band_get_partial_schedule()
    rows, both = partial.get_at(0), partial.get_at(0).add(partial.get_at(1))
    node = node.delete().insert_partial_schedule(joined([rows, both])).band_set_permutable(1)
    node = atomic(wavefront(tiled(node, sizes, scaled=False), 2))
    node = _inside(build, node.child(0), tile, LoopMark(simd=True, private=found.private)).parent()
    if not parallel:
        return node
    return build.marks.above_member(node, 1, LoopMark(parallel=True, private=found.private))


def _inside(build: Builder, node: isl.ScheduleNode, tile: PackedTile, lanes: LoopMark) -> isl.ScheduleNode:
    """The points of a tile: diagonals, and in each its rows as a vector loop, the borders' cases apart."""
    node = reordered(node, (1, 0)).band_split(1).child(0)
    node = node.band_member_set_coincident(0, 1).band_member_set_ast_loop_type(0, isl.ast_loop_type.separate)
    node = build.marks.above(node, lanes).parent()
    count = sum(isinstance(mark, PanelMark) for mark in build.marks.found.values())
    return build.marks.named(node, f"panels{count}", PanelMark(tile))
