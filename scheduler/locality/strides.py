"""How an inner loop walks through memory: the stride of every access along one band member,
all other schedule dimensions fixed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import islpy as isl
from msgspec import Struct, field

from scopt import ir
from scopt.ir.scop import Access, Scop, Statement
from scopt.ir.walks import used_names
from scopt.machine.costs import MOST_STEP
from scopt.poly.data_moves import data_moves
from scopt.poly.isl_utils import SET, sets_of
from scopt.poly.linear import Vector, affine_row, coefficients, solve, subscript_moves, whole
from scopt.poly.lookups import GATHERED
from scopt.poly.restructure import leaf_parts
from scopt.poly.same_object import of_same
from scopt.scheduler.locality.row_steps import in_rows, is_record, is_step, is_table, joined_rows

# How many times as many accesses jump as don't where vectors don't pay (chosen; a load and an insertion for each).
_FAR = 4


class Strides(Struct, frozen=True):
    """Counts of a loop's accesses by what one iteration does to the last subscript; writes counted apart.

    unit: moves by ±1, or by a few elements, where others leave out none. invariant: stays. other: jumps (another row, a
    larger step, or unknown); stepping: of those, how many move by a few elements within a row; tables: how many read
    somewhere in an array that the first cache keeps anyway; records: how many move on by a few lines of their row.
    narrow: how many others read somewhere in an array of narrow cells, nobody knows how large.
    """

    unit_reads: int = 0
    unit_writes: int = 0
    invariant_reads: int = 0
    invariant_writes: int = 0
    other_reads: int = 0
    other_writes: int = 0
    stepping: int = 0
    unknown: int = 0
    tables: int = 0
    records: int = 0
    narrow: int = 0

    @property
    def contiguous(self) -> bool:
        """Whether the loop is worth vectorizing: something moves by one, no write jumps, and jumping reads are few."""
        moving = self.unit_reads + self.unit_writes
        return moving > 0 and self.other_writes == 0 and 2 * self.other_reads <= moving

    @property
    def jumping(self) -> bool:
        """Whether every access that moves jumps, so that a vector would be put together element by element."""
        return self.unit_reads + self.unit_writes == 0 and self.other_writes > 0

    @property
    def along_lines(self) -> bool:
        """Whether all that moves does so within rows, by a few elements at most."""
        return not self.leaves_lines and self.unit_reads + self.unit_writes + self.stepping > 0

    @property
    def looks_up(self) -> bool:
        """Whether all that moves but what is looked up in narrow cells does so within rows, by a few elements."""
        others = self.other_reads + self.other_writes - self.tables - self.narrow
        return others <= self.stepping and self.unit_reads + self.unit_writes + self.stepping > 0

    @property
    def by_records(self) -> bool:
        """Whether all that moves does so within rows, by a few lines at most: from one small matrix to the next."""
        others = self.other_reads + self.other_writes - self.tables
        return others <= self.records and self.unit_reads + self.unit_writes + self.records > 0

    @property
    def gathers(self) -> bool:
        """Whether nearly every access that moves goes from record to record, so that vectors would be put together
        element by element."""
        return self.records - self.stepping >= _FAR * (self.unit_reads + self.unit_writes + self.stepping + 1)

    @property
    def leaves_lines(self) -> bool:
        """Whether some access jumps to another line each time, or nearly."""
        return self.other_reads + self.other_writes - self.tables > self.stepping

    @property
    def crosses_rows(self) -> bool:
        """Whether some access is known to jump to another line each time, or nearly: tiles keep the lines between."""
        return self.other_reads + self.other_writes - self.unknown > self.stepping

    def score(self) -> float:
        """Larger is better for an innermost loop; a jump costs more than a unit stride gains."""
        gain = self.unit_reads + 2 * self.unit_writes + 0.5 * (self.invariant_reads + self.invariant_writes)
        return gain - 2 * self.other_reads - 4 * self.other_writes

    def score_in_order(self) -> float:
        """The same where instances run one by one: what stays where it is serves as well as what lies side by side."""
        return self.score() + 0.5 * self.invariant_reads + 1.5 * self.invariant_writes


class LinearSchedule(Struct, frozen=True, eq=False):
    """Rows of a schedule by statement, for what strides need.

    prefix: linear rows outside the band (tile coordinates, which the point loops inside fix anyway, are left out), and
      what straight code inside of it holds still: ``q - 2 * j`` of a window.
      members: rows of the band's members. A statement with a member that isn't linear is absent. parts: the instances
      of statements that straight code runs, in its order. shifted: statements that a member shifts in each of these by
      a constant of its own.
    """

    prefix: Mapping[str, tuple[Vector, ...]]
    members: Mapping[str, tuple[Vector, ...]]
    parts: Mapping[str, tuple[isl.Set, ...]] = field(default_factory=dict)
    shifted: frozenset[str] = frozenset()


def linear_schedule(scop: Scop, node: isl.ScheduleNode) -> LinearSchedule:
    """The rows of a band node and of everything above it. Kept: whoever looks at a node asks for them."""
    return _linear(node, scop)


@of_same(64)
def _linear(node: isl.ScheduleNode, scop: Scop) -> LinearSchedule:
    depth, partial = node.get_schedule_depth(), node.band_get_partial_schedule()
    outside = _by_statement(node.get_prefix_schedule_multi_union_pw_aff()) if depth else []
    inside = _by_statement(partial)
    prefix: dict[str, tuple[Vector, ...]] = {}
    members: dict[str, tuple[Vector, ...]] = {}
    parts, shifted = _straight_parts(node), set[str]()
    for statement in _statements(scop, node):
        above = _rows(outside, statement)
        own = [row for row in _rows(inside, statement) if row is not None]
        if len(own) < len(inside) and statement.name in parts:
            own = [row for row in _rows(inside, statement, alike=True) if row is not None]
            shifted.add(statement.name)
        if len(own) == len(inside):
            prefix[statement.name], members[statement.name] = tuple(row for row in above if row is not None), tuple(own)
    for name in parts.keys() & prefix.keys():
        prefix[name] += _still(parts[name])
    return LinearSchedule(prefix, members, parts, frozenset(shifted))


def _straight_parts(node: isl.ScheduleNode) -> dict[str, tuple[isl.Set, ...]]:
    """The instances of statements that stand in several places below a node, by these."""
    if node.child(0).get_type() != isl.schedule_node_type.sequence:
        return {}
    found: dict[str, list[isl.Set]] = {}
    for part in leaf_parts(node.child(0)) or ():
        for one in sets_of(part):
            found.setdefault(str(one.get_tuple_name()), []).append(one)
    return {name: tuple(some) for name, some in found.items() if len(some) > 1}


def _still(parts: Sequence[isl.Set]) -> tuple[Vector, ...]:
    """What has one value in each of the parts, whatever it is: rows over the iterators, of more than one."""
    rows: set[Vector] | None = None
    for part in parts:
        own = set()
        for constraint in part.affine_hull().remove_divs().get_constraints():
            values = [constraint.get_coefficient_val(isl.dim_type.set, k) for k in range(int(part.dim(SET)))]
            row = tuple(whole(int(value.to_python())) for value in values)
            if constraint.is_equality() and sum(map(bool, row)) > 1:
                own.add(row if next(filter(None, row)) > 0 else tuple(-value for value in row))
        rows = own if rows is None else rows & own
        if not rows:
            return ()
    return tuple(sorted(rows or ()))


def shape_rows(scop: Scop, functions: isl.MultiUnionPwAff, name: str) -> tuple[Vector, ...]:
    """The functions of one statement that are linear, as rows."""
    return tuple(row for row in _rows(_by_statement(functions), scop.statement(name)) if row is not None)


def _statements(scop: Scop, node: isl.ScheduleNode) -> list[Statement]:
    names: set[str] = set()
    node.get_domain().foreach_set(lambda part: names.add(part.get_tuple_name()))
    return [statement for statement in scop.statements if statement.name in names]


def _by_statement(functions: isl.MultiUnionPwAff) -> list[dict[str, isl.PwAff]]:
    """Each function by statement."""
    found: list[dict[str, isl.PwAff]] = []
    for position in range(functions.dim(isl.dim_type.out)):
        pieces = functions.get_at(position).get_pw_aff_list()
        each = (pieces.get_at(k) for k in range(pieces.n_pw_aff()))
        found.append({str(piece.get_tuple_id(isl.dim_type.in_).get_name()): piece for piece in each})
    return found


def _rows(
    functions: Sequence[Mapping[str, isl.PwAff]], statement: Statement, *, alike: bool = False
) -> tuple[Vector | None, ...]:
    """A row for each function, given by statement; None where it isn't linear. alike: where its pieces differ by
    constants, it is what they have in common."""
    own = (one.get(statement.name) for one in functions)
    return tuple(_row(piece, alike=alike) if piece is not None else None for piece in own)


def _row(function: isl.PwAff, *, alike: bool) -> Vector | None:
    if not alike:
        return coefficients(function)
    rows = {coefficients(aff.to_pw_aff()) for _, aff in function.get_pieces()}
    return rows.pop() if len(rows) == 1 else None


def strides(scop: Scop, schedule: LinearSchedule, member: int) -> Strides:
    """The strides of all statements' accesses along one member of the band."""
    return _strides(schedule, scop, member)


