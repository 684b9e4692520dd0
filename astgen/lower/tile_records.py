"""What one tiling becomes: steps, choices and loops of statements, as data for whoever makes trees and calls."""

from __future__ import annotations

from math import prod

import islpy as isl
from msgspec import Struct

from scopt.astgen.lower.kernel import Kernel
from scopt.ir.marked_schedule import RegisterTiling
from scopt.ir.scop import Array


class Turned(Struct, frozen=True, eq=False):
    """A statement that copies as many rows and steps of an operand as another one does in two loops around it. row,
    step: positions of the iterators that those loops move; in their place it has the first ones', and how many there
      are behind all others. skew: by how much later a row's first step is than that of the row before. record:
      where rows are whole records, each with its cells side by side, the positions of all iterators that go through
      one, with their numbers of values; the last one is `step`."""

    name: str
    row: int
    step: int
    skew: int = 0
    record: tuple[tuple[int, int], ...] = ()

    @property
    def cells(self) -> int:
        """Of a record."""
        return prod(size for _, size in self.record)


class Step(Struct, frozen=True, eq=False):
    """What a statement that makes one step of a register tile claims to be. many: the statement that makes many in a
    row; position: of the step among the iterators of both; corner: positions of the tile's first row and first column
    there. copy: the array that holds the cells, or None."""

    many: str
    position: int
    corner: tuple[int, int]
    tiling: RegisterTiling
    kernel: Kernel
    copy: Array | None


class Choice(Struct, frozen=True, eq=False):
    """Where the cells of a tile all exist, the steps `whole` are made; elsewhere the others: load a copy, make steps
    there, store it.

    condition: for which arguments of `whole`.
    """

    whole: str
    others: tuple[str, ...]
    condition: isl.Set


class Loops(Struct, frozen=True, eq=False):
    """Loops over some dimensions of a statement's domain, outermost first. simd: the last one is a vector loop."""

    domain: isl.Set
    dimensions: tuple[int, ...]
    simd: bool = False
