"""Small loops of constant size inside of others become straight code, so that the loop around is the innermost one.

In ``for i: for j: { s = 0; for p < 3: for q < 3: s += w[p][q] * x[i + p][j + q]; y[i][j] = s; }`` nothing but the sum
of a window keeps j from being a vector loop. Full unrolling leaves each value where it was in its order (Allen and
Kennedy, "Optimizing compilers for modern architectures", 2001, 8.4).
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import islpy as isl
from msgspec import Struct

from scopt.ir.scop import Scop
from scopt.machine import Machine
from scopt.poly.bands import Ordered, with_properties_below
from scopt.poly.isl_utils import sets_of
from scopt.poly.restructure import filters_of, has_inner_bands
from scopt.scheduler.locality.strides import linear_schedule, strides

_TYPE = isl.schedule_node_type
# Instances that straight code may have in the place of loops: what compilers still keep in registers and schedule well.
MOST_INSTANCES = 64


def unroll_loops(scop: Scop, dependences: Ordered, tree: isl.Schedule, machine: Machine) -> isl.Schedule:
    """Unroll what is below each band that has a loop for vectors and nothing but small loops inside."""
    unroller = _Unroller(scop, dependences, machine)
    made = unroller.below(tree.get_root())
    return made.get_schedule() if unroller.done else tree


class _Unroller(Struct, eq=False):
    """done: bands that have been unrolled."""

    scop: Scop
    dependences: Ordered
    machine: Machine
    done: int = 0

    def below(self, node: isl.ScheduleNode) -> isl.ScheduleNode:
        """The node, with all done that is to be done at it and below."""
        if node.get_type() == _TYPE.band and has_inner_bands(node):
            inner = tuple(self.inner_bands(node.child(0)))
            if self.pays(node, inner) and all(self.is_small(one) for one in inner) and self.instances(node, inner):
                self.done += 1
                return with_properties_below(self.scop, self.dependences, self.straight(node.child(0)).parent())
        for position in range(node.n_children()):
            node = self.below(node.child(position)).parent()
        return node

    def inner_bands(self, node: isl.ScheduleNode) -> Iterator[isl.ScheduleNode]:
        if node.get_type() == _TYPE.band:
            yield node
        for position in range(node.n_children()):
            yield from self.inner_bands(node.child(position))

    def pays(self, node: isl.ScheduleNode, inner: tuple[isl.ScheduleNode, ...]) -> bool:
        """Whether a loop of the band may be a vector loop, and none of those inside is one."""
        schedule = linear_schedule(self.scop, node)
        free = [k for k in range(node.band_n_member()) if node.band_member_get_coincident(k)]
        if not any(strides(self.scop, schedule, k).contiguous for k in free):
            return False
        return not any(self.has_vectors(one) for one in inner)

    def has_vectors(self, node: isl.ScheduleNode) -> bool:
        """Whether a loop of a small band is a vector loop as good as any: it carries nothing and fills a vector."""
        schedule = linear_schedule(self.scop, node)
        for member in range(node.band_n_member()):
            if node.band_member_get_coincident(member) and strides(self.scop, schedule, member).contiguous:
                points = _points(node, member)
                if points is not None and len(points) >= self.lanes(node):
                    return True
        return False

    def lanes(self, node: isl.ScheduleNode) -> int:
        names = {str(part.get_tuple_name()) for part in sets_of(node.get_domain())}
        bits = [
            self.scop.arrays[access.array].type.bits
            for one in self.scop.statements
            if one.name in names
            for access in one.accesses
            if self.scop.arrays[access.array].rank
        ]
        return self.machine.lanes(max(bits, default=64) // 8)

    def is_small(self, node: isl.ScheduleNode) -> bool:
        """Whether a band runs through the same few points, whatever the loops around it are at."""
        points = _values(node)
        if points is None:
            return False
        around = node.get_prefix_schedule_relation()
        for part in sets_of(node.get_domain()):
            whole = around.intersect_domain(isl.UnionSet.from_set(part)).range()
            own = isl.UnionMap.from_multi_union_pw_aff(node.band_get_partial_schedule()).intersect_domain(
                isl.UnionSet.from_set(part)
            )
            for point in points:
                there = own.intersect_range(point).domain()
                if not there.is_empty() and not around.intersect_domain(there).range().is_equal(whole):
                    return False
        return True

    def instances(self, node: isl.ScheduleNode, inner: tuple[isl.ScheduleNode, ...]) -> bool:
        """Whether straight code has no more instances than it may."""
        total = 0
        for part in sets_of(node.get_domain()):
            own = isl.UnionSet.from_set(part)
            counts = [len(_values(one, own) or ()) for one in inner if not one.get_domain().is_disjoint(own)]
            total += prod(counts)
        return total <= MOST_INSTANCES

    def straight(self, node: isl.ScheduleNode) -> isl.ScheduleNode:
        """Everything below a node without bands: each point of a band is a child of a sequence."""
        if node.get_type() == _TYPE.band:
            own = isl.UnionMap.from_multi_union_pw_aff(node.band_get_partial_schedule())
            parts = [own.intersect_range(point).domain() for point in _values(node) or ()]
            node = node.delete().insert_sequence(filters_of([part for part in parts if not part.is_empty()]))
        for position in range(node.n_children()):
            node = self.straight(node.child(position)).parent()
        return node


def _values(node: isl.ScheduleNode, domain: isl.UnionSet | None = None) -> list[isl.UnionSet] | None:
    """The points of a band in their order, or those of a part of its instances; None if they are too many, or depend on
    parameters."""
    values = isl.UnionMap.from_multi_union_pw_aff(node.band_get_partial_schedule()).intersect_domain(node.get_domain())
    if domain is not None:
        values = values.intersect_domain(domain)
    return _ordered(isl.Set.from_union_set(values.range()))


def _points(node: isl.ScheduleNode, member: int) -> list[isl.UnionSet] | None:
    own = isl.UnionMap.from_union_pw_aff(node.band_get_partial_schedule().get_at(member))
    return _ordered(isl.Set.from_union_set(own.intersect_domain(node.get_domain()).range()))


def _ordered(points: isl.Set) -> list[isl.UnionSet] | None:
    rest = points.project_out_all_params().coalesce()
    found: list[isl.UnionSet] = []
    if not rest.is_bounded():
        return None
    while not rest.is_empty():
        if len(found) == MOST_INSTANCES:
            return None
        first = rest.lexmin()
        rest = rest.subtract(first)
        found.append(isl.UnionSet.from_set(first))
    return found if all(one.n_set() == 1 for one in found) else None
