"""Which dependences a construction has to respect: private arrays' reuse pairs
only where their live ranges would overlap otherwise."""

from __future__ import annotations

from collections.abc import Callable

import islpy as isl

from scopt.ir.scop import Dependences, Scop
from scopt.poly.legality import overlapping_private
from scopt.scheduler.constraints.edges import Found, edges_of
from scopt.scheduler.constraints.scheduling_problem import Edge

# Pairs of statements that a live range of a private array leads between.
Bonds = frozenset[tuple[str, str]]


def with_reuse_where_needed(
    scop: Scop, deps: Dependences, schedule: Callable[[tuple[Edge, ...], Bonds], isl.Schedule]
) -> isl.Schedule:
    """The tree that `schedule` makes of all flow dependences, and of anti and output ones over arrays not private.

    Where the tree lets live ranges of a private array overlap, that array's pairs join, and it is made again.
    `schedule` is also told which statements live ranges bind together: apart, they would overlap.
    """
    private = {name for name, array in scop.arrays.items() if array.private}
    enforced, known = set[str](), Found()
    while True:
        kept = [
            d
            for d in deps.select("flow", "anti", "output")
            if d.kind == "flow" or d.array not in private or d.array in enforced
        ]
        bonds = frozenset((d.source, d.sink) for d in deps.select("flow") if d.array in private - enforced)
        tree = schedule(edges_of(scop, kept, known), bonds)
        overlapping = set(overlapping_private(scop, deps, tree.get_map())) - enforced
        if not overlapping:
            return tree
        enforced |= overlapping
