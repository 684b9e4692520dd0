"""Intervals of an integer type's values, both ends included."""

from __future__ import annotations

from msgspec import Struct

from scopt.ir.ctypes import limits_of
from scopt.ir.scop import CType


class Range(Struct, frozen=True):
    """Values of an integer expression, both ends included, and its type."""

    low: int
    high: int
    type: CType


def any_of(ctype: CType) -> Range:
    return Range(*limits_of(ctype), ctype)


def fitting(low: int, high: int, ctype: CType) -> Range:
    """Values, if the type has them all."""
    least, greatest = limits_of(ctype)
    return Range(low, high, ctype) if least <= low <= high <= greatest else any_of(ctype)


def converted(value: Range | None, ctype: CType) -> Range:
    """A value as one of another type."""
    if value is None or ctype.spelling == "_Bool":
        return any_of(ctype)
    return fitting(value.low, value.high, ctype)


def union(one: Range, other: Range) -> Range:
    return Range(min(one.low, other.low), max(one.high, other.high), one.type)


def widened(old: Range, new: Range) -> Range:
    """An interval that holds both; where it is more than the first, up to the next power of two."""
    both = union(old, new)
    if both == old:
        return old
    low = both.low if both.low == old.low else -(1 << (-both.low - 1).bit_length()) if both.low < 0 else 0
    high = both.high if both.high == old.high else (1 << max(both.high, 0).bit_length()) - 1
    return fitting(low, high, old.type)


def quotient(dividend: int, divisor: int) -> int:
    """As C rounds it."""
    return dividend // divisor if dividend >= 0 else -(-dividend // divisor)
