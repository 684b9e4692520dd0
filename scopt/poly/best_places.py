"""Searches for what is best and where: ``if (x > best) { best = x; row = i; column = j; }``.

Of such a statement the comparison and one assignment are an extremum by themselves. What else it assigns is where, or
with what, that was found. It takes what is better, and not what is as good: the first one of the best ones decides.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.ir.scop import Access, Statement
from scopt.ir.walks import walk
from scopt.poly.reductions import selected


class Search(Struct, frozen=True, eq=False):
    """A statement that searches. best: the assignment of the extremum; alone: the statement that does this alone;
    places: the other assignments, each with the access that it writes to."""

    statement: Statement
    condition: ir.Node
    best: ir.Assignment
    alone: Statement
    places: tuple[tuple[ir.Assignment, Access], ...]


def search_of(statement: Statement) -> Search | None:
    """The statement as a search for the first one of the best; None if it has another form."""
    match statement.body:
        case ir.If(cond=condition, iftrue=ir.Compound(block_items=items), iffalse=None) if len(items or ()) > 1:
            pass
        case _:
            return None
    made = [one for one in items if isinstance(one, ir.Assignment) and one.op == "="]
    best = next((one for one in made if _is_strict(condition, one)), None)
    if best is None or len(made) < len(items) or any(access.node is None for access in statement.accesses):
        return None
    places = []
    for one in made:
        if one is best:
            continue
        writes = [a for a in statement.accesses if a.is_write and a.node in set(walk(one))]
        if len(writes) != 1 or writes[0].node is not one.lvalue or len(accesses_in(statement, one.lvalue)) != 1:
            return None
        places.append((one, writes[0]))
    kept = {*walk(condition), *walk(best)}
    accesses = tuple(access for access in statement.accesses if access.node in kept)
    written = {access.array for access in statement.accesses if access.is_write}
    values = [one.rvalue for one, _ in places if one.rvalue is not None]
    beside = {write.array for _, write in places}
    again = any(a.array in written for one in values for a in accesses_in(statement, one))
    if len(written) <= len(places) or again or any(a.array in beside for a in accesses):
        return None  # one cell is assigned twice, or from another one
    alone = replace(statement, body=ir.If(condition, best, None), accesses=accesses)
    return Search(statement, condition, best, alone, tuple(places))


def accesses_in(statement: Statement, node: ir.Node | None) -> tuple[Access, ...]:
    """A statement's accesses in a part of its body."""
    inside = set(walk(node))
    return tuple(access for access in statement.accesses if access.node in inside)


def _is_strict(condition: ir.Node, assigned: ir.Assignment) -> bool:
    found = selected(ir.If(condition, assigned, None))
    return found is not None and found.extremum.op in ("<", ">") and not found.extremum.keeps
