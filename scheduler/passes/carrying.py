"""Carrying: what a loop's next iteration reads of a row that this one has written is handed on in a scalar (scalar
replacement of Callahan, Carr and Kennedy, "Improving register allocation for subscripted variables", 1990).

In ``for i for j y[i][j] = x[i][j] + y[i][j - 1] / 2`` each iteration waits for a store and a load of the one before,
unless a compiler finds out that nothing else writes the cell in between: it doesn't where several rows run together.
With ``t = y[i][j]`` behind the statement, and ``t = y[i][j - 1]`` before the first one, the value stays in a register.
"""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt.ir.scop import Access, Array, Dependence, Dependences, Scop, Statement
from scopt.poly.body_rewriting import always_evaluated
from scopt.poly.isl_utils import IN, OUT, sets_of, walk as isl_walk
from scopt.poly.linear import subscript_rows
from scopt.poly.source_iterations import is_carried
from scopt.poly.sure_cells import surely_touched
from scopt.scheduler.passes.copies import Cell, Copy, copy_of, scalar_for, with_copies


def carry(scop: Scop, deps: Dependences) -> Scop | None:
    """The SCoP with scalars for what rows that are independent of each other carry; None if there are no such."""
    made = scop
    for statement in scop.statements:
        for write in statement.accesses:
            found = _carried(scop, deps, statement, write)
            if found is not None:
                made = _with_scalar(made, found)
    return made if made is not scop else None


class Carried(Struct, frozen=True, eq=False):
    """A cell that a statement writes and that others read in the next iteration. reads: by the reading statement's
    name, the references; first: its instances that nothing was carried to."""

    array: Array
    writer: Statement
    write: Access
    reads: Mapping[str, tuple[Access, ...]]
    first: Mapping[str, isl.Set]


def _carried(scop: Scop, deps: Dependences, writer: Statement, write: Access) -> Carried | None:
    array, depth = scop.arrays[write.array], len(writer.iterators)
    if depth < 2 or array.rank < 2 or not array.type.floating or array.private:
        return None
    if write.kind != "write" or not _along_line(write, depth):
        return None  # nor would what is asked below find anything
    if not any(_is_row(deps, scop, writer, write, k) for k in range(depth - 1)):
        return None
    return carried_along(scop, deps, writer, write)


def carried_along(scop: Scop, deps: Dependences, writer: Statement, write: Access) -> Carried | None:
    """What a statement writes that the next iteration of its innermost loop reads, which goes from a cell to its
    neighbour; None if there is nothing."""
    array, depth = scop.arrays[write.array], len(writer.iterators)
    if write.kind != "write" or write.node is None or not array.rank or array.type.volatile or array.type.atomic:
        return None
    writes = [one for one in writer.accesses if one.is_write and one.array == array.name]
    if any(one.kind != "write" or not one.relation.is_equal(write.relation) for one in writes):
        return None  # but one in each way of a condition is as good as one for all
    if writes[0] is not write or not _along_line(write, depth):
        return None
    reads: dict[str, tuple[Access, ...]] = {}
    first: dict[str, isl.Set] = {}
    for flow in deps.select("flow"):
        if (flow.array, flow.source) != (array.name, writer.name):
            continue
        reader = scop.statement(flow.sink)
        for read in reader.accesses:
            rest = _not_carried(scop, writer, write, reader, read, flow)
            if rest is None:
                continue
            if reader.name in reads and not rest.is_equal(first[reader.name]):
                return None
            reads[reader.name] = (*reads.get(reader.name, ()), read)
            first[reader.name] = rest
    return Carried(array, writer, write, reads, first) if reads else None


def from_before(found: Carried) -> Carried | None:
    """Without what an iteration reads of its own."""
    reads = {name: reads for name, reads in found.reads.items() if not found.first[name].is_empty()}
    return replace(found, reads=reads) if reads else None


def _along_line(write: Access, depth: int) -> bool:
    """Whether the innermost loop steps from a cell to its neighbour."""
    rows = subscript_rows(write.relation)
    last = depth - 1
    return rows is not None and abs(rows[-1][last]) == 1 and not any(row[last] for row in rows[:-1])


def _is_row(deps: Dependences, scop: Scop, writer: Statement, write: Access, position: int) -> bool:
    """Whether an iterator walks through the rows of an array, and no dependence leads from one of its values to
    another."""
    rows = subscript_rows(write.relation)
    if rows is None or not any(row[position] for row in rows[:-1]) or rows[-1][position]:
        return False
    names = _inside(scop, writer, position)
    inner = (one for one in deps.select("flow", "anti", "output") if {one.source, one.sink} <= names)
    return all(_stays(scop, one, position) for one in inner)


