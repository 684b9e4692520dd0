"""Two rows of one array, which rows of a table take by turns, become one.

In ``for i for j f[i % 2][j] = g(f[(i - 1) % 2][j], f[(i - 1) % 2][j - 1], f[i % 2][j - 1])`` each row is written two
rows later again, and read meanwhile: memory for one row is enough, where ``f[(i - 1) % 2][j - 1]`` is read in time
(folding of arrays: Lefebvre and Feautrier, "Automatic storage management for parallel programs", 1998). The row before
the first one is copied, and the last two rows are, as they are computed, to where the program looks for them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.ir.scop import Access, Array, Scop, Statement
from scopt.ir.walks import copied
from scopt.poly.array_extents import extents
from scopt.poly.body_rewriting import with_references
from scopt.poly.dependences import dependences
from scopt.poly.isl_utils import IN, OUT
from scopt.poly.linear import subscript_rows
from scopt.poly.source_loops import source_loops
from scopt.scheduler.passes.carrying import carried_along, from_before, with_carried
from scopt.scheduler.passes.copies import Cell, Copy, cells_for, last_row, relations_to, with_copies
from scopt.scheduler.passes.expansion import Expansion
from scopt.scheduler.passes.row_neighbours import Sizes, cells_before, moved, with_cells_before

_ROWS = 2


class _Turns(Struct, frozen=True, eq=False):
    """An array of two rows. writer: the statement that computes a row along the innermost loop; row: the position of
    the iterator whose last bit says which row; inside: the statements in that loop; late: by the node of a reference,
    whether it is to the row that the iteration before has written."""

    array: Array
    writer: Statement
    row: int
    inside: tuple[Statement, ...]
    late: dict[ir.Node, bool]


def folded_rows(scop: Scop) -> Expansion | None:
    """The SCoP with one row in place of the first two that take turns; None without any."""
    for array in scop.arrays.values():
        turns = _turns(scop, array)
        made = _with_one_row(scop, turns) if turns is not None else None
        if made is not None:
            return made
    return None


def _turns(scop: Scop, array: Array) -> _Turns | None:
    plain = not (array.type.volatile or array.type.atomic or array.within or array.flat)
    if array.rank != _ROWS or not plain:
        return None
    loops = source_loops(scop)
    for writer in scop.statements:
        write = next((a for a in writer.accesses if a.array == array.name and a.kind == "write"), None)
        row = len(writer.iterators) - 2
        own = _bit(write, row) if write is not None and row >= 0 else None
        if write is None or own is None or not _walks(write.relation, row):
            continue
        inside = tuple(s for s in scop.statements if loops[s.name][: row + 1] == loops[writer.name][: row + 1])
        late = _late(inside, array, own, row)
        if late is not None and any(late.values()):
            return _Turns(array, writer, row, inside, late)
    return None


def _bit(access: Access, row: int) -> int | None:
    """The number k so that an access is to row ``(i + k) % 2``, 0 or 1; None if it isn't."""
    which = access.relation.project_out(OUT, 1, 1).reset_tuple_id(OUT)
    count = which.dim(IN)
    if access.node is None or count <= row or not access.relation.is_single_valued():
        return None
    names = [f"i{k}" for k in range(count)]
    for bit in range(_ROWS):
        turn = isl.Map(f"{{ [{', '.join(names)}] -> [r] : 0 <= r < 2 and (r + i{row} + {bit}) mod 2 = 0 }}")
        if which.reset_tuple_id(IN).is_subset(turn):
            return bit
    return None


def _walks(relation: isl.Map, row: int) -> bool:
    """Whether the innermost loop walks through the cells of a row."""
    rows = subscript_rows(relation.project_out(OUT, 0, 1))
    return rows is not None and [int(value) for value in rows[0][row:]] == [0, 1]


