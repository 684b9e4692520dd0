"""Copies between a table and a panel that has a diagonal in each row: a transposition of rows that each begin a column
further left, by a function (`scopt.astgen.lower.transposing`).

Of the loops ``for (i …) for (j …) panel[i + j - o][i - p] = table[i][j]``, those that go through all rows and diagonals
of a tile are a rectangle in i and i + j: ``table[i][j]`` lies where a matrix whose rows are shorter by one has its
element (i, i + j). Tiles at a border keep their loops. What strips of rows copy to their buffers, and back, is turned
without that: all of a strip's rows begin at one column.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

import islpy as isl
from msgspec import Struct

from scopt import ir
from scopt.astgen.lower.body_syntax import address, call, row_length
from scopt.astgen.lower.strip_statements import Names, plus, statement_of
from scopt.astgen.lower.tile_records import Turned
from scopt.astgen.lower.transposing import Transposed, turned_lanes
from scopt.ir.ctypes import plain_type
from scopt.ir.expr import TRUE, add, compare, conjunction, linear, names, substitute, subtract
from scopt.ir.marked_schedule import Panel, RowBuffer
from scopt.ir.nest import Block, Call, Condition, Const, Expr, For, If, LoopNest, Max, Min, Name
from scopt.ir.nest_walks import Item, map_block
from scopt.ir.scop import Array, CType, Scop, Statement

# A row further on, the same diagonal begins a column further left.
_SKEW = -1
# Of rows or diagonals, fewer than any vectors that are turned.
_FEW = 8


class PanelTurns(Struct, eq=False):
    """Statements that make copies in one call. turned: by name of the copies' statement. functions: that they call."""

    turned: dict[str, Turned]
    functions: list[Transposed]

    def add(self, scop: Scop, copy: Statement, panel: Panel, names: Names, *, inwards: bool) -> Statement | None:
        """The statement that copies all rows and diagonals of a tile, if a function can."""
        place, width = _row_and_step(panel), panel.dimensions[-1].cells
        if place is None or not isinstance(width, Const):
            return None
        return self.turning(scop, copy, panel.array, place, width.value, names, inwards=inwards, skew=_SKEW)

    def add_rows(
        self, scop: Scop, copy: Statement, buffer: RowBuffer, width: int, names: Names, *, inwards: bool
    ) -> Statement | None:
        """The statement that copies some cells of all rows of a strip, if a function can. width: of the buffer's
        rows."""
        place, array = (buffer.dimension, len(buffer.extents) - 1), scop.arrays[buffer.array]
        if place[0] == place[1] or array.rank != len(buffer.extents):
            return None
        record = _record(array, buffer) if buffer.problem else ()
        if buffer.problem and not record:
            return None
        return self.turning(scop, copy, buffer.array, place, width, names, inwards=inwards, record=record)

    def turning(
        self,
        scop: Scop,
        copy: Statement,
        name: str,
        place: tuple[int, int],
        width: int,
        names: Names,
        *,
        inwards: bool,
        skew: int = 0,
        record: Sequence[int] = (),
    ) -> Statement | None:
        """The statement that makes copies of an array's cells in one call. place: its subscripts that are the row, and
        that go along it. record: how many values those behind the row have, where rows are whole records."""
        array = scop.arrays[name]
        ctype = plain_type(array.type, scop.long_type)
        if ctype is None or array.rows:
            return None
        lanes = turned_lanes(ctype, min(width, prod(record)) if record else width, names.machine)
        if not lanes:
            return None
        assert isinstance(copy.body, ir.Assignment)
        here, there = copy.body.lvalue, copy.body.rvalue
        table, slot = (there, here) if inwards else (here, there)
        assert isinstance(table, ir.ArrayRef)
        function = self.function(scop, ctype, table, place[0], width, lanes, back=not inwards)
        length = plus(row_length(table, place[0], scop.flat), skew)
        body = call(function.name, [ir.ID("$rows"), ir.ID("$count"), address(table), length, address(slot)])
        iterators = [*copy.iterators, "$rows", "$count"]
        many = names.statement(f"{copy.name}_turned")
        domain = isl.Set(f"{{ {many}[{', '.join(f'x{k}' for k in range(len(iterators)))}] }}")
        first = len(copy.iterators) - array.rank
        inside = tuple((first + place[0] + 1 + k, size) for k, size in enumerate(record))
        self.turned[copy.name] = Turned(many, first + place[0], first + place[1], skew, inside)
        return statement_of(scop, many, domain, iterators, body)

    def function(
        self, scop: Scop, ctype: CType, table: ir.ArrayRef, row: int, width: int, lanes: int, *, back: bool
    ) -> Transposed:
        """One that was made, if it does the same."""
        name = f"scopt_turn_{scop.name.removeprefix('scop')}_{len(self.functions)}"
        made = Transposed(name, table, table, row, (), ctype, width, scop.long_type, lanes, back)
        same = next((one for one in self.functions if one.back == back and one.same(made)), None)
        if same is None:
            self.functions.append(made)
        return same or made


