"""The cell before the one that is computed, of the row that it is written over: read in time, and handed on.

``row[j] = f(row[j], row[j - 1])``, where ``row[j - 1]`` is meant as the row before had it: a scalar reads ``row[j]`` in
front of the statement, and behind it a cell of the row's own gets that, for the next iteration.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.ir.nest import Expr
from scopt.ir.scop import Access, Scop, Statement
from scopt.poly.array_extents import extents
from scopt.poly.isl_utils import IN, OUT, SET
from scopt.scheduler.passes.carrying import is_there
from scopt.scheduler.passes.copies import (
    Cell,
    Copy,
    cells_for,
    copy_of,
    last_row,
    relations_to,
    scalar_for,
    with_copies,
)

Sizes = dict[str, tuple[Expr, ...]]


class Before(Struct, frozen=True, eq=False):
    """reads: by the statement's name, which of its accesses read the cell before. start: the instances of the first of
    these statements that have none in their row."""

    reads: Mapping[str, frozenset[int]]
    start: isl.Set

    @property
    def reader(self) -> str:
        return next(iter(self.reads))


def cells_before(
    along: Collection[Statement], array: str, writer: Statement, write: isl.Map, row: int
) -> Before | None:
    """What statements along a row read of the cell before; None if they begin at different ones. array: what they read;
    writer, write: the statement that computes the row, and ``{ writer[…] -> array[…] }``, as if it wrote there."""
    found = {one.name: _reading(one, array, write, row) for one in along}
    found = {name: reads for name, reads in found.items() if reads}
    starts = [_start(one, writer) for one in along if one.name in found]
    if any(not one.set_tuple_name("").is_equal(starts[0].set_tuple_name("")) for one in starts):
        return None
    return Before(found, starts[0] if starts else isl.Set.empty(writer.domain.get_space()))


def _reading(statement: Statement, array: str, write: isl.Map, row: int) -> frozenset[int]:
    return frozenset(
        position
        for position, access in enumerate(statement.accesses)
        if access.array == array and access.kind == "read" and access.node is not None
        if _is_before(access.relation.apply_range(write.reverse()), row + 1)
    )


def _is_before(same: isl.Map, along: int) -> bool:
    """Whether what an iteration reads is what the one before it along a row writes. same: pairs of both."""
    space = isl.LocalSpace.from_space(same.get_space())
    behind = isl.Constraint.alloc_equality(space).set_coefficient_val(IN, along, isl.Val(1))
    behind = behind.set_coefficient_val(OUT, along, isl.Val(-1)).set_constant_val(isl.Val(-1))
    return not same.is_empty() and bool(same.is_subset(isl.Map.universe(same.get_space()).add_constraint(behind)))


def _start(statement: Statement, writer: Statement) -> isl.Set:
    """The instances of a statement whose neighbour before no iteration of the row has computed."""
    shifted = moved(writer.domain, writer.domain.dim(SET) - 1, 1).set_tuple_name(statement.name)
    return statement.domain.subtract(shifted).coalesce()


def moved(domain: isl.Set, position: int, step: int) -> isl.Set:
    """The instances so many iterations later in a loop."""
    identity = isl.MultiAff.identity(domain.get_space().map_from_set())
    later = identity.set_at(position, identity.get_at(position).add_constant_val(isl.Val(step)))
    return domain.apply(isl.Map.from_multi_aff(later))


def with_cells_before(
    scop: Scop,
    array: str,
    writer: str,
    row: int,
    before: Before,
    inside: Collection[str],
    begins: Access | None = None,
) -> tuple[Scop, Sizes] | None:
    """The SCoP with a cell for each row in place of the neighbour before, and its size; None if that isn't known, or if
    rows might begin where there is none. inside: the statements in the loop over rows; begins: what they begin with,
    where that is another reference."""
    if not before.reads:
        return scop, {}
    reader, own = scop.statement(before.reader), scop.statement(writer)
    read, write = reader.accesses[min(before.reads[reader.name])], _write(own, array)
    if not before.start.is_empty() and not is_there(scop, reader, read):
        return None
    cells, scalar = cells_for(scop, scop.arrays[array], "before"), scalar_for(scop, scop.arrays[array], "above")
    scop = replace(scop, arrays={**scop.arrays, cells.name: cells, scalar.name: scalar})
    last = last_row(scop, [one for one in scop.statements if one.name in inside], row)
    cell, alone = Cell(cells.name, (row,), last), Cell(scalar.name, ())
    seen = copy_of(scop, own, own.domain, write, alone, "seen")
    kept = Access(scalar.name, "read", alone.relation(own.domain), ir.ID(scalar.name), own.location)
    handed = copy_of(scop, own, own.domain, kept, cell, "handed")
    statements = {one.name: one for one in scop.statements}
    first = next(one for one in scop.statements if one.name in inside)
    begun = copy_of(scop, reader, before.start, begins or read, cell, "begun")
    for name, positions in before.reads.items():
        nodes = {statements[name].accesses[k].node for k in positions}
        statements[name] = cell.read_by(statements[name], nodes)
    copies = [Copy(seen, own, before=True), Copy(handed, own, before=False)]
    if not before.start.is_empty():
        copies.append(Copy(begun, first, before=True, loops=row + 1))
    made = with_copies(scop, statements, copies)
    size = extents(made, relations_to(made, cells.name), loose=True)
    return None if size is None else (made, {cells.name: size})


def _write(statement: Statement, array: str) -> Access:
    return next(access for access in statement.accesses if access.array == array and access.is_write)
