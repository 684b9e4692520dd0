"""Which writes leave the cells of an array as they are behind a SCoP: the last one of each, and those behind it of
which data decide whether they take place."""

from __future__ import annotations

import islpy as isl

from scopt.ir.scop import Scop
from scopt.poly.isl_utils import maps_of, union_of_maps
from scopt.poly.row_extents import trusted_sizes, within_sizes


def last_writes(scop: Scop, array: str) -> isl.UnionMap:
    """``{ A[…] -> W[…] }``: the last write of each cell that takes place in any case."""
    writes = _writes(scop, array, "write")
    dates = _last_dates(scop, writes)
    return dates.apply_range(scop.order.intersect_domain(writes.domain()).reverse()).intersect(writes.reverse())


def chances_behind(scop: Scop, array: str, context: isl.Set) -> isl.UnionMap | None:
    """``{ A[…] -> W[…] }``: the writes that may take place and aren't before a cell's last one, for some parameters.
    None if there may be such to cells without a last one."""
    chances = _writes(scop, array, "may-write").intersect_params(context)
    writes = _writes(scop, array, "write")
    if not chances.range().is_subset(writes.range()):
        return None
    order = scop.order.intersect_domain(chances.domain())
    dates = _last_dates(scop, writes)
    for one in maps_of(dates)[:1]:
        earlier = dates.apply_range(isl.Map.lex_gt(one.range().get_space()))
        chances = chances.subtract(earlier.apply_range(order.reverse()).reverse())
    return chances.reverse()


def _last_dates(scop: Scop, writes: isl.UnionMap) -> isl.UnionMap:
    return writes.reverse().apply_range(scop.order.intersect_domain(writes.domain())).lexmax()


def _writes(scop: Scop, array: str, kind: str) -> isl.UnionMap:
    """The cells of an array, within its extents, that statements write in any case, or as data say."""
    sizes = trusted_sizes(scop.arrays[array])
    found = (a.relation for s in scop.statements for a in s.accesses if a.array == array and a.kind == kind)
    return union_of_maps(one if one.is_single_valued() else within_sizes(one, sizes) for one in found)
