"""Private arrays of parallel loops: those that each thread has a copy of."""

from __future__ import annotations

import islpy as isl

from scopt.poly.bands import private_arrays
from scopt.scheduler.decisions.setting import Setting


def private_for(setting: Setting, node: isl.ScheduleNode, member: int) -> tuple[str, ...]:
    """Private arrays of a parallel loop over one member (or over its tiles: a range that stays in an iteration stays in
    a tile)."""
    chosen, dependences = node.band_get_partial_schedule().get_at(member), setting.dependences
    found = private_arrays(node, chosen, dependences)
    if found is None and dependences.relaxed is not None:  # its reductions apart
        found = private_arrays(node, chosen, dependences.relaxed)
    return found or ()


def private_for_wavefront(
    setting: Setting, node: isl.ScheduleNode, members: tuple[int, int] = (0, 1)
) -> tuple[str, ...]:
    """Private arrays of the tiles of one wavefront: those whose live ranges stay in one iteration of two members."""
    partial = node.band_get_partial_schedule()
    one, other = members
    first = set(private_arrays(node, partial.get_at(one), setting.dependences) or ())
    second = private_arrays(node, partial.get_at(other), setting.dependences) or ()
    return tuple(name for name in second if name in first)
