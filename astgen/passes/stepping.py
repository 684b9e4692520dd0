"""Vector loops that step by more than one element: no vectors are asked for.

What such a loop stores lies apart, so that a compiler that is told to make vectors scatters them, element by element.
"""

from __future__ import annotations

from msgspec.structs import replace

from scopt.ir.nest import For, LoopNest
from scopt.ir.nest_walks import Item, map_block


def without_stepping_vectors(nest: LoopNest) -> LoopNest:
    """The nest with those loops unmarked that step; but where lanes need copies, or reduce something."""

    def visit(item: Item) -> tuple[Item, ...]:
        match item:
            case For(mark=mark) if item.step > 1 and mark.simd and not mark.lanes and not mark.reductions:
                if mark.parallel or not mark.private:
                    return (replace(item, mark=replace(mark, simd=False)),)
        return (item,)

    return LoopNest(map_block(nest.body, visit))
