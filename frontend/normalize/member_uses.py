"""Where a region reaches members of structures, and elements, through a name, and whether it surely gets there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from scopt import ir
from scopt.frontend.normalize.failing_checks import behind_checks
from scopt.frontend.normalize.opaque import may_end_early
from scopt.frontend.syntax.structs import reference_of


class Use(Struct, frozen=True, eq=False):
    """An occurrence of a member. guards: the loops whose bodies it is in, outermost first, or None where it depends on
    something else. around: those of them that it surely is in. passed: of one behind checks that end the program, what
    guards would be without."""

    node: Any
    guards: tuple[Any, ...] | None
    around: tuple[Any, ...] = ()
    passed: tuple[Any, ...] | None = None


def uses_in(items: Iterable[Any]) -> Iterator[Use]:
    """All references of statements through a pointer or to a member whose base is a name,
    in textual order; of ``a->b->c`` the inner one."""
    items = tuple(items)
    late = behind_checks(items)
    for item in items:
        yield from _within(item, (), late=late)


def _within(
    node: Any, guards: tuple[Any, ...] | None, outer: tuple[Any, ...] = (), late: frozenset[Any] = frozenset()
) -> Iterator[Use]:
    if node in late:
        for use in _within(node, guards, outer):
            yield Use(use.node, None, use.around if use.guards is None else use.guards, use.guards)
        return
    around = guards if guards is not None else outer
    match node:
        case None:
            return
        case ir.For():
            yield from _within(node.init, guards, around, late)
            yield from _within(node.cond, guards, around, late)
            inner = (*guards, node) if guards is not None and not may_end_early(node.stmt) else None
            yield from _within(node.next, inner, around, late)
            yield from _within(node.stmt, inner, around, late)
        case ir.If() | ir.TernaryOp():
            yield from _within(node.cond, guards, around, late)
            yield from _either(node, guards, around, late)
        case ir.BinaryOp(op="&&" | "||"):
            yield from _within(node.left, guards, around, late)
            yield from _within(node.right, None, around, late)
        case ir.UnaryOp(op="sizeof" | "_Alignof" | "&"):
            return
        case ir.StructRef() if is_member(node):
            yield Use(node, guards, around)
        case ir.ArrayRef(name=ir.ID()) | ir.UnaryOp(op="*", expr=ir.ID()):
            yield Use(node, guards, around)
            yield from _within(getattr(node, "subscript", None), guards, around, late)
        case ir.While() | ir.DoWhile() | ir.Switch():
            for child in node.parts:
                yield from _within(child, None, around, late)
        case _:
            for child in node.parts:
                yield from _within(child, guards, around, late)


def _either(node: Any, guards: tuple[Any, ...] | None, outer: tuple[Any, ...], late: frozenset[Any]) -> Iterator[Use]:
    """What stands in the two branches of a choice: one of them is executed, so that bases of both are reached."""
    branches = [list(_within(branch, guards, outer, late)) for branch in (node.iftrue, node.iffalse)]
    reached = [{_base(use) for use in uses if use.guards == guards} for uses in branches]
    sure = set() if guards is None else reached[0] & reached[1]
    for use in (*branches[0], *branches[1]):
        yield use if use.guards == guards and _base(use) in sure else Use(use.node, None, outer)


def _base(use: Use) -> str:
    name: str = reference_of(use.node).base.name
    return name


def is_member(node: Any) -> bool:
    """Whether a node is ``s.x``, ``s->x`` or ``(*s).x``, or members of such a member, all in one object."""
    while isinstance(node, ir.StructRef):
        inner = node.name
        if isinstance(inner, ir.ID):
            return True
        if node.type == "->":
            return False
        if isinstance(inner, ir.UnaryOp) and inner.op == "*" and isinstance(inner.expr, ir.ID):
            return True
        node = inner
    return False
