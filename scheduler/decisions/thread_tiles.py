"""Tiles on diagonals for all threads: how large these may be."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

from scopt.machine import Machine
from scopt.machine.costs import FORKED_AGAIN
from scopt.scheduler.decisions.band_costs import Work
from scopt.scheduler.locality.tile_sizes import PLENTY

# How many tiles there are in a row for each thread: diagonals are shorter, the first and the last ones by far.
_TILES_EACH = 4
# The same of the tiles of a single sweep, which are as large as that allows; the share of a tile's time that threads
# may wait for each other behind it (both chosen: with two threads and rows of 1000 to 3000 doubles, 128 rows by 512
# columns take 0.8 of what 64 by 256 do, with one thread 0.75).
_SOME_EACH, _WAITING = 2, 1 / 8
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


def sweep_sizes(machine: Machine, work: Work, columns: int) -> tuple[int, int]:
    """Rows and columns of a tile of a single sweep, whose rows run beside each other: nothing in it is used again, so
    that no cache says how large it may be. Along rows it is a page, as prefetchers are, where each thread has some
    tiles of a diagonal then, else not less than `columns`; it has as many rows as make little of the barrier behind a
    diagonal, but some tiles for each thread, too."""
    some = _SOME_EACH * machine.cores
    page = max(machine.page_bytes // work.element, 1)
    length = max(min(page, _power(work.trips[-1] // some)), columns)
    cycles = work.scalar(None, {}) / max(work.trips[-2] * work.trips[-1], 1)
    barrier = machine.fork_nanoseconds * machine.gigahertz * FORKED_AGAIN
    rows = ceil(barrier / (_WAITING * cycles * length)) if cycles else PLENTY
    most = max(work.trips[-2] // some, PLENTY)
    return max(min(_power(2 * rows - 1), _power(most)), PLENTY), length


def _power(size: int) -> int:
    """The largest power of two that isn't larger, at least 1."""
    return 1 << max(size, 1).bit_length() - 1


def unevenness(machine: Machine, work: Work, sizes: Sequence[int]) -> float:
    """How many times as long tiles on diagonals take as if all threads had something to do at any time. sizes: of the
    tiles, one for all loops, or one each."""
    first, second = (
        max(-(-trips // size), 1) for trips, size in zip(work.trips, (*sizes, *sizes[-1:])[:2], strict=False)
    )
    lengths = (min(k + 1, first, second, first + second - 1 - k) for k in range(min(first + second - 1, _MANY)))
    taken = [(-(-length // machine.cores) * machine.cores, length) for length in lengths]
    return sum(turns for turns, _ in taken) / sum(length for _, length in taken)
