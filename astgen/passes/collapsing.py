"""Parallel loops of few iterations, or of nobody knows how many, that threads share out together with the loop inside.

Compilers find out in each iteration, or each time that a thread begins, where they are in such a pair: the loops inside
have to be long beside that.
"""

from __future__ import annotations

from msgspec.structs import replace

from scopt.astgen.emit.balance import runs_backwards
from scopt.ir.collapsed import inner_loop
from scopt.ir.nest import Const, For, LoopNest
from scopt.ir.nest_walks import Item, items, map_block

# Iterations of loops that compilers make straight code of.
_SHORT = 16


def with_collapsed_loops(nest: LoopNest) -> LoopNest:
    """The nest with marks that ask for one loop of threads over two only where there are two that can be collapsed."""

    def visit(item: Item) -> tuple[Item, ...]:
        match item:
            case For(mark=mark) if mark.collapse > 1:
                inner = inner_loop(item)
                if inner is None or runs_backwards(item) or all(map(_is_short, items(inner.body))):
                    return (replace(item, mark=replace(mark, collapse=1)),)
        return (item,)

    return LoopNest(map_block(nest.body, visit))


def _is_short(item: Item) -> bool:
    match item:
        case For(lower=Const(first), upper=Const(last)):
            return last - first < _SHORT * item.step
    return not isinstance(item, For)
