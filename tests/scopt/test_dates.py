"""Dates in order, where what a dimension says is known at once."""

from __future__ import annotations

import islpy as isl
import pytest

from scopt.poly.dates import goes_forward, not_forward

PAIRS = "[n] -> { [S[i] -> T[j]] -> [%s] : 0 <= i, j < n }"


@pytest.mark.parametrize(
    ("dates", "late"),
    [
        ("0, i, 0, j", "j <= i"),
        ("0, i, 1, 0, j, 0", "j < i or j = i"),
        ("i, 0, j, 1", "j < i"),
        ("i, 1, j, 0", "j <= i"),
        ("0, i, 1, j", "false"),
        ("1, i, 0, j", "true"),
    ],
)
def test_pairs_that_do_not_go_forward(dates: str, late: str) -> None:
    joint = isl.Map(PAIRS % dates)
    expected = isl.Map(f"[n] -> {{ S[i] -> T[j] : 0 <= i, j < n and ({late}) }}")
    assert not_forward(joint).domain().unwrap().is_equal(expected)
    assert goes_forward(joint) is bool(expected.is_empty())
