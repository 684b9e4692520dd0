"""Macros that are added to the factors of sums of products, as the zero points of quantized numbers are: `sum += (x[i]
- ZERO) * w[i]`. How many bits such a factor takes, and whether processors have an instruction for the products, depends
on the number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scopt import ir
from scopt.frontend.syntax.unit import Region
from scopt.ir.walks import walk

# With larger ones no factor fits into 16 bits.
_MOST = 1 << 15


def zero_points(region: Region, symbolic: Mapping[str, int], types: Mapping[str, str]) -> list[str]:
    """Those among a region's macros, which have the type `int`."""
    names = {name for item in region.items for node in walk(item) for name in _offsets(node)}
    few = {name for name, value in symbolic.items() if abs(value) < _MOST and name not in types}
    return [name for name in symbolic if name in names & few]


def _offsets(node: Any) -> Iterator[str]:
    """What is added to a cell in a factor of a product that is accumulated."""
    if not (isinstance(node, ir.Assignment) and node.op == "+="):
        return
    for product in walk(node.rvalue):
        if not (isinstance(product, ir.BinaryOp) and product.op == "*"):
            continue
        for factor in (product.left, product.right):
            match factor:
                case ir.BinaryOp(op="+" | "-", left=ir.ArrayRef(), right=ir.ID(name=name)):
                    yield name
                case ir.BinaryOp(op="+", left=ir.ID(name=name), right=ir.ArrayRef()):
                    yield name
