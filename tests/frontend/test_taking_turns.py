"""Conditions whose ways take turns, and store the same cells, are one statement."""

from __future__ import annotations

import pytest

from scopt.options import Options
from tests.conftest import RunC
from tests.fuzz.harness import without_thresholds
from tests.sources import optimize, scop_of

PARAMETERS = "int n, int m, float A[n][m], float B[n][m], float rgb[n][3], float x[n], float y[n]"


@pytest.mark.parametrize(
    ("body", "statements"),
    [
        ("for (int i = 0; i < n; i++) if (i % 2) x[i] = y[i]; else x[i] = -y[i];", 1),
        ("for (int i = 0; i < n; i++) { if (i & 1) { x[i] = y[i]; } else { x[i] = x[i] * 2; } }", 1),
        ("for (int i = 0; i < n; i++) if (i % 3 == 0) x[i] = y[i]; else if (i % 3 == 1) x[i] = 0; else x[i] = 1;", 1),
        (
            "for (int i = 0; i < n; i++) if (i % 2) { rgb[i][0] = y[i]; rgb[i][2] = 1; }"
            " else { rgb[i][2] = y[i]; rgb[i][0] = 2; }",
            1,
        ),
        # the ways of a row
        ("for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) if (i % 2) A[i][j] = 1; else A[i][j] = B[i][j];", 2),
        # borders
        ("for (int i = 0; i < n; i++) if (i == 0) x[i] = y[i]; else x[i] = 2;", 2),
        # other cells
        ("for (int i = 0; i < n; i++) if (i % 2) rgb[i][0] = y[i]; else rgb[i][1] = y[i];", 2),
        ("for (int i = 0; i < n; i++) if (i % 2) x[i] = y[i];", 1),
        # which way reads a neighbour matters
        ("for (int i = 1; i < n; i++) if (i % 2) x[i] = x[i - 1]; else x[i] = y[i];", 2),
        # straight code
        ("for (int i = 0; i < 8; i++) if (i % 2) x[i] = y[i]; else x[i] = 3;", 2),
    ],
)
def test_statements(body: str, statements: int) -> None:
    assert len(scop_of(body, PARAMETERS).statements) == statements


def test_a_mosaic_stores_cell_by_cell(run_c: RunC) -> None:
    source = """#include <stdio.h>
void f(int n, int m, const unsigned char raw[n + 2][m + 2], unsigned char rgb[n][m][3], double w[m]) {
#pragma scop
  for (int y = 0; y < n; y++)
    for (int x = 0; x < m; x++) {
      int side = (raw[y + 1][x] + raw[y + 1][x + 2] + 1) >> 1, above = (raw[y][x + 1] + raw[y + 2][x + 1] + 1) >> 1;
      if (!(y & 1) && !(x & 1)) {
        rgb[y][x][0] = raw[y + 1][x + 1];
        rgb[y][x][1] = (side + above) >> 1;
      } else if (x & 1) {
        rgb[y][x][0] = side;
        rgb[y][x][1] = raw[y + 1][x + 1];
      } else {
        rgb[y][x][1] = raw[y + 1][x + 1];
        rgb[y][x][0] = above;
      }
    }
  for (int x = 0; x < m; x++)
    if (x % 2) w[x] = 4.0 * w[x]; else w[x] = 2.0 * w[x] + 1;
#pragma endscop
}
unsigned char raw[14][33], rgb[12][31][3];
double w[31];
int main(void) {
  unsigned hash = 5381;
  for (int i = 0; i < 14 * 33; i++) raw[i / 33][i % 33] = (unsigned char)(i * 37 + i / 7);
  f(12, 31, raw, rgb, w);
  f(12, 31, raw, rgb, w);
  for (int i = 0; i < 12 * 31; i++) hash = hash * 33 + rgb[i / 31][i % 31][0] + 7u * rgb[i / 31][i % 31][1];
  for (int i = 0; i < 31; i++) hash = hash * 33 + (unsigned)w[i];
  printf("%u\\n", hash);
}
"""
    made = without_thresholds(optimize(source.encode(), Options()).text.decode())
    assert "x += 2" not in made
    flags = ("-O1", "-ffp-contract=off", "-w")
    before = run_c(source, *flags, name="before")
    assert run_c(made, *flags, "-fopenmp", "-fsanitize=address,undefined", name="after") == before
