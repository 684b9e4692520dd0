"""Programs around one marked region, for loops and statements of all forms: the same output with and without scopt."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from scopt import pipeline
from scopt.machine import Machine
from scopt.options import Options
from tests.conftest import RunC
from tests.fuzz.harness import without_thresholds

HEAD = """#include <stdio.h>
#include <math.h>
#define MOST 64
static double A[MOST][MOST], B[MOST][MOST], x[8 * MOST], y[8 * MOST], z[8 * MOST];
static int p[8 * MOST], q[8 * MOST], start[MOST + 1];
static long left;
"""
FUNCTION = """static void run%(number)d(int n, int m)
{
  int i = 3, j = 4, k = 5;
%(before)s
#pragma scop
%(body)s
#pragma endscop
%(after)s
}
"""
MAIN = """static unsigned long long bits(unsigned long long sum, const void *data, int size)
{
  const unsigned char *bytes = data;
  for (int i = 0; i < size; i++)
    sum = (sum ^ bytes[i]) * 1099511628211u;
  return sum;
}
static void fill(void)
{
  for (int i = 0; i < 8 * MOST; i++) {
    x[i] = 1.0 / (i + 3), y[i] = 0.7 * (i % 23) - 9, z[i] = i % 5 - 2;
    p[i] = (13 * i + 5) % 32, q[i] = (i * i + 3) % 17;
    A[i / MOST][i % MOST] = ((7 * i) % 11 + 1.3) / 97;
  }
  for (int i = 0; i < MOST; i++) {
    start[i + 1] = start[i] + i % 4;
    for (int j = 0; j < MOST; j++)
      A[i][j] = ((7 * i + 3 * j) % 11 + 1.3) / 97, B[i][j] = i - 2 * j;
  }
  left = 0;
}
static void show(void)
{
  unsigned long long sum = bits(14695981039346656037u, A, sizeof A);
  sum = bits(bits(bits(bits(sum, B, sizeof B), x, sizeof x), y, sizeof y), z, sizeof z);
  printf("%llx\\n", bits(bits(bits(sum, p, sizeof p), q, sizeof q), &left, sizeof left));
}
int main(void)
{
  static const int sizes[] = {0, 1, 2, 3, 7, 8, 31, 40};
  for (int a = 0; a < 8; a++)
    for (int b = 0; b < 8; b++) {
CALLS
    }
}
"""
EXACT = ("-ffp-contract=off", "-fopenmp", "-w", "-fwrapv")
FLAGS = ("-O2", *EXACT)
# Cases in one program: most of a small program's time goes into headers, start-up and what is beside its region.
AT_ONCE = 20


# starting threads takes no time
QUICK = replace(Machine(), fork_nanoseconds=1)


class Case(Struct, frozen=True):
    """A region, and what its function has before and after it."""

    body: str
    before: str = ""
    after: str = ""


def same_output(
    body: str, run_c: RunC, tmp_path: Path, *, before: str = "", after: str = "", options: Options | None = None
) -> str:
    """The emitted text of a program with the body, which runs with two threads and prints what the original prints; no
    parallel loop is too small."""
    return _texts((Case(body, before, after),), run_c, tmp_path, options)[0]


_outcomes: dict[tuple[Case, ...], Sequence[str | Exception]] = {}


def same_output_among(cases: Sequence[Case], case: Case, run_c: RunC, tmp_path: Path) -> str:
    """As `same_output`, of one of many cases: some of them are in one program, which is run for the first of them."""
    first = cases.index(case) // AT_ONCE * AT_ONCE
    group = tuple(cases[first : first + AT_ONCE])
    if group not in _outcomes:
        _outcomes[group] = _told_apart(group, run_c, tmp_path)
    outcome = _outcomes[group][group.index(case)]
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


def _told_apart(cases: tuple[Case, ...], run_c: RunC, folder: Path) -> Sequence[str | Exception]:
    """For each case its text or what is wrong with it: with it alone, or with all of them together."""
    try:
        return _texts(cases, run_c, folder)
    except (AssertionError, subprocess.SubprocessError) as error:
        alone = [one for case in cases for one in _told_apart((case,), run_c, folder)] if len(cases) > 1 else []
        return alone if any(isinstance(one, Exception) for one in alone) else [error] * len(cases)


def _texts(cases: Sequence[Case], run_c: RunC, folder: Path, options: Options | None = None) -> list[str]:
    """What stands in place of the cases' regions. Raises AssertionError where the program prints anything else."""
    source = _program(cases)
    text = emitted_text(source, folder, options)
    original, emitted = (
        run_c(one, level, *EXACT, name=name).splitlines()
        for one, level, name in ((source, "-O1", "original"), (without_thresholds(text), "-O2", "emitted"))
    )
    assert len(original) == 64 * len(cases)
    others = {number % len(cases) for number, line in enumerate(original) if emitted[number : number + 1] != [line]}
    assert not others, [cases[number].body for number in sorted(others)]
    return [within_region(text[text.index(f"void run{number}(") :]) for number in range(len(cases))]


def _program(cases: Sequence[Case]) -> str:
    functions = [
        FUNCTION % {"number": number, "body": case.body, "before": case.before, "after": case.after}
        for number, case in enumerate(cases)
    ]
    calls = (f"      fill();\n      run{number}(sizes[a], sizes[b]);\n      show();" for number in range(len(cases)))
    return HEAD + "".join(functions) + MAIN.replace("CALLS", "\n".join(calls))


def emitted_text(source: str, folder: Path, options: Options | None = None) -> str:
    result = pipeline.optimize(
        source.encode(), options or Options(eager=True, machine=QUICK), file=str(folder / "in.c")
    )
    missed = [remark for remark in result.remarks if remark.kind == "missed" or remark.id == "schedule.simplified"]
    assert not missed, missed
    return result.text.decode()


def within_region(text: str) -> str:
    return text[text.index("#pragma scop") : text.index("#pragma endscop")]
