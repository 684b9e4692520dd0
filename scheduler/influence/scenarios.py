"""Influenced dimension scenarios: which iterators should be a statement's innermost dimensions, for memory's sake.

Source: constraint injection paper, section V, Algorithm 2 and its cost function. What is different here, on a CPU:

- An access counts as vectorizable along the innermost dimension if its last subscript moves by ±1 and no other one
  moves (contiguous); a load also if it doesn't move at all (the paper's "constant": one broadcast).
- M and C are taken over the accesses that move. A dimension along which none moves has w₃/M = 0 and C = ∅; 1/M would
  have no value.
- F·L/N, as printed, grows without bound as N falls: a loop of 3 iterations would outweigh each vectorizable access. The
  text says that the term "favors high contribution to the number of threads not exceeding L" and that w₅ = 1 only
  orders dimensions: that is F·N/L, at most 1.
- L goes down by the sizes of the dimensions chosen for the same statement (Algorithm 2, line 10, divides L itself and
  never uses Lₛ).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import zip_longest
from math import ceil, prod

import islpy as isl
from msgspec import Struct

from scopt import ir
from scopt.ir.scop import Access, Array, Scop, Statement
from scopt.machine import DEFAULT, Machine
from scopt.machine.costs import UNKNOWN_EXTENT, thread_limit
from scopt.poly.isl_utils import PARAM
from scopt.poly.linear import Vector, subscript_rows

MAX_DIMENSIONS = 3
MAX_SCENARIOS = 8


class Weights(Struct, frozen=True):
    """w₁ … w₅ of the cost function; these values are the paper's."""

    stores: float = 5
    loads: float = 3
    stride: float = 1
    near: float = 1
    threads: float = 1


PAPER_WEIGHTS = Weights()


class DimensionScenario(Struct, frozen=True):
    """The innermost dimensions of one statement.

    iterators: innermost last. costs: of the same, but innermost first; larger is better, compared in this order.
    stores, loads: how many accesses are vectorizable along the innermost one; contiguous: how many of them aren't just
      constant.
    """

    statement: str
    iterators: tuple[str, ...]
    costs: tuple[float, ...]
    stores: int
    loads: int
    contiguous: int

    @property
    def innermost(self) -> str:
        return self.iterators[-1]


class Scenario(Struct, frozen=True):
    """One choice for each statement that has iterators, in textual order."""

    choices: tuple[DimensionScenario, ...] = ()

    @property
    def costs(self) -> tuple[float, ...]:
        """Sums over the statements, innermost dimensions first."""
        return tuple(sum(column) for column in zip_longest(*(choice.costs for choice in self.choices), fillvalue=0.0))

    def with_choice(self, choice: DimensionScenario) -> Scenario:
        return Scenario((*self.choices, choice))


def scenarios(
    scop: Scop, weights: Weights = PAPER_WEIGHTS, machine: Machine = DEFAULT, limit: int = MAX_SCENARIOS
) -> tuple[Scenario, ...]:
    """The best combinations of the statements' choices, best first, `limit` at most. machine: says how many iterations
    its threads can share (the paper's L).

    Costs add up, so the best combinations of some statements are all that the next one has to be combined with.
    """
    best = [Scenario()]
    for statement in scop.statements:
        if statement.iterators:
            choices = statement_scenarios(scop, statement, weights, thread_limit(machine))
            # Sorting is stable: of equal ones, the earlier statement's better choice comes first.
            best = sorted((scenario.with_choice(choice) for scenario in best for choice in choices), key=_descending)[
                :limit
            ]
    return tuple(best) if best[0].choices else ()


def _descending(scenario: Scenario) -> tuple[float, ...]:
    return tuple(-cost for cost in scenario.costs)


def statement_scenarios(
    scop: Scop, statement: Statement, weights: Weights, threads: int
) -> tuple[DimensionScenario, ...]:
    """A statement's choices, best first: Algorithm 2's, then those that begin with another innermost dimension, if an
    access is contiguous along it. threads: how many iterations they can share.

    Scalars are left out: along all dimensions they are the same.
    """
    walks = tuple(_walk(scop, statement, access) for access in statement.accesses if scop.arrays[access.array].rank)
    sizes = _iterations(scop, statement)
    found = [_scenario(statement, walks, sizes, weights, threads, first) for first in range(len(statement.iterators))]
    # Of equal costs, the iterator that is innermost in the source.
    ordered = sorted(reversed(found), key=lambda scenario: tuple(-cost for cost in scenario.costs))
    return (ordered[0], *(scenario for scenario in ordered[1:] if scenario.contiguous))


