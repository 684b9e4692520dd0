"""One episode in the schedule space of a program, as the two decision processes have it: which actions there are, and
what becomes of them.

Knows nothing of gymnasium, rewards and features. Actions are numbered as in the paper's code: next_dim, next_dep,
select_dep, coeff_0 … coeff_N.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from fractions import Fraction

import numpy as np

from scopt.diagnostics import InputError
from scopt.gym.env_programs import Program
from scopt.gym.observation import Exact, View
from scopt.scheduler.space.construction import ConstructionAction, ConstructionMDP, ConstructionState
from scopt.scheduler.space.exploration import ExplorationMDP, ScheduleSpace
from scopt.scheduler.space.polytope import Polytope, Vertex

# The actions of the construction come first, then the coefficients 0 … N.
FIRST_COEFFICIENT = len(ConstructionAction)


class Status(Enum):
    """Whether an episode goes on, has a complete schedule,
    or ended in an invalid state or by an action of probability 0."""

    RUNNING = "running"
    COMPLETE = "complete"
    INVALID = "invalid"


class Episode:
    """The state of an episode. Begins with the construction; with `carried`, in the exploration of the space that this
    construction has.

    n: the largest coefficient. max_coefficients: how many coefficients of a dimension are asked for (None: all of
    them); then for the simplest generators, the other coefficients being 0: a part of the space, whose states and
    transitions are the same otherwise.
    """

    def __init__(
        self, program: Program, n: int, max_coefficients: int | None = None, carried: Sequence[int] | None = None
    ) -> None:
        self.program, self.n, self.max_coefficients = program, n, max_coefficients
        self.mdp: ConstructionMDP = program.construction
        self.state = ConstructionState.initial(len(program.problem.dependences))
        self.status = Status.RUNNING
        self.rows: tuple[tuple[int, ...], ...] = ()
        self.visited, self.steps, self.action = 0, 0, -1
        self.space: ScheduleSpace | None = None
        # Coefficients of the dimensions before, and of the one that is explored; the point that it has so far; the
        # slots that are asked for.
        self.chosen_before: tuple[int, ...] = ()
        self.chosen: list[int] = []
        self._point: Exact | None = None
        self._asked = frozenset[int]()
        if carried is not None:
            self.state = constructed(self.mdp, self.state, carried)
        if self.state.is_accepting:
            self.explore()

    @property
    def constructing(self) -> bool:
        return self.space is None

    @property
    def last(self) -> ConstructionAction | None:
        """The action of the construction that came before, if one did."""
        return ConstructionAction(self.action) if 0 <= self.action < FIRST_COEFFICIENT else None

    @property
    def polytope(self) -> Polytope:
        """Of the dimension that is explored."""
        assert self.space is not None
        return self.space.polytopes[len(self.rows)]

    # --- actions ------------------------------------------------------------------------------------------------------

    def allowed(self) -> tuple[bool, ...]:
        """Which actions neither have probability 0 nor lead to an invalid state,
        of all 3 + N + 1; all after the end."""
        coefficients = self.n + 1
        if self.status is not Status.RUNNING:
            return (True,) * (FIRST_COEFFICIENT + coefficients)
        if self.constructing:
            return (*self.mdp.allowed(self.state, self.last), *(False,) * coefficients)
        return (*(False,) * FIRST_COEFFICIENT, not self._must_be_positive(), *(True,) * self.n)

    def take(self, action: int) -> Status:
        """One transition. An action of probability 0 ends the episode,
        and so does one that leads to an invalid state."""
        self.steps += 1
        self.action = action
        if action < FIRST_COEFFICIENT:
            self._construct(action)
        else:
            self._select(action - FIRST_COEFFICIENT)
        return self.status

    def _construct(self, action: int) -> None:
        following = self.state.successor(ConstructionAction(action)) if self.constructing else None
        if following is None:
            self.status = Status.INVALID
            return
        self.visited = 0 if following.dim != self.state.dim else self.visited + (action == ConstructionAction.NEXT_DEP)
        self.state = following
        if self.mdp.is_invalid(following) or not (following.is_accepting or any(self.mdp.allowed(following))):
            self.status = Status.INVALID
        elif following.is_accepting:
            self.explore()

    def _select(self, coefficient: int) -> None:
        if self.constructing or (coefficient == 0 and self._must_be_positive()):
            self.status = Status.INVALID
            return
        self._put(coefficient)
        self._fill()

    def _must_be_positive(self) -> bool:
        """Whether coefficient 0 of the next slot would leave no convex combination of its group's vertices."""
        assert self.space is not None
        if self.polytope.slots[len(self.chosen)].group is None:
            return False
        coefficients = (*self.chosen_before, *self.chosen)
        return not ExplorationMDP(self.space, self.n).allowed_at(coefficients, len(coefficients))[0]

    # --- the exploration ----------------------------------------------------------------------------------------------

    def explore(self) -> None:
        """Begin with the exploration of the space that has been constructed; without dependences it has no dimensions
        and is complete."""
        self.space = self.mdp.space(self.state)
        if self.space.is_empty:
            self.status = Status.INVALID
            return
        self._begin()
        self._fill()

    def complete_by_default(self) -> None:
        """Coefficient 0 for all that is still open, and 1 for the last vertex
        of a group that would have none otherwise."""
        while self.status is Status.RUNNING:
            self._put(int(self._must_be_positive()))

    def _begin(self) -> None:
        """The next dimension that has coefficients, or the end."""
        assert self.space is not None
        if len(self.rows) == len(self.space.polytopes):
            self._point, self.status = None, Status.COMPLETE
            return
        iterators = sum(space.depth for space in self.program.problem.spaces.values())
        self._asked = asked(self.polytope, self.max_coefficients, iterators)
        self._point = np.array([float(value) for value in base_of(self.polytope)])
        self._close()

    def _put(self, coefficient: int) -> None:
        """The next coefficient."""
        assert self._point is not None
        slot = self.polytope.slots[len(self.chosen)]
        self.chosen.append(coefficient)
        if coefficient:
            self._point = self._point + coefficient * np.array([float(value) for value in slot.generator])
        self._close()

    def _fill(self) -> None:
        """Choose for the slots that the agent isn't asked for, up to the next one that it is."""
        while self.status is Status.RUNNING and len(self.chosen) not in self._asked:
            self._put(int(self._must_be_positive()))

    def _close(self) -> None:
        """Go on with the next dimension if all coefficients of this one are there."""
        if len(self.chosen) < len(self.polytope.slots):
            return
        row = self.polytope.point(self.chosen)
        assert row is not None  # what would leave no convex combination has been refused
        self.rows, self.chosen_before, self.chosen = (*self.rows, row), (*self.chosen_before, *self.chosen), []
        self._begin()

    # --- what is seen -------------------------------------------------------------------------------------------------

    def view(self) -> View:
        """What observations show of the state."""
        state, count = self.state, len(self.rows)
        if self.space is None:
            dep = 0 if state.is_accepting else state.dep
            return View(
                True,
                state.dim,
                state.dim,
                dep,
                state.carried,
                visited=self.visited,
                action=self.action,
                step=self.steps,
            )
        total, dims = self.space.coefficient_count, len(self.space.polytopes)
        if self.status is Status.COMPLETE or self.space.is_empty:
            return View(
                False,
                count,
                dims,
                0,
                state.carried,
                self.rows,
                done=total,
                total=total,
                action=self.action,
                step=self.steps,
            )
        place, slots = len(self.chosen), self.polytope.slots
        slot = slots[place]
        return View(
            False,
            count + 1,
            dims,
            0,
            state.carried,
            self.rows,
            self._point,
            np.array([float(value) for value in slot.generator]),
            slot.group is not None,
            place,
            len(slots),
            len(self.chosen_before) + place,
            total,
            action=self.action,
            step=self.steps,
        )


