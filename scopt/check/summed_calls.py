"""Whether a call that sums several rows up says what the statements say that add one element to one row's sum.

``function(count, &row, &next_row, …, &common, …, scalars, &own, …)`` does its updates for all rows, step by step (shown
from its text in `scopt.check.functions.sums_of_rows`). In the nest it stands for two loops over the statements
(`scopt.check.reading`), whose iterators start where the call's do.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NoReturn

import islpy as isl
from msgspec import Struct

from scopt import ir
from scopt.astgen.lower.row_sums import RowSums, value_of
from scopt.astgen.passes.turned_sums import Summed, next_row
from scopt.astgen.transformed_program import Program, stand_ins
from scopt.check.subscript_functions import Subscripts, base_of, functions, subscripts_of
from scopt.diagnostics import InternalError
from scopt.ir.ctypes import plain_type
from scopt.ir.scop import Array, Dependences, Statement
from scopt.ir.walks import same_tree, walk
from scopt.poly.isl_utils import IN, OUT


def check_row_sums(program: Program, deps: Dependences) -> None:
    """Raise InternalError unless each call that sums rows up does what its loops do. deps: the SCoP's."""
    for name, summed in program.summing.calls.items():
        singles = tuple(program.scop.statement(one) for one in summed.statements)
        _Summed(program, deps, summed, singles, program.scop.statement(name)).check()