@of_same(256)
def _strides(schedule: LinearSchedule, scop: Scop, member: int) -> Strides:
    counts = {
        "unit_reads": 0,
        "unit_writes": 0,
        "invariant_reads": 0,
        "invariant_writes": 0,
        "other_reads": 0,
        "other_writes": 0,
        "stepping": 0,
        "unknown": 0,
        "tables": 0,
        "records": 0,
        "narrow": 0,
    }
    moving = list(_moving(scop, schedule, member))
    filled = _filled(scop, moving)
    for move in moving:
        kind = _kind(move.moves)
        if kind == "other" and move.access in filled:
            kind = "unit"
        array = scop.arrays[move.access.array]
        counts["unknown"] += move.moves is None
        counts["stepping"] += kind == "other" and is_step(array, move.moves)
        somewhere = move.moves is None and not move.access.is_write
        counts["tables"] += somewhere and is_table(array)
        counts["narrow"] += somewhere and not is_table(array) and 0 < array.type.bits < GATHERED
        counts["records"] += kind == "other" and is_record(array, move.moves)
        counts[f"{kind}_{'writes' if move.access.is_write else 'reads'}"] += 1
    return Strides(**counts)


class _Move(Struct, frozen=True, eq=False):
    """An access that moves along a member. moves: by how much its subscripts grow, the last ones as elements of a row
    (`in_rows`); None where that isn't known.
    direction: by how much the iterators step. unrolled: those that no schedule row has: straight code runs through
    them."""

    access: Access
    moves: Vector | None
    direction: Vector
    unrolled: tuple[int, ...]


