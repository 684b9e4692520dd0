"""The one iterative construction: schedule dimensions from the outermost to the innermost, each the solution of an
integer program.

Source: constraint injection paper, Algorithm 1. How a dimension's program is built is a strategy's business (Pluto's,
Feautrier's); which statements share loops is a fusion policy's; an influence constraint tree adds rows and
alternatives. In this order, where a dimension has no solution: drop progression where no dependence is left; the node's
right sibling; drop the dependences that are carried (the band ends); the closest ancestor's right sibling; cut between
strongly connected components; no influence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from scopt.scheduler.constraints.scheduling_problem import Edge, Rows, StatementSpace
from scopt.scheduler.construct.groups import Dimension, Group, GroupSolver, NoSchedule, Result, State, Strategy, Wish
from scopt.scheduler.construct.influenced import InfluencedSearch, Log, Reached
from scopt.scheduler.construct.separation import FusionPolicy, strongly_connected
from scopt.scheduler.influence.influence_tree import InfluenceTree

# A construction with all that is put into it and comes out.
__all__ = ["Construction", "Dimension", "Log", "NoSchedule", "Strategy", "Wish"]


class Construction(Struct, frozen=True, eq=False):
    """One SCoP's schedule. bonds: pairs of statements that stay together in their outermost loops (live ranges of
    private arrays).

    edges: all dependences to respect; inputs: input dependences for proximity; rescue: the strategy for a single SCC
    that the first one has no dimension for; reached: is told the scenario that holds, if one does.
    Raises NoSchedule."""

    spaces: Mapping[str, StatementSpace]
    edges: tuple[Edge, ...]
    strategy: Strategy
    fusion: FusionPolicy
    rescue: Strategy | None = None
    inputs: tuple[Edge, ...] = ()
    tree: InfluenceTree = field(default_factory=InfluenceTree)
    log: Log = field(default=lambda _id, _message: None)
    bonds: frozenset[tuple[str, str]] = frozenset()
    reached: Reached = field(default=lambda _path: None)

    def run(self) -> tuple[Dimension, ...]:
        """The dimensions, outermost first. Two instances of different statements may still have the same date; then no
        dependence joins them."""
        solver = GroupSolver(self.spaces, self.strategy, self.fusion, self.rescue, self.inputs, self.bonds)
        state = State((Group(tuple(self.spaces), self.edges, self.edges),))
        if self.tree.branches:
            found = InfluencedSearch(solver, self.tree, self.log, self.reached).run(state)
            if found is not None:
                return found
            self.log(
                "dropped", "no scenario of the influence constraint tree is feasible: the schedule is made without it"
            )
        while not all(group.finished for group in state.groups):
            # Groups are independent of each other.
            state = state.extended([_advanced(solver, group, state.outer) for group in state.groups], self.spaces)
        return state.dimensions


def _advanced(solver: GroupSolver, group: Group, outer: Sequence[Rows]) -> Result:
    """The next dimension of a group without influence: a loop, or a cut."""
    if solver.is_finished(group, outer):
        return Result(replace(group, finished=True))
    if group.fresh and (cut := solver.cut(group, outer, start=True)) is not None:
        return cut
    # No cut can bring statements closer together that the band's dependences bind into one component: distances it is.
    whole = len(strongly_connected(group.statements, group.edges, ())) == 1
    rows = solver.solve(group, outer, Wish(far=whole))
    if rows is not None:
        return Result(group.after(rows), rows, alone=bool(group.remaining) and not solver.strategy.bands)
    if group.has_carried:
        return _advanced(solver, group.without_carried(), outer)
    if (cut := solver.cut(group, outer, start=False)) is not None:
        return cut
    return solver.rescued(group, outer)
