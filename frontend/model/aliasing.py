"""What a region takes for granted about overlap: the pragma's convention in marked regions;
proof, or a test at run time, otherwise."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Protocol

import islpy as isl
from msgspec import Struct, field
from msgspec.structs import replace

from scopt.diagnostics import Refusal, Remark
from scopt.frontend.model.pointer_origins import Origins
from scopt.frontend.model.row_pointers import is_rows
from scopt.frontend.model.row_stretches import RowStretch, row_stretch
from scopt.frontend.model.stretches import array_stretch, scalar_stretch, whole_stretch
from scopt.frontend.model.value_ranges import MAX_TABLE
from scopt.frontend.syntax.pointees import Pointees
from scopt.frontend.syntax.pointer_slots import Slot
from scopt.frontend.syntax.symbols import Symbol
from scopt.frontend.syntax.unit import Region
from scopt.ir.ctypes import CHARACTER
from scopt.ir.scop import Array, CType, MemoryTest, Statement, Stretch
from scopt.poly.isl_utils import universe_params

# Tests of more pairs than this, one by one, would take longer to read, and to run, than one of all together.
MAX_PAIRS = 32
# Rows that pointers to pointers lead to (``double ***``) are too many to look up each time.
TESTED_RANK = 2
# Where there is none of all together (values of index arrays say what is touched), some more.
MAX_COMPUTED = 64


class Aliasing(Struct, frozen=True, eq=False):
    """remarks: what is taken for granted, or tested. apart: what has to be tested; tests: what functions test.
    holds: parameter set, where these may be asked."""

    remarks: tuple[Remark, ...] = ()
    apart: tuple[tuple[Stretch, Stretch], ...] = ()
    tests: tuple[MemoryTest, ...] = ()
    holds: isl.Set = field(default_factory=universe_params)


class Reach(Protocol):
    """Asked for a test of pairs of names where what is touched has no simple bounds."""

    def __call__(
        self, pairs: Sequence[tuple[str, str]], known: Mapping[str, Stretch | None]
    ) -> tuple[MemoryTest | None, str]:
        """The test that none of the pairs overlap; where there is none, a name that nothing is known of.
        known: what the names touch, None where that is asked for."""

    def rows(
        self,
        rows: Sequence[RowStretch],
        others: Sequence[Stretch],
        written: Collection[str],
        unknown: Sequence[str] = (),
        *,
        pointers: bool = False,
    ) -> MemoryTest | None:
        """The test that no rows that are written overlap with others, or with stretches; None if that takes too much.
        written: names. unknown: names whose stretches are asked for, too. pointers: nor with the pointers to rows."""


class Names(Struct, frozen=True, eq=False):
    """What a region accesses, by name.

    parameters: names of the region's symbolic constants. written: names that it writes. defined: functions with a body
      in this file.
    statements: with their accesses. context: parameter set of what is known. loaded: members that are read once, before
      the region.
    strict: objects of types that C keeps apart don't overlap. ranges: asked where subscripts aren't affine: by a name
      in the program, the least and the greatest of its first subscripts. reach: asked where that isn't enough.
    pointees: asked for what the file shows that pointers lead to. members: those that names of pointers stand for.
    whole: asked for the type of the array that a pointer, by its name in the program, leads to the beginning of.
    """

    symbols: Mapping[str, Symbol]
    arrays: Mapping[str, Array]
    written: frozenset[str]
    parameters: frozenset[str]
    defined: frozenset[str]
    statements: Sequence[Statement]
    context: isl.Set
    loaded: tuple[Symbol, ...] = ()
    strict: bool = True
    ranges: Callable[[], Mapping[str, tuple[int, int]]] = dict
    reach: Reach | None = None
    pointees: Callable[[], Pointees] | None = None
    members: Mapping[str, Slot] = field(default_factory=dict)
    whole: Callable[[str], str | None] = lambda _: None


def check_aliasing(region: Region, names: Names, *, assume_apart: bool = False) -> Aliasing:
    """A marked region's convention, or tests for an unmarked one's. A Refusal where something that may overlap can't be
    tested.

    Two names can't overlap if neither is written, if both are objects of their own, or if one is a restrict pointer;
    nor if they are different members of structures of one type, or of types that C gives objects of their own.
    assume_apart: the user says that nothing overlaps.
    """
    names = replace(names, symbols={**names.symbols, **{cell.name: cell for cell in names.loaded}})
    origins = _origins(region, names)
    listed = [
        *names.arrays,
        *(name for name in sorted(names.parameters) if name in names.symbols and name not in names.arrays),
    ]
    listed += [cell.name for cell in names.loaded]
    doubtful = [
        (a, b)
        for a, b in combinations(listed, 2)
        if (a in names.written or b in names.written)
        and not region.promised.issuperset(_root(names.symbols[one]) for one in (a, b))
        and origins.may_overlap(names.symbols[a], names.symbols[b])
    ]
    hidden = [
        (pointer, object_)
        for pointer in names.arrays
        for object_ in names.arrays
        if origins.may_move(names.symbols[pointer], names.symbols[object_])
    ]
    rows = [name for name in names.arrays if is_rows(names.symbols[name])]
    if not doubtful and not hidden and not (names.written and rows):
        return Aliasing()
    if region.marked or assume_apart:
        pairs = doubtful or hidden
        involved = sorted(
            {
                *names.written.intersection(rows),
                *(name for pair in pairs for name in pair if names.symbols[name].pointer),
            }
        )
        why = "as in every marked region" if region.marked else "as --assume=noalias says"
        return Aliasing(
            (
                Remark(
                    "analysis",
                    "alias.assumed-none",
                    f"taken not to overlap, {why}: {_quoted(involved)}",
                    region.location,
                ),
            )
        )
    moved = {_root(names.symbols[pointer]) for written, pointer in hidden if written in rows}
    tested = _tested_rows(region, names, rows, listed, origins, moved)
    apart = [pair for pair in doubtful if not any(is_rows(names.symbols[name]) for name in pair)]
    hidden = [(written, pointer) for written, pointer in hidden if written not in rows]
    if not apart and not hidden:
        return tested
    found = _tested(region, names, apart, hidden)
    return replace(
        found, remarks=(*tested.remarks, *found.remarks), tests=(*tested.tests, *found.tests), holds=tested.holds
    )


def _origins(region: Region, names: Names) -> Origins:
    local = {name for name, array in names.arrays.items() if array.local}
    strict, pointees, members = names.strict, names.pointees, names.members
    return Origins(region.function, names.symbols, names.written, names.defined, local, strict, pointees, members)


def _root(symbol: Symbol) -> str:
    """The variable whose memory a name is, or is a member of."""
    return (symbol.within or symbol).name


def loaded_cells(hoisted: Iterable[tuple[Symbol, Symbol | None]]) -> tuple[Symbol, ...]:
    """What a region's beginning reads: cells, and the pointers that lead to what gets names, where more than their own
    names reach those. hoisted: what the new names mean, and the cells."""
    found: dict[str, Symbol] = {}
    for symbol, cell in hoisted:
        if cell is not None:
            found[cell.name] = cell
        root = cell.within if cell is not None else symbol.within
        if root is not None and root.pointer and (root.kind == "global" or root.static or root.address_taken):
            name = f"({root.name})"
            ctype = CType(f"{root.type.spelling} *")
            found[name] = replace(root, name=name, type=ctype, pointer=False, pointer_depth=0, dims=(), restrict=False)
    return tuple(found.values())


def _tested(
    region: Region, names: Names, doubtful: Sequence[tuple[str, str]], hidden: Sequence[tuple[str, str]]
) -> Aliasing:
    """Tests that tell stretches of memory apart."""
    first, second = (doubtful or hidden)[0]
    hint = "declare the pointers restrict, mark the region, or use --assume=noalias"
    if len(doubtful) + len(hidden) > MAX_PAIRS:
        test = None if hidden else _test_of_all(names, doubtful)
        if test is None and (hidden or len(doubtful) > MAX_COMPUTED):
            message = f"'{first}' and '{second}' may overlap, and so may too many other pairs to test them all"
            raise Refusal("alias.may-overlap", message, region.location, hint)
        if test is not None:
            involved = _quoted(dict.fromkeys(name for pair in doubtful for name in pair))
            message = f"the program tests where the region begins that what is touched does not overlap: {involved}"
            return Aliasing((Remark("analysis", "assume.apart", message, region.location),), (), (test,))
    stretches = {name: _stretch(names, name) for pair in (*doubtful, *hidden) for name in pair}
    for name in [name for name, stretch in stretches.items() if stretch is None]:
        if not any(name in pair and names.written.issuperset(pair) for pair in doubtful):
            # what others only read may be what this is read at, too, but not what is written
            stretches[name] = _stretch(names, name, written=True)
    # a member of records that a pointer leads to moves with that pointer
    moving = {pointer: _root(names.symbols[pointer]) for _, pointer in hidden}
    cells = {pointer: scalar_stretch(root, root) for pointer, root in moving.items()}
    simple = [(a, b) for a, b in doubtful if stretches[a] is not None and stretches[b] is not None]
    computed = [pair for pair in doubtful if pair not in simple]
    tests: tuple[MemoryTest, ...] = ()
    lacking = next((written for written, _ in hidden if stretches[written] is None), "")
    if computed and not lacking:
        test, lacking = names.reach(computed, stretches) if names.reach is not None else (None, "")
        lacking = lacking or next(name for pair in computed for name in pair if stretches[name] is None)
        tests = (test,) if test is not None else ()
    if lacking and not tests:
        other = next(b if a == lacking else a for a, b in (*doubtful, *hidden) if lacking in (a, b))
        message = (
            f"'{lacking}' and '{other}' may overlap, and what the region touches "
            f"of '{lacking}' has no simple bounds to test"
        )
        raise Refusal("alias.may-overlap", message, region.location, hint)
    both = [(stretches[a], stretches[b]) for a, b in simple]
    both += [(stretches[written], cells[pointer]) for written, pointer in hidden]
    apart = tuple(dict.fromkeys((a, b) for a, b in both if a is not None and b is not None))
    pairs = ", ".join(f"'{a}' and '{b}'" for a, b in (*doubtful, *hidden))
    message = f"the program tests where the region begins that what is touched does not overlap: {pairs}"
    return Aliasing((Remark("analysis", "assume.apart", message, region.location),), apart, tests)


def _test_of_all(names: Names, doubtful: Sequence[tuple[str, str]]) -> MemoryTest | None:
    """A test of the stretches of all these names at once, in the order of their addresses; None if there is none.
    Members of structures are tested with all others of their object."""
    if names.reach is None:
        return None
    whole: dict[str, str] = {}
    for name in (name for pair in doubtful for name in pair):
        within = names.symbols[name].within
        whole.setdefault(within.name if within is not None else name, name)
    known = {name: _stretch(names, name) for name in whole.values()}
    written = {root for root in whole if root in names.written}
    for name in names.written:
        within = names.symbols[name].within if name in names.symbols else None
        written |= {within.name} if within is not None else set()
    stretches = [one for one in known.values() if one is not None]
    test = names.reach.rows([], stretches, written, [name for name, one in known.items() if one is None])
    return replace(test, pairs=len(doubtful)) if test is not None else None


def _tested_rows(
    region: Region,
    names: Names,
    rows: Sequence[str],
    listed: Sequence[str],
    origins: Origins,
    moved: Collection[str],
) -> Aliasing:
    """A test that tells rows apart, from each other and from all that might be a part of them; characters that the
    region writes may be a part of the pointers to rows, too. moved: variables that are pointers, which rows of
    characters might hold."""
    characters = any(
        names.arrays[one].type.bits == CHARACTER and any(row == one or origins.may_hold(row, one) for row in rows)
        for one in names.written
        if one in names.arrays
    )
    pairs = [
        (row, other)
        for row in rows
        for other in listed
        if names.written.intersection((row, other))
        and (row == other or origins.may_hold(row, other))
        and (moved or not region.promised.issuperset((row, _root(names.symbols[other]))))
        and (characters or not origins.lead_to_own(row, other))
    ]
    if not pairs:
        return Aliasing()
    names_of_rows = [name for name in rows if any(name in pair for pair in pairs)]
    hint = "mark the region, or use an array of several dimensions"
    stretches: list[RowStretch] = []
    holds = names.context
    for name in names_of_rows:
        array = names.arrays[name]
        found = row_stretch(array, names.statements, holds) if array.rank == TESTED_RANK else None
        if found is None:
            message = (
                f"the rows of '{name}' may overlap, and what the region touches of them has no simple bounds to test"
            )
            raise Refusal("access.pointer-to-pointer", message, region.location, hint)
        stretches.append(found)
        holds = found.holds
    others = dict.fromkeys(other for _, other in pairs if other not in rows)
    known = {name: _stretch(names, name) for name in others}
    test = None
    if None not in known.values() and names.reach is not None:
        bounds = [one for one in known.values() if one is not None]
        bounds += [scalar_stretch(root, root) for root in sorted(moved)]
        test = names.reach.rows(stretches, bounds, names.written, pointers=characters)
    if test is None or holds.is_empty():
        message = f"the rows of '{names_of_rows[0]}' may overlap: there is no simple test of that"
        raise Refusal("access.pointer-to-pointer", message, region.location, hint)
    message = f"the program tests where the region begins that rows don't overlap: {_quoted([*names_of_rows, *others])}"
    return Aliasing((Remark("analysis", "assume.apart", message, region.location),), (), (test,), holds)


def _stretch(names: Names, name: str, *, written: bool = False) -> Stretch | None:
    """What the region touches through a name, or (written) what it may write."""
    if name not in names.arrays:
        return scalar_stretch(name, name)
    array = names.arrays[name]
    together = {other.name for other in names.arrays.values() if array.within and other.within == array.within} | {
        array.name
    }
    relations = [
        access.relation
        for statement in names.statements
        for access in statement.accesses
        if access.array in together and not (written and access.kind == "read")
    ]
    found = array_stretch(array, relations, names.context)
    if written or found is not None or not array.rank or array.flat or array.within:
        return found
    # some subscript isn't affine: its type, or tests in front of it, may bound it all the same
    low, high = names.ranges().get(array.spelling, (0, MAX_TABLE))
    if high - low >= MAX_TABLE:
        whole = names.whole(array.spelling) if array.pointer else None
        return whole_stretch(name, array.spelling, whole) if whole is not None else None
    rest = "".join(f", d{k}" for k in range(1, array.rank))
    table = isl.Set(f"{{ {array.name}[d0{rest}] : {low} <= d0 <= {high} }}")
    return array_stretch(array, [relation.intersect_range(table) for relation in relations], names.context)


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)
