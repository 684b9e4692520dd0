"""Vector loops that step by more than one element, or look narrow cells up: no vectors are asked for.

What such a loop stores lies apart, so that a compiler that is told to make vectors scatters them, element by element.
Nor does any instruction gather cells of 8 or 16 bits: they are put into vectors one by one, and taken out again
(measured: half as fast again without, for tables of bytes; of 32 bits, vectors are as fast or faster).
"""

from __future__ import annotations

from msgspec.structs import replace

from scopt.ir.nest import Call, For, LoopNest
from scopt.ir.nest_walks import Item, items, map_block
from scopt.ir.scop import Scop
from scopt.poly.lookups import narrow_lookups


def without_stepping_vectors(scop: Scop, nest: LoopNest) -> LoopNest:
    """The nest with those loops unmarked; but where lanes need copies, or reduce something."""
    tables = frozenset(one.name for one in scop.statements if narrow_lookups(scop, one))

    def visit(item: Item) -> tuple[Item, ...]:
        match item:
            case For(mark=mark) if mark.simd and not mark.lanes and not mark.reductions:
                calls = {one.statement for one in items(item.body) if isinstance(one, Call)}
                if (item.step > 1 or calls & tables) and (mark.parallel or not mark.private):
                    return (replace(item, mark=replace(mark, simd=False)),)
        return (item,)

    return LoopNest(map_block(nest.body, visit))
