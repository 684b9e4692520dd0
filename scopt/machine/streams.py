"""Several rows that loops walk along side by side: chains that wait, and lines that come from memory."""

from __future__ import annotations

from fractions import Fraction

from scopt.machine.costs import MOST_ROWS, least_region
from scopt.machine.processor import Machine

# Of the work that loops over tiles are worth, what such rows are, which fill no buffers: entering them is a test.
_BESIDE = Fraction(1, 4)
# Of the last cache, what rows may be counted on to be found there: others use it, too (chosen).
_FOUND = 2
# Strips of rows for each core at least, where these are long (chosen).
_STRIPS_A_CORE = 2


def least_beside(machine: Machine) -> Fraction:
    """Nanoseconds of work from which on rows that are written out beside each other gain, if nothing else is there."""
    return least_region(machine) * _BESIDE


def least_streamed(machine: Machine) -> int:
    """Bytes of rows from which on several that come from memory side by side are no slower than one after the other:
    prefetchers follow each within a page."""
    return machine.page_bytes


def streamed_cache(machine: Machine) -> int:
    """Bytes of rows up to which these come from a cache."""
    return machine.caches[-1].size // _FOUND


def waiting_instance(machine: Machine) -> Fraction:
    """Nanoseconds of an instance that waits for the sum of the one before."""
    return Fraction(machine.fma_latency) / Fraction(str(machine.gigahertz))


def streamed_strip_rows() -> int:
    """Rows of a strip where arrays that run along the rows come from afar, so that it takes a longer piece of them for
    the prefetcher to get going."""
    return MOST_ROWS


def long_strip_rows(machine: Machine, trips: int, cells: int) -> int:
    """The same where a strip has more of these arrays' rows than the prefetcher follows at a time: as many as the first
    cache holds the scalars of, `cells` bytes a row. (Measured for 16 and 1000 steps, of 32 up to 32768 rows: with 4096
    doubles it takes as long as along whole rows, with 256 1.2 to 1.6 times as long, with 32 up to twice as long.)
    trips: rows in all, of which each core gets some strips."""
    most = min(machine.cache(1).share // max(cells, 1), trips // (machine.cores * _STRIPS_A_CORE))
    return max(1 << max(most, 1).bit_length() - 1, MOST_ROWS)