def base_of(polytope: Polytope) -> Vertex:
    """The sum of the vertices that are their groups' only ones: what a point is without any coefficient."""
    lone = [
        vertex
        for vertex, group in zip(polytope.vertices, polytope.groups, strict=True)
        if polytope.groups.count(group) == 1
    ]
    return (
        tuple(sum(column, Fraction(0)) for column in zip(*lone, strict=True))
        if lone
        else (Fraction(0),) * polytope.width
    )


def asked(polytope: Polytope, limit: int | None, iterators: int) -> frozenset[int]:
    """The slots that an agent chooses coefficients for: all, or the `limit` simplest ones. Generators with iterators'
    coefficients (the first `iterators` columns) come first, then those of fewest entries."""
    slots = polytope.slots
    if limit is None or len(slots) <= limit:
        return frozenset(range(len(slots)))

    def simplicity(k: int) -> tuple[bool, int, float, int]:
        generator = slots[k].generator
        return (
            not any(generator[:iterators]),
            sum(map(bool, generator)),
            max(abs(float(value)) for value in generator),
            k,
        )

    return frozenset(sorted(range(len(slots)), key=simplicity)[:limit])


def constructed(mdp: ConstructionMDP, initial: ConstructionState, carried: Sequence[int]) -> ConstructionState:
    """The accepting state that carries the dependences at these dimensions. Raises InputError if there is none or its
    space is empty."""
    if len(carried) != len(initial.carried):
        raise InputError(f"scopt: error: carried={tuple(carried)}: the SCoP has {len(initial.carried)} dependences")
    if not all(isinstance(dim, int | np.integer) and dim > 0 for dim in carried):
        raise InputError(
            f"scopt: error: carried={tuple(carried)}: each dependence is carried by a dimension, counted from 1"
        )
    state = ConstructionState(max(carried, default=1), initial.dep, tuple(map(int, carried)))
    if mdp.is_invalid(state):
        raise InputError(f"scopt: error: carried={tuple(carried)}: a dimension can't carry all of its dependences")
    return state
