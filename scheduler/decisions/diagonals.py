"""Where the arrays of a dynamic program are, whose tiles run along diagonals with vectors across rows.

All that iterations (i, j) wait for is on diagonals before theirs, i + j, so that those of one diagonal are the lanes of
vectors. Where rows of a table follow each other in memory, a diagonal's cells lie apart. A tile of the table keeps them
in a panel that has a diagonal in each row: there they are neighbours, as are those of the diagonals before.
Sources: Wozniak, "Using video-oriented instructions to speed up sequence comparison" (1997), for vectors along
  diagonals; Wolfe, "Loop skewing: the wavefront method revisited" (1986).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import islpy as isl
from msgspec import Struct

from scopt import ir
from scopt.ir.ctypes import CHARACTER
from scopt.ir.marked_schedule import PackedTile, Panel, PanelDimension
from scopt.ir.nest import Const, Expr
from scopt.ir.references import is_cell
from scopt.ir.scop import Access, Array, Scop, Statement
from scopt.poly.array_extents import extents
from scopt.poly.bands import active, distances, nonnegative, private_arrays, zero
from scopt.poly.body_rewriting import always_evaluated
from scopt.poly.isl_utils import sets_of, union_of_maps, union_of_sets
from scopt.poly.linear import Vector, coefficients, dot, solve, subscript_rows
from scopt.scheduler.decisions.setting import Setting
from scopt.scheduler.decisions.small_loops import reach
from scopt.scheduler.locality.tiling import origin

# Iterations of a border.
_FEW = 2
# A subscript's position and its sign.
Term = tuple[int, int]


class Diagonals(Struct, frozen=True, eq=False):
    """rows, dates: of all instances of some statements. Those of one date are on different rows, and have nothing to do
    with each other.

    panels: arrays whose cells on a diagonal lie apart, and that are kept in panels. apart: how many references there
    are to others of that kind. private: scalars that each lane has of its own. chosen: conditions say what is written,
    which becomes a choice. back: how many references go backwards from lane to lane, elements as wide as any.
    """

    rows: isl.UnionPwAff
    dates: isl.UnionPwAff
    statements: tuple[str, ...]
    panels: tuple[SkewedArray, ...]
    apart: int
    private: tuple[str, ...]
    chosen: bool
    back: int


class SkewedArray(Struct, frozen=True, eq=False):
    """subscripts: one that is the row, and two whose sum is the date, up to constants, with their signs. rows, dates:
    least and largest difference to these. extents: of the array, as far as the references reach. written: it is."""

    array: str
    subscripts: tuple[Term, Term]
    rows: tuple[int, int]
    dates: tuple[int, int]
    extents: tuple[Expr, ...]
    written: bool


def diagonals(setting: Setting, node: isl.ScheduleNode) -> Diagonals | str:
    """What is where, if the two members of a permutable band may run along diagonals; else why not."""
    scop, domain = setting.scop, node.get_domain()
    names = tuple(sorted(str(part.get_tuple_name()) for part in sets_of(domain)))
    whole = union_of_sets(scop.statement(name).domain for name in names).intersect_params(scop.context)
    if not domain.intersect_params(scop.context).is_equal(whole):
        return "other loops have some of its iterations"
    if setting.deps.reductions and not _in_order(setting.strict, node):
        return "a sum in any order is part of it"
    private = _private(setting, node)
    arrays = sorted({access.array for name in names for access in scop.statement(name).accesses} - set(private))
    answers = [_Finder.of(setting, names, rows, dates).found(arrays, private) for rows, dates in _ways(setting, node)]
    found = [one for one in answers if isinstance(one, Diagonals)]
    if found:
        return min(found, key=lambda one: (one.apart, len(one.panels), one.back))
    return next(one for one in answers if isinstance(one, str))


def packed(found: Diagonals, rows: int, steps: int) -> PackedTile:
    """The panels of tiles of so many rows by so many dates."""
    origins = origin(found.dates, steps), origin(found.rows, rows)
    return PackedTile(found.statements, origins, tuple(_panel(one, rows, steps) for one in found.panels))


def _ways(setting: Setting, node: isl.ScheduleNode) -> Iterator[tuple[isl.UnionPwAff, isl.UnionPwAff]]:
    """Rows and dates: the one member and the other one, where that carries everything; else the sum of both, which
    always does."""
    partial, pairs = node.band_get_partial_schedule(), active(setting.strict.dependences.must, node)
    members = [partial.get_at(k) for k in range(2)]
    for rows, dates in (members[::-1], members):
        waiting = pairs.eq_at_multi_union_pw_aff(isl.MultiUnionPwAff.from_union_pw_aff(dates))
        if zero(distances(waiting, rows)):
            yield rows, dates
    yield from ((rows, members[0].add(members[1])) for rows in members)


def _panel(one: SkewedArray, rows: int, steps: int) -> Panel:
    """Other subscripts first, then the diagonal, then the row."""
    moving = {position for position, _ in one.subscripts}
    others = [PanelDimension(((k, 1),), None, 0, size) for k, size in enumerate(one.extents) if k not in moving]
    diagonal = PanelDimension(one.subscripts, 0, one.dates[0], Const(steps + one.dates[1] - one.dates[0]))
    row = PanelDimension(one.subscripts[:1], 1, one.rows[0], Const(rows + one.rows[1] - one.rows[0]))
    return Panel(one.array, (*others, diagonal, row))


def _in_order(setting: Setting, node: isl.ScheduleNode) -> bool:
    """Whether both members keep reductions in their order, too."""
    partial, pairs = node.band_get_partial_schedule(), active(setting.dependences.must, node)
    return all(nonnegative(distances(pairs, partial.get_at(k))) for k in range(2))


def _private(setting: Setting, node: isl.ScheduleNode) -> tuple[str, ...]:
    """Scalars each of whose values stays in an iteration of both members."""
    partial = node.band_get_partial_schedule()
    sides = [set(private_arrays(node, partial.get_at(k), setting.dependences) or ()) for k in range(2)]
    return tuple(sorted(name for name in sides[0] & sides[1] if not setting.scop.arrays[name].rank))


class _Finder(Struct, frozen=True, eq=False):
    """Where arrays are, for rows and dates. own: by statement, its row and date, and the iterators' change from lane to
    lane, None if it has one lane only."""

    setting: Setting
    rows: isl.UnionPwAff
    dates: isl.UnionPwAff
    own: dict[str, tuple[isl.PwAff, isl.PwAff, Vector | None]]

    @staticmethod
    def of(setting: Setting, names: Sequence[str], rows: isl.UnionPwAff, dates: isl.UnionPwAff) -> _Finder:
        own = {}
        for name in names:
            row, date = (_of(one, setting.scop.statement(name).domain) for one in (rows, dates))
            if row is not None and date is not None:
                vectors = coefficients(row), coefficients(date)
                along = None if None in vectors else solve([one for one in vectors if one is not None], (1, 0))
                own[name] = row, date, along
        return _Finder(setting, rows, dates, own)

    def found(self, arrays: Sequence[str], private: tuple[str, ...]) -> Diagonals | str:
        scop, names = self.setting.scop, tuple(self.own)
        if not any(along is not None for _, _, along in self.own.values()):
            return "its rows aren't linear"
        panels, apart = list[SkewedArray](), 0
        for name in arrays:
            uses = [(scop.statement(s), a) for s in names for a in scop.statement(s).accesses if a.array == name]
            lying = sum(self.is_apart(statement, access) for statement, access in uses)
            skewed = self.skewed(scop.arrays[name], uses) if lying else None
            if skewed is not None:
                panels.append(skewed)
            elif lying and any(access.is_write and not _is_border(statement) for statement, access in uses):
                return f"'{name}' can't be kept in panels with a diagonal in each row"
            else:
                apart += lying
        bodies = [scop.statement(name).body for name in names]
        chosen = any(isinstance(one, ir.If) and one.iffalse is not None for one in bodies)
        return Diagonals(self.rows, self.dates, names, tuple(panels), apart, private, chosen, self.back(panels))

    def back(self, panels: Sequence[SkewedArray]) -> int:
        """gcc turns only what isn't widened, so that one loop with both has no vectors."""
        scop, packed_ones = self.setting.scop, {one.array for one in panels}
        moves: list[tuple[int, int]] = []
        for name, (_, _, along) in self.own.items():
            for access in scop.statement(name).accesses:
                rows = subscript_rows(access.relation) if access.array not in packed_ones else None
                if rows and along is not None:
                    moves.append((int(dot(rows[-1], along)), scop.arrays[access.array].type.bits or 0))
        widest = max((bits for _, bits in moves), default=0)
        return sum(step < 0 and bits == widest for step, bits in moves)

    def is_apart(self, statement: Statement, access: Access) -> bool:
        """Whether a reference moves by more than an element from lane to lane: a member of records by a record."""
        records = bool(self.setting.scop.arrays[access.array].within)
        rows, along = subscript_rows(access.relation), self.own[statement.name][2]
        if rows is None or along is None:
            return rows is None
        moves = [dot(row, along) for row in rows]
        return any(moves[:-1]) or (bool(moves) and abs(moves[-1]) > (0 if records else 1))

    def skewed(self, array: Array, uses: Sequence[tuple[Statement, Access]]) -> SkewedArray | None:
        """How an array can be kept in panels; None if it can't."""
        kind = array.type
        if array.private or kind.volatile or kind.atomic or not (kind.floating or kind.integer):
            return None
        if kind.integer and kind.bits == CHARACTER:
            return None  # compilers make no vectors where a store may change anything
        if not all(a.relation.is_single_valued() and is_cell(a.node, array.spelling, array.rank) for _, a in uses):
            return None
        sizes = extents(self.setting.scop, [access.relation for _, access in uses])
        found = [self.subscripts(statement, access) for statement, access in uses]
        pairs = set.intersection(*(set(one) for one in found))
        if sizes is None or not pairs or not _exists(self.setting.scop, array, uses):
            return None
        pair = max(pairs)
        rows, dates = zip(*(one[pair] for one in found), strict=True)
        written = any(access.is_write for _, access in uses)
        return SkewedArray(array.name, pair, (min(rows), max(rows)), (min(dates), max(dates)), sizes, written)

    def subscripts(self, statement: Statement, access: Access) -> dict[tuple[Term, Term], tuple[int, int]]:
        """Which subscripts may be the row, and together the date, with which signs, and the differences; all others are
        constants."""
        row, date, _ = self.own[statement.name]
        function = access.relation.as_pw_multi_aff()
        subscripts = [function.get_pw_aff(k) for k in range(function.dim(isl.dim_type.out))]
        fixed = {k for k, one in enumerate(subscripts) if _constant(one) is not None}
        found = {}
        for k, sign, m, other in product(range(len(subscripts)), (1, -1), range(len(subscripts)), (1, -1)):
            if k == m or not fixed | {k, m} >= set(range(len(subscripts))):
                continue
            first, second = (subscripts[n].scale_val(isl.Val(by)) for n, by in ((k, sign), (m, other)))
            more = _constant(first.sub(row))
            later = _constant(first.add(second).sub(date)) if more is not None else None
            if more is not None and later is not None:
                found[(k, sign), (m, other)] = more, later
        return found


def _is_border(statement: Statement) -> bool:
    """Whether a statement has one or two iterations of some loop: what becomes of these hardly counts."""
    return any((reach(statement.domain, 0, k) or _FEW + 1) <= _FEW for k in range(len(statement.iterators)))


def _of(function: isl.UnionPwAff, domain: isl.Set) -> isl.PwAff | None:
    """What a function is on a statement's instances."""
    pieces = function.intersect_domain(isl.UnionSet.from_set(domain)).get_pw_aff_list()
    return pieces.get_at(0) if pieces.n_pw_aff() == 1 else None


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
