"""The data dictionary of the traditional form: what the front end hands on.

Everything here is frozen. isl objects are immutable too. Spaces: a statement `S` with iterators (i, j) lives in the
named set space ``S[i, j]``; parameters are isl parameters with the C name; an array `A` of two dimensions is ``A[_,
_]``, a scalar `t` is ``t[]``. Schedules map statement instances to unnamed integer tuples (or are schedule trees).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.diagnostics import Location, Remark

AccessKind = Literal["read", "write", "may-write"]


class CType(Struct, frozen=True):
    """The type of an object, as far as extraction and printing need it.

    spelling: the C type of one element, without array parts or qualifiers: ``double``, ``unsigned int``, a typedef's
      name.
    integer/floating: what the element is once typedefs are resolved; both False for structs, pointers and the unknown.
    signed: of an integer element. bits: its width, 0 if unknown.
    volatile/atomic/const: the element's qualifiers.
    """

    spelling: str
    integer: bool = False
    floating: bool = False
    signed: bool = True
    bits: int = 0
    volatile: bool = False
    atomic: bool = False
    const: bool = False

    @property
    def bytes(self) -> int:
        """That an object takes, 0 if unknown: one of the single bit that a truth value has."""
        return -(-self.bits // 8)


class RowStarts(Struct, frozen=True):
    """Where rows begin whose lengths grow or shrink from each to the next, as those of a triangle: row ``i`` at element
    ``i * (square * i + linear) / divisor``, an integer for all integers.

    linear: coefficients of parameters by their C names, and a constant, that of no name.
    """

    square: int
    linear: tuple[tuple[int, str], ...]
    divisor: int


class Array(Struct, frozen=True, eq=False):
    """An array or scalar that a SCoP accesses.

    name: unique in the SCoP, and the tuple name in isl. spelling: its name in C (another one only where isl would take
      `name` for a keyword).
    type: of an element. extents: one C expression a dimension, outermost first; None where unknown (the first dimension
      of a pointer or parameter, a flexible array). () for a scalar.
    sizes: the same as integers where they are constants, else None. Hints and out-of-bounds checks only.
    pointer: reached through a pointer value (a parameter ``double *a``, ``double a[n][m]`` or a local pointer).
    restrict: likewise by a pointer that says that no other one leads there.
    private: dead outside one execution of its scope and never read before it is written there (see `live_out`): its
      anti and output dependences may be removed by giving each thread its own copy.
    within: of members of structures: the variable in whose elements they lie, else empty. Such an array's spelling is
      no C.
    local: declared inside the region, so that the printer has to declare it. declaration: that declaration, else None.
    flat: C knows one dimension only; ``A[i][j]`` in a statement's body stands for ``A[i * extent + j]``.
    inner: so many of the last dimensions are those of a member in each element, as in ``A[i][j].x[k]``.
    memory: memory that the text asks for itself, behind a pointer of this name, which nothing assigns.
    rows: C reaches each row through a pointer of its own, or as `starts` says: rows are at no fixed distance from each
      other.
    starts: where the rows of a flat array of two dimensions begin, if that is no product; extents say nothing then.
    """

    name: str
    spelling: str
    type: CType
    extents: tuple[ir.Node | None, ...] = ()
    sizes: tuple[int | None, ...] = ()
    pointer: bool = False
    private: bool = False
    local: bool = False
    declaration: ir.Decl | None = None
    location: Location | None = None
    within: str = ""
    flat: bool = False
    memory: bool = False
    rows: bool = False
    inner: int = 0
    starts: RowStarts | None = None
    restrict: bool = False

    @property
    def rank(self) -> int:
        return len(self.extents)

    @property
    def in_source(self) -> bool:
        """Whether the source declares it inside the region, as an array of constant size."""
        constant = bool(self.sizes) and None not in self.sizes
        return self.local and constant and self.declaration is not None and self.location is not None

    @property
    def variable(self) -> str:
        """Its name in C, or that of the variable in whose elements it lies."""
        return self.within or self.spelling


class Access(Struct, frozen=True, eq=False):
    """One reference of a statement to one array.

    relation: isl.Map ``[params] -> { S[i, …] -> A[a, …] }``, intersected with the statement's domain; exact for a
      single subscripted reference, a superset for opaque statements (then a write is a ``may-write``).
    node: the reference in `Statement.body`, or None (a pure function that may read everything).
    """

    array: str
    kind: AccessKind
    relation: isl.Map
    node: ir.Node | None
    location: Location

    @property
    def is_write(self) -> bool:
        return self.kind != "read"


class Statement(Struct, frozen=True, eq=False):
    """A statement of the SCoP: executed as a whole, once for each point of its domain.

    name: ``S0``, ``S1``, … in textual order.
    domain: isl.Set ``[params] -> { S0[i, j] : … }``.
    iterators: C names of the enclosing loops' iterators, outermost first, as they stand in `body`.
    iterator_types: their C types, for casts where the value (not a subscript) is used.
    body: the statement as a node, macros expanded, region-local names already unique. Where an iterator is used, it is
      an ``ID`` with a name of `iterators`. Never modified: the printer works on a copy.
    accesses: reads and writes; within one instance all reads come before all writes.
    exact: subscripts that don't wrap in the statement that this one stands for, although operands are unsigned or
      converted: `accesses` doesn't say so where it is empty.
    """

    name: str
    domain: isl.Set
    iterators: tuple[str, ...]
    iterator_types: tuple[CType, ...]
    body: ir.Node
    accesses: tuple[Access, ...]
    location: Location
    exact: frozenset[ir.Node] = frozenset()


class Parameter(Struct, frozen=True, eq=False):
    """A symbolic constant of the SCoP: an integer that the region reads and never writes.

    name: the isl parameter, which is what `Name` expressions hold. spelling: the same in C (another one only for isl's
      keywords).
    estimate: a guess of its value from array extents or macros, for cost models only; None if nothing is known.
    """

    name: str
    spelling: str
    type: CType
    estimate: int | None = None


class LoopDirective(Struct, frozen=True):
    """The user asks for a loop over an iterator that runs in parallel, or that is the innermost one and vectorized.

    iterator: its name in the source. targets: (statement, what the iterator is called in `Statement.iterators`) of the
      statements meant; none if the loop is part of an opaque statement, or empty.
    """

    kind: Literal["parallel", "vector"]
    iterator: str
    targets: tuple[tuple[str, str], ...]
    location: Location

    def __str__(self) -> str:
        return f"{self.kind}({self.iterator})"


Polynomial = tuple[tuple[int, tuple[str, ...]], ...]


"""Σ coefficient · product of factors: C names of parameters, or keys of `Stretch.sums` or `Stretch.quotients`."""


class Stretch(Struct, frozen=True):
    """The memory that a region may touch through one name, in bytes: from the least of `first` up to the greatest of
    `beyond`, which is not part of it; both are counted in elements from the array's beginning. Where the region touches
    nothing, it may be anything.

    array: a name of `Scop.arrays`, or of a parameter. base: C expression, the address of element zero (``a``, ``&n``).
    element: C expression, the bytes of one (``sizeof(*a)``). sums: what factors stand for that are no names in C
      (``$1``). quotients: the same for what is not negative, and rounded down when it is divided by a number.
    whole: the type of the array that the memory is, which `element` is then the size of, in the file's own words:
      macros may be among them.
    """

    array: str
    base: str
    element: str
    first: tuple[Polynomial, ...]
    beyond: tuple[Polynomial, ...]
    sums: tuple[tuple[str, Polynomial], ...] = ()
    quotients: tuple[tuple[str, Polynomial, int], ...] = ()
    whole: str = ""


class MemoryTest(Struct, frozen=True):
    """A test that a function makes, of stretches whose ends take some computing. call: the C expression, 1 where they
    are apart, 0 where they aren't, or that isn't known. definition: of the function, which has no effects. shared:
    definitions of what it calls, the same ones for all tests. pairs: how many names it tells apart, two by two.
    types: those of whole arrays that it is given the sizes of, as in `Stretch`."""

    call: str
    definition: str
    shared: tuple[str, ...] = ()
    pairs: int = 0
    types: tuple[str, ...] = ()


class Guard(Struct, frozen=True, eq=False):
    """What the SCoP takes for granted and what the program can test where the region begins; elsewhere the original
    statements run.

    parameters: parameter set, simplified by what is known anyway; `Scop.context` lies in it. apart: pairs that must not
      overlap.
    fits: unsigned parameters, by their C spelling, that must have values of the long type: all else computes with
      these.
    tests: what functions find out.
    """

    parameters: isl.Set
    apart: tuple[tuple[Stretch, Stretch], ...] = ()
    fits: tuple[str, ...] = ()
    tests: tuple[MemoryTest, ...] = ()

    @property
    def pairs(self) -> int:
        """How many pairs of names are told apart."""
        return len(self.apart) + sum(test.pairs for test in self.tests)


class Scop(Struct, frozen=True, eq=False):
    """A static control part.

    context: isl.Set ``[params] -> { : … }``, what is known of the parameters.
    kills: the declarations of locals, as pseudo-statements `K0`, … that write what they declare: its old value is gone.
      Not executed.
    schedule: the original execution order as a schedule tree over `domain`.
    order: the same as a union map to one flat, zero-padded space, kills included, for dependence analysis.
    reserved: every identifier that the emitted code must not use for names of its own (all identifiers and macros of
      the translation unit).
    taken: names of functions that our text might call, and that the file gives to something else
      (`scopt.frontend.syntax.taken_functions`).
    typedefs: names that are types where the region stands (the printed C is parsed again with them).
    long_type/long_suffix: an integer type of 64 bits on the target, and the suffix of its literals (``long``/``L``, or
      ``long long``/``LL``).
    assumptions: analysis remarks on what was taken for granted (no aliasing, …).
    directives: the loops that the user's pragmas ask for.
    guard: what the emitted program has to test; None if nothing.
    prologue: declarations, one each, that have to stand in a block around the emitted code: names for members of
      structures.
    epilogue: statements that have to stand behind the emitted code: they give pointers that iterations of the source
      exchange their last values. exchanged: there are such pointers, with their first values in the "copies" of an
      iteration that take turns, or in an array whose "rows" do.
    by_value: variables around the region, each a number or a pointer, of which threads may have copies. Where they
      share one it has an address, and clang keeps it in memory: in all of the function, the original alternative and
      the loop for one thread included, and, after each store that may change it, in the parallel loop too.
    library: by name, the functions that statements call, or that those of the file do, each with the functions of
      values of C's library that it leads to.
    marked: somebody marked the region, which promises what analysis can't show (that memory is apart, and writable).
    narrowed: statements compute with narrower types than the source says, so that more values fit into a vector, or
      anew what an iteration of the source hands on to the next one.
    baked: macros behind sizes that are known by their values alone.
    returns: by name, functions of the file that statements call, with the least and the greatest int that they return,
      where these are small.
    constants: macros that stand in statements by their names, each an integer constant, whatever its value is.
    row_ends: variables of the prologue that stand for cells whose subscripts have variables: ``row[i + 1]``.
    """

    name: str
    location: Location
    context: isl.Set
    parameters: tuple[Parameter, ...]
    arrays: Mapping[str, Array]
    statements: tuple[Statement, ...]
    schedule: isl.Schedule
    order: isl.UnionMap
    kills: tuple[Statement, ...] = ()
    reserved: frozenset[str] = frozenset()
    taken: frozenset[str] = frozenset()
    typedefs: frozenset[str] = frozenset()
    long_type: str = "long"
    long_suffix: str = "L"
    assumptions: tuple[Remark, ...] = ()
    directives: tuple[LoopDirective, ...] = ()
    guard: Guard | None = None
    prologue: tuple[str, ...] = ()
    epilogue: tuple[str, ...] = ()
    exchanged: str = ""
    by_value: frozenset[str] = frozenset()
    library: Mapping[str, frozenset[str]] = {}
    narrowed: bool = False
    marked: bool = False
    baked: Mapping[str, int] = {}
    returns: Mapping[str, tuple[int, int]] = {}
    constants: frozenset[str] = frozenset()
    row_ends: frozenset[str] = frozenset()

    @property
    def domain(self) -> isl.UnionSet:
        """Union of the statements' domains, intersected with the context."""
        union = isl.UnionSet.from_set(self.statements[0].domain)
        for statement in self.statements[1:]:
            union = union.union(isl.UnionSet.from_set(statement.domain))
        return union.intersect_params(self.context)

    @property
    def flat(self) -> dict[str, Array]:
        """Arrays that C knows one dimension of, by their names there, with the dimensions that it doesn't know: of
        structures as many as their members have outside of them."""
        arrays = (array for array in self.arrays.values() if array.flat)
        return {
            one.variable: replace(one, extents=one.extents[:rank], sizes=one.sizes[:rank], inner=0)
            for one in arrays
            if (rank := one.rank - one.inner)
        }

    def statement(self, name: str) -> Statement:
        return next(s for s in self.statements if s.name == name)


