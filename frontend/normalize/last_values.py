"""Last values that loops inside leave behind, at the loop around: ``for i: { for j < n: …; j = n > 0 ? n : 0; }``.

Each iteration gives the variable the same value, so that it is enough to do that behind the loop, if that has any
iteration. Where the variable has had no value before, nobody may look at it but for that one: then it is the value in
any case, and forward substitution knows it (`forward_substitution`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from scopt import ir
from scopt.frontend.normalize.counting_loops import set_value
from scopt.frontend.normalize.tree_rewriting import is_plain, items_of, mentions, names_of
from scopt.frontend.syntax.scoping import loop_iterator
from scopt.ir.effects import changes_of, effects
from scopt.ir.scop import CType
from scopt.ir.walks import changed


def with_last_values(
    loop: ir.For, before: Sequence[Any], type_of: Callable[[str], CType | None]
) -> tuple[ir.For, list[Any]]:
    """A loop without such assignments at the end of its body, and what has to stand behind it.

    before: the statements in front of it, one after the other. type_of: as in `Variables`.
    """
    items, behind = items_of(loop.stmt), list[Any]()
    while items and (assigned := _last_value(loop, items, before, type_of)) is not None:
        behind.insert(0, assigned)
        items = items[:-1]
        loop = changed(loop, stmt=ir.Compound(items, loop.stmt.coord))
    return loop, behind


def _last_value(
    loop: ir.For, items: Sequence[Any], before: Sequence[Any], type_of: Callable[[str], CType | None]
) -> Any | None:
    """The assignment at the end of a body, if it may as well stand behind the loop."""
    item, iterator = items[-1], loop_iterator(loop)
    if not isinstance(item, ir.Assignment) or (value := set_value(item)) is None or iterator is None:
        return None
    name = item.lvalue.name
    parts = value.parts if isinstance(value, ir.TernaryOp) else (value,)
    if type_of(name) is None or not all(map(_is_plain, parts)) or name == iterator:
        return None
    if names_of(value) & (effects(loop.init, loop.cond, loop.next, *items).changed | {name}):
        return None
    if any(_mentions_outside(part, name) for part in (loop.init, loop.cond, loop.next, *items[:-1])):
        return None
    return item if _has_no_value(name, before) else None


def _is_plain(value: Any) -> bool:
    """Whether an expression, or both sides of a comparison, are made of variables, constants and arithmetic."""
    match value:
        case ir.BinaryOp(op="<" | "<=" | ">" | ">=" | "!="):
            return is_plain(value.left) and is_plain(value.right)
    return is_plain(value)


def _mentions_outside(node: Any, name: str) -> bool:
    """Whether a name is used besides in loops that declare one of their own."""
    if isinstance(node, ir.ID):
        return bool(node.name == name)
    declared = node.init.decls if isinstance(node, ir.For) and isinstance(node.init, ir.DeclList) else ()
    if any(decl.name == name for decl in declared):
        return any(mentions(decl.init, name) > 0 for decl in declared if decl.init is not None)
    return node is not None and any(_mentions_outside(part, name) for part in node.parts)


def _has_no_value(name: str, before: Sequence[Any]) -> bool:
    """Whether a variable has been declared in front, and not been given a value since."""
    for item in reversed(before):
        if isinstance(item, ir.Decl) and item.name == name:
            return item.init is None and "static" not in (item.storage or [])
        if changes_of(name, item) or _mentions_outside(item, name):
            return False
    return False
