"""How many loops threads share out together."""

from __future__ import annotations

import islpy as isl

from scopt.machine.costs import LARGE_EXTENT
from scopt.scheduler.decisions.private_copies import private_for
from scopt.scheduler.decisions.setting import Setting

# Iterations for each core, of which threads get parts of about the same size.
_PLENTY = 8


def has_few(setting: Setting, trips: int, size: int = 1) -> bool:
    """Whether a loop may have too few iterations for all threads to get parts of about the same size. trips: about;
    size: of tiles that it is shared out in."""
    return trips == LARGE_EXTENT or trips / size < _PLENTY * setting.options.machine.cores


def collapsed_loops(setting: Setting, node: isl.ScheduleNode, member: int, trips: int, size: int) -> int:
    """Loops that are shared out together from a parallel member of a band on: two where its own iterations are few, or
    nobody knows how many they are, and the next member carries nothing either. trips, size: as above."""
    if not has_few(setting, trips, size) or member + 1 >= node.band_n_member():
        return 1
    if not node.band_member_get_coincident(member + 1):
        return 1
    copies = private_for(setting, node, member)
    return 2 if set(copies) == set(private_for(setting, node, member + 1)) else 1
