"""Choices between neighbours in grids that are kept in one dimension."""

from __future__ import annotations

import pytest

from scopt.options import Options
from tests.sources import optimize

LOOPS = "for (int z = 0; z < l; z++) for (int y = 0; y < m; y++) for (int x = 0; x < n; x++)"
CELL = "int c = x + y * n + z * n * m;"


def text_of(body: str) -> str:
    source = f"""void f(int l, int m, int n, int w, unsigned u, double *restrict a, double *restrict b) {{
{LOOPS} {{ {CELL} {body} }}
}}"""
    return optimize(source.encode(), Options(autodetect=True)).text.decode()


@pytest.mark.parametrize(
    "body",
    [
        "int p = y == 0 ? c : c - n; b[c] = a[c] + a[p];",
        "int p = c; if (z < l - 1) p = c + n * m; b[c] = a[c] + a[p];",
        "int p = y == 0 ? c + (m - 1) * n : c - n, q = x == n - 1 ? c : c + 1; b[c] = a[c] + a[p] - a[q];",
    ],
)
def test_the_choice_is_that_of_a_row(body: str) -> None:
    assert " chosen = " in text_of(body)


def test_what_says_nothing_of_rows() -> None:
    assert "chosen" not in text_of("b[c] = a[c] + a[y == 0 ? c : c - (int)u] - a[y == 0 ? c : c - w];")