class _Summed(Struct, frozen=True, eq=False):
    """singles: the statements in loops. call: the one that stands for them."""

    program: Program
    deps: Dependences
    summed: Summed
    singles: tuple[Statement, ...]
    call: Statement

    def check(self) -> None:
        names = self.singles[0].iterators
        alike = self.call.iterators == (*names, "$count") and len(set(names)) == len(names)
        if not alike or any(one.iterators != names for one in self.singles) or self.summed.row == self.summed.step:
            self.refuse("has other iterators")
        function, arguments = self.arguments()
        if function.width != self.summed.width or len(function.updates) != len(self.singles):
            self.refuse("sums other rows up")
        values: dict[str, ir.Node] = {}
        for k in range(function.rows):
            values[f"row{k}"] = self.row(function, [arguments.pop(0) for _ in range(function.width)])
        for k in range(function.common):
            values[f"common{k}"] = self.common(function, arguments.pop(0))
        for k in range(function.scalars):
            values[f"scalar{k}"] = self.scalar(function, arguments.pop(0))
        for k in range(function.own):
            values[f"own{k}"] = self.own(function, arguments.pop(0))
        self.check_apart(function, values)
        self.check_updates(function, values)

    def arguments(self) -> tuple[RowSums, list[ir.Node]]:
        """The function, and what it gets behind the number of steps."""
        match self.call.body:
            case ir.FuncCall(name=ir.ID(name=name), args=ir.ExprList(exprs=[ir.ID(name="$count"), *arguments])):
                found = [one for one in self.program.summing.functions if one.name == name]
                if len(found) == 1:
                    expected = found[0].width * found[0].rows + found[0].common + found[0].scalars + found[0].own
                    if len(arguments) == expected:
                        return found[0], list(arguments)
        self.refuse("is no call of a function that sums rows up")

    # --- what ---------------------------------------------------------------------------------------------------------

    def check_updates(self, function: RowSums, values: dict[str, ir.Node]) -> None:
        """Each statement does what the update in its place does."""
        known = dict(values)
        for update, single in zip(function.updates, self.singles, strict=True):
            named = {node.name for node in walk(update.value) if isinstance(node, ir.ID)}
            match single.body:
                case ir.Assignment(op=op, lvalue=target, rvalue=value) if op == update.op and named <= set(known):
                    if update.target not in known:
                        known[update.target] = self.temporary(function, single, target, known)
                    elif not update.target.startswith("own"):
                        self.refuse("sets something twice")
                    same = same_tree(target, known[update.target])
                    if same and same_tree(value, value_of(update, known)):
                        continue
            self.refuse("sums something else up")

    def temporary(self, function: RowSums, single: Statement, target: ir.Node, known: dict[str, ir.Node]) -> ir.ID:
        """A variable that only the same row's step reads, behind this statement: it isn't set by the call."""
        arrays = self.program.source.arrays.values()
        array = next((one for one in arrays if isinstance(target, ir.ID) and one.spelling == target.name), None)
        if array is None or array.rank or not array.private or not self.has_type(array, function):
            self.refuse("sets something else than a variable of its own")
        assert isinstance(target, ir.ID)
        if any(same_tree(target, one) for one in known.values()):
            self.refuse("reads what it sets")
        originals = stand_ins(self.program)
        own = originals.get(single.name, single.name)
        inside = {originals.get(one.name, one.name) for one in self.singles}
        if is_handed_on(self.deps, array.name, own, inside):
            self.refuse(f"doesn't set '{target.name}', which is read elsewhere")
        return target

    def check_apart(self, function: RowSums, values: dict[str, ir.Node]) -> None:
        """What is written isn't read as something else."""
        for name in function.written:
            base = base_of(values[name])
            others = [base_of(node) for key, node in values.items() if key != name]
            if any(same_tree(base, other) for other in others):
                self.refuse("reads what it writes")

    # --- where --------------------------------------------------------------------------------------------------------

    def row(self, function: RowSums, arguments: list[ir.Node]) -> ir.ArrayRef:
        """Steps lie side by side, in each row; a row further on is what the reference says it is."""
        source = self.reference(function, arguments[0])
        *outer, last = map(self.moves, self.linear(source))
        if last != (0, 1) or any(step for _, step in outer):
            self.refuse("reads other elements")
        iterator = self.singles[0].iterators[self.summed.row]
        for further, argument in enumerate(arguments):
            if not same_tree(argument, ir.UnaryOp("&", next_row(source, iterator, further))):
                self.refuse("reads other rows")
        return source

    def common(self, function: RowSums, argument: ir.Node) -> ir.ArrayRef:
        """Steps lie side by side, the same ones for all rows."""
        source = self.reference(function, argument)
        *outer, last = map(self.moves, self.linear(source))
        if last != (0, 1) or any(moved != (0, 0) for moved in outer):
            self.refuse("reads other elements")
        return source

    def own(self, function: RowSums, argument: ir.Node) -> ir.ArrayRef:
        """One for each row, side by side, the same for all steps."""
        match argument:
            case ir.UnaryOp(op="&", expr=ir.ArrayRef(name=ir.ID(name=name)) as source) if name in self.buffers:
                buffer = self.buffers[name]
                if buffer.rank != 1 or buffer.sizes != (function.width,) or not self.has_type(buffer, function):
                    self.refuse("sums up into another buffer")
            case _:
                source = self.reference(function, argument)
        *outer, last = map(self.moves, self.linear(source))
        if last != (1, 0) or any(moved != (0, 0) for moved in outer) or self.has_rows(source):
            self.refuse("sums up somewhere else")
        return source

    def has_rows(self, reference: ir.ArrayRef) -> bool:
        """Whether a reference is to an array of pointers to rows."""
        base = base_of(reference)
        return any(one.rows for one in self.program.source.arrays.values() if same_tree(base, ir.ID(one.spelling)))

    @property
    def buffers(self) -> dict[str, Array]:
        """Those of our own, by their names in C."""
        arrays = self.program.scop.arrays.items()
        return {one.spelling: one for name, one in arrays if name not in self.program.source.arrays}

    def scalar(self, function: RowSums, argument: ir.Node) -> ir.ID:
        known = {one.spelling: one for one in self.program.source.arrays.values() if not one.rank}
        match argument:
            case ir.ID(name=name) if name in known and name not in self.singles[0].iterators:
                if self.has_type(known[name], function):
                    return argument
        self.refuse("takes something else for a scalar")

    def reference(self, function: RowSums, argument: ir.Node) -> ir.ArrayRef:
        """What an argument points to: a cell of an array of the SCoP, with all its brackets."""
        match argument:
            case ir.UnaryOp(op="&", expr=ir.ArrayRef() as source):
                base, rank = base_of(source), len(subscripts_of(source))
                for array in self.program.source.arrays.values():
                    if isinstance(base, ir.ID) and array.spelling == base.name and rank == array.rank:
                        if not self.has_type(array, function) or _is_dereferenced(source):
                            self.refuse("reads elements of another type")
                        return source
        self.refuse("reads something else than an array")

    def has_type(self, array: Array, function: RowSums) -> bool:
        """Whether a function's elements are of an array's type, but for a typedef's name."""
        own = plain_type(array.type, self.program.source.long_type)
        plain = own is not None and not (own.volatile or own.atomic)
        return plain and own is not None and function.type.spelling == own.spelling

    def linear(self, reference: ir.ArrayRef) -> list[isl.PwAff]:
        """The subscripts as functions of the statements' iterators."""
        subscripts = subscripts_of(reference)
        found = functions(subscripts, Subscripts.of(self.program.source, self.singles[0]))
        if found is None:
            self.refuse("has a reference that isn't linear")
        return [found.get_at(k) for k in range(len(subscripts))]

    def moves(self, subscript: isl.PwAff) -> tuple[int, int]:
        """By how much a subscript grows with the row, and with the step."""
        ((_, function),) = subscript.get_pieces()
        if function.dim(isl.dim_type.div):
            self.refuse("has a reference that isn't linear")
        row, step = (
            function.get_coefficient_val(IN, position).to_python() for position in (self.summed.row, self.summed.step)
        )
        return row, step

    def refuse(self, what: str) -> NoReturn:
        raise InternalError(f"{self.program.source.location}: generated loops: {self.call.name} {what}")


def is_handed_on(deps: Dependences, array: str, statement: str, inside: Collection[str]) -> bool:
    """Whether a statement writes what others read than some of the same iteration. array: where. inside: these."""
    return any(
        one.array == array
        and str(one.relation.get_tuple_name(IN)) == statement
        and (str(one.relation.get_tuple_name(OUT)) not in inside or not _stays(one.relation))
        for one in deps.strict().select("flow")
    )


def _stays(relation: isl.Map) -> bool:
    """Whether a dependence leads to instances with the same values of all iterators."""
    if relation.dim(IN) != relation.dim(OUT):
        return False
    moved = relation.set_tuple_name(OUT, str(relation.get_tuple_name(IN)))
    return bool(moved.is_subset(isl.Map.identity(moved.get_space())))


def _is_dereferenced(reference: ir.Node) -> bool:
    """Whether some subscript has no brackets."""
    while isinstance(reference, ir.ArrayRef):
        reference = reference.name
    return not isinstance(reference, ir.ID)
