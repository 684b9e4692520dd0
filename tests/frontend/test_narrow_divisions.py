"""Dividends that fit 16 bits, as only their weights together show."""

from __future__ import annotations

import pytest

from scopt.ir.printing import CPrinter
from tests.sources import scop_of

PARAMS = "int n, unsigned char *a, unsigned char *b, unsigned char *m, unsigned short *h"


def printed(body: str) -> str:
    statements = scop_of(f"for (int p = 0; p < n; p++) {{ {body} }}", PARAMS).statements
    return " ".join(CPrinter().visit(one.body) for one in statements)


@pytest.mark.parametrize(
    "body",
    [
        "a[p] = (a[p] * m[p] + b[p] * (255 - m[p]) + 127) / 255;",
        "int w = m[p]; a[p] = (a[p] * w + b[p] * (255 - w)) / 255; b[p] = w;",
        "int w = m[p], t = a[p] * w; t = t + b[p] * (255 - w); if (n > 3) a[p] = t / 255; else b[p] = t % 255;",
        "int w = m[p] / 2; a[p] = (a[p] * (2 * w) + b[p] * (255 - 2 * w)) / 256;",
    ],
)
def test_weights_that_share_a_sum(body: str) -> None:
    assert "(unsigned short)" in printed(body)


@pytest.mark.parametrize(
    "body",
    [
        "a[p] = (a[p] * m[p]) / 255;",  # which compilers see
        "a[p] = (a[p] * m[p] + b[p] * (258 - m[p])) / 255;",
        "a[p] = (a[p] * m[p] - b[p] * (255 - m[p])) / 255;",
        "a[p] = (a[p] * m[p] + b[p] * (255 - m[p + 1])) / 255;",
        "h[p] = (h[p] * m[p] + h[p + 1] * (255 - m[p])) / 255;",
        "int t = a[p] * m[p]; m[p] = 0; a[p] = (t + b[p] * (255 - m[p])) / 255;",
        "int t = a[p] * m[p]; if (t > 9) t = t + 9999; a[p] = (t + b[p] * (255 - m[p])) / 255;",
        "int w = m[p]; for (int q = 0; q < 3; q++) { a[p + q] = (a[p] * w + b[p] * (255 - w)) / 255; w += 1; }",
        "unsigned w = m[p]; a[p] = (a[p] * w + b[p] * (255 - w)) / 255;",
        "signed char w = m[p]; a[p] = (a[p] * w + b[p] * (255 - w)) / 255;",
    ],
)
def test_others(body: str) -> None:
    assert "(unsigned short)" not in printed(body)
