"""What vectors cost whose elements lie far apart in memory, in cycles for each iteration, and what these take without.

Measured on Zen 4 with clang, whose vectors gather and scatter, for 1 to 16 cells of records of 2 to 16 numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from msgspec import Struct

from scopt import ir
from scopt.ir.scop import Array
from scopt.machine.costs import ELEMENT, LOADS, STORES
from scopt.machine.math_calls import ROOTS, divides
from scopt.machine.processor import Machine

# Of a number on its own: an operation in straight code, as others run beside it; a division; a root.
_OPERATION, _DIVISION, _ROOT = 0.65, 4.4, 9.0
# Of a vector of operations, of divisions, of roots.
_OPERATIONS, _DIVISIONS, _ROOTS = 2.0, 5.0, 16.0
# Of an element that is gathered, or scattered, in the second cache; and with what comes from further away. (From memory
# it is up to 20 each, as fewer records are on their way at a time; from the third cache 2 and 4.)
_NEAR, _FAR = (1.25, 1.75), (4.0, 8.0)
# Of one that data look up, wherever it is: lines come as late to a number on its own.
_LOOKED_UP = 1.25
# Of an element that comes from a whole line, or goes there with all others: clang shuffles steps of so many elements,
# and of less than so many bytes.
_SHUFFLED, _STEP, _BYTES = 0.45, 8, 64
# Of elements from where on it is worth keeping compilers from it: one or two gain or lose little.
_FEW = 3


class Gathered(Struct):
    """A loop's iteration, as far as it is known.

    operations, divisions, roots: how many there are. loads, stores: of cells. moved: what getting elements into vectors
    and out takes. jumps: how many are gathered or scattered. size: bytes of the longest element.
    """

    machine: Machine
    operations: int = 0
    divisions: int = 0
    roots: int = 0
    loads: int = 0
    stores: int = 0
    moved: float = 0.0
    jumps: int = 0
    size: int = 1

    def add(self, body: ir.Node) -> None:
        """A statement's operations; a product that is added is one with the sum."""
        for node in _computing(body):
            match node:
                case ir.BinaryOp(op="+" | "-", left=left, right=right):
                    self.operations += 1 - any(isinstance(x, ir.BinaryOp) and x.op == "*" for x in (left, right))
                case ir.Assignment(op="+=" | "-=", rvalue=ir.BinaryOp(op="*")) | ir.Assignment(op="="):
                    pass
                case ir.BinaryOp() | ir.Assignment() if divides(node):
                    self.divisions += 1
                case ir.FuncCall(name=ir.ID(name=name)) if name in ROOTS:
                    self.roots += 1
                case ir.BinaryOp() | ir.Assignment() | ir.TernaryOp() | ir.FuncCall():
                    self.operations += 1

    def move(self, array: Array, step: int, *, stored: bool, whole: bool) -> None:
        """A cell that moves by so many elements. whole: it is stored with all others of its record."""
        size = max(array.type.bytes, 1)
        self.size = max(self.size, size)
        self.loads, self.stores = self.loads + (not stored), self.stores + stored
        if abs(step) == 1:
            return
        if abs(step) <= _STEP and abs(step) * size < _BYTES and (whole or not stored):
            self.moved += _SHUFFLED
            return
        known = [extent for extent in array.sizes if extent is not None]
        near = len(known) == array.rank and prod(known) * size <= self.machine.cache(2).size
        self.moved += (_NEAR if near else _FAR)[stored]
        self.jumps += 1

    def look_up(self, array: Array) -> None:
        """A cell that is read at a place that data name."""
        self.size = max(self.size, array.type.bytes, 1)
        self.loads, self.moved, self.jumps = self.loads + 1, self.moved + _LOOKED_UP, self.jumps + 1

    def loses(self) -> bool:
        """Whether vectors that gather or scatter take longer than the same iterations one by one."""
        lanes = self.machine.lanes(self.size if self.size > 1 else ELEMENT)
        busy = max(_OPERATION * self.operations, _DIVISION * self.divisions + _ROOT * self.roots)
        alone = max(busy, self.loads / LOADS, self.stores / STORES)
        filled = _OPERATIONS * self.operations + _DIVISIONS * self.divisions + _ROOTS * self.roots
        return self.jumps >= _FEW and alone < self.moved + filled / lanes


def _computing(node: ir.Node) -> Iterator[ir.Node]:
    """What a statement computes: all of it but for subscripts."""
    yield node
    if not isinstance(node, ir.ArrayRef):
        for part in node.parts:
            yield from _computing(part)
