"""Conditions on data around loops: what they decide about is the same where they stand inside."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from scopt.options import Options
from tests.sources import optimize

KERNELS = {
    "mask": "if (w[i] > 0) for (int j = 0; j < n; j++) a[i][j] = 2 * a[i][j] + 1;",
    "a part that asks for iterators": "if (w[i] > 0 && i + 1 < n) for (int j = 0; j < n; j++) a[i][j] += a[i + 1][j];",
    "both ways": """if (w[i] > 0) for (int j = 0; j < n; j++) a[i][j] += 1;
    else for (int j = 0; j < i; j++) b[i][j] -= a[i][j];""",
    "elimination": """for (int k = i + 1; k < n; k++) {
      double f = a[k][i] - b[i][i];
      if (f != 0) for (int j = i; j < n; j++) a[k][j] -= f * a[i][j] * 0.125;
    }""",
    "sums": """double s = 0;
    for (int j = 0; j < n; j++) s += a[i][j];
    if (s > w[i]) { for (int j = 0; j < n; j++) b[i][j] = a[i][j] / s; for (int j = 0; j < n; j++) a[i][j] = 0; }""",
    "nested": """if (w[i] > 0) {
      double s = w[i];
      for (int j = 0; j < n; j++) {
        if (a[i][j] > 0.5) for (int k = 0; k < n; k++) b[j][k] += s;
        else s += 0.25;
        a[i][j] -= s;
      }
      w[i] = -s;
    } else if (w[i] < -1) for (int j = n - 1; j >= 0; j--) a[j][i] = w[i];""",
    "what it asks for changes": "if (a[i][0] > 0.5) for (int j = 0; j < n; j++) a[i][j] -= 1;",
    "the variable is used": "int j = 3; if (w[i] > 0) for (j = 0; j < n; j++) a[i][j] += 1; b[i][0] += j;",
    "bounds of its own": "if (w[i] > 0) { int m = (int)w[i] % 5; for (int j = 0; j < m; j++) a[i][j] += 1; }",
    "cells that may not be there": "if (at[i] >= 0) for (int j = 0; j < n; j++) a[i][j] += w[at[i]];",
    "a scalar of its own": "if (w[i] > 0) for (int j = 0; j < n; j++) { t = a[i][j] - 1; b[i][j] = t * t + t; }",
    "a scalar in each": """if (w[i] > 0) for (int j = 0; j < n; j++) { t = a[j][i]; t *= t; a[i][j] += t; }
    for (int j = 0; j < i; j++) { t = b[i][j]; b[i][j] = t + 0.5 * t; }""",
    "a scalar that goes on": "if (w[i] > 0) for (int j = 0; j < n; j++) { a[i][j] += t; t = b[i][j]; }",
    "a scalar that is read behind": """if (w[i] > 0) for (int j = 0; j < n; j++) { t = a[i][j]; b[i][j] = t; }
    w[i] = t;""",
    "a scalar below two": """if (w[i] > 0) for (int j = 0; j < n; j++) {
      t = a[i][j];
      if (w[j] < 1) for (int k = 0; k < n; k++) { u = t * b[j][k]; a[i][k] += u; t += u; }
      b[i][j] = t + (j > 2 ? u : 0);
    }""",
    "rows of one line": """double f = w[i]; if (f <= 0.25) continue;
    for (int j = 0; j < n; j++) a[0][j] += f * b[i][j];""",
    "not in all iterations": "if (i > 2) { if (w[i] > 0) for (int j = 0; j < i; j++) a[i][j] = b[j][i]; }",
}
FUNCTION = """\
void run_NUMBER(int n)
{
    double t = 0.5, u = 0.25;
    FIRST
    for (int i = 0; i < n; i++) {
        BODY
    }
    LAST
}
"""
PROGRAM = """\
#include <stdio.h>
#define N 37
static double a[N][N], b[N][N], w[N];
static int at[N];
FUNCTIONS
int main(void)
{
    void (*all[])(int) = {NAMES};
    for (int k = 0; k < sizeof all / sizeof *all; k++)
        for (int n = 0; n <= N; n += n < 3 ? 1 : 17) {
            for (int i = 0; i < N; i++) {
                w[i] = (i * 7 % 11 - 4) * 0.75;
                at[i] = i * 5 % 9 < 4 ? -100000000 : i;
                for (int j = 0; j < N; j++)
                    a[i][j] = (i * 3 + j * 5) % 8 * 0.25, b[i][j] = (i + j) % 4;
            }
            all[k](n);
            for (int i = 0; i < N; i++)
                for (int j = 0; j < N; j++)
                    printf("%.17g %.17g %.17g\\n", a[i][j], b[i][j], w[i]);
        }
}
"""
OPAQUE = ("bounds of its own", "nested", "a scalar below two")


@pytest.mark.parametrize("marked", [False, True])
def test_results_are_the_same(run_c: Callable[..., str], marked: bool) -> None:
    first, last = ("#pragma scop", "#pragma endscop") if marked else ("", "")
    functions = [
        FUNCTION.replace("NUMBER", str(k)).replace("BODY", body).replace("FIRST", first).replace("LAST", last)
        for k, body in enumerate(KERNELS.values())
    ]
    names = ", ".join(f"run_{k}" for k in range(len(functions)))
    source = PROGRAM.replace("FUNCTIONS", "".join(functions)).replace("NAMES", names)
    result = optimize(source.encode(), Options(autodetect=not marked, eager=True), file="x.c")
    text = result.text.decode()
    if marked:
        assert all(region.transformed for region in result.regions)
        for k, name in enumerate(KERNELS):
            own = text[text.index(f"void run_{k}(") :].split("#pragma endscop")[0]
            assert ("holds" in own) is (name not in OPAQUE), name
    exact = ("-O1", "-ffp-contract=off")
    flags = (*exact, "-fopenmp", "-fsanitize=address,undefined")
    assert run_c(text, *flags, name="made") == run_c(source, *exact, name="original")
