"""`while`, `do` and odd `for` loops that count: as `for` loops with an iterator of their own, and its last value
assigned after them.

What is found: a comparison of a variable with something that the loop doesn't change, where the variable is stepped by
a constant, once in each iteration, at any place of the body or in the condition. A loop that isn't of that kind stays
as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.frontend.normalize.closed_forms import unconditional
from scopt.frontend.normalize.opaque import leaving
from scopt.frontend.normalize.tree_rewriting import (
    is_plain,
    items_of,
    mentions,
    names_of,
    number,
    plus,
    step_of,
    stepped_name,
    substituted,
)
from scopt.ir.effects import STEPS, changes_of, effects
from scopt.ir.scop import CType
from scopt.ir.walks import changed

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!="}
_UP, _DOWN = ("<", "<="), (">", ">=")


class Variables(Struct, frozen=True):
    """What is known of the region's variables.

    type_of(name): of an integer variable that only its name can reach, at least as wide as an int; None for any other.
    is_constant(name): it stands for a number of type int.
    used_after(loop, name): the variable's value after the loop may be read. uses(name): how often the region mentions
    it. fresh(name): a name like it that means nothing yet. carry(items, made): what items of a body become.
    """

    type_of: Callable[[str], CType | None]
    is_constant: Callable[[str], bool]
    used_after: Callable[[Any, str], bool]
    uses: Callable[[str], int]
    fresh: Callable[[str], str]
    carry: Callable[[Sequence[Any], Sequence[Any]], None]


class Count(Struct, frozen=True, eq=False):
    """How a loop counts: ``for (name = start; name op end; name += step)``.

    once: its first iteration happens whatever the condition says. beyond: what is added to the variable when the loop
      has ended;
      early: before it starts.
    stepped: the item from which on an iteration sees the variable with its step; None: no item does.
    start: None where the loop doesn't set it.
    """

    name: str
    step: int
    op: str
    end: Any
    items: list[Any]
    start: Any = None
    once: bool = False
    beyond: int = 0
    early: int = 0
    stepped: int | None = None


def is_counting(loop: Any) -> bool:
    """Whether a statement is a `for` loop, or one that has the form of a loop that counts."""
    if isinstance(loop, (ir.While, ir.DoWhile)):
        return _count(loop) is not None or (isinstance(loop, ir.While) and _steps_inside(loop))
    return isinstance(loop, ir.For)


def _steps_inside(loop: ir.While) -> bool:
    """Whether a loop compares a variable that it steps once, perhaps in a statement that does more:
    `while (p < end) *p++ = 0;`"""
    for side, _, _ in comparisons(loop.cond):
        if isinstance(side, ir.ID) and changes_of(side.name, loop.stmt) == 1:
            return any(
                stepped_name(node) == side.name for item in items_of(loop.stmt) for node in (item, *unconditional(item))
            )
    return False


def counted(loop: Any, before: list[Any], outside: Sequence[Any], variables: Variables) -> list[Any] | None:
    """The statements in a loop's place, None if it stays as it is.

    before: the statements in front of it; one that sets the iterator is taken out. outside: those in front of them,
      which stay.
    """
    count = _count(loop)
    if count is None or (ctype := variables.type_of(count.name)) is None or not _steady(count, loop):
        return None
    used = variables.used_after(loop, count.name)
    if isinstance(loop, ir.For) and loop.init is not None and loop.next is not None and not used:
        return None  # a plain `for`
    setter = None
    if count.start is None:
        everything = [*outside, *before]
        setter = setter_of(everything, count.name)
        start = set_value(everything[setter]) if setter is not None else ir.ID(count.name, loop.coord)
        setter = setter - len(outside) if setter is not None and setter >= len(outside) else None
        count = replace(count, start=plus(start, count.early))
    if (used and (last := _last(count)) is None) or (used and mentions(count.start, count.name)):
        return None
    if used and not _one_type(count, ctype, variables):
        return None
    if setter is not None:
        take_out(before, setter, keep=used or variables.uses(count.name) > mentions(loop, count.name) + 1)
    assigned = ir.Assignment("=", ir.ID(count.name, loop.coord), last, loop.coord) if used else None
    if count.stepped is not None:
        after = plus(ir.ID(count.name, loop.coord), count.step)
        rest = [substituted(item, count.name, after) for item in count.items[count.stepped :]]
        variables.carry(count.items[count.stepped :], rest)
        count = replace(count, items=[*count.items[: count.stepped], *rest])
    if mentions(count.start, count.name):
        # the iterator starts from the variable that it is named after
        fresh = variables.fresh(count.name)
        items = [substituted(item, count.name, ir.ID(fresh)) for item in count.items]
        variables.carry(count.items, items)
        count = replace(count, name=fresh, items=items)
    return [_for(count, ctype, loop), *([assigned] if assigned is not None else [])]


# --- recognition ------------------------------------------------------------------------------------------------------


def _count(loop: Any) -> Count | None:
    if any(isinstance(jump, ir.Break) for jump in leaving(loop.stmt)):
        return None
    form = _of_for if isinstance(loop, ir.For) else _of_while
    return next((count for compared in comparisons(loop.cond) if (count := form(loop, *compared)) is not None), None)


def _of_while(loop: Any, side: Any, op: str, end: Any) -> Count | None:
    once = isinstance(loop, ir.DoWhile)
    items = items_of(loop.stmt)
    if isinstance(side, ir.ID):
        return _stepped(side.name, op, end, items, loop, once=once) if next(leaving(loop.stmt), None) is None else None
    name, step = step_of(side) or ("", 0)
    late = side.op.startswith("p")
    if changes_of(name, loop) != 1 or (once and late):
        return None
    if once:
        return Count(name, step, op, end, items, once=True)
    if late:
        return Count(name, step, op, end, items, beyond=step, stepped=0)
    return Count(name, step, op, end, items, early=step)


def _stepped(name: str, op: str, end: Any, items: list[Any], loop: Any, *, once: bool) -> Count | None:
    """With the one step somewhere among the statements of the body."""
    places = [k for k, item in enumerate(items) if (found := step_of(item)) is not None and found[0] == name]
    if len(places) != 1 or changes_of(name, loop) != 1:
        return None
    place = places[0]
    _, step = step_of(items[place]) or ("", 0)
    return Count(name, step, op, end, [*items[:place], *items[place + 1 :]], once=once, stepped=place)


def _of_for(loop: ir.For, side: Any, op: str, end: Any) -> Count | None:
    """A `for` without one plain assignment to start with, or whose iterator is used after it."""
    if not isinstance(side, ir.ID) or isinstance(loop.init, ir.DeclList):
        return None
    name = side.name
    start = None
    if isinstance(loop.init, ir.Assignment):
        if loop.init.op != "=" or not isinstance(loop.init.lvalue, ir.ID) or loop.init.lvalue.name != name:
            return None
        start = loop.init.rvalue
    elif loop.init is not None:
        return None
    own = 1 if start is not None else 0
    found = step_of(loop.next) if loop.next is not None else None
    if found is not None:
        if found[0] != name or changes_of(name, loop) != 1 + own:
            return None
        return Count(name, found[1], op, end, items_of(loop.stmt), start=start)
    if loop.next is not None or next(leaving(loop.stmt), None) is not None:
        return None
    stepped = _stepped(name, op, end, items_of(loop.stmt), loop.stmt, once=False)
    return replace(stepped, start=start) if stepped is not None else None


def comparisons(condition: Any, *, computed: bool = False) -> Iterator[tuple[Any, str, Any]]:
    """The sides that may count, each with the operator seen from there, and the other side.
    computed: also if that isn't plain."""
    if isinstance(condition, ir.BinaryOp) and condition.op in _MIRRORED:
        for side, op, other in (
            (condition.left, condition.op, condition.right),
            (condition.right, _MIRRORED[condition.op], condition.left),
        ):
            if _counts(side) and (computed or is_plain(other)):
                yield side, op, other
    elif _counts(condition):
        yield condition, "!=", number(0)


