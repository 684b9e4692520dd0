"""Rows that pointers lead to, in loops that nobody marked: the program finds out whether they are apart."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from scopt.options import Options
from tests.sources import optimize

# Where rows lie: one block, memory of their own, turned and mixed blocks, and with cells in common.
LAYOUTS = {
    "block": "a[i] = cells + i * N; b[i] = cells + (N + i) * N; c[i] = cells + (2 * N + i) * N;",
    "heap": "a[i] = malloc(N * sizeof **a); b[i] = malloc(N * sizeof **b); c[i] = malloc(N * sizeof **c);",
    "downwards": "a[i] = cells + (N - 1 - i) * N; b[i] = cells + (N + i) * N; c[i] = cells + (3 * N - 1 - i) * N;",
    "mixed": "a[i] = cells + 3 * N * (i * 7 % N); b[i] = a[i] + N; c[i] = a[i] + 2 * N;",
    "one row of others": "a[i] = cells + i * N; b[i] = cells + N * N; c[i] = cells + (2 * N + i) * N;",
    "the same": "a[i] = b[i] = c[i] = cells + i * N;",
    "close": "a[i] = cells + i * N; b[i] = cells + (N + i) * N; c[i] = cells + (2 * N + i) * (N - 1);",
    "beside": "a[i] = cells + i * N; b[i] = cells + (N + i) * N; c[i] = cells + (N - 1 + i) * N + 1;",
    "one twice": "a[i] = cells + i * N; b[i] = cells + (N + i) * N; c[i] = cells + (2 * N + i % (N - 1)) * N;",
}
# Which one it is, is said when the program runs.
CHOICE = f"switch (atoi(argv[1])) {{ {' '.join(f'case {k}: {one} break;' for k, one in enumerate(LAYOUTS.values()))} }}"
# Whether they are where all is used, and where the last row and the last two columns are not.
APART = {"the same": (0, 0), "close": (0, 1), "beside": (0, 0), "one twice": (0, 1)}
SANITIZED = ("-fsanitize=address,undefined",)
PROGRAM = """\
#include <stdio.h>
#include <stdlib.h>
#define N 24
const char *__asan_default_options(void) { return "detect_leaks=0"; }
static double cells[4 * N * N];
void work(int n, int m, double **a, double **b, double **c, double *sums)
{
    for (int i = 0; i < n; i++) {
        sums[i] = 0;
        for (int j = 0; j < m; j++) {
            c[i][j] = 0.5 * c[i][j];
            for (int k = 0; k < m; k++)
                c[i][j] += a[i][k] * b[k][j];
            if (c[i][j] > 3)
                sums[i] += c[i][j];
        }
    }
}
int main(int argc, char **argv)
{
    double **a = malloc(N * sizeof *a), **b = malloc(N * sizeof *b), **c = malloc(N * sizeof *c), sums[N];
    for (int i = 0; i < N; i++) {
        LAYOUT
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i][j] = i % 7 - j % 3 * 0.25, b[i][j] = i * j % 5 * 0.125, c[i][j] = j;
    work(0, 0, a, b, c, sums);
    work(N, N, a, b, c, sums);
    work(N - 1, N - 2, a, b, c, SUMS);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            printf("%.17g %.17g\\n", c[i][j], a[i][j] + sums[i % (N - 1)]);
}
"""


@pytest.fixture(scope="module")
def made() -> str:
    """The program with its loops transformed; which layouts there are is said when it is compiled."""
    options = Options(autodetect=True, eager=True, cpp_flags=("-DLAYOUT=;", "-DSUMS=sums"))
    result = optimize(PROGRAM.encode(), options, file="x.c")
    assert any(region.function == "work" and region.transformed for region in result.regions)
    return result.text.decode()


@pytest.fixture(scope="module")
def build(cc: str, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """build(text, *flags): the program for all layouts; one that comes again isn't compiled again."""
    folder = tmp_path_factory.mktemp("layouts")

    @cache
    def built(text: str, *flags: str) -> Path:
        program = folder / f"program{len(list(folder.iterdir()))}"
        command = [cc, f"-DLAYOUT={CHOICE}", *flags, "-fopenmp", "-x", "c", "-", "-o", str(program)]
        subprocess.run(command, input=text, text=True, capture_output=True, timeout=120, check=True)
        return program

    return built


def printed(program: Path, layout: str) -> str:
    environment = {**os.environ, "OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"}
    command = [str(program), str(list(LAYOUTS).index(layout))]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True, env=environment).stdout


@pytest.mark.parametrize(
    ("layout", "sums"), [*((one, "sums") for one in LAYOUTS), ("block", "b[3]"), ("mixed", "b[3]")]
)
def test_layouts(build: Callable[..., Path], made: str, layout: str, sums: str) -> None:
    assert "scopt_rows_apart(" in made
    flags = (f"-DSUMS={sums}", "-O1", "-ffp-contract=off")
    assert printed(build(made, *flags, *SANITIZED), layout) == printed(build(PROGRAM, *flags), layout)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_the_test_says(build: Callable[..., Path], made: str, layout: str) -> None:
    """Rows that are apart are known to be that, in whichever order they lie."""
    asked = made.replace("  return apart;\n", '  if (all > 3) printf("apart %d\\n", apart);\n  return apart;\n')
    said = [line for line in printed(build(asked, "-DSUMS=sums"), layout).splitlines() if line.startswith("apart")]
    assert said == [f"apart {one}" for one in APART.get(layout, (1, 1))]
