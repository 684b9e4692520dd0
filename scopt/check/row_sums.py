"""Whether a call that sums several rows up says what the statement says that adds one element to one row's sum.

``function(count, &row, length, …, &common, …, scalars, &sums)`` adds the operand of ``row[i * length + k]`` and
``common[k]`` to ``sums[i]``, step by step (shown from its text in `scopt.check.functions.row_sums`). In the nest it
stands for two loops over the statement (`scopt.check.reading`), whose iterators start where the call's do.
"""

from __future__ import annotations

from collections import Counter
from typing import NoReturn

import islpy as isl
from msgspec import Struct

from scopt import ir
from scopt.astgen.generation import Program
from scopt.astgen.lower.body_syntax import row_length
from scopt.astgen.lower.row_sums import RowSums
from scopt.astgen.lower.tile_records import Turned
from scopt.check.subscript_functions import Subscripts, base_of, functions, subscripts_of
from scopt.diagnostics import InternalError
from scopt.ir.ctypes import plain_type
from scopt.ir.scop import Array, Statement
from scopt.ir.walks import same_tree, walk
from scopt.poly.isl_utils import IN


def check_row_sums(program: Program) -> None:
    """Raise InternalError unless each call that sums rows up does what its loops do."""
    calls = Counter(turned.name for turned in program.summing.turned.values())
    for name, turned in program.summing.turned.items():
        if calls[turned.name] > 1:
            raise InternalError(f"{program.source.location}: generated loops: {turned.name} stands for two loops")
        _Summed(program, turned, program.scop.statement(name), program.scop.statement(turned.name)).check()