def _counts(side: Any) -> bool:
    return isinstance(side, ir.ID) or (
        isinstance(side, ir.UnaryOp) and side.op in STEPS and isinstance(side.expr, ir.ID)
    )


def _steady(count: Count, loop: Any) -> bool:
    """Whether the loop leaves alone what it compares with and starts from,
    and runs in the direction of the comparison."""
    changed = effects(loop).changed
    if not all(
        is_plain(bound) and not names_of(bound) & changed for bound in (count.start, count.end) if bound is not None
    ):
        return False
    return runs_towards(count.op, count.step)


def runs_towards(op: str, step: int) -> bool:
    """Whether what is stepped so comes closer to failing the comparison,
    and doesn't miss a value that is waited for."""
    return op in (_UP if step > 0 else _DOWN) or (op == "!=" and abs(step) == 1)


def setter_of(before: Sequence[Any], name: str) -> int | None:
    """The position of the last statement that sets the variable, if its value is still the same in front of the loop,
    and nobody has looked at it."""
    changed: frozenset[str] = frozenset()
    for position in reversed(range(len(before))):
        item = before[position]
        value = set_value(item)
        if value is not None and changes_of(name, item):
            return position if is_plain(value) and not names_of(value) & (changed | {name}) else None
        if mentions(item, name) or changes_of(name, item):
            return None
        changed |= effects(item).changed
    return None


