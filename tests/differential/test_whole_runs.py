"""Long bodies of loops in blocks that are executed as a whole: every bit is the same, and the loops around are as
parallel as what the blocks hand on allows."""

from __future__ import annotations

from pathlib import Path

import pytest

from scopt.options import Options
from scopt.pipeline import optimize
from tests.conftest import RunC
from tests.differential.control import FLAGS
from tests.fuzz.harness import without_thresholds
from tests.sources import scop_of

FEW = "for (int k = 0; k < S; k++) "
# 15 statements with loops of few iterations, of a table of a cell's own.
STEPS = "".join(
    f"{FEW}v[k] = v[k] * 0.5 + w[(k + {j}) % S]; {FEW}{{ w[k] -= v[S - 1 - k]; w[k] += {j}; }}" for j in range(5)
)
FILLED = FEW + "{ v[k] = x[i][k]; w[k] = y[i][k] * 2; }"
CASES = {
    "own": f"for (int i = 0; i < n; i++) {{ double v[S], w[S]; {FILLED} for (int t = 0; t < m; t++) {{ {STEPS} {STEPS}"
    f" {STEPS} }} {FEW}x[i][k] = v[k] + w[k]; }}",
    "of all": f"for (int i = 0; i < n; i++) {{ {FILLED} {STEPS} {STEPS} {STEPS} {FEW}x[i][k] = v[k] + w[k]; }}",
    "handed on": f"for (int i = 0; i < n; i++) {{ {FEW}v[k] += x[i][k]; {STEPS} {STEPS} {STEPS}"
    f" for (int k = 1; k < S; k++) x[i][k] = w[k]; }}",
    "named behind": f"for (int i = 0; i < n; i++) {{ {FEW}w[k] = y[i][k]; {STEPS} double a = w[1], b = a * 2; {STEPS}"
    f" {STEPS} for (int j = 0; j < n; j++) z[i][j] = a * j + b; {FEW}x[i][k] = w[k] - a; }}",
}
SOURCE = """#include <stdio.h>
#define S 5
#define N 23
static double x[N][S], y[N][S], z[N][N], v[S], w[S];
static void run(int n, int m) {
#pragma scop
%s
#pragma endscop
}
int main(void) {
  for (int i = 0; i < N * S; i++) x[i / S][i %% S] = i %% 13 - 5.3, y[i / S][i %% S] = i %% 7 / 3.0;
  for (int n = 0; n < N; n += 11) run(n, n %% 3);
  double s = 0;
  for (int i = 0; i < N * S; i++) s = s * 0.99 + x[i / S][i %% S] + v[i %% S] - w[i %% S];
  for (int i = 0; i < N * N; i++) s = s * 0.99 + z[i / N][i %% N];
  printf("%%a\\n", s);
}
"""


@pytest.mark.parametrize("name", CASES)
def test_every_bit_is_the_same(name: str, run_c: RunC, tmp_path: Path) -> None:
    source = SOURCE % CASES[name]
    text = optimize(source.encode(), Options(eager=True), file=str(tmp_path / "in.c")).text.decode()
    assert name != "own" or "omp parallel for" in text
    assert run_c(without_thresholds(text), *FLAGS, name="emitted") == run_c(source, *FLAGS, name="original")


def test_short_ones_are_taken_apart() -> None:
    scop = scop_of(f"for (i = 0; i < n; i++) {{ {STEPS} }}", "int n, double v[5], double w[5]", before="#define S 5")
    assert len(scop.statements) > 10


STRAIGHT = """#include <stdio.h>
#define N 23
static double x[N][N][80], y[N][N][80], z[N], t;
static void run(int n) {
  for (int i = 1; i < n; i++)
    for (int j = 0; j < n; j++) {
      t = y[i][j][3] * 0.5;
CELLS
    }
}
static double last(void) { t = z[3]; return t * 2; }
int main(void) {
  for (int i = 0; i < N * N * 80; i++) y[i / 80 / N][i / 80 % N][i % 80] = i % 13 - 5.3;
  run(N);
  double s = last();
  for (int i = 0; i < N * N * 80; i++) s = s * 0.99 + x[i / 80 / N][i / 80 % N][i % 80];
  printf("%a\\n", s);
}
"""


def test_straight_code_that_nobody_marked(run_c: RunC, tmp_path: Path) -> None:
    cells = "\n".join(f"      x[i][j][{k}] = x[i][j][{k * 7 % 80}] + t * y[i - 1][j][{k}];" for k in range(80))
    source = STRAIGHT.replace("CELLS", cells)
    text = optimize(source.encode(), Options(eager=True, autodetect=True), file=str(tmp_path / "in.c")).text.decode()
    assert "private(t)" in text
    assert run_c(without_thresholds(text), *FLAGS, name="emitted") == run_c(source, *FLAGS, name="original")
