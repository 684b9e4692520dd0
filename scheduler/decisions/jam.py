"""Unroll-and-jam of reductions over a matrix: several rows at a time, so that their chains of additions overlap.

Where a cell is updated along a whole row of a matrix, every update waits for the one before. Rows are independent of
each other, or may at least be interchanged with columns: a few of them run through the columns together. Where cells
are updated along columns, rows that run together load and store each cell once for all of them. Either way the updates
of a cell keep their order. (Callahan, Carr, Kennedy: "Improving register allocation for subscripted variables", 1990;
legality as of any tiling with interchange, from the dependences.)
"""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl
from msgspec import Struct

from scopt.ir.scop import Scop, Statement
from scopt.machine.costs import jam_columns, jam_rows
from scopt.options import Options
from scopt.poly.bands import Ordered, active
from scopt.poly.isl_utils import IN, OUT, SET, sets_of, union_of_sets
from scopt.poly.linear import Vector, subscript_rows
from scopt.scheduler.locality.strides import linear_schedule
from scopt.scheduler.locality.tiling import origin

# Of a band, which stand in its code once for each row of a block.
MOST_STATEMENTS = 4


class Jam(Struct, frozen=True, eq=False):
    """How a band of two members is unrolled and jammed.

    row, column: positions of its members. parallel: the one whose tiles may run in parallel, or None. simd: nothing is
    carried along the columns. rows: of a block; chunk: columns that a thread runs through at a time, where their tiles
    are the parallel ones.
    """

    row: int
    column: int
    parallel: int | None
    simd: bool
    rows: int
    chunk: int


class Parts(Struct, frozen=True, eq=False):
    """The instances of a band's blocks of rows.

    full: in columns where all rows of a block have one. before, after: what runs in the same block before and after
      those.
    """

    before: isl.UnionSet
    full: isl.UnionSet
    after: isl.UnionSet


def jam_of(scop: Scop, dependences: Ordered, node: isl.ScheduleNode, options: Options) -> Jam | None:
    """How to jam a leaf band; None unless it has two members and some statement reduces a matrix along one of them.

    What is decided here is only whether it pays: any permutable band may be jammed; see `parts_of`.
    """
    if not options.tile or node.band_n_member() != 2 or not node.band_get_permutable():
        return None
    if any(
        not active(pairs, node).is_empty()
        for table in (dependences.ranges, dependences.reuse)
        for pairs in table.values()
    ):
        return None  # copies of private arrays for each row would be needed
    schedule = linear_schedule(scop, node)
    names = {part.get_tuple_name() for part in sets_of(node.get_domain())}
    if names != set(schedule.members) or len(names) > MOST_STATEMENTS:
        return None
    roles = {roles for name in names if (roles := _roles(scop.statement(name), schedule.members[name])) is not None}
    if len(roles) != 1:
        return None
    row, column = roles.pop()
    free = [bool(node.band_member_get_coincident(k)) for k in (row, column)]
    if all(free):
        return None
    parallel = row if free[0] else column if free[1] else None
    machine = options.machine
    return Jam(row, column, parallel, free[1] and options.simd, jam_rows(machine), jam_columns(machine))


def _roles(statement: Statement, members: Sequence[Vector]) -> tuple[int, int] | None:
    """The members that walk through the rows and along the columns of a matrix that a statement reduces;
    None if it doesn't."""
    moving = [_unit(row) for row in members]
    if None in moving or moving[0] == moving[1]:
        return None
    first, second = (k for k in moving if k is not None)
    found = set()
    for access in statement.accesses:
        rows = subscript_rows(access.relation)
        if rows is None:
            return None
        along = [(any(row[first] for row in rows), any(row[second] for row in rows))]
        if along != [(True, True)]:
            continue
        if access.is_write:
            return None
        walks = [_walk(rows, k) for k in (first, second)]
        if walks == ["across", "along"]:
            found.add((0, 1))
        elif walks == ["along", "across"]:
            found.add((1, 0))
        else:
            return None
    return found.pop() if len(found) == 1 and _reduces(statement) else None


def _unit(row: Vector) -> int | None:
    """The iterator that a member is, up to sign, constants and parameters."""
    moving = [k for k, value in enumerate(row) if value]
    return moving[0] if len(moving) == 1 and abs(row[moving[0]]) == 1 else None


def _walk(rows: Sequence[Vector], iterator: int) -> str:
    """How an iterator moves through an array: "along" its rows, "across" them, or both."""
    across, along = any(row[iterator] for row in rows[:-1]), bool(rows[-1][iterator])
    if along and not across and abs(rows[-1][iterator]) == 1:
        return "along"
    return "across" if across and not along else "both"


