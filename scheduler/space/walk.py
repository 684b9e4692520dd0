"""Random walks through both processes: the paper's three simple heuristics.

Source: polygym paper, section V-B; the weights are those of its published code.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

from msgspec import Struct

from scopt.options import Walk
from scopt.poly.generators import Row
from scopt.scheduler.space.construction import ConstructionAction, ConstructionMDP, ConstructionState
from scopt.scheduler.space.exploration import DEFAULT_LARGEST, ExplorationMDP, ScheduleSpace
from scopt.scheduler.space.polytope import Polytopes


class Weights(Struct, frozen=True):
    """How likely the actions are, where all are allowed. construction: next_dim, next_dep, select_dep. coefficients:
    select_coeff0, 1, …; the last one goes for all larger ones."""

    construction: tuple[float, float, float] = (1.0, 1.0, 1.0)
    coefficients: tuple[float, ...] = (1.0,)

    def of_coefficients(self, largest: int) -> tuple[float, ...]:
        return tuple(self.coefficients[min(k, len(self.coefficients) - 1)] for k in range(largest + 1))


WALKS: Mapping[Walk, Weights] = {
    "uniform": Weights(),
    "bias_select_dep": Weights(construction=(0.2, 0.2, 0.6)),
    "bias_coeff_0": Weights(coefficients=(1.0, 0.15)),
}


class Sample(Struct, frozen=True):
    """One schedule of a SCoP's space. carried: by dependence, the dimension that carries it, from 1. coefficients: of
    all dimensions' slots.
    rows: the points p_1, …, p_k over the problem's columns."""

    carried: tuple[int, ...]
    coefficients: tuple[int, ...]
    rows: tuple[Row, ...]


def random_sample(polytopes: Polytopes, walk: Walk, rng: random.Random, largest: int = DEFAULT_LARGEST) -> Sample:
    """One walk through the construction and the exploration, in which only actions that lead on are drawn.
    largest: coefficient, N."""
    weights = WALKS[walk]
    construction = ConstructionMDP(polytopes)
    state = walk_construction(construction, weights, rng)
    space = construction.space(state)
    coefficients = draw_coefficients(space, weights, rng, largest)
    points = space.points(coefficients)
    assert points is not None
    return Sample(state.carried, coefficients, points)


def walk_construction(mdp: ConstructionMDP, weights: Weights, rng: random.Random) -> ConstructionState:
    """From the initial state to an accepting one."""
    state, last = mdp.initial(), None
    while not state.is_accepting:
        allowed = mdp.allowed(state, last)
        last = ConstructionAction(_drawn(weights.construction, allowed, rng))
        following = state.successor(last)
        assert following is not None
        state = following
    return state


def draw_coefficients(space: ScheduleSpace, weights: Weights, rng: random.Random, largest: int) -> tuple[int, ...]:
    """A coefficient for each slot of a space."""
    mdp = ExplorationMDP(space, largest)
    likely = weights.of_coefficients(largest)
    chosen: list[int] = []
    for polytope in space.polytopes:
        for slot in polytope.slots:
            # Only vertices have something to keep in mind.
            allowed = (True,) * len(likely) if slot.group is None else mdp.allowed_at(chosen, len(chosen))
            chosen.append(_drawn(likely, allowed, rng))
    return tuple(chosen)


def _drawn(weights: Sequence[float], allowed: Sequence[bool], rng: random.Random) -> int:
    return rng.choices(
        range(len(weights)), [weight if ok else 0.0 for weight, ok in zip(weights, allowed, strict=True)]
    )[0]
