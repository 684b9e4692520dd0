"""Vector loops that the text runs in strips: cells that last for some iterations are fetched into buffers in front.

That iterations may run so follows from nothing in the loop writing these cells, or what leads to them, and from each
being the same one for all iterations of a group. That the text says so is seen by reading it
(`scopt.astgen.emit.reparse`); that the statements which it has in place of others fetch, and use, what those read, is
seen here.
"""

from __future__ import annotations

from typing import Any

from scopt import ir
from scopt.astgen.emit.names import names_in_use
from scopt.astgen.emit.strip_texts import STRIP
from scopt.astgen.passes.fetched_cells import is_simple, may_fetch
from scopt.astgen.transformed_program import Program
from scopt.check.handed_values import computed_cells, runs_ahead
from scopt.diagnostics import InternalError
from scopt.ir.nest import Call, Fetched, For
from scopt.ir.nest_walks import items
from scopt.ir.scop import Scop
from scopt.ir.walks import replaced, same_tree, used_names
from scopt.poly.lasting_cells import lasting_cells, looked_up_cells


def check_fetched_strips(program: Program) -> None:
    """Raise InternalError if a loop may compute something else in strips."""
    scop, taken = program.scop, names_in_use(program.scop, program.nest)
    for loop in items(program.nest.body):
        if isinstance(loop, For) and loop.mark.fetched is not None:
            fetched = loop.mark.fetched
            buffers = [*(buffer for _, _, buffer in fetched.cells), *(one.buffer for one in fetched.handed)]
            names = [fetched.strip, *buffers]
            fresh = len({*names}) == len(names) and taken.isdisjoint(names)
            may = runs_ahead(scop, loop, fetched) if fetched.ahead else may_fetch(loop) and not fetched.handed
            if not (fresh and may and _lasts(scop, loop, fetched) and _are_forms(scop, fetched)):
                raise InternalError(f"{scop.location}: fetched: the loop over '{loop.iterator}' can't run in strips")


def _lasts(scop: Scop, loop: For, fetched: Fetched) -> bool:
    """Whether all cells are those that statements of the loop, each there once, read in a whole group."""
    calls = [one for one in loop.body.items if isinstance(one, Call)]
    names = [one.statement for one in calls]
    if len(calls) < len(loop.body.items) or len({*names}) < len(names) or STRIP % fetched.group:
        return False
    known = [
        (call.statement, access.node)
        for call, access, count in lasting_cells(scop, loop, calls)
        if count % fetched.group == 0 and is_simple(scop.arrays[access.array].type) and not fetched.ahead
    ]
    if fetched.ahead:
        known = computed_cells(scop, loop)
    elif fetched.group == 1:
        known += [(call.statement, access.node) for call, access in looked_up_cells(scop, loop, calls)]
    for name, fetch, buffer in fetched.cells:
        one, made = scop.statement(name), scop.statement(fetch)
        match made.body:
            case ir.Assignment(op="=", lvalue=ir.ArrayRef(name=ir.ID(name=own), subscript=ir.ID(name=at)), rvalue=node):
                same = made.iterators == (*one.iterators, at) and at not in (*one.iterators, *used_names(one.body))
                read = any(name == other and node is reference for other, reference in known)
                if own == buffer and same and read and made.iterator_types[:-1] == one.iterator_types:
                    continue
        return False
    return {name for name, _, _ in fetched.cells} == {name for name, _ in fetched.forms}


def _are_forms(scop: Scop, fetched: Fetched) -> bool:
    """Whether statements that use buffers are the others, with what was fetched in place of the cells."""
    for name, form in fetched.forms:
        meant = {buffer: scop.statement(fetch).body.rvalue for own, fetch, buffer in fetched.cells if own == name}
        one, made = scop.statement(name), scop.statement(form)
        at = made.iterators[-1]

        def cell(node: Any, at: str = at, meant: dict[str, ir.Node] = meant) -> Any:
            match node:
                case ir.ArrayRef(name=ir.ID(name=of), subscript=ir.ID(name=place)) if of in meant and place == at:
                    return meant[of]
            return node

        if made.iterators != (*one.iterators, at) or not same_tree(replaced(made.body, cell), one.body):
            return False
    return len(dict(fetched.forms)) == len(fetched.forms)
