"""Several rows that loops walk along side by side: chains that wait, and lines that come from memory."""

from __future__ import annotations

from fractions import Fraction

from scopt.machine.costs import least_region
from scopt.machine.processor import Machine

# Of the work that loops over tiles are worth, what such rows are, which fill no buffers: entering them is a test.
_BESIDE = Fraction(1, 4)
# Of the last cache, what rows may be counted on to be found there: others use it, too (chosen).
_FOUND = 2


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
