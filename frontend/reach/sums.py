"""Sums of products of names with rational coefficients: polynomials of what subscripts are computed from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import product
from math import lcm

Monomial = tuple[str, ...]
# Coefficients by sorted products of names, none of them 0.
Sum = Mapping[Monomial, Fraction]

# So many values of names at most are tried to see whether a sum is a multiple of something.
MAX_RESIDUES = 4096


def number(value: int | Fraction) -> Sum:
    return {(): Fraction(value)} if value else {}


def name(of: str) -> Sum:
    return {(of,): Fraction(1)}


def plus(a: Sum, b: Sum, factor: int | Fraction = 1) -> Sum:
    """a + factor · b."""
    total = dict(a)
    for monomial, coefficient in b.items():
        total[monomial] = total.get(monomial, Fraction(0)) + factor * coefficient
    return {monomial: coefficient for monomial, coefficient in total.items() if coefficient}


def scaled(a: Sum, factor: int | Fraction) -> Sum:
    return {monomial: coefficient * factor for monomial, coefficient in a.items()} if factor else {}


def times(a: Sum, b: Sum) -> Sum:
    total: dict[Monomial, Fraction] = {}
    for (left, some), (right, others) in product(a.items(), b.items()):
        both = tuple(sorted((*left, *right)))
        total[both] = total.get(both, Fraction(0)) + some * others
    return {monomial: coefficient for monomial, coefficient in total.items() if coefficient}


def constant_of(a: Sum) -> Fraction | None:
    """Its value if it has no names."""
    return None if any(a) else a.get((), Fraction(0))


def names_of(sums: Iterable[Sum]) -> set[str]:
    return {factor for a in sums for monomial in a for factor in monomial}


def by_powers(a: Sum, of: str) -> dict[int, Sum]:
    """The coefficients of the powers of a name."""
    found: dict[int, dict[Monomial, Fraction]] = {}
    for monomial, coefficient in a.items():
        rest = tuple(factor for factor in monomial if factor != of)
        found.setdefault(len(monomial) - len(rest), {})[rest] = coefficient
    return dict(found)


def with_value(a: Sum, of: str, value: Sum) -> Sum:
    """The sum with something in the place of a name."""
    total: Sum = {}
    for power, coefficient in by_powers(a, of).items():
        for _ in range(power):
            coefficient = times(coefficient, value)
        total = plus(total, coefficient)
    return total


def denominator(a: Sum) -> int:
    """The least number that makes all coefficients integers."""
    return lcm(*(coefficient.denominator for coefficient in a.values()))


def is_multiple(a: Sum, of: int) -> bool:
    """Whether the value of a sum with integer coefficients is a multiple of a number, whatever integers its names are:
    it only depends on their remainders."""
    names = sorted(names_of([a]))
    if denominator(a) != 1 or of ** len(names) > MAX_RESIDUES:
        return False
    return all(_value(a, dict(zip(names, values, strict=True))) % of == 0 for values in _remainders(of, len(names)))


def _remainders(of: int, count: int) -> Iterator[tuple[int, ...]]:
    return product(range(of), repeat=count)


def _value(a: Sum, values: Mapping[str, int]) -> int:
    total = 0
    for monomial, coefficient in a.items():
        term = int(coefficient)
        for factor in monomial:
            term *= values[factor]
        total += term
    return total
