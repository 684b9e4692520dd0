"""Vector loops that look records up at places that data name: where no vectors are asked for.

``for v: m00 += w * skin[bone[v]][0][0]; m01 += w * skin[bone[v]][0][1]; …`` reads neighbours in each iteration, which
compilers load as whole vectors where they work on several cells of one iteration at a time. A vector loop along v has
to gather each of them, cell by cell (measured, skinning by four matrices of twelve cells: 3.3 times as long by clang,
which does what it is told; it finds the other vectors itself).
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from scopt import ir
from scopt.astgen.passes.gathering import step_of
from scopt.astgen.passes.record_cells import subscripts_of
from scopt.ir.expr import names
from scopt.ir.nest import Call, Expr, For
from scopt.ir.nest_walks import items
from scopt.ir.printing import CPrinter
from scopt.ir.scop import Access, Scop
from scopt.ir.walks import used_names as names_in
from scopt.machine.gathered import Gathered
from scopt.machine.processor import Machine

# Neighbours that are worth a vector of their own.
_NEIGHBOURS = 3
# Of all cells that are looked up, the share that has such neighbours.
_MOST = 0.5


def gathers_records(scop: Scop, loop: For, machine: Machine) -> bool:
    """Whether vectors along a loop of straight code would gather records for fewer operations than that is worth."""
    if any(isinstance(one, For) for one in items(loop.body)):
        return False
    calls = [one for one in items(loop.body) if isinstance(one, Call)]
    found = {cell for one in calls for cell in _looked_up(scop, loop, calls, one)}
    rows: dict[object, int] = {}
    for cell in found:
        rows[cell.row] = rows.get(cell.row, 0) + 1
    if sum(own for own in rows.values() if own >= _NEIGHBOURS) <= _MOST * len(found):
        return False
    count = Gathered(machine)
    for one in calls:
        count.add(scop.statement(one.statement).body)
    for cell in found:
        count.look_up(scop.arrays[cell.array])
    for array, subscripts, stored in {cell for one in calls for cell in _stepping(scop, loop, one)}:
        if step := step_of(scop.arrays[array], (array, subscripts), loop.iterator):
            count.move(scop.arrays[array], step * loop.step, stored=stored, whole=True)
    return count.loses()


class _LookedUp(Struct, frozen=True):
    """A cell whose place data say. row: what it shares with its neighbours, as text, with the values of the iterators
    in there. place: what is added, or the last subscript."""

    array: str
    row: object
    place: object


def _looked_up(scop: Scop, loop: For, calls: list[Call], one: Call) -> Iterator[_LookedUp]:
    """What a call reads at places that a loop's data name."""
    statement = scop.statement(one.statement)
    values = dict(zip(statement.iterators, one.args, strict=True))
    moving = {name for name, value in values.items() if loop.iterator in names(value)} | _assigned(scop, calls)
    for access in statement.accesses:
        if access.kind != "read" or access.relation.is_single_valued() or not isinstance(access.node, ir.ArrayRef):
            continue
        row, place = _parts(access.node, moving)
        if not moving.isdisjoint(names_in(row)):
            yield _LookedUp(access.array, _text(row, values), _text(place, values))


def _parts(reference: ir.ArrayRef, moving: set[str]) -> tuple[ir.Node, ir.Node]:
    """What says where a record is, and which of its cells it is: ``[at[i]][2]``, or ``[3 * at[i] + 2]``."""
    match reference.subscript:
        case ir.BinaryOp(op="+", left=ir.Node() as base, right=place) if moving.isdisjoint(names_in(place)):
            return ir.ArrayRef(reference.name, base), place
    return reference.name, reference.subscript


def _text(node: ir.Node, values: dict[str, Expr]) -> tuple[object, ...]:
    used = set(names_in(node))
    return str(CPrinter().visit(node)), *((name, value) for name, value in values.items() if name in used)


def _assigned(scop: Scop, calls: list[Call]) -> set[str]:
    """Scalars that an iteration assigns."""
    accesses = (access for one in calls for access in scop.statement(one.statement).accesses if access.is_write)
    return {scop.arrays[access.array].spelling for access in accesses if not scop.arrays[access.array].rank}


def _stepping(scop: Scop, loop: For, one: Call) -> Iterator[tuple[str, tuple[Expr, ...], bool]]:
    """The cells at linear places that move with the loop."""
    accesses: tuple[Access, ...] = scop.statement(one.statement).accesses
    for access in accesses:
        if access.array in loop.mark.private or not scop.arrays[access.array].rank:
            continue
        subscripts = subscripts_of(scop, access, one.args)
        if subscripts is not None:
            yield access.array, subscripts, access.is_write
