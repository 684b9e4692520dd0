"""Several sums under one condition as so many conditions: ``if (c) { n++; s += x; } else m++;`` is ``if (c) n++; if (c)
s += x; if (!c) m++;``; one below several conditions gets one of them all. What the condition decides about besides,
cells of the iteration's own, stays one statement, behind them: ``if (c) { y[i] = a; n++; } else y[i] = b;`` is ``if (c)
n++; if (c) y[i] = a; else y[i] = b;``.

A statement that updates one integer may be done in any order, in vectors and by threads; one that updates several of
them, or writes cells, too, is a branch, and waits for the one before. (Loops that do nothing else become vector loops
all the same, but only where compilers see through the branches: not where cells of an array are updated.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set as AbstractSet
from typing import Any

from msgspec import Struct

from scopt import ir
from scopt.frontend.normalize.expression_types import ExpressionTypes
from scopt.frontend.normalize.tree_rewriting import items_of, names_of
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
        moving = effects(node.stmt).written | effects(node.init, node.next).written
        made = [one for inner in body for one in maker.parts(inner, moving)]
        return node if same_items(made, body) else changed(node, stmt=ir.Compound(made, node.stmt.coord))

    return tuple(rebuilt(item, visit) for item in items)


class _Update(Struct, frozen=True, eq=False):
    """One update, and what has to hold for it, in the order in which that is evaluated."""

    conditions: Conditions
    statement: Any


class _Parts(Struct, frozen=True, eq=False):
    """What a statement does: updates, and the rest of it, which sets cells; None for nothing."""

    updates: tuple[_Update, ...] = ()
    rest: Any = None


class _Maker(Struct, frozen=True, eq=False):
    symbols: Mapping[str, Symbol]
    types: ExpressionTypes

    def parts(self, node: Any, moving: AbstractSet[str]) -> list[Any]:
        """What stands in the place of a statement. moving: names of what the loop around it writes."""
        found = self.taken_apart(node, (), moving) if isinstance(node, ir.If) else None
        if found is None or not 1 <= len(found.updates) <= _MOST or not self.are_apart(found):
            return [node]
        updates, rest = found.updates, found.rest
        if len(updates) == 1 and len(updates[0].conditions) == 1 and rest is None:
            return [node]
        if any(sum(1 for _ in walk(*one.conditions, one.statement)) > _LONGEST for one in updates):
            return [node]
        made = [ir.If(_all_of(one.conditions), one.statement, None, node.coord) for one in updates]
        return made if rest is None else [*made, rest]

    def taken_apart(self, node: Any, conditions: Conditions, moving: AbstractSet[str]) -> _Parts | None:
        """None for what does anything else."""
        match node:
            case None:
                return _Parts()
            case ir.If(cond=condition, iftrue=then, iffalse=other):
                turned = ir.UnaryOp("!", condition, condition.coord)
                first = self.taken_apart(then, (*conditions, condition), moving)
                second = self.taken_apart(other, (*conditions, turned), moving)
                if first is None or second is None:
                    return None
                return _Parts((*first.updates, *second.updates), _decided(node, first.rest, second.rest))
            case ir.Compound():
                inner = [self.taken_apart(one, conditions, moving) for one in node.block_items or ()]
                known = [one for one in inner if one is not None]
                if len(known) < len(inner):
                    return None
                return _Parts(tuple(one for part in known for one in part.updates), _block(part.rest for part in known))
            case ir.Assignment(op=op, lvalue=cell) if op in _OPERATORS and self.is_integer(cell, moving):
                return _Parts((_Update(conditions, node),))
            case ir.UnaryOp(op=op, expr=cell) if op in _STEPS and self.is_integer(cell, moving):
                return _Parts((_Update(conditions, node),))
            case ir.Assignment(op="=", lvalue=ir.ArrayRef() as cell) if not names_of(cell.subscript).isdisjoint(moving):
                return _Parts((), node)
        return None

    def is_integer(self, cell: Any, moving: AbstractSet[str]) -> bool:
        """Whether it is a variable, a cell at a place that stays, or a member, that holds an integer."""
        kind = self.types.of(cell)
        if kind is None or not kind.integer or kind.volatile or kind.atomic:
            return False
        while isinstance(cell, ir.StructRef) or (isinstance(cell, ir.ArrayRef) and _stays(cell.subscript, moving)):
            cell = cell.name
        return isinstance(cell, ir.ID) and cell.name in self.symbols

    def are_apart(self, found: _Parts) -> bool:
        """Whether no update changes what decides about another one, or about the rest, or what these add and set, nor
        the rest what is added: their order doesn't matter then. What is evaluated several times does nothing else."""
        written = {name for one in found.updates for name in _written(one.statement)}
        values = [one.statement.rvalue for one in found.updates if isinstance(one.statement, ir.Assignment)]
        inner = [condition for one in found.updates for condition in one.conditions[1:]]
        later = effects(*inner, *values)
        done, rest = effects(*(one.conditions[0] for one in found.updates), *inner, *values), effects(found.rest)
        if any(one.called or one.opaque or one.unnamed or one.taken for one in (done, rest)) or done.written:
            return False
        return not written & (done.read | rest.read | rest.written) and not rest.written & later.read


def _decided(node: ir.If, then: Any, other: Any) -> Any:
    """What a condition decides about."""
    if then is None and other is None:
        return None
    if then is None:
        return ir.If(ir.UnaryOp("!", node.cond, node.cond.coord), other, None, node.coord)
    return changed(node, iftrue=then, iffalse=other)


def _block(parts: Iterable[Any]) -> Any:
    """Statements as one; None for none."""
    found = [one for one in parts if one is not None]
    return (found[0] if len(found) == 1 else ir.Compound(found)) if found else None


def _stays(subscript: Any, moving: AbstractSet[str]) -> bool:
    """Whether a subscript is made of numbers and names that stay what they are."""
    parts = list(walk(subscript))
    return all(isinstance(one, ir.Constant | ir.ID | ir.BinaryOp) for one in parts) and not any(
        isinstance(one, ir.ID) and one.name in moving for one in parts
    )


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