DependenceKind = Literal["flow", "anti", "output", "input", "reduction"]


class Dependence(Struct, frozen=True, eq=False):
    """All dependences of one kind, over one array, from one statement to another.

    relation: isl.Map ``{ S[…] -> T[…] }``, the earlier instance to the later one.
    Flow dependences are value-based (the last write before the read, and may-writes between); anti and output
    dependences too, except over private arrays, where they hold every pair: a schedule may drop those whose live ranges
    stay apart. Reduction dependences: every pair of updates of one cell that may change places. operator: theirs, as in
    a reduction clause (``+``, ``min``). best: as in `scopt.ir.nest.Reduction`.
    """

    kind: DependenceKind
    array: str
    source: str
    sink: str
    relation: isl.Map
    operator: str = ""
    best: bool = False


class Dependences(Struct, frozen=True, eq=False):
    """The dependences of a SCoP.

    all: of every kind; input dependences only where they were asked for. What they mean to a schedule depends on the
    array: flow over all arrays, anti and output over arrays that are not private: a legal schedule orders every pair.
    flow over private arrays: the live ranges of their cells, besides.
    anti and output over private arrays: two live ranges of one cell. A legal schedule keeps each such pair of ranges
      apart, in either order; a loop that carries no live range and has none across its borders may be parallel with a
      private copy.
    reductions: pairs that would be flow, anti and output dependences, but that a schedule may put in any order
      (Doerfert et al., "Polly's Polyhedral Scheduling in the Presence of Reductions", 2015). A parallel or vector loop
      that carries some needs a `Reduction`. In their place, `all` has the pairs of each update with what reads or
      writes the cell before and after (privatization dependences there).
    source: where there are reductions, what `all` would be if they kept the order of the source.
    """

    all: tuple[Dependence, ...]
    reductions: tuple[Dependence, ...] = ()
    source: tuple[Dependence, ...] = ()

    def select(self, *kinds: DependenceKind) -> tuple[Dependence, ...]:
        return tuple(d for d in self.all if d.kind in kinds)

    def strict(self) -> Dependences:
        """The dependences where reductions keep their order."""
        return Dependences(self.source) if self.reductions else self

    def within(self, context: isl.Set) -> Dependences:
        """Those that there are with some parameters."""

        def some(whole: tuple[Dependence, ...]) -> tuple[Dependence, ...]:
            each = ((one, one.relation.intersect_params(context)) for one in whole)
            return tuple(replace(one, relation=pairs) for one, pairs in each if not pairs.is_empty())

        return Dependences(some(self.all), some(self.reductions), some(self.source))
