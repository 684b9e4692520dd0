"""What one tiling becomes: statements that pack operands, that make the steps of register tiles, that load and store
copies of tiles."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count

import islpy as isl

from scopt import ir
from scopt.astgen.emit.names import identifiers
from scopt.astgen.lower.body_syntax import (
    address,
    array_of,
    assignment,
    call,
    element,
    integer,
    row_length,
    substituted,
)
from scopt.astgen.lower.kernel import Kernel
from scopt.astgen.lower.tile_pieces import Irregular, Pieces, box, free, pieces
from scopt.astgen.lower.transposing import Transposed, transposed
from scopt.ir.marked_schedule import MarkedSchedule, RegisterTiling, TileMark
from scopt.ir.scop import Array, CType, Scop, Statement
from scopt.machine import Machine
from scopt.machine.costs import alignment
from scopt.poly.isl_utils import SET, compact

_TYPE = isl.schedule_node_type
# Of what is cleared before operands are packed over it: in so many pieces exactly what they leave out, else more.
MAX_PIECES = 2


@dataclass(frozen=True, slots=True, eq=False)
class Turned:
    """A statement that copies as many rows and steps of an operand as another one does in two loops around it. row,
    step: positions of the iterators that those loops move; in their place it has the first ones', and how many there
      are behind all others."""

    name: str
    row: int
    step: int


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """What a statement that makes one step of a register tile claims to be. many: the statement that makes many in a
    row; position: of the step among the iterators of both; corner: positions of the tile's first row and first column
    there. copy: the array that holds the cells, or None."""

    many: str
    position: int
    corner: tuple[int, int]
    tiling: RegisterTiling
    kernel: Kernel
    copy: Array | None


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """Where the cells of a tile all exist, the steps `whole` are made; elsewhere the others: load a copy, make steps
    there, store it.

    condition: for which arguments of `whole`.
    """

    whole: str
    others: tuple[str, ...]
    condition: isl.Set


@dataclass(frozen=True, slots=True, eq=False)
class Loops:
    """Loops over some dimensions of a statement's domain, outermost first. simd: the last one is a vector loop."""

    domain: isl.Set
    dimensions: tuple[int, ...]
    simd: bool = False


