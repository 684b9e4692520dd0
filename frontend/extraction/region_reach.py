"""What a region touches where subscripts aren't affine: the region's names for `scopt.frontend.reach`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from fractions import Fraction
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.frontend.extraction.region_names import RegionNames
from scopt.frontend.model.row_stretches import RowStretch
from scopt.frontend.model.value_ranges import values_of_subscripts
from scopt.frontend.reach.cells import Inspector
from scopt.frontend.reach.code import Code, Operand, Unbounded
from scopt.frontend.reach.memory_tests import Memory, memory_test
from scopt.frontend.reach.row_tests import MAX_LISTS, RowList, row_test
from scopt.frontend.reach.slices import Slice
from scopt.frontend.reach.sums import Sum, number, plus, times
from scopt.frontend.reach.symbolic_values import Reader
from scopt.frontend.reach.touched_cells import Touched, read_touched
from scopt.frontend.syntax.taken_functions import taken_functions
from scopt.ir.library_names import MEMORY, MOST_THREADS
from scopt.ir.scop import Array, CType, MemoryTest, Polynomial, Stretch


class RegionReach(Struct, frozen=True, eq=False):
    """names: of the region. arrays: by their keys. constant: names of variables that nothing in the region changes,
    through pointers neither."""

    names: RegionNames
    arrays: Mapping[str, Array]
    constant: Collection[str]

    def __call__(
        self, pairs: Sequence[tuple[str, str]], known: Mapping[str, Stretch | None]
    ) -> tuple[MemoryTest | None, str]:
        """As `scopt.frontend.model.aliasing.Reach` has it."""
        tu = self.names.tu
        code = Code(tu.long_type, tu.reserved)
        involved = dict.fromkeys(name for pair in pairs for name in pair)
        wanted = {name: self.base(name) for name in involved if known[name] is None}
        touched, made = self.touched(code, wanted.values(), involved.keys())
        memories: dict[str, Memory] = {}
        for name in involved:
            stretch = known[name]
            try:
                if stretch is not None:
                    memories[name] = Memory(stretch.base, stretch.element, _touched(code, stretch))
                    continue
            except Unbounded:
                return None, name
            if wanted[name] not in touched:
                return None, name
            memories[name] = Memory(wanted[name], f"sizeof(*{wanted[name]})", touched[wanted[name]])
        # What the region takes for constants are such: where something else might change them, that is tested, too.
        ends = (end for one in memories.values() for end in (one.touched.first, one.touched.last))
        used = self.used(code, ends)
        if used is None:
            return None, next(iter(wanted))
        threads = MOST_THREADS not in taken_functions(tu)
        test = memory_test(self.names.region.location, code, memories, pairs, used, made, threads=threads)
        return _with_types(test, known.values()), ""

    def touched(
        self, code: Code, wanted: Iterable[str], involved: Set[str]
    ) -> tuple[dict[str, Touched], dict[str, Slice]]:
        """What is touched of arrays, and the functions that find values out. involved: names that may overlap."""
        iterators, _ = self.names.typed_names()
        frozen = (self.arrays.keys() & self.names.symbols.keys()) - self.names.effects.through - involved
        seen = Inspector(self.names.items, self.names.symbols, iterators, code, frozen, self.names.region.location)
        intervals: list[Mapping[Any, tuple[int, int]]] = []

        def interval(node: ir.ID) -> tuple[int, int] | None:
            if not intervals:
                intervals.append(values_of_subscripts(self.names.items, self.names.symbols, *self.names.typed_names()))
            return intervals[0].get(node)

        wrapping = self.names.tu.wrapping
        reader = Reader(self.names.symbols, self.names.effects.changed, code, wrapping, seen.values, interval)
        touched = read_touched(self.names.items, reader, iterators, set(wanted))
        return touched, seen.made

    def rows(
        self,
        rows: Sequence[RowStretch],
        others: Sequence[Stretch],
        written: Collection[str],
        unknown: Sequence[str] = (),
        *,
        pointers: bool = False,
    ) -> MemoryTest | None:
        """As `scopt.frontend.model.aliasing.Reach` has it."""
        code = Code(self.names.tu.long_type, self.names.tu.reserved)
        if len(rows) * (1 + pointers) + len(others) + len(unknown) > MAX_LISTS:
            return None
        wanted = {name: self.base(name) for name in unknown}
        found, made = self.touched(code, wanted.values(), self.arrays.keys()) if wanted else ({}, {})
        if made or not found.keys() >= {*wanted.values()}:
            return None  # values of index arrays are for fewer pairs
        try:
            lists = [_rows(code, one, one.array.spelling in written) for one in rows]
            lists += [_pointers(one) for one in lists if pointers]
            for one in others:
                touched = _touched(code, one)
                cells = (touched.first, touched.last)
                lists.append(RowList(one.array, one.base, one.element, None, cells, one.array in written))
            for name in wanted.values():
                cells = (found[name].first, found[name].last)
                lists.append(RowList(name, name, f"sizeof(*{name})", None, cells, name in written))
            used = self.used(code, (end for one in lists for end in (*(one.rows or ()), *one.cells)))
            if used is None or taken_functions(self.names.tu) & MEMORY:
                return None
            return _with_types(row_test(self.names.region.location, code, lists, used), others)
        except Unbounded:
            return None

    def used(self, code: Code, ends: Iterable[Operand]) -> dict[str, CType] | None:
        """The variables that a test asks for, those of the file among them, with their types; None if there is one that
        may change."""
        words = dict.fromkeys(re.findall(r"[A-Za-z_$][\w$]*", "\n".join((*code.lines, *map(str, ends)))))
        used: dict[str, CType] = {}
        for word in words:
            if word in self.names.symbols and word not in code.names:
                ctype = self.type_of(word)
                if ctype is None:
                    return None
                used[word] = ctype
        return used

    def base(self, name: str) -> str:
        array = self.arrays[name]
        return array.within or array.spelling

    def type_of(self, word: str) -> CType | None:
        """Of a variable whose value the test may ask for."""
        symbol = self.names.symbols[word]
        plain = (
            not symbol.dims
            and not symbol.pointer
            and (symbol.type.integer or symbol.type.floating)
            and 0 < symbol.type.bits <= 64
        )
        return symbol.type if plain and word in self.constant and not symbol.type.volatile else None


def _with_types(test: MemoryTest, stretches: Iterable[Stretch | None]) -> MemoryTest:
    return replace(test, types=tuple(dict.fromkeys(one.whole for one in stretches if one is not None and one.whole)))


def _touched(code: Code, stretch: Stretch) -> Touched:
    """A stretch's elements."""
    names: dict[str, Polynomial | Operand] = dict(stretch.sums)
    for key, value, divisor in stretch.quotients:
        names[key] = code.quotient(code.value(_sum(value, names), up=False), divisor)
    first, last = ([code.value(_sum(end, names), up=False) for end in ends] for ends in (stretch.first, stretch.beyond))
    return Touched(_extreme(code, first, greatest=False), code.minus(_extreme(code, last, greatest=True), 1))


