"""What batches of small problems cost, a lane of vectors each."""

from __future__ import annotations

from scopt import ir
from scopt.ir.walks import walk
from scopt.machine.math_calls import INSTRUCTIONS, ROOTS
from scopt.machine.processor import Machine

# Bytes of all arrays that a small problem may have, where as many problems as a vector has lanes run together: these
# stay in the first cache.
BATCH_BYTES = 1536
_LEAST_BATCH = 8
# Cycles of copying one of these cells to a lane, or back; of a division, or a root, one by one, and of a lane of a
# vector of them (measured for factorizations of 4 x 4 matrices; Fog). By how much batches have to be faster: of
# straight code compilers make vectors, too.
BATCH_COPY, DIVISION_ALONE, DIVISION_LANE, WORTH_BATCH = 0.75, 3.0, 1.5, 1.4


def batch_lanes(machine: Machine, element: int) -> int:
    """Small problems that run together: whole vectors, and at least as many as are turned into lanes at a time."""
    return max(machine.lanes(element), _LEAST_BATCH)


def long_operations(body: ir.Node) -> int:
    """How many divisions and roots there are in a statement, other than in subscripts."""
    match body:
        case ir.ArrayRef():
            return 0
        case ir.BinaryOp() | ir.Assignment():
            own = int("/" in body.op or "%" in body.op)
        case ir.FuncCall():
            own = int(isinstance(body.name, ir.ID) and body.name.name in ROOTS)
        case _:
            own = 0
    return own + sum(long_operations(child) for child in body.parts)


def calls_others(body: ir.Node) -> bool:
    """Whether a statement calls a function that is no instruction: nobody knows what that takes."""
    called = [node.name for node in walk(body) if isinstance(node, ir.FuncCall)]
    return any(not isinstance(one, ir.ID) or one.name not in INSTRUCTIONS | ROOTS for one in called)
