"""Absolute differences of the bytes of two small blocks: one call of a function in the place of the loops.

``for y: for x: s += |a[y][x] - b[y][x]|`` with as many rows and columns as a constant says, of rows that lie side by
side: the function (`scopt.astgen.emit.distance_texts`) adds these up by the processor's instruction, all rows' before
it adds to `s`. None of the terms is negative, so that no part of their sum is too large where the whole isn't.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.c_expr import DISTANCES, helper_name
from scopt.astgen.lower.body_syntax import address, call, integer
from scopt.astgen.passes.byte_distances import Difference, distance_of_bytes
from scopt.astgen.passes.turned_sums import next_row
from scopt.ir.expr import names, subtract
from scopt.ir.nest import Block, Call, Const, Expr, For, Hold, If, LoopMark, LoopNest, Name
from scopt.ir.nest_walks import Item
from scopt.ir.references import is_cell
from scopt.ir.scop import Access, Scop, Statement
from scopt.poly.linear import subscript_rows

# What calls are named by, behind a statement's name.
BLOCK = "_block"
# Rows at most: longer ones are no blocks (chosen).
_ROWS = 64


class Distance(Struct, frozen=True):
    """statements: what a call does for each row and column, in their order. row, column: positions of the iterators
    that move; in their place the call has the first ones'. rows, columns: how many. step: from row to row."""

    statements: tuple[str, ...]
    row: int
    column: int
    rows: int
    columns: int
    step: int = 1


def with_block_distances(source: Scop, scop: Scop, nest: LoopNest) -> tuple[Scop, LoopNest, Mapping[str, Distance]]:
    """The nest with such calls, the SCoP with their statements, and what these stand for."""
    maker = _Maker(source, scop)
    body = maker.block(nest.body)
    if not maker.made:
        return scop, nest, {}
    whole = replace(scop, statements=(*scop.statements, *(one for one, _ in maker.made.values())))
    return whole, LoopNest(body), {one.name: distance for one, distance in maker.made.values()}


class _Maker(Struct, eq=False):
    """made: calls, with what they stand for, by names of the statements."""

    source: Scop
    scop: Scop
    made: dict[tuple[str, ...], tuple[Statement, Distance]] = field(default_factory=dict)

    def block(self, block: Block) -> Block:
        return Block(tuple(map(self.item, block.items)))

    def item(self, item: Item) -> Item:
        """Where variables stand for cells, it has to be seen of each statement which cells it touches."""
        match item:
            case For(lower=Const(), body=Block((For(lower=Const()) as inner,))):
                made = self.call(item, inner)
                return replace(item, body=self.block(item.body)) if made is None else made
            case For() | Hold(cells=()):
                return replace(item, body=self.block(item.body))
            case If(otherwise=otherwise):
                other = None if otherwise is None else self.block(otherwise)
                return replace(item, then=self.block(item.then), otherwise=other)
        return item

    def call(self, outer: For, inner: For) -> Call | None:
        inside = [one for one in inner.body.items if isinstance(one, Call) and not one.held]
        known = {one.name for one in self.source.statements}
        plain = len(inside) == len(inner.body.items) and all(one.statement in known for one in inside)
        if not plain or not inside or not (_is_plain(outer) and _is_plain(inner)):
            return None
        first, loops = inside[0], (outer, inner)
        if any(one.args != first.args for one in inside) or outer.iterator in names(inner.upper):
            return None
        places = [first.args.index(Name(one.iterator)) for one in loops if Name(one.iterator) in first.args]
        moving = [names(one) & {outer.iterator, inner.iterator} for one in first.args]
        if len(places) < len(loops) or sum(map(len, moving)) > len(loops):
            return None
        own = tuple(one.statement for one in inside)
        for (rows, columns), (row, column) in ((loops, places), (loops[::-1], places[::-1])):
            distance = Distance(own, row, column, _count(rows), _count(columns), rows.step)
            statement = self.statement(distance) if columns.step == 1 else None
            if statement is not None:
                starts = dict(zip(places, (outer.lower, inner.lower), strict=True))
                args: list[Expr] = [starts.get(k, one) for k, one in enumerate(first.args)]
                return Call(statement.name, tuple(args))
        return None

    def statement(self, distance: Distance) -> Statement | None:
        if distance.statements in self.made:
            statement, same = self.made[distance.statements]
            return statement if same == distance else None
        singles = [self.source.statement(name) for name in distance.statements]
        body = block_body(self.source, singles, distance)
        difference = distance_of_bytes(self.source, singles)
        if body is None or difference is None:
            return None
        own = [one for single in singles for one in single.accesses if one.array != difference.temporary]
        last = singles[-1]
        made = replace(last, name=f"{last.name}{BLOCK}", body=body, accesses=tuple(own))
        self.made[distance.statements] = made, distance
        return made


def block_body(source: Scop, singles: list[Statement], distance: Distance) -> ir.Node | None:
    """What a call says for some statements, if it can stand for them: `distance` says in which order they run, and how
    often."""
    difference = distance_of_bytes(source, singles)
    fits = (
        1 < distance.rows <= _ROWS
        and distance.columns in DISTANCES
        and distance.step > 0
        and distance.row != distance.column
    )
    if difference is None or not fits or any(one.iterators != singles[0].iterators for one in singles):
        return None
    if not _is_total(source, difference, distance) or not all(
        _is_of_rows(source, one, distance) for one in (difference.one, difference.other)
    ):
        return None
    iterator = singles[0].iterators[distance.row]
    arguments: list[ir.Node] = [integer(distance.rows)]
    for one in (difference.one, difference.other):
        if not isinstance(one.node, ir.ArrayRef):
            return None
        arguments += [address(one.node), address(next_row(one.node, iterator, distance.step))]
    function = helper_name(DISTANCES[distance.columns], source.reserved)
    return ir.Assignment("+=", singles[-1].body.lvalue, call(function, arguments))


def _is_total(source: Scop, difference: Difference, distance: Distance) -> bool:
    """Whether all is added to one cell, of which nothing else is a part."""
    total = difference.total
    rows, array = subscript_rows(total.relation), source.arrays[total.array]
    apart = total.array not in (difference.one.array, difference.other.array) and not array.within
    stays = rows is not None and not any(one[k] for one in rows for k in (distance.row, distance.column))
    return apart and stays


def _is_of_rows(source: Scop, access: Access, distance: Distance) -> bool:
    """Whether columns lie side by side, and rows at one distance."""
    array, rows = source.arrays[access.array], subscript_rows(access.relation)
    if rows is None or not rows or array.rows or array.within or array.type.volatile or array.type.atomic:
        return False
    if access.node is None or not is_cell(access.node, array.spelling, array.rank):
        return False
    *outer, last = rows
    return last[distance.column] == 1 and not any(one[distance.column] for one in outer)


def _is_plain(loop: For) -> bool:
    """Whether nothing else is asked of a loop than vectors."""
    mark = replace(loop.mark, simd=False, private=(), reductions=(), lanes=0, wide=0, most=0)
    return mark == LoopMark()


def _count(loop: For) -> int:
    """Iterations of a loop, if there are as many as a constant says; 0 elsewhere."""
    length = subtract(loop.upper, loop.lower)
    return length.value // loop.step + 1 if isinstance(length, Const) else 0
