"""Whether a call that packs a whole panel, or copies it back, says what the statement says that copies one element.

``function(rows, count, &from, length, &to, scalars)`` sets ``to[k * width + i]`` to the operand of
``from[i * length + k]``, or ``to[i * length + k]`` to ``from[k * width + i]`` (shown from its text in
`scopt.check.functions.transposed`). In the nest it stands for two loops over the packing statement
(`scopt.check.reading`), whose iterators start where the call's do, and where each row's steps may begin earlier, or
later, than those of the row before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import islpy as isl
from msgspec import Struct

from scopt import ir
from scopt.astgen.lower.body_syntax import row_length
from scopt.astgen.lower.strip_statements import plus
from scopt.astgen.lower.tile_records import Turned
from scopt.astgen.lower.transposing import Transposed
from scopt.astgen.transformed_program import Program
from scopt.check.memory import read_allocations
from scopt.check.subscript_functions import Subscripts, base_of, functions, subscripts_of
from scopt.diagnostics import InternalError
from scopt.ir.ctypes import plain_type
from scopt.ir.nest import Const
from scopt.ir.scop import Array, CType, Statement
from scopt.ir.walks import same_tree, walk
from scopt.poly.isl_utils import IN

# Less than any int holds.
_INT = 1 << 15
# Typedefs of C's library for 8 bits.
_BYTES = {"int8_t": "signed char", "uint8_t": "unsigned char"}


def check_turned(program: Program) -> None:
    """Raise InternalError unless each call that packs a panel does what its loops do."""
    turns = {**program.lowered.turned, **program.buffered.turned}
    calls = Counter(turned.name for turned in turns.values())
    for name, turned in turns.items():
        if calls[turned.name] > 1:
            raise InternalError(f"{program.source.location}: generated loops: {turned.name} stands for two loops")
        _Turned(program, turned, program.scop.statement(name), program.scop.statement(turned.name)).check()


class _Turned(Struct, frozen=True, eq=False):
    """packing: the statement in loops. call: the one that stands for it."""

    program: Program
    turned: Turned
    packing: Statement
    call: Statement

    def check(self) -> None:
        names = self.packing.iterators
        alike = self.call.iterators == (*names, "$rows", "$count") and len(set(names)) == len(names)
        if not alike or self.turned.row == self.turned.step:
            self.refuse("has other iterators")
        function, source, length, target, scalars = self.arguments()
        match self.packing.body:
            case ir.Assignment(op="=", lvalue=ir.ArrayRef() as slot, rvalue=value) if not function.back:
                self.check_target(function, slot, target)
                self.check_source(function, source, length)
                self.check_value(function, value, source, scalars)
            case ir.Assignment(op="=", lvalue=value, rvalue=ir.ArrayRef() as slot) if function.back:
                self.check_target(function, slot, target)
                self.check_source(function, source, length)
                self.check_value(function, value, source, scalars)
            case _:
                self.refuse("stands for something else than a copy")

    def arguments(self) -> tuple[Transposed, ir.ArrayRef, ir.Node, ir.ArrayRef, Sequence[ir.ID]]:
        """The function, the first element, how far rows are apart, the first place, scalars."""
        match self.call.body:
            case ir.FuncCall(
                name=ir.ID(name=name),
                args=ir.ExprList(
                    exprs=[
                        ir.ID(name="$rows"),
                        ir.ID(name="$count"),
                        ir.UnaryOp(op="&", expr=ir.ArrayRef() as source),
                        length,
                        ir.UnaryOp(op="&", expr=ir.ArrayRef() as target),
                        *scalars,
                    ]
                ),
            ):
                known = (*self.program.lowered.transposed, *self.program.buffered.transposed)
                found = [one for one in known if one.name == name]
                variables = [one for one in scalars if isinstance(one, ir.ID)]
                if len(found) == 1 and len(variables) == len(scalars) == len(found[0].scalars):
                    return found[0], source, length, target, variables
        self.refuse("is no call of a function that packs")
        raise AssertionError

    # --- where to, where from -----------------------------------------------------------------------------------------

    def check_target(self, function: Transposed, slot: ir.ArrayRef, target: ir.ArrayRef) -> None:
        """Both are one cell of a buffer, the next row's beside it, the next step's as far away as panels are wide."""
        base, other = base_of(slot), base_of(target)
        arrays, originals = self.program.scop.arrays, self.program.source.arrays
        buffers = {one.spelling: one for name, one in arrays.items() if name not in originals}
        own = buffers.get(base.name) if isinstance(base, ir.ID) and same_tree(base, other) else None
        if own is None or not self.has_type(own, function.type):
            self.refuse("packs to another buffer")
            raise AssertionError
        part = self.of_the_thread(slot, target)
        rank = len(subscripts_of(slot)) - part
        mine, theirs = (list(self.linear(one, rank, skipped=part)) for one in (slot, target))
        if not all(one.is_equal(other) for one, other in zip(mine, theirs, strict=True)):
            self.refuse("packs to other places")
        if self.turned.record:
            sizes = (*(size for _, size in self.turned.record), function.width)
            behind = (*self.inside, self.turned.row)
            if part or not self.are_single(mine, behind) or _declared(own) != sizes:
                self.refuse("packs to other places")
            return
        *outer, last = map(self.moves, mine)
        if rank == 1:
            alike = last == (1, function.width)
        else:
            alike = [*outer, last] == [*((0, 0) for _ in outer[1:]), (0, 1), (1, 0)] and self.is_wide(own, function)
        if not alike:
            self.refuse("packs to other places")

    def of_the_thread(self, slot: ir.ArrayRef, target: ir.ArrayRef) -> int:
        """How many subscripts are the same variable of ours in both, which tells a thread's part of a buffer: 1 or 0.
        It stays what it is while a copy is made."""
        first, other = subscripts_of(slot)[0], subscripts_of(target)[0]
        ours = {one.spelling for name, one in self.program.buffered.scop.arrays.items() if one.local and not one.rank}
        ours -= {one.spelling for one in self.program.source.arrays.values()}
        same = isinstance(first, ir.ID) and isinstance(other, ir.ID) and first.name == other.name
        return int(same and first.name in ours and first.name not in self.packing.iterators)

    def has_type(self, array: Array, ctype: CType) -> bool:
        """Whether a function's elements are of an array's type, but for a typedef's name."""
        own = plain_type(array.type, self.program.source.long_type)
        byte = _BYTES.get(array.type.spelling)
        return ctype.spelling in (array.type.spelling, own.spelling if own is not None else byte)

    def is_wide(self, buffer: Array, function: Transposed) -> bool:
        """Whether a buffer's declaration says that its rows are as long as the function's panels are wide."""
        buffered = self.program.buffered
        memory = buffered.parts.get(buffer.name, buffer.name)
        found = [one for one in read_allocations(buffered.scop, buffered.allocations) if one.name == memory]
        return len(found) == 1 and found[0].extents[-1] == Const(function.width)

    def check_source(self, function: Transposed, source: ir.ArrayRef, length: ir.Node) -> None:
        """Steps lie side by side, rows as far apart as is said."""
        array = self.array(source)
        if not self.has_type(array, function.source_type):
            self.refuse("packs elements of another type")
        if array.rows:
            self.refuse("takes rows to be at fixed distances")
        if self.turned.record:
            self.check_record(array, source, length)
            return
        *outer, last = map(self.moves, self.linear(source, array.rank))
        rows = [k for k, moved in enumerate(outer) if moved != (0, 0)]
        if last != (self.turned.skew, 1) or len(rows) != 1 or outer[rows[0]] != (1, 0):
            self.refuse("packs other elements")
        own = row_length(source, rows[0], self.program.source.flat)
        if not same_tree(length, plus(own, self.turned.skew)):
            self.refuse("takes rows to be longer, or shorter, than they are")

    @property
    def inside(self) -> tuple[int, ...]:
        """The positions of the iterators that go through a record."""
        return tuple(position for position, _ in self.turned.record)

    def check_record(self, array: Array, source: ir.ArrayRef, length: ir.Node) -> None:
        """All of a record's cells lie side by side: the array's dimensions behind the first one are as large as the
        call takes them to be."""
        sizes = [size for _, size in self.turned.record]
        extents = array.extents[1:]
        known = [_integer(one) for one in extents]
        if known != sizes or len(extents) != len(sizes) or array.within or array.inner or self.turned.skew:
            self.refuse("takes records to have other cells")
        if self.inside[-1] != self.turned.step:
            self.refuse("has other iterators")
        if not self.are_single(list(self.linear(source, array.rank)), (self.turned.row, *self.inside)):
            self.refuse("packs other elements")
        if not same_tree(length, row_length(source, 0, self.program.source.flat)):
            self.refuse("takes rows to be longer, or shorter, than they are")

    def are_single(self, subscripts: Sequence[isl.PwAff], positions: Sequence[int]) -> bool:
        """Whether each subscript grows by one with the iterator at its position, and with no other one of these."""
        if len(subscripts) != len(positions) or len(set(positions)) < len(positions):
            return False
        for own, subscript in zip(positions, subscripts, strict=True):
            ((_, function),) = subscript.get_pieces()
            if function.dim(isl.dim_type.div):
                return False
            if any(function.get_coefficient_val(IN, k).to_python() != int(k == own) for k in positions):
                return False
        return True

    def array(self, source: ir.ArrayRef) -> Array:
        """The SCoP's array that a reference, with all its brackets, is to."""
        base = base_of(source)
        rank = len(subscripts_of(source))
        for array in self.program.source.arrays.values():
            if isinstance(base, ir.ID) and array.spelling == base.name and rank == array.rank > 1:
                return array
        self.refuse("packs from something else than an array")
        raise AssertionError

    def linear(self, reference: ir.ArrayRef, count: int, *, skipped: int = 0) -> Iterator[isl.PwAff]:
        """The subscripts, as many as are expected, as functions of the packing statement's iterators: those of the
        call's, but for the numbers of rows and steps. skipped: so many of them, from the outermost one on."""
        subscripts = subscripts_of(reference)[skipped:]
        found = functions(subscripts, Subscripts.of(self.program.source, self.packing))
        if found is None or len(subscripts) != count or _is_dereferenced(reference):
            self.refuse("has a reference that isn't linear")
            raise AssertionError
        return (found.get_at(k) for k in range(count))

    def moves(self, subscript: isl.PwAff) -> tuple[int, int]:
        """By how much a subscript grows with the row, whose first step is so much later, and with the step."""
        ((_, function),) = subscript.get_pieces()
        if function.dim(isl.dim_type.div):
            self.refuse("has a reference that isn't linear")
        positions = self.turned.row, self.turned.step
        row, step = (function.get_coefficient_val(IN, position).to_python() for position in positions)
        return row + self.turned.skew * step, step

    # --- what ---------------------------------------------------------------------------------------------------------

    def check_value(self, function: Transposed, value: ir.Node, source: ir.ArrayRef, scalars: Sequence[ir.ID]) -> None:
        """The function's operand, with the call's arguments in it, is what is packed; nothing else in it moves."""
        if not same_tree(value, function.operand_of(source, scalars)):
            self.refuse("packs something else")
        marked = function.operand_of(ir.ID("$source"), [ir.ID("$scalar") for _ in scalars])
        names = sorted(node.name for node in walk(marked) if isinstance(node, ir.ID))
        if names != [*("$scalar" for _ in scalars), "$source"]:
            self.refuse("has an operand that reads more than the call says")
        known = {one.spelling: one for one in self.program.source.arrays.values() if not one.rank}
        for name in (one.name for one in scalars):
            scalar = known.get(name) if name not in self.packing.iterators else None
            if scalar is None or not self.has_type(scalar, function.type):
                self.refuse(f"takes '{name}' for a scalar")

    def refuse(self, what: str) -> None:
        raise InternalError(f"{self.program.source.location}: generated loops: {self.call.name} {what}")


def _is_dereferenced(reference: ir.Node) -> bool:
    """Whether some subscript has no brackets."""
    while isinstance(reference, ir.ArrayRef):
        reference = reference.name
    return not isinstance(reference, ir.ID)


def _declared(array: Array) -> tuple[int, ...]:
    """How large the dimensions of a local array are, as its declaration says."""
    found, node = list[int](), array.declaration.type if array.declaration is not None else None
    while isinstance(node, ir.ArrayDecl):
        if not isinstance(node.dim, ir.Constant) or not node.dim.value.isdecimal():
            return ()
        found.append(int(node.dim.value))
        node = node.type
    return tuple(found)


def _integer(extent: ir.Node | None) -> int | None:
    """The value of a size that is a sum, or a product, of decimal constants, small enough for an int; None of any
    other."""
    value: int | None = None
    match extent:
        case ir.Constant(value=text) if text.isdecimal() and (text == "0" or not text.startswith("0")):
            value = int(text)
        case ir.BinaryOp(op="+" | "*" as op, left=left, right=right):
            first, second = _integer(left), _integer(right)
            if first is not None and second is not None:
                value = first + second if op == "+" else first * second
    return value if value is not None and value < _INT else None
