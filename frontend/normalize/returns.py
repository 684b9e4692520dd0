"""A function's statements without its returns: what comes behind an ``if`` that returns is its other branch. A loop, or
a ``switch``, that is left by one is left by ``break``, and a variable tells whether anything is executed behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from scopt import ir
from scopt.ir.walks import changed, mapped, walk


def without_returns(items: Sequence[Any], returned: Callable[[Any], Any], fresh: Callable[[], str]) -> list[Any]:
    """The statements of a block with others in the place of returns, which were the last ones to be executed.

    returned: the statement in the place of a return, of its value. fresh: names of new variables.
    """
    for position, item in enumerate(items):
        if not _may_return(item):
            continue
        done, rest = list(items[:position]), items[position + 1 :]
        match item:
            case ir.Return():
                return [*done, returned(item.expr)]
            # Names of the block would mean the same behind it.
            case ir.Compound(block_items=inner) if _returns(item) or not any(map(_declares, inner or ())):
                inner = [*(inner or ()), *(() if _returns(item) else rest)]
                return [*done, changed(item, block_items=without_returns(inner, returned, fresh))]
            case ir.If() if (made := _branches(item, rest, returned, fresh)) is not None:
                return [*done, made]
            case ir.For() | ir.While() | ir.DoWhile() | ir.Switch():
                return [*done, *_left(item, without_returns(rest, returned, fresh), returned, fresh)]
        once = ir.DoWhile(ir.Constant("int", "0", item.coord), _block_of(item), item.coord)
        return [*done, *_left(once, without_returns(rest, returned, fresh), returned, fresh)]
    return list(items)


def _block_of(item: Any) -> ir.Compound:
    return item if isinstance(item, ir.Compound) else ir.Compound([item], item.coord)


def _branches(
    item: ir.If, rest: Sequence[Any], returned: Callable[[Any], Any], fresh: Callable[[], str]
) -> ir.If | None:
    """An ``if`` one of whose branches may return, with what comes behind it; None where two ways lead there."""
    branches = [_block(item.iftrue), _block(item.iffalse)]
    leave = [_returns(ir.Compound(branch)) for branch in branches]
    if not any(leave) and rest:
        return None
    if any(_declares(one) for branch, left in zip(branches, leave, strict=True) if not left for one in branch):
        return None
    made = [
        without_returns([*branch, *(() if left else rest)], returned, fresh)
        for branch, left in zip(branches, leave, strict=True)
    ]
    iftrue, iffalse = (ir.Compound(one, item.coord) for one in made)
    return changed(item, iftrue=iftrue, iffalse=iffalse if made[1] else None)


def _left(item: Any, behind: list[Any], returned: Callable[[Any], Any], fresh: Callable[[], str]) -> list[Any]:
    """A loop or ``switch`` with ``break`` in the place of returns, and what is executed behind it where there were
    none."""
    told = bool(behind) or any(map(_may_return, _breakable(item.stmt)))
    name, coord = fresh() if told else "", item.coord

    def tells() -> Any:
        return ir.ID(name, coord)

    def number(value: str) -> Any:
        return ir.Constant("int", value, coord)

    def change(node: Any) -> Any:
        match node:
            case ir.Return(expr=value):
                leaves = [ir.Assignment("=", tells(), number("1"), coord)] if told else []
                return ir.Compound([returned(value), *leaves, ir.Break(coord)], coord)
            case ir.For() | ir.While() | ir.DoWhile() | ir.Switch() if _may_return(node):
                inner = mapped(node, change)
                return ir.Compound([inner, ir.If(tells(), ir.Break(coord), None, coord)], coord)
        return mapped(node, change)

    made = changed(item, stmt=change(item.stmt))
    if not told:
        return [made]
    spelled = ir.TypeDecl(name, [], None, ir.IdentifierType(["int"], coord), coord)
    decl = ir.Decl(name, [], [], [], [], spelled, number("0"), None, coord)
    if not behind:
        return [decl, made]
    return [decl, made, ir.If(ir.UnaryOp("!", tells(), coord), ir.Compound(behind, coord), None, coord)]


def _block(node: Any) -> list[Any]:
    if node is None:
        return []
    return list(node.block_items or ()) if isinstance(node, ir.Compound) else [node]


def _breakable(node: Any) -> list[Any]:
    """The loops and the like in a statement."""
    return [one for one in walk(node) if isinstance(one, (ir.For, ir.While, ir.DoWhile, ir.Switch))]


def _declares(node: Any) -> bool:
    return isinstance(node, ir.Decl)


def _may_return(node: Any) -> bool:
    return any(isinstance(one, ir.Return) for one in walk(node))


def _returns(node: Any) -> bool:
    """Whether nothing behind a statement is executed."""
    match node:
        case ir.Return():
            return True
        case ir.Compound():
            return any(map(_returns, node.block_items or ()))
        case ir.If():
            return node.iffalse is not None and _returns(node.iftrue) and _returns(node.iffalse)
    return False
