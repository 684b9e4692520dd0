"""Which pairs of instances are of one iteration, and which loops carry some."""

from __future__ import annotations

import islpy as isl
import pytest

from scopt.poly.source_iterations import in_one_iteration, is_carried


@pytest.mark.parametrize(
    ("pairs", "carried"),
    [
        ("{ S[i, j] -> T[i, j] : 0 <= i, j < 9 }", (False, False)),
        ("{ S[i, j] -> T[i, j + 1] : 0 <= i, j < 9 }", (False, True)),
        ("{ S[i, j] -> T[i + 1, j + 1] : 0 <= i, j < 9 }", (True, False)),
        ("{ S[i, j] -> T[k, l] : 0 <= i <= k < 9 and 0 <= j < l < 9 }", (True, True)),
    ],
)
def test_loops_carry_pairs_of_different_iterations(pairs: str, carried: tuple[bool, bool]) -> None:
    assert tuple(is_carried(isl.Map(pairs), loop) for loop in range(2)) == carried


def test_pairs_of_one_iteration_agree_in_the_loops_around() -> None:
    pairs = isl.Map("{ S[i, j] -> T[k, l] : 0 <= i <= k < 9 and 0 <= j < l < 9 }")
    assert in_one_iteration(pairs, 0) is pairs
    assert in_one_iteration(pairs, 1).is_equal(isl.Map("{ S[i, j] -> T[i, l] : 0 <= i < 9 and 0 <= j < l < 9 }"))
    assert in_one_iteration(pairs, 2).is_empty()
