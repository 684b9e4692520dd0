"""Least and greatest values of integer expressions that are made of truths, constants and what somebody knows of."""

from __future__ import annotations

import re
from collections.abc import Callable

from scopt import ir
from scopt.ir.ctypes import type_spelling
from scopt.ir.truths import is_truth

# Least and greatest value, both included.
Interval = tuple[int, int]
INT: Interval = (-(1 << 31), (1 << 31) - 1)
_DIGITS = re.compile(r"0|[1-9][0-9]*|0[xX][0-9a-fA-F]+")
_WORDS = ("int", "long", "long long")


def int_literal(node: ir.Node) -> int | None:
    """The value of a constant whose type is int: larger ones without a suffix are of other types, whatever the parser
    says."""
    match node:
        case ir.Constant(type="int", value=text) if _DIGITS.fullmatch(text) and (number := int(text, 0)) <= INT[1]:
            return number
    return None


def interval(node: ir.Node, known: Callable[[ir.Node], Interval | None]) -> Interval | None:
    """Of an expression; None where nothing is known, or where an int doesn't hold all that is computed on the way.
    known: of a part, if anybody knows what it is."""
    found = known(node)
    if found is None:
        found = _interval(node, known)
    return found if found is not None and INT[0] <= found[0] and found[1] <= INT[1] else None


def _interval(node: ir.Node, known: Callable[[ir.Node], Interval | None]) -> Interval | None:
    match node:
        case _ if is_truth(node):
            return 0, 1
        case ir.Constant(type="int", value=text) if text.isdecimal() and (text == "0" or text[0] != "0"):
            return int(text), int(text)
        case ir.UnaryOp(op="+", expr=inner):
            return interval(inner, known)
        case ir.UnaryOp(op="-", expr=inner):
            return negated(interval(inner, known))
        case ir.Cast(to_type=to_type, expr=inner) if type_spelling(to_type) in _WORDS:
            return interval(inner, known)
        case ir.TernaryOp(iftrue=then, iffalse=otherwise):
            return hull(interval(then, known), interval(otherwise, known))
        case ir.BinaryOp(op="+" | "-" | "*" as op, left=left, right=right):
            return _combined(op, interval(left, known), interval(right, known))
        case ir.BinaryOp(op="/" | "%", left=left, right=right):
            return None if interval(right, known) is None else _no_larger(interval(left, known))
    return None


def hull(one: Interval | None, other: Interval | None) -> Interval | None:
    """What holds both."""
    return None if one is None or other is None else (min(one[0], other[0]), max(one[1], other[1]))


def negated(one: Interval | None) -> Interval | None:
    return None if one is None else (-one[1], -one[0])


def _no_larger(one: Interval | None) -> Interval | None:
    """Quotients and remainders are no further from 0 than what is divided, on either side."""
    if one is None:
        return None
    most = max(map(abs, one))
    return -most, most


def _combined(op: str, left: Interval | None, right: Interval | None) -> Interval | None:
    if left is None or right is None:
        return None
    if op == "*":
        ends = [a * b for a in left for b in right]
        return min(ends), max(ends)
    low, high = right if op == "+" else (-right[1], -right[0])
    return left[0] + low, left[1] + high