@dataclass(slots=True, eq=False)
class Tile:
    """What one tiling becomes. depth: of the schedule at its three marks. pieces: see there.

    row, column, step: dimensions of the pieces' flat space; coordinates come first. earlier: functions of other
    tilings, which may be used again.
    """

    scop: Scop
    tiling: RegisterTiling
    statement: Statement
    depth: tuple[int, int, int]
    pieces: Pieces
    row_buffers: tuple[Array, ...]
    column_buffers: tuple[Array, ...]
    copy: Array
    kernel: Kernel
    earlier: list[Transposed]
    machine: Machine
    statements: list[Statement] = field(default_factory=list)
    steps: dict[str, Step] = field(default_factory=dict)
    packs: list[str] = field(default_factory=list)
    choices: list[Choice] = field(default_factory=list)
    fills: list[str] = field(default_factory=list)
    turned: dict[str, Turned] = field(default_factory=dict)
    transposed: list[Transposed] = field(default_factory=list)

    @staticmethod
    def of(
        scop: Scop,
        tiling: RegisterTiling,
        node: isl.ScheduleNode,
        schedule: MarkedSchedule,
        before: Sequence[Tile],
        machine: Machine,
    ) -> Tile:
        """node: the mark "rows" of a schedule. before: the tilings so far, whose kernels and buffers may be used
        again."""
        contraction = tiling.contraction
        statements = [scop.statement(name) for name in contraction.statements]
        rows_at = node.get_schedule_depth()
        columns = _marked(schedule, node, "columns")
        columns_at = columns.get_schedule_depth()
        place = _marked(schedule, columns, "tile")
        depth = place.get_schedule_depth()
        domains = [_part(node.get_domain(), one).reset_tuple_id() for one in statements]
        cut = pieces(tiling, domains, _coordinates(place, statements), rows_at - 1, columns_at - 1, depth - 1)
        earlier = {buffer.name: buffer for tile in before for buffer in tile.buffers}
        names = _Names(scop, len(before), earlier, alignment(machine))
        operation = contraction.operation
        buffer = names.buffers(operation.type)
        row_buffers = tuple(buffer(value, "rows", tiling.block * tiling.depth) for value in operation.rows)
        column_buffers = tuple(buffer(value, "columns", tiling.depth * tiling.columns) for value in operation.columns)
        copy = buffer(contraction.cell, "tile", tiling.rows * tiling.columns)
        kernel = Kernel(names.kernel(), operation, tiling.rows, tiling.columns, scop.long_type)
        kernel = next((tile.kernel for tile in before if tile.kernel.same(kernel)), kernel)
        functions = [one for tile in before for one in tile.transposed]
        depths = rows_at, columns_at, depth
        buffers = row_buffers, column_buffers, copy
        return Tile(scop, tiling, statements[0], depths, cut, *buffers, kernel, functions, machine)

    @property
    def buffers(self) -> tuple[Array, ...]:
        return (
            (*self.row_buffers, *self.column_buffers, self.copy)
            if self.pieces.has_partial
            else (*self.row_buffers, *self.column_buffers)
        )

    # --- dimensions of the flat space, and names of iterators ---------------------------------------------------------

    @property
    def coordinates(self) -> int:
        return self.depth[2]

    def at(self, iterator: int) -> int:
        return self.coordinates + iterator

    @property
    def row(self) -> int:
        return self.at(self.tiling.contraction.row)

    @property
    def column(self) -> int:
        return self.at(self.tiling.contraction.column)

    @property
    def step(self) -> int:
        return self.at(self.tiling.contraction.reduction)

    def name(self, dimension: int) -> str:
        """Of an iterator of a new statement: the old one's, or one for a coordinate: that of a tile loop, or one that
        no C identifier is like."""
        if dimension >= self.coordinates:
            return self.statement.iterators[dimension - self.coordinates]
        rows_at, columns_at, depth = self.depth
        row, column, step = (self.name(k) for k in (self.row, self.column, self.step))
        tiles = {rows_at - 2: f"{row}tt", rows_at - 1: f"{step}t", columns_at - 1: f"{column}t", depth - 1: f"{row}t"}
        name = tiles.get(dimension, f"${dimension}")
        return name if name not in self.statement.iterators else f"${dimension}"

    # --- new statements -----------------------------------------------------------------------------------------------

    def new(
        self,
        name: str,
        things: isl.Set,
        dropped: Sequence[int],
        body: ir.Node,
        order: Sequence[int],
        *,
        simd: bool = False,
    ) -> Iterator[Loops]:
        """A statement for the points of a flat set without some dimensions, in loops over others; nothing if there are
        no points."""
        things = free(things, *dropped)
        if things.is_empty():
            return
        kept = [k for k in range(things.dim(SET)) if k not in dropped]
        full = f"{self.statement.name}_{name}"
        domain = _without(things, dropped).coalesce().set_tuple_name(full)
        self.statements.append(self.made(full, domain, [self.name(k) for k in kept], body))
        yield Loops(domain, tuple(kept.index(k) for k in order), simd)

    def made(self, name: str, domain: isl.Set, iterators: Sequence[str], body: ir.Node) -> Statement:
        long = CType(self.scop.long_type, integer=True, bits=64)
        types = dict(zip(self.statement.iterators, self.statement.iterator_types, strict=True))
        return Statement(
            name,
            domain,
            tuple(iterators),
            tuple(types.get(one, long) for one in iterators),
            body,
            (),
            self.statement.location,
        )

    def packing(self, place: str) -> Iterator[Loops]:
        """Copies of the row or column operands, and zeros where there are none."""
        rows_at, columns_at, depth = self.depth
        operation = self.tiling.contraction.operation
        needed = self.pieces.steps
        used = self.pieces.cells.intersect(needed)
        row_origin, column_origin = depth - 1, columns_at - 1
        first_row, first_step = self.name(rows_at - 2), self.name(rows_at - 1)
        if place == "rows":
            dropped = [*range(rows_at, row_origin), self.column]
            order = [row_origin, self.step, self.row]
            for k, (buffer, value) in enumerate(zip(self.row_buffers, operation.rows, strict=True)):
                panel = ((self.name(row_origin), self.tiling.depth), (first_row, -self.tiling.depth))
                row = (self.name(self.row), 1), (self.name(row_origin), -1)
                target = element(buffer, (*panel, *self.step_index(self.tiling.rows, first_step), *row))
                yield from self.copied(
                    f"rows{k}", used, needed, (self.row, row_origin, self.tiling.rows), dropped, order, target, value
                )
        else:
            dropped = [*range(columns_at, depth), self.row]
            for k, (buffer, value) in enumerate(zip(self.column_buffers, operation.columns, strict=True)):
                contiguous = _runs_along(value, self.name(self.column))
                order = [self.step, self.column] if contiguous else [self.column, self.step]
                column = (self.name(self.column), 1), (self.name(column_origin), -1)
                target = element(buffer, (*self.step_index(self.tiling.columns, first_step), *column))
                box_of = self.column, column_origin, self.tiling.columns
                yield from self.copied(
                    f"columns{k}", used, needed, box_of, dropped, order, target, value, simd=contiguous
                )

    def step_index(self, width: int, first: str) -> tuple[tuple[str, int], ...]:
        return (self.name(self.step), width), (first, -width)

    def copied(
        self,
        name: str,
        used: isl.Set,
        needed: isl.Set,
        side: tuple[int, int, int],
        dropped: Sequence[int],
        order: Sequence[int],
        target: ir.Node,
        operand: ir.Node,
        *,
        simd: bool = False,
    ) -> Iterator[Loops]:
        own = compact(free(used, *dropped))
        panel = free(needed, *dropped, side[0]).intersect(box(needed, [side]))
        others = _simple(panel.subtract(own)).intersect(panel)
        self.fills.append(f"{self.statement.name}_{name}_none")
        yield from self.new(f"{name}_none", others, dropped, assignment(target, ir.Constant("int", "0")), order)
        yield from self.new(name, own, dropped, assignment(target, operand), order, simd=simd)
        if not own.is_empty():
            full = f"{self.statement.name}_{name}"
            self.in_one_call(full, side[0], side[2], dropped, target, operand)
            self.packs.append(full)

    def in_one_call(
        self, name: str, row: int, width: int, dropped: Sequence[int], target: ir.Node, operand: ir.Node
    ) -> None:
        """A statement that copies what the loops over rows and steps do, if a function can. row: the dimension, which
        is a column for columns."""
        moved = row - self.coordinates, self.step - self.coordinates
        function = transposed(self.scop, self.statement, operand, *moved, width, self.function_name(), self.machine)
        if function is None:
            return
        name_of_same = next(
            (one.name for one in (*self.earlier, *self.transposed) if one.same(function)), function.name
        )
        function = replace(function, name=name_of_same)
        self.transposed.append(function)
        kept = [k for k in range(self.coordinates + len(self.statement.iterators)) if k not in dropped]
        names, many = [self.name(k) for k in kept], f"{name}_all"
        length = row_length(function.source, function.subscript, self.flat)
        arguments = [
            ir.ID("$rows"),
            ir.ID("$count"),
            address(function.source),
            length,
            address(target),
            *function.scalars,
        ]
        domain = isl.Set(f"{{ {many}[{', '.join(f'x{k}' for k in range(len(names) + 2))}] }}")
        self.statements.append(self.made(many, domain, [*names, "$rows", "$count"], call(function.name, arguments)))
        self.turned[name] = Turned(many, kept.index(row), kept.index(self.step))

    @property
    def flat(self) -> dict[str, Array]:
        """Arrays that C knows one dimension of, by their names there."""
        return {array.spelling: array for array in self.scop.arrays.values() if array.flat}

    def function_name(self) -> str:
        return f"scopt_transpose_{self.scop.name.removeprefix('scop')}_{len(self.earlier) + len(self.transposed)}"

    def work(self) -> Iterator[Loops]:
        """All that happens in one register tile."""
        row, column, step = self.row, self.column, self.step
        yield from self.ragged(self.pieces.before)
        both = [row, column]
        if self.pieces.has_whole:
            yield from self.kernel_steps("whole", copy=False)
        if self.pieces.has_partial:
            cells = self.pieces.cells.intersect(self.pieces.tiles)
            index = (
                (self.name(row), self.tiling.columns),
                (self.name(self.depth[2] - 1), -self.tiling.columns),
                (self.name(column), 1),
                (self.name(self.depth[1] - 1), -1),
            )
            there, here = element(self.copy, index), self.tiling.contraction.cell
            yield from self.new("load", cells, [step], assignment(there, here), both, simd=True)
            yield from self.kernel_steps("part", copy=True)
            yield from self.new("store", cells, [step], assignment(here, there), both, simd=True)
        yield from self.ragged(self.pieces.after)

    def ragged(self, instances: isl.Set) -> Iterator[Loops]:
        """The statement itself: the iterations are those that the schedule had."""
        if not instances.is_empty():
            contraction = self.tiling.contraction
            for name, own in zip(contraction.statements, self.pieces.own, strict=True):
                domain = instances.intersect(own).project_out(SET, 0, self.coordinates).set_tuple_name(name).coalesce()
                if not domain.is_empty():
                    yield Loops(
                        domain, (contraction.row, contraction.reduction, contraction.column), simd=self.tiling.simd
                    )

    def kernel_steps(self, name: str, *, copy: bool) -> Iterator[Loops]:
        """One statement for each step of a tile; the printer makes one call of the kernel of all steps in a row.

        The AST generator sees the steps of all tiles for both forms, and need not distinguish them: see `Choice`.
        """
        dropped = [self.row, self.column]
        steps = self.pieces.steps.intersect(self.pieces.tiles)
        full = f"{self.statement.name}_{name}"
        kept = [k for k in range(self.coordinates + len(self.statement.iterators)) if k not in dropped]
        loops = list(self.new(name, steps, dropped, ir.EmptyStatement(), [self.step]))
        if name == "whole" and self.pieces.has_partial:
            others = tuple(f"{self.statement.name}_{other}" for other in ("load", "part", "store"))
            self.choices.append(Choice(full, others, _without(self.pieces.complete, dropped)))
        many = f"{full}_steps"
        names = [self.name(k) for k in kept]
        body = self.kernel_call(copy)
        domain = isl.Set(f"{{ {many}[{', '.join(f'x{k}' for k in range(len(names) + 1))}] }}")
        self.statements.append(self.made(many, domain, [*names, "$count"], body))
        corner = kept.index(self.coordinates - 1), kept.index(self.depth[1] - 1)
        self.steps[full] = Step(
            many, kept.index(self.step), corner, self.tiling, self.kernel, self.copy if copy else None
        )
        yield from loops

    def kernel_call(self, copy: bool) -> ir.Node:
        """``kernel(count, &rows[…], …, &columns[…], …, scalars, &cell, row length)``."""
        rows_at, columns_at, depth = self.depth
        first_row, first_step = self.name(rows_at - 2), self.name(rows_at - 1)
        tiling, operation = self.tiling, self.tiling.contraction.operation
        panel = (
            (self.name(depth - 1), tiling.depth),
            (first_row, -tiling.depth),
            *self.step_index(tiling.rows, first_step),
        )
        rows = [address(element(buffer, panel)) for buffer in self.row_buffers]
        columns = [
            address(element(buffer, self.step_index(tiling.columns, first_step))) for buffer in self.column_buffers
        ]
        if copy:
            target: list[ir.Node] = [ir.ID(self.copy.spelling), integer(tiling.columns)]
        else:
            corner = {self.name(self.row): self.name(depth - 1), self.name(self.column): self.name(columns_at - 1)}
            cell = tiling.contraction.cell
            target = [address(substituted(cell, corner)), row_length(cell, self.row_subscript(), self.flat)]
        return call(self.kernel.name, [ir.ID("$count"), *rows, *columns, *operation.scalars, *target])

    def row_subscript(self) -> int:
        """Which subscript of the cell the row moves."""
        name = self.name(self.row)
        node, subscripts = self.tiling.contraction.cell, []
        while isinstance(node, ir.ArrayRef):
            subscripts.append(node.subscript)
            node = node.name
        return next(k for k, subscript in enumerate(reversed(subscripts)) if name in identifiers(subscript))


