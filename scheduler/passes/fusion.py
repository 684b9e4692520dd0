"""Fusion of neighbouring loops that gain nothing by standing apart.

The scheduler separates statements as far as their dependences allow. That pays where a loop becomes vectorizable, or
gets another innermost loop. Where it doesn't, running the loops together keeps data in the cache and lets independent
chains of operations overlap.
"""

from __future__ import annotations

from collections.abc import Callable

import islpy as isl

from scopt.ir.scop import Access, Scop
from scopt.machine.costs import MOST_STEP
from scopt.poly.bands import Ordered, distances, functions_of, nonnegative
from scopt.poly.first_best import is_first_best
from scopt.poly.isl_utils import OUT, maps_of, sets_of
from scopt.poly.linear import subscript_rows
from scopt.poly.pair_classes import Agreement
from scopt.poly.source_loops import source_loops
from scopt.poly.trees import Band, Leaf, Sequence, Tree, build, domain_of, first_member, has_bands, read
from scopt.scheduler.decisions.items import is_in_item

# How far apart the dates of accesses to a cell may be, for the cache to keep it in between: stencils' neighbours.
_NEAR = 2
# Tells of a leaf band whether it should stay a nest of its own, given the tree that it is in and its node there.
KeepsApart = Callable[[isl.ScheduleNode], bool]
# Tells of two bands whether one loop around both should not be.
Spoils = Callable[[isl.ScheduleNode, isl.ScheduleNode], bool]
# The same of two innermost ones, given whether the loop around them carries nothing.
Slows = Callable[[isl.ScheduleNode, isl.ScheduleNode, bool], bool]
# Tells of two bands, and of one in their place, whether threads that share one of the two gain more than that one does.
Shares = Callable[[isl.ScheduleNode, isl.ScheduleNode, isl.ScheduleNode], bool]
# The same of whether it would take strips of rows from one of the two, given whether both carry nothing.
Strips = Callable[[isl.ScheduleNode, isl.ScheduleNode, isl.ScheduleNode, bool], bool]


def fuse_loops(
    scop: Scop,
    dependences: Ordered,
    tree: isl.Schedule,
    keeps_apart: KeepsApart,
    streams: KeepsApart,
    strips: Strips = lambda _first, _second, _both, _free: False,
    spoils: Spoils = lambda _first, _second: False,
    slows: Slows = lambda _first, _second, _beside: False,
    shares: Shares = lambda _first, _second, _both: False,
) -> isl.Schedule:
    """Fuse neighbours in sequences: parallel loops where the result is parallel, sequential ones where it is legal.

    streams: whether a nest runs along rows, one after the other, so that it is no worse beside others that share a
    parallel loop over the rows with it in the source. strips: whether a nest with loops inside would no longer run in
    strips of rows, or by another member than its first one. spoils: whether two parallel loops would be a worse
    vector loop together. slows: whether a vector loop loses by running in order with another loop; given whether the
    rows around may run beside each other. shares: whether threads lose more by a loop in order around both than it
    gains. Flags of the result have to be recomputed.
    """
    fusion = Fusion(scop, dependences, keeps_apart, streams, strips, spoils, slows, shares)
    return build(fusion.visit(read(tree.get_root()), None))


