"""Dynamic programs in vectors along diagonals, compiled and run at sizes around those of tiles: every bit as in the
original."""

from __future__ import annotations

from pathlib import Path

import pytest

from scopt import pipeline
from scopt.options import Options
from scopt.scheduler.decisions import claim_diagonals
from tests.conftest import EVERYTHING, RunC, but_for
from tests.fuzz.harness import without_thresholds

PROGRAM = """#include <stdio.h>
#include <string.h>
#define MOST 330
typedef %(type)s T;
static T S[MOST][MOST], P[MOST][MOST], Q[MOST][MOST], W[MOST][MOST], best[MOST];
static signed char a[MOST], b[MOST];
static void run(int n, int m, int w, T S[][w], T P[][w], T Q[][w], T W[][w], T best[],
                signed char a[], signed char b[])
{
  int i, j;
#pragma scop
%(body)s
#pragma endscop
}
static unsigned long long sum;
static void add(const void *cells, size_t size)
{
  for (const unsigned char *p = cells, *end = p + size; p < end; p += 4) {
    unsigned word;
    memcpy(&word, p, 4);
    sum = (sum ^ word) * 1099511628211u;
  }
}
int main(void)
{
  int sizes[] = {0, 1, 2, 64, 65, 130, 328};
  for (int x = 0; x < 7; x++)
    for (int y = 0; y < 7; y++) {
      for (int i = 0; i < MOST; i++) {
        a[i] = i * i %% 5, b[i] = i * i %% 7 %% 5, best[i] = i %% 3;
        for (int j = 0; j < MOST; j++)
          S[i][j] = (i + 2 * j) %% 9, P[i][j] = (3 * i + j) %% 8, Q[i][j] = 0, W[i][j] = (7 * i + 3 * j) %% 11;
      }
      run(sizes[x], sizes[y], MOST, S, P, Q, W, best, a, b);
      sum = 0;
      add(S, sizeof S), add(P, sizeof P), add(Q, sizeof Q), add(W, sizeof W), add(best, sizeof best);
      printf("%%d %%d %%llx\\n", sizes[x], sizes[y], sum);
    }
}
"""
COMMON = """
  for (i = 0; i <= n; i++) S[i][0] = 0;
  for (j = 0; j <= m; j++) S[0][j] = 0;
  for (i = 1; i <= n; i++)
    for (j = 1; j <= m; j++) {
      if (a[i - 1] == b[j - 1]) S[i][j] = S[i - 1][j - 1] + 1;
      else if (S[i - 1][j] >= S[i][j - 1]) S[i][j] = S[i - 1][j];
      else S[i][j] = S[i][j - 1];
    }"""
WARPED = """
  for (i = 0; i < n; i++)
    for (j = 0; j < m; j++) {
      T distance = a[i] < b[j] ? b[j] - a[i] : a[i] - b[j];
      if (i == 0 && j == 0) S[i][j] = distance;
      else if (i == 0) S[i][j] = distance + S[i][j - 1];
      else if (j == 0) S[i][j] = distance + S[i - 1][j];
      else {
        T least = S[i - 1][j - 1];
        if (S[i - 1][j] < least) least = S[i - 1][j];
        if (S[i][j - 1] < least) least = S[i][j - 1];
        S[i][j] = distance + least;
      }
    }"""
GAPS = """
  for (i = 1; i <= n; i++)
    for (j = 1; j <= m; j++) {
      P[i][j] = S[i - 1][j] - 5 > P[i - 1][j] - 1 ? S[i - 1][j] - 5 : P[i - 1][j] - 1;
      Q[i][j] = S[i][j - 1] - 5 > Q[i][j - 1] - 1 ? S[i][j - 1] - 5 : Q[i][j - 1] - 1;
      T h = S[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 3 : -2);
      h = h > P[i][j] ? h : P[i][j];
      h = h > Q[i][j] ? h : Q[i][j];
      h = h > 0 ? h : 0;
      S[i][j] = h;
      best[i] = best[i] > h ? best[i] : h;
    }"""
COLUMNS = """
  for (j = 1; j <= m; j++)
    for (i = 1; i <= n; i++)
      S[i][j] = (S[i - 1][j] < S[i][j - 1] ? S[i - 1][j] : S[i][j - 1]) + W[i][j];"""
