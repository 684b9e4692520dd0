"""What an innermost loop adds to an integer, in a variable of a narrower type where that is enough.

``for j: if (x[i] == x[j]) ties++;`` counts in as many vectors as ``ties`` takes, twice as many as the comparisons of
floats: masks and products are widened in each step. No row counts more than an int holds: ``int ties_0 = 0; for j: if
(x[i] == x[j]) ties_0++; ties += ties_0;`` (measured for signs of differences: 0.7 of the time by gcc, half of it by
clang).

Of bytes and shorts, a short holds what some hundreds or thousands of iterations add to an int: the loop runs in blocks
of as many, ``for (kt = 0; kt < n; kt += 8192) { short n_0 = 0; for k: if (a[k] == b[k]) n_0++; n += n_0; }``, with
twice as many lanes and nothing to widen (measured for six sums over pairs of bytes: half of the time by gcc and by
clang).

What is decided here is proved again by `scopt.astgen.passes.held_check`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.names import names_in_use
from scopt.astgen.passes.held import hold_cells
from scopt.astgen.passes.stepping import lies_apart
from scopt.ir.expr import add, names, subtract
from scopt.ir.nest import Block, Call, Const, For, Held, Hold, If, LoopMark, LoopNest, Min, Name
from scopt.ir.nest_walks import Item, calls
from scopt.ir.scop import Scop, Statement
from scopt.ir.small_values import Interval
from scopt.ir.walks import walk
from scopt.poly.bounded_sums import addend, fits, most_iterations, values_in
from scopt.poly.nest_sets import Context, NestSpace
from scopt.poly.reductions import update_of

_WIDE, _WORD, _SHORT = 64, 32, 16
# Iterations of a loop that is too short for another variable.
_FEW = 64
# Of blocks: of fewer, adding up a vector's lanes takes too much of the time; of more, no less.
_LEAST_BLOCK, _MOST_BLOCK = 1024, 8192
# Cells of a row whose loop is too short for blocks: the lanes of shorts take as long to be added up.
_SHORT_ROW = 256
# Types of parts, and the greatest number that each holds.
PART, SHORT = "int", "short"
MOST = {PART: (1 << 31) - 1, SHORT: (1 << 15) - 1}


def hold_cells_and_parts(scop: Scop, nest: LoopNest) -> LoopNest:
    """The nest with cells in variables, and with such variables for parts of sums."""
    nest = hold_cells(scop, nest)
    if not any(array.type.integer and array.type.bits in (_WIDE, _WORD) for array in scop.arrays.values()):
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
            case Hold(body=Block(items=(For() as loop,))) if self.is_innermost(loop) and not loop.mark.simd:
                cells = tuple(self.part(one, loop, context) for one in item.cells)
                return replace(item, cells=cells) if cells != item.cells else item
            case Hold():
                return replace(item, body=self.block(item.body, context))
            case For() if self.is_innermost(item):
                return self.in_blocks(item, context) or (item if item.mark.simd else self.around(item, context))
            case For():
                return replace(item, body=self.block(item.body, self.space.inside(item, context)))
            case If():
                return self.space.changed(item, context, self.block)
        return item

    def is_innermost(self, loop: For) -> bool:
        """Whether a loop is a plain one, or one of vectors, over statements with cells of at most 32 bits along it, and
        not a short one."""
        mark, length = loop.mark, subtract(loop.upper, loop.lower)
        plain = not (mark.parallel or mark.jammed or mark.searched) and loop.step == 1
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

    def in_blocks(self, loop: For, context: Context) -> Item | None:
        """A loop over narrow cells alone in blocks, with shorts for all that it adds to others; None if these are no
        ints, or if it moves in any other way than from cell to cell."""
        if not self.is_narrow(loop) or (loop.mark.simd and not self.only_sums(loop)):
            return None
        most = 0
        for name in self.sums(loop, _WORD):
            users = [call for call in calls(loop.body) if self.positions(call, name)]
            total = added_to(self.scop, name, users, loop)
            most = max(most, MOST[SHORT] if total is None else -total[0], 0 if total is None else total[1])
        block = min(MOST[SHORT] // most, _MOST_BLOCK) if most else 0
        if block < _LEAST_BLOCK or not self.sums(loop, _WORD):
            return None
        block = 1 << (block.bit_length() - 1)
        start = next(name for k in count() if (name := f"{loop.iterator}t{k or ''}") not in self.names(context))
        last = add(Name(start), Const(block - 1))
        upper = (*loop.upper.args, last) if isinstance(loop.upper, Min) else (loop.upper, last)
        outer = For(start, loop.lower, loop.upper, block, Block(()))
        inner = replace(loop, lower=Name(start), upper=Min(upper), mark=LoopMark())
        made = self.around(inner, self.space.inside(outer, context), SHORT)
        return replace(outer, body=Block((made,))) if isinstance(made, Hold) else None

    def only_sums(self, loop: For) -> bool:
        """Whether nothing but sums, and no choice that would be a branch, makes a loop one of vectors: of these
        compilers make vectors by themselves."""
        plain = LoopMark(simd=True, private=loop.mark.private, reductions=loop.mark.reductions)
        if not loop.mark.reductions or replace(loop.mark, lanes=0, wide=0) != plain:
            return False
        bodies = [self.scop.statement(call.statement).body for call in calls(loop.body)]
        chosen = [
            part
            for body in bodies
            for node in walk(body)
            if isinstance(node, ir.TernaryOp)
            for part in (node.iftrue, node.iffalse)
        ]
        return not any(isinstance(node, ir.ArrayRef) for part in chosen if part is not None for node in walk(part))

    def is_narrow(self, loop: For) -> bool:
        """Whether a loop reads nothing but narrow cells, next to each other or the same ones, and variables, and writes
        variables alone, ints for its sums and what it sets anew."""
        narrow, sums = False, {*self.sums(loop, _WORD)}
        for call in calls(loop.body):
            statement = self.scop.statement(call.statement)
            for access in statement.accesses:
                array = self.scop.arrays[access.array]
                if not array.type.integer or array.type.bits > _WORD or call.held:
                    return False
                if not array.rank:
                    continue
                still = not any(loop.iterator in names(value) for value in call.args)
                known = access.relation.is_single_valued() and array.type.bits <= _SHORT and not access.is_write
                short = any(size is not None and size < _SHORT_ROW for size in array.sizes[-1:])
                if still or not known or short or lies_apart(call, access, loop.iterator):
                    return False
                narrow = True
        statements = [self.scop.statement(call.statement) for call in calls(loop.body)]
        anew = values_in(self.scop, statements)
        written = [self.scop.arrays[one.array] for own in statements for one in own.accesses if one.is_write]
        return narrow and all(one.name in sums or one.spelling in anew for one in written)

    def names(self, context: Context) -> frozenset[str]:
        return self.taken | frozenset(context.iterators)

    def around(self, loop: For, context: Context, part: str = PART) -> Item:
        """A loop with variables for what it adds to others, which it doesn't look at besides."""
        found, made = list[Held](), loop
        for name in self.sums(loop, _WIDE if part == PART else _WORD):
            users = [call for call in calls(made.body) if self.positions(call, name)]
            if not is_part(self.space, name, users, loop, context, part):
                if part == SHORT:
                    return loop
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
            found.append(Held(variable, name, (), stored=True, part=part))
        return Hold(tuple(found), Block((made,))) if found else loop

    def sums(self, loop: For, bits: int) -> list[str]:
        """The variables of so many bits that a loop writes; of those of 32, what it adds to."""
        written = (
            self.scop.arrays[access.array]
            for call in calls(loop.body)
            for access in self.scop.statement(call.statement).accesses
            if access.is_write
        )
        plain = (one for one in written if not (one.rank or one.pointer or one.within or one.flat))
        found = dict.fromkeys(one.name for one in plain if one.type.integer and one.type.bits == bits)
        if bits == _WORD:
            updated = (update_of(self.scop, self.scop.statement(call.statement)) for call in calls(loop.body))
            added = {one.array for one in updated if one is not None and one.operator == "+"}
            return [name for name in found if name in added]
        return list(found)

    def positions(self, call: Call, array: str) -> list[int]:
        """Of the references to an array that no variable stands for."""
        accesses, held = self.scop.statement(call.statement).accesses, dict(call.held)
        return [k for k, access in enumerate(accesses) if access.array == array and k not in held]

    def fresh(self, array: str, found: list[Held]) -> Iterator[str]:
        base, others = self.scop.arrays[array].spelling, {one.name for one in found}
        return (name for k in count() if (name := f"{base}_{k}") not in self.taken | others)