def _moving(scop: Scop, schedule: LinearSchedule, member: int) -> Iterator[_Move]:
    """The accesses of statements that move along a member."""
    for name, rows in schedule.members.items():
        outside = schedule.prefix[name]
        wanted = [0] * len(outside) + [int(k == member) for k in range(len(rows))]
        direction = solve([*outside, *rows], wanted)
        if direction is None or not any(direction):
            continue  # the statement runs once for each iteration of the other loops: it doesn't move here
        unrolled = tuple(k for k in range(len(direction)) if not any(row[k] for row in (*outside, *rows)))
        for access in scop.statement(name).accesses:
            own = _moves(scop, scop.statement(name), access, direction, schedule.parts.get(name, ()))
            own = in_rows(scop.arrays[access.array], own) if own is not None else None
            yield _Move(access, own, direction, unrolled)


def _moves(
    scop: Scop, statement: Statement, access: Access, direction: Vector, parts: Sequence[isl.Set]
) -> Vector | None:
    """By how much an access's subscripts grow along a direction, as far as that is the same everywhere: in all of the
    statement, in each part of straight code, since nothing in them moves, or wherever data say that they begin; else
    None."""
    moves = subscript_moves(access.relation, direction)
    if moves is not None:
        return moves
    every = {subscript_moves(access.relation.intersect_domain(part), direction) for part in parts}
    if len(every) == 1 and None not in every:
        return every.pop()
    if not isinstance(access.node, ir.ArrayRef):
        return None
    still = {name for name, step in zip(statement.iterators, direction, strict=True) if not step}
    still |= {parameter.spelling for parameter in scop.parameters}
    array, node = scop.arrays[access.array].spelling, access.node
    if set(used_names(node)) - {array} <= still:
        return (whole(0),) * int(access.relation.dim(isl.dim_type.out))
    return data_moves(scop, statement, access, direction)


def whole_lines(scop: Scop, schedule: LinearSchedule, member: int) -> frozenset[Access]:
    """The accesses that step by several elements along one member of the band, and with others have each element once:
    of windows that overlap, compilers shuffle each one's anew."""
    return frozenset(_filled(scop, _moving(scop, schedule, member), once=True))


