"""Iterators that loops declare as `int`: in vector code over cells of 8 or 16 bits, values of 64-bit ones would have to
be packed three times or twice.

A loop may do that where its iterator never leaves the type: bounds of bounds, from the types of parameters and the
loops around.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from scopt.ir.ctypes import limits_of
from scopt.ir.expr import from_linear, linear, scale, subtract
from scopt.ir.nest import And, Compare, Condition, Const, Expr, FloorDiv, Max, Min, Mod, Name, Select, Sum
from scopt.ir.scop import CType

_INT = (-(2**31), 2**31 - 1)
# What comparisons make of the difference of their sides: its sign in what is at most 0, or at most -1.
_LIMITS = {"<=": (1, 0), "<": (1, 1), ">=": (-1, 0), ">": (-1, 1)}
# Least and greatest value.
Interval = tuple[int, int]


def fits_int(lower: Interval | None, upper: Interval | None, step: int) -> bool:
    """Whether an iterator that runs from one bound to the other, and a step beyond, is an int's value all the time."""
    return lower is not None and upper is not None and lower[0] >= _INT[0] and max(lower[1], upper[1] + step) <= _INT[1]


def run(lower: Interval | None, upper: Interval | None) -> Interval | None:
    """The values of an iterator in its loop."""
    return None if lower is None or upper is None else (lower[0], max(lower[0], upper[1]))


def narrowed(
    condition: Condition, types: Mapping[str, CType], ranges: Mapping[str, Interval | None]
) -> dict[str, Interval | None]:
    """Where iterators lie where a condition holds: ``xt + 32 <= n`` keeps xt below n's type's end by 32."""
    found = dict(ranges)
    for part in condition.args if isinstance(condition, And) else (condition,):
        if not isinstance(part, Compare) or part.op not in _LIMITS:
            continue
        sign, strict = _LIMITS[part.op]
        terms, constant = linear(scale(subtract(part.left, part.right), sign))  # at most -strict
        for term, factor in terms.items():
            own = found.get(term.name) if isinstance(term, Name) else None
            rest = interval(from_linear({one: c for one, c in terms.items() if one != term}, constant), types, ranges)
            if not isinstance(term, Name) or own is None or rest is None:
                continue
            limit = -strict - rest[0]
            low, high = own
            found[term.name] = (
                (low, min(high, limit // factor)) if factor > 0 else (max(low, -(limit // -factor)), high)
            )
    return found


def interval(expr: Expr, types: Mapping[str, CType], ranges: Mapping[str, Interval | None]) -> Interval | None:
    """Where an expression's value lies. types: of the parameters; ranges: of the iterators around; None: anywhere."""
    match expr:
        case Const(value):
            return value, value
        case Name(name):
            return ranges[name] if name in ranges else _of_type(types.get(name))
        case Sum(terms, constant):
            low = high = constant
            for coefficient, term in terms:
                if (own := interval(term, types, ranges)) is None:
                    return None
                ends = coefficient * own[0], coefficient * own[1]
                low, high = low + min(ends), high + max(ends)
            return low, high
        case FloorDiv(numerator, divisor):
            # C's quotient is the greater one of a negative number
            own = interval(numerator, types, ranges)
            return None if own is None else (own[0] // divisor, -(-own[1] // divisor))
        case Mod(_, divisor):
            return 1 - divisor, divisor - 1
        case Min(args):
            found = [one for arg in args if (one := interval(arg, types, ranges)) is not None]
            lows = [one[0] for one in found]
            return (min(lows), min(one[1] for one in found)) if len(found) == len(args) else None
        case Max(args):
            found = [one for arg in args if (one := interval(arg, types, ranges)) is not None]
            return (max(one[0] for one in found), max(one[1] for one in found)) if len(found) == len(args) else None
        case Select(_, then, otherwise):
            one, other = interval(then, types, ranges), interval(otherwise, types, ranges)
            return None if one is None or other is None else (min(one[0], other[0]), max(one[1], other[1]))
    return None


def has_int_value(text: str, iterator: str) -> bool:
    """Whether printed statements convert an iterator to an int, for its value, or conditions ask for its remainder."""
    name = re.escape(iterator)
    return re.search(rf"\((?:int|unsigned(?: int)?)\){name}\b|\bif \([^;{{]*\b{name}\b[^&|;{{]*%", text) is not None


def is_added_in_subscript(text: str, iterator: str) -> bool:
    """Whether printed statements convert an iterator to an int and add it, in a subscript or in a scalar that
    subscripts use: compilers don't see then that the next iteration's cell is the next one, since conversions wrap
    around, as an int's sums don't."""
    added = rf"(?:[+-] |^)\(int\){re.escape(iterator)}(?= [+-]|$)"
    subscripts = _subscripts(text)
    if any(re.search(added, one) for one in subscripts):
        return True
    used = {name for one in subscripts for name in re.findall(r"\w+", one)}
    for name, value in reversed(re.findall(r"(?m)^\s*(\w+) = ([^;]*);", text)):
        if name in used:
            used.update(re.findall(r"\w+", value))
            if re.search(added, value):
                return True
    return False


def is_divided(text: str, iterator: str) -> bool:
    """Whether printed statements convert an iterator to an int, and look for a quotient, remainder or some bits of it:
    gcc computes these in vectors of ints, for which it packs 64-bit values (an instruction more per iteration of
    vectors of eight for ``x[i] * gain[i % n]``)."""
    return re.search(rf"\(int\){re.escape(iterator)}\b(?: \* \w+)* (?:/|%|>>|&(?!&))", text) is not None


def is_where_loops_begin(text: str, iterator: str) -> bool:
    """Whether printed statements have loops of their own, and convert an iterator to an int: compilers don't see then
    that what counts down from it is none below zero, and extend it in each step (insertions of a few cells that are
    kept sorted: 1.5 times as long by gcc)."""
    return re.search(r"\b(?:for|while) \(", text) is not None and f"(int){iterator}" in text


def _subscripts(text: str) -> list[str]:
    """Of printed statements; references in other subscripts stand there by their names."""
    found: list[str] = []
    while inner := re.findall(r"\[([^\[\]]*)\]", text):
        found += inner
        text = re.sub(r"\[[^\[\]]*\]", "", text)
    return found


def _of_type(ctype: CType | None) -> Interval | None:
    if ctype is None or not ctype.integer or not ctype.bits:
        return None
    return limits_of(ctype)
