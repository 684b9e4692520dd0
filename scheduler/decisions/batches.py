"""Vectors across small problems: ``for p: { a few cells of a[p][…], worked on by straight code, or loops of constant
size }``.

Each problem's cells lie together in memory, so that vectors across problems would gather each operand; inside of one
there is too little that is alike. A batch of problems, one a lane, has its cells turned into lanes first (an array of
structures of arrays), and back at the end: loads and stores of each cell once, where the problem uses it again and
again. That pays where there is much to compute for each cell: factorizations, solves, inverses; not for a product with
a constant matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf, prod

import islpy as isl
from msgspec.structs import replace

from scopt.ir.marked_schedule import RowBuffer
from scopt.ir.scop import Scop
from scopt.machine.batch_costs import (
    BATCH_BYTES,
    BATCH_COPY,
    DIVISION_ALONE,
    DIVISION_LANE,
    WORTH_BATCH,
    calls_others,
    long_operations,
)
from scopt.machine.costs import STEP_BYTES, arithmetic
from scopt.machine.vector_forms import takes_vectors
from scopt.poly.isl_utils import sets_of
from scopt.poly.row_buffers import row_cells
from scopt.scheduler.decisions.claims import Band, Claim
from scopt.scheduler.decisions.small_loops import inner_bands, span
from scopt.scheduler.decisions.strip_building import Rows, rows_of_strip
from scopt.scheduler.decisions.strip_claims import batch_claim


def batch(band: Band, rows: Rows | None, member: int, outside: Callable[[Rows], Rows]) -> list[tuple[Claim, Rows]]:
    """What it takes to run the rows as small problems, a lane each; nothing if that doesn't pay. outside: puts the
    other members outside of strips."""
    problems = as_batch(band, rows, member) if rows is not None else None
    if problems is None:
        return []
    problems = outside(problems)
    count = rows_of_strip(band.setting.scop, band.setting.options, problems)
    gain = gain_of_batch(band, problems, count)
    return [(batch_claim(band, problems, count, member, gain), problems)] if gain else []


def as_batch(band: Band, rows: Rows, member: int) -> Rows | None:
    """The rows as problems of batches, that stand inside of all other members; None if they are no small ones, or need
    no buffers."""
    others = [k for k in range(band.width) if k != member]
    if not set(others) <= set(band.coincident) or not rows.places.buffers or rows.places.apart:
        return None
    sizes = [_bytes(band.setting.scop, one) for one in rows.places.buffers]
    if sum(sizes) > BATCH_BYTES or all(size <= STEP_BYTES for size in sizes):
        return None  # compilers take records apart in registers
    if not all(_has_ends(one) for one in inner_bands(band.node.child(0))):
        return None
    buffers = tuple(replace(one, problem=True) for one in rows.places.buffers)
    return replace(rows, places=replace(rows.places, buffers=buffers), batch=True)


def gain_of_batch(band: Band, rows: Rows, lanes: int) -> float:
    """How many times as long problems take one after the other as they do in batches of so many; 0 if nobody knows, or
    if that is too little."""
    scop, machine = band.setting.scop, band.setting.options.machine
    names = [str(part.get_tuple_name()) for part in sets_of(rows.domain)]
    alone = together = 0.0
    for part, name in zip(sets_of(rows.domain), names, strict=True):
        count, body = _instances(part, band), scop.statement(name).body
        if count is None or calls_others(body) or not takes_vectors(scop, scop.statement(name)):
            return 0.0
        divisions, busy = long_operations(body), max(arithmetic(body), 1.0) / machine.fma_per_cycle
        alone += count * (busy + divisions * DIVISION_ALONE)
        kept = sum(one.is_write and one.array in rows.places.scalars for one in scop.statement(name).accesses)
        together += count * ((busy + kept) / lanes + divisions * DIVISION_LANE)  # lanes of scalars are stored each time
    for buffer in rows.places.buffers:
        if scop.arrays[buffer.array].private:
            continue  # nothing is copied
        kinds = {a.is_write for name in names for a in scop.statement(name).accesses if a.array == buffer.array}
        together += prod(row_cells(buffer) or ()) * len(kinds) * BATCH_COPY
    return alone / together if alone >= together * WORTH_BATCH else 0.0


def _has_ends(node: isl.ScheduleNode) -> bool:
    """Whether the loops of a band run as often as constants say."""
    values = isl.UnionMap.from_multi_union_pw_aff(node.band_get_partial_schedule()).intersect_domain(node.get_domain())
    points = isl.Set.from_union_set(values.range())
    return all(span(points, k) for k in range(node.band_n_member()))


def _bytes(scop: Scop, buffer: RowBuffer) -> float:
    """What a problem takes in a buffer."""
    cells = row_cells(buffer)
    return inf if cells is None else scop.arrays[buffer.array].type.bytes * prod(cells)


def _instances(part: isl.Set, band: Band) -> int | None:
    """How many instances a problem has of a statement: one problem, wherever the loops around are; None if nobody
    knows."""
    node, own = band.node, isl.UnionSet.from_set(part)
    dates = isl.UnionMap.from_multi_union_pw_aff(node.band_get_partial_schedule()).intersect_domain(own)
    if node.get_schedule_depth():
        dates = node.get_prefix_schedule_relation().intersect_domain(own).flat_range_product(dates)
    if dates.is_empty():
        return None
    one = isl.UnionSet.from_point(dates.range().sample_point())
    found = isl.Set.from_union_set(dates.intersect_range(one).domain()).project_out_all_params()
    return int(found.count_val().to_python()) if found.is_bounded() else None
