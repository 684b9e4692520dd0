"""Loops that only read what a later iteration writes: compilers' vectors run along them, and no directive says so."""

from __future__ import annotations

import re

import pytest

from scopt.options import Options
from scopt.pipeline import optimize
from tests.sources import source_of

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
