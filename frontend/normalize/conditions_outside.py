"""Statements that one variable decides about together: ``if (holds) t = x[i]; if (holds) y[i] = t;`` is ``if (holds) {
t = x[i]; y[i] = t; }``, around loops too. What flows from one of them to the other is seen in that form alone.

For looking at: such conditions are taken apart so that their loops can be scheduled (`conditions_inside`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import Struct, field

from scopt import ir
from scopt.frontend.normalize.tree_rewriting import items_of
from scopt.ir.effects import effects
from scopt.ir.truths import conjunction, conjuncts
from scopt.ir.walks import changed, mapped


class Joined(Struct, frozen=True, eq=False):
    """loops: by the loop that was there, the one that takes its place."""

    loops: dict[Any, Any] = field(default_factory=dict)

    def items(self, nodes: Iterable[Any]) -> Iterator[Any]:
        """Statements in that form, without blocks in one another."""
        yield from _together([one for node in nodes for made in items_of(self.visit(node)) for one in _plain(made)])

    def visit(self, node: Any) -> Any:
        match node:
            case ir.Compound():
                return changed(node, block_items=[*self.items(node.block_items or ())])
            case ir.For():
                body = [*self.items(items_of(node.stmt))]
                asked = _asked(body[0]) if len(body) == 1 else None
                asked = None if asked is None or _sets(node, asked[0]) else asked
                inner = body if asked is None else [*items_of(_rest(body[0]))]
                made = changed(node, stmt=ir.Compound(inner, node.coord))
                self.loops[node] = made
                return made if asked is None else _under(asked, [made])
        return mapped(node, self.visit)


def _plain(node: Any) -> Iterator[Any]:
    """The statements of a block; names have one meaning."""
    if isinstance(node, ir.Compound):
        for one in node.block_items or ():
            yield from _plain(one)
    elif not isinstance(node, ir.EmptyStatement):
        yield node


def _together(items: Sequence[Any]) -> Iterator[Any]:
    """Statements in a row that ask for one variable first, and don't change it, below one condition."""
    first = 0
    while first < len(items):
        asked, last = _asked(items[first]), first + 1
        if asked is None:
            yield items[first]
        else:
            while last < len(items) and _asked(items[last]) == asked and not _sets(items[last - 1], asked[0]):
                last += 1
            below = [inner for one in items[first:last] for inner in _plain(_rest(one))]
            yield _under(asked, _together(below))
        first = last


def _under(asked: tuple[str, bool], items: Iterable[Any]) -> ir.If:
    name, true = asked
    variable = ir.ID(name)
    return ir.If(variable if true else ir.UnaryOp("!", variable), ir.Compound([*items]), None)


def _asked(node: Any) -> tuple[str, bool] | None:
    """The variable that a condition without an else asks for first, and whether it has to be true."""
    if not isinstance(node, ir.If) or node.iffalse is not None:
        return None
    match next(conjuncts(node.cond)):
        case ir.ID(name=name):
            return name, True
        case ir.UnaryOp(op="!", expr=ir.ID(name=name)):
            return name, False
    return None


def _rest(node: ir.If) -> Any:
    """What stands below a condition's first part."""
    _, *others = conjuncts(node.cond)
    return ir.If(conjunction(others), node.iftrue, None, node.coord) if others else node.iftrue


def _sets(node: Any, name: str) -> bool:
    done = effects(node)
    return name in done.written or bool(done.opaque or done.unnamed)
