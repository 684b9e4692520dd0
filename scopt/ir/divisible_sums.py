"""Sums of products that a number divides whatever the integers are that they are made of, as 2 does ``i * i + i``."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from math import prod
from typing import TypeVar

Factor = TypeVar("Factor")

# So many remainders are tried at most.
_MOST = 4096


def always_divides(divisor: int, terms: Mapping[tuple[Factor, ...], int]) -> bool:
    """terms: coefficients of products of factors. Tried with all remainders of the factors, as a sum's remainder
    depends on these alone; False where there are too many."""
    factors = list({factor for monomial in terms for factor in monomial})
    if divisor ** len(factors) > _MOST:
        return False
    return all(
        sum(coefficient * prod(map(values.__getitem__, monomial)) for monomial, coefficient in terms.items()) % divisor
        == 0
        for values in (dict(zip(factors, some, strict=True)) for some in product(range(divisor), repeat=len(factors)))
    )
