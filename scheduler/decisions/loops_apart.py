"""Which parts of a band may have innermost loops of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

import islpy as isl

from scopt.poly.bands import Ordered
from scopt.poly.pair_classes import Agreement
from scopt.poly.restructure import distributable, kept_together, topological, topological_inside, united


def loops_apart(
    dependences: Ordered,
    node: isl.ScheduleNode,
    parts: Sequence[isl.UnionSet],
    inside: Agreement,
    inner: Callable[[isl.UnionMap], isl.UnionMap],
    is_free: Callable[[Agreement], bool],
    gaining: bool,
) -> list[list[int]]:
    """Indices into the parts: groups in a legal order, each with a loop of its own.

    inside: what agrees in the loops around; inner: the pairs that do. is_free: whether a loop over what agrees carries
    nothing, so that it may be a vector loop. gaining: what hands on private values has loops of its own only where all
    of these gain.
    """
    order = topological_inside(parts, inside, dependences.must)
    if order is None:  # parts of statements
        order = topological(parts, inner(dependences.must))
    if len(parts) == 1 or distributable(parts, order, dependences, node):
        return order
    # what hands on values in private cells stays in one loop, of several if all of them gain by that
    whole = [list(range(len(parts)))]
    if is_free(inside):
        return whole
    names = list(dependences.ranges) if gaining else [*kept_together(parts, order, dependences, node)]
    both_ways = (inner(dependences.ranges[name]).reverse() for name in names)
    order = topological(parts, reduce(isl.UnionMap.union, both_ways, inner(dependences.must)))
    free = not gaining or all(is_free(inside.within(united([parts[index] for index in indices]))) for indices in order)
    return order if free and distributable(parts, order, dependences, node) else whole
