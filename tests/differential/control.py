"""Programs around one marked region, for loops and statements of all forms: the same output with and without scopt."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from scopt import pipeline
from scopt.machine import Machine
from scopt.options import Options
from tests.conftest import EVERYTHING, RunC
from tests.fuzz.harness import without_thresholds

PROGRAM = """#include <stdio.h>
#include <math.h>
#define MOST 64
static double A[MOST][MOST], B[MOST][MOST], x[8 * MOST], y[8 * MOST], z[8 * MOST];
static int p[8 * MOST], q[8 * MOST], start[MOST + 1];
static long left;
static void run(int n, int m)
{
  int i = 3, j = 4, k = 5;
%(before)s
#pragma scop
%(body)s
#pragma endscop
%(after)s
}
static unsigned long long bits(unsigned long long sum, const void *data, int size)
{
  const unsigned char *bytes = data;
  for (int i = 0; i < size; i++)
    sum = (sum ^ bytes[i]) * 1099511628211u;
  return sum;
}
int main(void)
{
  static const int sizes[] = {0, 1, 2, 3, 7, 8, 31, 40};
  for (int a = 0; a < 8; a++)
    for (int b = 0; b < 8; b++) {
      for (int i = 0; i < 8 * MOST; i++) {
        x[i] = 1.0 / (i + 3), y[i] = 0.7 * (i %% 23) - 9, z[i] = i %% 5 - 2;
        p[i] = (13 * i + 5) %% 32, q[i] = (i * i + 3) %% 17;
        A[i / MOST][i %% MOST] = ((7 * i) %% 11 + 1.3) / 97;
      }
      for (int i = 0; i < MOST; i++) {
        start[i + 1] = start[i] + i %% 4;
        for (int j = 0; j < MOST; j++)
          A[i][j] = ((7 * i + 3 * j) %% 11 + 1.3) / 97, B[i][j] = i - 2 * j;
      }
      left = 0;
      run(sizes[a], sizes[b]);
      unsigned long long sum = bits(14695981039346656037u, A, sizeof A);
      sum = bits(bits(bits(bits(sum, B, sizeof B), x, sizeof x), y, sizeof y), z, sizeof z);
      sum = bits(bits(bits(sum, p, sizeof p), q, sizeof q), &left, sizeof left);
      printf("%%d %%d %%llx\\n", sizes[a], sizes[b], sum);
    }
}
"""
FLAGS = ("-O2", "-ffp-contract=off", "-fopenmp", "-w", "-fwrapv")


# starting threads takes no time
QUICK = replace(Machine(), fork_nanoseconds=1)


def same_output(
    body: str, run_c: RunC, tmp_path: Path, *, before: str = "", after: str = "", options: Options | None = None
) -> str:
    """The emitted text of a program with the body, which runs with two threads and prints what the original prints; no
    parallel loop is too small."""
    source = PROGRAM % {"body": body, "before": before, "after": after}
    text = emitted_text(source, tmp_path, options)
    original, emitted = (
        run_c(one, *FLAGS, name=name) for one, name in ((source, "original"), (without_thresholds(text), "emitted"))
    )
    assert len(original.splitlines()) == 64
    assert emitted == original
    return within_region(text)


def parallel_text(body: str, run_c: RunC, tmp_path: Path, *, before: str = "") -> str:
    """What the body becomes where nothing is printed of it, which everyday's runs take for right: that it prints the
    same is shown by other tests."""
    if EVERYTHING:
        return same_output(body, run_c, tmp_path, before=before)
    return within_region(emitted_text(PROGRAM % {"body": body, "before": before, "after": ""}, tmp_path))


def emitted_text(source: str, folder: Path, options: Options | None = None) -> str:
    result = pipeline.optimize(
        source.encode(), options or Options(eager=True, machine=QUICK), file=str(folder / "in.c")
    )
    missed = [remark for remark in result.remarks if remark.kind == "missed" or remark.id == "schedule.simplified"]
    assert not missed, missed
    return result.text.decode()


def within_region(text: str) -> str:
    return text[text.index("#pragma scop") : text.index("#pragma endscop")]
