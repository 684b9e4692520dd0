"""Genetic search: matrices of schedule rows bred from the better ones.

Source: Ganser, Größlinger, Siegmund, Apel, Lengauer, "Iterative Schedule Optimization for Parallelization in the
Polyhedron Model" (Polyite): the operators replaceDims, replacePrefix, replaceSuffix, replaceBlocksOfDims,
mutateGeneratorCoeffs, geometricCrossover, rowCrossover; a population of 30, of which a generation keeps the better
half, 40 generations, 1/20 of them new at random; mutations that get smaller by p / √ln(g + e - 1); points of a polytope
from one vertex and at most two rays, with coefficients of at most 3.

An operator only has to be roughly right: `completed` drops the rows that break a dependence and adds dimensions until
all are carried, so that every child is a legal schedule.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from math import gcd

from scopt.options import Walk
from scopt.poly.generators import Row
from scopt.polybench.explore.records import Rows
from scopt.scheduler.space.complete import completed
from scopt.scheduler.space.matrix import carries
from scopt.scheduler.space.polytope import Polytope, Polytopes
from scopt.scheduler.space.walk import random_sample

POPULATION = 30
GENERATIONS = 40
KEPT = POPULATION // 2
NEW = POPULATION - KEPT
# How many of these are drawn at random: 1/20 of 30, rounded up.
RANDOM = math.ceil(POPULATION / 20)
# p of the annealing: which share of a matrix's dimensions a mutation changes in the first generation.
CHANGED = 0.4
# How many rays lead from a vertex, or a parent's row, to a new point at most; and their largest coefficient, and that
# of a parent in a combination.
RAYS = 2
LARGEST = 3
# How often an operator is tried if the child is one of its parents.
TRIES = 10


def generation_of(number: int) -> int:
    """The generation that a sample of a genetic series is born in: 0 for the first population, drawn at random."""
    return 0 if number < POPULATION else 1 + (number - POPULATION) // NEW


def numbers_of(generation: int) -> range:
    """The numbers of the samples that are born in a generation."""
    if generation == 0:
        return range(POPULATION)
    first = POPULATION + (generation - 1) * NEW
    return range(first, first + NEW)


def is_random(number: int) -> bool:
    """Whether a sample is drawn at random: the first population, and the first of each generation's new ones."""
    generation = generation_of(number)
    return generation == 0 or number - numbers_of(generation).start < RANDOM


def annealed(share: float, generation: int) -> float:
    """The share of what a mutation changes in that generation, from 1: p / √ln(g + e - 1)."""
    return share / math.sqrt(math.log(generation + math.e - 1))


def child(polytopes: Polytopes, parents: Sequence[Rows], walk: Walk, rng: random.Random, generation: int) -> Rows:
    """A matrix bred from one or two of `parents` by an operator, all chosen at random; legal and complete. walk: how
    new rows are drawn."""
    share = annealed(CHANGED, generation)
    made = parents[0]
    for _ in range(TRIES):
        first, second = rng.choice(parents), rng.choice(parents)
        operator = rng.choice(OPERATORS)
        made = completed(polytopes, operator(polytopes, first, second, walk, rng, share), walk, rng)
        if made not in parents:
            break
    return made


# --- mutations: of the first parent -----------------------------------------------------------------------------------


def replace_dims(polytopes: Polytopes, rows: Rows, _: Rows, _walk: Walk, rng: random.Random, share: float) -> Rows:
    """replaceDims: a share of the rows, each by another that carries what it carries."""
    return _with_new_rows(polytopes, rows, _chosen(len(rows), share, rng), rng)


def replace_blocks_of_dims(
    polytopes: Polytopes, rows: Rows, _: Rows, _walk: Walk, rng: random.Random, share: float
) -> Rows:
    """replaceBlocksOfDims: the same for adjacent rows."""
    length = _length(len(rows), share)
    first = rng.randrange(len(rows) - length + 1) if rows else 0
    return _with_new_rows(polytopes, rows, frozenset(range(first, first + length)), rng)


def replace_prefix(polytopes: Polytopes, rows: Rows, _: Rows, walk: Walk, rng: random.Random, share: float) -> Rows:
    """replacePrefix: the outer rows by those of a random matrix."""
    length = _length(len(rows), share)
    return (*random_sample(polytopes, walk, rng).rows[:length], *rows[length:])


def replace_suffix(_polytopes: Polytopes, rows: Rows, _: Rows, _walk: Walk, _rng: random.Random, share: float) -> Rows:
    """replaceSuffix: without the inner rows, which completion replaces."""
    return rows[: len(rows) - _length(len(rows), share)]


