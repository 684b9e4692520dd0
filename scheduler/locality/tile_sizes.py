"""Tile sizes from a model of the machine.

Four questions, each with an answer in closed form or by trying a few sizes:

- How large has a tile to be, so that moving its lines takes little time beside computing it, and that a wavefront of
  tiles pays for its barrier? Larger tiles reuse more, but leave fewer of them to run in parallel, so that the smallest
  one will do which is past the ridge of the roofline (Williams, Waterman and Patterson 2009). It may stay in outer
  caches, since prefetchers hide their latency (Mehta, Beeraka and Yew, "Tile size selection revisited", 2013).
- How many rows can a loop walk along side by side, where the innermost loop jumps from row to row? As many as the
  prefetcher follows and as the first cache keeps a line of without conflicts (Coleman and McKinley, "Tile size
  selection using cache organization and data layout", 1995).
- How long is a piece of a vector loop that starts anew in each row? Long enough for the prefetcher, in lines.
- How large are the blocks of a contraction? A panel for each level of cache: Goto and van de Geijn, "Anatomy of
  high-performance matrix multiplication" (2008), section 4; Low, Igual, Smith and Quintana-Ortí, "Analytical modeling
  is enough for high-performance BLIS" (2016), section 3.

Trip counts are hints from array extents (`scopt.scheduler.locality.footprints.trip_count`).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil, lcm, prod

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt.ir.scop import Scop
from scopt.machine import Cache, Machine
from scopt.machine.costs import ELEMENT, instance_cost, moving_cost, packing_shares, piece_bytes, tile_pays
from scopt.scheduler.locality.footprints import (
    ReferenceGroup,
    TileSpace,
    reference_groups,
    rows_in_cache,
    tile_space,
    trip_count,
)
from scopt.scheduler.locality.strides import LinearSchedule, linear_schedule, shape_rows

# Sizes that are tried, smallest first. (For diamonds of two members, isl's AST generation takes 1.8 s with 224, 3 s
# with 256 and 32 s with 512, whose tiles run 1.07 times as fast.) A loop of fewer iterations than PLENTY spends too
# much on its bounds: such sizes are only for tiles that don't fit otherwise.
CANDIDATES = (8, 16, 32, 64, 128, 224)
PLENTY = 32
# Of planes even few are much work, and a grid has few tiles of them: by 32 a grid of 160 is five (measured with 16
# threads, waves in three dimensions: half of the time by 16, as long with two threads).
_PLANES = 16
# Of a diamond's footprint, what is used at a time: its rows are half as wide on average as the widest one.
DIAMOND_SHARE = Fraction(1, 2)
# Sizes of the members between a diamond's hyperplanes and the vector loop, smallest first.
BETWEEN = (16, 32, 64, 128)


class TiledBand(Struct, frozen=True):
    """A band as the model sees it.

    tiled: how many members are tiled in units, before those of the loops inside. scales: units of each tiled member:
    its skew. share: of a tile's footprint that is used at a time. between: sizes of the first members inside that are
    tiled too.
    """

    scop: Scop
    machine: Machine
    space: TileSpace
    groups: tuple[ReferenceGroup, ...]
    tiled: int
    scales: tuple[int, ...]
    simd: bool
    share: Fraction = Fraction(1)
    between: tuple[int, ...] = ()

    def sizes(self, unit: int) -> tuple[int, ...]:
        """The box of a tile: its members, and all iterations inside."""
        width = max((len(rows) for rows in self.space.members.values()), default=self.tiled)
        inside = [trip_count(self.groups, k) for k in range(self.tiled, width)]
        cut = (min(size, trips) for size, trips in zip(self.between, inside, strict=False))
        return (*(unit * scale for scale in self.scales), *cut, *inside[len(self.between) :])

    def footprint(self, unit: int) -> int:
        """Bytes of the lines that a tile touches."""
        line = self.machine.cache(1).line
        return sum(group.lines(self.sizes(unit), line) for group in self.groups) * line

    def moving(self, unit: int) -> Fraction:
        """Nanoseconds that the lines of a tile take from memory, when all cores move theirs. Neighbouring tiles share
        those at their borders."""
        line = self.machine.cache(1).line
        lines = sum(group.lines(self.sizes(unit), line, borders=False) for group in self.groups)
        return moving_cost(self.machine, lines)

    def computing(self, unit: int) -> Fraction:
        """Nanoseconds that the instances of a tile take on one core."""
        points = prod(self.sizes(unit))
        total = Fraction(0)
        for name, density in self.space.instances.items():
            total += points * density * instance_cost(self.scop.statement(name).body, self.machine)
        return total / self.lanes() if self.simd else total

    def lanes(self) -> int:
        return self.machine.lanes(max((group.element for group in self.groups), default=ELEMENT))

    def fits(self, unit: int, cache: Cache) -> bool:
        """Whether what a tile uses at a time stays in a thread's share of a cache until it is used again."""
        return self.footprint(unit) * self.share <= cache.share

    def pays(self, unit: int) -> bool:
        """Whether the barrier, and moving what larger tiles would reuse, take little of the time that a tile takes
        anyway: to compute, or to move what no tile reuses."""
        streamed = self.moving(CANDIDATES[-1]) * prod(self.sizes(unit)) / prod(self.sizes(CANDIDATES[-1]))
        time = max(self.computing(unit), streamed)
        return tile_pays(self.machine, time, self.moving(unit) - streamed)


