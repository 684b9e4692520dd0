"""Loops that go by quotients and remainders of their iterator: every bit as in the original, for lengths of all
remainders, and none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import RunC
from tests.differential.control import same_output

CASES = {
    "halves": (
        "for (int j = 0; j < 2 * m - 2; j++) x[j] = y[j / 2] + (j % 2) * 0.5 * (y[j / 2 + 1] - y[j / 2]);"
        "for (i = 1; i < n - 1; i++) z[i] = 2 * y[i >> 1] + (i & 1) + i;"
    ),
    "thirds, from two on": (
        "for (int i = 2; i < n; i++) A[i / 3][i % 3] += y[(i - 2) / 3] + y[(i + 4) / 3];"
        "for (long j = 0; j <= m - 2; j++) B[3][j] = x[j / 3] + j;"
    ),
    "quarters and halves, in rows": (
        "for (i = 0; i < n; i++)"
        " for (unsigned j = 0; j < m; j++) { int k = j / 4; A[i][j] = j % 4 == 3 ? y[k] : B[i][j / 2] + k; }"
    ),
    "parts of what the iterator is": (
        "for (int i = 0; i < n; i++) x[i] = y[i] * z[i % 3] + z[(i >> 1 & 3) + i % 2];"
        "for (int i = 0; i < m; i++) z[i] += (i % 5) * y[i];"
    ),
}


@pytest.mark.parametrize("body", CASES.values(), ids=CASES)
def test_every_bit_is_the_same(body: str, run_c: RunC, tmp_path: Path) -> None:
    assert "omp" in same_output(body, run_c, tmp_path)
