"""Loops that only read what a later iteration writes: compilers' vectors run along them, and no directive says so."""

from __future__ import annotations

import re

import pytest

from scopt.options import Options
from tests.sources import optimize, source_of

PARAMS = "int n, int m, double p[2000], double q[3000]"


def innermost(body: str) -> tuple[str, str, str]:
    """What stands in front of the innermost loop, its iterator, and its body."""
    text = optimize(source_of(body, PARAMS), Options()).text.decode().split("#pragma endscop")[0]
    before, loop = text[: text.rindex("for (")], text[text.rindex("for (") :]
    found = re.match(r"for \(long (\w+) .*\n(.*)\n", loop)
    assert found is not None
    return before.rstrip().splitlines()[-1], found[1], found[2]


@pytest.mark.parametrize(
    "inner",
    [
        "for (j = m; j >= 1; j--) q[j] = q[j] * p[i] + q[j - 1];",
        "for (j = 0; j < m; j++) q[j] = q[j] * p[i] + q[j + 2];",
    ],
)
def test_it_stays_innermost(inner: str) -> None:
    before, iterator, body = innermost(f"for (i = 0; i < n; i++) {inner}")
    assert "omp" not in before
    assert all(re.search(rf"\b{iterator}\b", one) for one in re.findall(r"q\[(.*?)\]", body))
    assert not any(re.search(rf"\b{iterator}\b", one) for one in re.findall(r"p\[(.*?)\]", body))


def text_of(body: str, params: str) -> str:
    return optimize(source_of(body, params), Options()).text.decode().split("#pragma endscop")[0]


def test_sums_of_signed_integers_stay_innermost() -> None:
    """Compilers make vectors of them by themselves, whatever is computed on the way."""
    bits = "unsigned v = a[i][j]; v = v - ((v >> 1) & 0x55555555u); r[i] += (v * 0x01010101u) >> 24;"
    params = "int n, int m, unsigned a[100][1000], int r[100]"
    text = text_of(f"for (i = 0; i < n; i++) {{ r[i] = 0; for (j = 0; j < m; j++) {{ {bits} }} }}", params)
    loops = re.findall(r"for \((?:long|int) (\w+) = [^;]*; \1 <", text)
    assert loops[-1] == "j"
    assert "it" not in loops


def test_searches_by_place_run_along_rows() -> None:
    """Vectors across rows would look up what is best so far."""
    params = "int n, int m, double a[100][1000], int at[100]"
    search = "if (a[i][j] < a[i][at[i]]) at[i] = j;"
    text = text_of(f"for (i = 0; i < n; i++) {{ at[i] = 0; for (j = 1; j < m; j++) {search} }}", params)
    assert "found |= a[i][j] < a[i][at_0];" in text
