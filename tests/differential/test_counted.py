"""Loops that count in other forms than `for`, run with threads:
every bit as in the original, the iterators' last values too."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import RunC
from tests.differential.control import Case, same_output, same_output_among

SHOW = "left = 10000 * i + 100 * j + k;"
CASES = {
    "while": "i = 0; while (i < n) { x[i] = 2 * y[i]; i++; }",
    "while first": "i = n; while (i > 0) { i--; x[i] = 2 * y[i]; }",
    "while middle": "i = 0; while (i < n) { x[i] = y[i]; ++i; z[i] = y[i] + i; }",
    "while late": "i = n; while (i-- > 0) x[i] = 2 * y[i] + i;",
    "while late bare": "i = n; while (i--) x[i] = 2 * y[i] + i;",
    "while early": "i = -1; while (++i < n) x[i] = 2 * y[i] + i;",
    "while mirrored": "i = 0; while (n >= i) { x[i] = 2 * y[i]; i = i + 1; }",
    "while not equal": "i = 0; while (i != n) { x[i] = 2 * y[i]; i += 1; }",
    "do": "i = 0; do { x[i] = 2 * y[i]; i++; } while (i < n);",
    "do early": "i = 1; do x[i] = 2 * y[i]; while (++i <= n);",
    "do down": "i = n + 1; do { x[i] = 2 * y[i]; } while (--i > m);",
    "nested": "i = 0; while (i < n) { j = 0; while (j < m) { A[i][j] = 2 * B[i][j]; j++; } i++; }",
    "nested do": "for (i = 0; i < n; i++) { j = i; do { A[i][j] = 2 * B[i][j]; } while (++j < m); }",
    "triangle": "i = 0; while (i < n) { j = i; while (j > 0) { --j; A[i][j] = 2 * B[i][j]; } i++; }",
    "for": "for (i = 2; i < n; i++) x[i] = 2 * y[i];",
    "for down": "for (i = n; i >= 1; i--) x[i] = 2 * y[i];",
    "for body": "for (i = 0; i < n;) { x[i] = 2 * y[i]; i++; }",
    "for no start": "i = 3; for (; i < n; i++) x[i] = 2 * y[i];",
    "used between": "for (i = 0; i < n; i++) { for (j = 0; j < i; j++) A[i][j] = B[j][i]; z[i] = j; }",
    "continue": "for (i = 0; i < n; i++) { if (i == 3) continue; x[i] = 2 * y[i]; }",
    "continue on data": (
        "for (i = 0; i < n; i++) { z[i] = 1; if (y[i] < 0) continue; x[i] = 2 * y[i];"
        " if (i > m) { x[i]++; continue; } else z[i] = 2; z[i] += y[i]; }"
    ),
    "continue beside a name of its own": (
        "for (i = 0; i < n; i++) { if (y[i] < 0) { x[i] = 1; continue; } else { double m = y[i]; z[i] = m; }"
        " x[i] = 2 * m + y[i]; }"
    ),
    "continue of while": "i = n; while (--i >= 0) { if (y[i] < 0) continue; x[i] = 2 * y[i]; }",
}


ALL = {name: Case(body, after=SHOW) for name, body in CASES.items()}


@pytest.mark.parametrize("name", CASES)
def test_every_bit_is_the_same(name: str, run_c: RunC, tmp_path: Path) -> None:
    assert "omp parallel for" in same_output_among(tuple(ALL.values()), ALL[name], run_c, tmp_path)


def test_an_iterator_is_not_assigned_where_nobody_looks(run_c: RunC, tmp_path: Path) -> None:
    text = same_output("i = 0; while (i < n) { x[i] = 2 * y[i]; i++; }", run_c, tmp_path)
    assert "i = " not in text.replace("long i", "")
