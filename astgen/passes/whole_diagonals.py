"""Rows of a tile that run beside each other along diagonals: diagonals that no border cuts off get a loop of their own,
whose iterations have an instance of each row, the last row first.

In ``a[i][j] = a[i - 1][j] + a[i][j - 1] * b[j]`` a diagonal, i + j, needs what the one before has made: of the same row
for its next cell, of the row above for the same column. As straight code, in a loop that no condition interrupts, all
of that can be handed on in variables (`scopt.astgen.passes.carried_cells`): a row is read before the one above it gets
its next value. Otherwise each cell waits for two stores (measured with eight rows of doubles by gcc and clang: 0.3 to
0.5 of the time).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from scopt.astgen.passes.carried_cells import carried
from scopt.ir.expr import (
    compare,
    conjunction,
    from_linear,
    linear,
    maximum,
    minimum,
    names,
    plus,
    scale,
    substitute,
    subtract,
)
from scopt.ir.nest import And, Block, Call, Compare, Condition, Const, Expr, For, If, LoopNest, Max, Min, Name
from scopt.ir.nest_walks import Item, items
from scopt.ir.scop import Scop
from scopt.machine.costs import MOST_STRAIGHT
from scopt.poly.nest_sets import Context, NestSpace


def with_whole_diagonals(scop: Scop, nest: LoopNest) -> LoopNest:
    """The same instances; those of a diagonal, which have nothing to do with each other, in another order."""
    if not any(isinstance(one, For) and one.mark.most > 1 for one in items(nest.body)):
        return nest
    space = NestSpace.of(scop, nest)
    return LoopNest(_Diagonals(scop, space).block(nest.body, space.outside()))


class _Bound(Struct, frozen=True):
    """The least value of an iterator, or the last one."""

    value: Expr
    is_first: bool

    def over(self, iterator: str) -> Condition:
        return Compare(Name(iterator), ">=" if self.is_first else "<=", self.value)


class _Diagonals(Struct, frozen=True, eq=False):
    scop: Scop
    space: NestSpace

    def block(self, block: Block, context: Context) -> Block:
        return Block(tuple(self.item(item, context) for item in block.items))

    def item(self, item: Item, context: Context) -> Item:
        match item:
            case For(mark=mark) if mark.simd or mark.jammed:
                return item
            case For(step=1, body=Block((If(condition, Block((For() as rows,)), Block() as others),))):
                return self.apart(item, condition, rows, others, context)
            case For():
                return replace(item, body=self.block(item.body, self.space.inside(item, context)))
            case If():
                return self.space.changed(item, context, self.block)
        return item

    def apart(self, loop: For, condition: Condition, rows: For, others: Block, context: Context) -> Item:
        """A loop over diagonals as three loops, where the middle one has iterations."""
        straight, split = _straight(rows), _split(condition, loop.iterator)
        if loop.mark.parallel or straight is None or split is None:
            return loop
        bounds, besides = split
        bounds = self.needed([*_own(loop), *bounds], loop, besides, context)
        first = maximum(one.value for one in bounds if one.is_first)
        last = minimum(one.value for one in bounds if not one.is_first)
        middle = replace(loop, lower=first, upper=last, body=straight)
        written = {access.array for one in self.scop.statements for access in one.accesses if access.is_write}
        if not any(carried(self.scop, middle, array) for array in written if self.scop.arrays[array].rank):
            return loop
        before = replace(loop, upper=plus(first, -1), body=others)
        after = replace(loop, lower=plus(last, 1), body=others)
        some = conjunction((*besides, compare(first, "<=", last)))
        return If(some, Block((before, middle, after)), Block((replace(loop, body=others),)))

    def needed(
        self, bounds: Sequence[_Bound], loop: For, besides: Sequence[Condition], context: Context
    ) -> list[_Bound]:
        """The bounds of a loop's iterator without those that the others imply."""
        anywhere = replace(context, iterators={**context.iterators, loop.iterator: 2 * len(context.iterators) + 1})
        anywhere = anywhere.within(self.space.condition(conjunction(besides), anywhere))
        sets = [self.space.condition(one.over(loop.iterator), anywhere) for one in bounds]
        kept = list(range(len(bounds)))
        for number in range(len(bounds)):
            rest = [k for k in kept if k != number]
            left = anywhere.domain
            for k in rest:
                left = left.intersect(sets[k])
            ends = {bounds[k].is_first for k in rest}
            if len(ends) > 1 and left.is_subset(sets[number]):
                kept = rest
        return [bounds[k] for k in kept]


def _own(loop: For) -> list[_Bound]:
    return [
        *(_Bound(one, is_first=True) for one in (loop.lower.args if isinstance(loop.lower, Max) else (loop.lower,))),
        *(_Bound(one, is_first=False) for one in (loop.upper.args if isinstance(loop.upper, Min) else (loop.upper,))),
    ]


def _straight(rows: For) -> Block | None:
    """The instances of a loop of constant length over rows, the last row first; None for other loops."""
    length = subtract(rows.upper, rows.lower)
    beside = rows.mark.most > 1 and rows.step == 1 and not (rows.mark.jammed or rows.mark.simd or rows.mark.parallel)
    if not beside or not isinstance(length, Const) or not all(isinstance(one, Call) for one in rows.body.items):
        return None
    if (length.value + 1) * len(rows.body.items) > MOST_STRAIGHT:
        return None
    return Block(tuple(_instances(rows, length.value)))


def _instances(rows: For, last: int) -> Iterator[Call]:
    for row in reversed(range(last + 1)):
        for one in rows.body.items:
            if isinstance(one, Call):
                at = {rows.iterator: plus(rows.lower, row)}
                yield replace(one, args=tuple(substitute(arg, at) for arg in one.args))


def _split(condition: Condition, iterator: str) -> tuple[list[_Bound], list[Condition]] | None:
    """What a condition says of an iterator, and what else it says; None where it isn't as simple."""
    bounds, besides = list[_Bound](), list[Condition]()
    for one in condition.args if isinstance(condition, And) else (condition,):
        if iterator not in names(one):
            besides.append(one)
            continue
        bound = _bound(one, iterator)
        if bound is None:
            return None
        bounds.append(bound)
    return bounds, besides


def _bound(condition: Condition, iterator: str) -> _Bound | None:
    """What a comparison says of an iterator."""
    match condition:
        case Compare(left=left, op="<=" | "<" | ">=" | ">" as op, right=right):
            distance = subtract(right, left) if op in ("<=", "<") else subtract(left, right)
        case _:
            return None
    # factor * iterator + rest >= strict
    terms, constant = linear(distance)
    factor = terms.pop(Name(iterator), 0)
    rest = from_linear(terms, constant - int(op in ("<", ">")))
    if abs(factor) != 1 or iterator in names(rest):
        return None
    return _Bound(scale(rest, -1) if factor > 0 else rest, is_first=factor > 0)
