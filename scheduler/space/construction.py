"""The Markov decision process that constructs a schedule space: which dimension carries which dependence strongly.

Source: polygym paper, section IV-A and Algorithm 1, whose free function select_dependency the actions are.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from msgspec import Struct
from msgspec.structs import replace

from scopt.scheduler.space.exploration import ScheduleSpace
from scopt.scheduler.space.polytope import Polytopes


class ConstructionAction(IntEnum):
    """Act_cons."""

    NEXT_DIM = 0
    NEXT_DEP = 1
    SELECT_DEP = 2


class ConstructionState(Struct, frozen=True):
    """(i_dim, i_dep, d_1, …, d_|D|): the dimension that is constructed, the dependence that can be selected, and for
    each dependence the dimension that carries it strongly, 0 while none does. All count from 1."""

    dim: int
    dep: int
    carried: tuple[int, ...]

    @staticmethod
    def initial(count: int) -> ConstructionState:
        """(1, 1, 0, …, 0) for so many dependences."""
        return ConstructionState(1, 1, (0,) * count)

    @property
    def is_accepting(self) -> bool:
        """Whether every dependence is carried strongly by some dimension."""
        return all(self.carried)

    def successor(self, action: ConstructionAction) -> ConstructionState | None:
        """The state that the action leads to with probability 1; None where all its probabilities are 0."""
        match action:
            case ConstructionAction.NEXT_DIM:
                return replace(self, dim=self.dim + 1)
            case ConstructionAction.NEXT_DEP:
                free = [k for k, dim in enumerate(self.carried, 1) if not dim]
                later = [k for k in free if k > self.dep]
                return replace(self, dep=(later or free)[0]) if free else None
            case ConstructionAction.SELECT_DEP:
                if not self.carried or self.carried[self.dep - 1]:
                    return None
                carried = (*self.carried[: self.dep - 1], self.dim, *self.carried[self.dep :])
                return replace(self, carried=carried)

    def strong(self, dim: int) -> frozenset[int]:
        """The dependences that a dimension carries strongly."""
        return frozenset(k for k, at in enumerate(self.carried, 1) if at == dim)

    def weak(self, dim: int) -> frozenset[int]:
        """The dependences that a dimension carries weakly: a later one, or none so far, carries them strongly."""
        return frozenset(k for k, at in enumerate(self.carried, 1) if at > dim or not at)


class ConstructionMDP(Struct, frozen=True):
    """The process for one SCoP."""

    polytopes: Polytopes

    def initial(self) -> ConstructionState:
        return ConstructionState.initial(len(self.polytopes.problem.dependences))

    def allowed(self, state: ConstructionState, last: ConstructionAction | None = None) -> tuple[bool, bool, bool]:
        """Which actions lead on, towards a space that isn't empty: (next_dim, next_dep, select_dep). At least one does
        until the state is accepting.

        last: the action before. next_dim isn't allowed twice in a row: that would be one more dimension that carries
        nothing, chosen on the spot. next_dep isn't where it stays at the same dependence. select_dep isn't where the
        dimension's polytope would be empty.

        An empty space is never the only way: the original order carries each dependence by one dimension and all others
        not backwards.
        """
        if state.is_accepting:
            return False, False, False
        moved = state.successor(ConstructionAction.NEXT_DEP)
        return last != ConstructionAction.NEXT_DIM, moved is not None and moved != state, self.selectable(state)

    def selectable(self, state: ConstructionState) -> bool:
        """Whether the current dependence can be carried strongly by the current dimension, with those that are."""
        chosen = state.successor(ConstructionAction.SELECT_DEP)
        return chosen is not None and self.polytopes.feasible(chosen.strong(state.dim), chosen.weak(state.dim))

    def is_invalid(self, state: ConstructionState) -> bool:
        """Whether some dimension's polytope is empty: no schedule can come of it."""
        return not all(self.polytopes.feasible(state.strong(dim), state.weak(dim)) for dim in set(state.carried) - {0})

    def space(self, state: ConstructionState) -> ScheduleSpace:
        """The schedule space that an accepting state defines (Algorithm 1). Raises ValueError for another state."""
        if not state.is_accepting:
            raise ValueError("the schedule space isn't complete: some dependences aren't carried")
        return ScheduleSpace(
            tuple(self.polytopes.polytope(state.strong(dim), state.weak(dim)) for dim in range(1, state.dim + 1))
        )


def random_construction(mdp: ConstructionMDP, probability: float, draws: Iterable[float]) -> ConstructionState:
    """The state that chooses each uncarried dependence with a probability in each dimension, until all are carried.

    Those that would leave the polytope empty are passed over. draws: of [0, 1), as many as needed.

    Source: Ganser et al., "Iterative Schedule Optimization for Parallelization in the Polyhedron Model" (2017), who
      take 0.4.
    """
    source = iter(draws)
    state = mdp.initial()
    while not state.is_accepting:
        for dep in sorted(state.weak(state.dim)):
            here = replace(state, dep=dep)
            if next(source) < probability and mdp.selectable(here):
                state = here.successor(ConstructionAction.SELECT_DEP) or state
        if not state.is_accepting:
            state = replace(state, dim=state.dim + 1)
    return state
