"""Small windows that borders cut off, in loops that are no vector loops: where all of a window is there, its loops have
constant lengths.

``for (q = max(0, 1 - 2 * x); q < min(4, 2 * n - 2 * x + 1); q++)`` jumps once for each of its few iterations; compilers
write ``for (q = 0; q < 4; q++)`` out, and make vectors across it (a transposed convolution: twice as fast and more).
What runs loops of its own in each iteration, as often as data say (the cells around a particle's), has no use for that.
"""

from __future__ import annotations

from collections.abc import Collection
from math import prod

from msgspec.structs import replace

from scopt.astgen.passes.lengths import constant_length
from scopt.ir.expr import FALSE, TRUE, conjunction, names, subtract
from scopt.ir.nest import Block, Call, Condition, Const, Expr, For, Hold, If, LoopMark, LoopNest
from scopt.ir.nest_walks import Item
from scopt.ir.scop import Scop
from scopt.machine.costs import takes_its_time

# Iterations of one loop, and instances of all statements of a window.
_LONGEST, _MOST = 8, 32

_Length = tuple[Condition, Expr, Expr]


def with_whole_windows(nest: LoopNest, uneven: Collection[str] = ()) -> LoopNest:
    """The same instances in the same order. uneven: statements that have loops of their own, as `loops_inside` says."""
    return LoopNest(_block(nest.body, uneven, inside=False))


def loops_inside(scop: Scop) -> frozenset[str]:
    """The statements with loops that run as often as data say."""
    return frozenset(one.name for one in scop.statements if takes_its_time(one.body))


def _block(block: Block, uneven: Collection[str], *, inside: bool) -> Block:
    return Block(tuple(_item(item, uneven, inside=inside) for item in block.items))


def _item(item: Item, uneven: Collection[str], *, inside: bool) -> Item:
    match item:
        case For(mark=mark) if not (mark.simd or mark.jammed or mark.beside or mark.scalar):
            window = _window(item, uneven) if inside else None
            return replace(item, body=_block(item.body, uneven, inside=True)) if window is None else window
        case If():
            otherwise = None if item.otherwise is None else _block(item.otherwise, uneven, inside=inside)
            return If(item.condition, _block(item.then, uneven, inside=inside), otherwise)
        case Hold():
            return Hold(item.cells, _block(item.body, uneven, inside=inside), item.choices, item.loads)
    return item


def _window(loop: For, uneven: Collection[str]) -> If | None:
    """A choice between loops of constant lengths and the loops as they were; None for what is no window, or one that
    has all of its iterations anyway."""
    loops, lengths = _nested(loop)
    if not loops or not all(isinstance(item, Call) and item.statement not in uneven for item in loops[-1].body.items):
        return None
    distances = (subtract(high, low) for _, low, high in lengths)
    iterations = prod(one.value + 1 for one in distances if isinstance(one, Const))
    condition = conjunction([one for one, _, _ in lengths])
    if condition in (TRUE, FALSE) or iterations * len(loops[-1].body.items) > _MOST:
        return None
    if names(condition) & {one.iterator for one in loops}:
        return None
    body = loops[-1].body
    for one, (_, low, high) in zip(reversed(loops), reversed(lengths), strict=True):
        body = Block((replace(one, lower=low, upper=high, body=body),))
    return If(condition, body, Block((loop,)))


def _nested(loop: For) -> tuple[list[For], list[_Length]]:
    """A loop and those right inside of each other, as long as they are small, with their lengths and when they have
    these."""
    loops, lengths = list[For](), list[_Length]()
    here: Item = loop
    while isinstance(here, For) and here.mark == LoopMark() and here.step == 1:
        length = _length(here)
        if length is None:
            break
        loops.append(here)
        lengths.append(length)
        if len(here.body.items) != 1:
            break
        here = here.body.items[0]
    return loops, lengths


def _length(loop: For) -> _Length | None:
    distance = subtract(loop.upper, loop.lower)
    if isinstance(distance, Const):
        return (TRUE, loop.lower, loop.upper) if 1 <= distance.value < _LONGEST else None
    return constant_length(loop, _LONGEST)
