"""Index-set splitting: a loop that carries dependences only from or to one iteration becomes the loop before it, it,
and the loop after it.

In ``for j: p[i][j] = f(p[i][j], p[i][k])`` all that is carried leads to or from j = k. What comes before and what comes
after carries nothing, and may be a parallel or a vector loop (Griebl, Feautrier and Lengauer, "Index set splitting",
IJPP 28(6), 2000).
"""

from __future__ import annotations

from collections.abc import Callable

import islpy as isl
from msgspec import Struct

from scopt import ir
from scopt.ir.scop import Scop
from scopt.poly.bands import Ordered, active, agreeing_at, band_nodes, distances, with_properties_below, zero
from scopt.poly.isl_utils import joined, maps_of, sets_of
from scopt.poly.lookups import GATHERED
from scopt.poly.restructure import filters_of, has_inner_bands, reordered
from scopt.scheduler.decisions.small_loops import span
from scopt.scheduler.locality.strides import linear_schedule, strides

_BAND = isl.schedule_node_type.band
# Pairs in more pieces than this aren't looked at: each would be a loop to tell apart.
_MOST_PIECES = 24
# Iterations up to which a loop around others has no parts worth it (chosen).
_FEW = 8


def split_loops(
    scop: Scop, dependences: Ordered, tree: isl.Schedule, lacks_vectors: Callable[[isl.ScheduleNode], bool]
) -> isl.Schedule:
    """Split loops of the leaf bands where that alone makes one parallel or a vector loop, and loops around others where
    it makes one parallel and nothing around is.

    lacks_vectors: whether a leaf band would have no vector loop as it is.
    """
    splitter = _Splitter(scop, dependences, lacks_vectors)

    def descend(node: isl.ScheduleNode, parallel: bool) -> isl.ScheduleNode:
        if node.get_type() == _BAND and not has_inner_bands(node):
            return splitter.leaf_band(node, parallel)
        if node.get_type() == _BAND:
            free = any(node.band_member_get_coincident(k) for k in range(node.band_n_member()))
            parts = None if parallel or free else splitter.outer_parts(node)
            if parts:
                node = splitter.split_loops_around(node, parts)
            parallel = parallel or free
        for position in range(node.n_children()):
            node = descend(node.child(position), parallel).parent()
        return node

    # filters may not bring in parameters that the domain at the root doesn't have
    every = isl.Set(f"[{', '.join(parameter.name for parameter in scop.parameters)}] -> {{ : }}")
    split = descend(tree.align_params(every.get_space()).get_root(), False).get_schedule()
    return tree if len(band_nodes(split)) == len(band_nodes(tree)) else split


