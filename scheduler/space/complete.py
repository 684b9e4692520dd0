"""Rows from anywhere made a legal schedule: what violates something is left out, what is missing is sampled."""

from __future__ import annotations

import random
from collections.abc import Iterable

from scopt.options import Walk
from scopt.poly.generators import Row
from scopt.scheduler.space.exploration import DEFAULT_LARGEST, ScheduleSpace
from scopt.scheduler.space.matrix import carries
from scopt.scheduler.space.polytope import Polytopes
from scopt.scheduler.space.walk import WALKS, draw_coefficients

# How likely a dependence is carried by a dimension that is sampled for what is left (Ganser et al., 2017).
CARRYING_PROBABILITY = 0.4


def completed(
    polytopes: Polytopes, rows: Iterable[Row], walk: Walk, rng: random.Random, largest: int = DEFAULT_LARGEST
) -> tuple[Row, ...]:
    """The rows, in their order, that violate nothing which is uncarried when their turn comes, and sampled rows until
    all dependences are carried.

    Rows after the last dependence is carried are left out: they order nothing that must be.
    """
    problem = polytopes.problem
    uncarried = problem.numbers()
    kept: list[Row] = []
    for row in rows:
        if not uncarried:
            break
        strong, violated = carries(problem, row, uncarried)
        if not violated:
            kept.append(row)
            uncarried -= strong
    while uncarried:
        row = sampled_row(polytopes, uncarried, walk, rng, largest)
        kept.append(row)
        uncarried -= carries(problem, row, uncarried)[0]
    return tuple(kept)


def sampled_row(
    polytopes: Polytopes, uncarried: frozenset[int], walk: Walk, rng: random.Random, largest: int = DEFAULT_LARGEST
) -> Row:
    """A point of a dimension that carries some of the uncarried dependences strongly,
    at least one, and the others weakly."""
    strong = frozenset[int]()
    for number in rng.sample(sorted(uncarried), len(uncarried)):
        wanted = strong | {number}
        if (not strong or rng.random() < CARRYING_PROBABILITY) and polytopes.feasible(wanted, uncarried - wanted):
            strong = wanted
    space = ScheduleSpace((polytopes.polytope(strong, uncarried - strong),))
    points = space.points(draw_coefficients(space, WALKS[walk], rng, largest))
    assert points is not None
    return points[0]
