"""Recurrences along rows, several rows beside each other, compiled and run at sizes around those of blocks: all bits as
in the original."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

import pytest

from scopt import pipeline
from scopt.options import Options
from scopt.scheduler.decisions import strip_building, strip_claims, strips
from tests.conftest import RunC
from tests.fuzz.harness import without_thresholds

HEAD = """#include <stdio.h>
#define MOST 34
typedef %s T;
static T A[MOST][MOST], B[MOST][MOST], C[MOST][MOST], x[MOST];
"""
FUNCTION = """static void run%d(int n, int m, int w, T A[][w], T B[][w], T C[][w], T x[])
{
  int i, j;
#pragma scop
%s
#pragma endscop
}
"""
MAIN = """static unsigned long long sum;
static void add(const void *cells, size_t size)
{
  for (const unsigned char *p = cells, *end = p + size; p < end; p++)
    sum = (sum ^ *p) * 1099511628211u;
}
static void fill(void)
{
  for (int i = 0; i < MOST; i++) {
    x[i] = i % 3;
    for (int j = 0; j < MOST; j++)
      A[i][j] = (i + 2 * j) % 9 - 3, B[i][j] = (3 * i + j) % 8 + 1, C[i][j] = (7 * i + 3 * j) % 11 + 1;
  }
}
static void show(void)
{
  sum = 0;
  add(A, sizeof A), add(B, sizeof B), add(C, sizeof C), add(x, sizeof x);
  printf("%llx\\n", sum);
}
int main(void)
{
  int sizes[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 33};
  for (int a = 0; a < 11; a++)
    for (int b = 0; b < 11; b++) {
CALLS
    }
}
"""
PREFIX_SUMS = "for (i = 0; i < n; i++) for (j = 1; j < m; j++) A[i][j] = A[i][j - 1] + B[i][j];"
IN_SCALARS = """
  for (i = 0; i < n; i++) {
    T s = 0;
    for (j = 0; j < m; j++) { s += B[i][j]; A[i][j] = s; }
  }"""
TWO_BACK = (
    "for (i = 0; i < n; i++) for (j = 2; j < m; j++)"
    " A[i][j] = B[i][j] + A[i][j - 1] * (T)3 / 4 - A[i][j - 2] * (T)5 / 16;"
)
BIQUAD = """
  for (i = 0; i < n; i++) {
    T z1 = 0, z2 = 0;
    for (j = 0; j < m; j++) {
      T o = B[i][j] * (T)0.3 + z1;
      z1 = B[i][j] * (T)0.2 + z2 - o * (T)0.5;
      z2 = B[i][j] * (T)0.1 - o * (T)0.25;
      A[i][j] = o;
    }
  }"""
PEAKS = """
  for (i = 0; i < n; i++) {
    T most = x[i];
    for (j = 0; j < m; j++) { most = B[i][j] > most / 2 ? B[i][j] : most / 2; A[i][j] = most * C[i][j]; }
  }"""
HORNER = """
  for (i = 0; i < n; i++) {
    T s = 0;
    for (j = 0; j < m; j++) s = s * x[i] / 2 + B[i][j];
    x[i] = s;
  }"""
BACKWARD = "for (i = 0; i < n; i++) for (j = m - 2; j >= 0; j--) A[i][j] = A[i][j + 1] / 2 + B[i][j];"
THOMAS = """
  for (i = 0; i < n; i++) {
    C[i][0] = C[i][0] / 4;
    A[i][0] = A[i][0] / 4;
    for (j = 1; j < m; j++) {
      T w = 1 / (4 - C[i][j - 1] / 64);
      C[i][j] = C[i][j] * w;
      A[i][j] = (A[i][j] - B[i][j] * A[i][j - 1]) * w;
    }
    for (j = m - 2; j >= 0; j--) A[i][j] = A[i][j] - C[i][j] * A[i][j + 1];
  }"""
SEVERAL = """
  for (i = 0; i < n; i++)
    for (j = 1; j < m; j++) {
      A[i][j] = A[i][j - 1] / 2 + B[i][j];
      C[i][j] = C[i][j - 1] / 2 - A[i][j] / 4;
      B[i][j] = B[i][j] + B[i][j - 1] / 3;
    }"""
CONDITIONAL = """
  for (i = 0; i < n; i++)
    for (j = 1; j < m; j++) {
      if (C[i][j] > 5) A[i][j] = A[i][j - 1] / 2 + B[i][j];
      else A[i][j] = A[i][j - 1] / 3 - B[i][j];
    }"""
IN_ORDER_BEHIND = """
  for (i = 0; i < n; i++) {
    T s = 1;
    for (j = 0; j < m; j++) s = s * B[i][j] / 4 + C[i][j];
    x[0] = x[0] / 2 + s;
  }"""
FROM_ONE = (
    "for (i = 1; i < n - 1; i++) for (j = 1; j < m - 1; j++) A[i][j] = A[i][j - 1] / 2 + B[i - 1][j] + B[i + 1][j];"
)
STANDARDIZED = """
  for (i = 0; i < n; i++) {
    T s = 0, q = 0;
    for (j = 0; j < m; j++) s += B[i][j];
    for (j = 0; j < m; j++) { T d = B[i][j] - s / 7; q += d * d; }
    for (j = 0; j < m; j++) { T d = (B[i][j] - s / 7) / (q + 1); A[i][j] = d * x[j]; }
    C[i][0] = s;
  }"""
CUT_OFF = """
  for (i = 0; i < n; i++)
    for (j = 0; j <= i && j < m; j++) {
      T s = 0;
      for (int k = 0; k < MOST; k++) s = s * B[j][k] / 4 + C[i - j][k];
      A[i][j] = s;
    }"""
RAGGED = """
  for (i = 0; i < n; i++) {
    T s = 0;
    for (j = i; j < m - i / 4; j++) s = s / 2 + B[i][j] * C[1][j - i];
    x[i] = s;
  }"""
IN_FRAMES = """
  for (int f = 0; f < m; f++) {
    T t[34];
    for (i = 0; i < n; i++) {
      T s = 0;
      for (j = i; j < MOST; j++) s = s / 2 + B[f][j] * B[f][j - i];
      t[i] = s;
    }
    for (int k = 1; k < n; k++) {
      T s = t[k];
      for (int q = 1; q < k; q++) s += A[f][q] * t[k - q] / 8;
      A[f][k] = s;
    }
  }"""
CASES = {
    "prefix sums": (PREFIX_SUMS, "double"),
    "sums in scalars": (IN_SCALARS, "float"),
    "two back": (TWO_BACK, "double"),
    "biquads": (BIQUAD, "float"),
    "peaks that fade": (PEAKS, "double"),
    "Horner": (HORNER, "double"),
    "backward": (BACKWARD, "double"),
    "Thomas": (THOMAS, "double"),
    "several": (SEVERAL, "float"),
    "conditions": (CONDITIONAL, "double"),
    "in order behind": (IN_ORDER_BEHIND, "double"),
    "inner rows": (FROM_ONE, "double"),
    "cut off": (CUT_OFF, "double"),
    "standardized": (STANDARDIZED, "float"),
    "integers": (BACKWARD, "int"),
    "rows that begin and end at different steps": (RAGGED, "double"),
    "inside of a loop that threads share": (IN_FRAMES, "float"),
}
FLAGS = ("-O2", "-ffp-contract=off", "-fwrapv", "-fopenmp", "-w")


def program(bodies: Collection[str], ctype: str) -> str:
    """Each body in a function of its own, which prints a line for each pair of sizes."""
    functions = [FUNCTION % (number, body) for number, body in enumerate(bodies)]
    calls = [
        f"      fill();\n      run{number}(sizes[a], sizes[b], MOST, A, B, C, x);\n      show();"
        for number in range(len(bodies))
    ]
    return HEAD % ctype + "".join(functions) + MAIN.replace("CALLS", "\n".join(calls))


@pytest.mark.parametrize("ctype", ["double", "float", "int"])
def test_every_bit_is_the_same(ctype: str, run_c: RunC, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for free in ("LEAST_TOGETHER", "WAITING_CHAINS"):  # whatever it costs
        monkeypatch.setattr(strip_claims, free, 0)
    monkeypatch.setattr(strip_building, "are_few", lambda *_: True)
    monkeypatch.setattr(strips, "has_many_steps", lambda *_: False)  # no vectors across rows of a loop inside
    bodies = {name: body for name, (body, kind) in CASES.items() if kind == ctype}
    source = program(bodies.values(), ctype)
    result = pipeline.optimize(source.encode(), Options(eager=True), file=str(tmp_path / "in.c"))
    assert [remark for remark in result.remarks if remark.id in ("internal.error", "schedule.simplified")] == []
    text = without_thresholds(result.text.decode())
    for name, region in zip(bodies, re.findall(r"#pragma scop\n(.*?)#pragma endscop", text, re.DOTALL), strict=True):
        assert re.search(r"\b[ij] \+= [48]\)", region), name
    original = run_c(source, *FLAGS, name="original").splitlines()
    assert len(original) == 121 * len(bodies)
    for name, flags in (("emitted", FLAGS), ("plain", tuple(flag for flag in FLAGS if flag != "-fopenmp"))):
        emitted = run_c(text, *flags, name=name).splitlines()
        other = {number % len(bodies) for number, line in enumerate(original) if emitted[number : number + 1] != [line]}
        assert not other, (name, [[*bodies][number] for number in sorted(other)])


def test_short_rows_one_after_the_other(run_c: RunC) -> None:
    """Of sizes that are known at run time only, on both sides of what the text asks."""
    source = """#include <stdio.h>
