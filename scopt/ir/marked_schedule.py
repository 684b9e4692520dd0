"""A schedule tree with what has been decided of its bands: loops' properties, tiles, strips and panels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import islpy as isl
from msgspec import Struct

from scopt import ir
from scopt.ir.nest import Expr, LoopMark
from scopt.ir.scop import CType


class TileShape(Struct, frozen=True, eq=False):
    """How the tiles of a band without a parallel member are cut, and the order of their points, where the band's own
    members are not the best choice.

    statements: names of all that the band holds. rows: hyperplanes of the tile loops, so that all tiles of a wavefront
    can start at once (diamond tiling); None for the band's members. interleave: run the points of a tile in wavefronts
    too, where no innermost loop is parallel otherwise.
    """

    statements: frozenset[str]
    rows: isl.MultiUnionPwAff | None = None
    interleave: bool = False


class Extremum(Struct, frozen=True):
    """A comparison of a cell, on its left side, with a value: where it holds the cell keeps what it has (keeps), or
    takes the value.

    op: ``<``, ``<=``, ``>`` or ``>=``. Not the same as a minimum or maximum, where floating-point values can't be
      compared or are zeros of two signs.
    """

    op: str
    keeps: bool


class Operation(Struct, frozen=True, eq=False):
    """What one instance of a contraction does to its cell.

    op: the assignment operator. expression: its right side over the names ``cell``, ``row0`` …, ``column0`` …,
      ``scalar0`` ….
    extremum: whether the cell takes the expression's value depends on that comparison of the two; None if it always
      does.
    rows, columns, scalars: the subexpressions that those names stand for, as they are in the statement: each depends on
      the row and the reduction loop, on the column and the reduction loop, on neither. type: of the cell and of
      everything else.
    narrow: the type of 16 bits that rows and columns may be packed in, where it has all values of both, and the cell is
      the sum of their products; else None.
    """

    op: str
    expression: ir.Node
    rows: tuple[ir.Node, ...]
    columns: tuple[ir.Node, ...]
    scalars: tuple[ir.Node, ...]
    type: CType
    extremum: Extremum | None = None
    narrow: CType | None = None

    @property
    def operand_type(self) -> CType:
        """What operands are packed in."""
        return self.narrow or self.type


class Contraction(Struct, frozen=True, eq=False):
    """A statement that accumulates, along one loop, into cells that two other loops walk through; or several that do
    the same in different parts.

    row, column, reduction: positions of its iterators. members: the band's members that are these iterators, up to a
      constant.
    cell: the reference in the first statement's body that is updated.
    """

    statements: tuple[str, ...]
    row: int
    column: int
    reduction: int
    members: tuple[int, int, int]
    cell: ir.ArrayRef
    operation: Operation


class RegisterTiling(Struct, frozen=True, eq=False):
    """How a contraction is tiled. rows, columns: of a register tile. block: rows, depth: steps of the reduction loop
    whose operands are packed at a time. simd: the loop over the columns of a tile carries nothing."""

    contraction: Contraction
    rows: int
    columns: int
    block: int
    depth: int
    simd: bool


class RowBuffer(Struct, frozen=True, eq=False):
    """Where a strip of rows keeps an array's cells: ``array[…][row + base + offset][…]`` in
    ``buffer[…][…][row - strip + offset - first]``, where `strip` is the strip's first row.

    dimension: the subscript that is the row. first: the least offset; spread: by how much the largest one exceeds it.
    base: parameters, each times a number.
    extents: of the array's dimensions, as far as the references reach that are kept: all of an array that the strips
      write; of others those whose `dimension` moves from row to row (`scopt.poly.row_buffers`). problem: rows are small
    problems, as many as a vector has lanes.
    """

    array: str
    dimension: int
    first: int
    spread: int
    extents: tuple[Expr, ...]
    problem: bool = False
    base: tuple[tuple[str, int], ...] = ()


class Strips(Struct, frozen=True, eq=False):
    """Nests whose rows run in strips, a loop over the rows of a strip innermost.

    lane: the row of each instance of `statements`, an iterator up to a constant. count: rows of a strip.
    buffers: of arrays whose cells of neighbouring rows are apart. scalars: private ones that get a cell a row.
    vectors: the innermost loop is a vector loop; else its rows are written out beside each other.
    """

    statements: tuple[str, ...]
    lane: isl.UnionPwAff
    count: int
    buffers: tuple[RowBuffer, ...]
    scalars: tuple[str, ...]
    vectors: bool = True

    @property
    def alone(self) -> bool:
        """Whether rows run one by one, each in a thread's own buffers: all that is gained is that threads can."""
        return not self.vectors and self.count == 1


class PanelDimension(Struct, frozen=True, eq=False):
    """One subscript of a panel: a sum of some of its array's subscripts, less a tile's origin, less `first`.

    terms: positions of subscripts, each with its sign. origin: position in the tile's `origins`; None: there is none.
      first: the least value of a tile, from its origin on. cells: how many values there are, at most.
    """

    terms: tuple[tuple[int, int], ...]
    origin: int | None
    first: int
    cells: Expr