class _Splitter(Struct, frozen=True, eq=False):
    scop: Scop
    dependences: Ordered
    lacks_vectors: Callable[[isl.ScheduleNode], bool]

    def leaf_band(self, node: isl.ScheduleNode, parallel: bool) -> isl.ScheduleNode:
        """The band, or what has taken its place. parallel: a loop around is, so that only vectors are lacking."""
        members = range(node.band_n_member())
        if not node.band_get_permutable() or not self.lacks_vectors(node):
            return node
        if parallel and self.masks_narrow_stores(node):
            return node
        if not any(node.band_member_get_coincident(k) for k in members):
            for member in members:
                parts = self.parts(node, member, 0)
                if parts:
                    return self.split_around(node, parts)
        return self.split_vector_loop(node)

    def outer_parts(self, node: isl.ScheduleNode) -> list[isl.UnionSet] | None:
        """The parts of a loop around others that is parallel but for one iteration: ``for i { w = p[i]; for j }``.
        None of a few iterations, each of which would be a part."""
        if node.band_n_member() > 1:
            return None
        member = node.band_get_partial_schedule().get_at(0).intersect_domain(node.get_domain())
        counts = [span(one, 0) for one in sets_of(isl.UnionMap.from_union_pw_aff(member).range())]
        return None if any(count is not None and count <= _FEW for count in counts) else self.parts(node, 0, 0)

    def split_loops_around(self, node: isl.ScheduleNode, parts: list[isl.UnionSet]) -> isl.ScheduleNode:
        """A copy of a loop, with all inside, for each part."""
        return with_properties_below(self.scop, self.dependences, node.insert_sequence(filters_of(parts)))

    def split_around(self, node: isl.ScheduleNode, parts: list[isl.UnionSet]) -> isl.ScheduleNode:
        """A copy of the band for each part, each looked at anew."""
        node = node.insert_sequence(filters_of(parts))
        for position in range(node.n_children()):
            child = with_properties_below(self.scop, self.dependences, node.child(position).child(0))
            if child.get_type() == _BAND and not has_inner_bands(child):
                child = self.split_vector_loop(child)
            node = child.parent().parent()
        return node

    def split_vector_loop(self, node: isl.ScheduleNode) -> isl.ScheduleNode:
        """The member that walks through memory best as loops of their own inside of the others, if it alone is in the
        way of vectors."""
        schedule, width = linear_schedule(self.scop, node), node.band_n_member()
        walks = [strides(self.scop, schedule, k) for k in range(width)]
        best = max(range(width), key=lambda k: (walks[k].score(), k))
        if not walks[best].contiguous or node.band_member_get_coincident(best) or not self.lacks_vectors(node):
            return node
        if self.masks_narrow_stores(node):
            return node
        inner = reordered(node, [*(k for k in range(width) if k != best), best])
        parts = self.parts(inner, width - 1, width - 1)
        if not parts:
            return node
        if width > 1:
            inner = inner.band_split(width - 1).child(0)
        partial = inner.band_get_partial_schedule()
        inner = inner.cut() if inner.child(0).get_type() == isl.schedule_node_type.leaf else inner
        inner = inner.insert_sequence(filters_of(parts))
        if inner.child(0).child(0).get_type() != _BAND:
            for position, part in enumerate(parts):
                inner = (
                    inner.child(position)
                    .child(0)
                    .insert_partial_schedule(partial.intersect_domain(part))
                    .parent()
                    .parent()
                )
        top = inner.parent() if width > 1 else inner
        return with_properties_below(self.scop, self.dependences, top)

    def masks_narrow_stores(self, node: isl.ScheduleNode) -> bool:
        """Whether a band's statements have stores below conditions that few processors have masks for."""
        names = [str(part.get_tuple_name()) for part in sets_of(node.get_domain())]
        return any(_masks_narrow_stores(self.scop, name) for name in names)

    def parts(self, node: isl.ScheduleNode, member: int, outer: int) -> list[isl.UnionSet] | None:
        """The instances before, at and after the one iteration of a member that all it carries leads from or to; None
        without such an iteration.

        outer: how many of the band's first members stand outside of the loop that is split.
        """
        partial = node.band_get_partial_schedule()
        value = isl.UnionMap.from_union_pw_aff(partial.get_at(member))
        around = _prefix(node, [partial.get_at(k) for k in range(outer)])
        pairs = self.dependences.must
        place = agreeing_at(node, self.dependences)
        for name, some in self.dependences.reuse.items():
            if not place.moves(self.dependences.ranges[name], partial.get_at(member)).zero:
                pairs = pairs.union(some)  # else iterations have copies of their own
        pairs = active(pairs, node)
        for k in range(outer):
            pairs = pairs.eq_at_multi_union_pw_aff(joined([partial.get_at(k)]))
        iteration = _iteration(pairs, value, around)
        if iteration is None:
            return None
        domain = node.get_domain()
        at = around.apply_range(iteration).intersect(value).domain()
        before = (
            around.apply_range(iteration.apply_range(isl.UnionMap("{ [d] -> [e] : e < d }"))).intersect(value).domain()
        )
        found = [part.intersect(domain).coalesce() for part in (before, at, domain.subtract(before).subtract(at))]
        legal = all(
            zero(distances(pairs.intersect_domain(part).intersect_range(part), partial.get_at(member)))
            for part in found
        )
        return [part for part in found if not part.is_empty()] if legal else None


def _masks_narrow_stores(scop: Scop, name: str) -> bool:
    """Whether a statement stores several cells below a condition, narrow ones among them: few processors have masks for
    these. (One cell may be a choice.)"""
    statement = scop.statement(name)
    written = [access for access in statement.accesses if access.is_write and scop.arrays[access.array].rank]
    narrow = any(0 < scop.arrays[access.array].type.bits < GATHERED for access in written)
    return narrow and len(written) > 1 and isinstance(statement.body, ir.If)


def _prefix(node: isl.ScheduleNode, members: list[isl.UnionPwAff]) -> isl.UnionMap:
    """The instances' values in all that stands outside of a loop: ``{ S[…] -> [outer…] }``."""
    around = node.get_prefix_schedule_union_map().intersect_domain(node.get_domain())
    for member in members:
        around = around.flat_range_product(isl.UnionMap.from_union_pw_aff(member))
    return around


def _iteration(pairs: isl.UnionMap, value: isl.UnionMap, around: isl.UnionMap) -> isl.UnionMap | None:
    """``{ [outer…] -> [d] }``: the one iteration that each carried pair has an end in; None if there is none, or
    nothing is carried."""
    found = isl.UnionMap("{ }")
    count = 0
    for space in maps_of(pairs):
        for piece in space.get_basic_maps():
            pair = isl.UnionMap.from_basic_map(piece)
            apart = pair.apply_domain(value).apply_range(value).deltas()
            if apart.is_empty() or zero(isl.Set.from_union_set(apart)):  # empty: an end that no iteration has
                continue
            count += 1
            ends = (around.intersect_domain(end).reverse().apply_range(value) for end in (pair.domain(), pair.range()))
            single = next((end for end in ends if end.is_single_valued()), None)
            if single is None or count > _MOST_PIECES:
                return None
            found = found.union(single)
            if not found.is_single_valued():
                return None
    if not count:
        return None
    # where nothing is carried, any iteration will do, as long as it is one: the plain function makes the plainest loops
    found = found.coalesce()
    plain = found.gist_domain(found.domain())
    return plain if plain.intersect_domain(around.range()).is_single_valued() else found
