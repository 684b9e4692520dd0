"""Loops that the text runs in strips, the places of cells ahead: what runs where, and by which buffers.

That the parts of a loop may run one after the other, for any number of iterations, follows from its statements
(`scopt.astgen.passes.computed_places`). That the text says so is seen by reading it (`scopt.astgen.emit.reparse`); that
the statements which it has in place of others look up, hand on and use what those did is seen here.
"""

from __future__ import annotations

from msgspec.structs import replace

from scopt import ir
from scopt.astgen.passes.computed_places import split_of
from scopt.ir.nest import Fetched, For, HandedOn, LoopMark
from scopt.ir.scop import Scop
from scopt.ir.walks import same_tree


def runs_ahead(scop: Scop, loop: For, fetched: Fetched) -> bool:
    """Whether a loop may run in such parts, and variables are handed from one to another."""
    split = split_of(scop, loop)
    if split is None or replace(loop.mark, fetched=None) != LoopMark() or fetched.group != 1:
        return False
    if fetched.ahead != tuple(call.statement for call in split.ahead):
        return False
    if tuple(one.variable for one in fetched.handed) != split.handed:
        return False
    return all(_is_handed_on(scop, one) for one in fetched.handed)


def computed_cells(scop: Scop, loop: For) -> list[tuple[str, ir.Node | None]]:
    """Statements of such a loop, each with a reference that may be looked up between its parts."""
    split = split_of(scop, loop)
    return [(call.statement, access.node) for call, access in split.cells] if split is not None else []


def _is_handed_on(scop: Scop, one: HandedOn) -> bool:
    """Whether two statements put a variable into its buffer, and take it out."""
    save, load = scop.statement(one.save), scop.statement(one.load)
    own = ir.ID(scop.arrays[one.variable].spelling)
    for made, stored in ((save, True), (load, False)):
        (at,) = made.iterators if len(made.iterators) == 1 else ("",)
        cell = ir.ArrayRef(ir.ID(one.buffer), ir.ID(at))
        meant = ir.Assignment("=", cell, own) if stored else ir.Assignment("=", own, cell)
        if at in ("", own.name, one.buffer) or not same_tree(made.body, meant):
            return False
        kinds = [(access.array, access.is_write) for access in made.accesses]
        if kinds != [(one.variable, not stored)]:
            return False
    return True
