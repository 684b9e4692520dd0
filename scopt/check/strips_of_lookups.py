"""Vector loops that the text runs in strips: places of tables are computed in front of what is looked up there.

That iterations may run so follows from the loop being a vector loop, which carries nothing, and from what an iteration
hands from part to part being in cells or buffers. That the text says so is seen by reading it
(`scopt.astgen.emit.reparse`); that the statements which it has in place of a lookup are its parts, is seen here.
"""

from __future__ import annotations

from scopt import ir
from scopt.astgen.emit.names import names_in_use
from scopt.astgen.emit.strip_texts import LOOKUP, PLACE, numbered, part_name
from scopt.astgen.passes.lookups_apart import keeps_order, may_be_strips
from scopt.astgen.transformed_program import Program
from scopt.diagnostics import InternalError
from scopt.ir.nest import Call, For
from scopt.ir.nest_walks import items
from scopt.ir.scop import Scop
from scopt.ir.walks import same_tree, used_names


def check_strips_of_lookups(program: Program) -> None:
    """Raise InternalError if a loop may compute something else in strips."""
    scop, taken = program.scop, names_in_use(program.scop, program.nest)
    known = {one.name for one in scop.statements}
    for loop in items(program.nest.body):
        if not isinstance(loop, For) or not loop.mark.looked:
            continue
        body = [one for one in loop.body.items if isinstance(one, Call)]
        lookups = [one for one in body if f"{one.statement}{PLACE}" in known]
        names = loop.mark.looked
        fresh = len({*names}) == len(names) == len(lookups) + 1 and taken.isdisjoint(names)
        if not (fresh and may_be_strips(loop) and keeps_order(scop, loop, lookups)):
            raise InternalError(f"{scop.location}: lookups: the loop over '{loop.iterator}' can't run in strips")
        for (name, turn), buffer in zip(numbered(lookups), names[1:], strict=True):
            if not _are_parts(scop, name, turn, buffer):
                raise InternalError(f"{scop.location}: lookups: {name} isn't what its parts are")


def _are_parts(scop: Scop, name: str, turn: int, buffer: str) -> bool:
    """Whether two statements are those that put a place into a buffer, and that look up there."""
    one = scop.statement(name)
    place, lookup = (scop.statement(part_name(name, suffix, turn)) for suffix in (PLACE, LOOKUP))
    iterators, types = one.iterators, one.iterator_types
    for part in (place, lookup):
        if part.iterators[:-1] != iterators or part.iterator_types[:-1] != types:
            return False
    at = place.iterators[-1]
    if at != lookup.iterators[-1] or {at, buffer} & {*iterators, *used_names(one.body)}:
        return False
    cell = ir.ArrayRef(ir.ID(buffer), ir.ID(at))
    match one.body, place.body, lookup.body:
        case (
            ir.Assignment(op="=", lvalue=target, rvalue=value),
            ir.Assignment(op="=", lvalue=slot, rvalue=computed),
            ir.Assignment(op="=", lvalue=stored, rvalue=found),
        ):
            if isinstance(value, ir.Cast) and isinstance(found, ir.Cast) and same_tree(value.to_type, found.to_type):
                value, found = value.expr, found.expr
            match value, found:
                case ir.ArrayRef(name=table, subscript=meant), ir.ArrayRef(name=other, subscript=taken):
                    pairs = ((target, stored), (slot, cell), (computed, meant), (table, other), (taken, cell))
                    return all(same_tree(mine, theirs) for mine, theirs in pairs)
    return False
