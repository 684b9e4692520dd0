"""Statements of one loop nest of the source that the scheduler has given nests of their own come together again.

The scheduler distributes statements as far as dependences allow. In ``for i: for j: { x[i][j] *= a; if (x[i][j] < 0)
x[i][j] = 0; }`` that brings the same lines from memory twice, for nothing. What pays is told by the model of bands:
vectors, chains, lines from memory, and threads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce

import islpy as isl
from msgspec import Struct

from scopt.poly.isl_utils import joined, sets_of, union_of_sets
from scopt.poly.linear import Vector
from scopt.poly.source_loops import Loops
from scopt.poly.trees import Band, Leaf, Sequence, Tree, build, domain_of, nested, read
from scopt.scheduler.locality.strides import shape_rows
from scopt.scheduler.passes.fusion import Fusion

# Of what nests cost that stand apart, what they have to cost together (chosen: the model isn't more exact than that).
_WORTH = 0.95
# Neighbours that are tried all at once first.
_MANY = 5


class Costs(Struct, frozen=True, eq=False):
    """cycles: of a leaf band in a tree, given whether a loop around it is parallel. special: whether something may
    become of it that needs all of its members. waits: whether each of them carries something: what doesn't wait, as a
    border, would only be in the way of its wavefronts."""

    cycles: Callable[[isl.ScheduleNode, bool], float]
    special: Callable[[isl.ScheduleNode], bool]
    waits: Callable[[isl.ScheduleNode], bool]


def fuse_nests(
    loops: Mapping[str, Loops], fusion: Fusion, tree: isl.Schedule, costs: Costs, *, straight: bool = False
) -> isl.Schedule:
    """Put neighbouring leaf bands together, all members at once, where some of their statements share all their loops
    in the source, each loop stays parallel if both were, and that costs less.

    loops: of the source, by statement. straight: only where one of them has straight code inside, whose small loops
    don't count as loops of the source. Flags of the result have to be recomputed; without gain it is the tree itself.
    """
    nests = _Nests(loops, fusion, costs, straight)
    made = nests.visit(read(tree.get_root()), None, False)
    return build(made) if nests.done else tree


class _Nests(Struct, eq=False):
    """straight: see `fuse_nests`. done: how many bands have come to others."""

    loops: Mapping[str, Loops]
    fusion: Fusion
    costs: Costs
    straight: bool = False
    done: int = 0

    def visit(self, tree: Tree, prefix: isl.MultiUnionPwAff | None, parallel: bool) -> Tree:
        """Fuse below. prefix: the dimensions outside; parallel: one of them is a parallel loop."""
        match tree:
            case Leaf():
                return tree
            case Band(partial, body):
                own = domain_of(tree)
                inside = partial if prefix is None else prefix.intersect_domain(own).flat_range_product(partial)
                if not _is_leaf_band(tree):
                    members = [partial.get_at(k) for k in range(tree.width)]
                    parallel = parallel or any(self.fusion.carries_nothing(one, own, prefix) for one in members)
                return Band(partial, self.visit(body, inside, parallel))
            case Sequence(parts):
                whole = self.all_together(parts, prefix, parallel) if len(parts) >= _MANY else None
                if whole is not None:
                    self.done += len(parts) - 1
                    return self.visit(whole, prefix, parallel)
                found: list[Tree] = []
                for part in parts:
                    both = self.together(found[-1], part, prefix, parallel) if found else None
                    if both is not None:
                        found[-1] = both
                        self.done += 1
                    else:
                        found.append(part)
                done = [self.visit(part, prefix, parallel) for part in found]
                return done[0] if len(done) == 1 else Sequence(tuple(done))

    def all_together(self, parts: tuple[Tree, ...], prefix: isl.MultiUnionPwAff | None, parallel: bool) -> Tree | None:
        """Many neighbours, all of whose loops carry nothing, as one band; None where that is illegal or costs more:
        with each one that comes, what there is already would be weighed anew."""
        bands = [part for part in parts if isinstance(part, Band) and _is_leaf_band(part)]
        if self.straight or len(bands) < len(parts) or len({band.width for band in bands}) > 1:
            return None
        if not set[Loops].intersection(*map(self.shared, bands)):
            return None
        width, whole = bands[0].width, union_of_sets(part for band in bands for part in sets_of(domain_of(band)))
        if not all(self.is_alike(bands[0], band, width) for band in bands[1:]):
            return None
        members = [reduce(isl.UnionPwAff.union_add, (band.partial.get_at(k) for band in bands)) for k in range(width)]
        if not all(self.fusion.carries_nothing(one, whole, prefix) for one in members):
            return None
        made = Band(joined(members), Sequence(tuple(part for band in bands for part in _parts(_inside(band, width)))))
        if any(self.costs.special(self.node(band, prefix)) for band in (*bands, made)):
            return None
        alone = sum(self.cycles(band, prefix, parallel) for band in bands)
        return made if self.cycles(made, prefix, parallel) <= _WORTH * alone else None

    def together(self, first: Tree, second: Tree, prefix: isl.MultiUnionPwAff | None, parallel: bool) -> Tree | None:
        """Two neighbours as one band; None where that is illegal or costs more."""
        if not (isinstance(first, Band) and isinstance(second, Band) and self.shared(first) & self.shared(second)):
            return None
        if self.straight and not (_is_straight(first) or _is_straight(second)):
            return None
        width = min(first.width, second.width)
        members = self.common(first, second, width, prefix) if self.is_alike(first, second, width) else None
        if members is None or self.waits(first, prefix) != self.waits(second, prefix):
            return None
        left, right = _inside(first, width), _inside(second, width)
        made = Band(joined(members), Sequence((*_parts(left), *_parts(right))))
        if _is_leaf_band(first) and _is_leaf_band(second) and first.width == second.width:
            special = any(self.costs.special(self.node(one, prefix)) for one in (first, second))
            if special and not self.costs.special(self.node(made, prefix)):
                return None
            alone = sum(self.cycles(one, prefix, parallel) for one in (first, second))
            return made if self.cycles(made, prefix, parallel) <= _WORTH * alone else None
        if any(_is_leaf_band(one) and self.costs.special(self.node(one, prefix)) for one in (first, second)):
            return None
        if self.waits(first, prefix):
            return None
        before = self.done
        found = self.visit(made, prefix, parallel)
        return found if self.done > before else None

    def common(
        self, first: Band, second: Band, width: int, prefix: isl.MultiUnionPwAff | None
    ) -> list[isl.UnionPwAff] | None:
        """The first members of two bands as those of one; None where that is illegal, or where one isn't parallel that
        both were."""
        own, other, fusion = domain_of(first), domain_of(second), self.fusion
        whole, members = own.union(other), []
        for k in range(width):
            left, right = first.partial.get_at(k), second.partial.get_at(k)
            both = left.union_add(right)
            free = fusion.carries_nothing(left, own, prefix) and fusion.carries_nothing(right, other, prefix)
            kept = fusion.carries_nothing(both, whole, prefix) if free else fusion.in_order(both, own, other, prefix)
            if not kept:
                return None
            members.append(both)
        return members

    def is_alike(self, first: Band, second: Band, width: int) -> bool:
        """Whether members are the same functions of the iterators that statements of both share in the source."""
        rows: dict[Loops, set[tuple[object, ...]]] = {}
        for band in (first, second):
            for name, around in self.around(band).items():
                if around in self.shared(first) & self.shared(second):
                    found = tuple(row[: len(around)] for row in self.rows(band, name)[:width])
                    rows.setdefault(around, set()).add(found)
        return all(len(found) == 1 for found in rows.values())

    def shared(self, band: Band) -> set[Loops]:
        """The loops in the source of a band's deepest statements."""
        found = self.around(band).values()
        return {one for one in found if len(one) == max(map(len, found))}

    def around(self, band: Band) -> dict[str, Loops]:
        """By statement, the loops in the source; of one in straight code, those that the band's members are made of."""
        several = _straight_names(band) if self.straight else frozenset()
        found = {}
        for part in sets_of(domain_of(band)):
            name = str(part.get_tuple_name())
            depth = len(self.loops[name])
            if name in several:
                moving = (k for row in self.rows(band, name) for k in range(depth) if row[k])
                depth = max(moving, default=-1) + 1
            found[name] = self.loops[name][:depth]
        return found

    def rows(self, band: Band, name: str) -> tuple[Vector, ...]:
        """The members of a band as rows over a statement's iterators."""
        own = [part for part in sets_of(domain_of(band)) if part.get_tuple_name() == name]
        functions = band.partial.intersect_domain(union_of_sets(own))
        return shape_rows(self.fusion.scop, functions, name)

    def cycles(self, band: Band, prefix: isl.MultiUnionPwAff | None, parallel: bool) -> float:
        """Of a leaf band inside of some dimensions."""
        return self.costs.cycles(self.node(band, prefix), parallel)

    def waits(self, band: Band, prefix: isl.MultiUnionPwAff | None) -> bool:
        """Whether it is a leaf band all of whose members carry something."""
        return _is_leaf_band(band) and self.costs.waits(self.node(band, prefix))

    def node(self, band: Band, prefix: isl.MultiUnionPwAff | None) -> isl.ScheduleNode:
        """A band inside of some dimensions as a node of a tree."""
        whole: Tree = band if prefix is None else Band(prefix.intersect_domain(domain_of(band)), band)
        node = build(whole).get_root().child(0)
        return node if prefix is None else node.child(0)


def _is_leaf_band(band: Band) -> bool:
    return all(isinstance(part, Leaf) for part in _parts(band.body))


def _straight_names(band: Band) -> frozenset[str]:
    """The statements of a leaf band whose instances stand in several places."""
    if not _is_leaf_band(band):
        return frozenset()
    names = [str(one.get_tuple_name()) for part in _parts(band.body) for one in sets_of(domain_of(part))]
    return frozenset(name for name in names if names.count(name) > 1)


def _is_straight(band: Band) -> bool:
    return bool(_straight_names(band))


def _inside(band: Band, width: int) -> Tree:
    """What is left of a band without its first members."""
    return nested([band.partial.get_at(k) for k in range(width, band.width)], band.body)


def _parts(tree: Tree) -> tuple[Tree, ...]:
    return tree.parts if isinstance(tree, Sequence) else (tree,)
