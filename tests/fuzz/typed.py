"""The C types of integer expressions: whether an expression has, in C, the value that it has in mathematics.

Types are those of LP64. An unsigned operation may leave its type as long as what is made of the value in the end does
not depend on that: `i - j + 4` over `unsigned` is fine where the sum fits, `(i - j) / 2` is not where i - j may be
negative.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from tests.fuzz.expressions import (
    Cast,
    Choice,
    Compare,
    Condition,
    Extremum,
    Int,
    IntExpr,
    Linear,
    Logic,
    Lookup,
    Product,
    Quotient,
    Range,
    Ranges,
    Remainder,
    Var,
)

# Bits, and whether signed.
TYPES: Mapping[str, tuple[int, bool]] = {
    "signed char": (8, True),
    "unsigned char": (8, False),
    "short": (16, True),
    "unsigned short": (16, False),
    "int": (32, True),
    "unsigned": (32, False),
    "long": (64, True),
    "int64_t": (64, True),
    "size_t": (64, False),
    "unsigned long": (64, False),
    "uint8_t": (8, False),
}


class Wraps(Exception):
    """Somewhere in an expression a value does not fit its type, and that may show."""


class _Value(Struct, frozen=True):
    """Equal to a number in low … high modulo 2^bits; equal to it where that fits the type."""

    bits: int
    signed: bool
    low: int
    high: int

    @property
    def fits(self) -> bool:
        least, most = limits(self.bits, self.signed)
        return least <= self.low and self.high <= most


def limits(bits: int, signed: bool) -> Range:
    """The smallest and the largest value of a type."""
    return (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)


def fits_type(low: int, high: int, name: str) -> bool:
    least, most = limits(*TYPES[name])
    return least <= low and high <= most


def exact(expression: IntExpr, ranges: Ranges, types: Mapping[str, str], target: str = "") -> bool:
    """Whether C computes the expression's value, and it fits the target's type, if there is one."""
    try:
        value = _value(expression, ranges, types)
    except Wraps:
        return False
    return value.fits and (not target or fits_type(value.low, value.high, target))


def defined(expression: IntExpr, ranges: Ranges, types: Mapping[str, str]) -> bool:
    """Whether C computes some value: unsigned arithmetic may wrap around."""
    try:
        _value(expression, ranges, types)
    except Wraps:
        return False
    return True


def exact_condition(condition: Condition, ranges: Ranges, types: Mapping[str, str]) -> bool:
    """Whether C decides the condition as mathematics does."""
    if isinstance(condition, Logic):
        parts = (condition.left, *((condition.right,) if condition.right is not None else ()))
        return all(exact_condition(part, ranges, types) for part in parts)
    try:
        _comparable(condition, ranges, types)
    except Wraps:
        return False
    return True


def _comparable(condition: Compare, ranges: Ranges, types: Mapping[str, str]) -> None:
    left, right = (_settled(_value(side, ranges, types)) for side in (condition.left, condition.right))
    _common(left, right)


def _value(expression: IntExpr, ranges: Ranges, types: Mapping[str, str]) -> _Value:
    match expression:
        case Int(value):
            return _Value(32, True, value, value)
        case Var(name):
            return _promoted(_Value(*TYPES[types[name]], *ranges[name]))
        case Lookup(_, most):
            return _Value(32, True, 0, most)
        case Cast(name, term):
            inner = _settled(_value(term, ranges, types))
            return _promoted(_settled(_Value(*TYPES[name], inner.low, inner.high)))
        case Product(left, right):
            return _product(_value(left, ranges, types), _value(right, ranges, types))
        case Linear(terms, constant):
            return _linear(terms, constant, ranges, types)
        case Quotient(term, divisor) | Remainder(term, divisor):
            inner = _settled(_value(term, ranges, types))
            if not inner.signed and divisor < 0:
                raise Wraps
            return _Value(inner.bits, inner.signed, *expression.range(ranges))
        case Extremum(_, left, right):
            bits, signed = _common(_settled(_value(left, ranges, types)), _settled(_value(right, ranges, types)))
            return _Value(bits, signed, *expression.range(ranges))
        case Choice(condition, then, otherwise):
            if not exact_condition(condition, ranges, types):
                raise Wraps
            bits, signed = _common(_settled(_value(then, ranges, types)), _settled(_value(otherwise, ranges, types)))
            return _Value(bits, signed, *expression.range(ranges))


def _linear(terms: tuple[tuple[int, IntExpr], ...], constant: int, ranges: Ranges, types: Mapping[str, str]) -> _Value:
    """As `Linear.__str__` writes it: left to right, each term times its factor, the constant last."""
    total: _Value | None = None
    for coefficient, term in terms:
        value = _value(term, ranges, types)
        if abs(coefficient) != 1:
            value = _product(_Value(32, True, abs(coefficient), abs(coefficient)), value)
        if coefficient < 0:
            value = _checked(_Value(value.bits, value.signed, -value.high, -value.low))
        total = value if total is None else _sum(total, value)
    last = _Value(32, True, constant, constant)
    if total is None:
        return last
    return _sum(total, last) if constant else total


def _sum(left: _Value, right: _Value) -> _Value:
    bits, signed = _converted(left, right)
    return _checked(_Value(bits, signed, left.low + right.low, left.high + right.high))


def _product(left: _Value, right: _Value) -> _Value:
    bits, signed = _converted(left, right)
    ends = [a * b for a in (left.low, left.high) for b in (right.low, right.high)]
    return _checked(_Value(bits, signed, min(ends), max(ends)))


def _checked(value: _Value) -> _Value:
    """Signed arithmetic must not overflow."""
    if value.signed and not value.fits:
        raise Wraps
    return value


def _settled(value: _Value) -> _Value:
    if not value.fits:
        raise Wraps
    return value


def _promoted(value: _Value) -> _Value:
    return _Value(32, True, value.low, value.high) if value.bits < 32 else value


def _converted(left: _Value, right: _Value) -> tuple[int, bool]:
    """The type of an arithmetic operation. What is converted to a wider type must have its value; what only becomes
    unsigned need not."""
    bits, signed = _arithmetic(left, right)
    for side in (left, right):
        if side.bits != bits and not side.fits:
            raise Wraps
    return bits, signed


def _common(left: _Value, right: _Value) -> tuple[int, bool]:
    """The type that both are converted to, in which both must have their values."""
    bits, signed = _arithmetic(left, right)
    for side in (left, right):
        _settled(_Value(bits, signed, side.low, side.high))
    return bits, signed


def _arithmetic(left: _Value, right: _Value) -> tuple[int, bool]:
    if left.bits == right.bits:
        return left.bits, left.signed and right.signed
    wider = left if left.bits > right.bits else right
    return wider.bits, wider.signed