def _reduces(statement: Statement) -> bool:
    """Whether the statement updates one cell of an array."""
    writes = [access for access in statement.accesses if access.is_write]
    if len(writes) != 1 or writes[0].kind != "write" or not writes[0].relation.dim(OUT):
        return False
    write = writes[0]
    same = (access for access in statement.accesses if access.kind == "read" and access.array == write.array)
    return any(access.relation.is_equal(write.relation) for access in same)


# --- blocks of rows ---------------------------------------------------------------------------------------------------


def parts_of(
    dependences: Ordered, node: isl.ScheduleNode, row: isl.UnionPwAff, column: isl.UnionPwAff, size: int
) -> Parts | None:
    """The parts of the instances below a band over blocks of rows; None if there are no full columns or no legal order
    of parts.

    node: right below that band. size: rows of a block.
    """
    outside = isl.UnionMap.from_multi_union_pw_aff(node.get_prefix_schedule_multi_union_pw_aff())
    domain = node.get_domain()
    full = union_of_sets(
        found for part in sets_of(domain) if (found := _full(part, outside, row, column, size)) is not None
    )
    if full.is_empty():
        return None
    rest = domain.subtract(full).coalesce()
    dates = outside.flat_range_product(isl.UnionMap.from_union_pw_aff(column)).intersect_domain(domain)
    before = _beside(rest, full, dates, larger=True)
    after = rest.subtract(before).coalesce()
    if not before.is_empty() and _beside(after, full, dates, larger=False).is_empty():
        before, after = rest, isl.UnionSet("{ }")  # blocks without full columns: one place is as good as the other
    pairs = active(dependences.must, node)
    late = ((full, before), (after, before), (after, full))
    legal = all(pairs.intersect_domain(source).intersect_range(sink).is_empty() for source, sink in late)
    return Parts(before, full.coalesce(), after) if legal else None


def _beside(rest: isl.UnionSet, full: isl.UnionSet, dates: isl.UnionMap, *, larger: bool) -> isl.UnionSet:
    """The part of the rest in whose block some full column is larger, or smaller.
    dates: the block and, last, the column."""
    columns = isl.Set.from_union_set(full.apply(dates))
    pairs = isl.Map.universe(columns.get_space().map_from_set())
    last = columns.dim(SET) - 1
    for k in range(last):
        pairs = pairs.equate(IN, k, OUT, k)
    pairs = pairs.order_lt(IN, last, OUT, last) if larger else pairs.order_gt(IN, last, OUT, last)
    reached = isl.UnionSet.from_set(pairs.intersect_range(columns).domain())
    return dates.intersect_range(reached).domain().intersect(rest).coalesce()


def _full(
    part: isl.Set, outside: isl.UnionMap, row: isl.UnionPwAff, column: isl.UnionPwAff, size: int
) -> isl.Set | None:
    """The instances of a statement in columns where it has one in every row of the block."""
    own = isl.UnionSet.from_set(part)
    prefix = isl.Map.from_union_map(outside.intersect_domain(own))
    place = prefix.flat_range_product(_function(column, own))
    offset = _function(row.sub(origin(row, size)), own)
    present = place.flat_range_product(offset).range()
    last = present.dim(SET) - 1
    columns = [present.fix_val(SET, last, isl.Val(k)).project_out(SET, last, 1) for k in range(size)]
    complete = columns[0]
    for some in columns[1:]:
        complete = complete.intersect(some)
    pieces = complete.coalesce().get_basic_sets()
    if not pieces:
        return None
    # the most general piece: what is left at borders isn't worth cases in the code
    general = isl.Set.from_basic_set(max(pieces, key=lambda piece: -_equations(piece)))
    found = place.intersect_range(general).domain().coalesce()
    return None if found.is_empty() or _equations_of(found) > _equations_of(part) else found


def _function(member: isl.UnionPwAff, domain: isl.UnionSet) -> isl.Map:
    return isl.Map.from_union_map(isl.UnionMap.from_union_pw_aff(member.intersect_domain(domain)))


def _equations(piece: isl.BasicSet) -> int:
    return sum(
        1 for constraint in piece.get_constraints() if constraint.is_equality() and not constraint.is_div_constraint()
    )


def _equations_of(some: isl.Set) -> int:
    return min(map(_equations, some.get_basic_sets()), default=0)
