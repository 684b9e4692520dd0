"""The scheduler's tree in words: what each dimension computes and carries, why bands end and statements stand apart.

Written for `scopt.tell.explain`. All of it is recomputed from the dependences.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt.ir.scop import Dependence, Dependences, Scop
from scopt.poly.bands import Ordered, active, distances, nonnegative, private_arrays, with_properties, zero
from scopt.poly.counterexamples import counterexample
from scopt.poly.isl_utils import sets_of, union_of_sets
from scopt.poly.restructure import distributable, has_inner_bands, leaf_parts, topological
from scopt.scheduler.locality.strides import linear_schedule, strides
from scopt.tell.member_texts import member_text, statement_names
from scopt.tell.wording import distance_text, kinds_text, some

_TYPE = isl.schedule_node_type
# So many dependences are named in one place; the rest are counted.
MAX_NAMED = 3


def schedule_lines(scop: Scop, deps: Dependences, dependences: Ordered, tree: isl.Schedule) -> list[str]:
    """The scheduler's tree, its bands as the dependences have them."""
    node = with_properties(scop, dependences, tree).get_root().child(0)
    return list(TreeExplainer.of(scop, deps, dependences).lines(node)) or [statement_names(node.get_domain())]


class TreeExplainer(Struct, frozen=True, eq=False):
    """One walk over a tree with computed properties. kept: the dependences that order something, each by itself."""

    scop: Scop
    dependences: Ordered
    kept: tuple[Dependence, ...]

    @staticmethod
    def of(scop: Scop, deps: Dependences, dependences: Ordered) -> TreeExplainer:
        private = {name for name, array in scop.arrays.items() if array.private}
        kept = tuple(
            d for d in deps.strict().select("flow", "anti", "output") if d.kind == "flow" or d.array not in private
        )
        return TreeExplainer(scop, dependences, kept)

    def lines(self, node: isl.ScheduleNode) -> Iterator[str]:
        """The subtree at a node; nothing for a leaf."""
        kind = node.get_type()
        if kind == _TYPE.band:
            yield from self.band(node)
        elif kind in (_TYPE.sequence, _TYPE.set):
            yield from self.sequence(node)
        elif kind != _TYPE.leaf:
            yield from self.lines(node.child(0))

    # --- bands ---

    def band(self, node: isl.ScheduleNode) -> Iterator[str]:
        width, depth = node.band_n_member(), node.get_schedule_depth()
        partial = node.band_get_partial_schedule()
        if node.get_tree_depth() > 0 and node.parent().get_type() == _TYPE.band:
            yield from self.border(node.parent(), partial.get_at(0))
        if width > 1:
            yield f"permutable band of {width}: these dimensions can be interchanged and tiled"
        for position in range(width):
            short, more = self.properties(node, position)
            yield f"d{depth + position} = {member_text(self.scop, partial.get_at(position))}  [{'; '.join(short)}]"
            yield from (f"    {line}" for line in more)
        yield from self.lines(node.child(0))

    def properties(self, node: isl.ScheduleNode, position: int) -> tuple[list[str], list[str]]:
        """In short: parallel or not, whether it could be the vector loop;
        and in lines of their own: why it isn't parallel."""
        member = node.band_get_partial_schedule().get_at(position)
        more: list[str] = []
        if node.band_member_get_coincident(position):
            copies = private_arrays(node, member, self.dependences) or ()
            short = ["parallel" + (f" with private copies of {', '.join(copies)}" if copies else "")]
        else:
            short, more = ["sequential"], list(self.carried(node, member))
            if position and self.carries_nothing_inside(node, position):
                short.append("parallel inside the dimensions above")
        if not has_inner_bands(node) and (text := self.vector(node, position)):
            short.append(text)
        return short, more

    def carried(self, node: isl.ScheduleNode, member: isl.UnionPwAff) -> Iterator[str]:
        """The dependences that a dimension carries, and an example."""
        found = []
        for dependence in self.kept:
            pairs = active(isl.UnionMap.from_map(dependence.relation), node)
            if not zero(distances(pairs, member)):
                same = pairs.eq_at_multi_union_pw_aff(isl.MultiUnionPwAff.from_union_pw_aff(member))
                found.append(
                    _Pairs(
                        dependence,
                        pairs.subtract(same),
                        f"distance {distance_text(distances(pairs.subtract(same), member))}",
                    )
                )
        if found:
            yield f"carries {_named(found)}"
            yield f"e.g. {found[0].example(self.scop)}"
            return
        alone = (
            replace(self.dependences, ranges={k: v}, reuse={k: self.dependences.reuse[k]})
            for k, v in self.dependences.ranges.items()
        )
        crossing = [name for one in alone for name in one.ranges if private_arrays(node, member, one) is None]
        yield (
            f"values of private {', '.join(crossing)} come from outside of this loop or "
            f"are used outside of it, so that copies won't do"
        )

    def carries_nothing_inside(self, node: isl.ScheduleNode, position: int) -> bool:
        """Whether a member has only distances of zero, also over private cells,
        once the band's members above it are fixed."""
        partial = node.band_get_partial_schedule()
        pairs = [self.dependences.must, *self.dependences.reuse.values()]
        return all(
            zero(distances(_fixed(active(each, node), partial, range(position)), partial.get_at(position)))
            for each in pairs
        )

    def vector(self, node: isl.ScheduleNode, position: int) -> str:
        """Whether the dimension could be the innermost, vectorized loop, of all statements or of some; empty if its
        dependences forbid it."""
        parts = leaf_parts(node.child(0)) or [node.get_domain()]
        whole = node.get_domain()
        groups, apart = [whole], ""
        if not self.lanes_free(node, position, whole):
            order = topological(parts, self.inner(self.dependences.must, node, position))
            if not distributable(parts, order, self.dependences, node):
                return ""
            groups, apart = (
                [union_of_sets(s for part in group for s in sets_of(parts[part])) for group in order],
                " once distributed",
            )
        free = [group for group in groups if self.lanes_free(node, position, group)]
        if not free:
            return ""
        lanes = strides(self.scop, linear_schedule(self.scop, node), position)
        jumps = lanes.other_reads + lanes.other_writes
        if lanes.contiguous:
            which = f" for {', '.join(statement_names(group) for group in free)}" if len(free) < len(groups) else ""
            return f"vectorizable innermost{which}{apart}, stride 1" + (
                f", but {some(jumps, 'access')} with a larger one" if jumps else ""
            )
        return f"no vector loop: {some(jumps, 'access')} with a stride larger than 1" if jumps and not apart else ""

    def inner(self, pairs: isl.UnionMap, node: isl.ScheduleNode, position: int) -> isl.UnionMap:
        """The pairs that are left for one member of a band if it goes innermost."""
        others = [k for k in range(node.band_n_member()) if k != position]
        return _fixed(active(pairs, node), node.band_get_partial_schedule(), others)

    def lanes_free(self, node: isl.ScheduleNode, position: int, domain: isl.UnionSet) -> bool:
        """Whether a vector loop over a member, with some statements in it,
        carries nothing, each lane with private copies."""
        member = node.band_get_partial_schedule().get_at(position)

        def carried(pairs: isl.UnionMap) -> bool:
            return not zero(
                distances(self.inner(pairs.intersect_domain(domain).intersect_range(domain), node, position), member)
            )

        if carried(self.dependences.shared) or any(carried(ranges) for ranges in self.dependences.ranges.values()):
            return False
        for name, ranges in self.dependences.ranges.items():
            crossing = (
                ranges.intersect_domain(domain)
                .subtract_range(domain)
                .union(ranges.intersect_range(domain).subtract_domain(domain))
            )
            if not crossing.is_empty() and carried(self.dependences.reuse[name]):
                return False
        return True

    def border(self, above: isl.ScheduleNode, member: isl.UnionPwAff) -> Iterator[str]:
        """Why a band's first member doesn't belong to the band right above it."""
        found = []
        for dependence in self.kept:
            pairs = active(isl.UnionMap.from_map(dependence.relation), above)
            if not nonnegative(distances(pairs, member)):
                found.append(
                    _Pairs(dependence, _backwards(pairs, member), f"distance {distance_text(distances(pairs, member))}")
                )
        if found:
            yield (
                f"the band ends here: the next dimension is not permutable with the one "
                f"above, it would run {_named(found)} backwards"
            )
            yield f"    e.g. {found[0].example(self.scop)}"
            return
        private = [
            name
            for name, pairs in self.dependences.reuse.items()
            if not nonnegative(distances(active(pairs, above), member))
        ]
        if private:
            yield (
                f"the band ends here: interchanged with the next dimension, uses of "
                f"private {', '.join(private)} could overlap"
            )
        else:
            yield "the scheduler ends its band here; no dependence asks for it"

    # --- sequences ---

    def sequence(self, node: isl.ScheduleNode) -> Iterator[str]:
        """The children in order, each with what puts it after earlier ones,
        and whether it could share the loop of the one before."""
        parts = [node.child(k) for k in range(node.n_children())]
        free = node.get_type() == _TYPE.set
        yield "in any order:" if free else "in this order:"
        for position, part in enumerate(parts):
            yield f"{position + 1}. {statement_names(part.child(0).get_domain())}"
            if not free:
                yield from (f"     {line}" for line in self.apart(node, parts[:position], part))
            yield from (f"     {line}" for line in self.lines(part.child(0)))

    def apart(
        self, node: isl.ScheduleNode, earlier: Sequence[isl.ScheduleNode], part: isl.ScheduleNode
    ) -> Iterator[str]:
        after: dict[int, list[_Pairs]] = {}
        for number, other in enumerate(earlier):
            for dependence in self.kept:
                pairs = isl.UnionMap.from_map(dependence.relation).intersect_domain(other.child(0).get_domain())
                pairs = pairs.intersect_range(part.child(0).get_domain())
                if not (pairs := active(pairs, node)).is_empty():
                    after.setdefault(number, []).append(_Pairs(dependence, pairs, ""))
        if after:
            yield from (f"after {number + 1}: {_named(found)}" for number, found in after.items())
        elif earlier:
            reused = [
                name for name, pairs in self.dependences.reuse.items() if self.touch(active(pairs, node), earlier, part)
            ]
            within = " within one iteration of the dimensions above" if node.get_schedule_depth() else ""
            yield f"no dependence on the ones before{within}" + (
                f", only uses of private {', '.join(reused)} that may not overlap" if reused else ""
            )
        if earlier:
            yield from self.fusable(node, earlier[-1], part, after.get(len(earlier) - 1, []))

    def touch(self, pairs: isl.UnionMap, earlier: Sequence[isl.ScheduleNode], part: isl.ScheduleNode) -> bool:
        """Whether some pairs connect a part of a sequence with earlier ones, in either direction."""
        domain = part.child(0).get_domain()
        others = union_of_sets(s for other in earlier for s in sets_of(other.child(0).get_domain()))
        forth, back = (
            pairs.intersect_domain(others).intersect_range(domain),
            pairs.intersect_domain(domain).intersect_range(others),
        )
        return not (forth.is_empty() and back.is_empty())

    def fusable(
        self, node: isl.ScheduleNode, first: isl.ScheduleNode, second: isl.ScheduleNode, between: Sequence[_Pairs]
    ) -> Iterator[str]:
        """What one loop over the first dimensions of two neighbours, as they are,
        would do to the dependences between them."""
        bands = [part.child(0) for part in (first, second)]
        if any(band.get_type() != _TYPE.band for band in bands):
            return
        one, other = (band.band_get_partial_schedule().get_at(0) for band in bands)
        member = one.union_add(other)
        reversed_ = [
            _Pairs(p.dependence, _backwards(p.pairs, member), "")
            for p in between
            if not nonnegative(distances(p.pairs, member))
        ]
        if reversed_:
            yield (
                f"not fused with the one before: one loop over both outermost dimensions "
                f"would run {_named(reversed_)} backwards"
            )
            yield f"    e.g. {reversed_[0].example(self.scop)}"
        elif all(nonnegative(distances(active(pairs, node), member)) for pairs in self.dependences.reuse.values()):
            yield "could share the outermost loop of the one before; the scheduler kept them apart"


