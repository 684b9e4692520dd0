"""How often loops run whose bounds are constants."""

from __future__ import annotations

import pytest

from scopt import ir
from scopt.ir.trip_counts import iterations
from scopt.ir.walks import walk
from tests.sources import scop_of


@pytest.mark.parametrize(
    ("head", "times"),
    [
        ("int q = -1; q <= 1; q++", 3),
        ("int q = 0; q < 5; ++q", 5),
        ("int q = 3; q < 0; q++", 0),
        ("int q = 0; q < m; q++", None),
        ("int q = 0; q < 8; q += 2", None),
    ],
)
def test_constant_bounds(head: str, times: int | None) -> None:
    body = f"for (i = 0; i < n; i++) {{ while (x[i] > 0) {{ for ({head}) x[i] = x[i] - 1; }} }}"
    (statement,) = scop_of(body).statements
    (loop,) = (node for node in walk(statement.body) if isinstance(node, ir.For))
    assert iterations(loop) == times
    assert iterations(statement.body) is None
