"""Choices in subscripts that an innermost loop leaves as they are stand in front of it: ``long chosen = y > 0 ? y - 1 :
0; for x: s += a[chosen][x];``.

The front end puts a variable's definition in the place of its uses, which makes subscripts out of lines at borders, of
fields, of a table's rows. To compilers a choice is a branch: they don't move it out of a loop, and take a loop with
several for no vector loop (measured with gcc: an eighth of the speed).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.choice_value import choice_value
from scopt.astgen.emit.names import names_in_use
from scopt.ir.expr import names
from scopt.ir.nest import Block, Call, Chosen, Expr, For, Hold, If, LoopNest
from scopt.ir.nest_walks import Item, items, map_block
from scopt.ir.scop import Scop
from scopt.ir.walks import walk

_NAME = "chosen"


def with_common_choices(scop: Scop, nest: LoopNest) -> LoopNest:
    """The same nest, with variables for such choices."""
    taken = names_in_use(scop, nest)

    def visit(item: Item) -> Item:
        match item:
            case For() if not any(isinstance(one, For) for one in items(item.body)):
                return _chosen(scop, item, taken)
            case For(body=Block((For() as inner,))) if item.mark.collapse > 1:  # nothing may stand between these
                return replace(item, body=Block((replace(inner, body=block(inner.body)),)))
            case For() | Hold():
                return replace(item, body=block(item.body))
            case If():
                otherwise = None if item.otherwise is None else block(item.otherwise)
                return replace(item, then=block(item.then), otherwise=otherwise)
        return item

    def block(one: Block) -> Block:
        return Block(tuple(map(visit, one.items)))

    return LoopNest(block(nest.body))


def _chosen(scop: Scop, loop: For, taken: frozenset[str]) -> Item:
    """A loop below the choices that its iterations have in common; as it is where there are none, or where a search
    asks beforehand."""
    if loop.mark.searched:
        return loop
    fresh = (name for k in count(1) if (name := _NAME if k == 1 else f"{_NAME}{k}") not in taken)
    found = dict[Expr, str]()

    def visit(item: Item) -> tuple[Item, ...]:
        if not isinstance(item, Call):
            return (item,)
        chosen = list(item.chosen)  # what else stands in front
        for part, value in _choices(scop, item):
            if loop.iterator not in names(value):
                name = found[value] if value in found else found.setdefault(value, next(fresh))
                chosen.append((part, name))
        return (replace(item, chosen=tuple(chosen)),)

    body = map_block(loop.body, visit)
    if not found:
        return loop
    return Hold((), Block((replace(loop, body=body),)), tuple(Chosen(name, value) for value, name in found.items()))


def _choices(scop: Scop, call: Call) -> Iterator[tuple[ir.Node, Expr]]:
    """The parts of a statement's subscripts that choose, each as large as it can be, and what they come to."""
    statement = scop.statement(call.statement)
    values = dict(zip(statement.iterators, call.args, strict=True))
    types = dict(zip(statement.iterators, statement.iterator_types, strict=True))
    parameters = {p.spelling: p for p in scop.parameters}

    def parts(node: ir.Node) -> Iterator[tuple[ir.Node, Expr]]:
        if not any(isinstance(one, ir.TernaryOp) for one in walk(node)):
            return
        value = choice_value(node, values, types, parameters)
        if value is not None:
            yield node, value
        elif isinstance(node, ir.BinaryOp) and node.op in ("+", "-", "*"):
            yield from parts(node.left)
            yield from parts(node.right)

    done = {statement.accesses[position].node for position, _ in call.held} | {part for part, _ in call.chosen}
    for node in _references(statement.body, done):
        yield from parts(node.subscript)


def _references(body: ir.Node, held: set[ir.Node | None]) -> Iterator[ir.ArrayRef]:
    """References to cells, without those that variables stand for."""
    if body in held:
        return
    if isinstance(body, ir.ArrayRef):
        yield body
    for part in body.parts:
        yield from _references(part, held)
