"""What the constraint builders work on: statements, dependence polyhedra as generators,
schedule rows, and a program under construction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import islpy as isl
from msgspec import Struct, field
from msgspec.structs import replace

from scopt.ir.scop import Dependence, Scop, Statement
from scopt.poly.generators import Generators, Row, generators
from scopt.poly.ilp import Column, LinearRow, Program, Terms
from scopt.poly.linear import parameter_space
from scopt.poly.row_choice import FEW_ROWS, RowBlock
from scopt.scheduler.influence.influence_tree import CONSTANT


class StatementSpace(Struct, frozen=True, eq=False):
    """A statement as schedulers see it.

    columns: of a schedule row: iterators, then the SCoP's parameters, then `CONSTANT`. fixed: iterator parts of the
    domain's equalities: directions in which the statement doesn't extend. domain: generators of its domain as rows over
    `columns` (rays and vertices; lines with both signs).
    embedding: of the statement's instances into the space of `iterators` where that has more dimensions (quasi-affine
    schedules: iterators that are floors of the others); None where it is the statement's own.
    """

    name: str
    iterators: tuple[str, ...]
    parameters: tuple[str, ...]
    fixed: tuple[Row, ...]
    domain: tuple[Row, ...]
    embedding: isl.MultiAff | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.iterators, *self.parameters, CONSTANT)

    @property
    def depth(self) -> int:
        return len(self.iterators)

    @property
    def zero(self) -> Row:
        return (0,) * len(self.columns)


# A schedule row of each statement, over its `columns`.
Rows = Mapping[str, Row]


class Point(Struct, frozen=True):
    """A generator of a dependence polyhedron, as far as schedules see it.

    source, sink: over (iterators, parameters, weight) of the two statements; for a dependence of a statement on itself
    the source is zero and the sink the distance. parameters: the parameters' part. weight: > 0 for a vertex (a multiple
    of it), 0 for a ray. line: both directions count.
    """

    source: Row
    sink: Row
    parameters: Row
    weight: int
    line: bool = False

    def delay(self, source_row: Row, sink_row: Row) -> int:
        """The value of (sink's date - source's date) here, times the weight for a vertex."""
        return _dot(self.sink, sink_row) - _dot(self.source, source_row)


class Edge(Struct, frozen=True, eq=False):
    """A convex piece of a dependence: its generators, restricted to the face where all rows that have been applied
    leave no delay.

    number: of the piece, the same for all its faces. live: a live range of a private array, which wants to be local to
      an iteration.
    piece: the whole piece, in the spaces that the points are in; None where only the points are known.
    """

    number: int
    dependence: Dependence
    points: tuple[Point, ...]
    live: bool = False
    piece: isl.BasicMap | None = None

    @property
    def source(self) -> str:
        return self.dependence.source

    @property
    def sink(self) -> str:
        return self.dependence.sink

    @property
    def ends(self) -> Ends:
        """All that a program sees of it."""
        return self.source, self.sink, id(self.points)

    @property
    def is_empty(self) -> bool:
        return not any(point.weight for point in self.points)

    def delays(self, rows: Rows) -> list[int]:
        return [point.delay(rows[self.source], rows[self.sink]) for point in self.points]

    def weakly_satisfied(self, rows: Rows) -> bool:
        return all(
            value == 0 if point.line else value >= 0
            for value, point in zip(self.delays(rows), self.points, strict=True)
        )

    def coincident(self, rows: Rows) -> bool:
        return not any(self.delays(rows))

    def face(self, rows: Rows) -> Edge:
        """The part without delay under rows that satisfy it weakly: a face of the polyhedron, so its generators are
        some of these."""
        values = self.delays(rows)
        if not any(values):
            return self
        return replace(self, points=tuple(p for p, value in zip(self.points, values, strict=True) if value == 0))


def statement_spaces(scop: Scop, statements: Sequence[Statement] | None = None) -> dict[str, StatementSpace]:
    """The statements' spaces by name; of some of them, or of all."""
    parameters = tuple(parameter.name for parameter in scop.parameters)
    spaces = {}
    for statement in statements if statements is not None else scop.statements:
        domain = with_parameters(statement.domain, parameters)
        names = tuple(str(domain.get_dim_name(isl.dim_type.set, k)) for k in range(domain.dim(isl.dim_type.set)))
        spaces[statement.name] = statement_space(
            statement.name, _unique(statement.iterators or names), parameters, domain
        )
    return spaces


