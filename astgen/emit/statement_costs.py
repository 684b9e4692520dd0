"""What an instance of each statement costs: one by one, in vector loops, and with loops of its own."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from scopt.astgen.emit.own_loops import OwnLoop, own_loops
from scopt.ir.expr import linear
from scopt.ir.nest import Expr, Name
from scopt.ir.scop import Scop
from scopt.machine import Machine
from scopt.machine.costs import ELEMENT, cached_cost, instance_cost, least_instance, vector_gain

# What a factor that nobody knows is taken for beside known ones: of the statements of a loop, the heaviest one tells.
_FACTOR = 512


class Costs(dict[str, Fraction]):
    """Nanoseconds of an instance of each statement. own: of those with loops of their own, such a loop. sizes: guesses
    of parameters' values."""

    own: Mapping[str, OwnLoop] = {}
    sizes: Mapping[str, int] = {}


def statement_costs(scop: Scop, weights: Mapping[str, tuple[str, int]], machine: Machine) -> Costs:
    """Nanoseconds of an instance of each statement. weights: for statements that stand for many instances of another
    one, which one and how many."""
    costs = {s.name: instance_cost(s.body, machine) for s in scop.statements}
    costs |= {name: costs[other] * count / vector_gain(machine) for name, (other, count) in weights.items()}
    made = Costs({name: max(cost, least_instance(machine)) for name, cost in costs.items()})
    made.own = own_loops(scop, machine)
    made.sizes = {one.name: one.estimate for one in scop.parameters if one.estimate is not None}
    return made


def vector_costs(scop: Scop, costs: Mapping[str, Fraction], machine: Machine) -> dict[str, Fraction]:
    """Nanoseconds of an instance of each statement of the SCoP in a vector loop: its share of operations on whole
    vectors, or of what comes from the second cache. costs: of each one by one."""
    found = {}
    for statement in scop.statements:
        cells = [access for access in statement.accesses if scop.arrays[access.array].rank]
        sizes = [max(scop.arrays[access.array].type.bits // 8, 1) for access in cells]
        lanes = machine.lanes(max(sizes, default=ELEMENT))
        found[statement.name] = max(costs[statement.name] / lanes, cached_cost(machine, sum(sizes)))
    return found


def likely_size(factor: Expr, sizes: Mapping[str, int]) -> int:
    """What a factor is taken for. sizes: guesses of parameters' values."""
    coefficients, constant = linear(factor)
    known = [(c, sizes[x.name]) for x, c in coefficients.items() if isinstance(x, Name) and x.name in sizes]
    return max(constant + sum(c * size for c, size in known), 1) if len(known) == len(coefficients) else _FACTOR
