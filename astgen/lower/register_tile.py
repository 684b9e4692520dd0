"""What one tiling becomes: statements that pack operands, that make the steps of register tiles, that load and store
copies of tiles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import islpy as isl
from msgspec import Struct, field
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.names import identifiers
from scopt.astgen.lower.body_syntax import (
    address,
    assignment,
    call,
    element,
    integer,
    row_length,
    substituted,
)
from scopt.astgen.lower.kernel import Kernel
from scopt.astgen.lower.pair_kernel import PairKernel
from scopt.astgen.lower.tile_geometry import (
    coordinates,
    marked_place,
    part_of,
    runs_along,
    simple_set,
    without_dimensions,
)
from scopt.astgen.lower.tile_names import TileNames
from scopt.astgen.lower.tile_pieces import Pieces, box, free, pieces
from scopt.astgen.lower.tile_records import Choice, Loops, Step, Turned
from scopt.astgen.lower.transposing import Transposed, transposed
from scopt.ir.marked_schedule import MarkedSchedule, RegisterTiling
from scopt.ir.scop import Array, CType, Scop, Statement
from scopt.machine import Machine
from scopt.machine.costs import alignment
from scopt.poly.isl_utils import SET, compact


class Tile(Struct, eq=False):
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
        columns = marked_place(schedule, node, "columns")
        columns_at = columns.get_schedule_depth()
        place = marked_place(schedule, columns, "tile")
        depth = place.get_schedule_depth()
        domains = [part_of(node.get_domain(), one).reset_tuple_id() for one in statements]
        rows = any(scop.arrays[one.array].rows for part in statements for one in part.accesses if one.is_write)
        coordinate = coordinates(place, statements)
        cut = pieces(tiling, domains, coordinate, rows_at - 1, columns_at - 1, depth - 1, copied=rows)
        earlier = {buffer.name: buffer for tile in before for buffer in tile.buffers}
        names = TileNames(scop, len(before), earlier, alignment(machine))
        operation = contraction.operation
        buffer = names.buffers(operation.operand_type)
        row_buffers = tuple(buffer(value, "rows", tiling.block * tiling.depth) for value in operation.rows)
        column_buffers = tuple(buffer(value, "columns", tiling.depth * tiling.columns) for value in operation.columns)
        copy = names.buffers(operation.type)(contraction.cell, "tile", tiling.rows * tiling.columns)
        kernel = _kernel(names.kernel(), tiling, scop)
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
        domain = without_dimensions(things, dropped).coalesce().set_tuple_name(full)
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
            for k, (buffer, value) in enumerate(zip(self.row_buffers, operation.rows, strict=True)):
                along, across = (runs_along(value, self.name(one)) for one in (self.step, self.row))
                paired = operation.narrow is not None
                order = [row_origin, self.row, self.step] if paired and along else [row_origin, self.step, self.row]
                target = element(buffer, self.row_index(first_row, first_step))
                box_of = self.row, row_origin, self.tiling.rows
                simd = along if paired else across
                yield from self.copied(f"rows{k}", used, needed, box_of, dropped, order, target, value, simd=simd)
        else:
            dropped = [*range(columns_at, depth), self.row]
            for k, (buffer, value) in enumerate(zip(self.column_buffers, operation.columns, strict=True)):
                contiguous = runs_along(value, self.name(self.column))
                order = [self.step, self.column] if contiguous else [self.column, self.step]
                column = (self.name(self.column), 1), (self.name(column_origin), -1)
                target = element(buffer, (*self.step_index(self.tiling.columns, first_step), *column))
                box_of = self.column, column_origin, self.tiling.columns
                yield from self.copied(
                    f"columns{k}", used, needed, box_of, dropped, order, target, value, simd=contiguous
                )

    def row_index(self, first_row: str, first_step: str) -> Sequence[tuple[str, int]]:
        """Where an operand of a row lies: in panels of a register tile's rows."""
        step, row = self.kernel.row_strides
        origin = self.name(self.depth[2] - 1)
        panel = (origin, self.tiling.depth), (first_row, -self.tiling.depth)
        return (*panel, *self.step_index(step, first_step), (self.name(self.row), row), (origin, -row))

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
        lacking = panel.subtract(own)
        others = simple_set(lacking).intersect(panel)
        if not others.is_disjoint(own):  # it lacks cells at both ends: one piece would hold what is between them
            others = compact(lacking)
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
        operation, name_of = self.tiling.contraction.operation, self.function_name()
        function = transposed(
            self.scop, self.statement, operand, *moved, width, name_of, self.machine, operation.operand_type
        )
        if function is None:
            return
        if operation.narrow is not None and (row == self.row or operand is not function.source):
            return  # so do rows that stay rows, and what would be computed in fewer bits
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
        return self.scop.flat

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
            self.choices.append(Choice(full, others, without_dimensions(self.pieces.complete, dropped)))
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
            *self.step_index(self.kernel.row_strides[0], first_step),
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


def _kernel(name: str, tiling: RegisterTiling, scop: Scop) -> Kernel:
    operation = tiling.contraction.operation
    if operation.narrow is None:
        return Kernel(name, operation, tiling.rows, tiling.columns, scop.long_type)
    return PairKernel(name, operation, tiling.rows, tiling.columns, scop.long_type, tiling.depth)
