"""`continue` as an `if` around the rest of the body."""

from __future__ import annotations

from typing import Any

from scopt import ir
from scopt.frontend.normalize.opaque import LOOPS, leaving
from scopt.frontend.normalize.tree_rewriting import items_of
from scopt.frontend.syntax.mentioned import identifiers
from scopt.ir.walks import changed


def without_continue(loop: ir.For) -> ir.For:
    """The loop with another body, if it skips the rest of an iteration at its end or under a plain `if`; it stays if it
    does that in another way."""
    found = list(leaving(loop.stmt))
    if not found or not all(isinstance(node, ir.Continue) for node in found):
        return loop
    items = _rewritten(items_of(loop.stmt))
    return loop if items is None else changed(loop, stmt=ir.Compound(items, loop.stmt.coord))


def _rewritten(items: list[Any]) -> list[Any] | None:
    """The statements of a body, or of its rest; None if that can't be said with `if` without saying something twice."""
    for position, item in enumerate(items):
        if isinstance(item, ir.Continue):
            return items[:position]
        if isinstance(item, LOOPS) or next(leaving(item), None) is None:
            continue
        if not isinstance(item, ir.If):
            return None
        rest = items[position + 1 :]
        then, otherwise = items_of(item.iftrue), items_of(item.iffalse) if item.iffalse is not None else []
        if _ends(then):
            # what follows is the other branch
            kept, other = _rewritten(then[:-1]), _rewritten(_joined(otherwise, rest))
        elif _ends(otherwise):
            kept, other = _rewritten(_joined(then, rest)), _rewritten(otherwise[:-1])
        else:
            return None
        if kept is None or other is None:
            return None
        return [*items[:position], *_branches(item, kept, other)]
    return items


def _joined(branch: list[Any], rest: list[Any]) -> list[Any]:
    """The statements of a branch, and those behind it, which don't see what the branch declares."""
    declared = {item.name for item in branch if isinstance(item, (ir.Decl, ir.Typedef))}
    seen = declared.isdisjoint(name for item in rest for name in identifiers(item))
    return [*branch, *rest] if seen else [ir.Compound(branch), *rest]


def _ends(items: list[Any]) -> bool:
    return bool(items) and isinstance(items[-1], ir.Continue)


def _branches(original: ir.If, then: list[Any], otherwise: list[Any]) -> list[Any]:
    """An `if` with these branches, without one that is empty."""
    where = original.coord
    if not then and not otherwise:
        return [original.cond]
    if not then:
        return [ir.If(ir.UnaryOp("!", original.cond, where), ir.Compound(otherwise, where), None, where)]
    other = ir.Compound(otherwise, where) if otherwise else None
    return [ir.If(original.cond, ir.Compound(then, where), other, where)]
