"""Sums of products of bytes: gcc multiplies and adds pairs of shorts by one instruction, but not bytes.

``s += x[k] * y[k]`` of shorts is one instruction for two products each (PMADDWD); of bytes, gcc computes products of 16
bits, widens these, and adds. It does so for whatever it knows to have been a byte; of one factor it must not know
(measured, dot products of 64 to 1000 bytes, AVX2 and AVX-512: 0.5 to 0.6 of the time). clang knows by itself.
"""

from __future__ import annotations

from msgspec import Struct, field
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.c_expr import WIDENED, helper_name
from scopt.astgen.lower.body_syntax import call
from scopt.astgen.passes.chains import stays
from scopt.astgen.passes.dot_products import bare, factors, is_near
from scopt.ir.expr import names, subtract
from scopt.ir.nest import Block, Call, Const, For, LoopMark, LoopNest
from scopt.ir.nest_walks import Item, calls, map_block
from scopt.ir.scop import Scop, Statement
from scopt.ir.walks import replaced, same_tree

WIDER = "_wider"
_BYTE = 8
# Iterations of loops that are known to be short, which gcc writes out (its `max-completely-peel-times`).
_FEW = 16


def with_widened_factors(source: Scop, scop: Scop, nest: LoopNest) -> tuple[Scop, LoopNest]:
    """The nest where such sums call a function for one factor, and the SCoP with these statements."""
    rewriter = _Rewriter(scop)
    block = map_block(nest.body, rewriter.item)
    return replace(scop, statements=(*scop.statements, *rewriter.made.values())), LoopNest(block)


def widens_factors(scop: Scop, nest: LoopNest) -> bool:
    """Whether there is such a sum, with the call or still without it."""
    made = any(one.statement.endswith(WIDER) for one in calls(nest.body))
    return made or with_widened_factors(scop, scop, nest)[1] != nest


def is_widened(scop: Scop, statement: Statement, base: Statement) -> bool:
    """Whether a statement is such a sum, and but for the call the other one."""
    found = _widened(scop, base)
    alike = (statement.iterators, statement.accesses) == (base.iterators, base.accesses)
    return found is not None and alike and same_tree(statement.body, found)


class _Rewriter(Struct, frozen=True, eq=False):
    """made: new statements, by the old ones' names."""

    scop: Scop
    made: dict[str, Statement] = field(default_factory=dict)

    def item(self, item: Item) -> tuple[Item, ...]:
        match item:
            case For(body=Block(inside), step=1) if item.mark == LoopMark() and not _is_short(item):
                sums = [one for one in inside if isinstance(one, Call) and self.sums_up(item, one)]
                if sums and len(sums) == len(inside):
                    return (replace(item, body=Block(tuple(map(self.wider, sums)))),)
        return (item,)

    def sums_up(self, loop: For, one: Call) -> bool:
        """Whether a statement sums up, in one cell, products of numbers that lie side by side along the loop; some may
        be the same in all iterations."""
        statement = self.scop.statement(one.statement)
        found = factors(self.scop, statement)
        if found is None or not stays(statement, one, loop.iterator):
            return False
        along = [k for k, argument in enumerate(one.args) if loop.iterator in names(argument)]
        return all(is_near(cell, along) for cell in found) and any(is_near(cell, along, least=1) for cell in found)

    def wider(self, one: Call) -> Call:
        """The call of a statement, with a function called for one of its factors if they are bytes."""
        statement = self.scop.statement(one.statement)
        body = _widened(self.scop, statement)
        if body is None:
            return one
        made = self.made.setdefault(statement.name, replace(statement, name=f"{statement.name}{WIDER}", body=body))
        return replace(one, statement=made.name)


def _is_short(loop: For) -> bool:
    length = subtract(loop.upper, loop.lower)
    return isinstance(length, Const) and length.value < _FEW


def _widened(scop: Scop, statement: Statement) -> ir.Node | None:
    """The body of ``sum += x * y``, of two bytes, with the call; None for other statements."""
    found = factors(scop, statement)
    if found is None or not isinstance(statement.body, ir.Assignment):
        return None
    types = [scop.arrays[one.array].type for one in found]
    if any(one.bits != _BYTE or one.volatile or one.atomic for one in types):
        return None
    first = bare(statement.body.rvalue.left)
    name = helper_name(WIDENED[types[0].signed == types[1].signed], scop.reserved)
    wide = call(name, [first])
    body: ir.Node = replaced(statement.body, lambda node: wide if node is first else node)
    return body
