"""Rewrites of a `LoopNest` that keep its meaning and make it shorter."""

from __future__ import annotations

from msgspec.structs import replace

from scopt.ir.expr import FALSE, TRUE, conjunction, negate
from scopt.ir.nest import Call, For, Hold, If, LoopNest
from scopt.ir.nest_walks import Item, map_block, replace_names
from scopt.ir.scop import Scop


def simplify(scop: Scop, nest: LoopNest) -> LoopNest:
    """The same statement instances in the same order, with fewer guards, blocks and loops. Each loop must have an
    iterator of its own."""
    return LoopNest(map_block(nest.body, _tidy))


def _tidy(item: Item) -> tuple[Item, ...]:
    """Structural rewrites of one item whose inner blocks are tidy."""
    match item:
        case Call() | Hold():
            return (item,)
        case For():
            return _tidy_loop(item)
        case If():
            return _tidy_branch(item)


def _tidy_loop(loop: For) -> tuple[Item, ...]:
    if not loop.body.items:
        return ()
    if loop.lower == loop.upper:
        return map_block(replace_names(loop.body, {loop.iterator: loop.lower}), _tidy).items
    return (loop,)


def _tidy_branch(branch: If) -> tuple[Item, ...]:
    otherwise = branch.otherwise if branch.otherwise is not None and branch.otherwise.items else None
    if branch.condition == TRUE:
        return branch.then.items
    if branch.condition == FALSE:
        return otherwise.items if otherwise is not None else ()
    if not branch.then.items:
        return _tidy_branch(If(negate(branch.condition), otherwise, None)) if otherwise is not None else ()
    match branch.then.items:
        case (If(inner, then, None),) if otherwise is None:
            return (If(conjunction((branch.condition, inner)), then),)
    return (replace(branch, otherwise=otherwise),)