def band_sizes(
    scop: Scop, machine: Machine, schedule: LinearSchedule, scales: Sequence[int], *, simd: bool
) -> tuple[int, ...]:
    """Sizes of all members of a band that is tiled in full. scales: of its members: their skew. simd: its innermost
    loop is vectorized."""
    space = tile_space(scop, schedule.prefix, schedule.members)
    band = TiledBand(scop, machine, space, reference_groups(scop, space), len(scales), tuple(scales), simd)
    unit = tile_unit(band)
    return tuple(unit * scale for scale in scales)


def row_piece(scop: Scop, machine: Machine, schedule: LinearSchedule) -> int:
    """Cells of a row that a tile runs through at a time where it goes along rows: long enough for the prefetcher."""
    groups = reference_groups(scop, tile_space(scop, schedule.prefix, schedule.members))
    return piece(machine, groups, parallel=True)


def diamond_sizes(
    scop: Scop, machine: Machine, node: isl.ScheduleNode, shape: isl.MultiUnionPwAff, between: int = 0, *, simd: bool
) -> tuple[int, ...]:
    """Sizes of tiles between hyperplanes above a band, in units of these, then of so many members between the
    hyperplanes and the vector loop.

    What a tile uses at a time stays in the second cache, if tiles are large enough then. The vector loop runs in full.
    """
    schedule = linear_schedule(scop, node)
    width = shape.dim(isl.dim_type.out)
    rows = {name: found for name in schedule.members if len(found := shape_rows(scop, shape, name)) == width}
    space = tile_space(scop, schedule.prefix, rows)
    band = TiledBand(
        scop,
        machine,
        space,
        reference_groups(scop, space),
        width,
        (1,) * width,
        simd,
        DIAMOND_SHARE,
        BETWEEN[:1] * between,
    )
    second = machine.cache(2)
    unit = tile_unit(band, second if band.fits(PLENTY, second) else None, _PLANES if between else PLENTY)
    cut = [size for size in BETWEEN if replace(band, between=(size,) * between).fits(unit, second)]
    return (*(unit,) * width, *(max(cut, default=BETWEEN[0]),) * between)


def vector_sizes(
    scop: Scop, machine: Machine, schedule: LinearSchedule, width: int, *, jumps: bool, only: bool, balance: bool
) -> tuple[int, ...]:
    """Sizes of a band's members around a vector loop, which is its last one.

    jumps: it does so from row to row; only: it alone is tiled; balance: the tiles of the first member are the parallel
      ones.
    """
    space = tile_space(scop, schedule.prefix, schedule.members)
    groups = reference_groups(scop, space)
    if jumps and width > 1:
        outer, vector = row_sizes(machine, groups, width - 2, width - 1, balance=balance and width == 2)
        return (*[PLENTY] * (width - 2), outer, vector)
    few = only and _are_few(machine, groups, width - 1)
    size = piece(machine, groups, parallel=few)
    if only and _is_known(groups, width - 1) and _streams_through(machine, groups, width - 1):
        size = max(size, _a_core(machine, groups, width - 1))
    return (*[1 if only else PLENTY] * (width - 1), size)


def _are_few(machine: Machine, groups: Sequence[ReferenceGroup], member: int) -> bool:
    """Whether threads would have less than two long pieces each of a loop whose size is known."""
    pieces = trip_count(groups, member) // piece(machine, groups, parallel=False)
    return _is_known(groups, member) and pieces < 2 * machine.cores


def _is_known(groups: Sequence[ReferenceGroup], member: int) -> bool:
    """Whether arrays' sizes tell how many iterations a member has."""
    return any(
        row[member] and extent is not None
        for group in groups
        for row, extent in zip(group.moves, group.extents, strict=True)
    )