def _filled(scop: Scop, moving: Iterable[_Move], *, once: bool = False) -> set[Access]:
    """Those that step within a row, and together leave out no element of it: compilers take them for whole lines, and
    shuffle. once: and have no element twice."""
    found: dict[tuple[object, ...], list[int]] = {}
    groups: dict[Access, tuple[object, ...]] = {}
    for move in moving:
        array = scop.arrays[move.access.array]
        if not move.moves or not is_step(array, move.moves):
            continue
        subscripts = _subscripts(move.access.relation)
        if subscripts is None:
            continue
        names, rows, still = subscripts
        nothing = (0,) * len(rows[-1] or ())
        *before, last = joined_rows(array, [row if row is not None else nothing for row in rows])
        step, offsets = abs(move.moves[-1]), _offsets(move, last)
        if offsets is None or step.denominator != 1:
            continue
        same = tuple(0 if k in move.unrolled else value for k, value in enumerate(last[:-1]))
        where = names, tuple(before), same, tuple(sorted(still.items()))
        groups[move.access] = (move.access.array, move.access.is_write, step, *where)
        found.setdefault(groups[move.access], []).extend(offset % int(step) for offset in offsets)
    full = {
        group for group, some in found.items() if len(set(some)) == group[2] and not (once and len(some) != group[2])
    }
    return {access for access, group in groups.items() if group in full}


@of_same(2048)
def _subscripts(
    relation: isl.Map,
) -> tuple[tuple[str, ...], tuple[tuple[int, ...] | None, ...], dict[int, str]] | None:
    """What an access to one cell says of it, whatever moves: the parameters, the subscripts as rows over these, and
    those that are none: a quotient or remainder of what stays along a member is the same row for all accesses that have
    it. None where that isn't known of all, or where the last one is none."""
    if not relation.is_single_valued():
        return None
    function = relation.as_pw_multi_aff()
    names = [str(function.get_dim_name(isl.dim_type.param, k)) for k in range(function.dim(isl.dim_type.param))]
    rows = [affine_row(function.get_pw_aff(k), names) for k in range(function.dim(isl.dim_type.out))]
    still = {k: _divided(function.get_pw_aff(k)) for k, row in enumerate(rows) if row is None}
    known = {k: text for k, text in still.items() if text is not None}
    return None if len(rows) - 1 in still or len(known) < len(still) else (tuple(names), tuple(rows), known)


def _divided(function: isl.PwAff) -> str | None:
    """A subscript with divisions as text, the same one for all statements that have it; None if its pieces differ."""
    pieces = {str(aff.set_tuple_id(isl.dim_type.in_, isl.Id("S"))) for _, aff in function.get_pieces()}
    return pieces.pop() if len(pieces) == 1 else None


def _offsets(move: _Move, last: Sequence[int]) -> list[int] | None:
    """What straight code adds to the last subscript, with its constant; None if that isn't known."""
    offsets, domain = [last[-1]], move.access.relation.domain()
    for k in move.unrolled:
        least, most = domain.dim_min_val(k), domain.dim_max_val(k)
        if not (least.is_int() and most.is_int()):
            return None
        first, behind = int(least.to_python()), int(most.to_python()) + 1  # which may be as far apart as types allow
        values = range(first, min(behind, first + MOST_STEP))
        offsets = [offset + last[k] * value for offset in offsets for value in values] if last[k] else offsets
    return offsets


def interleaved(scop: Scop, schedule: LinearSchedule, member: int, name: str, line: int) -> frozenset[str]:
    """The arrays of which a statement leaves out cells along one member of the band,
    but no cache line. line: its bytes."""
    rows = schedule.members.get(name)
    if rows is None:
        return frozenset()
    outside = schedule.prefix[name]
    direction = solve([*outside, *rows], [0] * len(outside) + [int(k == member) for k in range(len(rows))])
    found = set()
    for access in scop.statement(name).accesses if direction is not None else ():
        size = scop.arrays[access.array].type.bytes
        moves = subscript_moves(access.relation, direction) if direction is not None else None
        moves = in_rows(scop.arrays[access.array], moves) if moves else None
        if moves and not any(moves[:-1]) and 1 < abs(moves[-1]) <= line // max(1, size):
            found.add(access.array)
    return frozenset(found)


def _kind(moves: Vector | None) -> str:
    if moves is None:
        return "other"
    if not any(moves):
        return "invariant"
    if not any(moves[:-1]) and abs(moves[-1]) == 1:
        return "unit"
    return "other"
