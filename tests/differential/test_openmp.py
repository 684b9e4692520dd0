"""Loops under pragmas of OpenMP compute what they compute without these: new ones, and old ones where a guard fails."""

from __future__ import annotations

import pytest

from scopt.options import Options
from tests.conftest import RunC
from tests.fuzz.harness import without_thresholds
from tests.sources import optimize

BEFORE = """#include <stdio.h>
#include <stdlib.h>
enum { N = 150 };
static double A[N][N], B[N][N], C[N][N], x[N * N], y[N * N];
static int h[N], count;
"""
AFTER = """static void fill(void) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      A[i][j] = (i * 7 + j * 3) % 11 / 8.0; B[i][j] = (i + j * 5) % 13 / 4.0; C[i][j] = 1;
      x[i * N + j] = i - j; y[i * N + j] = (i * j) % 17; h[i] = i % 5;
    }
  count = 0;
}
static void show(void) {
  double t = 0, u = 0, v = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      t = t / 3 + A[i][j] + 2 * B[i][j] + 3 * C[i][j]; u = u / 2 + x[i * N + j] - y[i * N + j]; v += h[i] * i;
    }
  printf("%a %a %a %d\\n", t, u, v, count);
}
int main(void) {
  int sizes[] = {0, 1, 2, 3, 40, N};
CALLS
  return 0;
}
"""
# The last two calls are for where pointers lead to the same memory, which only the serial program may have.
CALLS = """  fill();
  for (int s = 0; s < 6; s++) { NAME(sizes[s], x, y, A, B); }
#ifdef OVERLAPPING
  NAME(N / 2, x, x + 3, A, A); NAME(N / 2, x + 3, x, A, A);
#endif
  show();
"""
HEAD = "static void NAME(int n, double *p, double *q, double (*a)[N], double (*b)[N])\n{\n"
CASES = {
    "plain": """
#pragma omp parallel for
  for (int i = 0; i < n; i++)
    p[i] += q[i] / 2;""",
    "lines": """
#pragma omp parallel for \\
   schedule(static, 4) \\
   if(n > 3)
  for (int i = 0; i < n; i++)
    p[i] = q[i];""",
    "comments": """  /* a */
#pragma omp parallel for // b
  // c
  for (int i = 0; i < n; i++) /* d */ p[i] = q[i]; // e""",
    "branch": """  if (n > 2)
#pragma omp parallel for
  for (int i = 0; i < n; i++) p[i] = q[i];
  else
    p[0] = 3;""",
    "nested": """
#pragma omp parallel for
  for (int i = 1; i < n - 1; i++) {
#pragma omp simd
    for (int j = 1; j < n - 1; j++)
      b[i][j] = a[i][j - 1] + a[i + 1][j];
  }""",
    "nested without braces": """
#pragma omp parallel for simd
  for (int i = 1; i < n; i++)
    b[i][3] = a[i][2];
  for (int i = 1; i < n; i++)
#pragma omp simd
    for (int j = 1; j < n; j++)
      b[i][j] += a[i][j];""",
    "collapsed": """  int i, j;
#pragma omp parallel for collapse(2) private(i, j)
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      b[i][j] = a[j][i] + 1;""",
    "product": """  int i, j, l;
#pragma omp parallel for private(j, l) shared(C, a, b) default(none) firstprivate(n)
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      for (l = 0; l < n; l++)
        C[i][j] += a[i][l] * b[l][j];""",
    "private": """  double t, row[4];
  int i;
#pragma omp parallel for private(t, row)
  for (i = 0; i < n; i++) {
    t = p[i] * 2;
    for (int j = 0; j < 4; j++) row[j] = t + j;
    p[i] = row[0] + row[3] * t;
  }""",
    "counted": """  int s = 0;
#pragma omp parallel for reduction(+: s)
  for (int i = 0; i < n; i++)
    s += h[i] > 2;
  count += s;""",
    "steps": """  for (int s = 0; s < n / 4; s++) {
#pragma omp parallel for
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      b[i][j] = (a[i - 1][j] + a[i + 1][j] + a[i][j - 1] + a[i][j + 1]) / 4;
#pragma omp parallel for
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      a[i][j] = b[i][j] / 2;
  }""",
    "condition": """
#ifdef _OPENMP
#pragma omp parallel for
#endif
  for (int i = 0; i < n; i++)
    p[i] = q[i] + 1;
#if 1
# pragma omp parallel for
#endif
  for (int i = 0; i < n; i++)
    p[i] += 2 * q[i];""",
    "on one line": """
#pragma omp parallel for
  for (int i = 0; i < n; i++) p[i] = q[i]; count++;""",
}
MARKED = {"marked": f"#pragma scop{CASES['nested']}\n#pragma endscop"}
SERIAL = ("-O2", "-ffp-contract=off", "-w", "-fwrapv")
OVERLAPPING = (*SERIAL, "-DOVERLAPPING")


def program(cases: dict[str, str]) -> str:
    """All cases in one program, each a function of its own, which prints a line."""
    functions = [f"{HEAD}{body}\n}}\n".replace("NAME", f"k{number}") for number, body in enumerate(cases.values())]
    calls = [CALLS.replace("NAME", f"k{number}") for number in range(len(cases))]
    return BEFORE + "".join(functions) + AFTER.replace("CALLS", "".join(calls))


def changed(source: str, cases: dict[str, str], **options: bool) -> str:
    """The program with all of its cases transformed."""
    made = optimize(source, Options(cc="gcc", **options))
    for number, name in enumerate(cases):
        inside = [region.transformed for region in made.regions if region.function == f"k{number}"]
        assert inside, name
        assert all(inside), (name, made.remarks)
    assert not [remark for remark in made.remarks if remark.id.startswith("internal")]
    return made.text.decode()


def others(cases: dict[str, str], printed: str, wanted: str) -> list[str]:
    """The cases that print something else."""
    lines, expected = printed.splitlines(), wanted.splitlines()
    assert len(lines) == len(expected) == len(cases)
    return [name for name, line, other in zip(cases, lines, expected, strict=True) if line != other]


@pytest.mark.parametrize("cases", [CASES, MARKED], ids=["found", "marked"])
def test_as_without_pragmas(run_c: RunC, cases: dict[str, str]) -> None:
    source = program(cases)
    as_it_is = changed(source, cases, autodetect=cases is CASES, eager=True)
    text = without_thresholds(as_it_is)
    wanted = run_c(source, *SERIAL, name="original")
    for number, flags in enumerate((("-fopenmp",), (), ("-fopenmp", "-O0"))):
        assert others(cases, run_c(text, *SERIAL, *flags, name=f"made{number}"), wanted) == []
    assert others(cases, run_c(as_it_is, *SERIAL, "-fopenmp-simd", name="simd"), wanted) == []
    if cases is CASES:
        wanted = run_c(source, *OVERLAPPING, name="original")
        assert others(cases, run_c(text, *OVERLAPPING, name="made"), wanted) == []


def test_with_tests_of_sizes(run_c: RunC) -> None:
    cases = {name: CASES[name] for name in ("plain", "lines", "nested", "product", "steps", "condition")}
    source = program(cases)
    text = optimize(source, Options(cc="gcc", autodetect=True)).text.decode()
    wanted = run_c(source, *SERIAL, name="original")
    assert others(cases, run_c(text, *SERIAL, "-fopenmp"), wanted) == []
    assert others(cases, run_c(text, *SERIAL, name="serial"), wanted) == []
