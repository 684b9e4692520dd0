"""For which parameters loops are long."""

from __future__ import annotations

import islpy as isl

from scopt.poly.loop_lengths import at_estimates, long_loops

GRID = isl.Set("[n, m] -> { S[i, j] : 1 <= i < n and 0 <= j <= m }")


def test_loops_that_nothing_is_known_of_are_as_long_as_each_other() -> None:
    assert long_loops(GRID, 0, 10000).is_equal(isl.Set("[n, m] -> { : n >= 101 and m >= 99 }"))


def test_a_loop_that_is_known_to_be_shorter_has_half_its_length() -> None:
    found = long_loops(GRID, 0, 10000, estimates={"n": 1001, "m": 49})
    assert found.is_equal(isl.Set("[n, m] -> { : m >= 24 and n >= 401 }"))


def test_sizes_that_are_known_to_be_enough_are_among_them() -> None:
    """Half of the shorter length would ask for more of the other one than there is."""
    about = {"n": 300, "m": 150}
    found = long_loops(GRID, 0, 30000, estimates=about)
    assert not at_estimates(found, about).is_empty()
    few = found.intersect(isl.Set("[n, m] -> { : (n = 210 and m <= 105) or (m = 105 and n <= 210) }"))
    assert few.is_empty()


def test_sizes_that_are_known_to_be_too_small_are_not() -> None:
    about = {"n": 300, "m": 50}
    assert at_estimates(long_loops(GRID, 0, 30000, estimates=about), about).is_empty()
