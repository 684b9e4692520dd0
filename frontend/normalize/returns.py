"""A function's statements without its returns: what comes behind an ``if`` that returns is its other branch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from scopt import ir
from scopt.ir.walks import changed, walk


def without_returns(items: Sequence[Any], returned: Callable[[Any], Any]) -> list[Any] | None:
    """The statements of a block with others in the place of returns, which were the last ones to be executed; None
    where a loop is left by one, or where two ways lead behind an ``if`` that may return.

    returned: the statement in the place of a return, of its value.
    """
    for position, item in enumerate(items):
        if not _may_return(item):
            continue
        done, rest = list(items[:position]), items[position + 1 :]
        match item:
            case ir.Return():
                return [*done, returned(item.expr)]
            case ir.Compound():
                inner = without_returns((*(item.block_items or ()), *(() if _returns(item) else rest)), returned)
                # Names of the block would mean the same behind it.
                if inner is None or (not _returns(item) and any(_declares(one) for one in item.block_items or ())):
                    return None
                return [*done, changed(item, block_items=inner)]
            case ir.If():
                branches = [_block(item.iftrue), _block(item.iffalse)]
                leave = [_returns(ir.Compound(branch)) for branch in branches]
                if not any(leave) and rest:
                    return None
                if any(
                    _declares(one) for branch, left in zip(branches, leave, strict=True) if not left for one in branch
                ):
                    return None
                made = [
                    without_returns([*branch, *(() if left else rest)], returned)
                    for branch, left in zip(branches, leave, strict=True)
                ]
                if made[0] is None or made[1] is None:
                    return None
                iftrue, iffalse = (ir.Compound(one, item.coord) for one in made)
                return [*done, changed(item, iftrue=iftrue, iffalse=iffalse if made[1] else None)]
        return None
    return list(items)


def _block(node: Any) -> list[Any]:
    if node is None:
        return []
    return list(node.block_items or ()) if isinstance(node, ir.Compound) else [node]


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
