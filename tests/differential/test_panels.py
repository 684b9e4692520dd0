"""Tiles with panels, compiled and run at sizes around those of tiles: every bit as in the original."""

from __future__ import annotations

from pathlib import Path

import pytest

from scopt import pipeline
from scopt.options import Options
from tests.conftest import RunC
from tests.fuzz.harness import without_thresholds

PROGRAM = """#include <stdio.h>
#ifndef MOST
#define MOST 3000
#define WIDE 3000
#endif
static %(type)s A[MOST]%(planes)s[WIDE], Q[MOST]%(planes)s[WIDE], R[WIDE][WIDE];
static void run(int n, int m)
{
  int i, j, k;
#pragma scop
%(body)s
#pragma endscop
}
int main(void)
{
  int sizes[] = {0, 1, 2, 31, 32, 33, 65, 97};
  for (int a = 0; a < 8; a++)
    for (int b = 0; b < 8; b++) {
      %(type)s *x[] = {(void *)A, (void *)Q, (void *)R};
      long most[] = {sizeof A / sizeof *x[0], sizeof Q / sizeof *x[0], sizeof R / sizeof *x[0]};
      for (int k = 0; k < 3; k++)
        for (long i = 0; i < most[k]; i++)
          x[k][i] = ((7 * i + 3 * k) %% 11 + 1.3) / 97;
      run(sizes[a], sizes[b]);
      unsigned long long sum = 0;
      for (int k = 0; k < 3; k++)
        for (long i = 0; i < most[k]; i++) {
          union { double value; unsigned long long bits; } cell = {x[k][i]};
          sum = sum * 1099511628211u + cell.bits;
        }
      printf("%%d %%d %%llx\\n", sizes[a], sizes[b], sum);
    }
}
"""
NORMED = """
  for (k = 0; k < n; k++) {
    double s = 0.0;
    for (i = 0; i < m; i++) s += A[i][k] * A[i][k];
    R[k][k] = s + 0.5;
    for (i = 0; i < m; i++) Q[i][k] = A[i][k] / R[k][k];
    for (j = k + 1; j < n; j++) {
      R[k][j] = 0.0;
      for (i = 0; i < m; i++) R[k][j] += Q[i][k] * A[i][j];
      for (i = 0; i < m; i++) A[i][j] = A[i][j] - Q[i][k] * R[k][j];
    }
  }"""
SHIFTED = """
  for (k = 0; k < n; k++) {
    for (i = 0; i < m; i++) Q[i][k] = A[i][k + 2] / (k + 2.0);
    for (j = k + 1; j < n; j++) {
      R[k][j] = 0.0;
      for (i = 0; i < m; i++) R[k][j] += Q[i][k] * A[i][j + 2];
      for (i = 0; i < m; i++) A[i][j + 2] -= Q[i][k] * R[k][j];
    }
  }"""
NEIGHBOURS = """
  for (k = 0; k < n; k++) {
    for (i = 0; i < m; i++) Q[i][k] = A[i][k] * 0.5 + A[i][k + 1];
    for (j = k + 1; j < n; j++) {
      R[k][j] = 0.0;
      for (i = 0; i < m; i++) R[k][j] += Q[i][k] * A[i][j];
      for (i = 0; i < m; i++) A[i][j] -= Q[i][k] * R[k][j] * 0.125;
    }
  }"""
PLANES = """
  for (k = 0; k < n; k++) {
    for (i = 0; i < m; i++) Q[i][1][k] = A[i][0][k] / (k + 2.0) + A[i][1][k];
    for (j = k + 1; j < n; j++) {
      R[k][j] = 0.0;
      for (i = 0; i < m; i++) R[k][j] += Q[i][1][k] * A[i][0][j];
      for (i = 0; i < m; i++) { A[i][0][j] -= Q[i][1][k] * R[k][j] * 0.125; A[i][1][j] -= Q[i][1][k] * 0.25; }
    }
  }"""
LAST = """
  for (k = 1; k < n; k++) {
    for (j = 1; j < k; j++) {
      R[k][j] = 0.125;
      for (i = 0; i < m; i++) A[i][j] = A[i][j] * 0.5 - Q[i][k] * R[k][j];
      for (i = 1; i < m; i++) R[k][j] += Q[i][k] * A[i][j] * 0.01;
    }
    for (i = 1; i < m; i++) Q[i][k] = A[i][k] * 0.25 + 0.5;
  }"""
CASES = {
    "normed": (NORMED, "double", ""),
    "floats": (NORMED.replace("double", "float"), "float", ""),
    "shifted": (SHIFTED, "double", ""),
    "neighbours": (NEIGHBOURS, "double", ""),
    "last": (LAST, "double", ""),
    "planes": (PLANES, "double", "[2]"),
}
FLAGS = ("-O2", "-ffp-contract=off", "-fopenmp", "-w", "-DMOST=100", "-DWIDE=103")


@pytest.mark.parametrize(("body", "ctype", "planes"), CASES.values(), ids=CASES)
def test_every_bit_is_the_same(body: str, ctype: str, planes: str, run_c: RunC, tmp_path: Path) -> None:
    source = PROGRAM % {"body": body, "type": ctype, "planes": planes}
    result = pipeline.optimize(source.encode(), Options(eager=True, budget=0), file=str(tmp_path / "in.c"))
    assert [remark.id for remark in result.remarks if remark.id in ("internal.error", "schedule.simplified")] == []
    text = without_thresholds(result.text.decode())
    assert "Q_panel[" in text
    original = run_c(source, *FLAGS, name="original")
    assert len(original.splitlines()) == 64
    assert run_c(text, *FLAGS, name="emitted") == original
    assert run_c(text, *(flag for flag in FLAGS if flag != "-fopenmp"), "-std=c99", name="plain") == original
