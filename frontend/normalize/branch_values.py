"""Variables of a condition's branch that only help to compute the one value which it assigns: ``else { int v = x; if (y
< v) v = y; a[i] = v + 1; }`` is ``else a[i] = (y < x ? y : x) + 1;``.

A condition each way of which assigns one cell surely writes it, and may become a choice, which vectors blend.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scopt import ir
from scopt.frontend.normalize.expression_types import ExpressionTypes
from scopt.frontend.normalize.tree_rewriting import names_of
from scopt.frontend.syntax.symbols import Symbol, is_value
from scopt.ir.effects import effects
from scopt.ir.walks import changed, rebuilt, replaced, walk

# Nodes of a value: with each choice it may be twice as long.
_LONGEST = 120
Values = Mapping[str, Any]


def with_branch_values(items: Iterable[Any], symbols: Mapping[str, Symbol], types: ExpressionTypes) -> tuple[Any, ...]:
    """The statements of a region, in which each name has one meaning, with values in the place of such variables."""

    def change(node: Any) -> Any:
        if not isinstance(node, ir.If):
            return node
        branches = [_as_assignment(one, symbols, types) for one in (node.iftrue, node.iffalse)]
        if all(isinstance(one, ir.Assignment | ir.If | None) for one in branches):
            same = branches[0] is node.iftrue and branches[1] is node.iffalse
            return node if same else changed(node, iftrue=branches[0], iffalse=branches[1])
        return node

    return tuple(rebuilt(item, change) for item in items)


def _as_assignment(block: Any, symbols: Mapping[str, Symbol], types: ExpressionTypes) -> Any:
    """A block of such variables and one assignment as that assignment; anything else as it is."""
    items = (block.block_items or ()) if isinstance(block, ir.Compound) else ()
    own = frozenset(one.name for one in items if isinstance(one, ir.Decl))
    last = items[-1] if items else None
    if not own or not isinstance(last, ir.Assignment) or last.op != "=" or not own.isdisjoint(names_of(last.lvalue)):
        return block
    if not all(_is_number(symbols.get(name)) for name in own) or own & effects(*items).taken:
        return block
    values = _behind(items[:-1], own, {}, types)
    value = None if values is None else _put_in(last.rvalue, own, values)
    return block if value is None else changed(last, rvalue=value)


def _is_number(symbol: Symbol | None) -> bool:
    if symbol is None or not is_value(symbol) or symbol.pointer or symbol.type.volatile or symbol.type.atomic:
        return False
    return symbol.type.integer or symbol.type.floating


def _behind(items: Iterable[Any], own: frozenset[str], values: Values, types: ExpressionTypes) -> Values | None:
    """The values of a branch's variables behind some of its statements; None where these do anything else."""
    known = dict(values)
    for item in items:
        match item:
            case ir.Decl(name=name, init=None):
                continue
            case ir.Decl(name=name, init=init):
                found = _value(name, init, own, known, types)
            case ir.Assignment(op="=", lvalue=ir.ID(name=name), rvalue=right) if name in own:
                found = _value(name, right, own, known, types)
            case ir.If(cond=cond, iftrue=first, iffalse=second):
                merged = _chosen(cond, (first, second), own, known, types)
                if merged is None:
                    return None
                known = dict(merged)
                continue
            case _:
                return None
        if found is None:
            return None
        known[name] = found
    return known


def _chosen(
    cond: Any, branches: tuple[Any, Any], own: frozenset[str], known: Values, types: ExpressionTypes
) -> Values | None:
    """The values behind a condition; None where a branch does more than to give values."""
    test, sides = _put_in(cond, own, known), []
    for branch in branches:
        inside = (branch.block_items or ()) if isinstance(branch, ir.Compound) else (branch,) if branch else ()
        side = None if any(isinstance(one, ir.Decl) for one in inside) else _behind(inside, own, known, types)
        if side is None or test is None:
            return None
        sides.append(side)
    both = sides[0].keys() & sides[1].keys()
    return {
        name: sides[0][name]
        if sides[0][name] is sides[1][name]
        else ir.TernaryOp(test, sides[0][name], sides[1][name], cond.coord)
        for name in both
    }


def _value(name: str, node: Any, own: frozenset[str], known: Values, types: ExpressionTypes) -> Any | None:
    """An expression as the value of a variable; None of one that can't stand in its place."""
    made, target = _put_in(node, own, known), types.scope[name].type
    kind = None if made is None else types.of(made)
    if kind is None or (kind.integer, kind.floating, kind.signed, kind.bits) != (
        target.integer,
        target.floating,
        target.signed,
        target.bits,
    ):
        return None
    # compilers may round a product and a sum at once where they stand in one expression
    products = target.floating and any(isinstance(one, ir.BinaryOp) and one.op == "*" for one in walk(made))
    return None if products else made


def _put_in(node: Any, own: frozenset[str], known: Values) -> Any | None:
    """An expression with values in the place of variables; None if it has effects, lacks a value, or gets too long."""
    done = effects(node)
    if done.written or done.called or done.opaque or done.unnamed or not own & names_of(node) <= known.keys():
        return None
    made = replaced(node, lambda inner: known.get(inner.name, inner) if isinstance(inner, ir.ID) else inner)
    return made if sum(1 for _ in walk(made)) <= _LONGEST else None
