"""Files that have names of the library's functions for things of their own: what is made of them compiles, and computes
the same."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from scopt.options import Options
from tests.sources import optimize

# Lines that carry values inwards and back: they run in strips, with memory for each thread and for all of them.
PROGRAM = """\
#include <stdio.h>
BEFORE
enum { ROWS = 700, COLUMNS = 70 };
static double u[ROWS][COLUMNS], b[ROWS], x[ROWS], y[ROWS];
void f(int n, int m, double u[restrict n][m], double x[restrict n], double y[restrict n], double b[restrict n] MORE)
{
  int i, j;
  INSIDE
#pragma scop
  for (j = 0; j < m; j++) {
    x[0] = 0.25;
    y[0] = u[0][j];
    for (i = 1; i < n; i++) {
      x[i] = b[i] / (2.0 - b[i] * x[i - 1]);
      y[i] = (u[i][j] - b[i] * y[i - 1]) / (2.0 - b[i] * x[i - 1]);
    }
    u[n - 1][j] = y[n - 1];
    for (i = n - 2; i >= 0; i--)
      u[i][j] = y[i] - x[i] * u[i + 1][j];
  }
#pragma endscop
}
int main(void)
{
  double sum = 0;
  for (int i = 0; i < ROWS; i++) {
    b[i] = 0.25 + i % 7 * 0.125;
    for (int j = 0; j < COLUMNS; j++)
      u[i][j] = i * 31 % 17 - j * 0.5;
  }
  f(ROWS, COLUMNS, u, x, y, b GIVEN);
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++)
      sum = sum * 0.999 + u[i][j];
  printf("%.17g %.17g %.17g\\n", sum, x[ROWS - 2], y[ROWS - 2]);
}
"""
# What stands before the function, among its parameters, what is given for that, and what stands in it.
SHADOWED = (
    "#define omp_get_max_threads() 1\n#define omp_get_thread_num() 0",
    ", double *free",
    ", b",
    "int malloc = 0;",
)
HEADERS = (
    "typedef unsigned char uint; typedef int div_t; static int aligned_alloc = 5;\n"
    "static unsigned random(void) { return 3; }\nstatic int abs(float x) { return x < 0; }\n"
    "static int select(int a) { return a + random() + abs(1) + aligned_alloc; }",
    *(", int given", ", select(2)", "double aligned_alloc = given;"),
)
STUBS = ("static int omp_get_thread_num(void) { return 0; }", "", "", "b[0] += omp_get_thread_num();")
MEMORY = ("static double free[100];", "", "", "free[1] = b[1];")


def program(before: str, more: str, given: str, inside: str) -> str:
    words = {"BEFORE": before, "MORE": more, "GIVEN": given, "INSIDE": inside}
    text = PROGRAM
    for word, meant in words.items():
        text = text.replace(word, meant)
    return text


@pytest.mark.parametrize("names", [SHADOWED, HEADERS, STUBS, MEMORY], ids=["shadowed", "headers", "stubs", "memory"])
def test_names_of_the_file(run_c: Callable[..., str], names: tuple[str, str, str, str]) -> None:
    """SCOPT_THREADS: as builds do that hide OpenMP from the file's own text."""
    source = program(*names)
    made = optimize(source.encode(), Options(), file="x.c").text.decode()
    assert ("__builtin_malloc(" in made) is (names != MEMORY)
    assert ("aligned_alloc)(" in made) is (names in (SHADOWED, STUBS))
    assert ("#pragma omp parallel" in made) is (names in (SHADOWED, HEADERS))
    assert "stdlib.h" not in made
    flags = ("-O1", "-ffp-contract=off", "-w")
    assert run_c(made, *flags, "-fopenmp", "-DSCOPT_THREADS", name="made") == run_c(source, *flags, name="original")
