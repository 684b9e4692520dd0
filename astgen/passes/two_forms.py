"""Parallel loops inside of sequential ones stand beside the same loops for one thread, where these are quick.

An `if` clause that fails leaves the loop in a function of its own, which the OpenMP runtime calls in each iteration of
the loops around: that takes longer than a short loop, whose values the compiler can't keep in registers either.
"""

from __future__ import annotations

from msgspec.structs import replace

from scopt.astgen.emit.loop_work import is_tile_loop, without_threads
from scopt.diagnostics import InternalError
from scopt.ir.nest import And, Block, Compare, Condition, Exceeds, For, Hold, If, LoopNest, Or
from scopt.ir.nest_walks import Item, calls, items, map_block
from scopt.ir.scop import Scop

# Statements of a loop that stands twice (chosen): the text of more is long, and a call takes little of their time.
_MOST_CALLS = 8


def with_two_forms(nest: LoopNest) -> LoopNest:
    """The nest with a choice in the place of each guarded parallel loop that is in a sequential one and small:
    with threads, without its guard, or as a plain loop."""
    return LoopNest(_block(nest.body, inside=False))


def in_one_form(scop: Scop, nest: LoopNest) -> LoopNest:
    """The nest with the threads' loops in the place of choices that depend on how much work there is.

    Raises InternalError where the other form isn't the same loops without threads: nothing is known of such conditions,
    so that either form may run.
    """

    def visit(item: Item) -> tuple[Item, ...]:
        if not isinstance(item, If):
            return (item,)
        if item.otherwise == Block(tuple(map(_sequential, item.then.items))):
            return item.then.items
        if _of_work(item.condition):
            raise InternalError(f"{scop.location}: generated loops: two forms that aren't the same: {item.condition}")
        return (item,)

    return LoopNest(map_block(nest.body, visit))


def _block(block: Block, *, inside: bool) -> Block:
    return Block(tuple(_item(item, inside=inside) for item in block.items))


def _item(item: Item, *, inside: bool) -> Item:
    match item:
        case For() if item.mark.parallel:
            if not inside or item.work is None or is_tile_loop(item) or not _is_small(item):
                return item
            threads = replace(item, work=None)
            return If(item.work, Block((threads,)), Block((_sequential(threads),)))
        case For():
            return replace(item, body=_block(item.body, inside=True))
        case Hold():
            return replace(item, body=_block(item.body, inside=inside))
        case If():
            otherwise = None if item.otherwise is None else _block(item.otherwise, inside=inside)
            return replace(item, then=_block(item.then, inside=inside), otherwise=otherwise)
    return item


def _is_small(loop: For) -> bool:
    """Whether a loop has no tiles, and not many statements."""
    inner = [one for one in items(Block((loop,))) if isinstance(one, For)]
    return all(one.step == 1 for one in inner) and sum(1 for _ in calls(loop.body)) <= _MOST_CALLS


def _sequential(item: Item) -> Item:
    """A loop of threads as one for a single thread."""
    if isinstance(item, For) and item.mark.parallel:
        return replace(item, mark=without_threads(item.mark), work=None)
    return item


def _of_work(condition: Condition) -> bool:
    """Whether a condition tests a product: no set of iterations is where it holds."""
    match condition:
        case Exceeds():
            return True
        case And(args) | Or(args):
            return any(map(_of_work, args))
        case Compare():
            return False
