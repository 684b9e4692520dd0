"""Rows that run together, unrolled and jammed: the claim on a band of two members that reduces a matrix."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt.ir.nest import LoopMark
from scopt.poly.bands import reductions_of
from scopt.poly.isl_utils import joined
from scopt.poly.restructure import filters_of
from scopt.scheduler.decisions.claims import Band, Builder, Claim, Reason
from scopt.scheduler.decisions.jam import Jam, Parts, jam_of, parts_of
from scopt.scheduler.decisions.setting import Setting
from scopt.scheduler.decisions.user_sizes import rounded, size_of
from scopt.scheduler.locality.tiling import atomic, origin

# Blocks of rows, from which on the rows that they leave over take little of the time.
_SOME_BLOCKS = 4


class JammedRows(Struct, frozen=True):
    name: ClassVar[str] = "jammed rows"

    def claim(self, band: Band) -> Claim | Reason:
        setting = band.setting
        jam = jam_of(setting.scop, setting.dependences, band.node, setting.options)
        if jam is None:
            return Reason(self.name, "no loops over a matrix of two, one of which it is reduced along")
        jam = replace(jam, rows=_rows(band.work.trips[jam.row], jam.rows))
        loops = _JamLoops(setting, jam, band.parallel_above, setting.column_chunk(jam.chunk, jam.column))
        parts = loops.parts(band.node)
        if parts is None:
            return Reason(self.name, "the rows of a block have no columns in common, or dependences forbid their order")

        def make(build: Builder, node: isl.ScheduleNode) -> isl.ScheduleNode:
            return loops.put(build, parts, node)

        parallel = None if band.parallel_above else jam.parallel
        simd = jam.simd or (band.facts.vector == jam.column and all(band.facts.grouping.free))
        vectors = frozenset({jam.column} if simd else ())
        what, cycles = f"{jam.rows} rows at a time", _cycles(band, jam, simd, False)
        user = setting.options.tile_sizes
        notes = rounded(user, rows_at_a_time=(size_of(user, jam.row), jam.rows)) if user else ()
        whole = partial(_cycles, band, jam, simd)
        return Claim(self.name, what, cycles, make, parallel, vectors, notes=notes, whole=whole)


def _rows(trips: int, usual: int) -> int:
    """Rows of a block: all, where they are few; of the usual number and those a little below, that which leaves the
    fewest rows over, where these would be a good part of all."""
    if trips <= usual + usual // 2:
        return max(trips, 2)
    if trips > _SOME_BLOCKS * usual:
        return usual
    return min(range(usual // 2 + 1, usual + 1), key=lambda rows: (trips % rows, -rows))


def _cycles(band: Band, jam: Jam, simd: bool, resident: bool) -> float:
    """Cells that rows share are loaded and stored once for all of them; as many chains as rows are under way."""
    work = band.work
    kept = {jam.row: float(jam.rows), jam.column: float(work.trips[jam.column])}
    chains = [] if simd else [name for name, one in work.statements.items() if one.steady[jam.column].stores]
    # where each column has cells of its own, compilers make vectors even if nobody says that they may
    compute = work.vector([name for name in work.statements if name not in chains], kept, jam.column)
    if chains:
        compute += max(work.scalar(chains, kept), work.chained(chains, chains=jam.rows))
    memory = 0.0 if resident else work.streamed((jam.row, jam.column))
    if jam.parallel is None or band.parallel_above:
        return work.alone(compute, memory)
    return work.parallel(compute, memory, 1)


class _JamLoops(Struct, frozen=True, eq=False):
    """The loops over blocks of rows, which run through the columns together. chunk: columns that a thread gets at a
    time, where they alone are parallel."""

    setting: Setting
    jam: Jam
    parallel_above: bool
    chunk: int

    def blocks(self, node: isl.ScheduleNode) -> isl.ScheduleNode:
        """The band as loops over blocks."""
        row, column = self.members(node)
        chunks = self.jam.parallel == self.jam.column and not self.parallel_above
        outer = [origin(column, self.chunk)] if chunks else []
        made = node.delete().insert_partial_schedule(joined([*outer, origin(row, self.jam.rows)]))
        return atomic(made.band_set_permutable(1))

    def members(self, node: isl.ScheduleNode) -> tuple[isl.UnionPwAff, isl.UnionPwAff]:
        partial = node.band_get_partial_schedule()
        return partial.get_at(self.jam.row), partial.get_at(self.jam.column)

    def parts(self, node: isl.ScheduleNode) -> Parts | None:
        """The parts of its instances; None where the dependences don't allow any."""
        return parts_of(self.setting.dependences, self.blocks(node).child(0), *self.members(node), self.jam.rows)

    def put(self, build: Builder, parts: Parts, node: isl.ScheduleNode) -> isl.ScheduleNode:
        """What stands in place of the band."""
        of, jam = self.setting, self.jam
        row, column = self.members(node)
        found = [part for part in (parts.before, parts.full, parts.after) if not part.is_empty()]
        node = self.blocks(node).child(0).insert_sequence(filters_of(found))
        for position in range(node.n_children()):
            child = node.child(position).child(0)
            domain = child.get_domain()
            rows, columns = (joined([member.intersect_domain(domain)]) for member in (row, column))
            together = domain.is_equal(parts.full)
            child = child.insert_partial_schedule(rows if together else columns).band_set_permutable(1)
            if together:
                child = child.band_member_set_ast_loop_type(0, isl.ast_loop_type.unroll)
                child = child.insert_partial_schedule(columns).band_set_permutable(1)
            along = columns.get_at(0)
            carried = reductions_of(of.scop, of.dependences, child, along) if together and of.options.simd else None
            carried = carried if carried and not any(one.best for one in carried) else None
            mark = LoopMark(simd=jam.simd or bool(carried), jammed=True, reductions=carried or ())
            child = build.marks.above(child, mark)
            if not together:
                child = child.insert_partial_schedule(rows).band_set_permutable(1)
                child = build.marks.above(child, LoopMark(most=jam.rows))
            node = child.parent().parent()
        node = node.parent()
        if jam.parallel is not None and not self.parallel_above:
            node = build.marks.above_member(node.band_member_set_coincident(0, 1), 0, LoopMark(parallel=True))
        return node
