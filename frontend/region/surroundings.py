"""What else runs where a region is run again and again."""

from __future__ import annotations

from typing import Any

from scopt import ir
from scopt.frontend.syntax.unit import Region
from scopt.ir.walks import walk

_LOOPS = (ir.For, ir.While, ir.DoWhile)


def runs_alone(region: Region) -> bool:
    """Whether a loop around the region does nothing else that takes time: neither loops nor calls stand beside it. Not
    known, so False, of a function that is called again and again."""
    own = {id(node) for item in region.items for node in walk(item)}
    around = [node for node in walk(region.function.body) if isinstance(node, _LOOPS) and _holds(node, region.parent)]
    return bool(around) and not any(
        isinstance(node, (*_LOOPS, ir.FuncCall))
        for node in walk(around[-1])
        if id(node) not in own and node is not around[-1]
    )


def _holds(root: Any, wanted: Any) -> bool:
    return any(node is wanted for node in walk(root))