class Panel(Struct, frozen=True, eq=False):
    """Where a tile keeps an array's cells. dimensions: as many as the array has; cells have places of their own."""

    array: str
    dimensions: tuple[PanelDimension, ...]

    @property
    def origins(self) -> tuple[int, ...]:
        """Those that places are told from."""
        return tuple(sorted({one.origin for one in self.dimensions if one.origin is not None}))


class PackedTile(Struct, frozen=True, eq=False):
    """Tiles that keep arrays in panels: contiguous, narrow in the last subscript, which may be a row and the one before
    a diagonal.

    statements: all that the tiles run, each in all of its instances. origins: ``{ S[…] -> [(o)] }`` for all statements,
    the same value for all instances of a tile.
    """

    statements: tuple[str, ...]
    origins: tuple[isl.UnionPwAff, ...]
    panels: tuple[Panel, ...]


class TileMark(Struct, frozen=True, eq=False):
    """A place of a register tiling. Three marks have the same one, from the outside in: ``rows`` stands below the loops
    over blocks of rows and of steps, ``columns`` below the loop over register tiles' columns, ``tile`` below the one
    over their rows; the band over a tile's instances follows.
    """

    place: Literal["rows", "columns", "tile"]
    tiling: RegisterTiling


class StripMark(Struct, frozen=True, eq=False):
    """Stands right below a loop over strips."""

    strips: Strips


class PanelMark(Struct, frozen=True, eq=False):
    """Stands right below the loops over tiles that keep arrays in panels."""

    tile: PackedTile


Mark = LoopMark | TileMark | StripMark | PanelMark


class GivenUp(Struct, frozen=True):
    """What would have taken fewer cycles, but for wishes of the user's, in the words of their pragmas."""

    mechanism: str
    cycles: float
    wishes: tuple[str, ...]


class BandChoice(Struct, frozen=True):
    """What has become of a band, and why.

    statements: of the band. mechanism, what, cycles: what was taken, its decisions, and its cost by the model. others:
    what could have been, likewise, the best first. reasons: why mechanisms could do nothing. given_up: for the user's
    wishes. notes: what has become of sizes that the user gave. needs: cycles that each resource is busy, the largest
    first, where it is to be explained.
    """

    statements: tuple[str, ...]
    mechanism: str
    what: str
    cycles: float
    others: tuple[tuple[str, str, float], ...] = ()
    reasons: tuple[tuple[str, str], ...] = ()
    given_up: tuple[GivenUp, ...] = ()
    notes: tuple[str, ...] = ()
    needs: tuple[tuple[str, float], ...] = ()


class MarkedSchedule(Struct, frozen=True, eq=False):
    """A schedule tree with marks. marks: by the names of the mark nodes, which say nothing by themselves.
    shapes: of the tiles of wavefronts, where they are not the bands' members. choices: what has become of the bands.
    cycles: of it all by the machine model; None if nobody has asked. hidden: statements that could run in vectors, and
    take no time as they are, since a chain in their loop waits meanwhile. waits: of the cycles, what such chains wait,
    which those of chains in loops of their own don't say. tested: the parameters that it is for, which the program
    tests; None: all.
    """

    tree: isl.Schedule
    marks: Mapping[str, Mark]
    shapes: tuple[TileShape, ...] = ()
    choices: tuple[BandChoice, ...] = ()
    cycles: float | None = None
    hidden: frozenset[str] = frozenset()
    waits: float = 0.0
    tested: isl.Set | None = None

    def mark(self, node: isl.ScheduleNode) -> Mark:
        """What a mark node means."""
        return self.marks[node.mark_get_id().get_name()]

    def loop(self, node: isl.ScheduleNode) -> LoopMark:
        """What is known of the loops right below a mark node: nothing, if the mark is about something else."""
        return loop_of(self.mark(node))

    @property
    def loops(self) -> dict[str, LoopMark]:
        """The marks that are about loops."""
        return {name: mark for name, mark in self.marks.items() if isinstance(mark, LoopMark)}

    @property
    def tilings(self) -> dict[str, RegisterTiling]:
        """By the name of the mark right above a tile's instances."""
        return {
            name: mark.tiling
            for name, mark in self.marks.items()
            if isinstance(mark, TileMark) and mark.place == "tile"
        }

    @property
    def plain_strips(self) -> frozenset[int]:
        """How many rows strips of vectors have that fill no buffers."""
        return frozenset(one.count for one in self.strips.values() if one.vectors and not one.buffers)

    @property
    def strips(self) -> dict[str, Strips]:
        """By their marks' names."""
        return {name: mark.strips for name, mark in self.marks.items() if isinstance(mark, StripMark)}

    @property
    def packed(self) -> dict[str, PackedTile]:
        """By their marks' names."""
        return {name: mark.tile for name, mark in self.marks.items() if isinstance(mark, PanelMark)}


def loop_of(mark: Mark) -> LoopMark:
    """What a mark says of the loops below it."""
    return mark if isinstance(mark, LoopMark) else LoopMark()