@dataclass(frozen=True, slots=True)
class _Names:
    """Names for buffers and kernels that nothing else in the file has. earlier: buffers of other tilings, which may be
    used again. alignment: of buffers, in bytes."""

    scop: Scop
    number: int
    earlier: Mapping[str, Array]
    alignment: int

    def kernel(self) -> str:
        return f"scopt_tile_{self.scop.name.removeprefix('scop')}_{self.number}"

    def buffers(self, ctype: CType) -> Callable[[ir.Node, str, int], Array]:
        taken = set(self.scop.reserved) | set(self.scop.arrays) | {p.spelling for p in self.scop.parameters}

        def buffer(value: ir.Node, what: str, size: int) -> Array:
            base = f"{_array_name(value)}_{what}"
            names = chain((base,), (f"{base}{k}" for k in count(2)))
            name = next(n for n in names if n not in taken and self.fits(n, ctype, size))
            taken.add(name)
            return array_of(name, ctype, size, self.alignment)

        return buffer

    def fits(self, name: str, ctype: CType, size: int) -> bool:
        """Whether no earlier buffer of that name is another one."""
        other = self.earlier.get(name)
        return other is None or (other.type, other.sizes) == (ctype, (size,))


def _simple(things: isl.Set) -> isl.Set:
    """A superset in one piece, where there are many."""
    things = compact(things)
    return isl.Set.from_basic_set(things.simple_hull()) if things.n_basic_set() > MAX_PIECES else things


