"""Vector loops that step by more than one element, or look narrow cells up: no vectors are asked for.

What such a loop stores lies apart, so that a compiler that is told to make vectors scatters them, element by element,
unless an iteration stores all cells up to the next one's: these are vectors once they are shuffled (a Bayer pattern's
four sites, of bytes: a sixth of the time by gcc).
Nor does any instruction gather cells of 8 or 16 bits: they are put into vectors one by one, and taken out again
(measured: half as fast again without, for tables of bytes; of 32 bits, vectors are as fast or faster). Elements of
records that data decide to store are scattered under masks (1.6 times as long by clang). Where branches in branches
decide what is looked up, gcc has no vectors anyway, and clang's take 2.8 times as long as its branches do.

A loop of a few iterations that fill no vector, three doubles, is straight code to compilers that aren't told to make
vectors: what it hands on stays in registers (measured: a quarter of the time for particles in three dimensions).
"""

from __future__ import annotations

from fractions import Fraction

from msgspec.structs import replace

from scopt.astgen.passes.looked_up import gathers_records
from scopt.astgen.passes.lookups_apart import looks_up_apart
from scopt.astgen.passes.record_cells import Cell, records, subscripts_of
from scopt.ir.expr import linear, subtract
from scopt.ir.nest import Call, Const, For, LoopNest, Name
from scopt.ir.nest_walks import Item, items, map_block
from scopt.ir.scop import Access, Scop
from scopt.ir.walks import same_tree
from scopt.machine.processor import Machine
from scopt.poly.linear import dot, subscript_rows
from scopt.poly.lookups import looks_up_in_branches, narrow_lookups

_BYTE = 8
# Bytes of the shortest vectors.
_SHORTEST = 16


def without_stepping_vectors(scop: Scop, nest: LoopNest, machine: Machine) -> LoopNest:
    """The nest with those loops unmarked; but where lanes need copies, or reduce something."""
    tables = frozenset(one.name for one in scop.statements if narrow_lookups(scop, one))
    branching = frozenset(one.name for one in scop.statements if looks_up_in_branches(scop, one))

    def visit(item: Item) -> tuple[Item, ...]:
        match item:
            case For(mark=mark) if mark.simd and not mark.lanes and not mark.reductions:
                calls = {one.statement for one in items(item.body) if isinstance(one, Call)}
                steps = item.step > 1 and not _leaves_nothing_out(scop, item)
                few = _fills_none(scop, item, calls, machine.vector_bytes)
                apart = steps or calls & tables or _scatters(scop, item) or few or gathers_records(scop, item, machine)
                if apart and (mark.parallel or not (mark.private or looks_up_apart(scop, item))):
                    return (replace(item, mark=replace(mark, simd=False)),)
                # in order, an iteration's variables need no copies
                if (steps or calls & branching) and not mark.parallel:
                    return (replace(item, mark=replace(mark, simd=False, private=())),)
        return (item,)

    return LoopNest(map_block(nest.body, visit))


def _fills_none(scop: Scop, loop: For, calls: set[str], vector: int) -> bool:
    """Whether a loop's iterations are fewer than a vector has elements, and none of half the length or so is full."""
    distance = subtract(loop.upper, loop.lower)
    touched = {one.array for name in calls for one in scop.statement(name).accesses}
    # Of statements over buffers no accesses are listed.
    widest = max((scop.arrays[name].type.bits for name in touched or scop.arrays), default=0) // _BYTE
    if not isinstance(distance, Const) or loop.mark.parallel or not widest:
        return False
    long = (distance.value // loop.step + 1) * widest
    return long < vector and long % _SHORTEST != 0


def _leaves_nothing_out(scop: Scop, loop: For) -> bool:
    """Whether all that a loop stores are records, each up to the next iteration's."""
    calls = [item for item in loop.body.items if isinstance(item, Call)]
    if len(calls) < len(loop.body.items):
        return False
    cells: list[Cell] = []
    for call in calls:
        for access in (one for one in scop.statement(call.statement).accesses if one.is_write):
            if not scop.arrays[access.array].rank:
                continue
            subscripts = subscripts_of(scop, access, call.args)
            if subscripts is None:
                return False
            cells.append((access.array, subscripts))
    found = records(scop, loop.iterator, cells, loop.step)
    return sum(len(record.cells) for record in found) == len({*cells})


def _scatters(scop: Scop, loop: For) -> bool:
    """Whether data decide about stores to cells that lie apart, and that nothing else in an iteration writes."""
    calls = [item for item in items(loop.body) if isinstance(item, Call)]
    written = [(call, one) for call in calls for one in scop.statement(call.statement).accesses if one.is_write]
    sure = [one for _, one in written if one.kind == "write"]
    perhaps = [(call, one) for call, one in written if one.kind == "may-write" and not _is_among(one, sure)]
    return any(lies_apart(call, one, loop.iterator) for call, one in perhaps)


def _is_among(access: Access, others: list[Access]) -> bool:
    """Whether a reference is spelled as one of others to the same array."""
    return any(
        one.array == access.array
        and one.node is not None
        and access.node is not None
        and same_tree(one.node, access.node)
        for one in others
    )


def lies_apart(call: Call, access: Access, iterator: str) -> bool:
    """Whether iterations of a loop reach cells that aren't neighbours."""
    rows = subscript_rows(access.relation)
    if not rows or any(len(row) != len(call.args) for row in rows):
        return False
    direction = tuple(Fraction(linear(one)[0].get(Name(iterator), 0)) for one in call.args)
    moves = [dot(row, direction) for row in rows]
    return any(moves[:-1]) or abs(moves[-1]) > 1
