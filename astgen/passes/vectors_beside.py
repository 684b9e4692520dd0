"""Whether compilers make vectors of a loop once what it looks up in tables of narrow cells waits in buffers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from scopt import ir
from scopt.astgen.emit.loop_hints import is_straight
from scopt.ir.expr import linear
from scopt.ir.nest import Call, For, Name
from scopt.ir.scop import Access, Scop
from scopt.ir.walks import walk
from scopt.poly.linear import subscript_moves


def has_vectors_beside(scop: Scop, loop: For, calls: Sequence[Call], fetched: Sequence[Access]) -> bool:
    """Whether a loop is straight code that goes along rows, and hands nothing on, but for some references."""
    gone = {id(node) for access in fetched if access.node is not None for node in walk(access.node)}
    statements = [scop.statement(call.statement) for call in calls]
    written = {access.array for one in statements for access in one.accesses if access.is_write}
    given = set[str]()
    for call, statement in zip(calls, statements, strict=True):
        if not is_straight(statement) or not isinstance(statement.body, ir.Assignment) or statement.body.op != "=":
            return False
        for access in sorted(statement.accesses, key=lambda one: one.is_write):
            if id(access.node) in gone:
                continue
            if not scop.arrays[access.array].rank:
                if not access.is_write and access.array in written - given:
                    return False  # the last iteration's
            elif _moves(call, access, loop.iterator) not in ((0, 1) if not access.is_write else (1,)) or (
                access.array in written and not access.is_write
            ):
                return False
        given |= {access.array for access in statement.accesses if access.is_write}
    return True


def _moves(call: Call, access: Access, iterator: str) -> int | None:
    """By how many elements of a row a reference moves from iteration to iteration; None where it leaves its row, or
    nobody knows."""
    direction = tuple(Fraction(linear(one)[0].get(Name(iterator), 0)) for one in call.args)
    moves = subscript_moves(access.relation, direction)
    return int(moves[-1]) if moves and not any(moves[:-1]) and moves[-1].denominator == 1 else None