def mutate_generator_coeffs(
    polytopes: Polytopes, rows: Rows, _: Rows, _walk: Walk, rng: random.Random, share: float
) -> Rows:
    """mutateGeneratorCoeffs: in a share of the rows, other coefficients for some rays of the row's polytope, which lead
    to another point of it."""
    chosen = _chosen(len(rows), share, rng)
    found = []
    for k, (row, strong, left) in enumerate(_carried(polytopes, rows)):
        if k not in chosen:
            found.append(row)
            continue
        rays = polytopes.polytope(strong, left - strong).rays
        for number, factor in _steps(len(rays), rng).items():
            row = tuple(value + factor * entry for value, entry in zip(row, rays[number], strict=True))
        found.append(_primitive(row))
    return tuple(found)


# --- crossovers -------------------------------------------------------------------------------------------------------


def geometric_crossover(
    _polytopes: Polytopes, rows: Rows, others: Rows, _walk: Walk, rng: random.Random, _share: float
) -> Rows:
    """geometricCrossover: positive combinations of the parents' rows of a dimension;
    rows that only one of them has stay."""
    found = []
    for row, other in zip(rows, others, strict=False):
        factor, of_other = rng.randint(1, LARGEST), rng.randint(1, LARGEST)
        found.append(
            _primitive(tuple(factor * value + of_other * entry for value, entry in zip(row, other, strict=True)))
        )
    longer = rows if len(rows) > len(others) else others
    return (*found, *longer[len(found) :])


def row_crossover(
    _polytopes: Polytopes, rows: Rows, others: Rows, _walk: Walk, rng: random.Random, _share: float
) -> Rows:
    """rowCrossover: each dimension's row from one of the parents."""
    found = [rng.choice(pair) for pair in zip(rows, others, strict=False)]
    longer = rows if len(rows) > len(others) else others
    return (*found, *longer[len(found) :])


Operator = Callable[[Polytopes, Rows, Rows, Walk, random.Random, float], Rows]
OPERATORS: tuple[Operator, ...] = (
    replace_dims,
    replace_prefix,
    replace_suffix,
    replace_blocks_of_dims,
    mutate_generator_coeffs,
    geometric_crossover,
    row_crossover,
)


# --- rows and what they carry -----------------------------------------------------------------------------------------


def _carried(polytopes: Polytopes, rows: Rows) -> list[tuple[Row, frozenset[int], frozenset[int]]]:
    """(row, dependences that it carries, all that no earlier row carries)."""
    found = []
    left = polytopes.problem.numbers()
    for row in rows:
        strong, _ = carries(polytopes.problem, row, left)
        found.append((row, strong, left))
        left -= strong
    return found


def _with_new_rows(polytopes: Polytopes, rows: Rows, chosen: frozenset[int], rng: random.Random) -> Rows:
    """The chosen rows as other points of polytopes that carry what they carry."""
    carried = enumerate(_carried(polytopes, rows))
    return tuple(
        (_random_point(polytopes.polytope(strong, left - strong), rng) or row) if k in chosen else row
        for k, (row, strong, left) in carried
    )


def _random_point(polytope: Polytope, rng: random.Random) -> Row | None:
    """A vertex of each group and some rays; None if the polytope is empty."""
    slots = polytope.slots
    coefficients = [0] * len(slots)
    for group in dict.fromkeys(slot.group for slot in slots if slot.group is not None):
        coefficients[rng.choice([k for k, slot in enumerate(slots) if slot.group == group])] = 1
    rays = [k for k, slot in enumerate(slots) if slot.group is None]
    for number, factor in _steps(len(rays), rng).items():
        coefficients[rays[number]] = factor
    return polytope.point(coefficients)


def _steps(count: int, rng: random.Random) -> dict[int, int]:
    """Some of `count` rays by their places, with their coefficients."""
    return {number: rng.randint(1, LARGEST) for number in rng.sample(range(count), min(count, rng.randint(1, RAYS)))}


def _chosen(count: int, share: float, rng: random.Random) -> frozenset[int]:
    """Some of `count` things, each with the probability `share`; one at least."""
    found = frozenset(k for k in range(count) if rng.random() < share)
    return found or frozenset((rng.randrange(count),) if count else ())


def _length(count: int, share: float) -> int:
    """That share of `count` dimensions; one at least, if there is one."""
    return min(count, max(1, round(share * count)))


def _primitive(row: Row) -> Row:
    """The row divided by the greatest common divisor of its entries: the same order in smaller numbers."""
    divisor = gcd(*row)
    return tuple(value // divisor for value in row) if divisor > 1 else row
