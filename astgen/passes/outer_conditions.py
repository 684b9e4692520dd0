"""Conditions that a vector loop leaves as they are stand around it: ``for t: for lanes: { if (t == 0) A; B; }`` becomes
``for t: { if (t == 0) for lanes: A; for lanes: B; }``.

The lanes of a recurrence meet its first and its last step all at once. gcc takes such a condition out of a short loop
by itself (loop unswitching: Allen and Cocke, "A catalogue of optimizing transformations", 1972); a long one gets no
vectors. A vector loop carries nothing, so that its statements may have loops of their own (distribution), unless
they hand something on in a private variable of a lane.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from scopt.ir.expr import names
from scopt.ir.nest import Block, For, If, LoopNest
from scopt.ir.nest_walks import Item, calls, items, map_block
from scopt.ir.scop import Scop
from scopt.ir.walks import used_names


def with_conditions_outside(scop: Scop, nest: LoopNest) -> LoopNest:
    """The same instances, with such loops in parts."""

    def visit(item: Item) -> tuple[Item, ...]:
        match item:
            case For() if _may_have_parts(item):
                parts = tuple(_parts(scop, item, item.body))
                if any(isinstance(one, If) for one in parts) and _keeps_private(scop, item, parts):
                    return parts
        return (item,)

    return LoopNest(map_block(nest.body, visit))


def _may_have_parts(loop: For) -> bool:
    """Whether it is an innermost vector loop of one thread, which puts nothing together in the end."""
    mark = loop.mark
    return mark.simd and not (mark.parallel or mark.reductions or any(isinstance(one, For) for one in items(loop.body)))


def _parts(scop: Scop, loop: For, body: Block) -> Iterator[For | If]:
    """A body of the loop in loops of their own: one for neighbours, and others below each condition of the loops
    around."""
    together: list[Item] = []
    for item in body.items:
        if not isinstance(item, If) or loop.iterator in names(item.condition):
            together.append(item)
            continue
        if together:
            yield _alone(scop, loop, tuple(together))
        together = []
        then, otherwise = (one and Block(tuple(_parts(scop, loop, one))) for one in (item.then, item.otherwise))
        yield If(item.condition, then or Block(()), otherwise)
    if together:
        yield _alone(scop, loop, tuple(together))


def _alone(scop: Scop, loop: For, body: tuple[Item, ...]) -> For:
    used = _used(scop, Block(body))
    private = tuple(name for name in loop.mark.private if name in used)
    return replace(loop, body=Block(body), mark=replace(loop.mark, private=private))


def _used(scop: Scop, block: Block) -> frozenset[str]:
    """Arrays and variables that statements name: those of strips don't say what they access."""
    found = set(used_names(*(scop.statement(call.statement).body for call in calls(block))))
    return frozenset(name for name, array in scop.arrays.items() if array.spelling in found)


def _keeps_private(scop: Scop, loop: For, parts: tuple[For | If, ...]) -> bool:
    """Whether each private variable is used in one of the loops alone."""
    used = [_used(scop, one.body) for one in items(Block(parts)) if isinstance(one, For)]
    return all(sum(name in one for one in used) <= 1 for name in loop.mark.private)
