"""Which loops keep gcc from taking them for vector loops, around sums of products."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from scopt.options import Options
from tests.sources import optimize, source_of

SUM = "for (i = 0; i < n; i++) { s = 0; for (j = 0; j < m; j++) s += %s; r[i] = s; }"
TAPS = "x[i + j] * y[j]"


def text(product: str, kinds: str, m: int = 500, before: str = "int s;") -> str:
    params = f"int n, int m, {kinds} x[9000], {kinds} y[{m}], {kinds} A[900][{m}], int *r"
    source = source_of(before + SUM % product, params).replace(b"double s;", b"")
    return optimize(source, Options(eager=True)).text.decode()


@pytest.mark.parametrize("kinds", ["short", "unsigned char", "signed char"])
@pytest.mark.parametrize("product", [TAPS, "(int)x[i + j] * (int)y[j]"])
def test_sums_of_products_along_both_loops(product: str, kinds: str) -> None:
    found = text(product, kinds)
    assert re.search(r"for \(long i[^\n]*\n *scopt_around\(\);\n *s = 0;", found)


@pytest.mark.parametrize(
    ("product", "kinds", "m"),
    [
        (TAPS, "int", 500),  # no instruction multiplies and adds these
        (TAPS, "short", 16),  # a sum of a few lanes
        ("A[i][j] * y[j]", "short", 500),  # gcc takes the sum anyway
        ("x[i + j] + y[j]", "short", 500),
    ],
)
def test_other_loops_are_left_alone(product: str, kinds: str, m: int) -> None:
    assert "scopt_around" not in text(product, kinds, m)


def test_the_sums_are_the_same(run_c: Callable[..., str]) -> None:
    main = """
#include <stdio.h>
static short x[9000], y[500], A[900][500];
static int r[8000];
int main(void) {
  for (int k = 0; k < 9000; k++) x[k] = (short)(k * 7919);
  for (int k = 0; k < 500; k++) y[k] = (short)(k * 31 % 97);
  f(8000, 500, x, y, A, r);
  unsigned sum = 0;
  for (int k = 0; k < 8000; k++) sum = sum * 31 + (unsigned)r[k];
  printf("%u", sum);
}
"""
    params = "int n, int m, short x[9000], short y[500], short A[900][500], int *r"
    source = source_of("int s;" + SUM % TAPS, params).replace(b"double s;", b"").decode()
    assert run_c(text(TAPS, "short") + main) == run_c(source + main)