def _late(inside: Collection[Statement], array: Array, own: int, row: int) -> dict[ir.Node, bool] | None:
    """Of each reference to an array, whether it is to the other row than the one that is computed; None if that isn't
    known, or if the other one is written."""
    found: dict[ir.Node, bool] = {}
    for statement in inside:
        for access in statement.accesses:
            if access.array != array.name:
                continue
            bit = _bit(access, row)
            if bit is None or access.node is None or access.kind == "may-write" or (access.is_write and bit != own):
                return None
            found[access.node] = bit != own
    return found


# --- the new SCoP -----------------------------------------------------------------------------------------------------


def _with_one_row(scop: Scop, turns: _Turns) -> Expansion | None:
    cells = cells_for(scop, turns.array, "folded")
    made = replace(scop, arrays={**scop.arrays, cells.name: cells})
    changed = {one.name: _folded(one, turns, cells) for one in turns.inside}
    statements = {one.name: changed.get(one.name, one) for one in scop.statements}
    copies = [*_begun(made, turns, cells), *_left(made, turns, changed)]
    made = with_copies(made, statements, copies)
    inside = {one.name for one in turns.inside} | {one.made.name for one in copies if one.loops is None}
    loops = source_loops(scop)
    along = [changed[one.name] for one in turns.inside if loops[one.name] == loops[turns.writer.name]]
    late = [_only_late(one, scop.statement(one.name), turns, cells) for one in along]
    writer = changed[turns.writer.name]
    write = next(a.relation for a in writer.accesses if a.is_write and a.array == cells.name)
    before = cells_before(late, cells.name, writer, write, turns.row)
    if before is None:
        return None
    begins = _begins(scop, turns, before.reader, before.start, late=True) if before.reads else None
    found = with_cells_before(made, cells.name, writer.name, turns.row, before, inside, begins)
    made, sizes = found if found is not None else (made, None)
    made, sizes = _with_last(scop, made, turns, cells, sizes) if sizes is not None else (made, None)
    size = extents(made, relations_to(made, cells.name), loose=True)
    return None if size is None or sizes is None else Expansion(made, {cells.name: size, **sizes})


def _begins(scop: Scop, turns: _Turns, reader: str, start: isl.Set, *, late: bool) -> Access | None:
    """What a statement begins a row with, if that is a cell that no row writes: it is still where it was. late: of the
    row before."""
    statement = scop.statement(reader)
    written = isl.UnionSet("{ }")
    for one in turns.inside:
        for access in one.accesses:
            if access.array == turns.array.name and access.is_write:
                written = written.union(access.relation.range().to_union_set())
    for access in statement.accesses:
        cells = access.relation.intersect_domain(start.set_tuple_name(reader)).range()
        mine = access.array == turns.array.name and not access.is_write and _is_late(turns, access) is late
        if mine and not cells.is_empty() and cells.to_union_set().intersect(written).is_empty():
            return access
    return None


def _with_last(before: Scop, scop: Scop, turns: _Turns, cells: Array, sizes: Sizes) -> tuple[Scop, Sizes | None]:
    """The SCoP with a cell for each row in place of what the iteration before has computed, and all sizes. before: the
    SCoP with two rows."""
    writer = scop.statement(turns.writer.name)
    write = next(a for a in writer.accesses if a.is_write and a.array == cells.name)
    carried = carried_along(scop, dependences(scop).strict(), writer, write)
    found = from_before(carried) if carried is not None else None
    if found is None:
        return scop, sizes
    starts = {name: _begins(before, turns, name, found.first[name], late=False) for name in found.reads}
    begins = {name: access for name, access in starts.items() if access is not None}
    new = cells_for(scop, turns.array, "last")
    cell = Cell(new.name, (turns.row,), last_row(scop, turns.inside, turns.row))
    made = with_carried(scop, found, cell, new, begins)
    size = extents(made, relations_to(made, new.name), loose=True)
    return made, None if size is None else {**sizes, new.name: size}


