"""Loops from record to record, which clang would make vector loops of.

``for p: a[p][0][0] = sqrt(a[p][0][0]); a[p][1][0] /= a[p][0][0]; …`` is straight code where the source has small loops.
clang then makes vectors along p, whose elements it gathers and scatters one by one; from memory, lines also come later,
since fewer records are on their way at a time. It has to be worth that: many operations, divisions and roots for few
elements. (Measured on Zen 4, for 1 to 16 cells of records of 2 to 16 doubles, in each cache and in memory.)

Small loops inside of a loop are as good as straight code: clang writes them out first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from scopt.astgen.passes.record_cells import Cell, records, subscripts_of
from scopt.ir.expr import linear, names, plus, subtract
from scopt.ir.nest import Block, Call, Const, For, Hold, If, LoopNest, Name
from scopt.ir.nest_walks import Item, map_block, replace_names
from scopt.ir.scop import Array, Scop
from scopt.machine.gathered import Gathered
from scopt.machine.processor import Machine
from scopt.machine.vector_forms import takes_vectors

# Iterations of a small loop, and calls in all, that clang writes out.
_FEW, _CALLS = 16, 256
# Combinations of conditions that are looked at.
_WAYS = 8
# Elements of a row whose length isn't known.
_FAR = 4096


def with_records_apart(scop: Scop, nest: LoopNest, machine: Machine) -> LoopNest:
    """The same loops; those whose vectors would be gathered, for too little, are marked."""
    return LoopNest(map_block(nest.body, _Marking(scop, machine).item))


class _Marking(Struct, frozen=True, eq=False):
    scop: Scop
    machine: Machine

    def item(self, item: Item) -> tuple[Item, ...]:
        if not isinstance(item, For) or not _is_plain(item) or _written_out(item) is not None:
            return (item,)
        loses = any(self.loses(item, body) for body in _bodies(item.body, item.iterator))
        return (replace(item, mark=replace(item.mark, scalar=True)) if loses else item,)

    def loses(self, loop: For, body: Sequence[Call | Hold]) -> bool:
        """Whether vectors along a loop with this body, which clang could make, would take longer than none."""
        statements = [self.scop.statement(one.statement) for one in body if isinstance(one, Call)]
        if not statements or not all(takes_vectors(self.scop, one) for one in statements):
            return False
        cells = _Cells.of(self.scop, loop.iterator, body)
        if cells is None or not cells.are_apart(loop.step):
            return False
        count = Gathered(self.machine)
        for statement in statements:
            count.add(statement.body)
        whole = {cell for one in records(self.scop, loop.iterator, cells.written, loop.step) for cell in one.cells}
        for cell, stored in (*((one, False) for one in cells.read), *((one, True) for one in cells.written)):
            if step := cells.steps[cell]:
                count.move(self.scop.arrays[cell[0]], step * loop.step, stored=stored, whole=cell in whole)
        return count.loses()


class _Cells(Struct, frozen=True, eq=False):
    """The cells of an iteration, each once; read: before they are written. steps: elements from one iteration to the
    next, 0 where cells stay."""

    scop: Scop
    read: dict[Cell, None]
    written: dict[Cell, None]
    steps: dict[Cell, int]

    @classmethod
    def of(cls, scop: Scop, iterator: str, body: Iterable[Call | Hold]) -> _Cells | None:
        """None where something is written that isn't a cell, or a scalar that an iteration hands to the next one: then
        clang makes no vectors anyway. What is looked up costs the same either way."""
        read, written, given = dict[Cell, None](), dict[Cell, None](), set[str]()
        for item in body:
            if isinstance(item, Hold):
                read |= {(one.array, one.subscripts): None for one in item.cells}
                written |= {(one.array, one.subscripts): None for one in item.cells if one.stored}
                continue
            accesses = scop.statement(item.statement).accesses
            for access in sorted(accesses, key=lambda one: one.is_write):
                array = access.array
                if not scop.arrays[array].rank:
                    given |= {array} if access.is_write else set()
                    if array not in given and _is_changed(scop, array, body):
                        return None
                    continue
                subscripts = subscripts_of(scop, access, item.args)
                if subscripts is None and access.is_write:
                    return None
                if subscripts is not None and access.is_write:
                    written[array, subscripts] = None
                elif subscripts is not None and (array, subscripts) not in written:
                    read[array, subscripts] = None
        steps = {cell: step_of(scop.arrays[cell[0]], cell, iterator) for cell in (*read, *written)}
        return cls(scop, read, written, steps)

    def are_apart(self, step: int) -> bool:
        """Whether no iteration uses a cell that another one writes, as far as the subscripts of one array tell."""
        for array in {cell[0] for cell in self.written}:
            own = [cell for cell in (*self.read, *self.written) if cell[0] == array]
            first = own[0]
            for cell in own:
                between = [linear(subtract(one, other)) for one, other in zip(cell[1], first[1], strict=True)]
                if not self.steps[cell] or any(terms for terms, _ in between):
                    return False
                weights = _weights(self.scop.arrays[array])
                apart = sum(weight * constant for weight, (_, constant) in zip(weights, between, strict=True))
                if abs(apart) >= abs(self.steps[cell] * step):
                    return False
        return True


def _is_plain(loop: For) -> bool:
    mark = loop.mark
    return not (mark.simd or mark.jammed or mark.beside or mark.scalar or mark.around or mark.kept or mark.searched)


def _bodies(block: Block, iterator: str) -> list[list[Call | Hold]]:
    """What an iteration runs, small loops written out, as often as conditions that it leaves as they are decide. Fewer
    where there are loops in it, or too much is."""
    found: list[list[Call | Hold]] = [[]]
    for item in block.items:
        match item:
            case Call():
                parts: list[list[Call | Hold]] = [[item]]
            case Hold():
                parts = [[item, *inner] for inner in _bodies(item.body, iterator)]
            case If(condition=condition, then=then, otherwise=otherwise):
                ways = [_bodies(then, iterator), _bodies(otherwise or Block(()), iterator)]
                both = [one + other for one in ways[0] for other in ways[1]]
                parts = both if iterator in names(condition) else [*ways[0], *ways[1]]
            case For():
                small = _written_out(item)
                parts = _bodies(small, iterator) if small is not None else []
        found = [one + other for one in found for other in parts]
        if len(found) > _WAYS or any(len(one) > _CALLS for one in found):
            return []
    return found


def _written_out(loop: For) -> Block | None:
    """The iterations of a small loop, one after the other; None of another one."""
    match subtract(loop.upper, loop.lower):
        case Const(value=length) if 0 <= length < _FEW * loop.step and not loop.mark.simd:
            values = (plus(loop.lower, k) for k in range(0, length + 1, loop.step))
            bodies = (replace_names(loop.body, {loop.iterator: value}) for value in values)
            return Block(tuple(item for body in bodies for item in body.items))
    return None


def _is_changed(scop: Scop, name: str, body: Iterable[Call | Hold]) -> bool:
    statements = (scop.statement(one.statement) for one in body if isinstance(one, Call))
    return any(access.is_write and access.array == name for one in statements for access in one.accesses)


def _weights(array: Array) -> tuple[int, ...]:
    """Elements from one value of each subscript to the next, as far as sizes tell; else so many that it is far."""
    found = [1]
    for size in reversed(array.sizes[1:]):
        found.append(found[-1] * (size or _FAR))
    return tuple(reversed(found))


def step_of(array: Array, cell: Cell, iterator: str) -> int:
    """Elements that a cell moves by with an iterator; 0 where it stays, or nobody knows."""
    factors = (linear(one)[0].get(Name(iterator), 0) for one in cell[1])
    return sum(weight * factor for weight, factor in zip(_weights(array), factors, strict=True))
