"""Tiles on diagonals for all threads: how large these may be."""

from __future__ import annotations

from collections.abc import Sequence

from scopt.machine import Machine
from scopt.scheduler.decisions.band_costs import Work

# How many tiles there are in a row for each thread: diagonals are shorter, the first and the last ones by far.
_TILES_EACH = 4
# Diagonals that are counted: later ones have enough tiles, or are like these.
_MANY = 1000


def for_all_threads(machine: Machine, work: Work, sizes: Sequence[int]) -> tuple[int, ...]:
    """Sizes of tiles, smaller where there are few of them along both of the first two members, and where each takes
    long enough to be handed to a thread: dynamic programs over some tens of intervals with loops inside (all splits,
    all rules)."""
    first, second, *rest = sizes
    cells = max(work.trips[0] * work.trips[1], 1)
    cycles, fork = work.scalar(None, {}) / cells, machine.fork_nanoseconds * machine.gigahertz

    def few() -> bool:
        return max(work.trips[0] / first, work.trips[1] / second) < _TILES_EACH * machine.cores

    while first % 2 == second % 2 == 0 and cycles * (first // 2) * (second // 2) > fork and few():
        first, second = first // 2, second // 2
    return (first, second, *rest)


def unevenness(machine: Machine, work: Work, sizes: Sequence[int]) -> float:
    """How many times as long tiles on diagonals take as if all threads had something to do at any time. sizes: of the
    tiles, one for all loops, or one each."""
    first, second = (
        max(-(-trips // size), 1) for trips, size in zip(work.trips, (*sizes, *sizes[-1:])[:2], strict=False)
    )
    lengths = (min(k + 1, first, second, first + second - 1 - k) for k in range(min(first + second - 1, _MANY)))
    taken = [(-(-length // machine.cores) * machine.cores, length) for length in lengths]
    return sum(turns for turns, _ in taken) / sum(length for _, length in taken)
