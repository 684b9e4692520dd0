"""Loops that carry nothing but what they read before a later iteration writes there: ``a[j] = f(a[j], a[j + 1])``.

Vector instructions load before they store, so that compilers make vectors of such a loop by themselves, in its order.
Nobody may ask them for that: to `omp simd` no iteration waits for another one. So it is with sums of signed integers in
a cell, which compilers know to wrap around in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import islpy as isl

from scopt.ir.scop import Scop
from scopt.poly.bands import Ordered, distances, zero
from scopt.poly.isl_utils import sets_of
from scopt.poly.reductions import update_of
from scopt.poly.restructure import united


def goes_on(
    scop: Scop,
    dependences: Ordered,
    inner: Callable[[isl.UnionMap], isl.UnionMap],
    group: Sequence[isl.UnionSet],
    member: isl.UnionPwAff,
) -> bool:
    """Whether compilers make vectors of a loop over a member that carries something. inner: the pairs of some that its
    loop has in one run."""
    return reads_ahead(dependences, inner, group, member) or sums_up(scop, dependences, inner, group, member)


def reads_ahead(
    dependences: Ordered,
    inner: Callable[[isl.UnionMap], isl.UnionMap],
    group: Sequence[isl.UnionSet],
    member: isl.UnionPwAff,
) -> bool:
    """Whether a member that carries something carries nothing else, around one statement without private cells.
    inner: the pairs of some that its loop has in one run."""
    if dependences.waits is None or len(parts := [one for some in group for one in sets_of(some)]) != 1:
        return False
    domain = united(group)
    if any(not pairs.intersect_domain(domain).is_empty() for pairs in dependences.reuse.values()):
        return False
    pairs = inner(dependences.waits).intersect_domain(domain).intersect_range(domain)
    return zero(distances(pairs, member)) and parts[0].dim(isl.dim_type.set) > 0


def sums_up(
    scop: Scop,
    dependences: Ordered,
    inner: Callable[[isl.UnionMap], isl.UnionMap],
    group: Sequence[isl.UnionSet],
    member: isl.UnionPwAff,
) -> bool:
    """Whether a member that carries something carries nothing but sums of integers, of values that an iteration
    computes in variables. inner: the pairs of some that its loop has in one run."""
    names = [str(part.get_tuple_name()) for some in group for part in sets_of(some)]
    domain, rest, some = united(group), inner(dependences.must), False
    if any(scop.arrays[name].rank for name in dependences.reuse if name in scop.arrays):
        return False
    for name in names:
        update = update_of(scop, scop.statement(name))
        if update is None or not update.own[0].relation.is_single_valued():
            continue  # a histogram's cells are anywhere
        if update.operator == "+" and scop.arrays[update.array].type.integer:
            own = domain.intersect(isl.UnionSet.from_set(scop.statement(name).domain))
            rest, some = rest.subtract(isl.UnionMap.from_domain_and_range(own, own)), True
    rest = rest.intersect_domain(domain).intersect_range(domain)
    return some and zero(distances(rest, member))
