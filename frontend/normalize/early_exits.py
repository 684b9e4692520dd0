"""Loops whose iterations may be left before their end."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from scopt import ir
from scopt.ir.walks import walk


@lru_cache(maxsize=1 << 12)
def has_jump(node: Any) -> bool:
    """Whether a loop's body may be left before its end."""
    return any(isinstance(inner, ir.Break | ir.Continue | ir.Goto | ir.Return | ir.Switch) for inner in walk(node))


@lru_cache(maxsize=1 << 12)
def leaves_early(body: Any) -> bool:
    """Whether an iteration of a loop may leave out the rest of the loop's body, or leave the loop."""

    def left(node: Any, bound: tuple[type, ...]) -> bool:
        if isinstance(node, (ir.Goto, ir.Return)) or (
            isinstance(node, (ir.Break, ir.Continue)) and type(node) not in bound
        ):
            return True
        if isinstance(node, (ir.For, ir.While, ir.DoWhile)):
            bound = (ir.Break, ir.Continue)
        elif isinstance(node, ir.Switch):
            bound = (*bound, ir.Break)
        return any(left(part, bound) for part in node.parts)

    return left(body, ())
