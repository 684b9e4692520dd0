"""The loops around register tiles, put into a tree."""

from __future__ import annotations

import islpy as isl

from scopt.ir.marked_schedule import RegisterTiling, TileMark
from scopt.ir.nest import LoopMark
from scopt.options import Options
from scopt.scheduler.decisions.marks import Marks
from scopt.scheduler.decisions.register_tiles import register_bands
from scopt.scheduler.locality.tiling import atomic


def parallel_member(
    node: isl.ScheduleNode, tiling: RegisterTiling, wished: int | None = None, *, short: bool = False
) -> int | None:
    """The member of a contraction's band whose blocks threads can share: the one that is asked for, if it carries
    nothing; else one outside of the tiles, else its rows', else its columns'. None if there is none.

    short: there are fewer blocks of rows than threads, and more columns to share: these come first."""
    row, column, reduction = tiling.contraction.members
    free = {k for k in range(node.band_n_member()) if node.band_member_get_coincident(k)} - {reduction}
    if wished in free:
        return wished
    outside = sorted(free - {row, column})
    if outside:
        return outside[0]
    return next((k for k in ((column, row) if short else (row, column)) if k in free), None)


def with_register_tiles(
    marks: Marks,
    node: isl.ScheduleNode,
    tiling: RegisterTiling,
    options: Options,
    outermost: int | None,
    *,
    parallel: bool,
    few: bool = False,
    chunk: int | None = None,
) -> isl.ScheduleNode:
    """The band of a contraction as loops over blocks, over register tiles, and over a tile's instances, with marks for
    packing. outermost: the member whose blocks threads can share; parallel: they do; few: together with the next loop,
    if nothing is carried there either. chunk: tiles of columns that a thread gets at a time; None: as many as the
    machine's caches say."""
    collapse = 2 if few and outermost is not None and _next_is_free(node, tiling, outermost) else 1
    bands, position = register_bands(node, tiling, options, outermost=outermost, chunk=chunk)
    number = len(tilings_of(marks))
    node = node.delete()
    for place, band in reversed(bands):
        node = node.insert_partial_schedule(band).band_set_permutable(1)
        node = atomic(node)
        if place:
            node = marks.named(node, f"{place}:tiling{number}", TileMark(place, tiling))
    if parallel and outermost is not None:
        node = node.band_member_set_coincident(position, 1)
        node = marks.above_member(node, position, LoopMark(parallel=True, coarse=True, collapse=collapse))
    return node


def _next_is_free(node: isl.ScheduleNode, tiling: RegisterTiling, outermost: int) -> bool:
    """Whether the loop right inside of a member that isn't tiled carries nothing: of another such member, or over
    blocks of rows."""
    row, column, reduction = tiling.contraction.members
    others = set(range(node.band_n_member())) - {row, column, reduction}
    if outermost not in others:
        return False
    inner = [k for k in others - {outermost} if node.band_member_get_coincident(k)] if len(others) > 1 else [row]
    return any(node.band_member_get_coincident(k) for k in inner)


def tilings_of(marks: Marks) -> list[RegisterTiling]:
    """The register tilings of a tree, in the order in which they were made."""
    return [mark.tiling for mark in marks.found.values() if isinstance(mark, TileMark) and mark.place == "tile"]