class _Pairs(Struct, frozen=True, eq=False):
    """Some pairs of a dependence. note: what is to be said about them, empty for nothing."""

    dependence: Dependence
    pairs: isl.UnionMap
    note: str

    def example(self, scop: Scop) -> str:
        return counterexample(scop, self.dependence.array, self.dependence.kind, self.pairs)


def _named(found: Sequence[_Pairs]) -> str:
    """Dependences by kind, array and statements; what only differs in the kind or the sink is said at once."""
    kinds: dict[tuple[str, str, str, str], set[str]] = {}
    for item in found:
        key = (item.dependence.array, item.dependence.source, item.dependence.sink, item.note)
        kinds.setdefault(key, set()).add(item.dependence.kind)
    sinks: dict[tuple[str, str, str], list[str]] = {}
    for (array, source, sink, note), names in kinds.items():
        sinks.setdefault((f"{kinds_text(names, '/')} {array}", source, note), []).append(sink)
    texts = [
        f"{what} {source} → {', '.join(ends)}" + (f" ({note})" if note else "")
        for (what, source, note), ends in sinks.items()
    ]
    more = f" and {len(texts) - MAX_NAMED} more" if len(texts) > MAX_NAMED else ""
    return "; ".join(texts[:MAX_NAMED]) + more


def _fixed(pairs: isl.UnionMap, partial: isl.MultiUnionPwAff, positions: Sequence[int]) -> isl.UnionMap:
    """Those pairs that agree in some members of a band."""
    for position in positions:
        if not pairs.is_empty():
            pairs = pairs.eq_at_multi_union_pw_aff(isl.MultiUnionPwAff.from_union_pw_aff(partial.get_at(position)))
    return pairs


def _backwards(pairs: isl.UnionMap, member: isl.UnionPwAff) -> isl.UnionMap:
    """The pairs whose sink comes before their source in one dimension."""
    dates = isl.UnionMap.from_union_pw_aff(member)
    return pairs.intersect(dates.lex_gt_union_map(dates))
