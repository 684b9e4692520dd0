"""What nests gain by running as stages of one loop over rows: lines that a stage shares with one before it are in a
cache of the core then, and don't come from memory again."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import islpy as isl
from msgspec import Struct

from scopt.poly.isl_utils import sets_of, walk
from scopt.scheduler.decisions.band_costs import Work
from scopt.scheduler.decisions.setting import Setting

# Rows of a block, the first for which each thread gets so many blocks: longer ones have less at their borders, shorter
# ones are shared out more evenly.
_ROWS, _BLOCKS = (128, 64, 32), 8
# Of a block's rows, how many may be at its borders: one in so many.
_BORDERS = 8
# How many times as much as the last cache holds the nests have to touch: with less, lines that stay there come as fast
# (measured: up to a third slower where they do).
_CACHES = 2
# What the rows that are under way at a time may take of a second cache.
_UNDER_WAY = 0.5
# Of the time that the nests take, what has to be gained (chosen: the model isn't more exact than that).
_WORTH = 0.05


class Blocks(Struct, frozen=True):
    """rows: of a block. strip: rows that each stage runs at a time, before the next one follows. cycles: of all
    stages."""

    rows: int
    strip: int
    cycles: float


def exceeds_caches(setting: Setting, nodes: Sequence[isl.ScheduleNode]) -> bool:
    """Whether nests are known to touch so much that lines don't stay in the last cache from one to the next.

    nodes: as below.
    """
    scop, machine = setting.scop, setting.options.machine
    works = [Work.of(scop, machine, node) for node in nodes]
    touched = _largest([_bytes(work, list(work.trips)) for work in works])
    known = all(_is_known(work, node) for work, node in zip(works, nodes, strict=True))
    return known and sum(touched.values()) > _CACHES * machine.caches[-1].size


def blocks_of(
    setting: Setting, nodes: Sequence[isl.ScheduleNode], borders: int, vectors: Sequence[bool]
) -> Blocks | None:
    """The blocks of some stages; None where they gain nothing together.

    nodes: the bands over their rows, one member each. borders: rows that a stage leaves to the borders of blocks, at
    most. vectors: whether a stage has vector loops.
    """
    scop, machine = setting.scop, setting.options.machine
    works = [Work.of(scop, machine, node) for node in nodes]
    whole = [_bytes(work, list(work.trips)) for work in works]
    if sum(_largest(whole).values()) <= _CACHES * machine.caches[-1].size:
        return None
    compute = sum(_busy(work, node, fast) for work, node, fast in zip(works, nodes, vectors, strict=True))
    second = machine.gigahertz / machine.bandwidth
    memory = sum(sum(one.values()) for one in whole) * second
    saved = sum(size for k, one in enumerate(whole) for name, size in one.items() if _is_used(name, whole[:k])) * second
    share = compute / machine.cores
    before, after = works[0].alone(share, memory), works[0].alone(share, memory - saved)
    if before - after < _WORTH * before:
        return None
    trips = max(work.trips[0] for work in works)
    fitting = [rows for rows in _ROWS if rows >= borders * _BORDERS]
    rows = next((rows for rows in fitting if trips >= rows * _BLOCKS * machine.cores), min(fitting, default=0))
    room = _UNDER_WAY * machine.cache(2).share

    def fits(strip: int) -> bool:
        near = [_bytes(work, _rows(work, node, strip + borders)) for work, node in zip(works, nodes, strict=True)]
        return sum(_largest(near).values()) <= room

    strip = next((rows >> k for k in range(rows.bit_length()) if fits(rows >> k)), 0)
    return Blocks(rows, strip, after) if strip else None


def _is_known(work: Work, node: isl.ScheduleNode) -> bool:
    """Whether arrays tell how often the loops run."""
    return all(
        any(
            member < len(row) and row[member] and extent is not None
            for group in work.groups
            for row, extent in zip(group.moves, group.extents, strict=True)
        )
        for member in range(_loops(node))
    )


def _rows(work: Work, node: isl.ScheduleNode, rows: int) -> list[int]:
    """A tile of so many rows."""
    loops = _loops(node)
    return [rows, *work.trips[1:loops], *(1 for _ in work.trips[loops:])]


def _loops(node: isl.ScheduleNode) -> int:
    """How many loops stand in each other at a band and below. Iterators that have become straight code have none."""
    return max(one.get_schedule_depth() for one in walk(node)) - node.get_schedule_depth()


def _busy(work: Work, node: isl.ScheduleNode, fast: bool) -> float:
    """Cycles that a nest takes with all lines at hand. fast: in vectors."""
    loops = _loops(node)
    leaves = [one for one in walk(node) if one.get_type() == isl.schedule_node_type.leaf]
    names = [str(part.get_tuple_name()) for leaf in leaves for part in sets_of(leaf.get_domain())]
    own = [work.statements[name] for name in names]
    each = sum(one.vector({}, loops - 1, work.lanes) if fast else one.scalar({}) for one in own)
    return each * prod(work.trips[:loops])


def _bytes(work: Work, sizes: Sequence[int]) -> dict[str, int]:
    """What a tile of a nest touches of each array."""
    line, found = work.machine.cache(1).line, dict[str, int]()
    for group in work.groups:
        touched = group.lines(sizes, line) * line
        found[group.array] = max(found.get(group.array, 0), touched)
    return found


def _largest(nests: Sequence[dict[str, int]]) -> dict[str, int]:
    """The same of several nests together."""
    return {name: max(one.get(name, 0) for one in nests) for nest in nests for name in nest}


def _is_used(name: str, nests: Sequence[dict[str, int]]) -> bool:
    return any(name in one for one in nests)
