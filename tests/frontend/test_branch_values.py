"""Branches that compute one value: where their variables vanish, and where they have to stay."""

from __future__ import annotations

import pytest

from scopt import ir
from scopt.ir.walks import walk
from tests.sources import scop_of

PARAMS = "int n, int A[][100], short c[100], float g[100], float h[100], int *restrict p"


def branch(block: str, written: str = "A[i][0] = 1;", types: str = PARAMS) -> tuple[bool, str]:
    """Whether the branch is one assignment, and how the statement accesses what it writes."""
    scop = scop_of(f"for (i = 1; i < n; i++) if (c[i] > 0) {written} else {{ {block} }}", types)
    (statement,) = scop.statements
    found = [node for node in walk(statement.body) if isinstance(node, ir.If)]
    kinds = {access.kind for access in statement.accesses if access.is_write}
    return not any(isinstance(node, ir.Compound) for one in found for node in (one.iftrue, one.iffalse)), *kinds


@pytest.mark.parametrize(
    "block",
    [
        "int v = A[i - 1][0]; if (A[i][1] < v) v = A[i][1]; A[i][0] = v + 1;",
        "int v; if (A[i][1] < p[i]) v = A[i][1]; else { v = p[i]; } A[i][0] = v;",
        "int v = p[i]; v = v + p[i - 1]; A[i][0] = v;",
    ],
)
def test_one_value_is_one_assignment(block: str) -> None:
    assert branch(block) == (True, "write")


@pytest.mark.parametrize(
    "block",
    [
        "int v = p[i]; A[i][v] = v;",  # the cell depends on it
        "int v = p[i]; p[i] = 0; A[i][0] = v;",  # the value is older
        "int v = p[i]; A[i][0] = v; p[i] = v;",
        "short v = p[i]; A[i][0] = v;",  # it is cut off
        "int v; if (A[i][1] < p[i]) v = A[i][1]; A[i][0] = v;",  # it may have no value
        "int v = p[i]++; A[i][0] = v;",
    ],
)
def test_other_branches_stay(block: str) -> None:
    assert not branch(block)[0]


def test_products_and_sums_are_rounded_apart() -> None:
    assert not branch("float v = g[i - 1] * h[i]; g[i] = v + h[i];", "g[i] = 1;")[0]
    assert branch("float v = g[i - 1] + h[i]; g[i] = v + h[i];", "g[i] = 1;")[0]
