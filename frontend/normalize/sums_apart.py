"""Sums beside stores under one condition as conditions of their own: ``if (c) { s += x[i]; a[i] = f; } else a[i] = g;``
is ``if (c) s += x[i]; if (c) a[i] = f; else a[i] = g;``.

One statement waits for the sum of the iteration before with all that it does. Apart, only the sum does, and the stores
are free to become a vector loop, or one that threads share. (Sums that each row begins anew stay: rows run beside each
other, where one branch for all that it decides about takes less time.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from scopt import ir
from scopt.frontend.normalize.expression_types import ExpressionTypes
from scopt.frontend.normalize.opaque import LOOPS, out_of_statements
from scopt.frontend.normalize.tree_rewriting import items_of, names_of
from scopt.frontend.syntax.purity import VALUE_FUNCTIONS
from scopt.frontend.syntax.scoping import loop_iterator
from scopt.ir.effects import Effects, bases, effects, targets
from scopt.ir.walks import changed, copied, rebuilt, same_items, walk

# Sums that come out of one condition, and nodes of the condition: more would take longer than they keep waiting.
_MOST, _LONGEST = 4, 40
_OPERATORS = ("+=", "-=", "*=")


def with_sums_apart(items: Iterable[Any], types: ExpressionTypes, defined: Collection[str]) -> tuple[Any, ...]:
    """The statements of a region, in which each name has one meaning, in that form. defined: functions of the file's
    own, whatever their names promise."""

    items = tuple(items)
    around = dict(_innermost(items, None))

    def visit(node: Any) -> Any:
        if id(node) not in around:
            return node
        outer, body = around[id(node)] or node, items_of(node.stmt)
        done = effects(outer.stmt)
        moving = done.changed | {loop_iterator(node) or "", loop_iterator(outer) or ""}
        writes = Counter(name for one in targets(outer.stmt) for name in bases(one))
        writes.update(done.declared)
        made = [one for item in body for one in _apart(item, moving, writes, types, defined)]
        return node if same_items(made, body) else changed(node, stmt=ir.Compound(made, node.stmt.coord))

    return tuple(rebuilt(item, visit) for item in items)


def _innermost(nodes: Iterable[Any], around: Any) -> Iterator[tuple[int, Any]]:
    """The loops without loops inside, told by their nodes, with the loops right around them, if there are any."""
    for node in nodes:
        inside = dict(_innermost(node.parts, node if isinstance(node, ir.For) else around))
        yield from inside.items()
        if isinstance(node, ir.For) and not any(isinstance(one, LOOPS) for one in walk(node.stmt)):
            yield id(node), around


def _apart(
    node: Any, moving: frozenset[str], writes: Counter[str], types: ExpressionTypes, defined: Collection[str]
) -> list[Any]:
    """What stands in the place of a statement of a loop in which some variables move. writes: how often names are
    written there."""
    if not isinstance(node, ir.If) or sum(1 for _ in walk(node.cond)) > _LONGEST:
        return [node]
    turned = ir.UnaryOp("!", node.cond, node.cond.coord)
    branches = ((node.cond, node.iftrue), (turned, node.iffalse))
    sums = [(cond, one) for cond, branch in branches for one in _items(branch) if _is_sum(one, moving, types)]
    if not 1 <= len(sums) <= _MOST:
        return [node]
    taken = [one for _, one in sums]
    added = Counter(name for one in taken for name in bases(one.lvalue))
    if any(writes[name] > times for name, times in added.items()):
        return [node]
    rest = [_without(branch, taken) for _, branch in branches]
    if not any(_stores(one, moving) for one in rest) or not _are_apart(node, taken, rest, defined):
        return [node]
    first, second = rest
    if first is None:
        left = ir.If(copied(turned), second, None, node.coord)
    else:
        left = ir.If(copied(node.cond), first, second, node.coord)
    return [*(ir.If(copied(cond), one, None, one.coord) for cond, one in sums), left]


def _items(branch: Any) -> tuple[Any, ...]:
    return tuple(items_of(branch)) if branch is not None else ()


def _is_sum(node: Any, moving: frozenset[str], types: ExpressionTypes) -> bool:
    """Whether a statement accumulates into a number that stays where it is from one iteration to the next."""
    if not isinstance(node, ir.Assignment) or node.op not in _OPERATORS:
        return False
    kind, cell = types.of(node.lvalue), node.lvalue
    if kind is None or not kind.floating or kind.volatile or kind.atomic:
        return False
    while isinstance(cell, ir.ArrayRef):
        if names_of(cell.subscript) & moving:
            return False
        cell = cell.name
    return isinstance(cell, ir.ID)


def _without(branch: Any, taken: list[Any]) -> Any:
    """A branch without some of its statements; None if nothing is left."""
    kept = [one for one in _items(branch) if one not in taken]
    return ir.Compound(kept, branch.coord) if kept else None


def _stores(branch: Any, moving: frozenset[str]) -> bool:
    """Whether a branch does nothing but store to cells that move with the loop."""
    found = [one for one in _done_by(branch) if isinstance(one, ir.Assignment)]
    return bool(found) and all(isinstance(one.lvalue, ir.ArrayRef) and names_of(one.lvalue) & moving for one in found)


def _done_by(branch: Any) -> Iterator[Any]:
    return iter(()) if branch is None else walk(branch)


def _are_apart(node: ir.If, sums: list[Any], rest: list[Any], defined: Collection[str]) -> bool:
    """Whether neither the sums nor what stays beside them change what the others, or the condition, look at."""
    if out_of_statements(node) is not None or any(isinstance(one, ir.Break | ir.Continue) for one in walk(node)):
        return False
    asked, added, left = effects(node.cond), effects(*sums), effects(*rest)
    if asked.written or not all(_is_plain(one, defined) for one in (asked, added, left)):
        return False
    return not (added.written & (asked.read | left.read | left.written) or left.written & (asked.read | added.read))


def _is_plain(done: Effects, defined: Collection[str]) -> bool:
    values = all(name in VALUE_FUNCTIONS and name not in defined for name in done.called)
    return values and not (done.opaque or done.unnamed or done.taken or done.declared)
