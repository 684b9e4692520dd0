"""Which arrays a tile keeps in panels: narrow blocks of columns, copied to contiguous memory where a tile runs through
their rows again and again.

A tile of so many columns and all rows of an array has each row on a page of its own. Once these pages are more than the
TLB has entries, each run through the rows misses it for every row; and rows at a regular distance compete for the same
sets of the caches, the more so the rounder the distance is. A copy of the block fills pages and lines, begins at a
line's border, and costs one run through the rows.
Sources: Lam, Rothberg and Wolf, "The cache performance and optimizations of blocked algorithms" (1991), section 4; Goto
and van de Geijn, "Anatomy of high-performance matrix multiplication" (2008), section 4.2.3, which packs for the TLB.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import islpy as isl
from msgspec import Struct

from scopt.ir.marked_schedule import PackedTile, Panel, PanelDimension
from scopt.ir.nest import Const, Expr
from scopt.ir.references import is_cell
from scopt.ir.scop import Access, Array, Dependences, Scop, Statement
from scopt.machine import Machine
from scopt.machine.processor import LARGEST
from scopt.poly.array_extents import extents
from scopt.poly.body_rewriting import always_evaluated
from scopt.poly.isl_utils import OUT, sets_of, union_of_sets
from scopt.poly.linear import affine_row
from scopt.scheduler.locality.footprints import ReferenceGroup, TileSpace, reference_groups, tile_space, trip_count
from scopt.scheduler.locality.strides import LinearSchedule
from scopt.scheduler.locality.tiling import origin

# Runs through the rows of a tile, from which on copying them there and back costs little beside.
LEAST_RUNS = 8
# Rows of arrays that nothing is known of: more than any TLB has pages.
MANY_ROWS = LARGEST
# Of arrays that have rows and columns.
LEAST_RANK = 2


class TiledLoops(Struct, frozen=True, eq=False):
    """A band that has been tiled. schedule: its members, and what is outside, as rows. members: the former as functions
    on statement instances.
    sizes: of the tiles, in each member."""

    schedule: LinearSchedule
    members: isl.MultiUnionPwAff
    sizes: tuple[int, ...]


class PanelOffer(Struct, frozen=True, eq=False):
    """Panels that a tile may have. pages: that it touches of their arrays, where they are. misses: how often, all its
    runs through the rows together."""

    tile: PackedTile
    pages: int
    misses: int


def packed_tile(
    scop: Scop, deps: Dependences, machine: Machine, inside: isl.ScheduleNode, tiles: TiledLoops
) -> PanelOffer | None:
    """What the tiles of a band may keep in panels; None if there is nothing.

    inside: what is below the loops over tiles. Its first bands are the loops over the first members, in their order.
    """
    if inside.get_type() != isl.schedule_node_type.band:
        return None
    domain, points = inside.get_domain(), inside.band_n_member()
    names = tuple(sorted(part.get_tuple_name() for part in sets_of(domain)))
    if not domain.is_equal(_whole(scop, names)) or set(names) != set(tiles.schedule.members):
        return None
    space = tile_space(scop, tiles.schedule.prefix, tiles.schedule.members)
    groups = reference_groups(scop, space)
    sizes = _sizes(groups, space, tiles)
    found, pages, misses = dict[str, _Columns](), 0, 0
    for name in sorted({group.array for group in groups}):
        own = [group for group in groups if group.array == name]
        touched, runs = _pages(own, sizes, points, len(tiles.sizes), machine)
        columns = _columns(scop, deps, scop.arrays[name], names, tiles) if touched else None
        if columns is not None:
            found[name] = columns
            pages, misses = pages + touched, misses + touched * runs
    if not found:
        return None
    members = sorted({one.member for one in found.values()})
    origins = tuple(origin(tiles.members.get_at(k), tiles.sizes[k]).intersect_domain(domain) for k in members)
    panels = tuple(_panel(name, members.index(one.member), one) for name, one in found.items())
    return PanelOffer(PackedTile(names, origins, panels), pages, misses)


def _panel(array: str, origin: int, columns: _Columns) -> Panel:
    """All rows, and the columns from an origin on."""
    *rows, last = range(len(columns.extents))
    whole = (PanelDimension(((k, 1),), None, 0, columns.extents[k]) for k in rows)
    return Panel(array, (*whole, PanelDimension(((last, 1),), origin, columns.first, Const(columns.width))))


def _whole(scop: Scop, names: Sequence[str]) -> isl.UnionSet:
    """All instances of some statements."""
    return union_of_sets(scop.statement(name).domain for name in names).intersect_params(scop.context)


# --- what it gains ----------------------------------------------------------------------------------------------------


def _sizes(groups: Sequence[ReferenceGroup], space: TileSpace, tiles: TiledLoops) -> tuple[int, ...]:
    """The box of a tile: its members, and all iterations inside."""
    width = max(len(rows) for rows in space.members.values())
    return (*tiles.sizes, *(_trips(groups, k) for k in range(len(tiles.sizes), width)))


def _trips(groups: Sequence[ReferenceGroup], member: int) -> int:
    """Iterations of a loop inside of tiles, many if nothing is known of them."""
    known = any(
        row[member] and extent for group in groups for row, extent in zip(group.moves, group.extents, strict=True)
    )
    return trip_count(groups, member) if known else MANY_ROWS


def _pages(
    groups: Sequence[ReferenceGroup], sizes: Sequence[int], points: int, tiled: int, machine: Machine
) -> tuple[int, int]:
    """The pages that a tile touches of an array each time that it runs through the rows, and how often it does; 0 if
    that isn't often, if the rows are few or short, or if other tiles have other rows: then panels would lack some here
    and there, and copying them takes too many cases.

    sizes: of the tile's members, of which there are so many tiled ones, and of the loops inside. points: the outermost
      loops inside of a tile.
    """
    often = [group for group in groups if _runs(group, sizes[:points]) >= LEAST_RUNS]
    wide = 2 * max(sizes[:tiled])
    moved = any(any(row[:tiled]) for group in groups for row in group.moves[:-1])
    if moved or not any(_is_long(group, tiled) and (group.extents[-1] or MANY_ROWS) > wide for group in often):
        return 0, 0
    runs = min(_runs(group, sizes[:points]) for group in often)
    return max(_pages_of(group, group.segments(sizes), machine.page_bytes) for group in often), runs


def _is_long(group: ReferenceGroup, tiled: int) -> bool:
    """Whether a loop inside of the tile walks from row to row."""
    return any(any(row[tiled:]) for row in group.moves[:-1])


def _runs(group: ReferenceGroup, points: Sequence[int]) -> int:
    """How often a tile comes back to a row: iterations of the outermost loops inside of it,
    up to one that changes the row."""
    count = 1
    for member, size in enumerate(points):
        if any(row[member] for row in group.moves[:-1]):
            break
        count *= size
    return count


def _pages_of(group: ReferenceGroup, rows: int, page: int) -> int:
    """Pages of so many rows, each of which a tile touches a small part of."""
    length = group.extents[-1]
    return rows if length is None else min(rows, ceil(rows * length * group.element / page))


# --- where it may be --------------------------------------------------------------------------------------------------


class _Columns(Struct, frozen=True):
    """The columns of an array that a tile refers to: those of one of its members, and constants around. first, width:
    the least one, from the tile's origin on, and how many. extents: of the array, as far as the references reach."""

    member: int
    first: int
    width: int
    extents: tuple[Expr, ...]


