"""Loops around others that step by more than one."""

from __future__ import annotations

import islpy as isl
import pytest

from tests.sources import scop_of


@pytest.mark.parametrize(
    ("body", "domain"),
    [
        (
            "for (int q = 0; q < n; q += 4) for (int j = 0; j < m; j++) A[q][j] = 0;",
            "[n, m] -> { S0[q, j] : 0 <= 4q < n and 0 <= j < m }",
        ),
        (
            "for (int q = 3; q + 2 <= n; q += 2) for (int j = 0; j < m; j++) A[q][j] = 0;",
            "[n, m] -> { S0[q, j] : q >= 0 and 2q + 5 <= n and 0 <= j < m }",
        ),
        (
            "for (int q = m; q < n; q = q + 2) for (int j = 0; j < m; j++) A[q][j] = 0;",
            "[n, m] -> { S0[q, j] : q >= 0 and m + 2q < n and 0 <= j < m }",
        ),
    ],
)
def test_they_count_by_one(body: str, domain: str) -> None:
    (statement,) = scop_of(body).statements
    assert statement.iterators[0] != "q"
    assert statement.domain.is_equal(isl.Set(domain))


@pytest.mark.parametrize(
    "body",
    [
        "for (int q = 0; q < n; q += 2) x[q] = 0;",
        "for (int q = 0; q < n; q++) for (int j = 0; j < m; j++) A[q][j] = 0;",
        "for (int q = 0; q < n; q += 4) for (int j = q; j < q + 4; j++) x[j] = 0;",
        "for (int k = 0; k < m; k++) for (int q = k; q < n; q += 4) for (int j = 0; j < m; j++) A[q][j] = 0;",
        "for (int q = 0; q < n; q += 8) for (int j = 0; j < 8; j++) y[q + j] = x[q + 7 - j];",
        "for (int q = 0; q < n; q += 2) for (int j = 0; j < m; j++) y[q * m + j] = x[q * m + j];",
        "for (unsigned char q = 0; q < n; q += 8) for (int j = 0; j < m; j++) A[q][j] = 0;",  # may wrap around
        "for (int q = n; q > 0; q -= 4) for (int j = 0; j < m; j++) A[q][j] = 0;",
    ],
)
def test_others_stay(body: str) -> None:
    assert any("q" in one.iterators for one in scop_of(body).statements)


def test_new_names_are_new() -> None:
    """Other variables may have them already."""
    (first, second) = scop_of(
        "for (int q = 0; q < n; q += 4) for (int j = 0; j < m; j++) { double q_2 = A[q][j]; A[q][j] = q_2 + q; }"
    ).statements
    assert first.iterators == second.iterators == ("q_3", "j")
