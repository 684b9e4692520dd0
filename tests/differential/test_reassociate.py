"""Reductions in another order, compiled and run by several threads: integers as in the original, floating-point values
but for rounding."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from scopt import pipeline
from scopt.options import Options
from tests.conftest import RunC
from tests.fuzz.harness import without_thresholds

HEAD = """#include <stdio.h>
#define MOST 80
#define T %s
static T A[MOST][MOST], x[MOST], y[MOST];
static int k[MOST];
"""
FUNCTION = """static T run%d(int n, int m)
{
  T s = 3;
#pragma scop
%s
#pragma endscop
  return s;
}
"""
MAIN = """static void fill(void)
{
  for (int i = 0; i < MOST; i++) {
    k[i] = (7 * i) % 24, x[i] = (T)1.3 / (i + 3), y[i] = (T)((7 * i + 5) % 13) / 8 - 1;
    for (int j = 0; j < MOST; j++)
      A[i][j] = (T)((7 * i + 3 * j) % 11 + 1.3) / 5;
  }
}
static void show(T s)
{
  printf("%.17g", (double)s);
  for (int i = 0; i < MOST; i += 3)
    printf(" %.17g %.17g", (double)x[i], (double)y[i] + A[i / 3][i]);
  puts("");
}
int main(void)
{
  int sizes[] = {0, 1, 2, 7, 8, 9, 16, 31, 33, 65};
  for (int a = 0; a < 10; a++)
    for (int b = 0; b < 10; b++) {
CALLS
    }
}
"""
CASES = {
    "sum": "for (int i = 0; i < n; i++) s += y[i];",
    "matrix": "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) s = s + A[i][j] * y[j];",
    "two": "for (int i = 0; i < n; i++) { s += y[i]; s -= A[i][i]; }",
    "product": "for (int i = 0; i < n; i++) s *= 2 - y[i] / 4;",
    "rows": "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) x[i] = x[i] + A[i][j] * y[j];",
    "columns": "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) x[j] += A[i][j] * y[i];",
    "solve": (
        "for (int i = 0; i < n; i++) { x[i] = y[i]; for (int j = 0; j < i; j++) "
        "x[i] -= A[i][j] * x[j] / 64; x[i] = x[i] / 3; }"
    ),
    "local": (
        "for (int i = 0; i < n; i++) { T w = 0; for (int j = 0; j < m; j++) w += A[i][j] * y[j]; x[i] = w; s += w; }"
    ),
    "cell": "for (int i = 0; i < n; i++) x[5] += y[i] * A[i][2];",
    "min": "for (int i = 0; i < n; i++) if (y[i] * A[i][1] < s) s = y[i] * A[i][1];",
    "max": "for (int i = 0; i < n; i++) for (int j = i; j < m; j++) s = A[i][j] - y[j] > s ? A[i][j] - y[j] : s;",
    "some": "for (int i = 0; i < n; i++) { if (y[i] > 0) s += A[i][i]; if (A[i][1] > y[i]) { s++; } }",
    "positive": "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) if (A[i][j] > 1) x[i] += A[i][j];",
    "read": "for (int i = 0; i < n; i++) { s += y[i]; x[i] = s; }",
    "mixed": "for (int i = 0; i < n; i++) { s += y[i]; s *= 2 - y[i] / 4; }",
    "histogram": "for (int i = 0; i < n; i++) x[k[i]] += y[i];",
    "two histograms": (
        "for (int i = 0; i < n; i++) { x[k[i]] += y[i];"
        " for (int j = 0; j < m; j++) x[3 * k[j]] -= A[i][j]; if (y[i] < s) s = y[i]; }"
    ),
    "largest": (
        "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) if (A[k[i]][k[j]] < y[j]) A[k[i]][k[j]] = y[j];"
    ),
    "products": "for (int i = 0; i < n; i++) { x[k[i]]++; x[3 * k[i]] += 2; y[k[i]] *= 2 - A[i][1] / 4; }",
    "again": "for (int j = 0; j < m; j++) { x[j] = s; for (int i = 0; i < n; i++) s += A[j][i]; }",
}
FLAGS = ("-O2", "-fopenmp", "-ffp-contract=off", "-fwrapv", "-w")
EXACT = ("unsigned",)


def program(ctype: str) -> str:
    """All cases, each a function of its own, which prints a line for each pair of sizes."""
    functions = [FUNCTION % (number, body) for number, body in enumerate(CASES.values())]
    calls = [f"      fill(), show(run{number}(sizes[a], sizes[b]));" for number in range(len(CASES))]
    return HEAD % ctype + "".join(functions) + MAIN.replace("CALLS", "\n".join(calls))


@pytest.mark.parametrize("ctype", [*EXACT, "double"])
def test_another_order(ctype: str, run_c: RunC, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    source = program(ctype)
    result = pipeline.optimize(source.encode(), Options(reassociate=True, eager=True), file=str(tmp_path / "in.c"))
    assert [remark for remark in result.remarks if remark.id in ("internal.error", "schedule.simplified")] == []
    text = without_thresholds(result.text.decode())
    original, emitted = (
        run_c(one, *FLAGS, name=name).splitlines() for one, name in ((source, "original"), (text, "emitted"))
    )
    assert len(original) == len(emitted) == 100 * len(CASES)
    other = {
        number % len(CASES)
        for number, lines in enumerate(zip(original, emitted, strict=True))
        if not (lines[0] == lines[1] or (ctype not in EXACT and close(*lines)))
    }
    assert not other, [[*CASES][number] for number in sorted(other)]


def close(original: str, emitted: str) -> bool:
    """Whether numbers are the same but for rounding."""
    pairs = zip(map(float, original.split()), map(float, emitted.split()), strict=True)
    return all(math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12) for one, other in pairs)
