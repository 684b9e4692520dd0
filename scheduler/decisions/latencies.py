"""How long results wait for their operands: chains of operations in the statements' expressions."""

from __future__ import annotations

from collections.abc import Collection

from scopt import ir
from scopt.ir.scop import Scop, Statement
from scopt.machine import Machine
from scopt.machine.costs import operation_latency


def cycles_to(root: ir.Node, leaf: ir.Node, machine: Machine, *, integer: bool = False) -> int | None:
    """Latencies of the operations on the way from an operand to the whole; None if it isn't part of it. integer: the
    operand is one, and so is what is computed from it."""
    if root is leaf:
        return 0
    for child in root.parts:
        below = cycles_to(child, leaf, machine, integer=integer)
        if below is not None:
            return below + operation_latency(_operator(root), machine, integer=integer)
    return None


def waiting(scop: Scop, statement: Statement, written: Collection[str], machine: Machine) -> int:
    """Cycles from the operand of a statement that waits longest to its result. written: the arrays that there is a wait
    for."""
    longest = 0
    for access in statement.accesses:
        if access.kind == "read" and access.array in written and access.node is not None:
            integer = scop.arrays[access.array].type.integer
            longest = max(longest, cycles_to(statement.body, access.node, machine, integer=integer) or 0)
    return longest


def _operator(node: ir.Node) -> str:
    match node:
        case ir.BinaryOp(op=op):
            return str(op)
        case ir.Assignment(op=op):
            return str(op).removesuffix("=")
        case ir.TernaryOp():
            return "?:"
    return ""
