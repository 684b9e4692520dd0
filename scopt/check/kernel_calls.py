"""Steps of register tiles: which instances a call of a kernel runs, and where it finds their operands.

A kernel (`scopt.astgen.lower.kernel`) updates all cells of a box for some steps; operand r of row i is ``rows[r][k
* rows + i]`` at step k, or with other strides of its own, of column j ``columns[r][k * columns + j]``, counted from
where its arguments point to. That it does so is shown from its text, elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NoReturn

import islpy as isl
from msgspec import Struct

from scopt import ir
from scopt.astgen.emit.names import identifiers
from scopt.astgen.lower.body_syntax import row_length
from scopt.astgen.lower.tile_records import Step
from scopt.astgen.transformed_program import Program
from scopt.check.forms import Carrier, Moved, cell, operand_content
from scopt.check.subscript_functions import Subscripts, base_of, function_of, functions, shifted, subscripts_of
from scopt.diagnostics import InternalError
from scopt.ir.marked_schedule import Contraction, Operation
from scopt.ir.scop import Statement
from scopt.ir.walks import same_node, same_tree, walk
from scopt.poly.contraction_expression import CELL, has_values_of
from scopt.poly.isl_utils import IN, OUT, SET
from scopt.poly.reductions import selected
from scopt.poly.value_limits import limits


def step_carriers(program: Program, name: str, running: isl.Set) -> list[Carrier]:
    """Of each statement whose instances a step runs, where they are.
    Raises InternalError if the call does anything else."""
    return _Steps.of(program, name, running).carriers()


class _Steps(Struct, frozen=True, eq=False):
    """arguments: of the call that makes many steps, over the iterators of the statement `text`, of one.
    running: its instances."""

    program: Program
    step: Step
    text: Statement
    arguments: tuple[ir.Node, ...]
    running: isl.Set

    @staticmethod
    def of(program: Program, name: str, running: isl.Set) -> _Steps:
        step = program.lowered.steps[name]
        many, text = program.scop.statement(step.many), program.scop.statement(name)
        match many.body:
            case ir.FuncCall(name=ir.ID(name=function), args=ir.ExprList(exprs=[ir.ID(name="$count"), *arguments])):
                if function == step.kernel.name and many.iterators == (*text.iterators, "$count"):
                    return _Steps(program, step, text, tuple(arguments), running)
        raise InternalError(f"{program.source.location}: generated loops: {step.many} is no call of its kernel")

    @property
    def contraction(self) -> Contraction:
        return self.step.tiling.contraction

    def carriers(self) -> list[Carrier]:
        operation = self.step.kernel.operation
        widths = len(operation.rows), len(operation.columns), len(operation.scalars), 2
        if sum(widths) != len(self.arguments):
            self.refuse("a kernel has another number of arguments")
        rows, columns, scalars, target = self.parts(widths)
        first = self.program.source.statement(self.contraction.statements[0])
        self.check_operation(first)
        self.check_scalars(scalars)
        made: list[Carrier] = []
        places: list[isl.Map] = []
        for name in self.contraction.statements:
            statement = self.program.source.statement(name)
            if not same_tree(statement.body, first.body) or statement.iterators != first.iterators:
                self.refuse(f"{statement.name} is another statement than {first.name}")
            everywhere = self.instances(statement)
            instances = everywhere.intersect_domain(statement.domain.intersect_params(self.program.source.context))
            place = self.place(instances)
            places.append(place)
            moved = [
                *self.operands(statement, everywhere, rows, columns),
                *self.cells(statement, everywhere, instances, target),
            ]
            made.append(
                Carrier(
                    statement.name,
                    self.text.name,
                    instances,
                    tuple(moved),
                    place if self.step.copy is not None else None,
                    self.box,
                )
            )
        self.check_box(places)
        return made

    @property
    def box(self) -> tuple[int, int]:
        """Rows and columns that the kernel updates."""
        return self.step.kernel.rows, self.step.kernel.columns

    def instances(self, statement: Statement) -> isl.Map:
        """``{ S[…] -> text[…] }``: those in the box of a call, as far as they exist."""
        rows, columns = self.box
        roles = (self.contraction.row, self.contraction.column)
        space = statement.domain.get_space().align_params(self.running.get_space())
        relation = isl.Map.universe(space.map_from_domain_and_range(self.running.get_space().align_params(space)))
        for position, name in enumerate(statement.iterators):
            if position not in roles:
                if self.text.iterators.count(name) != 1:
                    self.refuse(f"{self.text.name} doesn't say which '{name}' it is for")
                relation = relation.equate(IN, position, OUT, self.text.iterators.index(name))
        local = isl.LocalSpace.from_space(relation.get_space().wrap())
        for position, corner, size in zip(roles, self.step.corner, (rows, columns), strict=True):
            own = isl.Aff.var_on_domain(local, SET, position)
            start = isl.Aff.var_on_domain(local, SET, len(statement.iterators) + corner)
            inside = own.ge_set(start).intersect(own.lt_set(start.add_constant_val(isl.Val(size))))
            relation = relation.intersect(inside.unwrap())
        return relation

    def parts(self, widths: Sequence[int]) -> Iterator[tuple[ir.Node, ...]]:
        rest = self.arguments
        for width in widths:
            yield rest[:width]
            rest = rest[width:]

    # --- what is computed ---------------------------------------------------------------------------------------------

    def check_operation(self, statement: Statement) -> None:
        """The kernel's operation is the statement's."""
        operation, chosen = self.step.kernel.operation, selected(statement.body)
        if self.contraction.operation is not operation and not _same_operation(self.contraction.operation, operation):
            self.refuse("a kernel computes something else")
        own = self.contraction.operation
        if chosen is not None:
            same = own.op == "=" and own.extremum == chosen.extremum and chosen.cell is self.contraction.cell
            value = chosen.value
        else:
            body = statement.body
            same = isinstance(body, ir.Assignment) and own.extremum is None
            same = same and body.op == own.op and body.lvalue is self.contraction.cell
            value = body.rvalue if same else body
        if not same or not self.is_expression(own.expression, value, statement):
            self.refuse(f"a kernel computes something else than {statement.name}")
        operands = *own.rows, *own.columns
        if own.narrow is not None and not has_values_of(own.narrow, self.program.source, statement, operands):
            self.refuse(f"a kernel takes operands of {statement.name} for narrower ones")

    def is_expression(self, mine: ir.Node, theirs: ir.Node, statement: Statement) -> bool:
        """Whether an expression over the names of operands is one of the statement."""
        own = self.contraction.operation
        if isinstance(mine, ir.ID):
            if mine.name == CELL:
                return self.is_cell(theirs, statement)
            named = {f"row{k}": node for k, node in enumerate(own.rows)}
            named |= {f"column{k}": node for k, node in enumerate(own.columns)}
            named |= {f"scalar{k}": node for k, node in enumerate(own.scalars)}
            if own.narrow is not None and isinstance(theirs, ir.Cast):
                # to int, or nothing is known of it: what the operand is anyway
                theirs = theirs.expr if limits(self.program.source, statement, theirs) is not None else theirs
            return mine.name in named and same_tree(named[mine.name], theirs)
        if not same_node(mine, theirs):
            return False
        pairs = list(zip(mine.children(), theirs.children(), strict=False))
        return len(mine.children()) == len(theirs.children()) and all(
            self.is_expression(a, b, statement) for (_, a), (_, b) in pairs
        )

    def is_cell(self, node: ir.Node, statement: Statement) -> bool:
        """Whether a reference reads the cell that the statement writes."""
        write = next(a for a in statement.accesses if a.is_write)
        reads = [a for a in statement.accesses if a.kind == "read" and a.node is node]
        return len(reads) == 1 and reads[0].array == write.array and bool(reads[0].relation.is_equal(write.relation))

    def check_scalars(self, scalars: Sequence[ir.Node]) -> None:
        own = self.contraction.operation.scalars
        if len(own) != len(scalars) or not all(same_tree(a, b) for a, b in zip(own, scalars, strict=True)):
            self.refuse("a kernel gets other scalars")

    # --- where --------------------------------------------------------------------------------------------------------

    def place(self, instances: isl.Map) -> isl.Map:
        """``{ S[…] -> [text's iterators, row, column] }``, rows and columns counted from the tile's corner."""
        row, column = (isl.Map.from_aff(own) for own in self.positions(instances))
        text = instances.range_map().reset_tuple_id(OUT)
        return text.flat_range_product(row).flat_range_product(column).domain_factor_domain()

    def positions(self, instances: isl.Map) -> tuple[isl.Aff, isl.Aff]:
        """The row and the column of an instance in its tile, as functions of instance and text."""
        local = isl.LocalSpace.from_space(instances.get_space().wrap())
        roles = (self.contraction.row, self.contraction.column)
        count = instances.dim(IN)
        row, column = (
            isl.Aff.var_on_domain(local, SET, own).sub(isl.Aff.var_on_domain(local, SET, count + corner))
            for own, corner in zip(roles, self.step.corner, strict=True)
        )
        return row, column

    def check_box(self, places: Sequence[isl.Map]) -> None:
        """No two statements share a place; without a copy, all places of the box are those of instances."""
        rows, columns = self.box
        box = self.running.reset_tuple_id().flat_product(
            isl.Set(f"{{ [i, j] : 0 <= i < {rows} and 0 <= j < {columns} }}")
        )
        for k, one in enumerate(places):
            if any(not one.range().is_disjoint(other.range()) for other in places[:k]):
                self.refuse(f"{self.text.name} stands for two instances at one place")
        if self.step.copy is not None:
            return
        for one in places:
            box = box.subtract(one.range())
        if not box.is_empty():
            self.refuse(f"{self.text.name} updates cells that don't exist: {box.sample_point()}")

    def operands(
        self, statement: Statement, instances: isl.Map, rows: Sequence[ir.Node], columns: Sequence[ir.Node]
    ) -> Iterator[Moved]:
        """Of each packed operand, where it is read."""
        own, kernel = self.contraction.operation, self.step.kernel
        sides = ((0, own.rows, rows, kernel.row_strides), (1, own.columns, columns, (kernel.columns, 1)))
        for which, operands, arguments, (width, distance) in sides:
            for operand, argument in zip(operands, arguments, strict=True):
                match argument:
                    case ir.UnaryOp(op="&", expr=ir.ArrayRef(name=ir.ID(name=buffer), subscript=subscript)):
                        start = functions([subscript], Subscripts.of(self.program.source, self.text))
                    case _:
                        self.refuse("a kernel gets an operand from something else than a buffer")
                if start is None or not _moves_by(start, self.step.position, width):
                    self.refuse(f"a kernel reads '{buffer}' in other steps than it makes")
                slot = instances.range_map().apply_range(isl.Map.from_multi_pw_aff(start))
                place = self.positions(instances)[which].scale_val(isl.Val(distance))
                slot = shifted(slot, 0, place).set_tuple_name(OUT, buffer)
                self.check_type(buffer)
                content = operand_content(operand, statement.iterators, isl.Set.universe(statement.domain.get_space()))
                accesses = tuple(k for k, a in enumerate(statement.accesses) if _contains(operand, statement, k))
                yield Moved(accesses, content, slot)

    def check_type(self, buffer: str) -> None:
        """A buffer of operands is what the kernel takes it for."""
        known = self.program.scop.arrays.get(buffer)
        if known is None or known.type.spelling != self.step.kernel.operation.operand_type.spelling:
            self.refuse(f"'{buffer}' has another type than a kernel's operands")

    def cells(
        self, statement: Statement, everywhere: isl.Map, instances: isl.Map, target: Sequence[ir.Node]
    ) -> Iterator[Moved]:
        """Where the cell is that an instance updates: its own, or in a copy.
        Raises InternalError if it is another one."""
        base, length = target
        own = tuple(k for k, access in enumerate(statement.accesses) if self.is_own_cell(statement, k))
        write = next(a for a in statement.accesses if a.is_write)
        copy = self.step.copy
        if copy is not None:
            same = isinstance(base, ir.ID) and base.name == copy.spelling
            same = same and isinstance(length, ir.Constant) and length.value == str(self.step.kernel.columns)
            if not same:
                self.refuse("a kernel updates another copy of its tile")
            row, column = self.positions(everywhere)
            slot = isl.Map.from_aff(row.scale_val(isl.Val(self.step.kernel.columns)).add(column))
            slot = slot.intersect_domain(everywhere.wrap()).set_tuple_name(OUT, copy.name)
            yield Moved(own, write.relation.set_tuple_name(OUT, cell(write.array)), slot)
            return
        match base:
            case ir.UnaryOp(op="&", expr=ir.ArrayRef() as corner):
                self.check_cells(statement, instances, corner, length)
            case _:
                self.refuse("a kernel updates something else than an array")

    def check_cells(self, statement: Statement, instances: isl.Map, corner: ir.ArrayRef, length: ir.Node) -> None:
        """Rows of the kernel are as far from each other as those of the array, and each instance has its own cell."""
        write = next(a for a in statement.accesses if a.is_write)
        array = self.program.source.arrays[write.array]
        same = same_tree(base_of(corner), base_of(write.node)) if write.node is not None else False
        start = function_of(corner, Subscripts.of(self.program.source, self.text))
        moving = self.text.iterators[self.step.position] in identifiers(corner)
        if start is None or moving or not same or array.rows:
            self.refuse("a kernel updates cells that aren't linear")
        flat = self.program.source.flat
        row, column = self.positions(instances)
        meant = instances.domain_map().apply_range(write.relation)
        # dimensions that the reference has no brackets for
        implied = len(subscripts_of(corner)) - depth_of(corner)
        for dimension in range(implied, array.rank - 1):
            if same_tree(length, row_length(corner, dimension - implied, flat)):
                cells = instances.range_map().apply_range(isl.Map.from_multi_pw_aff(start))
                cells = shifted(shifted(cells, dimension, row), array.rank - 1, column).set_tuple_name(OUT, write.array)
                if cells.is_equal(meant):
                    return
        self.refuse(f"a kernel updates other cells than {statement.name}")

    def is_own_cell(self, statement: Statement, position: int) -> bool:
        access = statement.accesses[position]
        return access.is_write or (access.node is not None and self.is_cell(access.node, statement))

    def refuse(self, what: str) -> NoReturn:
        raise InternalError(f"{self.program.source.location}: generated loops: {what}")


def depth_of(reference: ir.Node) -> int:
    """How many brackets a reference has."""
    return 1 + depth_of(reference.name) if isinstance(reference, ir.ArrayRef) else 0


def _moves_by(start: isl.MultiPwAff, position: int, width: int) -> bool:
    """Whether a function grows by so much with an iterator."""
    for _, aff in start.get_pw_aff(0).get_pieces():
        if aff.dim(isl.dim_type.div) or aff.get_coefficient_val(IN, position) != isl.Val(width):
            return False
    return True


def _contains(operand: ir.Node, statement: Statement, position: int) -> bool:
    """Whether an operand has a reference like an access that is read."""
    access = statement.accesses[position]
    if access.is_write or access.node is None:
        return False
    return any(same_tree(node, access.node) for node in walk(operand))


def _same_operation(a: Operation, b: Operation) -> bool:
    """Whether two operations compute the same of their operands, whatever these are."""
    counts = (len(a.rows), len(a.columns), len(a.scalars)) == (len(b.rows), len(b.columns), len(b.scalars))
    same = (a.op, a.type.spelling, a.extremum) == (b.op, b.type.spelling, b.extremum)
    same = same and a.operand_type.spelling == b.operand_type.spelling
    return counts and same and same_tree(a.expression, b.expression)
