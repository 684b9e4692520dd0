"""How long one instance of a statement takes, very roughly: its operations on a machine, one by one."""

from __future__ import annotations

from fractions import Fraction

from scopt import ir
from scopt.machine.processor import Machine

# Cycles of what isn't vectorized, operands included: of an operation with its share of loads, of a division, of a call
# into the mathematical library. How often a loop inside a statement is taken to run: nothing is known of that.
_ITERATIONS = 16
_OPERATION, _DIVISION, _CALL = Fraction(3, 2), Fraction(6), Fraction(45)


def instance_cost(body: ir.Node, machine: Machine) -> Fraction:
    """Nanoseconds of one instance of a statement with this body, on one core."""
    return _cycles(body) / Fraction(str(machine.gigahertz))


def has_loop(body: ir.Node) -> bool:
    """Whether a statement has a loop of its own: no vector instruction does several of its instances at once, and they
    take their own time each."""
    return isinstance(body, ir.For | ir.While | ir.DoWhile) or any(has_loop(child) for _, child in body.children())


def vector_gain(machine: Machine) -> int:
    """By how much a register tile is faster than its instances one by one,
    of doubles: all lanes of all units are busy."""
    return machine.lanes(8) * machine.fma_per_cycle


def _cycles(node: ir.Node) -> Fraction:
    own = Fraction(0)
    match node:
        case ir.BinaryOp() | ir.Assignment():
            own = _DIVISION if node.op in ("/", "%", "/=", "%=") else _OPERATION
        case ir.FuncCall():
            own = _CALL
    times = _ITERATIONS if isinstance(node, ir.For | ir.While | ir.DoWhile) else 1
    return own + times * sum((_cycles(child) for _, child in node.children()), Fraction(0))