def _part(union: isl.UnionSet, statement: Statement) -> isl.Set:
    """The part of a union in a statement's space."""
    return isl.Set.from_union_set(
        union.intersect(isl.UnionSet.from_set(isl.Set.universe(statement.domain.get_space())))
    )


def _coordinates(node: isl.ScheduleNode, statements: Sequence[Statement]) -> isl.Map:
    """``{ [i0, …] -> [p0, …] }``, the dates above a node, which are the same functions for all statements, without
    their domains.

    Raises Irregular if they aren't.
    """
    dates = node.get_prefix_schedule_multi_union_pw_aff()
    found: list[isl.Map] = []
    for statement in statements:
        space = statement.domain.get_space()
        functions = [_single(dates.get_at(k), space) for k in range(dates.dim(isl.dim_type.set))]
        result = isl.MultiAff.from_aff(functions[0])
        for function in functions[1:]:
            result = result.flat_range_product(isl.MultiAff.from_aff(function))
        found.append(isl.Map.from_multi_aff(result).reset_tuple_id(isl.dim_type.in_))
    if not all(one.is_equal(found[0]) for one in found[1:]):
        raise Irregular("statements of one contraction have different dates")
    return found[0]


def _single(function: isl.UnionPwAff, space: isl.Space) -> isl.Aff:
    """The only piece of a function on a statement's instances. Raises Irregular if it has several."""
    parts = function.get_pw_aff_list()
    all_parts = [parts.get_at(k) for k in range(parts.n_pw_aff())]
    found = [
        aff for part in all_parts if part.get_domain_space().has_equal_tuples(space) for _, aff in part.get_pieces()
    ]
    if not found or any(not aff.plain_is_equal(found[0]) for aff in found[1:]):
        raise Irregular("the dates around a register tile are piecewise")
    return found[0]