def _inside(scop: Scop, statement: Statement, position: int) -> frozenset[str]:
    """The statements inside of one of the loops around a statement."""
    for node in isl_walk(scop.schedule.get_root()):
        if node.get_type() == isl.schedule_node_type.band and node.get_schedule_depth() == position:
            names = frozenset(str(part.get_tuple_name()) for part in sets_of(node.get_domain()))
            if statement.name in names:
                return names
    return frozenset(one.name for one in scop.statements)


def _stays(scop: Scop, dependence: Dependence, position: int) -> bool:
    if dependence.kind != "flow" and scop.arrays[dependence.array].private:
        return True
    return not is_carried(dependence.relation, position)


def _not_carried(
    scop: Scop, writer: Statement, write: Access, reader: Statement, read: Access, flow: Dependence
) -> isl.Set | None:
    """The instances of a reference that get no value from the iteration before; None if others don't either, if there
    are more than one in a row, or if it can't be replaced."""
    if read.kind != "read" or read.array != write.array or read.node is None or reader.iterators != writer.iterators:
        return None
    if not read.relation.is_single_valued() or not is_there(scop, reader, read):
        return None
    if any(access.is_write and access.node is read.node for access in reader.accesses):
        return None
    pairs = flow.relation.intersect(write.relation.apply_range(read.relation.reverse()))
    if pairs.is_empty() or not _in_next(scop, isl.UnionMap.from_map(pairs), writer):
        return None
    rest = reader.domain.subtract(pairs.range()).coalesce()
    return rest if _is_first(rest) else None


def is_there(scop: Scop, reader: Statement, read: Access) -> bool:
    """Whether what a reference is to exists whatever conditions say: the statement reads it anyway, by this reference
    or by another one, or something else surely touches it."""
    return any(
        always_evaluated(reader.body, other.node) and other.relation.is_equal(read.relation)
        for other in reader.accesses
        if other.kind == "read" and other.array == read.array
    ) or surely_touched(scop, reader, read)


def _in_next(scop: Scop, pairs: isl.UnionMap, writer: Statement) -> bool:
    """Whether a write's value is read before the statement writes its next one."""
    first, writes, last = (
        scop.order.intersect_domain(some) for some in (pairs.domain(), writer.domain.to_union_set(), pairs.range())
    )
    # Each pair with what is written in between: pairs of what is before and behind of these would be without it, and in
    # far more pieces.
    after = pairs.domain_map().apply_range(first.lex_lt_union_map(writes))
    before = pairs.range_map().apply_range(writes.lex_lt_union_map(last).reverse())
    return bool(after.intersect(before).is_empty())


def _is_first(rest: isl.Set) -> bool:
    """Whether a row has one of the instances at most, its first or last one."""
    last = rest.dim(isl.dim_type.set) - 1
    same = isl.Map.universe(rest.get_space().map_from_set())
    for k in range(last):
        same = same.equate(IN, k, OUT, k)
    several = same.order_lt(IN, last, OUT, last).intersect_domain(rest).intersect_range(rest)
    return bool(several.is_empty())


# --- the new SCoP -----------------------------------------------------------------------------------------------------


def _with_scalar(scop: Scop, found: Carried) -> Scop:
    """The SCoP with a scalar in place of what is read."""
    scalar = scalar_for(scop, found.array, "last")
    return with_carried(scop, found, Cell(scalar.name, ()), scalar)


def with_carried(
    scop: Scop, found: Carried, cell: Cell, scalar: Array, begins: Mapping[str, Access] | None = None
) -> Scop:
    """The SCoP with a new array's cells in place of what is read, and statements that set them. begins: by the reading
    statement's name, what the first iteration reads, where that is another reference."""
    statements = {one.name: one for one in scop.statements}
    copies: list[Copy] = []
    for reader, reads in found.reads.items():
        own = statements[reader]
        if not found.first[reader].is_empty():
            read = (begins or {}).get(reader, reads[0])
            made = copy_of(scop, own, found.first[reader], read, cell, "first")
            first = statements[_first_inside(scop, own, found.first[reader])]
            copies.append(Copy(made, first, before=True))
        statements[reader] = cell.read_by(own, {read.node for read in reads})
    made = copy_of(scop, found.writer, found.writer.domain, found.write, cell, "kept")
    copies.append(Copy(made, statements[found.writer.name], before=False))
    made_scop = with_copies(scop, statements, copies)
    return replace(made_scop, arrays={**scop.arrays, scalar.name: scalar})


def _first_inside(scop: Scop, statement: Statement, instances: isl.Set) -> str:
    """The first statement of the innermost loop that a statement is in, as long as it has the same instances: what
    stands before it can stand before the loop."""
    names = _inside(scop, statement, len(statement.iterators) - 1)
    first = next(one for one in scop.statements if one.name in names)
    same = first.iterators == statement.iterators
    return first.name if same and instances.set_tuple_name(first.name).is_subset(first.domain) else statement.name
