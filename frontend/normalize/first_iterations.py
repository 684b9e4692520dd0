"""What decides whether the first iteration of the loops around a place gets there, as conditions without iterators.

Loops that begin at ``1 + ((i + color) & 1)``, as red-black sweeps do, or a condition ``(i + j) % 2 == color`` leave
open for which sizes a place is reached. Where the first iteration of all loops does, or the second of the innermost
one, it surely is; for other sizes nothing is said.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from functools import reduce
from typing import Any

from msgspec import Struct

from scopt import ir
from scopt.frontend.normalize.extreme_iterations import mentions, start_of
from scopt.frontend.normalize.opaque import may_end_early
from scopt.frontend.normalize.tree_rewriting import step_of
from scopt.frontend.syntax.scoping import loop_iterator
from scopt.ir.walks import rebuilt, replaced

_OPERATORS = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "&": operator.and_,
    "%": operator.mod,
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_SMALL = 1 << 14


class Asked(Struct, frozen=True, eq=False):
    """A condition on the way to a place. alone: it is the same in all iterations of the loops around, so that the place
    is never reached where it doesn't hold."""

    condition: Any
    alone: bool


def way_to(items: Iterable[Any], place: Any) -> tuple[Any, ...] | None:
    """The loops around a node of some statements, and the conditions that hold there, outermost first. None where
    something else decides, too, or the node isn't there."""
    for item in items:
        found = _way(item, place)
        if found is not None:
            return found if None not in found else None
    return None


def _way(node: Any, place: Any) -> tuple[Any, ...] | None:
    if node is place:
        return ()
    for part in node.parts:
        inner = _way(part, place)
        if inner is None:
            continue
        match node:
            case ir.For() if part is node.init:
                return inner
            case ir.For() if part is node.cond or may_end_early(node.stmt):
                return (None,)
            case ir.For():
                return (node, *inner)
            case ir.If() | ir.TernaryOp() if part is not node.cond:
                return (node.cond if part is node.iftrue else ir.UnaryOp("!", node.cond, node.coord), *inner)
            case ir.BinaryOp(op="&&" | "||") if part is node.right:
                return (node.left if node.op == "&&" else ir.UnaryOp("!", node.left, node.coord), *inner)
            case ir.While() | ir.DoWhile() | ir.Switch():
                return (None,)
        return inner
    return None


def asked_on(way: Sequence[Any]) -> list[Asked] | None:
    """The conditions under which the first iteration of the loops reaches a place; None where that can't be said."""
    starts: dict[str, Any] = {}
    found: list[Asked] = []
    last = max((place for place, one in enumerate(way) if isinstance(one, ir.For)), default=-1)
    for one in way[: last + 1]:
        if not isinstance(one, ir.For):
            first = _with(one, starts)
            found.append(Asked(first, first is one))
            continue
        name = loop_iterator(one)
        start = at_start(_with(start_of(one), starts), one.init) if name is not None else None
        if name is None or name in starts or one.cond is None or start is None:
            return None
        around = any(mentions(part, other) for other in starts for part in (one.init, one.cond))
        starts[name] = start
        found.append(Asked(_with(one.cond, starts), not around))
    if inside := way[last + 1 :]:
        whole = reduce(lambda some, one: ir.BinaryOp("&&", some, one), inside)
        first = _with(whole, starts)
        second = _second(whole, way[last], starts) if last >= 0 else None
        found.append(Asked(first if second is None else _folded(ir.BinaryOp("||", first, second)), first is whole))
    return found


def at_start(value: Any, init: Any) -> Any:
    """What an iterator is that begins with a value: in its own type. None if that has no name."""
    if isinstance(value, ir.Constant) and value.value.isdigit():
        return value
    ctype = init.decls[0].type if isinstance(init, ir.DeclList) else None
    if ctype is None:
        return value
    if not (isinstance(ctype, ir.TypeDecl) and isinstance(ctype.type, ir.IdentifierType)):
        return None
    return ir.Cast(ir.Typename(None, [], None, ir.TypeDecl(None, [], None, ctype.type)), value)


def with_value(node: Any, name: str, value: Any) -> Any:
    """An expression with a value in the place of a variable."""
    return replaced(node, lambda one: value if isinstance(one, ir.ID) and one.name == name else one)


def _second(condition: Any, loop: ir.For, starts: dict[str, Any]) -> Any:
    """What a condition is in the second iteration of a loop, if there is one; None if it is the same as in the first,
    or that isn't known."""
    name, step = loop_iterator(loop) or "", step_of(loop.next)
    if step is None or step[0] != name or not mentions(condition, name):
        return None
    amount = ir.Constant("int", str(abs(step[1])))
    following = {**starts, name: ir.BinaryOp("+" if step[1] > 0 else "-", starts[name], amount)}
    return _folded(ir.BinaryOp("&&", _with(loop.cond, following), _with(condition, following)))


def _with(node: Any, values: dict[str, Any]) -> Any:
    """An expression with values in the place of iterators, and numbers where it has these then."""
    made = replaced(node, lambda one: values.get(one.name, one) if isinstance(one, ir.ID) else one)
    return made if made is node else rebuilt(made, _folded)


def _folded(node: Any) -> Any:
    """An expression of numbers alone as a number, one of several conditions as those that aren't known."""
    match node:
        case ir.BinaryOp(op="&&" | "||" as op, left=left, right=right):
            for one, other in ((left, right), (right, left)):
                value = _number(one)
                if value is not None:
                    return other if bool(value) == (op == "&&") else one
        case ir.BinaryOp():
            number = _number(node)
            return node if number is None else ir.Constant("int", str(number), node.coord)
    return node


def _number(node: Any) -> int | None:
    """The value of an expression of small numbers alone, none of them negative."""
    match node:
        case ir.Constant(type="int", value=digits) if digits == "0" or (digits.isdigit() and digits[0] != "0"):
            value = int(digits)
        case ir.BinaryOp(op=op) if op in _OPERATORS:
            left, right = _number(node.left), _number(node.right)
            if left is None or right is None or (op == "%" and not right):
                return None
            value = int(_OPERATORS[op](left, right))
        case _:
            return None
    return value if 0 <= value <= _SMALL else None