def set_value(item: Any) -> Any | None:
    """What a plain assignment to a variable, or its declaration, gives it."""
    if isinstance(item, ir.Assignment) and item.op == "=" and isinstance(item.lvalue, ir.ID):
        return item.rvalue
    return item.init if isinstance(item, ir.Decl) else None


def take_out(before: list[Any], position: int, *, keep: bool) -> None:
    item = before[position]
    if isinstance(item, ir.Decl) and keep:
        before[position] = changed(item, init=None)
    else:
        del before[position]


# --- what comes out ---------------------------------------------------------------------------------------------------


def _for(count: Count, ctype: CType, loop: Any) -> ir.For:
    where = loop.coord
    spelled = ir.TypeDecl(count.name, [], None, ir.IdentifierType(ctype.spelling.split(), where), where)
    init = ir.DeclList([ir.Decl(count.name, [], [], [], [], spelled, count.start, None, where)], where)
    op = count.op
    if count.once and op == "!=" and ctype.signed:
        op = "<" if count.step > 0 else ">"  # past the end it would run until it overflows
    condition = ir.BinaryOp(op, ir.ID(count.name, where), count.end, where)
    if count.once:
        first = ir.BinaryOp("==", ir.ID(count.name, where), count.start, where)
        condition = ir.BinaryOp("||", first, condition, where)
    if abs(count.step) == 1:
        step: Any = ir.UnaryOp("p++" if count.step > 0 else "p--", ir.ID(count.name, where), where)
    else:
        step = ir.Assignment("+=" if count.step > 0 else "-=", ir.ID(count.name, where), number(abs(count.step)), where)
    return ir.For(init, condition, step, ir.Compound(count.items, where), where)


def _last(count: Count) -> Any | None:
    """The variable's value after the loop, as an expression; None where it can't be said.

    A loop that has run leaves the first value that fails; one that hasn't leaves the start. The first iteration of a
    `do` always happens.
    """
    start = plus(count.start, count.step) if count.once else count.start
    end = count.end
    if abs(count.step) != 1:
        return None
    if count.op == "!=":
        return plus(end, count.beyond)
    failing = plus(end, count.step) if count.op in ("<=", ">=") else end
    runs = ir.BinaryOp(count.op, start, count.end, count.end.coord)
    return plus(ir.TernaryOp(runs, failing, start, count.end.coord), count.beyond)


def _one_type(count: Count, ctype: CType, variables: Variables) -> bool:
    """Whether start and end have the variable's own type, or are numbers that any signed type of theirs holds, so that
    expressions of them mean what they say."""

    def is_one(name: str) -> bool:
        other = variables.type_of(name)
        if other is None:
            return ctype.signed and variables.is_constant(name)
        return (other.signed, other.bits) == (ctype.signed, ctype.bits)

    return all(is_one(name) for name in names_of(count.start) | names_of(count.end))


def has_loop(node: Any) -> bool:
    """Whether an item of a run is a loop, or an `if` around loops."""
    return is_counting(node) or (
        isinstance(node, ir.If) and any(_is_or_has_for(part) for part in (node.iftrue, node.iffalse))
    )


def _is_or_has_for(node: Any) -> bool:
    return is_counting(node) or (node is not None and any(_is_or_has_for(child) for child in node.parts))