def statement_space(
    name: str,
    iterators: tuple[str, ...],
    parameters: tuple[str, ...],
    domain: isl.Set,
    embedding: isl.MultiAff | None = None,
) -> StatementSpace:
    """The space of a statement with this domain, which has exactly these parameters."""
    matrix = (
        domain.affine_hull()
        .remove_divs()
        .equalities_matrix(isl.dim_type.set, isl.dim_type.param, isl.dim_type.cst, isl.dim_type.div)
    )
    fixed = [
        tuple(int(str(matrix.get_element_val(line, k))) for k in range(len(iterators))) for line in range(matrix.rows())
    ]
    points = [
        (*ray[len(parameters) : -1], *ray[: len(parameters)], ray[-1])
        for piece in domain.get_basic_sets()
        for ray in _both_ways(generators(piece))
    ]
    return StatementSpace(
        name, iterators, parameters, tuple(row for row in fixed if any(row)), tuple(dict.fromkeys(points)), embedding
    )


def _both_ways(found: Generators) -> list[Row]:
    return [*found.rays, *found.lines, *(tuple(-x for x in line) for line in found.lines)]


def _unique(names: Sequence[str]) -> tuple[str, ...]:
    """Iterators of nested loops may share a name (one shadows the other): the inner one keeps it."""
    return tuple(name if name not in names[k + 1 :] else f"{name}@{k}" for k, name in enumerate(names))


def with_parameters(thing: isl.Set, parameters: Sequence[str]) -> isl.Set:
    """The set with exactly these parameters, in this order."""
    return thing.align_params(parameter_space(thing.get_ctx(), parameters))


def _dot(a: Row, b: Row) -> int:
    return sum(x * y for x, y in zip(a, b, strict=True) if x and y)


# --- a program under construction -------------------------------------------------------------------------------------


class Bounds(Struct, frozen=True):
    """Bounds of the unknowns. coefficient: of iterators' (and parameters') coefficients, symmetric if negative ones are
    allowed.

    shift: largest constant coefficient. parametric: whether parameters may have coefficients other than 0.
    """

    coefficient: int = 6
    shift: int = 1 << 20
    negative: bool = False
    parametric: bool = False


# An edge's source, its sink, and the `id` of its points.
Ends = tuple[str, str, int]


class Known(Struct, frozen=True):
    """What drafts of the same statements, in the same order, have found out about edges, by their ends and points.

    points: the edges', which live as long as what is known. delays: the terms of (sink's date - source's date) at each
    of them. rows: that follow from it, by what they say of the edge.
    """

    points: dict[int, tuple[Point, ...]] = field(default_factory=dict)
    delays: dict[Ends, tuple[Terms, ...]] = field(default_factory=dict)
    rows: dict[tuple[object, ...], RowBlock] = field(default_factory=dict)


