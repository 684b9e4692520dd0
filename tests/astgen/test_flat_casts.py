"""Casts in subscripts: left out where the cells touched show that they change nothing;
sizes of rows with casts are read back."""

from __future__ import annotations

import pytest

from scopt.options import Options
from tests.sources import optimize

PARAMS = "unsigned long n, unsigned u, int m, double *restrict x, double *restrict y"


def emitted(body: str) -> str:
    result = optimize(
        f"void f({PARAMS})\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n", Options(jobs=1, verify="full")
    )
    assert not [remark for remark in result.remarks if remark.kind == "missed"]
    return result.text.decode()


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("for (unsigned long i = 0; i < n; i++) x[(long)i] = y[(unsigned long)(2 * i)];", "x[i] = y[2 * i];"),
        ("for (unsigned i = 0; i < u; i++) x[(long)i + 1] = 0;", "x[i + 1] = 0;"),
        ("for (int i = 0; i < m; i++) x[(unsigned char)i] = 0;", "if (m <= 256) {"),
        ("for (int i = 0; i < m; i++) x[((long)m + 1) * i] = 0;", "x[i * ((long)m + 1)] = 0;"),
        ("for (int i = 0; i < m; i++) x[(long)(m + 1) * i] = 0;", "x[i * ((long)(m + 1))] = 0;"),
    ],
)
def test_subscripts(body: str, text: str) -> None:
    assert text in emitted(body)