BACKWARDS = """
  for (i = n - 1; i >= 0; i--)
    for (j = m - 1; j >= 0; j--)
      S[i][j] = (S[i + 1][j] < S[i][j + 1] ? S[i + 1][j] : S[i][j + 1]) + (a[i] != b[j]);"""
POINTERS = """
  for (i = 1; i <= n; i++)
    for (j = 1; j <= m; j++) {
      T value = S[i - 1][j - 1] + (a[i] == b[j]);
      Q[i][j] = 0;
      if (S[i - 1][j] > value) { value = S[i - 1][j]; Q[i][j] = 1; }
      if (S[i][j - 1] > value) { value = S[i][j - 1]; Q[i][j] = 2; }
      S[i][j] = value;
    }"""
TWO_BACK = """
  for (i = 2; i <= n; i++)
    for (j = 2; j <= m; j++)
      S[i][j] = S[i - 2][j] + S[i][j - 2] - S[i - 1][j - 1] + W[i - 1][j + 1];"""
INSIDE = """
  for (i = n - 1; i >= 0; i--)
    for (j = i + 1; j < n; j++) {
      T value = S[i + 1][j - 1] + 2 * (a[i] == b[j]);
      if (S[i + 1][j] > value) value = S[i + 1][j];
      S[i][j] = value > S[i][j - 1] ? value : S[i][j - 1];
    }"""
BORDERED = """
  for (i = 0; i < n; i++)
    for (j = 0; j < m; j++) {
      if (i == 0 || j == 0) S[i][j] = a[i] > 1;
      else if (a[i] == b[j]) {
        T least = S[i - 1][j - 1] < S[i - 1][j] ? S[i - 1][j - 1] : S[i - 1][j];
        S[i][j] = (least < S[i][j - 1] ? least : S[i][j - 1]) + 1;
      } else S[i][j] = 0;
    }"""
FIRST = """
  for (unsigned k = 1; k < 320; k++)
    for (unsigned l = 1; l < 325; l++)
      S[k][l] = S[k - 1][l] + S[k][l - 1] - S[k - 1][l - 1] + W[k][l];"""
CASES = {
    "common": (COMMON, "int"),
    "common shorts": (COMMON, "unsigned short"),
    "warped": (WARPED, "double"),
    "warped floats": (WARPED, "float"),
    "gaps": (GAPS, "short"),
    "gaps longs": (GAPS, "long"),
    "columns": (COLUMNS, "int"),
    "backwards": (BACKWARDS, "int"),
    "pointers": (POINTERS, "int"),
    "two back": (TWO_BACK, "unsigned"),
    "inside": (INSIDE, "int"),
    "bordered": (BORDERED, "int"),
    "unsigned iterators": (FIRST, "float"),
}
# Which are compiled without OpenMP too.
WITHOUT_OPENMP = frozenset(CASES if EVERYTHING else ("common", "gaps", "columns", "inside"))
FLAGS = ("-O2", "-ffp-contract=off", "-fwrapv", "-fopenmp", "-w")


@pytest.mark.parametrize("name", but_for(CASES, "common shorts", "warped floats"))
def test_every_bit_is_the_same(name: str, run_c: RunC, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body, ctype = CASES[name]
    for free in ("DIAGONAL_COPY", "ENTRY"):  # whatever it costs
        monkeypatch.setattr(claim_diagonals, free, 0)
    source = PROGRAM % {"body": body, "type": ctype}
    result = pipeline.optimize(source.encode(), Options(eager=True), file=str(tmp_path / "in.c"))
    assert [remark.id for remark in result.remarks if remark.id in ("internal.error", "schedule.simplified")] == []
    text = without_thresholds(result.text.decode())
    assert "S_panel[" in text
    original = run_c(source, *FLAGS, name="original")
    assert len(original.splitlines()) == 49
    assert run_c(text, *FLAGS, name="emitted") == original
    if name in WITHOUT_OPENMP:
        assert run_c(text, *(flag for flag in FLAGS if flag != "-fopenmp"), name="plain") == original
