"""The simplified form (paper "MLIR: The case for a simplified polyhedral form"):
loops, tests and instances, ready to print."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

from scopt.ir.tree_node import Node


class Const(Struct, frozen=True):
    value: int


class Name(Struct, frozen=True):
    """A loop iterator of the nest or a parameter of the SCoP."""

    name: str


class Sum(Struct, frozen=True):
    """Σ cₖ·xₖ + constant. terms: (coefficient ≠ 0, expression that is neither Sum nor Const), each expression once."""

    terms: tuple[tuple[int, Expr], ...]
    constant: int = 0


class FloorDiv(Struct, frozen=True):
    """⌊numerator / divisor⌋, divisor > 0. nonnegative: C's `/` is right: the numerator is known to be ≥ 0, or a
    multiple of the divisor."""

    numerator: Expr
    divisor: int
    nonnegative: bool = False


class Mod(Struct, frozen=True):
    """numerator mod divisor, in 0 … divisor-1, divisor > 0. nonnegative: as in `FloorDiv`, so that C's `%` is right.

    zero_test: only compared with zero, so that the sign doesn't matter and C's `%` is right too.
    """

    numerator: Expr
    divisor: int
    nonnegative: bool = False
    zero_test: bool = False


class Min(Struct, frozen=True):
    args: tuple[Expr, ...]


class Max(Struct, frozen=True):
    args: tuple[Expr, ...]


class Select(Struct, frozen=True):
    """condition ? then : otherwise."""

    condition: Condition
    then: Expr
    otherwise: Expr


Expr = Const | Name | Sum | FloorDiv | Mod | Min | Max | Select


class Compare(Struct, frozen=True):
    left: Expr
    op: Literal["<", "<=", ">", ">=", "==", "!="]
    right: Expr


class And(Struct, frozen=True):
    args: tuple[Condition, ...]


class Or(Struct, frozen=True):
    args: tuple[Condition, ...]


class Exceeds(Struct, frozen=True):
    """The product of two factors or more, a loop nest's extents, is greater than the limit. It is computed in floating
    point, so that it can't overflow."""

    factors: tuple[Expr, ...]
    limit: int


class Threads(Struct, frozen=True):
    """More than one thread may run: a question to the OpenMP runtime."""


Condition = Compare | And | Or | Exceeds | Threads


class Reduction(Struct, frozen=True):
    """Each thread, or lane of a vector, updates a copy of its own; in the end the copies are put together.

    operator: as in OpenMP's clause. array: whose cells are updated; nothing else in the loop touches what there are
      copies of.
    held: the variables that stand for the cells of an array (see `Hold`); () for a scalar, and where
    whole: of an array, each thread has a copy of all cells. (Which ones it updates may depend on data: histograms.)
    best: an extremum of floating-point numbers, which takes what is better: copies begin with its value, so that it
      stays as it is where that is as good, or no number (see `Parted`). A clause gives them another one.
    """

    operator: str
    array: str
    held: tuple[str, ...] = ()
    whole: bool = False
    best: bool = False


class Parted(Struct, frozen=True):
    """Lanes of a vector loop have copies of what it reduces, in arrays of ours.

    strip: the name of the iterator over strips of `count` iterations, one for each lane; lane: of the one over lanes.
    copies: for each reduction of the loop, the name of the array, and of the variable that holds a lane's copy.
    """

    strip: str
    lane: str
    count: int
    copies: tuple[tuple[str, str], ...]


class Narrow(Struct, frozen=True):
    """Variables of a vector loop that have 16 bits where all that they are given fits.

    variables: the scalars that are given something, by their arrays' names. copies: what doesn't change in the loop, by
      the names of the variables that hold it, and the names of these' copies of 16 bits. constant, factors: nothing is
      larger than the constant and the sum of (factor, name)'s factors times these variables' magnitudes.
    total: the name of the variable for that sum. tested: where it is small enough.
    """

    variables: tuple[str, ...]
    copies: tuple[tuple[str, str], ...]
    constant: int
    factors: tuple[tuple[int, str], ...]
    total: str
    tested: bool = False


class Fetched(Struct, frozen=True):
    """Cells of which one lasts for some iterations of a vector loop, in buffers.

    strip: the name of the iterator over strips. group: so many iterations, from a multiple on, use the same cells.
    cells: for each one the statement that reads it, the one that puts it into a buffer, and this' name. forms:
      statements, and those that read buffers in their place. ahead: statements that compute where cells are, in a loop
      in front. handed: variables that these give values, for what stands behind.
    """

    strip: str
    group: int
    cells: tuple[tuple[str, str, str], ...]
    forms: tuple[tuple[str, str], ...]
    ahead: tuple[str, ...] = ()
    handed: tuple[HandedOn, ...] = ()


class HandedOn(Struct, frozen=True):
    """A variable (the array's name) that has a buffer, and the statements that put it in there, and take it out."""

    variable: str
    buffer: str
    save: str
    load: str


