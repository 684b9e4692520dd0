"""Macros that say how often short loops of marked regions run."""

from __future__ import annotations

import pytest

from scopt.frontend.region.parse import parse
from scopt.options import Options

SOURCE = """\
#define FEW 9
#define SOME 40
#define LOTS 500
#define ZERO (-3)
#define SIZE 4096
void f(int n, double x[LOTS][FEW]) {
#pragma scop
%s
#pragma endscop
}
"""


@pytest.mark.parametrize(
    ("loops", "baked"),
    [
        ("for (int i = 0; i < n; i++) for (int k = 0; k < FEW; k++) x[i][k] = FEW;", {"FEW": 9}),
        ("for (int k = 0; k < FEW; k++) for (int i = 0; i < LOTS; i++) x[i][k] = 0;", {"FEW": 9}),
        ("for (int i = 0; i < n; i++) for (int k = 0; k < SOME; k++) x[i][0] = k;", {}),
        ("for (int i = 0; i < n; i++) x[i][FEW - 1] = 0;", {}),
        # as where a program is tried with small sizes
        ("for (int i = 0; i < SOME; i++) for (int k = 0; k < FEW; k++) x[i][k] = 0;", {"FEW": 9}),
        ("for (int i = 0; i < FEW; i++) for (int k = 0; k <= i; k++) x[i][k] = 0;", {}),
        # how many bits a factor takes
        ("for (int i = 1; i < n; i++) x[0][0] += (x[i][1] - ZERO) * x[i][2];", {"ZERO": -3}),
        ("for (int i = 1; i < n; i++) x[0][0] += x[i][1] - ZERO;", {}),
        ("for (int i = 1; i < n; i++) x[i][0] = (x[i][1] - ZERO) * x[i][2];", {}),
        # which iterations wrap around, or have one quotient
        ("for (int i = 0; i < SIZE; i++) x[i][0] = x[(i + 1) & (SIZE - 1)][1];", {"SIZE": 4096}),
        ("for (int i = 0; i < n; i++) x[i][0] = x[i / SOME][1];", {"SOME": 40}),
        ("for (int i = 0; i < LOTS; i++) x[i][0] = x[(i + 1) & (LOTS - 1)][1];", {}),
        ("for (int i = 0; i < LOTS; i++) x[i][0] = x[(i + 1) % LOTS][1];", {}),
        ("for (int i = 0; i < n; i++) x[i][0] = i / SOME;", {}),
    ],
)
def test_few_iterations_are_a_number(loops: str, baked: dict[str, int]) -> None:
    tu = parse((SOURCE % loops).encode(), "in.c", Options())
    assert tu.regions[0].baked == baked
    assert not tu.regions[0].symbolic.keys() & baked.keys()
