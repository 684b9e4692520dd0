"""Vector loops over long rows, which compute a lot or have narrow cells, ask gcc for vectors as long as a register.

On some processors gcc takes halves of the registers unless somebody asks. With whole ones, loops that have something
to compute were measured to be 1.15 to 1.4 times as fast (stencils, polynomials). Of bytes that become ints on the way
gcc makes four vectors for each one of bytes, and moves their halves across: window sums, conversions of colours, and
records of bytes were 1.3 to 1.8 times as fast. clang was slower with longer vectors than it takes: it has a directive
of its own, which is also for targets whose registers are shorter.

Loops that are short, or have other bounds in each iteration of those around them, leave more over that way; so do
loops with stores that data decide about, where that is done one by one. A comparison's result that is a value, and
decides about nothing, is a mask first in the longest vectors. Divisions and roots of floating-point numbers, and
looking things up, take as long for each element whatever the vector is; records that are only taken apart gain nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.c_expr import BLEND
from scopt.astgen.emit.loop_hints import narrowest
from scopt.astgen.passes.estimates import UNKNOWN, Interval, interval
from scopt.ir.expr import names, subtract
from scopt.ir.nest import Expr, For, LoopNest, Max, Min
from scopt.ir.nest_walks import Item, calls, items, map_block
from scopt.ir.scop import CType, Scop, Statement
from scopt.ir.truths import COMPARISONS
from scopt.ir.walks import walk
from scopt.machine.costs import arithmetic

_BYTE, _NARROW, _WORD = 8, 16, 64
# Operations that take longer than what streams through.
_MANY = 8
# Vectors of a row, so that what is left over takes little of the time.
_LEAST = 4
_JUMPS = (ir.For, ir.While, ir.DoWhile, ir.Switch)


def with_wide_vectors(scop: Scop, nest: LoopNest, vector: int) -> LoopNest:
    """The same loops; those over rows ask for vectors of so many bytes."""
    known = {p.name: UNKNOWN if p.estimate is None else (0.0, float(p.estimate)) for p in scop.parameters}
    return LoopNest(map_block(nest.body, _Asking(scop, vector, known).item))


class _Asking(Struct, frozen=True, eq=False):
    """known: what the parameters can be."""

    scop: Scop
    vector: int
    known: Mapping[str, Interval]

    def item(self, item: Item) -> tuple[Item, ...]:
        if isinstance(item, For) and self.is_plain(item) and not self.is_slow(item):
            bits = self.narrowest(item)
            some = self.operations(item) + self.writes_records(item)
            enough = some >= (1 if bits <= _NARROW else _MANY)
            lanes = self.vector // (bits // _BYTE) if enough else 0
            if lanes > 1 and self.iterations(item) >= _LEAST * lanes:
                return (replace(item, mark=replace(item.mark, wide=lanes)),)
        return (item,)

    def is_plain(self, loop: For) -> bool:
        """Whether it is an innermost vector loop, without branches, that nothing else is known of."""
        mark = loop.mark
        if not mark.simd or loop.step > 1 or mark.lanes or mark.jammed or mark.collapse > 1 or mark.parted is not None:
            return False
        statements = [self.scop.statement(call.statement) for call in calls(loop.body)]
        inside = any(isinstance(one, For) for one in items(loop.body))
        compares = any(_compares_for_a_value(one.body) for one in statements)
        return not (inside or compares or any(map(self.may_store, statements)))

    def may_store(self, statement: Statement) -> bool:
        """Whether data decide about a store, or there are loops in a statement."""
        kinds = {type(node) for node in walk(statement.body)}
        stores = any(one.is_write and self.scop.arrays[one.array].rank for one in statement.accesses)
        return not kinds.isdisjoint(_JUMPS) or (ir.If in kinds and stores)

    def is_slow(self, loop: For) -> bool:
        """Whether it looks things up, or divides floating-point numbers or calls functions."""
        statements = [self.scop.statement(call.statement) for call in calls(loop.body)]
        floats = any(self.scop.arrays[access.array].type.floating for one in statements for access in one.accesses)
        nodes = [node for one in statements for node in walk(one.body)]
        assigned = [node.lvalue for node in nodes if isinstance(node, ir.Assignment)]
        given = {one.name for one in assigned if isinstance(one, ir.ID)}
        given |= {node.name for node in nodes if isinstance(node, ir.Decl) and node.init is not None}
        return any(_looks_up(node, given) or (floats and _divides(node)) for node in nodes)

    def narrowest(self, loop: For) -> int:
        """Bits of the narrowest cells; of a whole vector where there are others than numbers of up to 64 bits."""
        found = {one.array for call in calls(loop.body) for one in self.scop.statement(call.statement).accesses}
        arrays = [self.scop.arrays[name] for name in found]
        if not all(_is_number(one.type) for one in arrays):
            return _BYTE * self.vector
        return narrowest(self.scop, loop) or _BYTE * self.vector

    def operations(self, loop: For) -> float:
        """Of an iteration."""
        return sum(arithmetic(self.scop.statement(call.statement).body) for call in calls(loop.body))

    def writes_records(self, loop: For) -> bool:
        """Whether an iteration writes several cells of an array."""
        accesses = (access for call in calls(loop.body) for access in self.scop.statement(call.statement).accesses)
        written = [access.array for access in accesses if access.is_write and self.scop.arrays[access.array].rank]
        return len({*written}) < len(written)

    def iterations(self, loop: For) -> float:
        """How many there are at most; 0 where the loops around it decide about that."""
        uppers, lowers = _parts(loop.upper), _parts(loop.lower)
        lengths = [subtract(upper, lower) for upper in uppers for lower in lowers]
        still = [interval(one, self.known)[1] for one in lengths if names(one) <= self.known.keys()]
        most = min(still, default=0.0) + 1
        return most if len(still) == len(lengths) or most < UNKNOWN[1] else 0.0


def _parts(bound: Expr) -> tuple[Expr, ...]:
    return bound.args if isinstance(bound, Min | Max) else (bound,)


def _is_number(ctype: CType) -> bool:
    return (ctype.integer or ctype.floating) and _BYTE <= ctype.bits <= _WORD


def _looks_up(node: ir.Node, given: Collection[str]) -> bool:
    """Whether a reference's subscript reads, or chooses, or names a variable that an iteration gives a value."""
    return isinstance(node, ir.ArrayRef) and any(
        isinstance(one, ir.ArrayRef | ir.TernaryOp) or (isinstance(one, ir.ID) and one.name in given)
        for one in walk(node.subscript)
    )


def _divides(node: ir.Node) -> bool:
    return isinstance(node, ir.FuncCall) or (isinstance(node, ir.BinaryOp | ir.Assignment) and "/" in node.op)


def _compares_for_a_value(body: ir.Node) -> bool:
    """Whether a comparison stands anywhere but where it decides about a choice."""
    if isinstance(body, ir.TernaryOp | ir.If):
        return any(map(_compares_for_a_value, filter(None, (body.iftrue, body.iffalse))))
    match body:
        case ir.FuncCall(name=ir.ID(name=name), args=ir.ExprList(exprs=[_, one, other])) if name.startswith(BLEND):
            return _compares_for_a_value(one) or _compares_for_a_value(other)
    if isinstance(body, ir.BinaryOp) and body.op in (*COMPARISONS, "&&", "||"):
        return True
    return any(_compares_for_a_value(part) for part in body.parts)
