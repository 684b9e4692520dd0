"""Expressions with commas that stand as statements, one statement each: ``t = a[i], s = b[j];``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scopt import ir
from scopt.ir.walks import changed, rebuilt, walk

_BODIES = ("stmt", "iftrue", "iffalse")


def without_commas(items: Iterable[Any]) -> tuple[Any, ...]:
    """The statements in that form."""
    items = tuple(items)
    if not any(isinstance(node, ir.ExprList) for node in walk(*items)):
        return items
    root = rebuilt(ir.Compound(items), _apart)
    return tuple(root.block_items)


def _apart(node: Any) -> Any:
    if isinstance(node, ir.Compound):
        found = node.block_items or ()
        if not any(isinstance(one, ir.ExprList) for one in found):
            return node
        return changed(node, block_items=[part for one in found for part in _parts(one)])
    if isinstance(node, (ir.For, ir.While, ir.DoWhile, ir.If)):
        bodies = {role: one for role, one in node.children() if role in _BODIES and isinstance(one, ir.ExprList)}
        return changed(node, **{role: ir.Compound(_parts(one), one.coord) for role, one in bodies.items()})
    return node


def _parts(node: Any) -> list[Any]:
    return [part for one in node.exprs for part in _parts(one)] if isinstance(node, ir.ExprList) else [node]
