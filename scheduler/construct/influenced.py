"""The construction under an influence constraint tree: a walk over the tree that computes one dimension a node, and
steps back where one fails.

Source: constraint injection paper, Algorithm 1; line numbers below are of its listing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from scopt.scheduler.constraints.influence_rows import constants_hold, coupled
from scopt.scheduler.construct.groups import Dimension, Group, GroupSolver, Result, State, Wish
from scopt.scheduler.construct.separation import Part, components
from scopt.scheduler.influence.influence_tree import InfluenceNode, InfluenceTree

# Called with what the construction does about a tree: an id's last part and a message.
Log = Callable[[str, str], None]
# Called with the nodes of a scenario that holds, from dimension 0 on.
Reached = Callable[[tuple[InfluenceNode, ...]], None]


class _Place(Struct, frozen=True):
    """A node among its siblings."""

    siblings: tuple[InfluenceNode, ...]
    position: int = 0

    @property
    def node(self) -> InfluenceNode:
        return self.siblings[self.position]

    @property
    def has_sibling(self) -> bool:
        return self.position + 1 < len(self.siblings)

    @property
    def next(self) -> _Place:
        return _Place(self.siblings, self.position + 1)


class _Stand(Struct, frozen=True, eq=False):
    """Where the walk stands: before the dimension `depth`.

    trail: the nodes of the dimensions from 0 to this one; beyond a leaf, to that leaf's. backup: the states before each
      of these dimensions.
    state: the last of them, perhaps without dependences that its band has carried. lost: a cut has taken the place of a
      node's dimension.
    """

    trail: tuple[_Place, ...]
    backup: tuple[State, ...]
    state: State
    lost: bool = False

    @property
    def depth(self) -> int:
        return len(self.backup) - 1

    @property
    def node(self) -> InfluenceNode | None:
        """None beyond the tree's leaves."""
        return self.trail[self.depth].node if self.depth < len(self.trail) else None


