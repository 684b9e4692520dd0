"""Small loops that a scheduler has skewed get back their iterators."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from scopt.options import Options
from tests.sources import optimize, source_of

PARAMS = "int n, int m, int o[n][m], unsigned char a[n + 16][m + 16], unsigned char b[16][16], double *x"
# The order of a sum in a scalar; what stands before and behind it runs once.
MATCH = """for (i = 0; i < n; i++) for (j = 0; j < m; j++) { int v = 0;
  for (int p = 0; p < 16; p++) for (int q = 0; q < 16; q++) { int d = a[i+p][j+q] - b[p][q]; v += d < 0 ? -d : d; }
  o[i][j] = v; }"""
# A stencil in time is skewed for its tiles.
SWEEP = "for (t = 0; t < n; t++) for (i = 1; i < m - 1; i++) x[i] = x[i-1] + x[i+1];"


def text(body: str) -> str:
    result = optimize(source_of(body, PARAMS), Options())
    assert [remark.id for remark in result.remarks if remark.kind == "passed"] == ["region.transformed"]
    return result.text.decode()


def test_sums_over_windows_run_along_their_rows() -> None:
    found = text(MATCH)
    region = found[found.index("#pragma scop") :]
    compared = region.index("v += scopt_distance_16(16, &a[i][j], &a[i + 1][j], ")  # both loops over the window
    assert "* p" not in region
    assert region.index("v = 0") < compared < region.index("o[i][j] =")


def test_bands_that_have_tiles_stay_skewed() -> None:
    assert "2 * t" in text(SWEEP) or "t + " in text(SWEEP)


MAIN = """
#include <stdio.h>
static unsigned char a[40][50], b[16][16];
static int o[24][34];
int main(void) {{
  for (int i = 0; i < 40; i++) for (int j = 0; j < 50; j++) a[i][j] = i * 37 + j * 11;
  for (int i = 0; i < 16; i++) for (int j = 0; j < 16; j++) b[i][j] = i * 91 + j * 5;
  f(24, 34, o, a, b, 0);
  for (int i = 0; i < 24; i++) for (int j = 0; j < 34; j++) printf("%d ", o[i][j]);
  return 0;
}}
"""


@pytest.mark.parametrize("flags", [("-O2", "-fopenmp"), ("-O1",)])
def test_results_are_the_same(flags: tuple[str, ...], run_c: Callable[..., str]) -> None:
    main = MAIN.format()
    before = run_c(source_of(MATCH, PARAMS).decode() + main, "-O1", "-w", name="before")
    assert run_c(text(MATCH) + main, *flags, "-w", name="after") == before


# What is added to the cells of a window: by rows and columns of the cells, its loops run backwards.
SCATTER = """for (k = 0; k < n; k++) for (i = 0; i < 20; i++) for (j = 0; j < 30; j++)
  for (int p = 0; p < 3; p++) for (int q = 0; q < 3; q++) z[i + p][j + q] += v[k][i][j] * w[k][p][q];"""
SCATTER_PARAMS = "int n, double z[22][32], double v[n][20][30], double w[n][3][3]"
SCATTER_MAIN = """
#include <stdio.h>
static double z[22][32], v[5][20][30], w[5][3][3];
int main(void) {
  for (int k = 0; k < 5; k++) for (int i = 0; i < 20; i++) for (int j = 0; j < 30; j++)
    v[k][i][j] = 1.0 / (k + i * j + 3);
  for (int k = 0; k < 5; k++) for (int i = 0; i < 9; i++) w[k][0][i] = 1.0 / (k * i + 7);
  f(5, z, v, w);
  for (int i = 0; i < 22; i++) for (int j = 0; j < 32; j++) printf("%a ", z[i][j]);
  return 0;
}
"""


def test_windows_that_are_scattered(run_c: Callable[..., str]) -> None:
    source = source_of(SCATTER, SCATTER_PARAMS)
    found = optimize(source, Options()).text.decode()
    assert "2 * k" not in found
    assert "+= v[k][i - 2][j - 2] * w[k][2][2];" in found
    flags = ("-O2", "-ffp-contract=off", "-w")
    before = run_c(source.decode() + SCATTER_MAIN, *flags, name="scattered")
    assert run_c(found + SCATTER_MAIN, *flags, "-fopenmp", name="gathered") == before
