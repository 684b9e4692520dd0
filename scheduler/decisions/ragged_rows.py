"""Blocks of rows that begin, or end, at different steps: those of a triangle, the sums of an autocorrelation.

The steps that all rows of a block make are written out beside each other. What some of them make before, or behind,
stands in loops of its own there, row by row: each row keeps its order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import islpy as isl
from msgspec import Struct

from scopt.ir.scop import Scop
from scopt.poly import trees
from scopt.poly.isl_utils import PARAM, joined, sets_of, union_of_sets
from scopt.scheduler.decisions.strip_blocks import complete, divided
from scopt.scheduler.decisions.strip_trees import outside

# Rows, at most, where these are few.
_FEW = 64


class Ragged(Struct, frozen=True, eq=False):
    """Instances of blocks that have steps which all of their rows make. before, behind: steps of these blocks that only
    some of their rows make, earlier and later than those."""

    blocks: isl.UnionSet
    before: isl.UnionSet
    behind: isl.UnionSet

    def is_single(self, tree: trees.Tree) -> bool:
        """Whether a loop is one of those that stand before or behind."""
        return trees.domain_of(tree).is_subset(self.before.union(self.behind))

    def parted(self, tree: trees.Tree) -> trees.Tree:
        """The tree with three loops for each that has steps before or behind."""
        match tree:
            case trees.Sequence(parts):
                return trees.Sequence(tuple(one for part in parts for one in self.parts(part)))
            case trees.Band():
                found = tuple(self.parts(tree))
                return trees.Sequence(found) if len(found) > 1 else tree
        return tree

    def parts(self, tree: trees.Tree) -> Iterator[trees.Tree]:
        if not isinstance(tree, trees.Band):
            yield tree
            return
        own = trees.domain_of(tree)
        for instances in (self.before, own.subtract(self.before).subtract(self.behind), self.behind):
            part = trees.restricted(tree, instances)
            if part is not None:
                yield part


def are_few(scop: Scop, lane: isl.UnionPwAff, domain: isl.UnionSet) -> bool:
    """Whether there are no more rows than some vectors have elements, with sizes as macros and arrays tell them: of
    many, a loop over them is the vector loop (measured for sums of lags: half the time)."""
    values = isl.Set.from_union_set(isl.UnionMap.from_union_pw_aff(lane).intersect_domain(domain).range())
    for parameter in scop.parameters:
        position = values.find_dim_by_name(PARAM, parameter.name)
        if position >= 0 and parameter.estimate is not None:
            values = values.fix_val(PARAM, position, isl.Val(parameter.estimate))
    least, most = values.dim_min_val(0), values.dim_max_val(0)
    return bool(least.is_int() and most.is_int() and most.sub(least).lt(isl.Val(_FEW)))


def has_steps(tree: trees.Tree, blocks: isl.UnionSet) -> bool:
    """Whether blocks have instances in loops along their rows."""
    return any(not trees.domain_of(loop).intersect(blocks).is_empty() for loop in _loops(tree))


def ragged(
    node: isl.ScheduleNode, tree: trees.Tree, domain: isl.UnionSet, lane: isl.UnionPwAff, first: isl.Aff, count: int
) -> Ragged | None:
    """None if there are no such blocks. node: a band with one loop, over the rows; tree: what a row does. first: the
    row where the first block begins; count: rows of a block."""
    loops = list(_loops(tree))
    if not loops or not all(loop.width == 1 and not trees.has_bands(loop.body) for loop in loops):
        return None
    key = isl.UnionMap.from_union_pw_aff(divided(lane, first, count)).intersect_domain(domain)
    if node.get_schedule_depth():
        key = isl.UnionMap.from_multi_union_pw_aff(outside(node)).intersect_domain(domain).flat_range_product(key)
    whole = union_of_sets(complete(part, lane, first, count) for part in sets_of(domain))
    lacking, blocks = domain.subtract(whole), key.range()
    before = behind = isl.UnionSet.empty(domain.get_space())
    for loop in loops:
        inside = trees.domain_of(loop)
        found = _ends(key, loop.partial, lacking.intersect(inside), whole.intersect(inside))
        before, behind = before.union(found[0]), behind.union(found[1])
        blocks = blocks.intersect(whole.intersect(inside).apply(key))
    others = lacking.subtract(before).subtract(behind)
    blocks = blocks.subtract(others.apply(key)).coalesce()
    kept = domain.intersect(key.intersect_range(blocks).domain()).coalesce()
    if kept.is_empty():
        return None
    return Ragged(kept, before.intersect(kept).coalesce(), behind.intersect(kept).coalesce())


def _ends(
    key: isl.UnionMap, partial: isl.MultiUnionPwAff, lacking: isl.UnionSet, whole: isl.UnionSet
) -> tuple[isl.UnionSet, isl.UnionSet]:
    """Of some instances those that stand before all whole steps of their block, and those behind all of them."""
    pairs = key.intersect_domain(lacking).apply_range(key.intersect_domain(whole).reverse())
    dates = isl.UnionMap.from_multi_union_pw_aff(joined([partial.get_at(0)]))
    earlier = pairs.intersect(dates.lex_lt_union_map(dates)).domain()
    later = pairs.intersect(dates.lex_gt_union_map(dates)).domain()
    same = pairs.intersect(dates.apply_range(dates.reverse())).domain()
    return earlier.subtract(later).subtract(same), later.subtract(earlier).subtract(same)


def _loops(tree: trees.Tree) -> Sequence[trees.Band]:
    """The outermost loops of a tree."""
    match tree:
        case trees.Band():
            return (tree,)
        case trees.Sequence(parts):
            return tuple(loop for part in parts for loop in _loops(part))
    return ()
