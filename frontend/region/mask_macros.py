"""Macros that subscripts are masked by, or divided by: ``a[(i + 1) & (N - 1)]``, ``scale[j / BLOCK]``.

Only of a power of two is a mask a remainder, and only by a number do quotients stay the same for some iterations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scopt import ir
from scopt.frontend.syntax.scoping import loop_iterator
from scopt.frontend.syntax.unit import Region
from scopt.ir.walks import used_names, walk

# The largest divisor that is worth a loop of its own (chosen).
_LARGEST = 1 << 10


def mask_macros(region: Region, symbolic: Mapping[str, int], types: Mapping[str, str]) -> list[str]:
    """Those among a region's macros, which have the type `int`."""
    nodes = [node for item in region.items for node in walk(item)]
    iterators = {loop_iterator(node) for node in nodes if isinstance(node, ir.For)}
    subscripts = {one: None for node in nodes if isinstance(node, ir.ArrayRef) for one in walk(node.subscript)}
    found = {name for node in subscripts if _moves(node, iterators) for name in _meant(node, symbolic)}
    return [name for name in symbolic if name in found and name not in types]


def _moves(node: Any, iterators: set[str | None]) -> bool:
    return isinstance(node, ir.BinaryOp) and not iterators.isdisjoint(used_names(node.left))


def _meant(node: Any, symbolic: Mapping[str, int]) -> Iterator[str]:
    match node:
        case ir.BinaryOp(op="&", right=ir.BinaryOp(op="-", left=ir.ID(name=name), right=ir.Constant(value="1"))):
            if _is_power(symbolic.get(name, 0)):
                yield name
        case ir.BinaryOp(op="&", right=ir.ID(name=name)):
            if _is_power(symbolic.get(name, 0) + 1):
                yield name
        case ir.BinaryOp(op="/", right=ir.ID(name=name)):
            if 1 < symbolic.get(name, 0) <= _LARGEST:
                yield name


def _is_power(value: int) -> bool:
    return value > 1 and not value & (value - 1)
