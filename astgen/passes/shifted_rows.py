"""Loops around vector loops along rows that data shift: ``for m: for i: y[i] += x[m][i + delay[m]];``.

gcc runs two iterations of the loop around at a time (unroll-and-jam) before it looks for vectors. Where both rows begin
where a number in memory says, or a pointer there, it doesn't see any more that cells follow each other, and makes no
vectors at all (measured: a fifth of the speed). Nor does it where all iterations read a cell at a place that isn't
linear in the loop around, ``w[k * m % n]``, which it moves into the loop then (a transform with a table: two fifths of
the speed). A call that does nothing, in the loop around, keeps it from that.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from scopt import ir
from scopt.ir.expr import names
from scopt.ir.nest import Block, For, LoopNest
from scopt.ir.nest_walks import Item, calls, children, map_block
from scopt.ir.scop import Scop
from scopt.ir.walks import used_names, walk

# Of numbers that follow each other, these make ones that don't.
_JUMPING = ("%", "/", ">>", "&", "|", "^")


def with_shifted_rows_apart(scop: Scop, nest: LoopNest) -> LoopNest:
    """The same loops; those around such vector loops are marked."""

    def visit(item: Item) -> tuple[Item, ...]:
        match item:
            case For(mark=mark) if not (mark.simd or mark.jammed or mark.scalar) and mark.collapse == 1:
                inner = list(_next_loops(item.body))
                if len(inner) == 1 and inner[0].mark.simd and _is_shifted(scop, item, inner[0]):
                    return (replace(item, mark=replace(mark, around=True)),)
        return (item,)

    return LoopNest(map_block(nest.body, visit))


def _next_loops(block: Block) -> Iterator[For]:
    """The outermost loops in a block."""
    for item in block.items:
        if isinstance(item, For):
            yield item
        else:
            for part in children(item):
                yield from _next_loops(part)


def _is_shifted(scop: Scop, outer: For, loop: For) -> bool:
    """Whether a subscript in a loop adds what memory says, or what isn't linear, which differs from iteration to
    iteration of the loop around alone."""
    found = (*_shifts(scop, loop.body), *_scattered(scop, loop.body), *_pointed(scop, outer, loop))
    return any(outer.iterator in moving and loop.iterator not in moving for moving in found)


def _scattered(scop: Scop, body: Block) -> Iterator[set[str]]:
    """For each remainder, quotient and the like in a subscript, what it moves with."""
    for call in calls(body):
        statement = scop.statement(call.statement)
        moves = {name: names(value) for name, value in zip(statement.iterators, call.args, strict=True)}
        for node in walk(statement.body):
            for part in walk(node.subscript) if isinstance(node, ir.ArrayRef) else ():
                if isinstance(part, ir.BinaryOp) and part.op in _JUMPING:
                    yield {one for name in used_names(part) for one in moves.get(name, ())}


def _pointed(scop: Scop, outer: For, loop: For) -> Iterator[set[str]]:
    """For each row that a pointer in memory leads to, what the pointer moves with: where iterations of the loop around
    share cells, which is what two of them are run at a time for."""
    lists = {array.variable for array in scop.arrays.values() if array.rows and array.starts is None}
    found, shares = list[set[str]](), False
    for call in calls(loop.body) if lists else ():
        statement = scop.statement(call.statement)
        moves = {name: names(value) for name, value in zip(statement.iterators, call.args, strict=True)}
        for node in walk(statement.body):
            if isinstance(node, ir.ArrayRef):
                moving = {one for name in used_names(node) for one in moves.get(name, ())}
                shares = shares or (loop.iterator in moving and outer.iterator not in moving)
            if isinstance(node, ir.ArrayRef) and isinstance(node.name, ir.ArrayRef):
                used = [*used_names(node.name)]
                if used[0] in lists:
                    found.append({one for name in used for one in moves.get(name, ())})
    return iter(found if shares else ())


def _shifts(scop: Scop, body: Block) -> Iterator[set[str]]:
    """For each reference in a subscript of another one, or in what a scalar gets that subscripts use, what it moves
    with."""
    scalars: set[str] = set()
    for call in reversed(list(calls(body))):
        statement = scop.statement(call.statement)
        moves = {name: names(value) for name, value in zip(statement.iterators, call.args, strict=True)}
        places = [node.subscript for node in walk(statement.body) if isinstance(node, ir.ArrayRef)]
        match statement.body:
            case ir.Assignment(op="=", lvalue=ir.ID(name=name), rvalue=value) if name in scalars:
                places.append(value)
        for place in places:
            scalars.update(used_names(place))
            for inner in _references(place):
                yield {one for name in used_names(inner) for one in moves.get(name, ())}


def _references(place: ir.Node) -> Iterator[ir.ArrayRef]:
    """The references to elements in a subscript, with all of their own subscripts: not the row of a table that one is
    in."""
    found = [node for node in walk(place) if isinstance(node, ir.ArrayRef)]
    rows = {id(node.name) for node in found}
    return (node for node in found if id(node) not in rows)
