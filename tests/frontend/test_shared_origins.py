"""Arrays that a region counts from one place of: which have a pointer to that, and what subscripts are then."""

from __future__ import annotations

import pytest

from tests.sources import scop_of

PARAMS = "int n, int m, int o, long p, unsigned u, double *a, double *b, int *at"


def _made(body: str) -> tuple[tuple[str, ...], dict[str, int]]:
    """What is declared in front of the region, and how many dimensions arrays have."""
    made = scop_of(f"for (i = 1; i < n; i++) for (j = 1; j < m - 1; j++) {{ {body} }}", params=PARAMS)
    return made.prologue, {array.spelling: array.rank for array in made.arrays.values() if array.rank}


def test_rows_are_counted_from_there() -> None:
    told, ranks = _made("a[o + i * m + j] = a[j - 1 + (i - 1) * m + o] + b[p + i * m + j];")
    assert told == ("double *a_o = a + o;", "double *b_p = b + p;")
    assert ranks == {"a_o": 2, "b_p": 2}


@pytest.mark.parametrize(
    "body",
    [
        "a[o + i * m + j] = a[i * m + j];",  # two places
        "a[i * m + j - o] = 1;",
        "a[2 * o + i * m + j] = 1;",
        "a[o + i * o + j] = 1;",
        "a[u + i * m + j] = 1;",  # sums of these may begin anew at zero
        "a[o + j] = 1;",  # no rows
        "if (i > o) a[o + i * m + j] = 1;",  # more than a place
        "a[o + i * m + j] = 1; o = 3;",
    ],
)
def test_others_stay(body: str) -> None:
    assert _made(body)[0] == ()
