"""Several sums under one condition as so many conditions: ``if (c) { n++; s += x; } else m++;`` is ``if (c) n++; if (c)
s += x; if (!c) m++;``; one below several conditions gets one of them all.

A statement that updates one integer may be done in any order, in vectors and by threads; one that updates several of
them is a branch, and waits for the one before. (Loops that do nothing else become vector loops all the same, but only
where compilers see through the branches: not where cells of an array are updated.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from scopt import ir
from scopt.frontend.normalize.expression_types import ExpressionTypes
from scopt.frontend.normalize.tree_rewriting import items_of
from scopt.frontend.syntax.symbols import Symbol
from scopt.ir.effects import effects, target
from scopt.ir.walks import changed, copied, rebuilt, same_items, walk

# Updates of one statement, and nodes of what decides about one of them: more would take longer than a branch.
_MOST, _LONGEST = 8, 60
_OPERATORS = ("+=", "-=", "|=", "^=")
_STEPS = ("++", "p++", "--", "p--")
Conditions = tuple[Any, ...]


def with_separate_updates(
    items: Iterable[Any], symbols: Mapping[str, Symbol], types: ExpressionTypes
) -> tuple[Any, ...]:
    """The statements of a region, in which each name has one meaning, with such conditions inside of loops."""
    maker = _Maker(symbols, types)

    def visit(node: Any) -> Any:
        if not isinstance(node, ir.For):
            return node
        body = items_of(node.stmt)
        made = [one for inner in body for one in maker.parts(inner)]
        return node if same_items(made, body) else changed(node, stmt=ir.Compound(made, node.stmt.coord))

    return tuple(rebuilt(item, visit) for item in items)


class _Update(Struct, frozen=True, eq=False):
    """One update, and what has to hold for it, in the order in which that is evaluated."""

    conditions: Conditions
    statement: Any


class _Maker(Struct, frozen=True, eq=False):
    symbols: Mapping[str, Symbol]
    types: ExpressionTypes

    def parts(self, node: Any) -> list[Any]:
        """What stands in the place of a statement."""
        if not isinstance(node, ir.If):
            return [node]
        updates = list(self.updates(node, ()))
        found = [one for one in updates if one is not None]
        if len(found) != len(updates) or not 1 <= len(found) <= _MOST or not self.are_apart(found):
            return [node]
        if len(found) == 1 and len(found[0].conditions) == 1:
            return [node]
        if any(sum(1 for _ in walk(*one.conditions, one.statement)) > _LONGEST for one in found):
            return [node]
        return [ir.If(_all_of(one.conditions), one.statement, None, node.coord) for one in found]

    def updates(self, node: Any, conditions: Conditions) -> Iterator[_Update | None]:
        """What a statement does behind some conditions; None for what is no update of an integer."""
        match node:
            case ir.If(cond=condition, iftrue=then, iffalse=other):
                for one in items_of(then):
                    yield from self.updates(one, (*conditions, condition))
                turned = ir.UnaryOp("!", condition, condition.coord)
                for one in items_of(other) if other is not None else ():
                    yield from self.updates(one, (*conditions, turned))
            case ir.Compound():
                for one in node.block_items or ():
                    yield from self.updates(one, conditions)
            case ir.Assignment(op=op, lvalue=cell) if op in _OPERATORS and self.is_integer(cell):
                yield _Update(conditions, node)
            case ir.UnaryOp(op=op, expr=cell) if op in _STEPS and self.is_integer(cell):
                yield _Update(conditions, node)
            case _:
                yield None

    def is_integer(self, cell: Any) -> bool:
        """Whether it is a variable, a cell at a constant place, or a member, that holds an integer."""
        kind = self.types.of(cell)
        if kind is None or not kind.integer or kind.volatile or kind.atomic:
            return False
        while isinstance(cell, ir.StructRef) or (
            isinstance(cell, ir.ArrayRef) and isinstance(cell.subscript, ir.Constant)
        ):
            cell = cell.name
        return isinstance(cell, ir.ID) and cell.name in self.symbols

    def are_apart(self, updates: list[_Update]) -> bool:
        """Whether no update changes what decides about another one, or what that adds: their order doesn't matter
        then. What is evaluated several times does nothing else."""
        written = {name for one in updates for name in _written(one.statement)}
        values = [one.statement.rvalue for one in updates if isinstance(one.statement, ir.Assignment)]
        done = effects(*(condition for one in updates for condition in one.conditions), *values)
        if done.written or done.called or done.opaque or done.unnamed or done.taken:
            return False
        return not written & done.read


def _written(statement: Any) -> Iterator[str]:
    found = target(statement)
    for node in walk(found):
        if isinstance(node, ir.ID):
            yield node.name


def _all_of(conditions: Conditions) -> Any:
    first, *others = [copied(one) for one in conditions]
    for other in others:
        first = ir.BinaryOp("&&", first, other)
    return first
