"""Subscripts of pixels and channels, ``y * stride + (x + k) * n + c``, as those of a row's numbers, ``y * stride + k *
n + i`` where ``i = x * n + c``.

Only what lies on the way to the pixel is multiplied out, and only once: each part is one that the source computes too,
or such a part times `n`, in a type that has room for it.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from scopt import ir
from scopt.frontend.normalize.expression_types import ExpressionTypes
from scopt.frontend.normalize.tree_rewriting import cast
from scopt.ir.walks import used_names

_INT_BITS, _LONG_BITS = 32, 64


class Numbers(Struct, frozen=True, eq=False):
    """pixel, channel: the iterators. channels: how many there are. index: of the row's numbers. long_type: its type.
    types: of expressions, these names among them."""

    pixel: str
    channel: str
    channels: str
    index: Any
    long_type: str
    types: ExpressionTypes


class _Sum(Struct, frozen=True, eq=False):
    """What is added, with signs; the pixel, and whether it is multiplied by the number of channels; the channel."""

    parts: tuple[tuple[int, Any], ...] = ()
    pixel: bool = False
    scaled: bool = False
    channel: bool = False


def flat_subscript(node: Any, numbers: Numbers) -> Any | None:
    """A subscript that counts numbers; None for one that doesn't go by pixels in that way."""
    found = _read(node, numbers)
    if found is None or not (found.scaled and found.channel):
        return None
    made: Any = None
    for sign, part in found.parts:
        if made is None and sign > 0:
            made = part
        elif made is None:
            made = ir.UnaryOp("-", part, node.coord)
        else:
            made = ir.BinaryOp("+" if sign > 0 else "-", made, part, node.coord)
    return numbers.index if made is None else ir.BinaryOp("+", made, numbers.index, node.coord)


def _read(node: Any, numbers: Numbers) -> _Sum | None:
    """A sum; None where the pixel or the channel are asked for in other ways."""
    ctype = numbers.types.of(node)
    if ctype is None or not ctype.integer or ctype.bits < (_INT_BITS if ctype.signed else _LONG_BITS):
        return None
    if {numbers.pixel, numbers.channel}.isdisjoint(used_names(node)):
        return _Sum(((1, node),))
    match node:
        case ir.ID(name=name):
            return _Sum(pixel=True) if name == numbers.pixel else _Sum(channel=True)
        case ir.BinaryOp(op="+" | "-"):
            left, right = _read(node.left, numbers), _read(node.right, numbers)
            return _added(left, right, node.op) if left is not None and right is not None else None
        case ir.BinaryOp(op="*"):
            for factor, other in ((node.left, node.right), (node.right, node.left)):
                if isinstance(factor, ir.ID) and factor.name == numbers.channels:
                    found = _read(other, numbers)
                    return _times(found, factor, numbers) if found is not None else None
        case ir.Cast():
            found, inner = _read(node.expr, numbers), numbers.types.of(node.expr)
            if found is None or inner is None or ctype.bits < inner.bits or (ctype.signed and not inner.signed):
                return None
            return _Sum(tuple((s, _widened(part, node)) for s, part in found.parts), *_flags(found))
    return None


def _flags(found: _Sum) -> tuple[bool, bool, bool]:
    return found.pixel, found.scaled, found.channel


def _added(left: _Sum, right: _Sum, op: str) -> _Sum | None:
    """None where something is added twice, or taken away."""
    twice = any(a and b for a, b in zip(_flags(left), _flags(right), strict=True)) or (right.pixel and left.scaled)
    if twice or (left.pixel and right.scaled) or (op == "-" and any(_flags(right))):
        return None
    sign = 1 if op == "+" else -1
    parts = (*left.parts, *((sign * own, part) for own, part in right.parts))
    return _Sum(parts, *(a or b for a, b in zip(_flags(left), _flags(right), strict=True)))


def _times(found: _Sum, factor: ir.ID, numbers: Numbers) -> _Sum | None:
    """Only a pixel is multiplied by the number of channels."""
    if not found.pixel or found.channel or found.scaled:
        return None
    parts = []
    for sign, part in found.parts:
        ctype = numbers.types.of(part)
        if ctype is None:
            return None
        wide = part if not ctype.signed else cast(numbers.long_type, part)
        parts.append((sign, ir.BinaryOp("*", wide, factor, part.coord)))
    return _Sum(tuple(parts), scaled=True)


def _widened(part: Any, like: ir.Cast) -> Any:
    return ir.Cast(like.to_type, part, part.coord)