def _marked(schedule: MarkedSchedule, node: isl.ScheduleNode, place: str) -> isl.ScheduleNode:
    """The mark below a node for a place."""
    while True:
        node = node.child(0)
        if node.get_type() == _TYPE.mark and isinstance(mark := schedule.mark(node), TileMark) and mark.place == place:
            return node


def _without(things: isl.Set, dropped: Sequence[int]) -> isl.Set:
    for dimension in sorted(dropped, reverse=True):
        things = things.project_out(SET, dimension, 1)
    return things


def _runs_along(value: ir.Node, iterator: str) -> bool:
    """Whether all references in an expression that move with an iterator do so in their last subscript."""
    pending, good = [value], True
    while pending:
        node = pending.pop()
        if isinstance(node, ir.ArrayRef):
            good = good and not any(iterator in identifiers(inner) for inner in _outer_subscripts(node))
        else:
            pending.extend(node.parts)
    return good


def _outer_subscripts(node: ir.ArrayRef) -> Iterator[ir.Node]:
    inner = node.name
    while isinstance(inner, ir.ArrayRef):
        yield inner.subscript
        inner = inner.name


def _array_name(value: ir.Node) -> str:
    """The name of the first array in an expression."""
    pending = [value]
    while pending:
        node = pending.pop(0)
        if isinstance(node, ir.ArrayRef):
            while isinstance(node, ir.ArrayRef):
                node = node.name
            return str(node.name) if isinstance(node, ir.ID) else "operand"
        pending.extend(node.parts)
    return "operand"