def _scenario(
    statement: Statement, walks: Sequence[_Walk], sizes: Sequence[int], weights: Weights, limit: float, first: int
) -> DimensionScenario:
    """Algorithm 2 for one statement and a given innermost dimension."""
    vector = [walk for walk in walks if walk.contiguous(first) or (walk.load and walk.invariant(first))]
    stores, loads = sum(not walk.load for walk in vector), sum(walk.load for walk in vector)
    contiguous = sum(walk.contiguous(first) for walk in vector)
    chosen = [first]
    costs = [weights.stores * stores + weights.loads * loads + _cost(weights, walks, limit, sizes[first], first)]
    while len(chosen) < min(MAX_DIMENSIONS, len(sizes)):
        limit /= sizes[chosen[-1]]
        left = [k for k in reversed(range(len(sizes))) if k not in chosen]
        by_cost = {k: _cost(weights, walks, limit, sizes[k], k) for k in left}
        chosen.append(max(left, key=lambda k: by_cost[k]))
        costs.append(by_cost[chosen[-1]])
    names = tuple(statement.iterators[k] for k in reversed(chosen))
    return DimensionScenario(statement.name, names, tuple(costs), stores, loads, contiguous)


def _cost(weights: Weights, walks: Iterable[_Walk], limit: float, iterations: int, iterator: int) -> float:
    """The terms that count for any dimension: w₃/M + w₄|C| + w₅·F·N/L."""
    moving = [stride for walk in walks if (stride := walk.strides[iterator])]
    threads = weights.threads * iterations / limit if iterations < limit else 0.0
    if not moving:
        return threads
    least = min(moving)
    return weights.stride / least + weights.near * moving.count(least) + threads


# --- how accesses walk through memory ---------------------------------------------------------------------------------


class _Walk(Struct, frozen=True):
    """One access. strides: elements that one step of each iterator jumps, ≥ 0. unit: for each, whether only the last
    subscript moves, by one."""

    load: bool
    strides: tuple[int, ...]
    unit: tuple[bool, ...]

    def contiguous(self, iterator: int) -> bool:
        return self.unit[iterator]

    def invariant(self, iterator: int) -> bool:
        return self.strides[iterator] == 0


def _walk(scop: Scop, statement: Statement, access: Access) -> _Walk:
    rows = subscript_rows(access.relation)
    count = len(statement.iterators)
    if rows is None:
        return _Walk(not access.is_write, (UNKNOWN_EXTENT,) * count, (False,) * count)
    steps = _steps(statement)
    moves = [tuple(row[k] * steps[k] for row in rows) for k in range(count)]
    elements = _row_elements(scop, scop.arrays[access.array])
    # A fraction (a subscript i/2 of even i's) is rounded up: it does move.
    jumps = (sum(move * size for move, size in zip(moved, elements, strict=True)) for moved in moves)
    return _Walk(not access.is_write, tuple(ceil(abs(Fraction(jump))) for jump in jumps), tuple(map(_is_unit, moves)))


def _is_unit(moved: Vector) -> bool:
    return bool(moved) and abs(moved[-1]) == 1 and not any(moved[:-1])


def _steps(statement: Statement) -> tuple[int, ...]:
    """What each iterator grows by from one iteration to the next."""
    return tuple(max(1, int(statement.domain.get_stride(k).get_num_si())) for k in range(len(statement.iterators)))


def _row_elements(scop: Scop, array: Array) -> tuple[int, ...]:
    """For each dimension of an array, the elements between two neighbours along it (row-major)."""
    sizes = [_size(scop, size, extent) for size, extent in zip(array.sizes, array.extents, strict=True)]
    return tuple(prod(sizes[k + 1 :]) for k in range(len(sizes)))


def _size(scop: Scop, size: int | None, extent: ir.Node | None) -> int:
    if size is None and isinstance(extent, ir.ID):
        size = next((p.estimate for p in scop.parameters if p.spelling == extent.name), None)
    return size if size is not None and size > 0 else UNKNOWN_EXTENT


def _iterations(scop: Scop, statement: Statement) -> tuple[int, ...]:
    """N for each iterator: iterations between its extremes over the whole domain,
    with the parameters' estimates; at least 1."""
    domain = statement.domain.intersect_params(scop.context)
    for parameter in scop.parameters:
        position = domain.find_dim_by_name(PARAM, parameter.name)
        if position >= 0:
            value = parameter.estimate if parameter.estimate is not None else UNKNOWN_EXTENT
            domain = domain.fix_val(PARAM, position, isl.Val(value))
    if domain.is_empty():  # the estimates contradict the context: nothing is known
        return (UNKNOWN_EXTENT,) * len(statement.iterators)
    return tuple(_extent(domain, k) // step + 1 for k, step in enumerate(_steps(statement)))


def _extent(domain: isl.Set, position: int) -> int:
    """Largest minus smallest value of one iterator in a set without parameters."""
    least, most = domain.dim_min_val(position), domain.dim_max_val(position)
    if not (least.is_int() and most.is_int()):
        return UNKNOWN_EXTENT - 1
    return int(most.sub(least).get_num_si())
