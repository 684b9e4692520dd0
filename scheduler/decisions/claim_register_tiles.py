"""Register tiles over packed operands: the claim on a band that is a contraction and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

import islpy as isl
from msgspec import Struct

from scopt import ir
from scopt.ir.marked_schedule import RegisterTiling
from scopt.ir.scop import Access, CType, Scop
from scopt.ir.walks import walk
from scopt.machine.costs import GATHER
from scopt.machine.targets import PAIRED
from scopt.poly.linear import subscript_rows
from scopt.scheduler.decisions.band_costs import Work
from scopt.scheduler.decisions.claims import Band, Builder, Claim, Reason
from scopt.scheduler.decisions.contractions import contraction_of
from scopt.scheduler.decisions.kernel_loops import parallel_member, with_register_tiles
from scopt.scheduler.decisions.register_tiles import column_tiles, register_tiling, size_notes, wanted
from scopt.scheduler.decisions.setting import Setting
from scopt.scheduler.decisions.shared_loops import has_few

# Tiles of columns that a thread gets, at least, where threads share them: it packs all rows for these.
_TILES_EACH = 8


class RegisterTiles(Struct, frozen=True):
    name: ClassVar[str] = "register tiles"

    def claim(self, band: Band) -> Claim | Reason:
        setting = band.setting
        if not wanted(setting.options):
            return Reason(self.name, "they are switched off, or there are no tiles")
        if contraction_of(setting.scop, band.node) is None:
            return Reason(self.name, "no statement accumulates into cells that two other loops walk through")
        tiling = register_tiling(setting.scop, band.node, setting.options)
        if tiling is None:
            return Reason(self.name, "other statements share the loops, or operands change while they would be packed")
        chunk = _shared_tiles(band, tiling)
        wished = setting.wished(band.node, "parallel")
        outermost = parallel_member(band.node, tiling, wished, short=chunk is not None)
        parallel = None if band.parallel_above else outermost
        what = f"tiles of {tiling.rows} × {tiling.columns} cells; {tiling.block} rows and {tiling.depth} steps packed"

        few = outermost is not None and has_few(setting, band.work.trips[outermost])

        def make(build: Builder, node: isl.ScheduleNode) -> isl.ScheduleNode:
            return with_register_tiles(
                build.marks,
                node,
                tiling,
                setting.options,
                outermost,
                parallel=parallel is not None,
                few=few,
                chunk=chunk,
            )

        column = tiling.contraction.members[1]
        vectors = frozenset({column} if tiling.simd else ())
        notes = size_notes(tiling, setting.options)
        whole = partial(_cycles, band, tiling, parallel)
        return Claim(self.name, what, whole(False), make, parallel, vectors, notes=notes, whole=whole)


def _shared_tiles(band: Band, tiling: RegisterTiling) -> int | None:
    """Of few rows, whose blocks aren't enough for all threads (the bands of a filter bank, the channels of a small
    layer): how many tiles of columns each thread gets at a time, where these are enough. None elsewhere."""
    options = band.setting.options
    if options.tile_sizes or band.parallel_above:
        return None
    row, column, step = (band.work.trips[k] for k in tiling.contraction.members)
    tiles, cores = -(-column // tiling.columns), options.machine.cores
    if -(-row // tiling.block) >= cores or tiles < max(_TILES_EACH * cores, row // tiling.rows):
        return None
    # what the caches have room for is said of whole blocks of steps
    room = column_tiles(tiling.contraction, options) * tiling.depth // max(min(step, tiling.depth), 1)
    return min(room, -(-tiles // cores))


def kernel_cycles(setting: Setting, tiling: RegisterTiling, instances: float) -> float:
    """Cycles of so many instances in register tiles: all lanes of all units are busy; without vectors, all units."""
    machine = setting.options.machine
    operation = tiling.contraction.operation
    lanes = machine.lanes(operation.type.bits // 8) if tiling.simd else 1
    if operation.narrow is not None:
        lanes *= PAIRED
    # two operands are read again from packed memory for each tile, a row and a column at a time
    loads = (1 / tiling.rows + 1 / tiling.columns) / 2
    return instances * (1 / machine.fma_per_cycle + loads) / lanes


def _cycles(band: Band, tiling: RegisterTiling, parallel: int | None, resident: bool) -> float:
    work = band.work
    row, _, step = tiling.contraction.members
    sizes = list(work.trips)
    sizes[row], sizes[step] = tiling.block, tiling.depth
    kernel = kernel_cycles(band.setting, tiling, work.instances() * _filling(work, tiling))
    compute = kernel + _packing(work, band.setting.scop, tiling)
    memory = 0.0 if resident else work.fetched(sizes)
    if parallel is None:
        return work.alone(compute, memory)
    return work.parallel(compute, memory, 1)


def _filling(work: Work, tiling: RegisterTiling) -> float:
    """What tiles compute, of what they have to: those at the borders are filled up."""
    row, column, _ = tiling.contraction.members
    return _filled(work.trips[row], tiling.rows) * _filled(work.trips[column], tiling.columns)


def _packing(work: Work, scop: Scop, tiling: RegisterTiling) -> float:
    """Cycles of copying operands into packed memory, one of them again for each block of rows, and cells to a tile and
    back for each block of steps: a vector a cycle, but element by element where rows become columns and types change on
    the way, for which there are no functions."""
    row, column, step = (float(work.trips[k]) for k in tiling.contraction.members)
    width = column * _filled(int(column), tiling.columns)
    operation = tiling.contraction.operation
    rows, columns = (
        float(GATHER) if _is_turned(scop, tiling, operands) else 1 / work.lanes
        for operands in (operation.rows, operation.columns)
    )
    if operation.narrow is not None:
        rows = 1 / work.lanes  # they stay along the steps
    copied = rows * row * step + columns * max(row / tiling.block, 1) * width * step
    cells = 2 * max(step / tiling.depth, 1) * row * width / work.lanes
    return (copied + cells) * work.instances() / max(row * column * step, 1)


def _is_turned(scop: Scop, tiling: RegisterTiling, operands: Sequence[ir.Node]) -> bool:
    """Whether one of the operands has cells of another type, which lie side by side along the steps, and no function
    widens them on the way."""
    contraction = tiling.contraction
    ctype = contraction.operation.operand_type
    nodes = {node for operand in operands for node in walk(operand)}
    accesses = (one for name in contraction.statements for one in scop.statement(name).accesses if one.node in nodes)
    others = (one for one in accesses if scop.arrays[one.array].type.bits != ctype.bits)
    rest = (one for one in others if one.node not in operands or not _is_byte(scop, one, ctype))
    rows = (subscript_rows(one.relation) for one in rest if scop.arrays[one.array].rank)
    return any(one is not None and bool(one[-1][contraction.reduction]) for one in rows)


def _is_byte(scop: Scop, access: Access, packed: CType) -> bool:
    """Whether cells of 8 bits are packed in 16. Of plain characters only options tell whether they have a sign."""
    own = scop.arrays[access.array].type
    return 2 * own.bits == packed.bits == 16 and own.spelling != "char"


def _filled(trips: int, size: int) -> float:
    return -(-trips // size) * size / max(trips, 1)