class _Summed(Struct, frozen=True, eq=False):
    """single: the statement in loops. call: the one that stands for it."""

    program: Program
    turned: Turned
    single: Statement
    call: Statement

    def check(self) -> None:
        names = self.single.iterators
        alike = self.call.iterators == (*names, "$count") and len(set(names)) == len(names)
        if not alike or self.turned.row == self.turned.step or self.turned.skew:
            self.refuse("has other iterators")
        function, arguments = self.arguments()
        values: dict[str, ir.Node] = {}
        for k in range(function.rows):
            values[f"row{k}"] = self.row(function, arguments.pop(0), arguments.pop(0))
        for k in range(function.common):
            values[f"common{k}"] = self.common(function, arguments.pop(0))
        for k in range(function.scalars):
            values[f"scalar{k}"] = self.scalar(function, arguments.pop(0))
        self.check_sums(function, arguments.pop(0))
        named = {node.name for node in walk(function.operand) if isinstance(node, ir.ID)}
        match self.single.body:
            case ir.Assignment(op=op, rvalue=value) if op == function.op and named <= set(values):
                if same_tree(value, function.operand_of(values)):
                    return
        self.refuse("sums something else up")

    def arguments(self) -> tuple[RowSums, list[ir.Node]]:
        """The function, and what it gets behind the number of steps."""
        match self.call.body:
            case ir.FuncCall(name=ir.ID(name=name), args=ir.ExprList(exprs=[ir.ID(name="$count"), *arguments])):
                found = [one for one in self.program.summing.functions if one.name == name]
                if len(found) == 1:
                    expected = 2 * found[0].rows + found[0].common + found[0].scalars + 1
                    if len(arguments) == expected:
                        return found[0], list(arguments)
        self.refuse("is no call of a function that sums rows up")

    # --- where --------------------------------------------------------------------------------------------------------

    def row(self, function: RowSums, argument: ir.Node, length: ir.Node) -> ir.ArrayRef:
        """Steps lie side by side, rows as far apart as is said."""
        source = self.reference(function, argument)
        *outer, last = map(self.moves, self.linear(source))
        rows = [k for k, moved in enumerate(outer) if moved != (0, 0)]
        if last != (0, 1) or len(rows) != 1 or outer[rows[0]] != (1, 0):
            self.refuse("reads other elements")
        if not same_tree(length, row_length(source, rows[0], self.program.source.flat)):
            self.refuse("takes rows to be longer, or shorter, than they are")
        return source

    def common(self, function: RowSums, argument: ir.Node) -> ir.ArrayRef:
        """Steps lie side by side, the same ones for all rows."""
        source = self.reference(function, argument)
        *outer, last = map(self.moves, self.linear(source))
        if last != (0, 1) or any(moved != (0, 0) for moved in outer):
            self.refuse("reads other elements")
        return source

    def scalar(self, function: RowSums, argument: ir.Node) -> ir.ID:
        known = {one.spelling: one for one in self.program.source.arrays.values() if not one.rank}
        match argument:
            case ir.ID(name=name) if name in known and name not in self.single.iterators:
                if self.has_type(known[name], function):
                    return argument
        self.refuse("takes something else for a scalar")

    def check_sums(self, function: RowSums, argument: ir.Node) -> None:
        """The statement's cell, in a buffer that has one for each row, side by side."""
        match argument, self.single.body:
            case (
                ir.UnaryOp(op="&", expr=ir.ArrayRef(name=ir.ID(name=buffer), subscript=subscript) as target),
                ir.Assignment(lvalue=cell),
            ) if same_tree(target, cell):
                arrays, originals = self.program.scop.arrays, self.program.source.arrays
                own = next((one for key, one in arrays.items() if key not in originals and one.spelling == buffer), None)
                place = functions([subscript], Subscripts.of(self.program.source, self.single))
                if own is None or place is None or self.moves(place.get_at(0)) != (1, 0):
                    self.refuse("sums up somewhere else")
                if own.rank != 1 or own.sizes != (function.width,) or not self.has_type(own, function):
                    self.refuse("sums up into another buffer")
                return
        self.refuse("sums up somewhere else")

    def reference(self, function: RowSums, argument: ir.Node) -> ir.ArrayRef:
        """What an argument points to: a cell of an array of the SCoP, with all its brackets."""
        match argument:
            case ir.UnaryOp(op="&", expr=ir.ArrayRef() as source):
                base, rank = base_of(source), len(subscripts_of(source))
                for array in self.program.source.arrays.values():
                    if isinstance(base, ir.ID) and array.spelling == base.name and rank == array.rank:
                        if array.rows or not self.has_type(array, function) or _is_dereferenced(source):
                            self.refuse("reads elements of another type, or at no fixed distances")
                        return source
        self.refuse("reads something else than an array")

    def has_type(self, array: Array, function: RowSums) -> bool:
        """Whether a function's elements are of an array's type, but for a typedef's name."""
        own = plain_type(array.type, self.program.source.long_type)
        plain = own is not None and not (own.volatile or own.atomic)
        return plain and own is not None and function.type.spelling == own.spelling

    def linear(self, reference: ir.ArrayRef) -> list[isl.PwAff]:
        """The subscripts as functions of the statement's iterators."""
        subscripts = subscripts_of(reference)
        found = functions(subscripts, Subscripts.of(self.program.source, self.single))
        if found is None:
            self.refuse("has a reference that isn't linear")
        return [found.get_at(k) for k in range(len(subscripts))]

    def moves(self, subscript: isl.PwAff) -> tuple[int, int]:
        """By how much a subscript grows with the row, and with the step."""
        ((_, function),) = subscript.get_pieces()
        if function.dim(isl.dim_type.div):
            self.refuse("has a reference that isn't linear")
        row, step = (
            function.get_coefficient_val(IN, position).to_python() for position in (self.turned.row, self.turned.step)
        )
        return row, step

    def refuse(self, what: str) -> NoReturn:
        raise InternalError(f"{self.program.source.location}: generated loops: {self.call.name} {what}")


def _is_dereferenced(reference: ir.Node) -> bool:
    """Whether some subscript has no brackets."""
    while isinstance(reference, ir.ArrayRef):
        reference = reference.name
    return not isinstance(reference, ir.ID)