class Draft(Struct):
    """An integer program for one schedule dimension of some statements; builders add columns, rows and objectives.

    known: what drafts of the same statements share. blocks: of rows that are known.
    """

    spaces: Mapping[str, StatementSpace]
    bounds: Bounds
    columns: list[Column] = field(default_factory=list)
    rows: dict[LinearRow, None] = field(default_factory=dict)
    objectives: list[Terms] = field(default_factory=list)
    _first: dict[str, int] = field(default_factory=dict)
    _magnitudes: dict[int, int] = field(default_factory=dict)
    _added: set[tuple[object, ...]] = field(default_factory=set)
    _own: dict[LinearRow, None] = field(default_factory=dict)
    known: Known = field(default_factory=Known)
    blocks: list[RowBlock] = field(default_factory=list)

    def add_statement(self, name: str) -> None:
        """Columns for the coefficients of a statement's schedule row."""
        space, bounds = self.spaces[name], self.bounds
        self._first[name] = len(self.columns)
        for column in space.columns:
            if column == CONSTANT:
                lower, upper = (-bounds.shift if bounds.negative else 0), bounds.shift
            elif column in space.parameters and column not in space.iterators:
                upper = bounds.coefficient if bounds.parametric else 0
                lower = -upper if bounds.negative else 0
            else:
                lower, upper = (-bounds.coefficient if bounds.negative else 0), bounds.coefficient
            self.column(f"T[{name},{column}]", lower, upper)

    def column(self, name: str, lower: int | None = 0, upper: int | None = None) -> int:
        self.columns.append(Column(name, lower, upper))
        return len(self.columns) - 1

    def coefficient(self, statement: str, position: int) -> int:
        """The column of a coefficient, by its position in the statement's columns."""
        return self._first[statement] + position

    def require(
        self, terms: Mapping[int, int] | Iterable[tuple[int, int]], constant: int = 0, *, equality: bool = False
    ) -> None:
        """Σ factor·column + constant >= 0, or = 0."""
        self.add(_clean(terms), constant, equality=equality)

    def add(self, terms: Terms, constant: int = 0, *, equality: bool = False) -> None:
        """The same with terms in the order of their columns, none of them 0."""
        row = LinearRow(terms, constant, equality)
        self.rows[row] = self._own[row] = None

    def add_known(self, what: tuple[object, ...], rows: Iterable[LinearRow]) -> None:
        """Add what may have been found before. what: says it of all the rows, of points that `delays` was told of."""
        if what in self._added:
            return
        self._added.add(what)
        found = self.known.rows.get(what)
        if found is None:
            found = self.known.rows[what] = RowBlock(rows)
        self.blocks.append(found)
        self.rows.update(found.rows)

    def minimize(self, terms: Mapping[int, int] | Iterable[tuple[int, int]]) -> None:
        """One more objective, less important than those before."""
        self.objectives.append(_clean(terms))

    def magnitude(self, column: int) -> int:
        """A column that is at least the absolute value of another one, and no more where it is minimized."""
        lower = self.columns[column].lower
        if lower is not None and lower >= 0:
            return column
        if column not in self._magnitudes:
            size = self.column(f"|{self.columns[column].name}|")
            self.require({size: 1, column: 1})
            self.require({size: 1, column: -1})
            self._magnitudes[column] = size
        return self._magnitudes[column]

    def delay(self, edge: Edge, point: Point) -> dict[int, int]:
        """(sink's date - source's date) at a generator, as terms over the unknowns."""
        terms = {column: value for column, value in enumerate(point.sink, self._first[edge.sink]) if value}
        for column, value in enumerate(point.source, self._first[edge.source]):
            if value:
                terms[column] = terms.get(column, 0) - value
        return terms

    def delays(self, edge: Edge) -> tuple[Terms, ...]:
        """(sink's date - source's date) at each generator of an edge."""
        found = self.known.delays.get(edge.ends)
        if found is None:
            found = self.known.delays[edge.ends] = tuple(_clean(self.delay(edge, point)) for point in edge.points)
            self.known.points[id(edge.points)] = edge.points
        return found

    def program(self) -> Program:
        blocks = self._all_blocks() if len(self.rows) > FEW_ROWS else ()
        return Program(tuple(self.columns), tuple(self.rows), tuple(self.objectives), blocks)

    def _all_blocks(self) -> tuple[RowBlock, ...]:
        """The rows that are known, and the others."""
        known: dict[LinearRow, None] = {}
        for block in self.blocks:
            known.update(block.rows)
        return (*self.blocks, RowBlock(row for row in self._own if row not in known))

    def solution(self, point: Sequence[int]) -> dict[str, Row]:
        """The statements' schedule rows of a solution."""
        return {
            name: tuple(point[first : first + len(self.spaces[name].columns)]) for name, first in self._first.items()
        }


def _clean(terms: Mapping[int, int] | Iterable[tuple[int, int]]) -> Terms:
    pairs = terms.items() if isinstance(terms, (dict, Mapping)) else terms
    return tuple(sorted([pair for pair in pairs if pair[1]]))


class Step(Struct, frozen=True, eq=False):
    """What a builder may look at when one dimension of one component is computed.

    statements: of the component, in textual order. edges: that the dimension has to respect (since the band began).
    remaining: those of them that the band's dimensions have not carried yet, as faces. inputs: input dependences, for
    proximity. outer: all outer dimensions' rows, outermost first.
    """

    spaces: Mapping[str, StatementSpace]
    statements: tuple[str, ...]
    edges: tuple[Edge, ...]
    remaining: tuple[Edge, ...]
    inputs: tuple[Edge, ...] = ()
    outer: tuple[Rows, ...] = ()

    def iterator_rows(self, statement: str) -> list[Row]:
        """The iterator parts of a statement's outer rows and of what its domain fixes anyway."""
        space = self.spaces[statement]
        return [*space.fixed, *(row for rows in self.outer if any(row := rows[statement][: space.depth]))]
