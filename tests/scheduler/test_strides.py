"""By how much subscripts move along a direction, quotients and remainders among them."""

from __future__ import annotations

from fractions import Fraction

import islpy as isl
import pytest

from scopt.poly.linear import subscript_moves


@pytest.mark.parametrize(
    ("relation", "direction", "expected"),
    [
        ("{ S[t, i] -> a[t mod 2, i] }", (0, 1), (0, 1)),
        ("{ S[t, i] -> a[t mod 2, i] }", (2, 1), (0, 1)),
        ("{ S[t, i] -> a[1 - (t mod 2), i] }", (1, 0), None),
        ("{ S[t, i] -> a[t, floor(i/2)] }", (1, 0), (1, 0)),
        ("{ S[t, i] -> a[t, floor(i/2)] }", (0, 1), None),
        ("{ S[t, i] -> a[t, floor(i/2)] }", (0, 4), (0, 2)),
        ("[n] -> { S[t, i] -> a[t, i + 1] : i < n - 1; S[t, i] -> a[t, 0] : i = n - 1 }", (1, 0), (1, 0)),
        ("[n] -> { S[t, i] -> a[t, i + 1] : i < n - 1; S[t, i] -> a[t, 0] : i = n - 1 }", (0, 1), None),
        ("{ S[t, i] -> a[t, 2i] }", (0, Fraction(1, 2)), (0, 1)),
        ("{ S[t, i] -> a[o, i] : 0 <= o < t }", (0, 1), None),
    ],
)
def test_moves(relation: str, direction: tuple[int, ...], expected: tuple[int, ...] | None) -> None:
    assert subscript_moves(isl.Map(relation), tuple(map(Fraction, direction))) == expected