class LoopMark(Struct, frozen=True):
    """What the band passes have found out about a loop.

    parallel: no dependence is carried, once each thread has its own copy of `private`. simd: the same for the lanes of
      a vector.
    jammed: the body holds instances of several rows: cells that it uses again and again are worth a register each (see
      `Hold`). beside: these are rows that each carry something on, one as written after the other.
    scalar: it could be a vector loop, but would lose by that: each access jumps, so that compilers would gather
      elements one by one.
    around: the sum inside is the better vector loop, which gcc would make of this one.
    kept: a small loop whose sums are vectors, if gcc doesn't write its iterations out.
    coarse: its iterations are few and long, the last one perhaps shorter: a thread takes the next one when it is done
      with one.
    again: threads come to it again and again, for many short iterations each time.
    cut: its first and its last iteration are tiles of which borders leave little.
    sharing: its strips are there for threads alone: one thread gains nothing by them.
    collapse: of a parallel loop: so many loops, from it on, carry nothing, and threads may share them out together.
    most: no more iterations than this, where the bounds don't tell; 0: nothing is known.
    lanes: vectors of so many elements are worth asking for (gcc takes shorter ones on some processors if nobody asks);
      0: as the compiler likes. wide: likewise, of gcc alone.
    reductions: what else is carried, by updates whose order doesn't matter.
    searched: it is left out unless a condition holds of some iteration, which is asked beforehand, and told by a
      variable of this name; empty: it always runs.
    narrow: it stands there twice, once with narrower variables.
    looked: it runs in strips, in which places of tables are computed first, then what is there is looked up; the names
      of the loop over strips, and of a buffer of places for each lookup.
    fetched: it runs in strips, in which cells that last for some iterations are fetched into buffers first.
    placed: it looks cells up at places that it computes, and is to run in such strips, parts of which are vector loops.
    parted: lanes have copies of what it reduces.
    ended: it carries nothing, and an iteration has a loop of its own that ends on data: iterations may be its lanes.
    """

    parallel: bool = False
    simd: bool = False
    private: tuple[str, ...] = ()
    jammed: bool = False
    beside: bool = False
    scalar: bool = False
    around: bool = False
    kept: bool = False
    coarse: bool = False
    again: bool = False
    cut: bool = False
    sharing: bool = False
    collapse: int = 1
    most: int = 0
    lanes: int = 0
    wide: int = 0
    reductions: tuple[Reduction, ...] = ()
    searched: str = ""
    narrow: Narrow | None = None
    looked: tuple[str, ...] = ()
    fetched: Fetched | None = None
    placed: bool = False
    parted: Parted | None = None
    ended: bool = False


class For(Struct, frozen=True):
    """``for (iterator = lower; iterator <= upper; iterator += step)``: both bounds inclusive, step > 0.

    work: a condition under which forking threads is worth it, or None (only looked at for parallel loops).
    """

    iterator: str
    lower: Expr
    upper: Expr
    step: int
    body: Block
    mark: LoopMark = field(default_factory=LoopMark)
    work: Condition | None = None


class If(Struct, frozen=True):
    condition: Condition
    then: Block
    otherwise: Block | None = None


class Call(Struct, frozen=True):
    """One instance of a statement: its iterators' values as expressions over the nest's iterators and the parameters
    (affine.apply).

    held: (position among the statement's accesses, name of the variable that stands for the cell) of references to
      cells that are held.
    chosen: (part of the statement's body, name of the variable that has its value), of parts of subscripts, and of
      references.
    kept: (position of a write, name of the variable that gets what is written, behind the statement).
    """

    statement: str
    args: tuple[Expr, ...]
    held: tuple[tuple[int, str], ...] = ()
    chosen: tuple[tuple[Node, str], ...] = ()
    kept: tuple[tuple[int, str], ...] = ()


class Held(Struct, frozen=True):
    """A local variable that stands for one cell of an array. subscripts: over the iterators around the `Hold`. stored:
    the cell is written. part: it has this type instead, begins at 0, and is added to the cell. carried:
    each iteration of the loop in the body gives it what the next one reads (`Call.kept`)."""

    name: str
    array: str
    subscripts: tuple[Expr, ...]
    stored: bool
    part: str = ""
    carried: bool = False


class Chosen(Struct, frozen=True):
    """A local variable of the long type for a value over the iterators around the `Hold`."""

    name: str
    value: Expr


class Loaded(Struct, frozen=True):
    """A local variable for what a reference in the body of a statement reads, which nothing writes, or for a value that
    is computed of such cells. type: how it is spelled. args: the iterators' values, over the iterators around the
    `Hold`; 0 for those that the reference doesn't use."""

    name: str
    type: str
    statement: str
    reference: Node
    args: tuple[Expr, ...]


class Hold(Struct, frozen=True):
    """Cells are loaded into variables, the body runs, and those that it writes are stored. No other reference in the
    body touches them. choices: likewise, values that subscripts in the body have in common; loads: what it only reads.
    """

    cells: tuple[Held, ...]
    body: Block
    choices: tuple[Chosen, ...] = ()
    loads: tuple[Loaded, ...] = ()


class Block(Struct, frozen=True):
    items: tuple[For | If | Call | Hold, ...]


class LoopNest(Struct, frozen=True):
    """The transformed SCoP in the simplified form, ready to print."""

    body: Block


class Product(Struct, frozen=True):
    """A product of a loop nest's extents, compared with a constant in `For.work`;
    estimated in floating point, so it can't overflow."""

    factors: tuple[Expr, ...]
