"""Vector loops over rows start where the rows' lines do, so that most of their loads and stores stay within one line.

A vector as long as a line that starts inside of one touches two. ``for (k = 1; …)`` around ``B[i][k] = A[i - 1][k] +
A[i + 1][k] + A[i][k - 1] …`` does so in nearly all of its loads, which then take twice as long from the first cache.
Arrays and their rows are taken to start at lines: nothing but the time depends on it.

The iterations in front of that are no whole vectors: of bytes there are up to 63, which takes longer than all of a row
of some hundred. So rows have to be long enough, and loads have to be what a vector takes time for; others ask gcc for
long vectors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.subscripts import linear_subscript
from scopt.astgen.passes.estimates import UNKNOWN, Interval, interval
from scopt.ir.expr import linear, minimum
from scopt.ir.nest import Block, Call, Const, Expr, For, Hold, If, LoopNest, Name
from scopt.ir.nest_walks import Item
from scopt.ir.scop import Access, Scop
from scopt.machine.costs import arithmetic

# What goes in front costs a few iterations one by one, and as many are left over behind whole vectors.
# So many references have to gain by it, and so many lines have to follow (measured: rows of 38 and 128 doubles, and of
# 218 floats, lost 10 to 30 %; rows of 218 doubles lose nothing).
REFERENCES, LINES = 3, 16
# Bytes of the shortest vector that compilers make of the iterations in front.
_SHORTEST = 16


def with_aligned_starts(scop: Scop, nest: LoopNest, line: int) -> LoopNest:
    """The same instances in the same order: vector loops from a constant on are split where most of their references
    reach a line's start, or ask gcc for vectors as long as a line.

    line: of the first cache, in bytes. Only loops over rows that the loops around them come back to: others wait for
      memory.
    """
    known = {p.name: UNKNOWN if p.estimate is None else (0.0, float(p.estimate)) for p in scop.parameters}
    return LoopNest(_Aligned(scop, line, known).block(nest.body, 0))


class _Aligned(Struct, frozen=True, eq=False):
    """known: what the parameters can be."""

    scop: Scop
    line: int
    known: Mapping[str, Interval]

    def block(self, block: Block, depth: int) -> Block:
        """depth: loops around it."""
        return Block(tuple(found for item in block.items for found in self.item(item, depth)))

    def item(self, item: Item, depth: int) -> tuple[Item, ...]:
        match item:
            case For() if item.mark.simd and all(isinstance(inner, Call) for inner in item.body.items):
                return self.split(item, depth)
            case For():
                return (replace(item, body=self.block(item.body, depth + 1)),)
            case If():
                otherwise = None if item.otherwise is None else self.block(item.otherwise, depth)
                return (replace(item, then=self.block(item.then, depth), otherwise=otherwise),)
            case Hold():
                return (replace(item, body=self.block(item.body, depth)),)
        return (item,)

    def split(self, loop: For, depth: int) -> tuple[Item, ...]:
        """The iterations up to the first line's start, and the others."""
        if (
            not isinstance(loop.lower, Const)
            or loop.lower.value < 0
            or loop.step != 1
            or loop.mark.parallel
            or loop.mark.reductions
        ):
            return (loop,)
        found = list(self.references(loop, depth))
        elements = {element for element, _ in found}
        if len(elements) != 1 or self.line % next(iter(elements)):
            return (loop,)
        lanes = self.line // elements.pop()
        offsets = Counter(offset % lanes for _, offset in found)
        start = loop.lower.value
        best, most = max(offsets.items(), key=lambda pair: (pair[1], -pair[0]))
        if (
            most < REFERENCES
            or offsets[-start % lanes] == most
            or interval(loop.upper, self.known)[1] < start + LINES * lanes
        ):
            return (loop,)
        first = start + (-start - best) % lanes
        lines = (interval(loop.upper, self.known)[1] - first) / lanes
        before, after = (self.taken(loop, len(found), aligned) for aligned in (offsets[-start % lanes], most))
        if lines * (before - after) <= _turns(first - start, self.line // lanes) * before:
            return (replace(loop, mark=replace(loop.mark, wide=lanes)),)
        # From there on a vector may well be as long as a line.
        return (
            replace(loop, upper=minimum((loop.upper, Const(first - 1)))),
            replace(loop, lower=Const(first), mark=replace(loop.mark, lanes=lanes)),
        )

    def taken(self, loop: For, references: int, aligned: int) -> float:
        """Half cycles of a vector: its loads and stores, so many of which stay within a line, or its operations."""
        operations = sum(
            arithmetic(self.scop.statement(call.statement).body) for call in loop.body.items if isinstance(call, Call)
        )
        return max(2 * references - aligned, operations)

    def references(self, loop: For, depth: int) -> Iterator[tuple[int, int]]:
        """Of each of the references along a row: an element's bytes, and how far it is ahead of the iterator. Nothing,
        if one goes elsewhere."""
        seen: set[tuple[str, bool, tuple[Expr, ...]]] = set()
        for call in loop.body.items:
            assert isinstance(call, Call)
            statement = self.scop.statement(call.statement)
            values = dict(zip(statement.iterators, call.args, strict=True))
            types = dict(zip(statement.iterators, statement.iterator_types, strict=True))
            parameters = {p.spelling: p for p in self.scop.parameters}
            for access in statement.accesses:
                array = self.scop.arrays[access.array]
                subscripts = [linear_subscript(e, values, types, parameters) for e in _subscripts(access)]
                if not subscripts or len(subscripts) != len(array.extents) or depth < len(subscripts):
                    continue
                cell = tuple(e for e in subscripts if e is not None)
                if len(cell) < len(subscripts) or (array.name, access.is_write, cell) in seen or not array.type.bits:
                    continue
                seen.add((array.name, access.is_write, cell))
                terms, offset = linear(cell[-1])
                if terms == {Name(loop.iterator): 1}:
                    yield array.type.bytes, offset


def _turns(iterations: int, element: int) -> int:
    """Vectors, shorter and shorter ones, and single iterations that compilers make of so many. element: its bytes."""
    least = max(_SHORTEST // element, 1)
    return (iterations // least).bit_count() + iterations % least


def _subscripts(access: Access) -> tuple[ir.Node, ...]:
    """The subscripts of a reference, outermost dimension first; none for a scalar."""
    node, found = access.node, list[ir.Node]()
    while isinstance(node, ir.ArrayRef):
        found.insert(0, node.subscript)
        node = node.name
    return tuple(found)
