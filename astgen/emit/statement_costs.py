"""What an instance of each statement costs: one by one, in vector loops, and with loops of its own."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from scopt import ir
from scopt.astgen.emit.own_loops import OwnLoop, own_loops
from scopt.ir.expr import linear
from scopt.ir.nest import Expr, Name
from scopt.ir.scop import Scop, Statement
from scopt.ir.walks import walk
from scopt.machine import Machine
from scopt.machine.costs import ELEMENT, cached_cost, instance_cost, least_instance, operations_cost, vector_gain
from scopt.poly.linear import subscript_rows

# What a factor that nobody knows is taken for beside known ones: of the statements of a loop, the heaviest one tells.
_FACTOR = 512
_WORD = 32
_BRANCHING = (ir.If, ir.TernaryOp, ir.FuncCall, ir.For, ir.While, ir.DoWhile)


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


class VectorCosts(dict[str, Fraction]):
    """Nanoseconds of an instance of each statement in a vector loop. sums: the same of those whose innermost loop is
    one to compilers, though nothing says so: integers may be added in any order."""

    sums: Mapping[str, Fraction] = {}


def vector_costs(scop: Scop, costs: Mapping[str, Fraction], machine: Machine) -> VectorCosts:
    """Nanoseconds of an instance of each statement of the SCoP in a vector loop: its share of operations on whole
    vectors, or of what comes from the second cache. costs: of each one by one."""
    found = VectorCosts()
    found.sums = {one.name: _sum_cost(one, scop, machine) for one in scop.statements if _sums_integers(scop, one)}
    for statement in scop.statements:
        cells = [access for access in statement.accesses if scop.arrays[access.array].rank]
        sizes = [max(scop.arrays[access.array].type.bits // 8, 1) for access in cells]
        lanes = machine.lanes(max(sizes, default=ELEMENT))
        found[statement.name] = max(costs[statement.name] / lanes, cached_cost(machine, sum(sizes)))
    return found


def _sum_cost(statement: Statement, scop: Scop, machine: Machine) -> Fraction:
    """Of one that adds to an integer: subscripts are counted on, and what is read is as wide as the sum."""
    types = [scop.arrays[access.array].type for access in statement.accesses]
    lanes = machine.lanes(max(ctype.bytes for ctype in types))
    return max(operations_cost(statement.body, machine), least_instance(machine)) / lanes


def _sums_integers(scop: Scop, statement: Statement) -> bool:
    """Whether a statement adds numbers of up to 32 bits, neighbours in memory, to one cell all along its innermost
    loop."""
    match statement.body:
        case ir.Assignment(op="+=" | "-="):
            pass
        case _:
            return False
    last = len(statement.iterators) - 1
    if last < 0 or not statement.accesses or any(isinstance(node, _BRANCHING) for node in walk(statement.body)):
        return False
    for access in statement.accesses:
        ctype, rows = scop.arrays[access.array].type, subscript_rows(access.relation)
        if not ctype.integer or not 0 < ctype.bits <= _WORD or rows is None:
            return False
        moves = [row[last] for row in rows]
        if any(moves) and (access.is_write or any(moves[:-1]) or moves[-1] != 1):
            return False
    return True


def likely_size(factor: Expr, sizes: Mapping[str, int]) -> int:
    """What a factor is taken for. sizes: guesses of parameters' values."""
    coefficients, constant = linear(factor)
    known = [(c, sizes[x.name]) for x, c in coefficients.items() if isinstance(x, Name) and x.name in sizes]
    return max(constant + sum(c * size for c, size in known), 1) if len(known) == len(coefficients) else _FACTOR
