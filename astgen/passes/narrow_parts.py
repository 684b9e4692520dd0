"""What an innermost loop adds to an integer of 64 bits, in a variable of type int where that is enough.

``for j: if (x[i] == x[j]) ties++;`` counts in as many vectors as ``ties`` takes, twice as many as the comparisons of
floats: masks and products are widened in each step. No row counts more than an int holds: ``int ties_0 = 0; for j: if
(x[i] == x[j]) ties_0++; ties += ties_0;`` (measured for signs of differences: 0.7 of the time by gcc, half of it by
clang). What is decided here is proved again by `scopt.astgen.passes.held_check`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from msgspec import Struct
from msgspec.structs import replace

from scopt.astgen.emit.names import names_in_use
from scopt.astgen.passes.held import hold_cells
from scopt.ir.expr import names, subtract
from scopt.ir.nest import Block, Call, Const, For, Held, Hold, If, LoopNest
from scopt.ir.nest_walks import Item, calls
from scopt.ir.scop import Scop
from scopt.poly.bounded_sums import addend, fits, most_iterations
from scopt.poly.nest_sets import Context, NestSpace

_WIDE, _WORD = 64, 32
# Iterations of a loop that is too short for another variable.
_FEW = 64
PART = "int"


def hold_cells_and_parts(scop: Scop, nest: LoopNest) -> LoopNest:
    """The nest with cells in variables, and with such variables for parts of sums."""
    nest = hold_cells(scop, nest)
    if not any(array.type.integer and array.type.bits == _WIDE for array in scop.arrays.values()):
        return nest
    taken = names_in_use(scop, nest)
    space = NestSpace.of(scop, nest)
    return LoopNest(_Parts(scop, space, taken).block(nest.body, space.outside()))


class _Parts(Struct, frozen=True, eq=False):
    scop: Scop
    space: NestSpace
    taken: frozenset[str]

    def block(self, block: Block, context: Context) -> Block:
        return Block(tuple(self.item(item, context) for item in block.items))

    def item(self, item: Item, context: Context) -> Item:
        match item:
            case Hold(body=Block(items=(For() as loop,))) if self.is_innermost(loop):
                cells = tuple(self.part(one, loop, context) for one in item.cells)
                return replace(item, cells=cells) if cells != item.cells else item
            case Hold():
                return replace(item, body=self.block(item.body, context))
            case For() if self.is_innermost(item):
                return self.around(item, context)
            case For():
                return replace(item, body=self.block(item.body, self.space.inside(item, context)))
            case If():
                return self.space.changed(item, context, self.block)
        return item

    def is_innermost(self, loop: For) -> bool:
        """Whether a loop is a plain one over statements with cells of at most 32 bits along it, and not a short one."""
        mark, length = loop.mark, subtract(loop.upper, loop.lower)
        plain = not (mark.parallel or mark.jammed or mark.searched or mark.simd) and loop.step == 1
        if not plain or (isinstance(length, Const) and length.value < _FEW):
            return False
        if not all(isinstance(one, Call) for one in loop.body.items):
            return False
        read = [
            self.scop.arrays[access.array]
            for call in calls(loop.body)
            for position, access in enumerate(self.scop.statement(call.statement).accesses)
            if position not in dict(call.held) and not access.is_write
        ]
        cells = [one for one in read if one.rank]
        return bool(cells) and all(one.type.bits <= _WORD for one in cells)

    def part(self, cell: Held, loop: For, context: Context) -> Held:
        """A cell's variable as one for what a loop adds to it, if it does nothing else with it."""
        users = [call for call in calls(loop.body) if cell.name in dict(call.held).values()]
        if not cell.stored or self.scop.arrays[cell.array].type.bits != _WIDE:
            return cell
        return replace(cell, part=PART) if is_part(self.space, cell.array, users, loop, context) else cell

    def around(self, loop: For, context: Context) -> Item:
        """A loop with variables for what it adds to others, which it doesn't look at besides."""
        found, made = list[Held](), loop
        for name in self.sums(loop):
            users = [call for call in calls(made.body) if self.positions(call, name)]
            if not is_part(self.space, name, users, loop, context):
                continue
            variable = next(self.fresh(name, found))
            held = {
                id(call): replace(
                    call, held=tuple(sorted((*call.held, *((k, variable) for k in self.positions(call, name)))))
                )
                for call in users
            }
            body = Block(tuple(held.get(id(call), call) for call in made.body.items))
            made = replace(made, body=body)
            found.append(Held(variable, name, (), stored=True, part=PART))
        return Hold(tuple(found), Block((made,))) if found else loop

    def sums(self, loop: For) -> list[str]:
        """The variables of 64 bits that a loop writes."""
        written = (
            self.scop.arrays[access.array]
            for call in calls(loop.body)
            for access in self.scop.statement(call.statement).accesses
            if access.is_write
        )
        plain = (one for one in written if not (one.rank or one.pointer or one.within or one.flat))
        return list(dict.fromkeys(one.name for one in plain if one.type.integer and one.type.bits == _WIDE))

    def positions(self, call: Call, array: str) -> list[int]:
        """Of the references to an array that no variable stands for."""
        accesses, held = self.scop.statement(call.statement).accesses, dict(call.held)
        return [k for k, access in enumerate(accesses) if access.array == array and k not in held]

    def fresh(self, array: str, found: list[Held]) -> Iterator[str]:
        base, others = self.scop.arrays[array].spelling, {one.name for one in found}
        return (name for k in count() if (name := f"{base}_{k}") not in self.taken | others)


def is_part(space: NestSpace, array: str, users: list[Call], loop: For, context: Context) -> bool:
    """Whether statements of a loop, which are not in loops inside of it, add so little to a cell of an array that an
    int holds all that the loop adds, and do nothing else with it. context: of the loop."""
    scop, total = space.scop, [0, 0]
    kind = scop.arrays[array].type
    if not users or kind.volatile or kind.atomic or not kind.integer:
        return False
    for call in users:
        found = addend(scop, scop.statement(call.statement))
        if found is None or found[0] != array:
            return False
        total = [total[0] + min(found[1][0], 0), total[1] + max(found[1][1], 0)]
    moving = {name for call in users for value in call.args for name in names(value)}
    return loop.iterator in moving and fits(most_iterations(space, loop, context), (total[0], total[1]))