#include <stdlib.h>
void f(int n, int m, const double *restrict a, const double *restrict x, double *restrict y)
{
  for (int i = 0; i < n; i++) { double s = 0; for (int j = 0; j < m; j++) s += a[i * m + j] * x[j]; y[i] = s; }
}
int main(void)
{
  static const int rows[] = {0, 1, 7, 8, 2053, 2054, 2055, 2063}, steps[] = {-1, 0, 1, 3, 511, 512};
  double *a = malloc(8 * 2063 * 512), *x = malloc(8 * 512), *y = malloc(8 * 2063);
  for (int k = 0; k < 2063 * 512; k++) a[k] = k % 101 / 3.0 - k % 7;
  for (int k = 0; k < 512; k++) x[k] = k * 0.37 - 11;
  for (int r = 0; r < 8; r++)
    for (int s = 0; s < 6; s++) {
      double sum = 0;
      for (int k = 0; k < 2063; k++) y[k] = k;
      f(rows[r], steps[s], a, x, y);
      for (int k = 0; k < 2063; k++) sum = sum * 0.75 + y[k];
      printf("%d %d %a\\n", rows[r], steps[s], sum);
    }
}
"""
    made = pipeline.optimize(source.encode(), Options(autodetect=True)).text.decode()
    assert "m <= 511 && n >= 2054" in made
    assert run_c(without_thresholds(made), *FLAGS, name="emitted") == run_c(source, *FLAGS, name="original")
