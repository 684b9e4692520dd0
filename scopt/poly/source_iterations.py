"""Pairs of instances by the iterations of the source's loops that they are in.

One form of a region's statements after another asks the same of the same dependences: the answers are kept."""

from __future__ import annotations

import islpy as isl

from scopt.poly.isl_utils import IN, OUT
from scopt.poly.same_object import of_same


@of_same(2048)
def in_one_iteration(pairs: isl.Map, loops: int) -> isl.Map:
    """The pairs in the same iteration of so many outer loops."""
    if loops == 0:
        return pairs
    return in_one_iteration(pairs, loops - 1).equate(IN, loops - 1, OUT, loops - 1)


@of_same(2048)
def is_carried(pairs: isl.Map, loop: int) -> bool:
    """Whether some pairs lead from one iteration of a loop to another one, in one iteration of all loops around it."""
    return not in_one_iteration(pairs, loop).is_subset(in_one_iteration(pairs, loop + 1))