class InfluencedSearch(Struct, frozen=True, eq=False):
    """Algorithm 1 for one SCoP. Beyond the tree's leaves it goes on without influence, but steps back no more."""

    solver: GroupSolver
    tree: InfluenceTree
    log: Log
    reached: Reached

    def run(self, start: State) -> tuple[Dimension, ...] | None:
        """The dimensions, outermost first; None if no scenario is feasible. Each turn computes one dimension or takes
        one step back.

        start: without dimensions. The tree isn't empty.
        """
        at = _Stand((_Place(self.tree.branches),), (start,), start)
        while True:
            tried = self.attempt(at.state, at.node)
            results = _all_found(tried)
            if results is None:
                other = self.right_sibling(at) or self.without_carried(at, tried) or self.right_sibling_of_ancestor(at)
                if other is not None:
                    at = other
                    continue
                results = self.cut_apart(at, tried)
                if results is None:
                    return None
                at = replace(at, lost=at.lost or at.node is not None)
            at = self.deeper(at, results)
            if at.node is None and all(self.solver.is_finished(group, at.state.outer) for group in at.state.groups):
                return at.state.dimensions

    # --- one dimension: lines 6 to 16 ---------------------------------------------------------------------------------

    def attempt(self, state: State, node: InfluenceNode | None) -> list[Result | None]:
        """The next dimension of all groups under a node's rows; None for a group that has none."""
        if node is None:
            return [self.uninfluenced(group, state) for group in state.groups]
        depth = len(state.dimensions)
        if not constants_hold(node.rows, state.outer, self.solver.spaces):
            return [None] * len(state.groups)
        results: dict[Part, Result | None] = {}
        for cluster in _clusters(state.groups, coupled(node.rows, depth)):
            together = _merged(cluster)
            wish = Wish(node.concerning(together.statements, depth), coincident=node.parallel)
            rows = self.solver.solve(together, state.outer, wish)
            if rows is None and not together.remaining:
                rows = self.solver.solve(together, state.outer, replace(wish, progression=False))
                if rows is not None:
                    self.log("progression", f"dimension {depth}: no dependence is left, progression is dropped")
            for group in cluster:
                results[group.statements] = (
                    None if rows is None else Result(group.after(rows), {name: rows[name] for name in group.statements})
                )
        return [results[group.statements] for group in state.groups]

    def uninfluenced(self, group: Group, state: State) -> Result | None:
        """The next dimension of a group beyond the tree's leaves."""
        if self.solver.is_finished(group, state.outer):
            return Result(replace(group, finished=True))
        rows = self.solver.solve(group, state.outer, Wish())
        return None if rows is None else Result(group.after(rows), rows)

    # --- ways out, in this order: lines 17 to 37 ----------------------------------------------------------------------

    def right_sibling(self, at: _Stand) -> _Stand | None:
        """Lines 17 to 21: another wish for the same dimension, from what was before it."""
        if at.node is None or not at.trail[-1].has_sibling:
            return None
        place = at.trail[-1].next
        self.log(
            "sibling",
            f"dimension {at.depth}: '{at.node.name}' is infeasible, its right sibling '{place.node.name}' is tried",
        )
        return replace(at, trail=(*at.trail[:-1], place), state=at.backup[-1])

    def without_carried(self, at: _Stand, tried: Sequence[Result | None]) -> _Stand | None:
        """Lines 22 to 25: the groups that have no dimension begin new bands, unless the node wants this dimension in
        the band above."""
        failing = [group for group, result in zip(at.state.groups, tried, strict=True) if result is None]
        if (at.node is not None and at.node.permutable) or not any(group.has_carried for group in failing):
            return None
        self.log("carried", f"dimension {at.depth}: the carried dependences are dropped, a new band begins")
        groups = tuple(group.without_carried() if group in failing else group for group in at.state.groups)
        return replace(at, state=replace(at.state, groups=groups))

    def right_sibling_of_ancestor(self, at: _Stand) -> _Stand | None:
        """Lines 26 to 32: back to the closest dimension above that has another wish."""
        above = (
            next((k for k in reversed(range(at.depth)) if at.trail[k].has_sibling), None)
            if at.node is not None
            else None
        )
        if above is None:
            return None
        left, right = at.trail[above], at.trail[above].next
        self.log(
            "backtrack",
            f"dimension {at.depth} has no solution: back to dimension {above}, from "
            f"'{left.node.name}' to '{right.node.name}'",
        )
        return _Stand((*at.trail[:above], right), at.backup[: above + 1], at.backup[above])

    def cut_apart(self, at: _Stand, tried: Sequence[Result | None]) -> list[Result] | None:
        """Lines 33 to 37: the results with a cut of each group that has none; beyond the tree's leaves, where nothing
        can be cut, the other strategy's row. None if some group can't be cut under a node."""
        found: list[Result] = []
        depth, outer = len(at.state.dimensions), at.state.outer
        for group, result in zip(at.state.groups, tried, strict=True):
            known = result
            if known is None and (known := self.solver.cut(group, outer, start=False)) is not None:
                self.log(
                    "cut",
                    f"dimension {depth}: strongly connected components are cut apart ({', '.join(group.statements)})",
                )
            if known is None and at.node is not None:
                return None
            found.append(known if known is not None else self.solver.rescued(group, outer))
        return found

    # --- the next one: from line 38 on --------------------------------------------------------------------------------

    def deeper(self, at: _Stand, results: Sequence[Result]) -> _Stand:
        """The dimension is appended; the node's left child comes next."""
        trail = at.trail
        if at.node is not None and at.node.children:
            trail = (*trail, _Place(at.node.children))
        elif at.node is not None and not at.lost:
            self.reached(tuple(place.node for place in trail))
            self.log("reached", f"scenario '{' / '.join(place.node.name for place in trail)}' holds")
        state = at.state.extended(results, self.solver.spaces)
        return _Stand(trail, (*at.backup, state), state, at.lost)


def _all_found(tried: Sequence[Result | None]) -> list[Result] | None:
    """The results of all groups; None if one has none."""
    found = [result for result in tried if result is not None]
    return found if len(found) == len(tried) else None


def _clusters(groups: Sequence[Group], tied: Sequence[set[str]]) -> list[list[Group]]:
    """Groups that rows tie together have to be solved together."""
    everything = tuple(name for group in groups for name in group.statements)
    whole = [set(group.statements) for group in groups]
    parts = components(everything, (), (*tied, *whole))
    return [[group for group in groups if group.statements[0] in part] for part in parts]


def _merged(groups: Sequence[Group]) -> Group:
    statements = tuple(name for group in groups for name in group.statements)
    edges = tuple(edge for group in groups for edge in group.edges)
    return Group(statements, edges, tuple(edge for group in groups for edge in group.remaining))