class Fusion:
    """What neighbours may become; `keeps_apart`: what they shouldn't."""

    def __init__(
        self,
        scop: Scop,
        dependences: Ordered,
        keeps_apart: KeepsApart,
        streams: KeepsApart = lambda _node: False,
        strips: Strips = lambda _first, _second, _both, _free: False,
        spoils: Spoils = lambda _first, _second: False,
        slows: Slows = lambda _first, _second, _beside: False,
        shares: Shares = lambda _first, _second, _both: False,
    ) -> None:
        self.scop, self.dependences = scop, dependences
        self.keeps_apart, self.streams, self.strips, self.spoils = keeps_apart, streams, strips, spoils
        self.slows, self.shares = slows, shares
        self.loops = source_loops(scop)
        # The loops around what is visited: their instances, and the dimensions outside of the last member.
        self.around: list[tuple[isl.UnionSet, isl.MultiUnionPwAff | None]] = []
        # By access and the number of its statement's dates.
        self.rows: dict[tuple[str, int, int], tuple[tuple[str, bool], isl.UnionMap]] = {}
        # Neighbours that stay two loops, by their `id`.
        self.refused: dict[tuple[int, int], tuple[Tree, Tree]] = {}

    def visit(self, tree: Tree, prefix: isl.MultiUnionPwAff | None) -> Tree:
        """Fuse below; prefix: the schedule dimensions outside."""
        match tree:
            case Leaf():
                return tree
            case Band(partial, body):
                inside = (
                    partial if prefix is None else prefix.intersect_domain(domain_of(tree)).flat_range_product(partial)
                )
                # of a band of several members, the others are around the last one
                self.around.append((domain_of(tree), inside.drop_dims(OUT, int(inside.dim(OUT)) - 1, 1)))
                inner = self.visit(body, inside)
                self.around.pop()
                if isinstance(body, Sequence) and isinstance(inner, Band):
                    # the loops inside were fused, too: one band, as far as it is permutable, can be tiled
                    return Band(partial.flat_range_product(inner.partial), inner.body)
                return Band(partial, inner)
            case Sequence(parts):
                fused = list(parts)
                # What was fused may share data with a neighbour that its parts shared none with.
                while len(shorter := self.once(fused, prefix)) < len(fused):
                    fused = shorter
                done = [self.visit(part, prefix) for part in fused]
                return done[0] if len(done) == 1 else Sequence(tuple(done))

    def once(self, parts: list[Tree], prefix: isl.MultiUnionPwAff | None) -> list[Tree]:
        """Fuse neighbours from the first to the last."""
        fused: list[Tree] = []
        for part in parts:
            fused = self.joined(fused, part, prefix) or [*fused, part]
        return fused

    def joined(self, parts: list[Tree], last: Tree, prefix: isl.MultiUnionPwAff | None) -> list[Tree] | None:
        """The parts with the last one fused with the loop before it; None where that is illegal or no gain. Statements
        that stand between the two go before or behind both."""
        position = next((k for k in reversed(range(len(parts))) if not isinstance(parts[k], Leaf)), None)
        if position is None or not isinstance(last, Band):
            return None
        first, before, behind = parts[position], list[Tree](), list[Tree]()
        asked = id(first), id(last)
        together = None if asked in self.refused else self.together(first, last, prefix)
        if together is None:
            self.refused[asked] = first, last
            return None
        for leaf in parts[position + 1 :]:
            if all(self.independent(one, leaf, prefix) for one in (first, *behind)):
                before.append(leaf)
            elif self.independent(leaf, last, prefix):
                behind.append(leaf)
            else:
                return None
        return [*parts[:position], *before, together, *behind]

    def independent(self, first: Tree, second: Tree, prefix: isl.MultiUnionPwAff | None) -> bool:
        """Whether two parts may change places."""
        own, other = domain_of(first), domain_of(second)
        found = self.between(own, other)
        ways = ((own, other), (other, own))
        pairs = (some.intersect_domain(source).intersect_range(sink) for some in found for source, sink in ways)
        return all(self.inside(some, own.union(other), prefix).is_empty() for some in pairs)

    def together(self, first: Tree, second: Tree, prefix: isl.MultiUnionPwAff | None) -> Tree | None:
        """Two neighbours as one loop around a sequence; None where that is illegal or no gain."""
        if not isinstance(first, Band) or not isinstance(second, Band):
            return None
        left, left_rest = first_member(first)
        right, right_rest = first_member(second)
        if not self.share_data(left, right):
            return None
        alone = [one for one in (first, second) if self.is_leaf(one) and self.keeps_apart(self.node(one, prefix))]
        rows = alone and self.share_rows(first, second, prefix)
        if alone and not (rows and all(self.streams(self.node(one, prefix)) for one in alone)):
            return None
        member = left.union_add(right)
        domain = domain_of(first).union(domain_of(second))
        if is_in_item(self.scop, domain, 0 if prefix is None else int(prefix.dim(OUT))):
            return None
        free = [self.carries_nothing(*one, prefix) for one in ((left, domain_of(first)), (right, domain_of(second)))]
        was_parallel = all(free)
        around = any(one and has_bands(rest) for one, rest in zip(free, (left_rest, right_rest), strict=True))
        if (around or rows) and not was_parallel:
            return None  # what runs inside of a parallel loop would run in order
        if prefix is not None and any(free) and not was_parallel and self.searches_alone(first, second):
            return None
        if prefix is not None and any(free) and not was_parallel and self.in_order_is_slow(first, second, prefix):
            return None
        if was_parallel and self.spoils(self.node(first, prefix), self.node(second, prefix)):
            return None
        if not was_parallel and self.loses_sums(((left, left_rest, first), (right, right_rest, second)), prefix):
            return None
        legal = (
            self.carries_nothing(member, domain, prefix)
            if was_parallel
            else self.carries_forward(member, domain, prefix)
        )
        if not legal:
            return None
        parts = (*_parts(left_rest), *_parts(right_rest))
        made = Band(isl.MultiUnionPwAff.from_union_pw_aff(member), Sequence(parts))
        nodes = [self.node(one, prefix) for one in (first, second, made)]
        if self.strips(nodes[0], nodes[1], nodes[2], was_parallel):
            return None
        return None if free[0] != free[1] and self.threads_lose(first, second, made, prefix) else made

    def threads_lose(self, first: Band, second: Band, made: Band, prefix: isl.MultiUnionPwAff | None) -> bool:
        """Whether one of two innermost loops, of which threads can share the other one, would take more from them than
        it gains beside it. Where a loop around is shared, they have that."""
        if not (self.is_leaf(first) and self.is_leaf(second)):
            return False
        for whole, outside in self.around:
            assert prefix is not None  # of loops around
            last = prefix.get_at(0 if outside is None else int(outside.dim(OUT)))
            if self.carries_nothing(last.intersect_domain(whole), whole, outside):
                return False
        return self.shares(*(self.node(one, prefix) for one in (first, second, made)))

    def searches_alone(self, first: Band, second: Band) -> bool:
        """Whether one of two innermost loops looks for an extremum of floating-point numbers, which is done in blocks,
        as vectors, where nothing else is in the loop."""
        if not (self.is_leaf(first) and self.is_leaf(second)):
            return False
        names = [{str(part.get_tuple_name()) for part in sets_of(domain_of(one))} for one in (first, second)]
        looking = [
            any(is_first_best(self.scop, one) for one in self.scop.statements if one.name in some) for some in names
        ]
        return looking[0] != looking[1]

    def in_order_is_slow(self, first: Band, second: Band, prefix: isl.MultiUnionPwAff) -> bool:
        """Whether an innermost loop loses more than it gains by running in order beside another one."""
        if not (self.is_leaf(first) and self.is_leaf(second)):
            return False
        whole, outer = self.around[-1]
        last = prefix.get_at(int(prefix.dim(OUT)) - 1).intersect_domain(whole)
        beside = self.carries_nothing(last, whole, outer)
        return self.slows(self.node(first, prefix), self.node(second, prefix), beside)

    def loses_sums(
        self,
        both: tuple[tuple[isl.UnionPwAff, Tree, Band], tuple[isl.UnionPwAff, Tree, Band]],
        prefix: isl.MultiUnionPwAff | None,
    ) -> bool:
        """Whether one of two loops with loops inside could run in parallel, with sums in any order, and both together
        couldn't. both: first member, what is inside of it, and the band."""
        relaxed = self.dependences.relaxed
        if relaxed is None:
            return False
        around = any(
            has_bands(rest) and self.carries_nothing(member, domain_of(band), prefix, relaxed)
            for member, rest, band in both
        )
        domain = domain_of(both[0][2]).union(domain_of(both[1][2]))
        return around and not self.carries_nothing(both[0][0].union_add(both[1][0]), domain, prefix, relaxed)

    def share_data(self, left: isl.UnionPwAff, right: isl.UnionPwAff) -> bool:
        """Whether iterations of two loops with about the same dates access the same rows of some array, or members of
        the same structures, which share cache lines. An iteration that takes a row as a whole has little to do with one
        that takes a cell of every row."""
        sides = [self.accessed(isl.UnionMap.from_union_pw_aff(one)) for one in (left, right)]
        for (name, along), cells in sides[0].items():
            others = sides[1].get((name, along))
            if others is not None and (name not in self.scop.arrays or _meet(cells, others)):
                return True
        return False

    def accessed(self, dates: isl.UnionMap) -> dict[tuple[str, bool], isl.UnionMap]:
        """``{ [date] -> A[row] }`` by array, or structure, with an access in a loop; of vectors, the cells, or
        records of so many cells as an access steps by. Those by which dates walk along all rows are apart."""
        own = {str(one.get_tuple_name(isl.dim_type.in_)): one for one in maps_of(dates)}
        found: dict[tuple[str, bool], isl.UnionMap] = {}
        for statement in self.scop.statements:
            if statement.name not in own:
                continue
            number = self.dependences.classes.number(own[statement.name])
            for position, access in enumerate(statement.accesses):
                asked = statement.name, position, number
                if asked not in self.rows:
                    self.rows[asked] = self.accessed_rows(access, isl.UnionMap.from_map(own[statement.name]))
                key, cells = self.rows[asked]
                found[key] = found[key].union(cells) if key in found else cells
        return found

    def accessed_rows(self, access: Access, dates: isl.UnionMap) -> tuple[tuple[str, bool], isl.UnionMap]:
        """What `accessed` has of one access, for the dates of its statement."""
        within = self.scop.arrays[access.array].within
        rows, last = access.relation, access.relation.dim(OUT) - 1
        if last > 0:
            rows = rows.project_out(OUT, last, 1).set_tuple_name(OUT, access.array)
        elif last == 0:
            rows = _records(rows)
        cells = _dated(dates, rows)
        along = last > 0 and not within and not _is_told(cells) and _is_told(_dated(dates, access.relation))
        return (within or access.array, along), cells

    def is_leaf(self, band: Band) -> bool:
        """Whether a nest has no bands in sequences inside: such a one may be better off alone."""
        parts = band.body.parts if isinstance(band.body, Sequence) else (band.body,)
        return all(isinstance(part, Leaf) for part in parts)

    def node(self, band: Band, prefix: isl.MultiUnionPwAff | None) -> isl.ScheduleNode:
        """A band's node in a tree of its own."""
        whole: Tree = band if prefix is None else Band(prefix.intersect_domain(domain_of(band)), band)
        node = build(whole).get_root().child(0)
        return node if prefix is None else node.child(0)

    def share_rows(self, first: Band, second: Band, prefix: isl.MultiUnionPwAff | None) -> bool:
        """Whether all statements of two nests are inside of one more loop of the source than the outer dimensions."""
        depth = 0 if prefix is None else prefix.dim(isl.dim_type.out)
        names = [str(part.get_tuple_name()) for one in (first, second) for part in sets_of(domain_of(one))]
        around = {self.loops[name][: depth + 1] for name in names}
        return len(around) == 1 and all(len(loops) == depth + 1 for loops in around)

    def inside(self, pairs: isl.UnionMap, domain: isl.UnionSet, prefix: isl.MultiUnionPwAff | None) -> isl.UnionMap:
        """The pairs within a domain that the outer dimensions don't order."""
        found = pairs.intersect_domain(domain).intersect_range(domain)
        return found if prefix is None or found.is_empty() else found.eq_at_multi_union_pw_aff(prefix)

    def carries_nothing(
        self,
        member: isl.UnionPwAff,
        domain: isl.UnionSet,
        prefix: isl.MultiUnionPwAff | None,
        dependences: Ordered | None = None,
    ) -> bool:
        """Whether a loop over `member` is parallel (with private copies where live ranges stay in one iteration).
        dependences: others than those with reductions in their order."""
        asked, own = dependences or self.dependences, self.agreeing(domain, prefix)
        return own.moves(asked.shared, member).zero and all(
            own.moves(ranges, member).zero and (own.stays_inside(ranges) or own.moves(asked.reuse[name], member).zero)
            for name, ranges in asked.ranges.items()
        )

    def carries_forward(self, member: isl.UnionPwAff, domain: isl.UnionSet, prefix: isl.MultiUnionPwAff | None) -> bool:
        """Whether a sequential loop over `member` around the sequence keeps the order of all pairs."""
        pairs, own = [self.dependences.must, *self.dependences.reuse.values()], self.agreeing(domain, prefix)
        return all(own.moves(some, member).forward for some in pairs)

    def agreeing(self, domain: isl.UnionSet, prefix: isl.MultiUnionPwAff | None) -> Agreement:
        """What `inside` leaves of any pairs, to be asked about."""
        same = functions_of(prefix) if prefix is not None else ()
        return Agreement.of(self.dependences.classes, domain, same)

    def between(self, first: isl.UnionSet, second: isl.UnionSet) -> list[isl.UnionMap]:
        """Those tables of pairs that may have some between statements of two domains."""
        own, other = ({str(part.get_tuple_name()) for part in sets_of(some)} for some in (first, second))
        every, ends = (self.dependences.must, *self.dependences.reuse.values()), self.dependences.between
        return [
            some for some in every if any((a in own and b in other) or (a in other and b in own) for a, b in ends(some))
        ]

    def in_order(
        self,
        member: isl.UnionPwAff,
        first: isl.UnionSet,
        second: isl.UnionSet,
        prefix: isl.MultiUnionPwAff | None,
    ) -> bool:
        """Whether a sequential loop over `member` keeps the order of all pairs between two domains: pairs within them
        are in the order that they were in."""
        found = self.between(first, second)
        ways = ((first, second), (second, first))
        pairs = [some.intersect_domain(source).intersect_range(sink) for some in found for source, sink in ways]
        whole = first.union(second)
        return all(nonnegative(distances(self.inside(some, whole, prefix), member)) for some in pairs)