def is_part(space: NestSpace, array: str, users: list[Call], loop: For, context: Context, part: str = PART) -> bool:
    """Whether statements of a loop, which are not in loops inside of it, add so little to a cell of an array that a
    type holds all that the loop adds, and do nothing else with it. context: of the loop."""
    scop = space.scop
    kind = scop.arrays[array].type
    if not users or kind.volatile or kind.atomic or not kind.integer or part not in MOST:
        return False
    total = added_to(scop, array, users, loop)
    moving = {name for call in users for value in call.args for name in names(value)}
    if total is None or loop.iterator not in moving:
        return False
    return fits(most_iterations(space, loop, context), total, MOST[part])


def added_to(scop: Scop, array: str, users: list[Call], loop: For) -> Interval | None:
    """What statements of a loop add to a cell in an iteration, at least (or nothing) and at most (or nothing); None
    where that isn't known, or isn't all that they do with it."""
    before, total = list[Statement](), (0, 0)
    for item in loop.body.items:
        if not isinstance(item, Call):
            return None
        statement = scop.statement(item.statement)
        if any(item is one for one in users):
            found = addend(scop, statement, values_in(scop, before))
            if found is None or found[0] != array:
                return None
            total = total[0] + min(found[1][0], 0), total[1] + max(found[1][1], 0)
        before.append(statement)
    return total
