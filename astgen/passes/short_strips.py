"""Strips of rows where there are fewer rows than one strip has: pieces of eight rows, then the rest one by one, which
takes as long as in the original.

A strip that lacks rows has vector loops of an unknown length, so that its cells stay in memory: each step waits for the
store of the one before, and compilers do what fills no vector one by one. With a constant length they keep the cells of
eight rows in registers (measured by gcc for windows of 25 cells over 8 to 20 rows: twice to five times as fast, where
strips that lack rows take up to twice as long as the loops that they stand for).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from scopt.ir.expr import add, compare, conjunction, floor_div, linear, names, plus, scale, subtract
from scopt.ir.nest import Block, Const, Expr, For, If, LoopMark, LoopNest, Min, Name
from scopt.ir.nest_walks import Item, calls, items, map_block, replace_names
from scopt.ir.scop import Scop, Statement

PIECE = 8
# From so many rows on, several vectors wait for their stores at a time; of cells that are read but once, lines are to
# be used up when they have come.
_LONG, _LONG_STREAM = 32, 16
# Instances' calls in a nest, at most: the text has all of it twice, and those of its strip three times.
_MOST_CALLS = 8


def with_short_strips(source: Scop, originals: Mapping[str, str], nest: LoopNest, counts: Collection[int]) -> LoopNest:
    """The nest with a choice in the place of each outermost loop around one such strip.

    source: the SCoP as it was scheduled; originals: by statement that stands for one of its, that one's name. counts:
    how many rows strips have.
    """
    return LoopNest(Block(tuple(_chosen(item, source, originals, counts) for item in nest.body.items)))


def short_strip(item: Item, counts: Collection[int], parameters: Collection[str]) -> For | None:
    """The only loop over strips in an item of a nest, if it can run in pieces; None otherwise."""
    strips = [one for one in items(Block((item,))) if isinstance(one, For) and one.step in counts]
    if len(strips) != 1 or strips[0].step < 2 * PIECE or sum(1 for _ in calls(Block((item,)))) > _MOST_CALLS:
        return None
    (strip,) = strips
    distance = subtract(strip.upper, strip.lower)
    plain = bool(linear(distance)[0]) and names(distance) <= set(parameters)
    return strip if plain and all(_is_kept(one, strip) for one in items(strip.body)) else None


def _is_kept(item: Item, strip: For) -> bool:
    """Whether an item of a strip's body has nothing to do with where the strip is, or is a loop over its rows."""
    match item:
        case If(condition=condition):
            return strip.iterator not in names(condition)
        case For(lower=lower, upper=upper):
            return strip.iterator not in names(lower) | names(upper) or _is_over_rows(item, strip)
    return True


def _is_over_rows(loop: For, strip: For) -> bool:
    whole = plus(Name(strip.iterator), strip.step - 1)
    uppers = set(loop.upper.args) if isinstance(loop.upper, Min) else {loop.upper}
    return loop.step == 1 and loop.lower == Name(strip.iterator) and uppers == {strip.upper, whole}


def _chosen(item: Item, source: Scop, originals: Mapping[str, str], counts: Collection[int]) -> Item:
    strip = short_strip(item, counts, frozenset(one.name for one in source.parameters))
    if strip is None:
        return item
    inside = {originals.get(call.statement, call.statement) for call in calls(strip.body)}
    long = _LONG_STREAM if _streams([one for one in source.statements if one.name in inside]) else _LONG
    distance = subtract(strip.upper, strip.lower)
    most = Const(min(strip.step, long) - 2)
    few = conjunction((compare(distance, ">=", Const(0)), compare(distance, "<=", most)))
    rows = plus(distance, 1)
    behind = add(strip.lower, scale(floor_div(rows, PIECE, nonnegative=True), PIECE))
    pieces = _Pieces(strip, (_piece(strip, strip.lower, PIECE), _piece(strip, behind, 1)))
    return If(few, map_block(Block((item,)), pieces.instead), Block((item,)))


def _streams(statements: Sequence[Statement]) -> bool:
    """Whether those in most loops read an array that none of them comes back to."""
    deepest = max((len(one.iterators) for one in statements), default=0)
    return any(
        not access.is_write and access.relation.is_injective()
        for one in statements
        if len(one.iterators) == deepest
        for access in one.accesses
    )


class _Pieces(Struct, frozen=True, eq=False):
    strip: For
    loops: tuple[For, ...]

    def instead(self, item: Item) -> tuple[Item, ...]:
        match item:
            case For() if item == self.strip:
                return self.loops
            case For() if item.mark.collapse > 1 and item.body.items == self.loops:
                return (replace(item, mark=replace(item.mark, collapse=1)),)
        return (item,)


def _piece(strip: For, lower: Expr, rows: int) -> For:
    """The loop over pieces of so many rows."""

    def constant(item: Item) -> tuple[Item, ...]:
        if not isinstance(item, For) or not _is_over_rows(item, strip):
            return (item,)
        if rows == 1:
            return replace_names(item.body, {item.iterator: item.lower}).items
        return (replace(item, upper=plus(item.lower, rows - 1)),)

    body = map_block(strip.body, constant)
    return For(strip.iterator, lower, plus(strip.upper, 1 - rows), rows, body, LoopMark())
