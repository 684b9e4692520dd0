"""Loops that share braces with what stands in front of them."""

from __future__ import annotations

from scopt.astgen.emit.interiors import interior_of
from scopt.astgen.emit.narrow_texts import stands_twice
from scopt.ir.nest import Block, For, Hold
from scopt.ir.scop import Scop


def inline(scop: Scop, block: Block) -> bool:
    """Whether the block's braces are those of cells that it holds, or of what it asks, or adds, before a loop."""
    match block.items:
        case (Hold(),):
            return True
        case (For() as loop,):
            return in_braces(scop, loop)
    return False


def in_braces(scop: Scop, loop: For) -> bool:
    """Whether something stands in front of a loop that is for it alone."""
    mark = loop.mark
    own = mark.searched or mark.looked or mark.fetched or mark.parted or stands_twice(loop)
    return bool(own) or interior_of(scop, loop) is not None
