"""How often the loops of the source run, whatever the schedule is."""

from __future__ import annotations

from fractions import Fraction

import pytest

from scopt.machine.costs import LARGE_EXTENT
from scopt.scheduler.decisions.loop_values import iterations, values_in_turn
from tests.sources import optimize, scop_of, source_of

# The scheduler skews all six loops, so that they are permutable. (Windows of so many cells aren't gathered.)
SCATTER = """
    for (int c = 0; c < 24; c++)
        for (int o = 0; o < 12; o++)
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++)
                    for (int p = 0; p < 4; p++)
                        for (int q = 0; q < 12; q++)
                            y[o][2 * i + p][2 * j + q] += x[c][i][j] * w[c][o][p][q];
"""


def rows(*each: tuple[int, ...]) -> tuple[tuple[Fraction, ...], ...]:
    return tuple(tuple(map(Fraction, row)) for row in each)


@pytest.mark.parametrize(
    ("outside", "inside", "counts", "values"),
    [
        ((), ((1, 0), (0, 1)), (10, 20), ((), (10, 20))),
        ((), ((1, 0), (1, 1)), (10, 20), ((), (10, 20))),  # skewed: as many of the inner loop as before
        (((1, 1),), ((1, 0),), (10, 20), ((29,), (10,))),
        (((2, 1),), ((0, 1),), (50, 4), ((102,), (4,))),  # a window that steps by two
        ((), ((1, 0), (2, 0)), (10, 20), ((), (10, 1))),  # nothing is left of the second one
    ],
)
def test_values_in_turn(outside: tuple, inside: tuple, counts: tuple, values: tuple) -> None:  # type: ignore[type-arg]
    assert values_in_turn(rows(*outside), rows(*inside), counts) == values


def test_iterations_of_loops() -> None:
    """Known ones, those that fit the arrays of any statement inside, and the others."""
    scop = scop_of(
        "for (t = 0; t < m; t++) for (i = 0; i < n; i++) { double s = 2 * t; for (j = 0; j < 3; j++) y[i] += s * j; }",
        "int n, int m, double y[40]",
    )
    found = iterations(scop)
    assert {one[0] for one in found.values()} == {LARGE_EXTENT}
    assert {one[1] for one in found.values()} == {40}
    assert {one[2:] for one in found.values()} == {(), (3,)}


def test_loops_that_gain_nothing_by_being_skewed_stay() -> None:
    params = "int n, float x[24][48][48], float w[24][12][4][12], float y[12][98][106]"
    text = optimize(source_of(SCATTER, params).decode()).text.decode()
    assert "y[o][2 * i + p][2 * j + q] += x_0 * w[c][o][p][q];" in text
    loops = [line.split("long ")[1].split()[0] for line in text.splitlines() if "for (long" in line]
    assert loops[:6] == ["c", "o", "i", "j", "p", "q"]
