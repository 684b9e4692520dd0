"""Where the arrays of a dynamic program are, whose tiles run along diagonals with vectors across rows.

All that iterations (i, j) wait for is on diagonals before theirs, i + j, so that those of one diagonal are the lanes of
vectors. Where rows of a table follow each other in memory, a diagonal's cells lie apart. A tile of the table keeps them
in a panel that has a diagonal in each row: there they are neighbours, as are those of the diagonals before.
Sources: Wozniak, "Using video-oriented instructions to speed up sequence comparison" (1997), for vectors along
  diagonals; Wolfe, "Loop skewing: the wavefront method revisited" (1986).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product

import islpy as isl
from msgspec import Struct

from scopt.ir.ctypes import CHARACTER
from scopt.ir.marked_schedule import PackedTile, Panel, PanelDimension
from scopt.ir.nest import Const, Expr
from scopt.ir.references import is_cell
from scopt.ir.scop import Access, Array, Scop, Statement
from scopt.poly.array_extents import extents
from scopt.poly.bands import active, distances, nonnegative, private_arrays
from scopt.poly.body_rewriting import always_evaluated
from scopt.poly.isl_utils import sets_of, union_of_maps, union_of_sets
from scopt.poly.linear import subscript_rows
from scopt.scheduler.decisions.setting import Setting

# A member of a band in a statement: an iterator's position, its sign, and what is to be added to it.
Side = tuple[int, int, int]
# Where a band's two members are in a statement.
Place = tuple[Side, Side]


class Diagonals(Struct, frozen=True, eq=False):
    """places: by statement. panels: arrays whose cells on a diagonal lie apart, and that are kept in panels. apart: how
    many references there are to others of that kind. private: scalars that each lane has of its own."""

    places: dict[str, Place]
    panels: tuple[SkewedArray, ...]
    apart: int
    private: tuple[str, ...]


class SkewedArray(Struct, frozen=True, eq=False):
    """subscripts: which ones are the two members, up to constants, with their signs. rows, sums: least and largest
    difference of the first one to its member, and of both to the sum of the members. extents: of the array, as far as
    the references reach. written: it is."""

    array: str
    subscripts: tuple[tuple[int, int], tuple[int, int]]
    rows: tuple[int, int]
    sums: tuple[int, int]
    extents: tuple[Expr, ...]
    written: bool


def diagonals(setting: Setting, node: isl.ScheduleNode) -> Diagonals | str:
    """What is where, if the two members of a permutable band may run along diagonals; else why not."""
    scop, domain = setting.scop, node.get_domain()
    names = tuple(sorted(str(part.get_tuple_name()) for part in sets_of(domain)))
    whole = union_of_sets(scop.statement(name).domain for name in names).intersect_params(scop.context)
    places = _places(node)
    if places is None or not domain.is_equal(whole):
        return "its loops aren't two of each statement's iterators, in all iterations"
    arrays = {access.array for name in names for access in scop.statement(name).accesses}
    if setting.deps.reductions and not _in_order(setting.strict, node):
        return "a sum in any order is part of it"
    private = _private(setting, node)
    panels, apart = list[SkewedArray](), 0
    for name in sorted(arrays - set(private)):
        uses = [(scop.statement(s), a) for s in names for a in scop.statement(s).accesses if a.array == name]
        lying = [_apart(access, places[statement.name]) for statement, access in uses]
        if not any(lying):
            continue
        skewed = _skewed(scop, scop.arrays[name], uses, places)
        if skewed is not None:
            panels.append(skewed)
        elif any(access.is_write for _, access in uses):
            return f"'{name}' can't be kept in panels with a diagonal in each row"
        else:
            apart += sum(lying)
    if not any(panel.written for panel in panels):
        return "it writes no table along both loops"
    return Diagonals(places, tuple(panels), apart, private)


def packed(node: isl.ScheduleNode, found: Diagonals, rows: int, steps: int) -> PackedTile:
    """The panels of tiles of so many rows by so many diagonals. node: the band, with the rows' member first."""
    partial, domain = node.band_get_partial_schedule(), node.get_domain()
    first, both = partial.get_at(0), partial.get_at(0).add(partial.get_at(1))
    origins = tuple(_origin(one, size).intersect_domain(domain) for one, size in ((both, steps), (first, rows)))
    panels = tuple(_panel(one, rows, steps) for one in found.panels)
    return PackedTile(tuple(sorted(found.places)), origins, panels)


def _panel(one: SkewedArray, rows: int, steps: int) -> Panel:
    """Other subscripts first, then the diagonal, then the row."""
    moving = {position for position, _ in one.subscripts}
    others = [PanelDimension(((k, 1),), None, 0, size) for k, size in enumerate(one.extents) if k not in moving]
    diagonal = PanelDimension(one.subscripts, 0, one.sums[0], Const(steps + one.sums[1] - one.sums[0]))
    row = PanelDimension(one.subscripts[:1], 1, one.rows[0], Const(rows + one.rows[1] - one.rows[0]))
    return Panel(one.array, (*others, diagonal, row))


def _origin(member: isl.UnionPwAff, size: int) -> isl.UnionPwAff:
    """Where the tile of an instance begins."""
    value = isl.Val(size)
    return member.scale_down_val(value).floor().scale_val(value)


def _in_order(setting: Setting, node: isl.ScheduleNode) -> bool:
    """Whether both members keep reductions in their order, too."""
    partial, pairs = node.band_get_partial_schedule(), active(setting.dependences.must, node)
    return all(nonnegative(distances(pairs, partial.get_at(k))) for k in range(2))


