"""Dumps compared: what a kernel prints under POLYBENCH_DUMP_ARRAYS against
what the original prints, exactly or to a tolerance."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

from msgspec import Struct

# The name stands right before the first value where no line break comes first ("begin dump: x0.00"), so it is taken
# from the end.
_ARRAY = re.compile(r"begin dump: (?P<body>.*?)\nend   dump: (?P<name>\S+)", re.DOTALL)
_NAN = re.compile(r"[-+]?nan$", re.IGNORECASE)


class DumpError(ValueError):
    """The text is no dump."""


class Dump(Struct, frozen=True):
    """What a program printed: name and values of each array, in the order of the dump, values as printed."""

    arrays: tuple[tuple[str, tuple[str, ...]], ...]


def parse_dump(text: str) -> Dump:
    """The arrays in the output of a kernel; text around them is skipped.
    Raises DumpError if there is none, or one is cut off."""
    arrays = []
    for match in _ARRAY.finditer(text):
        name = match["name"]
        arrays.append((name, tuple(match["body"].removeprefix(name).split())))
    if not arrays:
        raise DumpError("the output has no complete array in it")
    if text.count("begin dump: ") != len(arrays):
        raise DumpError(f"the output is cut off after array {arrays[-1][0]}")
    return Dump(tuple(arrays))


def first_difference(expected: Dump, actual: Dump, tolerance: float = 0.0) -> str | None:
    """Where two dumps part, in one line (array, index, both values, how many differ), or None if they are the same.

    Values are compared as they are printed: the same digits, or the same bits where exact.h prints hexadecimal floats;
    so -0 is not 0. Only the sign of a NaN counts for nothing, since C doesn't define it. An index counts the values of
    the dump.
    tolerance: floating-point values may differ by that much, relative to their array's largest (see
      `largest_difference`).
    """
    names = [name for name, _ in expected.arrays]
    other_names = [name for name, _ in actual.arrays]
    if names != other_names:
        return f"arrays {', '.join(other_names)} instead of {', '.join(names)}"
    for (name, values), (_, others) in zip(expected.arrays, actual.arrays, strict=True):
        if len(values) != len(others):
            return f"{name} has {len(others)} values instead of {len(values)}"
        scale = _scale(values) if tolerance else 0.0
        pairs = enumerate(zip(values, others, strict=True))
        different = [
            i
            for i, (value, other) in pairs
            if not _same(value, other) and not _distance(value, other, scale) <= tolerance
        ]
        if different:
            i = different[0]
            return (
                f"{name}[{i}] is {_readable(others[i])} instead of {_readable(values[i])}; "
                f"{len(different)} of {len(values)} values differ"
            )
    return None


def largest_difference(expected: Dump, actual: Dump) -> float:
    """The largest difference of two values of an array, relative to the array's largest absolute value: where a sum
    cancels, nothing else means much.

    Infinite for values that are no finite floating-point numbers and not the same. Both dumps have the same arrays.
    """
    found = 0.0
    for (_, values), (_, others) in zip(expected.arrays, actual.arrays, strict=True):
        scale = _scale(values)
        found = max(
            found, *(_distance(a, b, scale) for a, b in zip(values, others, strict=True) if not _same(a, b)), 0.0
        )
    return found


def _scale(values: Iterable[str]) -> float:
    return max((abs(number) for value in values if (number := _number(value)) is not None), default=0.0)


def _distance(value: str, other: str, scale: float) -> float:
    first, second = _number(value), _number(other)
    if first is None or second is None or not scale:
        return math.inf
    return abs(first - second) / scale


def _number(value: str) -> float | None:
    """A printed finite floating-point number; None for integers, which have to be exact, and for anything else."""
    if value.lstrip("+-").isdigit():
        return None
    try:
        number = float.fromhex(value) if "0x" in value.lower() else float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _same(value: str, other: str) -> bool:
    return value == other or bool(_NAN.match(value) and _NAN.match(other))


def _readable(value: str) -> str:
    """A hexadecimal float with its decimal value; anything else as it is."""
    if "0x" not in value.lower():
        return value
    try:
        return f"{float.fromhex(value)!r} ({value})"
    except (ValueError, OverflowError):
        return value
