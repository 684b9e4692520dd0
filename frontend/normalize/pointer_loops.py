"""Loops that step a pointer up to another one, ``for (p = a; p < a + n; p++)`` and ``while (p != end) … *p++``, as
loops that count.

The pointer itself stays, with its step in the body: `inductions` puts its values in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from scopt import ir
from scopt.frontend.normalize.closed_forms import Values, unconditional
from scopt.frontend.normalize.continues import without_continue
from scopt.frontend.normalize.counting_loops import comparisons, runs_towards, set_value, setter_of
from scopt.frontend.normalize.induction_variables import Pointers
from scopt.frontend.normalize.opaque import leaving
from scopt.frontend.normalize.tree_rewriting import (
    items_of,
    names_of,
    number,
    step_of,
    stepped_name,
    value_of,
)
from scopt.ir.effects import changes_of, effects


class Counting(Struct, frozen=True, eq=False):
    """A loop that counts in the place of one that compares pointers.

    before: assignments in front of it. declared: the pointer, if the loop's own. end: the statement before it that set
      the pointer it runs up to.
    """

    loop: ir.For
    before: tuple[Any, ...] = ()
    declared: tuple[ir.Decl, ...] = ()
    end: Any | None = None


class _Place(Struct, frozen=True, eq=False):
    """A pointer that is so many elements behind another: `base` + `offset`."""

    base: str
    offset: Any


def counting(
    loop: Any, before: Sequence[Any], kinds: Pointers, is_integer: Callable[[str], bool], fresh: Callable[[str], str]
) -> Counting | None:
    """What stands in a loop's place; None if it isn't of that kind.

    before: all statements in front of it. is_integer(name): whether only its name can change an integer variable.
      fresh(name): a name like it.
    """
    if not isinstance(loop, (ir.For, ir.While)):
        return None
    values = Values(None, None, kinds.long_type)
    for side, op, end in comparisons(loop.cond):
        if not isinstance(side, ir.ID) or is_integer(side.name):
            continue
        name, init = side.name, loop.init if isinstance(loop, ir.For) else None
        step = _step(loop, name)
        start = _start(init, name)
        if step is None or start is None or not runs_towards(op, step):
            continue
        first, last, setter = _place(start, is_integer, values), _place(end, is_integer, values), None
        if last is not None and first is not None and last.base != first.base and isinstance(end, ir.ID):
            position = setter_of([*before, *([init] if isinstance(init, ir.Assignment) else [])], end.name)
            setter = before[position] if position is not None and position < len(before) else None
            last = _place(set_value(setter), is_integer, values)
        if (
            last is not None
            and init is None
            and last.base != name
            and (position := setter_of(before, name)) is not None
        ):
            first = _place(set_value(before[position]), is_integer, values)
        changed = effects(loop).changed
        own = kinds.declared_pointee(init.decls[0]) if isinstance(init, ir.DeclList) else kinds.pointee(name)
        if own is None or first is None or last is None or first.base != last.base or kinds.pointee(first.base) != own:
            continue
        if names_of(end) & (effects(loop.stmt).changed | {name}):
            continue
        if (names_of(first.offset) | names_of(last.offset)) & changed or (
            first.base != name and changes_of(first.base, loop)
        ):
            continue
        body = _body(loop, name)
        if body is None:
            continue
        behind, ahead = (first, last) if step > 0 else (last, first)
        count = values.plus(
            values.minus(ahead.offset, behind.offset),
            number(1 if op in ("<=", ">=") else 0),
        )
        made = _for(fresh(name), count, body, loop.coord, kinds.long_type)
        declared = tuple(init.decls) if isinstance(init, ir.DeclList) else ()
        return Counting(made, (init,) if isinstance(init, ir.Assignment) else (), declared, setter)
    return None


def _step(loop: Any, name: str) -> int | None:
    """By how much every iteration steps the pointer, 1 or -1; None if it does more or less."""
    if isinstance(loop, ir.For) and loop.next is not None:
        found = step_of(loop.next)
        return (
            found[1]
            if found is not None and found[0] == name and abs(found[1]) == 1 and not changes_of(name, loop.stmt)
            else None
        )
    places = [
        node for item in items_of(loop.stmt) for node in (item, *unconditional(item)) if stepped_name(node) == name
    ]
    if len(places) != 1 or changes_of(name, loop.stmt) != 1 or changes_of(name, loop.cond):
        return None
    found = step_of(places[0])
    return found[1] if found is not None and abs(found[1]) == 1 else None


def _start(init: Any, name: str) -> Any | None:
    """What the pointer is before the first iteration."""
    match init:
        case None:
            return ir.ID(name)
        case ir.Assignment(op="=", lvalue=ir.ID(name=own), rvalue=value) if own == name:
            return value
        case ir.DeclList(decls=[ir.Decl(name=own, init=value)]) if own == name:
            return value
    return None


def _place(node: Any, is_integer: Callable[[str], bool], values: Values) -> _Place | None:
    match node:
        case ir.ID(name=name):
            return None if is_integer(name) else _Place(name, number(0))
        case ir.BinaryOp(op="+" | "-" as op, left=left, right=right):
            if (found := _place(left, is_integer, values)) is not None and _is_sum(right, is_integer):
                return _Place(
                    found.base, values.plus(found.offset, right) if op == "+" else values.minus(found.offset, right)
                )
            if op == "+" and (found := _place(right, is_integer, values)) is not None and _is_sum(left, is_integer):
                return _Place(found.base, values.plus(found.offset, left))
    return None


def _is_sum(node: Any, is_integer: Callable[[str], bool]) -> bool:
    match node:
        case ir.ID(name=name):
            return is_integer(name)
        case ir.Constant():
            return value_of(node) is not None
        case ir.BinaryOp(op="+" | "-" | "*", left=left, right=right):
            return _is_sum(left, is_integer) and _is_sum(right, is_integer)
    return False


def _body(loop: Any, name: str) -> list[Any] | None:
    """The statements of an iteration with the step among them; None if an iteration may end before it."""
    following = [loop.next] if isinstance(loop, ir.For) and loop.next is not None else []
    if following:
        loop = without_continue(loop)
        if next(leaving(loop.stmt), None) is not None:
            return None
    elif next(leaving(loop.stmt), None) is not None:
        return None
    return [*items_of(loop.stmt), *following]


def _for(name: str, count: Any, items: list[Any], where: Any, long_type: str) -> ir.For:
    spelled = ir.TypeDecl(name, [], None, ir.IdentifierType(long_type.split(), where), where)
    init = ir.DeclList([ir.Decl(name, [], [], [], [], spelled, number(0), None, where)], where)
    condition = ir.BinaryOp("<", ir.ID(name, where), count, where)
    return ir.For(init, condition, ir.UnaryOp("p++", ir.ID(name, where), where), ir.Compound(items, where), where)
