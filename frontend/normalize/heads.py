"""Loops whose heads do more than step their iterator:
``for (i = 0, j = n; i < n; i++, j--)``, ``for (int i = 0, k = 0; …)``."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from scopt import ir
from scopt.frontend.normalize.continues import without_continue
from scopt.frontend.normalize.counting_loops import comparisons
from scopt.frontend.normalize.opaque import leaving
from scopt.frontend.normalize.tree_rewriting import (
    is_plain,
    items_of,
    mentions,
    names_of,
    step_of,
    stepped_name,
)
from scopt.ir.walks import changed, walk


class Head(Struct, frozen=True, eq=False):
    """What a loop's head had besides its iterator. before: assignments, which go in front of the loop. declared:
    variables of the loop's own."""

    before: tuple[Any, ...] = ()
    declared: tuple[ir.Decl, ...] = ()


def with_plain_head(loop: ir.For) -> tuple[ir.For, Head]:
    """The loop with its iterator alone in the head, and what else there was. Other steps go to the end of the body.

    A loop of which that can't be done keeps its head.
    """
    steps = _listed(loop.next)
    declared = list(loop.init.decls) if isinstance(loop.init, ir.DeclList) else []
    inits = _listed(loop.init) if not declared else []
    if max(len(steps), len(declared), len(inits)) < 2:
        return loop, Head()
    names = [stepped_name(step) for step in steps]
    compared = [side.name for side, _, _ in comparisons(loop.cond) if isinstance(side, ir.ID)]
    # of two that come towards each other the one with the smaller steps: the other's are a multiple of them, with luck
    sizes = {
        name: abs(found[1]) for step, name in zip(steps, names, strict=True) if (found := step_of(step)) is not None
    }
    own = min((name for name in compared if name in sizes), key=lambda name: sizes[name], default=None)
    if own is None or None in names or len({*names}) < len(names) or not _can_stand_before(inits, own):
        return loop, Head()
    if declared and own not in (decl.name for decl in declared):
        return loop, Head()
    others = [step for step, name in zip(steps, names, strict=True) if name != own]
    inner = {node.name for node in walk(loop.stmt) if isinstance(node, ir.Decl)}
    mentioned = frozenset().union(*(names_of(step) for step in others))
    if own in mentioned or inner & (mentioned | {own}):
        return loop, Head()  # in the body a step would come before the iterator's, or mean another variable
    plain = without_continue(loop)
    if others and next(leaving(plain.stmt), None) is not None:
        return loop, Head()
    plain = changed(plain, next=next(step for step, name in zip(steps, names, strict=True) if name == own))
    if others:
        plain = changed(plain, stmt=ir.Compound([*items_of(plain.stmt), *others], loop.stmt.coord))
    if declared:
        kept = ir.DeclList([decl for decl in declared if decl.name == own], loop.init.coord)
        return changed(plain, init=kept), Head(declared=tuple(decl for decl in declared if decl.name != own))
    if len(inits) > 1:
        plain = changed(plain, init=next((init for init in inits if init.lvalue.name == own), None))
    before = tuple(init for init in inits if init.lvalue.name != own) if len(inits) > 1 else ()
    return plain, Head(before=before)


def _listed(node: Any) -> list[Any]:
    if node is None:
        return []
    return list(node.exprs) if isinstance(node, ir.ExprList) else [node]


def _can_stand_before(inits: list[Any], own: str) -> bool:
    """Whether assignments have the same effect with the iterator's as the last one."""
    if not all(isinstance(init, ir.Assignment) and init.op == "=" and isinstance(init.lvalue, ir.ID) for init in inits):
        return False
    place = next((k for k, init in enumerate(inits) if init.lvalue.name == own), len(inits))
    later = inits[place + 1 :]
    return all(
        is_plain(init.rvalue) and not mentions(init, own) and not mentions(inits[place].rvalue, init.lvalue.name)
        for init in later
    )
