"""Loops that carry nothing but what they read before a later iteration writes there: ``a[j] = f(a[j], a[j + 1])``.

Vector instructions load before they store, so that compilers make vectors of such a loop by themselves, in its order.
Nobody may ask them for that: to `omp simd` no iteration waits for another one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import islpy as isl

from scopt.poly.bands import Ordered, distances, zero
from scopt.poly.isl_utils import sets_of
from scopt.poly.restructure import united


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
