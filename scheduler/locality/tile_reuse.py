"""Whether tiles of a band bring back lines that loops in their order would lose.

A loop's iterations reuse what they have in common: cells that don't move with it, and neighbours. What the two
innermost loops reuse, rows of cells, the first cache keeps if they aren't too long; further out, as much as several
loops touch has to be kept between two uses. Source: Wolf and Lam, "A data locality optimizing algorithm" (1991),
section 2: self-temporal and group-temporal reuse.
"""

from __future__ import annotations

from scopt.ir.scop import Scop
from scopt.machine import Machine
from scopt.scheduler.locality.footprints import ReferenceGroup, reference_groups, tile_space, trip_count
from scopt.scheduler.locality.strides import LinearSchedule


def has_far_reuse(scop: Scop, machine: Machine, schedule: LinearSchedule, innermost: int | None = None) -> bool:
    """Whether a loop of a band reuses lines that move with the innermost loop of its nest, and that the loops in
    between have driven from the first cache. True where nothing is known of the references.

    innermost: the member that runs innermost; None: the last one, or what is below the band.
    """
    groups = reference_groups(scop, tile_space(scop, schedule.prefix, schedule.members))
    width = max((len(row) for group in groups for row in group.moves), default=0)
    last = width - 1 if innermost is None else innermost
    band = max(map(len, schedule.members.values()), default=0)
    order = [*(k for k in range(width) if k != last), last]
    moving = [group for group in groups if width and group.depends_on(last)]
    row = sum(group.element for group in moving) * trip_count(groups, last) if moving else 0
    long = row > machine.cache(1).share
    return not groups or any(
        _reuses(group, member) and (any(map(group.depends_on, order[place + 1 : -1])) or (long and place == width - 2))
        for group in moving
        for place, member in enumerate(order[:-1])
        if member < band
    )


def _reuses(group: ReferenceGroup, member: int) -> bool:
    """Whether iterations of a member share cells: the same ones, or neighbours."""
    if not group.depends_on(member):
        return True
    return any(row[member] and spread for row, spread in zip(group.moves, group.spread, strict=True))
