"""Statements of vector loops, in another form."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from scopt.ir.nest import Call, For, LoopNest
from scopt.ir.nest_walks import Item, map_block
from scopt.ir.scop import Scop, Statement


def with_vector_statements(
    scop: Scop, nest: LoopNest, make: Callable[[str], Statement | None]
) -> tuple[Scop, LoopNest]:
    """The nest, whose vector loops, and those that are to have such parts, call what `make` has for their statements,
    by name, and the SCoP with that. make: None where a statement stays; asked once for each."""
    made = dict[str, Statement | None]()

    def call(item: Item) -> tuple[Item, ...]:
        if not isinstance(item, Call):
            return (item,)
        if item.statement not in made:
            made[item.statement] = make(item.statement)
        new = made[item.statement]
        return (item,) if new is None else (replace(item, statement=new.name),)

    def loop(item: Item) -> tuple[Item, ...]:
        if isinstance(item, For) and (item.mark.simd or item.mark.placed):
            return (replace(item, body=map_block(item.body, call)),)
        return (item,)

    block = map_block(nest.body, loop)
    found = [one for one in made.values() if one is not None]
    return (replace(scop, statements=(*scop.statements, *found)), LoopNest(block)) if found else (scop, nest)
