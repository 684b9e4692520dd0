"""The least and the greatest value of a polynomial over symbols, each of which lies between earlier ones' polynomials.

Symbols are taken away one after the other, the latest first. Where the polynomial grows with the symbol, the greatest
value is at the symbol's greatest; whether it grows is known from signs of coefficients, or the program finds out. So
``i * (i + 1) / 2 + j`` with ``0 <= j <= i < n`` ends at ``n * (n + 1) / 2 - 1``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product

from msgspec import Struct

from scopt.frontend.reach.code import Code, Operand, Unbounded
from scopt.frontend.reach.sums import Sum, by_powers, constant_of, denominator, name, names_of, number, plus, with_value

# So many bounds of a symbol at most are tried for each end.
MAX_CANDIDATES = 3


class Limits(Struct, frozen=True):
    """A symbol lies above all of the first and below all of the second, ends included; these have earlier symbols."""

    lows: tuple[Sum, ...] = ()
    highs: tuple[Sum, ...] = ()


class Ends(Struct, frozen=True):
    """code: where the program computes. order: when symbols were made; other names stand for values that stay.
    limits: of the symbols, here."""

    code: Code
    order: Mapping[str, int]
    limits: Mapping[str, Limits]

    def of(self, value: Sum, *, up: bool) -> Operand:
        """No value is greater, or (not up) smaller. Raises Unbounded."""
        symbol = max((one for one in names_of([value]) if one in self.order), key=self.order.__getitem__, default=None)
        if symbol is None:
            return self.code.value(value, up=not up)
        powers = by_powers(value, symbol)
        return self.linear(value, symbol, powers[1], up) if max(powers) == 1 else self.curved(value, symbol, up)

    def linear(self, value: Sum, symbol: str, factor: Sum, up: bool) -> Operand:
        limits = self.limits.get(symbol, Limits())
        sign = self.sign(factor)
        if sign:
            return self.best(value, symbol, limits.highs if (sign > 0) == up else limits.lows, up)
        lows, highs = limits.lows[:1], limits.highs[:1]
        low, high = self.best(value, symbol, lows, up), self.best(value, symbol, highs, up)
        return self.code.extreme(low, high, greatest=up)

    def best(self, value: Sum, symbol: str, bounds: Sequence[Sum], up: bool) -> Operand:
        """The closest of what several bounds of a symbol give."""
        found: Operand | None = None
        for bound in bounds[-MAX_CANDIDATES:]:
            try:
                with self.code.tried():
                    end = self.of(with_value(value, symbol, bound), up=up)
            except Unbounded:
                continue
            found = end if found is None else self.code.extreme(found, end, greatest=not up)
        if found is None:
            raise Unbounded
        return found

    def curved(self, value: Sum, symbol: str, up: bool) -> Operand:
        """Where the value always grows from one value of the symbol to the next, or never does: at one of its ends."""
        limits = self.limits.get(symbol, Limits())
        for low, high in product(limits.lows[:MAX_CANDIDATES], limits.highs[:MAX_CANDIDATES]):
            if denominator(low) == denominator(high) == 1:
                try:
                    with self.code.tried():
                        return self.monotone(value, symbol, (low, high), up)
                except Unbounded:
                    continue
        raise Unbounded

    def monotone(self, value: Sum, symbol: str, between: tuple[Sum, Sum], up: bool) -> Operand:
        """The same where the symbol lies between two integers: all the way from one to the other it has to grow."""
        low, high = between
        growth = plus(with_value(value, symbol, plus(name(symbol), number(1))), value, -1)
        before = Limits((low,), (plus(high, number(-1)),))
        inner = Ends(self.code, self.order, {**self.limits, symbol: before})
        least, greatest = inner.of(growth, up=False), inner.of(growth, up=True)
        grown = self.of(with_value(value, symbol, high if up else low), up=up)
        if isinstance(least, int) and least >= 0:
            return grown
        shrunk = self.of(with_value(value, symbol, low if up else high), up=up)
        # 1 where it grows, 0 where it shrinks; else nothing is known
        falls = self.code.chosen((greatest, "<=", 0), 1, 0)
        rises = self.code.chosen((least, ">=", 0), 1, 0)
        self.code.require(self.code.extreme(falls, rises, greatest=True), ">=", 1)
        return self.code.chosen((rises, ">=", 1), grown, shrunk)

    def sign(self, factor: Sum) -> int:
        """1 for a factor that is never negative, -1 for one that is never positive, 0 if neither is known. Values that
        stay and seem to be sizes are required not to be negative."""
        constant = constant_of(factor)
        if constant is not None:
            return 1 if constant >= 0 else -1
        signs = {coefficient > 0 for coefficient in factor.values()}
        sizes = self.sizes(factor) if len(signs) == 1 else None
        if sizes is None:
            return 0
        for one in sorted(sizes):
            self.code.require(one, ">=", 0)
        return 1 if signs.pop() else -1

    def sizes(self, value: Sum) -> set[str] | None:
        """The values that stay which must not be negative for all names in a sum not to be; None if that won't do."""
        needed: set[str] = set()
        for one in names_of([value]):
            found = self.sizes_below(one) if one in self.order else {one}
            if found is None:
                return None
            needed |= found
        return needed

    def sizes_below(self, symbol: str) -> set[str] | None:
        """The same for a symbol not to be negative."""
        for low in self.limits.get(symbol, Limits()).lows:
            if all(coefficient > 0 for coefficient in low.values()):
                found = self.sizes(low)
                if found is not None:
                    return found
        return None


def floor_limits(dividend: Sum, divisor: int) -> Limits:
    """Where a quotient lies that is rounded down."""
    part = Fraction(1, divisor)
    exact = {monomial: coefficient * part for monomial, coefficient in dividend.items()}
    return Limits((plus(exact, number(Fraction(1 - divisor, divisor))),), (exact,))
