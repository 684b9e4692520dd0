"""Counts of integer points: against isl's own enumeration,
and against closed formulas for sets that are too large for it."""

from __future__ import annotations

import random

import islpy as isl
import pytest

from scopt.polybench.limits.points import NotCounted, count


@pytest.mark.parametrize(
    ("points", "number"),
    [
        ("{ S[] }", 1),
        ("{ S[i] : false }", 0),
        ("{ S[t, i, j, k] : 0 <= t < 1000 and 1 <= i, j, k < 199 }", 1000 * 198**3),
        ("{ S[i, j, k] : 0 <= k < j and j < i and i < 4000 }", 4000 * 3999 * 3998 // 6),
        ("{ S[i, j, k] : 0 <= i, j, k and i + j + k < 300 }", 302 * 301 * 300 // 6),
        ("{ S[i] : 0 <= i < 1000 and i mod 7 = 3 }", 143),
        ("{ S[i, j] : 0 <= i, j < 10; S[i, j] : 5 <= i, j < 15 }", 175),
    ],
)
def test_known_numbers(points: str, number: int) -> None:
    assert count(isl.Set(points)) == number


def test_random_sets() -> None:
    rng = random.Random(1)

    def affine(variables: list[str]) -> str:
        return " + ".join(f"{rng.randint(-3, 3)}{name}" for name in variables) + f" + {rng.randint(-5, 9)}"

    def piece(variables: list[str]) -> str:
        conditions = [f"{rng.randint(-5, 0)} <= {name} <= {rng.randint(1, 6)}" for name in variables]
        forms = (
            "{0} >= 0",
            "{0} >= {1}",
            "{0} = 0",
            "({0}) mod 3 = 1",
            "exists e: 2e + i <= {0} and e >= {1}",
            "floor(({0}) / 2) <= i",
        )
        conditions += [rng.choice(forms).format(affine(variables), affine(variables)) for _ in range(rng.randint(0, 3))]
        return f"S[{', '.join(variables)}] : {' and '.join(f'({condition})' for condition in conditions)}"

    seen = set()
    for _ in range(150):
        variables = ["i", "j", "k", "l"][: rng.randint(1, 4)]
        points = isl.Set("{ " + "; ".join(piece(variables) for _ in range(rng.randint(1, 3))) + " }")
        if len(variables) > 1 and rng.random() < 0.3:
            points = points.project_out(isl.dim_type.set, 0, 1)
        expected = points.count_val().to_python()
        assert count(points) == expected, points
        seen.add(expected)
    assert len(seen) > 50


def test_unbounded() -> None:
    with pytest.raises(NotCounted, match="no constant bounds"):
        count(isl.Set("{ S[i] : i >= 0 }"))


def test_tables_that_would_be_too_large() -> None:
    coupled = "0 <= i, j, k, l < 5000 and i + 2j + 3k + 5l < 20000 and i + 3j - k - l > 7 and 2i - j + k - 2l > 3"
    with pytest.raises(NotCounted, match="too many ways"):
        count(isl.Set(f"{{ S[i, j, k, l] : {coupled} }}"))
