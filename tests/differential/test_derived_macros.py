"""Macros that are made of others: the result is right for other values than scopt saw, too."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from scopt.options import Options
from tests.sources import optimize

SOURCE = """\
#include <stdio.h>
#define PICK(small, large) SIZE(small, large)
#ifdef TINY
#define SIZE(small, large) small
#else
#define SIZE(small, large) large
#endif
#define HALF PICK(5, 40)
#define WHOLE (2 * HALF)
static int clamped(int v, int high) { return v > high ? high : v; }
double x[WHOLE][WHOLE], y[HALF][HALF];
int main(void)
{
    for (int i = 0; i < WHOLE; i++)
        for (int j = 0; j < WHOLE; j++)
            x[i][j] = i * 31 % 17 + j;
#pragma scop
    for (int i = 0; i < HALF; i++)
        for (int j = 0; j < HALF; j++) {
            y[i][j] = 0;
            for (int k = 0; k < 4; k++)
                y[i][j] += x[2 * i][clamped(2 * j + k, WHOLE - 1)] * (k + 1);
        }
#pragma endscop
    double sum = 0;
    for (int i = 0; i < HALF; i++)
        for (int j = 0; j < HALF; j++)
            sum += y[i][j] * (i + 1) - j;
    printf("%.17g\\n", sum);
    return 0;
}
"""


@pytest.mark.parametrize("flag", ["", "-DTINY"])
def test_other_values(run_c: Callable[..., str], flag: str) -> None:
    made = optimize(SOURCE.encode(), Options(), file="x.c")
    assert any(region.transformed for region in made.regions)
    given = (flag,) if flag else ()
    sanitized = ("-fopenmp", "-fsanitize=address,undefined")
    assert run_c(made.text.decode(), *sanitized, *given, name="made") == run_c(SOURCE, *given, name="original")
