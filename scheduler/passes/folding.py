"""Two loops that count one thing become one loop.

The colours of a red-black sweep, the stages of a step in time or the directions of a splitting are a loop of a few
iterations inside of the loop over time. A scheduler that looks for one permutable band keeps both as members, t and
t + colour. Tiles on diagonals have no room for the second one: its few values are as many as a tile has. With K values
of what is left of it when multiples of the first are taken away, K · t + colour counts both: a combination of two
members of a permutable band with factors that aren't negative, so that no dependence runs backwards in it, and of which
both can be told again. What has few values by itself (the colours of a single sweep, a fixed number of steps) isn't
counted with another member: that one is a row then, which tiles are better cut along than across both.
"""

from __future__ import annotations

from itertools import permutations

import islpy as isl

from scopt.ir.scop import Scop
from scopt.poly.bands import Ordered, with_properties_below
from scopt.poly.isl_utils import joined
from scopt.scheduler.decisions.small_loops import span

# Iterations at most of the loop that is folded: more are tiled by themselves.
MOST_FOLDED = 8
# A band that keeps two members has tiles on diagonals.
_LEAST_WIDTH = 3


def fold_loops(scop: Scop, dependences: Ordered, tree: isl.Schedule) -> isl.Schedule:
    """The tree with such members of its outermost bands as one: of those that nothing but tiles on diagonals makes
    parallel."""
    node, found = _below(scop, dependences, tree.get_root())
    return node.get_schedule() if found else tree


def _below(scop: Scop, dependences: Ordered, node: isl.ScheduleNode) -> tuple[isl.ScheduleNode, bool]:
    found = False
    if node.get_type() == isl.schedule_node_type.band:
        while (folded := _folded(node)) is not None:
            node, found = with_properties_below(scop, dependences, folded), True
        return node, found
    for position in range(node.n_children()):
        child, inner = _below(scop, dependences, node.child(position))
        node, found = child.parent(), found or inner
    return node, found


def _folded(node: isl.ScheduleNode) -> isl.ScheduleNode | None:
    """A band with two of its members as one; None if there are no such two."""
    width = node.band_n_member()
    if width < _LEAST_WIDTH or not node.band_get_permutable():
        return None
    if any(node.band_member_get_coincident(position) for position in range(width)):
        return None
    members = [node.band_get_partial_schedule().get_at(position) for position in range(width)]
    for kept, few in permutations(range(width), 2):
        one = _as_one(node, members[kept], members[few])
        if one is not None:
            first, second = sorted((kept, few))
            rest = [*members[:first], one, *members[first + 1 : second], *members[second + 1 :]]
            return node.delete().insert_partial_schedule(joined(rest)).band_set_permutable(1)
    return None


def _as_one(node: isl.ScheduleNode, kept: isl.UnionPwAff, few: isl.UnionPwAff) -> isl.UnionPwAff | None:
    """What counts two members: K · kept + (few - f · kept), where the parenthesis has K values and 1 ≤ f ≤ K."""
    for factor in range(1, MOST_FOLDED + 1):
        left = few.sub(kept.scale_val(isl.Val(factor)))
        values = isl.Set.from_union_set(
            isl.UnionMap.from_union_pw_aff(left).intersect_domain(node.get_domain()).range()
        )
        count = span(values, 0)
        if count is not None and max(factor, 2) <= count <= MOST_FOLDED:
            return left.add(kept.scale_val(isl.Val(count)))
    return None
