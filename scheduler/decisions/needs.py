"""What a band needs of each resource, by the model: the largest need bounds it, whatever is decided about the rest.

The terms of `scopt.scheduler.decisions.band_costs`, each by itself (the roofline of Williams, Waterman and Patterson
2009, with a roof for each unit of a core).
"""

from __future__ import annotations

from scopt.machine.costs import LOADS, STORES
from scopt.scheduler.decisions.band_costs import Work


def needs(work: Work, vector: int | None, *, vectors: bool, tiled: bool) -> tuple[tuple[str, float], ...]:
    """Cycles that each resource is busy in one run of a band, the largest need first; resources that aren't needed are
    left out. Those of a core are counted as if one core did it all, memory with all cores at work.

    vector: the member that vectors run along; None: one inside of the band, or none. vectors: there are some. tiled:
    tiles bring each line from memory once; what is loaded, stored and waited for then depends on what registers and
    caches keep of them, and isn't told.
    """
    last = len(work.trips) - 1 if vector is None else vector
    order = [*(k for k in range(len(work.trips)) if k != last), last] if work.trips else []
    found = {"memory": work.fetched(work.trips) if tiled else work.streamed(order), "arithmetic": 0.0, "divisions": 0.0}
    for one in work.statements.values():
        found["arithmetic"] += one.count * one.arithmetic / (work.lanes if vectors and not one.alone else 1)
        found["divisions"] += one.count * one.divided
    if not tiled:
        found["chains"] = 0.0 if vectors else work.chained()
        found["caches"] = work.moved([(k, work.trips[k]) for k in reversed(order)], resident=False)
        found |= _moves(work, last, vectors=vectors, jumps=vector is not None)
    return tuple(sorted(((name, cycles) for name, cycles in found.items() if cycles >= 1), key=lambda one: -one[1]))


def _moves(work: Work, last: int, *, vectors: bool, jumps: bool) -> dict[str, float]:
    """Cycles of loads and stores, where a register holds what stays the same along the last member. jumps: vectors are
    put together, and taken apart, where lines change along it."""
    kept = {last: float(work.trips[last])} if work.trips else {}
    loads = stores = 0.0
    for one in work.statements.values():
        uses, lanes = one.left(kept), work.lanes if vectors and not one.alone else 1
        apart = one.jumping[last] if jumps and lanes > 1 else uses.times(0)
        together = uses - apart
        loads += one.count * (max(together.loads, 0.0) / lanes + apart.loads) / LOADS
        stores += one.count * (max(together.stores, 0.0) / lanes + apart.stores) / STORES
    return {"loads": loads, "stores": stores}
