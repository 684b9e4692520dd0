"""Compound literals as variables of their own: ``v[i] = (vec){x, y};`` is ``vec made = {x, y}; v[i] = made;``, and
``vec v = (vec){x, y};`` is ``vec v = {x, y};``."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import count
from typing import Any

from scopt import ir
from scopt.frontend.syntax.scoping import renamed_declaration
from scopt.ir.walks import changed, rebuilt, walk

_BODIES = ("stmt", "iftrue", "iffalse")


def without_compound_literals(items: Iterable[Any], reserved: Collection[str]) -> tuple[Any, ...]:
    """The statements without such that declarations, assignments or results get their values from. reserved: names that
    new variables must not have."""
    items = tuple(items)
    if not any(isinstance(node, ir.CompoundLiteral) for node in walk(*items)):
        return items
    taken = {*reserved, *(node.name for node in walk(*items) if isinstance(node, (ir.Decl, ir.ID)))}
    numbers = count(1)

    def apart(node: Any) -> list[Any]:
        match node:
            case ir.Assignment(op="=", rvalue=ir.CompoundLiteral(type=kind, init=values)) if _is_one(kind):
                name = next(made for k in numbers if (made := f"made_{k}") not in taken)
                plain = ir.Decl(None, [], [], [], [], kind.type, values, None, node.coord)
                return [renamed_declaration(plain, name), changed(node, rvalue=ir.ID(name, node.coord))]
            case ir.Return(expr=ir.CompoundLiteral(type=kind, init=values)) if _is_one(kind):
                name = next(made for k in numbers if (made := f"made_{k}") not in taken)
                plain = ir.Decl(None, [], [], [], [], kind.type, values, None, node.coord)
                return [renamed_declaration(plain, name), changed(node, expr=ir.ID(name, node.coord))]
        return [node]

    def change(node: Any) -> Any:
        if isinstance(node, ir.Decl) and isinstance(node.init, ir.CompoundLiteral) and _is_one(node.init.type):
            return changed(node, init=node.init.init)
        if isinstance(node, ir.Compound):
            parts = [part for one in node.block_items or () for part in apart(one)]
            return node if len(parts) == len(node.block_items or ()) else changed(node, block_items=parts)
        if isinstance(node, (ir.If, ir.For, ir.While, ir.DoWhile)):
            bodies = {role: apart(one) for role, one in node.children() if role in _BODIES}
            return changed(node, **{r: ir.Compound(made, node.coord) for r, made in bodies.items() if len(made) > 1})
        return node

    return tuple(rebuilt(ir.Compound(items), change).block_items)


def _is_one(kind: ir.Typename) -> bool:
    """Whether a type is that of one structure or number, not of an array."""
    return isinstance(kind.type, ir.TypeDecl)
