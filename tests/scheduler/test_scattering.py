"""Windows that are scattered: which are gathered, and that each bit stays."""

from __future__ import annotations

import pytest

from scopt.options import Options
from tests.conftest import RunC
from tests.sources import optimize, source_of

PARAMS = "int n, int m, float y[2 * n + 4][2 * m + 4], float a[n][m], float w[4][4]"
WINDOW = (
    "for (i = 0; i < n; i++) for (j = 0; j < m; j++) for (int p = 0; p < 4; p++) for (int q = 0; q < 4; q++)"
    " y[2 * i + p][2 * j + q] += a[i][j] * w[p][q];"
)


def text(body: str) -> str:
    return optimize(source_of(body, params=PARAMS), Options(verify="schedule")).text.decode()


@pytest.mark.parametrize(
    ("body", "operand", "cell"),
    [
        (WINDOW, "a[i][j - 1]", "y[ps][2 * j + 1] +="),
        (WINDOW.replace("2 * j", "j"), "a[i][j - 3]", "[j] +="),
        (WINDOW.replace("q = 0", "q = 1"), "a[i][j - 1]", "y[ps][2 * j + 1] +="),
    ],
    ids=["strided", "plain", "later"],
)
def test_a_window_is_one_iteration_s(body: str, operand: str, cell: str) -> None:
    found = text(body)
    assert operand in found
    assert cell in found
    assert found.count("omp simd") >= 2
    assert "omp parallel for" in found or "y[ps]" not in cell


@pytest.mark.parametrize(
    "body",
    [
        WINDOW.replace("w[p][q]", "y[i][j]"),  # what is added waits for other cells
        WINDOW.replace("a[i][j]", "a[j][i]"),  # nothing lies side by side along the loop
    ],
    ids=["recurrence", "column"],
)
def test_others_stay(body: str) -> None:
    assert "a[i][j - 1]" not in text(body)


PROGRAM = """#include <stdio.h>
static float y[84][84], a[40][40], w[4][4], z[84];
static void run(int n, int m)
{
#pragma scop
  for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int p = 0; p < 4; p++) for (int q = 0; q < 4; q++)
    y[2 * i + p][2 * j + q] += a[i][j] * w[p][q];
  for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) for (int p = 0; p < 3; p++) for (int q = -1; q < 2; q++)
    y[i + p][j + q + 1] -= a[i][j] * w[p][q + 1];
  for (int i = 0; i < n; i++) for (int p = 0; p < 4; p++)
    z[2 * i + p] += a[0][i] * w[1][p];
#pragma endscop
}
int main(void)
{
  int sizes[] = {0, 1, 2, 3, 17, 40};
  for (int k = 0; k < 1600; k++) a[k / 40][k % 40] = (k * 7 % 19 - 9) / 3.0f, w[k / 4 % 4][k % 4] = (k % 13) / 7.0f;
  for (int n = 0; n < 6; n++)
    for (int m = 0; m < 6; m++) {
      double sum = 0;
      run(sizes[n], sizes[m]);
      for (int k = 0; k < 84 * 84; k++) sum = sum * 0.99 + y[k / 84][k % 84] + z[k % 84];
      printf("%.17g\\n", sum);
    }
}
"""


def test_every_bit_is_the_same(run_c: RunC) -> None:
    emitted = optimize(PROGRAM, Options(eager=True)).text.decode()
    assert "a[i][j - 1]" in emitted
    flags = ("-O2", "-ffp-contract=off", "-fopenmp", "-w")
    assert run_c(emitted, *flags, name="emitted") == run_c(PROGRAM, *flags, name="original")