def _record(array: Array, buffer: RowBuffer) -> tuple[int, ...]:
    """How many values each subscript behind the row has, where a buffer has all cells of each of the array's records;
    () where that isn't so."""
    kept = tuple(one.value if isinstance(one, Const) else None for one in buffer.extents[1:])
    sizes = array.sizes[1:]
    whole = not buffer.dimension and sizes == kept and not (array.within or array.inner or array.rows)
    found = tuple(size for size in sizes if size is not None) if whole else ()
    return found if prod(found) >= _FEW else ()


def _row_and_step(panel: Panel) -> tuple[int, int] | None:
    """The subscripts that are a panel's row and, together with it, its diagonal; None unless the table's rows lie along
    the other one."""
    *_, diagonal, row = panel.dimensions
    last = len(panel.dimensions) - 1
    match row.terms, diagonal.terms:
        case ((first, 1),), ((second, 1), (along, 1)) if first == second and along == last != first:
            return first, along
    return None


# --- in the nest ------------------------------------------------------------------------------------------------------


def with_turned_panels(turned: Mapping[str, Turned], nest: LoopNest) -> LoopNest:
    """The nest with a choice between one call, for whole tiles, and the loops over single cells."""

    def visit(item: Item) -> tuple[Item, ...]:
        match item:
            case For(step=1, body=Block((For(step=1, body=Block((Call() as call,))) as inner,))) if (
                call.statement in turned and turned[call.statement].skew
            ):
                return (_with_choice(turned[call.statement], item, inner, call),)
        return (item,)

    return LoopNest(map_block(nest.body, visit)) if turned else nest


def _with_choice(turned: Turned, outer: For, inner: For, call: Call) -> Item:
    fixed = [arg for k, arg in enumerate(call.args) if k not in (turned.row, turned.step)]
    own = {outer.iterator, inner.iterator}
    moved = (call.args[turned.row], call.args[turned.step]) == (Name(outer.iterator), Name(inner.iterator))
    marked = any(loop.mark.parallel or loop.mark.simd for loop in (outer, inner))
    if not moved or marked or any(names(arg) & own for arg in fixed):
        return outer
    rows, skewed = _whole(outer, None), _whole(inner, Name(outer.iterator))
    if rows is None or skewed is None or not all(_is_linear(one, outer.iterator) for one in _bounds(inner)):
        return outer
    first, last = rows
    conditions = [*_outer_conditions(outer, rows), *_inner_conditions(inner, outer.iterator, rows, skewed)]
    args = list(call.args)
    args[turned.row], args[turned.step] = first, substitute(skewed[0], {outer.iterator: first})
    counts = (_count(first, last), _count(*skewed))
    made = Block((Call(turned.name, (*args, *counts)),))
    condition = conjunction(conditions)
    return made.items[0] if condition == TRUE else If(condition, made, Block((outer,)))


def _count(first: Expr, last: Expr) -> Expr:
    return add(subtract(last, first), Const(1))


def _whole(loop: For, row: Name | None) -> tuple[Expr, Expr] | None:
    """The bounds, one from below and one from above, that are the nearest to each other, at a constant distance. row:
    with it they are the same for all rows."""
    pairs = []
    for low in _lowers(loop):
        for high in _uppers(loop):
            length = subtract(high, low)
            steady = row is None or row.name not in names(add(low, row))
            if isinstance(length, Const) and length.value >= _FEW - 1 and steady:
                pairs.append((length.value, low, high))
    return min(pairs, key=lambda pair: pair[0])[1:] if pairs else None


def _outer_conditions(loop: For, whole: tuple[Expr, Expr]) -> Iterator[Condition]:
    """That no other bound is nearer."""
    low, high = whole
    yield from (compare(other, "<=", low) for other in _lowers(loop) if other != low)
    yield from (compare(high, "<=", other) for other in _uppers(loop) if other != high)


def _inner_conditions(loop: For, row: str, rows: tuple[Expr, Expr], whole: tuple[Expr, Expr]) -> Iterator[Condition]:
    """The same for all rows: for the one where the other bound is nearest."""
    low, high = whole
    others = [(other, low) for other in _lowers(loop) if other != low]
    others += [(high, other) for other in _uppers(loop) if other != high]
    for least, most in others:
        moving, _ = linear(subtract(most, least))
        end = rows[0] if moving.get(Name(row), 0) >= 0 else rows[1]
        yield compare(substitute(least, {row: end}), "<=", substitute(most, {row: end}))


def _is_linear(bound: Expr, row: str) -> bool:
    """Whether a row moves a bound by as much as the row before."""
    return all(part == Name(row) or row not in names(part) for part in linear(bound)[0])


def _bounds(loop: For) -> Sequence[Expr]:
    return (*_lowers(loop), *_uppers(loop))


def _lowers(loop: For) -> Sequence[Expr]:
    return loop.lower.args if isinstance(loop.lower, Max) else (loop.lower,)


def _uppers(loop: For) -> Sequence[Expr]:
    return loop.upper.args if isinstance(loop.upper, Min) else (loop.upper,)
