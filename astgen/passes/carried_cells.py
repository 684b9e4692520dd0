"""What a loop that runs in order reads of the iteration before is handed on in a variable (scalar replacement of
Callahan, Carr and Kennedy, "Improving register allocation for subscripted variables", 1990).

In ``for k { e[i][k] = max(h[i][k - 1] - 11, e[i][k - 1] - 1); … h[i][k] = s; }`` each iteration waits for stores of the
one before, and loads from there, since compilers don't know that the arrays are apart: some five cycles for each. With
``h_0 = h[i][k];`` behind the statement, and ``h_0 = h[i][0];`` in front of the loop, the value stays in a register
(measured for a banded alignment by gcc: 0.58 of the time). What is decided here is proved again by
`scopt.astgen.passes.held_check`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, count

from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.names import names_in_use
from scopt.astgen.passes.loop_runs import runs, some_iteration
from scopt.astgen.passes.record_cells import subscripts_of
from scopt.ir.expr import names, plus, substitute, subtract
from scopt.ir.nest import Block, Call, Const, Expr, For, Held, Hold, If, LoopNest, Name
from scopt.ir.nest_walks import Item, calls, items
from scopt.ir.scop import Access, Scop
from scopt.poly.body_rewriting import always_evaluated
from scopt.poly.nest_sets import Context, NestSpace


class Carried(Struct, frozen=True, eq=False):
    """What a loop writes into one array, and reads of that in the next iteration. writer, write: the number of the call
    among the loop's, and the position of its access. reads: likewise. first: the cell that the first iteration
    reads."""

    writer: int
    write: int
    reads: tuple[tuple[int, int], ...]
    first: tuple[Expr, ...]


def with_carried_cells(scop: Scop, nest: LoopNest) -> LoopNest:
    """The nest with variables for such cells."""
    taken = names_in_use(scop, nest)
    taken |= {one for item in items(nest.body) if isinstance(item, For) for one in (item.mark.searched,) if one}
    space = NestSpace.of(scop, nest)
    return LoopNest(_Carrying(scop, space, frozenset(taken)).block(nest.body, space.outside()))


def carried(scop: Scop, loop: For, array: str) -> list[Carried]:
    """What a loop hands on in cells of an array; nothing if it isn't in order, or does anything else with what it
    writes there before it is read."""
    kind, mark = scop.arrays[array], loop.mark
    plain = not (kind.within or kind.type.volatile or kind.type.atomic) and kind.type.bits != 1
    if not plain or mark.parallel or mark.simd or mark.jammed or mark.searched or loop.step != 1:
        return []
    if not all(isinstance(one, Call) for one in loop.body.items):
        return []
    inside = list(calls(loop.body))
    touching = [(number, k, one) for number, k, one in _accesses(scop, inside) if one.array == array]
    targets = {(number, k): _target(scop, inside[number], one) for number, k, one in touching if one.is_write}
    cells = [one for one in targets.values() if one is not None]
    if len(cells) < len(targets) or not all(_are_apart(a, b, loop.iterator) for a, b in combinations(cells, 2)):
        return []
    found = (_handed(scop, loop, inside, touching, place, cell) for place, cell in zip(targets, cells, strict=True))
    return [one for one in found if one is not None]


def _target(scop: Scop, call: Call, access: Access) -> tuple[Expr, ...] | None:
    """The cell that a statement assigns to by all that it does; None for other writes."""
    body = scop.statement(call.statement).body
    assigns = isinstance(body, ir.Assignment) and body.lvalue is access.node and body.op == "="
    return subscripts_of(scop, access, call.args) if assigns and access.kind == "write" else None


def _are_apart(one: Sequence[Expr], other: Sequence[Expr], iterator: str) -> bool:
    """Whether two cells are in different rows, which a loop leaves as they are."""
    distances = (subtract(a, b) for a, b in zip(one, other, strict=True) if iterator not in names(a))
    return any(isinstance(distance, Const) and distance.value != 0 for distance in distances)


def _handed(
    scop: Scop,
    loop: For,
    inside: Sequence[Call],
    touching: Sequence[tuple[int, int, Access]],
    place: tuple[int, int],
    target: tuple[Expr, ...],
) -> Carried | None:
    """What the next iteration reads of a cell that a write goes to; None where nothing surely does. touching: all
    references to the array."""
    following = {loop.iterator: plus(Name(loop.iterator), 1)}
    reads, first = list[tuple[int, int]](), None
    for number, k, one in touching:
        cell = None if one.is_write else subscripts_of(scop, one, inside[number].args)
        if cell is None or number > place[0] or tuple(substitute(each, following) for each in cell) != target:
            continue
        reads.append((number, k))
        first = tuple(substitute(each, {loop.iterator: loop.lower}) for each in cell)
    if first is None or not any(_is_made(scop, inside[number], k) for number, k in reads):
        return None
    return Carried(*place, tuple(reads), first)


def _accesses(scop: Scop, inside: Sequence[Call]) -> Iterator[tuple[int, int, Access]]:
    for number, call in enumerate(inside):
        for k, access in enumerate(scop.statement(call.statement).accesses):
            yield number, k, access


def _is_made(scop: Scop, call: Call, position: int) -> bool:
    statement = scop.statement(call.statement)
    return always_evaluated(statement.body, statement.accesses[position].node)


class _Carrying(Struct, frozen=True, eq=False):
    scop: Scop
    space: NestSpace
    taken: frozenset[str]

    def block(self, block: Block, context: Context) -> Block:
        return Block(tuple(self.item(item, context) for item in block.items))

    def item(self, item: Item, context: Context) -> Item:
        match item:
            case Hold(cells=cells) if any(one.part for one in cells):
                return item
            case Hold():
                return replace(item, body=self.block(item.body, context))
            case For() if not item.mark.simd and all(isinstance(one, Call) for one in item.body.items):
                return self.loop(item, context)
            case For():
                if item.mark.simd or item.mark.jammed:
                    return item
                return replace(item, body=self.block(item.body, self.space.inside(item, context)))
            case If():
                return self.space.changed(item, context, self.block)
        return item

    def loop(self, loop: For, context: Context) -> Item:
        inside = list(calls(loop.body))
        statements = [self.scop.statement(one.statement) for one in inside]
        if not all(one.accesses for one in statements):
            return loop  # in buffers, which nobody knows
        arrays = {access.array for one in statements for access in one.accesses if access.is_write}
        held = {one.accesses[k].array for call, one in zip(inside, statements, strict=True) for k, _ in call.held}
        cells, made = list[Held](), inside
        for array in sorted(name for name in arrays - held if self.scop.arrays[name].rank):
            for found in carried(self.scop, loop, array):
                if loop.iterator in {name for one in found.first for name in names(one)}:
                    continue
                name = next(self.fresh(array, cells))
                cells.append(Held(name, array, found.first, stored=False, carried=True))
                made = [_with(call, number, found, name) for number, call in enumerate(made)]
        if not cells:
            return loop
        hold = Hold(tuple(cells), Block((replace(loop, body=Block(tuple(made))),)))
        if runs(loop, context, self.space.inside(loop, context)):
            return hold
        return If(some_iteration(self.space, loop, context), Block((hold,)))

    def fresh(self, array: str, cells: Sequence[Held]) -> Iterator[str]:
        base, others = self.scop.arrays[array].spelling, {one.name for one in cells}
        return (name for k in count() if (name := f"{base}_{k}") not in self.taken | others)


def _with(call: Call, number: int, found: Carried, name: str) -> Call:
    """A call with the variable in the place of what it reads, which gets what it writes."""
    reads = [(k, name) for reader, k in found.reads if reader == number]
    kept = [(found.write, name)] if number == found.writer else []
    return replace(call, held=tuple(sorted((*call.held, *reads))), kept=(*call.kept, *kept)) if reads or kept else call
