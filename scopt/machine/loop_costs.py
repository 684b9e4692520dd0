"""Loops in numbers, whose time is estimated as a whole: what they are made of takes so long on a machine."""

from __future__ import annotations

from msgspec import Struct

from scopt.machine.processor import Machine

# Cycles, rounded and fitted to the times of ten PolyBench kernels as they are, after a look at where random schedules
# of some ran much faster or slower than estimated: of an operation whose operands are there, of an access to the
# first cache, of one lane of a vector whose elements aren't neighbours; of a loop's iteration, of a comparison or
# addition in bounds and conditions, of a rounding division there.
_ARITHMETIC, _ACCESS, _LANE = 0.45, 0.24, 1.5
_ITERATION, _TEST, _ROUNDING = 0.75, 0.75, 4.5
# Cycles for a line that is fetched into the first cache, and into those behind it, where the prefetcher sees it coming,
# and where it doesn't; nanoseconds for one that comes from memory. All as above.
_FETCHES = ((1.2, 3.0), (2.4, 9.0))
_FROM_MEMORY = (5.0, 20.0)


class Fetch(Struct, frozen=True):
    """Nanoseconds for a line that has to be fetched into a cache: foreseen by the prefetcher, or not."""

    stream: float
    jump: float


def line_cycles(level: int, *, stream: bool) -> float:
    """Cycles of a line on its way into the cache of a level (1: the first one) from one behind it; stream: the one
    before it in memory was fetched before it."""
    return _FETCHES[min(level, len(_FETCHES)) - 1][0 if stream else 1]


class LoopCosts(Struct, frozen=True):
    """Nanoseconds of what loops are made of.

    fetches: into each cache, innermost first. exhausting: how many threads exhaust the memory's bandwidth. fork:
    starting and joining the threads of a parallel loop. operation: one arithmetic operation, latency: a chained one.
    access: of the first cache; gather: of one lane of a vector whose elements aren't neighbours (a scatter takes two).
    iteration: of a loop. test: a comparison or addition in bounds and conditions. division: rounding, there.
    """

    fetches: tuple[Fetch, ...]
    exhausting: float
    fork: float
    operation: float
    latency: float
    access: float
    gather: float
    iteration: float
    test: float
    division: float


def loop_costs(machine: Machine) -> LoopCosts:
    """What loops are made of, on a machine."""
    cycle, count = 1 / machine.gigahertz, len(machine.caches)
    inner = [_FETCHES[min(level, len(_FETCHES) - 1)] for level in range(count - 1)]
    shared = machine.cache(1).line / machine.bandwidth
    memory = Fetch(*(max(shared, alone) for alone in _FROM_MEMORY))
    return LoopCosts(
        (*(Fetch(stream * cycle, jump * cycle) for stream, jump in inner), memory),
        memory.stream / shared,
        float(machine.fork_nanoseconds),
        _ARITHMETIC * cycle,
        machine.fma_latency * cycle,
        _ACCESS * cycle,
        _LANE * cycle,
        _ITERATION * cycle,
        _TEST * cycle,
        _ROUNDING * cycle,
    )