def _dated(dates: isl.UnionMap, cells: isl.Map) -> isl.UnionMap:
    return dates.reverse().apply_range(isl.UnionMap.from_map(cells))


def _is_told(cells: isl.UnionMap) -> bool:
    """Whether a date says which cells are accessed."""
    bare = (one.gist_domain(one.domain()) for one in maps_of(cells))
    return any(one.involves_dims(isl.dim_type.in_, 0, one.dim(isl.dim_type.in_)) for one in bare)


def _records(cells: isl.Map) -> isl.Map:
    """Accesses to a vector as such to records of it, where they step by a few elements."""
    rows = subscript_rows(cells)
    steps = [int(abs(factor)) for factor in rows[0] if abs(factor) > 1 and factor.denominator == 1] if rows else []
    if not steps or min(steps) > MOST_STEP:
        return cells
    name = cells.get_tuple_name(OUT)
    return cells.apply_range(isl.Map(f"{{ {name}[x] -> {name}[y] : y = floor(x / {min(steps)}) }}"))


def _meet(cells: isl.UnionMap, others: isl.UnionMap) -> bool:
    """Whether dates of two loops, borders apart, have rows in common with dates that are near. Both: ``{ [date] ->
    A[row] }``."""
    dates = cells.domain().intersect(others.domain())
    near = isl.UnionMap(f"{{ [d] -> [e] : -{_NEAR} <= d - e <= {_NEAR} }}")
    inner = _without_borders(dates)
    if inner.is_empty():
        # loops of a few dates, or in steps, have borders only; others meet at their ends, if at all
        if not any(_without_borders(one.domain()).is_empty() for one in (cells, others)):
            return False
        inner = dates
    return bool(inner.is_subset(cells.intersect(near.apply_range(others)).domain()))


def _without_borders(dates: isl.UnionSet) -> isl.UnionSet:
    inner = dates
    for shift in (_NEAR, -_NEAR):
        inner = inner.intersect(dates.apply(isl.UnionMap(f"{{ [d] -> [d + {shift}] }}")))
    return inner


def _parts(tree: Tree) -> tuple[Tree, ...]:
    return tree.parts if isinstance(tree, Sequence) else (tree,)
