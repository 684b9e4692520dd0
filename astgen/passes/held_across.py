"""Cells that an iteration sets, and that loops inside of it may change, in variables of the iteration.

In ``for i { best[i] = HUGE; for k if (d(i, k) < best[i]) best[i] = d(i, k); }`` each step of the inner loop waits for
the store of the one before, and compilers may not move a store that a condition decides about out of a loop. What is
decided here is proved again by `scopt.astgen.passes.held_check`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from msgspec import Struct
from msgspec.structs import replace

from scopt.astgen.emit.names import names_in_use
from scopt.astgen.passes.record_cells import Cell, subscripts_of
from scopt.ir.expr import names
from scopt.ir.nest import Block, Call, Expr, For, Held, Hold, LoopNest
from scopt.ir.nest_walks import Item, calls, items, map_block
from scopt.ir.scop import Access, Scop
from scopt.poly.body_rewriting import always_evaluated


def hold_across(scop: Scop, nest: LoopNest) -> LoopNest:
    """The nest with such cells in variables, wherever nothing else touches them meanwhile."""
    taken = names_in_use(scop, nest)
    return LoopNest(map_block(nest.body, _Holder(scop, taken).item))


class _Holder(Struct, frozen=True, eq=False):
    scop: Scop
    taken: frozenset[str]

    def item(self, item: Item) -> tuple[Item, ...]:
        if not isinstance(item, For) or item.mark.simd or item.mark.jammed or item.step != 1:
            return (item,)
        inner = [one for one in items(item.body) if isinstance(one, For)]
        if not inner or any(one.mark.simd or one.mark.parallel for one in inner):
            return (item,)
        moving = frozenset(one.iterator for one in inner)
        already = {cell.array for one in items(item.body) if isinstance(one, Hold) for cell in one.cells}
        found = [self.cell(item, array, moving) for array in self.set_by(item) if array not in already]
        held = self.named([cell for cell in found if cell is not None])
        return (replace(item, body=Block((Hold(held, self.with_held(item.body, held)),))),) if held else (item,)

    def set_by(self, loop: For) -> list[str]:
        """The arrays with a cell that an iteration sets outside of the loops inside, and that one of these may set."""
        outside = [one for one in loop.body.items if isinstance(one, Call)]
        inside = [one for one in calls(loop.body) if one not in outside]
        if not all(self.scop.statement(one.statement).accesses for one in (*outside, *inside)):
            return []  # in buffers, which nobody knows
        changed = {access.array for one in inside for access in self.accesses(one) if access.kind == "may-write"}
        found = (access.array for one in outside for access in self.accesses(one) if access.is_write)
        return [array for array in dict.fromkeys(found) if array in changed and self.scop.arrays[array].rank]

    def cell(self, loop: For, array: str, moving: frozenset[str]) -> Cell | None:
        """The only cell of an array that an iteration touches, if it writes it first, whatever conditions say."""
        kind = self.scop.arrays[array].type
        if kind.volatile or kind.atomic or kind.bits == 1 or not (kind.floating or kind.integer):
            return None
        uses = [(call, access) for call in calls(loop.body) for access in self.accesses(call) if access.array == array]
        cells = {self.subscripts(call, access) for call, access in uses}
        subscripts = next(iter(cells))
        if len(cells) > 1 or subscripts is None or any(names(one) & moving for one in subscripts):
            return None
        if any(access.node is None for _, access in uses):
            return None
        first = uses[0][0]
        writes = [access for call, access in uses if call is first and access.kind == "write"]
        alone = len(writes) == 1 and sum(call is first for call, _ in uses) == 1
        sure = alone and always_evaluated(self.scop.statement(first.statement).body, writes[0].node)
        return (array, subscripts) if sure and first in loop.body.items else None

    def subscripts(self, call: Call, access: Access) -> tuple[Expr, ...] | None:
        """The cell of a reference, whether a condition on data decides about it or not."""
        made = replace(access, kind="write") if access.kind == "may-write" else access
        return subscripts_of(self.scop, made, call.args)

    def accesses(self, call: Call) -> Sequence[Access]:
        return self.scop.statement(call.statement).accesses

    def named(self, cells: Sequence[Cell]) -> tuple[Held, ...]:
        made: list[Held] = []
        for array, subscripts in cells:
            base, used = self.scop.arrays[array].spelling, {one.name for one in made}
            name = next(name for k in count() if (name := f"{base}_{k}") not in self.taken | used)
            made.append(Held(name, array, subscripts, True))
        return tuple(made)

    def with_held(self, body: Block, held: Sequence[Held]) -> Block:
        """The body with the names of the cells that its calls refer to."""
        variables = {one.array: one.name for one in held}

        def named(item: Item) -> tuple[Item, ...]:
            if not isinstance(item, Call):
                return (item,)
            own = [
                (position, variables[access.array])
                for position, access in enumerate(self.accesses(item))
                if access.array in variables
            ]
            return (replace(item, held=tuple(sorted((*item.held, *own)))),)

        return map_block(body, named)
