"""Loops around sums of products of narrow integers: gcc takes the sum for its vector loop.

``for i: { s = 0; for j: s += x[i + j] * y[j]; r[i] = s; }`` could have lanes for i or for j. gcc takes i, the loop
around, wherever cells lie side by side along it, and widens both operands to 32 bits before it multiplies. Processors
multiply and add pairs of 16 bits by one instruction, which only serves along j: 1.7 times as fast (measured with 1000
steps).
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.passes.chains import stays
from scopt.astgen.passes.estimates import UNKNOWN, Interval, interval
from scopt.ir.expr import names, subtract
from scopt.ir.nest import Block, Call, For, LoopNest
from scopt.ir.nest_walks import Item, map_block
from scopt.ir.scop import Access, Scop, Statement
from scopt.poly.linear import subscript_rows

# Bits of operands that there are such instructions for, and of the sum.
_NARROW, _SUM = 16, 32
# Steps from where on putting the lanes of a sum together takes little (chosen: four of the longest vectors).
_LEAST = 128


def with_sums_along(scop: Scop, nest: LoopNest) -> LoopNest:
    """The same loops; those around such sums are marked."""
    known = {p.name: UNKNOWN if p.estimate is None else (0.0, float(p.estimate)) for p in scop.parameters}
    return LoopNest(map_block(nest.body, _Marking(scop, known).item))


class _Marking(Struct, frozen=True, eq=False):
    """known: what the parameters can be."""

    scop: Scop
    known: dict[str, Interval]

    def item(self, item: Item) -> tuple[Item, ...]:
        match item:
            case For(body=Block(items)) if not (item.mark.simd or item.mark.jammed or item.mark.scalar):
                inner = [one for one in items if not isinstance(one, Call)]
                if len(inner) == 1 and isinstance(inner[0], For) and self.sums_products(item, inner[0]):
                    return (replace(item, mark=replace(item.mark, around=True)),)
        return (item,)

    def sums_products(self, outer: For, loop: For) -> bool:
        """Whether a loop does nothing but sum products up, whose operands lie side by side along the loop around."""
        match loop.body:
            case Block((Call() as only,)) if not (loop.mark.simd or loop.mark.parallel or loop.mark.jammed):
                statement = self.scop.statement(only.statement)
                operands = factors(self.scop, statement)
                if operands is None or not stays(statement, only, loop.iterator):
                    return False
                around, along = (
                    [k for k, argument in enumerate(only.args) if iterator in names(argument)]
                    for iterator in (outer.iterator, loop.iterator)
                )
                return self.is_long(loop, operands, along) and all(is_near(one, around) for one in operands)
        return False

    def is_long(self, loop: For, operands: list[Access], along: list[int]) -> bool:
        """Whether a loop has many iterations, as far as parameters and arrays' sizes tell."""
        length = subtract(loop.upper, loop.lower)
        most = interval(length, self.known)[1] if names(length) <= self.known.keys() else UNKNOWN[1]
        sizes = [self.scop.arrays[one.array].sizes[-1:] for one in operands if is_near(one, along, least=1)]
        known = [size for (size,) in sizes if size is not None]
        return _LEAST <= min((most, *known)) < UNKNOWN[1]


def factors(scop: Scop, statement: Statement) -> list[Access] | None:
    """The operands of ``sum += x * y``, of narrow integers; None for other statements."""
    match statement.body:
        case ir.Assignment(op="+=", lvalue=target, rvalue=ir.BinaryOp(op="*", left=left, right=right)):
            writes = [access for access in statement.accesses if access.is_write]
            reads = [access for access in statement.accesses if access.node in (bare(left), bare(right))]
            types = [scop.arrays[access.array].type for access in (*writes, *reads)]
            if len(writes) != 1 or writes[0].node is not target or len(reads) != 2 or types[0].bits != _SUM:
                return None
            narrow = all(one.integer and 0 < one.bits <= _NARROW for one in types[1:])
            return reads if narrow and types[0].integer else None
    return None


def bare(node: ir.Node) -> ir.Node:
    """An operand without casts."""
    return bare(node.expr) if isinstance(node, ir.Cast) else node


def is_near(access: Access, moved: list[int], *, least: int = 0) -> bool:
    """Whether iterations of a loop, that these iterators move with, access neighbouring cells, or one and the same.
    least: how far apart they are at least."""
    rows = subscript_rows(access.relation)
    if rows is None:
        return False
    steps = [int(sum(row[k] for k in moved)) for row in rows]
    return not any(steps[:-1]) and least <= abs(steps[-1]) <= 1
