"""Loops that carry nothing but what they read before a later iteration writes there: ``a[j] = f(a[j], a[j + 1])``.

Vector instructions load before they store, so that compilers make vectors of such a loop by themselves, in its order.
Nobody may ask them for that: to `omp simd` no iteration waits for another one. So it is with sums of signed integers in
a cell, which compilers know to wrap around in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import islpy as isl
from msgspec import Struct

from scopt.ir.scop import Scop
from scopt.poly.bands import Ordered, distances, zero
from scopt.poly.isl_utils import sets_of
from scopt.poly.reductions import update_of
from scopt.poly.restructure import united


class CarryingLoop(Struct, frozen=True, eq=False):
    """A loop over a member, of some statements. inner: the pairs of some that it has in one run."""

    scop: Scop
    dependences: Ordered
    inner: Callable[[isl.UnionMap], isl.UnionMap]
    group: Sequence[isl.UnionSet]
    member: isl.UnionPwAff

    def goes_on(self) -> bool:
        """Whether compilers make vectors of it though it carries something."""
        return self.reads_ahead() or self.sums_up()

    def reads_ahead(self) -> bool:
        """Whether it carries nothing else, around one statement without private cells."""
        parts = [one for some in self.group for one in sets_of(some)]
        if self.dependences.waits is None or len(parts) != 1:
            return False
        domain = united(self.group)
        if any(not pairs.intersect_domain(domain).is_empty() for pairs in self.dependences.reuse.values()):
            return False
        return self.carries_none(self.inner(self.dependences.waits)) and parts[0].dim(isl.dim_type.set) > 0

    def sums_up(self) -> bool:
        """Whether it carries nothing but sums of integers, of values that an iteration computes in variables."""
        scop, domain, some = self.scop, united(self.group), False
        if any(scop.arrays[name].rank for name in self.dependences.reuse if name in scop.arrays):
            return False
        rest = self.inner(self.dependences.must)
        for name in (str(part.get_tuple_name()) for one in self.group for part in sets_of(one)):
            update = update_of(scop, scop.statement(name))
            if update is None or not update.own[0].relation.is_single_valued():
                continue  # a histogram's cells are anywhere
            if update.operator == "+" and scop.arrays[update.array].type.integer:
                own = domain.intersect(isl.UnionSet.from_set(scop.statement(name).domain))
                rest, some = rest.subtract(isl.UnionMap.from_domain_and_range(own, own)), True
        return some and self.carries_none(rest)

    def carries_none(self, pairs: isl.UnionMap) -> bool:
        domain = united(self.group)
        return zero(distances(pairs.intersect_domain(domain).intersect_range(domain), self.member))