def _places(node: isl.ScheduleNode) -> dict[str, Place] | None:
    """Of statements that only some iterations have, an iterator may be a constant: then it is the one that others have
    there."""
    partial = node.band_get_partial_schedule()
    found = {}
    for part in sets_of(node.get_domain()):
        sides = [_iterators(partial.get_at(k), part) for k in range(2)]
        pairs = [(one, other) for one in sides[0] for other in sides[1] if one[0] != other[0]]
        if not pairs:
            return None
        found[str(part.get_tuple_name())] = pairs
    common = Counter((one[:2], other[:2]) for pairs in found.values() for one, other in pairs)
    return {name: max(pairs, key=lambda pair: common[pair[0][:2], pair[1][:2]]) for name, pairs in found.items()}


def _iterators(member: isl.UnionPwAff, domain: isl.Set) -> list[Side]:
    """The iterators that a member is on a statement's instances, up to signs and constants."""
    pieces = member.intersect_domain(isl.UnionSet.from_set(domain)).get_pw_aff_list()
    if pieces.n_pw_aff() != 1:
        return []
    own, found = pieces.get_at(0).intersect_domain(domain), list[Side]()
    for k, sign in product(range(domain.dim(isl.dim_type.set)), (1, -1)):
        other = isl.PwAff.var_on_domain(isl.LocalSpace.from_space(domain.get_space()), isl.dim_type.set, k)
        value = _constant(own.sub(other.scale_val(isl.Val(sign))))
        if value is not None:
            found.append((k, sign, value))
    return found


def _private(setting: Setting, node: isl.ScheduleNode) -> tuple[str, ...]:
    """Scalars each of whose values stays in an iteration of both members."""
    partial = node.band_get_partial_schedule()
    sides = [set(private_arrays(node, partial.get_at(k), setting.dependences) or ()) for k in range(2)]
    return tuple(sorted(name for name in sides[0] & sides[1] if not setting.scop.arrays[name].rank))


def _apart(access: Access, place: Place) -> bool:
    """Whether a reference moves by more than an element from lane to lane."""
    rows = subscript_rows(access.relation)
    if rows is None:
        return True
    (first, forward, _), (second, other, _) = place
    moves = [forward * row[first] - other * row[second] for row in rows]
    return any(moves[:-1]) or (bool(moves) and abs(moves[-1]) > 1)


def _skewed(
    scop: Scop, array: Array, uses: Sequence[tuple[Statement, Access]], places: dict[str, Place]
) -> SkewedArray | None:
    """How an array can be kept in panels; None if it can't."""
    kind = array.type
    if array.private or kind.volatile or kind.atomic or not (kind.floating or kind.integer):
        return None
    if kind.integer and kind.bits == CHARACTER:
        return None  # compilers make no vectors where a store may change anything
    if not all(
        access.relation.is_single_valued() and is_cell(access.node, array.spelling, array.rank) for _, access in uses
    ):
        return None
    sizes = extents(scop, [access.relation for _, access in uses])
    found = [_subscripts(access, places[statement.name]) for statement, access in uses]
    pairs = set.intersection(*(set(one) for one in found))
    if sizes is None or not pairs or not _exists(scop, array, uses):
        return None
    pair = max(pairs)
    rows, sums = [one[pair][0] for one in found], [sum(one[pair]) for one in found]
    written = any(access.is_write for _, access in uses)
    return SkewedArray(array.name, pair, (min(rows), max(rows)), (min(sums), max(sums)), sizes, written)


def _subscripts(access: Access, place: Place) -> dict[tuple[tuple[int, int], tuple[int, int]], tuple[int, int]]:
    """Which subscripts may be the two members, with which signs, and what each is more than its member: those that
    differ by constants, all others being constants."""
    function = access.relation.as_pw_multi_aff()
    local = isl.LocalSpace.from_space(access.relation.get_space().domain())
    subscripts = [function.get_pw_aff(k) for k in range(function.dim(isl.dim_type.out))]
    sides: list[dict[tuple[int, int], int]] = []
    for iterator, sign, shift in place:
        # as far as the subscript is the iterator, it has the member's sign
        own = isl.PwAff.var_on_domain(local, isl.dim_type.set, iterator).add_constant_val(isl.Val(sign * shift))
        values = {(k, sign): _constant(one.sub(own)) for k, one in enumerate(subscripts)}
        sides.append({key: sign * value for key, value in values.items() if value is not None})
    fixed = {k for k, one in enumerate(subscripts) if _constant(one) is not None}
    return {
        (first, second): (more, other)
        for first, more in sides[0].items()
        for second, other in sides[1].items()
        if first[0] != second[0] and fixed | {first[0], second[0]} >= set(range(len(subscripts)))
    }


def _constant(function: isl.PwAff) -> int | None:
    """The one value of a function, if it has only one."""
    value = isl.Map.from_pw_aff(function).range().plain_get_val_if_fixed(isl.dim_type.set, 0)
    return int(value.get_num_si()) if value.is_int() else None


def _exists(scop: Scop, array: Array, uses: Sequence[tuple[Statement, Access]]) -> bool:
    """Whether the region surely refers to each cell that is copied: one that a condition hides may be nowhere."""
    surely = [
        access.relation
        for statement in scop.statements
        for access in statement.accesses
        if access.array == array.name
        and (access.kind == "write" or (access.kind == "read" and always_evaluated(statement.body, access.node)))
    ]
    cells = union_of_maps(surely).range()
    return all(isl.UnionMap.from_map(access.relation).range().is_subset(cells) for _, access in uses)
