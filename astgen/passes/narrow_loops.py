"""Vector loops over narrow cells whose sums are ints, with sums of 16 bits where these are enough.

In ``sum += w[i] * in[y][x + i]`` of bytes, with weights of type int, nobody knows how large sums get, and compilers
have vectors of 32 bits. What all iterations read is known before the loop runs, and so is the largest sum that bytes
could make: mostly it fits. Vectors of 16 bits have twice as many elements, and nothing has to be unpacked twice
(measured for windows of 3 × 3: gcc's loop takes 0.45 of the time, clang's 0.65).

Variables are declared again in the loop, as shorts: C computes with ints in any case, so that all values are the same
where those that variables are given fit. (What doesn't change in the loop has copies of 16 bits, which compilers would
otherwise have to find out.)
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from scopt.astgen.emit.decided import decided_by
from scopt.astgen.emit.names import names_in_use
from scopt.astgen.emit.narrow_texts import MOST
from scopt.astgen.passes.held import hold_cells
from scopt.astgen.passes.stepping import lies_apart
from scopt.ir.nest import Block, Call, For, Hold, If, LoopNest, Narrow
from scopt.ir.nest_walks import Item, calls, items
from scopt.ir.scop import Array, Scop
from scopt.poly.magnitudes import INT, NARROW, Magnitude, is_int, magnitudes, sums_narrow_cells


def with_narrow_loops(scop: Scop, nest: LoopNest, *, long: bool = True) -> LoopNest:
    """The nest with such loops marked. long: those along long rows."""
    taken = names_in_use(scop, nest)
    return LoopNest(_Narrowing(scop, taken, long).block(nest.body, {}))


def has_narrow_loops(scop: Scop, nest: LoopNest) -> bool:
    """Whether there would be such loops, if cells were held in variables and rows are long."""
    loops = (item for item in items(nest.body) if isinstance(item, For) and item.mark.simd)
    if not any(sums_narrow_cells(scop, calls(loop.body)) for loop in loops):
        return False
    held = hold_cells(scop, nest)
    return with_narrow_loops(scop, held, long=False) != held


def narrowed(scop: Scop, loop: For, held: Mapping[str, str]) -> tuple[tuple[str, ...], Magnitude] | None:
    """The variables of a vector loop that may have 16 bits, and what then has to be no more than a short's magnitude;
    None if it has others, too. held: variables that stand for cells around the loop, with their arrays."""
    mark = loop.mark
    plain = mark.simd and not (mark.reductions or mark.jammed or mark.lanes or mark.searched)
    if not plain or not all(isinstance(one, Call) for one in loop.body.items) or decided_by(scop, loop, frozenset()):
        return None
    accesses = [one for call in calls(loop.body) for one in scop.statement(call.statement).accesses]
    written = {one.array for one in accesses if one.is_write}
    variables = tuple(sorted(name for name in written if not scop.arrays[name].rank))
    own = [scop.arrays[name] for name in variables]
    if not all(one.name in mark.private and is_int(one.type) and _is_variable(one) for one in own):
        return None
    variables = tuple(one.name for one in own if one.type.bits == INT)
    symbols = {name: name for name, array in held.items() if is_int(scop.arrays[array].type)}
    symbols |= {
        one.array: scop.arrays[one.array].spelling
        for one in accesses
        if one.array not in written and _is_variable(scop.arrays[one.array]) and is_int(scop.arrays[one.array].type)
    }
    found = magnitudes(scop, calls(loop.body), symbols)
    total: dict[str, int] = {}
    for name in variables:
        one = found.get(name)
        if one is None:
            return None
        total |= {key: max(count, total.get(key, 0)) for key, count in one.items()}
    return variables, total


def _is_variable(array: Array) -> bool:
    """Whether it is a scalar, that its name alone stands for."""
    return not (array.rank or array.pointer or array.within)


class _Narrowing(Struct, frozen=True, eq=False):
    scop: Scop
    taken: frozenset[str]
    long: bool

    def block(self, block: Block, held: Mapping[str, str]) -> Block:
        return Block(tuple(self.item(item, held) for item in block.items))

    def item(self, item: Item, held: Mapping[str, str]) -> Item:
        """held: as in `narrowed`."""
        match item:
            case For() if item.mark.simd and (item.mark.wide or not self.long) and self.has_narrow_cells(item):
                return self.loop(item, held)
            case For():
                return replace(item, body=self.block(item.body, held))
            case If():
                otherwise = None if item.otherwise is None else self.block(item.otherwise, held)
                return replace(item, then=self.block(item.then, held), otherwise=otherwise)
            case Hold():
                kept = {one.name: one.array for one in item.cells if not one.stored}
                return replace(item, body=self.block(item.body, {**held, **kept}))
        return item

    def has_narrow_cells(self, loop: For) -> bool:
        """Whether all cells that change from iteration to iteration have 16 bits at most."""
        found = (
            self.scop.arrays[access.array]
            for call in calls(loop.body)
            for position, access in enumerate(self.scop.statement(call.statement).accesses)
            if position not in dict(call.held)
        )
        return all(is_int(one.type) and one.type.bits <= NARROW for one in found if one.rank)

    def reads_apart(self, loop: For) -> bool:
        """Whether cells of two iterations aren't neighbours: gcc was measured to be slower with narrower variables by a
        tenth where it makes no vectors of these, and by a fifth where it does."""
        return any(
            lies_apart(call, access, loop.iterator)
            for call in calls(loop.body)
            for access in self.scop.statement(call.statement).accesses
        )

    def loop(self, loop: For, held: Mapping[str, str]) -> For:
        found = narrowed(self.scop, loop, held)
        if found is None:
            return loop
        variables, total = found
        factors = sorted(((count, name) for name, count in total.items() if name and count), key=lambda one: -one[0])
        if not variables or sum(total.values()) > MOST or self.reads_apart(loop):
            return loop
        if not factors:
            narrow = Narrow(variables, (), total.get("", 0), (), "", tested=True)
            return replace(loop, mark=replace(loop.mark, narrow=narrow)) if self.long else loop
        names = [name for _, name in factors]
        fresh = self.fresh(len(names))
        narrow = Narrow(
            variables,
            tuple(zip(names, fresh, strict=True)),
            total.get("", 0),
            tuple(factors),
            self.free("magnitude"),
        )
        return replace(loop, mark=replace(loop.mark, narrow=narrow))

    def fresh(self, count: int) -> list[str]:
        stem = "narrow"
        while any(f"{stem}_{k}" in self.taken for k in range(count)):
            stem += "_"
        return [f"{stem}_{k}" for k in range(count)]

    def free(self, name: str) -> str:
        while name in self.taken:
            name += "_"
        return name