def _folded(statement: Statement, turns: _Turns, cells: Array) -> Statement:
    """The statement with the one row in place of both."""

    def reference(access: Access, node: ir.Node) -> ir.Node | None:
        if access.array != turns.array.name or not isinstance(node, ir.ArrayRef):
            return None
        return ir.ArrayRef(ir.ID(cells.spelling), node.subscript)

    body, become = with_references(statement, reference)
    accesses = []
    for access in statement.accesses:
        node = become.get(access.node, access.node) if access.node is not None else None
        if access.array == turns.array.name:
            relation = access.relation.project_out(OUT, 0, 1).set_tuple_name(OUT, cells.name)
            access = replace(access, array=cells.name, relation=relation)
        accesses.append(replace(access, node=node))
    return replace(statement, body=body, accesses=tuple(accesses))


def _is_late(turns: _Turns, access: Access) -> bool:
    return access.node is not None and turns.late.get(access.node, False)


def _only_late(folded: Statement, statement: Statement, turns: _Turns, cells: Array) -> Statement:
    """The statement as if it read nothing of the row that is computed: of that, the neighbour is another one."""
    pairs = zip(folded.accesses, statement.accesses, strict=True)
    accesses = (
        replace(mine, array="") if mine.array == cells.name and not _is_late(turns, old) else mine
        for mine, old in pairs
        if old.node is not None or mine.array != cells.name
    )
    return replace(folded, accesses=tuple(accesses))


def _begun(scop: Scop, turns: _Turns, cells: Array) -> Iterator[Copy]:
    """What copies the row before the first one, in front of the loop over rows."""
    beside, done = turns.inside[0], list[isl.Map]()
    for statement in turns.inside:
        for position, access in enumerate(statement.accesses):
            if access.node is None or not _is_late(turns, access):
                continue
            first = statement.domain.subtract(moved(statement.domain, turns.row, 1)).coalesce()
            name = f"{statement.name}_before{position}"
            target = ir.ArrayRef(ir.ID(cells.spelling), copied(access.node.subscript))
            into = access.relation.project_out(OUT, 0, 1).set_tuple_name(OUT, cells.name)
            if any(into.is_equal(one) for one in done):
                continue
            done.append(into)
            made = _copy(name, statement, first, access, target, into)
            yield Copy(made, beside, before=True, loops=turns.row)


def _left(scop: Scop, turns: _Turns, changed: dict[str, Statement]) -> Iterator[Copy]:
    """What copies the last two rows to where they were."""
    others = (one for one in scop.statements if one.name not in changed)
    if turns.array.private and not any(a.array == turns.array.name for one in others for a in one.accesses):
        return
    for statement in turns.inside:
        pairs = zip(statement.accesses, changed[statement.name].accesses, strict=True)
        written = [(old, new) for old, new in pairs if old.array == turns.array.name and old.is_write]
        if not written:
            continue
        (old, new), *_ = written
        last = statement.domain.subtract(moved(statement.domain, turns.row, -_ROWS)).coalesce()
        assert old.node is not None
        made = _copy(f"{statement.name}_left", statement, last, new, copied(old.node), old.relation)
        yield Copy(made, changed[statement.name], before=False)


def _copy(name: str, like: Statement, domain: isl.Set, value: Access, target: ir.Node, into: isl.Map) -> Statement:
    """``target = value`` for some instances of a statement. into: the cells that are written, of the instances."""
    there = domain.set_tuple_name(name)
    same = there.identity().set_tuple_name(OUT, like.name)
    assert value.node is not None
    read = copied(value.node)
    accesses = (
        Access(value.array, "read", same.apply_range(value.relation), read, like.location),
        Access(str(into.get_tuple_name(OUT)), "write", same.apply_range(into), target, like.location),
    )
    body = ir.Assignment("=", target, read)
    return Statement(name, there, like.iterators, like.iterator_types, body, accesses, like.location)
