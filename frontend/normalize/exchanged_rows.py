"""Rows of dynamic programs that two pointers take turns in: ``rows[(i - 1) % 2][j]`` in place of ``before[j]``.

In ``for i { for j new[j] = f(old[j], old[j - 1], new[j - 1]); tmp = old; old = new; new = tmp; }`` no two rows can be
in one tile: they would be the copies of the body that remainders of ``i`` choose from. As the rows of one array they
can take each other's place (`scopt.scheduler.passes.alternate_rows`), and run along diagonals.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import count
from typing import Any

from scopt import ir
from scopt.frontend.normalize.exchanges import Exchange
from scopt.frontend.normalize.members import Hoisted
from scopt.frontend.normalize.tree_rewriting import number, value_of
from scopt.frontend.normalize.turns import Turns, text_of
from scopt.frontend.syntax.structs import Types
from scopt.frontend.syntax.symbols import Symbol, symbol_of
from scopt.ir.walks import changed, replaced, same_tree, walk

_ROWS = 2


def in_rows(
    loop: ir.For, turns: Turns, exchange: Exchange, types: Types, taken: Collection[str]
) -> tuple[ir.For, Hoisted] | None:
    """The loop with rows of an array in place of two pointers, and that array; None where that gains nothing.
    types: where the loop stands. taken: names that mean something."""
    copy = exchange.copies[0]
    if exchange.order != _ROWS or len(exchange.cycle) != _ROWS or value_of(turns.start) is None or turns.step != 1:
        return None
    if not any(_hands_on(one, key) for item in copy for one in _innermost(item) for key in exchange.cycle):
        return None
    typed = types.of(exchange.cycle[0])
    if typed is None or not typed.pointer or len(typed.layers) != 1 or not (typed.type.integer or typed.type.floating):
        return None
    if not _is_the_same(exchange) or not all(map(_is_variable, exchange.cycle)):
        return None
    name = next(one for k in count(1) if (one := f"rows{k if k > 1 else ''}") not in taken)
    places = {text_of(key): place for place, key in enumerate(exchange.cycle)}

    def value(node: Any) -> Any:
        place = places.get(_text(node))
        if place is None:
            return node
        since = turns.since_start() if not place else ir.BinaryOp("+", turns.since_start(), number(place))
        return ir.ArrayRef(ir.ID(name), ir.BinaryOp("%", since, number(_ROWS)), node.coord)

    body = [replaced(item, value) for item in copy]
    spelling = typed.type.spelling
    symbol = _pointing_to_rows(name, spelling, types.scope)
    values = ", ".join(map(text_of, exchange.cycle))
    made = changed(loop, stmt=ir.Compound(body, loop.stmt.coord))
    return made, Hoisted(symbol, f"{spelling} *{name}[{_ROWS}] = {{{values}}};")


def _pointing_to_rows(name: str, spelling: str, scope: Mapping[str, Symbol]) -> Symbol:
    inner: ir.Node = ir.TypeDecl(name, [], None, ir.IdentifierType(spelling.split()))
    declared = ir.PtrDecl([], ir.PtrDecl([], inner))
    return symbol_of(ir.Decl(name, [], [], [], [], declared, None, None), scope)


def _is_variable(key: Any) -> bool:
    """Whether a pointer is a variable, or a member of one: it can be read although no iteration does."""
    match key:
        case ir.StructRef(name=base, type="."):
            return _is_variable(base)
    return isinstance(key, ir.ID)


def _is_the_same(exchange: Exchange) -> bool:
    """Whether the iterations' copies differ by the two pointers alone."""
    first, second = exchange.cycle
    others = {text_of(first): second, text_of(second): first}
    turned = (replaced(item, lambda node: others.get(_text(node), node)) for item in exchange.copies[0])
    return all(map(same_tree, turned, exchange.copies[1])) and len(exchange.copies[0]) == len(exchange.copies[1])


def _text(node: Any) -> str:
    """Of what may be a pointer."""
    return text_of(node) if isinstance(node, (ir.ID, ir.StructRef, ir.ArrayRef)) else ""


def _innermost(item: Any) -> Iterator[ir.For]:
    """The loops of a statement, if there are none inside of others."""
    loops = [node for node in walk(item) if isinstance(node, (ir.For, ir.While, ir.DoWhile))]
    if not any(other is not one and other in set(walk(one)) for one in loops for other in loops):
        yield from (one for one in loops if isinstance(one, ir.For))


def _hands_on(loop: ir.For, key: Any) -> bool:
    """Whether a loop writes cells of a row, and reads others of the same one."""
    text = text_of(key)
    cells = [node for node in walk(loop.stmt) if isinstance(node, ir.ArrayRef) and text_of(node.name) == text]
    targets = [one.lvalue for one in walk(loop.stmt) if isinstance(one, ir.Assignment)]
    written = {text_of(node) for node in cells if any(node is target for target in targets)}
    return bool(written) and any(text_of(node) not in written for node in cells)
