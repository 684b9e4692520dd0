"""Integer and data expressions of random programs: frozen nodes that know their C text and, for integers, their range.

Ranges are what makes the programs free of undefined behaviour by construction: every iterator's range is known, so
every subscript's is, and arrays are made large enough afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

Range = tuple[int, int]
Ranges = Mapping[str, Range]
Comparison = Literal["<", "<=", ">", ">=", "==", "!="]


# --- integers: bounds, subscripts, conditions -------------------------------------------------------------------------


class Int(Struct, frozen=True):
    value: int

    def __str__(self) -> str:
        return str(self.value)

    def range(self, ranges: Ranges) -> Range:
        return self.value, self.value


class Var(Struct, frozen=True):
    """An iterator or a parameter."""

    name: str

    def __str__(self) -> str:
        return self.name

    def range(self, ranges: Ranges) -> Range:
        return ranges[self.name]


class Linear(Struct, frozen=True):
    """Σ coefficient·term + constant, printed as people write it."""

    terms: tuple[tuple[int, IntExpr], ...]
    constant: int = 0

    def __str__(self) -> str:
        text = ""
        for coefficient, term in self.terms:
            size = abs(coefficient)
            inner = f"({term})" if isinstance(term, Linear | Quotient | Remainder) else str(term)
            factor = inner if size == 1 else f"{size} * {inner}"
            if text:
                text += f" {'-' if coefficient < 0 else '+'} {factor}"
            else:
                text = f"-{factor}" if coefficient < 0 else factor
        if self.constant or not text:
            text = f"{text} {'-' if self.constant < 0 else '+'} {abs(self.constant)}" if text else str(self.constant)
        return text

    def range(self, ranges: Ranges) -> Range:
        low = high = self.constant
        for coefficient, term in self.terms:
            ends = [coefficient * end for end in term.range(ranges)]
            low, high = low + min(ends), high + max(ends)
        return low, high


class Quotient(Struct, frozen=True):
    """C's `/` by a positive constant: rounds towards zero."""

    term: IntExpr
    divisor: int

    def __str__(self) -> str:
        return f"{_operand(self.term)} / {self.divisor}"

    def range(self, ranges: Ranges) -> Range:
        low, high = self.term.range(ranges)
        return int(low / self.divisor), int(high / self.divisor)


class Remainder(Struct, frozen=True):
    """C's `%` by a positive constant: has the sign of the left side."""

    term: IntExpr
    divisor: int

    def __str__(self) -> str:
        return f"{_operand(self.term)} % {self.divisor}"

    def range(self, ranges: Ranges) -> Range:
        low, high = self.term.range(ranges)
        return max(low, 1 - self.divisor) if low < 0 else 0, min(high, self.divisor - 1) if high > 0 else 0


class Extremum(Struct, frozen=True):
    """The smaller or the larger of two, as a macro or spelled out with `?:`."""

    kind: Literal["min", "max"]
    left: IntExpr
    right: IntExpr
    macro: bool = False

    def __str__(self) -> str:
        if self.macro:
            return f"{self.kind.upper()}({self.left}, {self.right})"
        return f"({self.left} {'<' if self.kind == 'min' else '>'} {self.right} ? {self.left} : {self.right})"

    def range(self, ranges: Ranges) -> Range:
        pick = min if self.kind == "min" else max
        (left_low, left_high), (right_low, right_high) = self.left.range(ranges), self.right.range(ranges)
        return pick(left_low, right_low), pick(left_high, right_high)


class Choice(Struct, frozen=True):
    """`condition ? then : otherwise` over integers."""

    condition: Condition
    then: IntExpr
    otherwise: IntExpr

    def __str__(self) -> str:
        return f"({self.condition} ? {self.then} : {self.otherwise})"

    def range(self, ranges: Ranges) -> Range:
        (then_low, then_high), (else_low, else_high) = self.then.range(ranges), self.otherwise.range(ranges)
        return min(then_low, else_low), max(then_high, else_high)


class Product(Struct, frozen=True):
    """Of two integers, neither of which need be a constant: what makes the subscript of a flat array."""

    left: IntExpr
    right: IntExpr

    def __str__(self) -> str:
        return f"{_factor(self.left)} * {_factor(self.right)}"

    def range(self, ranges: Ranges) -> Range:
        ends = [a * b for a in self.left.range(ranges) for b in self.right.range(ranges)]
        return min(ends), max(ends)


class Cast(Struct, frozen=True):
    """A conversion to an integer type that can hold the value."""

    type: str
    term: IntExpr

    def __str__(self) -> str:
        return f"({self.type}){_operand(self.term)}"

    def range(self, ranges: Ranges) -> Range:
        return self.term.range(ranges)


class Lookup(Struct, frozen=True):
    """An element of an array of integers that is only read, all of which are in 0 … most. text: the reference in C."""

    text: str
    most: int

    def __str__(self) -> str:
        return self.text

    def range(self, ranges: Ranges) -> Range:
        return 0, self.most


def _operand(term: IntExpr) -> str:
    return str(term) if isinstance(term, Var | Lookup) else f"({term})"


def _factor(term: IntExpr) -> str:
    return (
        f"({term})"
        if isinstance(term, Linear | Quotient | Remainder) or (isinstance(term, Int) and term.value < 0)
        else str(term)
    )


IntExpr = Int | Var | Linear | Quotient | Remainder | Extremum | Choice | Product | Cast | Lookup


class Compare(Struct, frozen=True):
    left: IntExpr
    op: Comparison
    right: IntExpr

    def __str__(self) -> str:
        return f"{self.left} {self.op} {self.right}"


class Logic(Struct, frozen=True):
    """Two conditions joined by `&&` or `||`, or one under `!` (then right is None)."""

    op: Literal["&&", "||", "!"]
    left: Condition
    right: Condition | None = None

    def __str__(self) -> str:
        if self.right is None:
            return f"!({self.left})"
        return f"({self.left}) {self.op} ({self.right})"


Condition = Compare | Logic


# --- data: what statements compute ------------------------------------------------------------------------------------

DataType = Literal["double", "unsigned", "int", "float", "long long", "unsigned char", "short"]


class Literally(Struct, frozen=True):
    """A literal, or an iterator's value used as data: C text as it is."""

    text: str

    def __str__(self) -> str:
        return self.text


class Ref(Struct, frozen=True):
    """A scalar, or one element of an array: C text."""

    text: str

    def __str__(self) -> str:
        return self.text


class Operation(Struct, frozen=True):
    """A C operator or call over data. pattern has one {} for each argument."""

    pattern: str
    arguments: tuple[Data, ...]

    def __str__(self) -> str:
        return self.pattern.format(*self.arguments)


Data = Literally | Ref | Operation


def shifted(subscript: IntExpr, by: int) -> IntExpr:
    """The subscript plus a constant, without a nested sum where it already is one."""
    if by == 0:
        return subscript
    match subscript:
        case Int(value):
            return Int(value + by)
        case Linear(terms, constant):
            return Linear(terms, constant + by)
        case _:
            return Linear(((1, subscript),), by)