def _rows(code: Code, one: RowStretch, written: bool) -> RowList:
    first, last = (code.value(_sum(end, {}), up=False) for end in (one.first, one.last))
    low, high = ([code.value(_sum(end, {}), up=False) for end in ends] for ends in (one.low, one.high))
    cells = _extreme(code, low, greatest=False), _extreme(code, high, greatest=True)
    name = one.array.spelling
    return RowList(name, name, f"sizeof(**{name})", (first, last), cells, written)


def _pointers(rows: RowList) -> RowList:
    """The memory that the pointers to rows are in."""
    assert rows.rows is not None
    return RowList(rows.name, rows.base, f"sizeof(*{rows.base})", None, rows.rows, written=False)


def _extreme(code: Code, operands: Sequence[Operand], *, greatest: bool) -> Operand:
    found = operands[0]
    for one in operands[1:]:
        found = code.extreme(found, one, greatest=greatest)
    return found


def _sum(value: Polynomial, names: Mapping[str, Polynomial | Operand]) -> Sum:
    """names: what factors stand for that are no names in C."""

    def factor_of(factor: str) -> Sum:
        meant = names.get(factor, factor)
        if isinstance(meant, int):
            return number(meant)
        return {(meant,): Fraction(1)} if isinstance(meant, str) else _sum(meant, names)

    total: Sum = {}
    for coefficient, factors in value:
        term = number(coefficient)
        for factor in factors:
            term = times(term, factor_of(factor))
        total = plus(total, term)
    return total
