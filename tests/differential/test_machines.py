"""Programs for other machines than the default, compiled and run here: every bit as in the original."""

from __future__ import annotations

import subprocess

import pytest
from msgspec.structs import replace

from scopt import pipeline
from scopt.machine import DEFAULT, Cache, Machine
from scopt.options import Options
from tests.conftest import EVERYTHING, RunC, but_for
from tests.fuzz.harness import without_thresholds

PROGRAM = """#include <stdio.h>
#include <string.h>
#define MOST 150
static double A[MOST][MOST], B[MOST][MOST], C[MOST][MOST], x[MOST], y[MOST];
static float F[MOST][MOST], G[MOST][MOST], H[MOST][MOST];
static void products(int n, int m)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[j][k];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      for (int k = 0; k < m; k++)
        H[i][j] -= F[i][k] * G[k][j];
#pragma endscop
}
static void rows(int n, int m)
{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 1; j < m; j++)
      A[i][j] = A[i][j - 1] * 0.5 + B[i][j];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      x[i] += A[i][j] * y[j];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      y[j] -= B[i][j] * x[i];
#pragma endscop
}
static unsigned long long sum;
static void add(const void *cells, size_t size)
{
  for (const unsigned char *p = cells, *end = p + size; p < end; p++)
    sum = (sum ^ *p) * 1099511628211u;
}
int main(void)
{
  int sizes[] = {0, 1, 3, 4, 7, 8, 9, 17, 25, 49, 97, 150};
  for (int a = 0; a < 12; a++)
    for (int b = 0; b < 12; b++) {
      for (int i = 0; i < MOST; i++) {
        x[i] = 1.0 / (i + 3), y[i] = 0.7 * i - 9;
        for (int j = 0; j < MOST; j++) {
          A[i][j] = ((7 * i + 3 * j) % 11 + 1.3) / 97, B[i][j] = ((i + 5 * j) % 13 - 2.7) / 31, C[i][j] = i - 0.3 * j;
          F[i][j] = (float)A[i][j], G[i][j] = (float)B[i][j], H[i][j] = (float)C[i][j];
        }
      }
      products(sizes[a], sizes[b]);
      rows(sizes[a], sizes[b]);
      sum = 0;
      add(A, sizeof A), add(C, sizeof C), add(H, sizeof H), add(x, sizeof x), add(y, sizeof y);
      printf("%d %d %llx\\n", sizes[a], sizes[b], sum);
    }
}
"""
SMALL = (Cache(4 << 10, 2, line=32), Cache(32 << 10, 4, line=32, shared=2))
MACHINES = {
    "avx2": replace(DEFAULT, vector_bytes=32, vector_registers=16),
    "neon": replace(DEFAULT, vector_bytes=16, fma_per_cycle=4, fma_latency=3),
    "sse": replace(DEFAULT, vector_bytes=16, vector_registers=16, fma_per_cycle=1),
    "long vectors": replace(DEFAULT, vector_bytes=256, vector_registers=64),
    "no vectors": Machine(1, 4, 8, 1, 7, 30, 0.5, 2, SMALL, page_bytes=512, tlb_entries=8),
    "long lines": replace(DEFAULT, caches=(Cache(128 << 10, 8, line=256), Cache(4 << 20, 16, line=256))),
    "large caches": replace(DEFAULT, caches=(Cache(4 << 20, 16), Cache(256 << 20, 16))),
    "one register": replace(DEFAULT, vector_registers=1, vector_bytes=1, fma_latency=1, fma_per_cycle=1),
    "extreme": Machine(1 << 20, 1 << 20, 1 << 30, 1 << 20, 1 << 20, 1 << 20, 1e3, 1 << 20, page_bytes=1 << 30),
}
FLAGS = ("-ffp-contract=off", "-fopenmp", "-w")
LEVELS = ((("-O2",),) if EVERYTHING else ()) + (("-O3", "-march=native"),)


@pytest.fixture(scope="module")
def expected(cc: str, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What the original prints, by its level."""
    program = tmp_path_factory.mktemp("original") / "program"
    printed = []
    for level in LEVELS:
        command = [cc, *level, *FLAGS, "-x", "c", "-", "-o", str(program), "-lm"]
        subprocess.run(command, input=PROGRAM.encode(), check=True)
        printed.append(subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout)
    return printed


@pytest.mark.parametrize("name", but_for(MACHINES, "sse", "long vectors", "long lines"))
def test_every_bit_is_as_in_the_original(run_c: RunC, expected: list[str], name: str) -> None:
    result = pipeline.optimize(PROGRAM, Options(machine=MACHINES[name], eager=True))
    assert [remark for remark in result.remarks if remark.kind == "missed"] == []
    text = without_thresholds(result.text.decode())
    assert [run_c(text, *level, *FLAGS) for level in LEVELS] == expected