def _a_core(machine: Machine, groups: Sequence[ReferenceGroup], member: int) -> int:
    """Iterations of a vector loop for each core, whole lines; no more than the second cache keeps the rows of. Where
    steps get other lines each, prefetchers begin anew in each piece (measured with two threads: a sweep over 3000 rows
    took 1.25 times as long in strips of 2 KiB as in four of 8 KiB)."""
    element = max((group.element for group in groups), default=ELEMENT)
    line = max(machine.cache(1).line // element, 1)
    kept = machine.cache(2).share // 2 // max(sum(one.element for one in groups if one.depends_on(member)), 1)
    return _multiple(min(ceil(trip_count(groups, member) / machine.cores) + line - 1, kept), line)


def only_share(scop: Scop, machine: Machine, schedule: LinearSchedule, vector: int) -> bool:
    """Whether strips of a vector loop, in which the loops around it run in full, are there for threads to share alone:
    as many of whole rows as the loops go on from stay in the first cache anyway, or in the second one, which has no
    room for all of the lines of a strip until the next one is done. vector: the loop's member."""
    groups = reference_groups(scop, tile_space(scop, schedule.prefix, schedule.members))
    if _rows_stay(machine.cache(1), groups, vector):
        return True
    return _rows_stay(machine.cache(2), groups, vector) and _streams_through(machine, groups, vector)


def _rows_stay(cache: Cache, groups: Sequence[ReferenceGroup], vector: int) -> bool:
    row = sum(group.element for group in groups if group.depends_on(vector))
    return row * trip_count(groups, vector) <= cache.share // 2


def _streams_through(machine: Machine, groups: Sequence[ReferenceGroup], vector: int) -> bool:
    """Whether each step of a strip gets other lines, of more than the second cache keeps."""
    sizes = [trip_count(groups, k) for k in range(len(groups[0].moves[0]))] if groups and groups[0].moves else []
    if not sizes:
        return False
    sizes[vector] = piece(machine, groups, parallel=False)
    line = machine.cache(1).line
    return sum(group.lines(sizes, line) for group in groups) * line > machine.cache(2).share


def tile_unit(band: TiledBand, cache: Cache | None = None, least: int = PLENTY) -> int:
    """The size of a band's tiles, in units of its members' skew: the smallest one that pays, among those that fit into
    a cache, the last one, and have so many iterations at least."""
    if not any(band.space.instances.values()):
        return PLENTY  # nothing is known of what runs at each point
    fitting = [size for size in CANDIDATES if band.fits(size, cache or band.machine.caches[-1])] or CANDIDATES[:1]
    plenty = [size for size in fitting if size >= least]
    return next((size for size in plenty if band.pays(size)), plenty[-1] if plenty else fitting[-1])


def row_sizes(
    machine: Machine, groups: Sequence[ReferenceGroup], outer: int, vector: int, *, balance: bool
) -> tuple[int, int]:
    """Sizes for a loop over `outer` around a vector loop over `vector` that jumps between rows: (of the outer one, of
    the vector loop).

    The outer loop walks along the rows. Of each of them a page is walked through at a time, where the prefetcher stops
    anyway; each array has rows of its own. balance: the outer loop's tiles are the parallel ones: more of them, too
    short for the prefetcher; only conflicts matter then.
    """
    jumping = [group for group in groups if group.depends_on(vector) and not group.walks(vector)]
    walked = [group for group in jumping if group.walks(outer)]
    element = max((group.element for group in groups), default=ELEMENT)
    if not walked or len(walked) < len(jumping):
        return PLENTY, PLENTY
    rows = PLENTY if balance else machine.streams // len(walked)
    for group in walked:
        stride = group.stride(vector)
        if stride is not None:
            rows = min(rows, rows_in_cache(stride, machine.cache(1)) // len(walked))
    rows = max(_power(rows), min(machine.lanes(element), machine.streams))
    return PLENTY if balance else max(machine.page_bytes // element, PLENTY), rows


def piece(machine: Machine, groups: Sequence[ReferenceGroup], *, parallel: bool) -> int:
    """The tile size of a vector loop along rows.
    parallel: its tiles are the only parallel loop, and would be few; more of them, for balance."""
    element = max((group.element for group in groups), default=ELEMENT)
    return max(piece_bytes(machine, parallel=parallel) // element, 1)


# --- contractions -----------------------------------------------------------------------------------------------------


class ContractionSizes(Struct, frozen=True):
    """Of a contraction's loops. block: rows; depth: steps of the reduction, whose operands are packed; chunk: panels of
    columns; tile: of a band with other statements beside the contraction, in all three loops."""

    block: int
    depth: int
    chunk: int
    tile: int


def contraction_sizes(machine: Machine, rows: int, columns: int, element: int = ELEMENT) -> ContractionSizes:
    """Sizes for register tiles of so many rows and columns, for elements of so many bytes.

    depth (k_c): the rows' operands of a register tile take half of the first cache; those of its columns stream past
      them from the second one.
    block (m_c): a block's packed operands take a quarter of the second cache, beside a panel of columns, cells, and
      operands on their way.
    chunk (n_c): a chunk's operands take a sixteenth of a thread's share of the last cache. Until they are packed, their
      rows lie far apart in it; and chunks are what threads share out: of twice as long ones, few matrices have as many
      as balance.
    tile: a tile's packed rows and one panel of its columns stay in the first cache.
    """
    first, second, last = packing_shares(machine)
    depth = _multiple(first // 2 // (rows * element), rows)
    block = _multiple(second // 4 // (depth * element), rows)
    chunk = max(last // 16 // (depth * columns * element), 1)
    step = lcm(rows, columns)
    tile = step
    while (tile + step) * (tile + step + columns) * element <= first:
        tile += step
    return ContractionSizes(block, depth, chunk, tile)


def _multiple(size: int, of: int) -> int:
    return max(size // of, 1) * of


def _power(size: int) -> int:
    """The largest power of two that isn't larger, at least 1."""
    return 1 << max(size, 1).bit_length() - 1