def _columns(scop: Scop, deps: Dependences, array: Array, names: Sequence[str], tiles: TiledLoops) -> _Columns | None:
    """What some statements refer to of an array; None unless each reference is to a cell in the columns of one member's
    tile.

    Values that a tile may change the order of are left alone: what is copied when follows from the order of the source.
    """
    kind = array.type
    if array.private or array.rank < LEAST_RANK or kind.volatile or kind.atomic or not (kind.floating or kind.integer):
        return None
    if any(one.array == array.name for one in deps.reductions):
        return None
    uses = [
        (scop.statement(name), access)
        for name in names
        for access in scop.statement(name).accesses
        if access.array == array.name
    ]
    writes = [statement.name for statement, access in uses if access.is_write]
    if not all(_is_plain(array, statement, access) for statement, access in uses) or len(set(writes)) < len(writes):
        return None
    sizes = extents(scop, [access.relation for _, access in uses])
    for member, size in enumerate(tiles.sizes):
        offsets = {_offset(scop, tiles.members.get_at(member), statement, access) for statement, access in uses}
        shifts = [offset for offset in offsets if offset is not None]
        if sizes is not None and None not in offsets and max(shifts) - min(shifts) <= size:
            return _Columns(member, min(shifts), size + max(shifts) - min(shifts), sizes)
    return None


def _is_plain(array: Array, statement: Statement, access: Access) -> bool:
    """Whether a reference is to one cell, by as many subscripts as there are, and made whenever the statement runs."""
    single = access.kind != "may-write" and access.relation.is_single_valued()
    return (
        bool(single)
        and is_cell(access.node, array.spelling, array.rank)
        and always_evaluated(statement.body, access.node)
    )


def _offset(scop: Scop, member: isl.UnionPwAff, statement: Statement, access: Access) -> int | None:
    """The last subscript of a reference minus the member, if that is a constant."""
    names = [p.name for p in scop.parameters]
    pieces = member.intersect_domain(isl.UnionSet.from_set(statement.domain)).get_pw_aff_list()
    if pieces.n_pw_aff() != 1:
        return None
    own, column = (
        affine_row(pieces.get_at(0), names),
        affine_row(access.relation.as_pw_multi_aff().get_pw_aff(access.relation.dim(OUT) - 1), names),
    )
    return column[-1] - own[-1] if own is not None and column is not None and own[:-1] == column[:-1] else None
