"""Macros in regions without pragmas: one file with many uses of them, transformed for one value of N, compiled with
others and compared."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from scopt.options import Options
from scopt.tell.results import Result
from tests.sources import optimize

HEAD = r"""
#ifndef N
#define N 100
#endif
#define HALF (N / 2)
#define NEXT N + 1
#define STEP 3
#define BLOCK 16
#define LOW (-3)
#define MOST (N > 50 ? 10 : 20)
#define COUNT ((int)(sizeof(square) / sizeof(square[0])))
#define U 100u
#define L 50L
#define NU (N + 0ul)
#define IDX(i, j) ((i) * N + (j))
#define SQ(x) ((x) * (x))
#define PASTE(a, b) a##b
#define ALL(...) __VA_ARGS__
#define XN 9
#if N > 50
#define TIMES 3
typedef int chosen;
#else
#define TIMES 5
typedef double chosen;
#endif
extern double A[300][300], B[300][300], V[90000], W[90000];
chosen X[300];
double square[N][N];
enum { E = 40, F = N / 2 };
enum { G = sizeof(square) / sizeof(square[0]) };
static int scaled(int x) { return x * 10 / N; }
static int least(int x) { return x < N ? x : N; }
"""

# Functions, whether the result is for one value of a macro,
# or of which one (None: they stay as they are), and how they are called.
PROGRAMS = [
    ("void f(void) { for (int i = 0; i < N; i++) for (int j = 0; j < N - 1; j++) A[i][j] = B[j + 1][i]; }", False, ""),
    (
        "void f(void) { for (int i = 0; i < N / 2; i++) for (int j = 0; j < N; j++) A[i][j] = B[j][2 * i] + N; }",
        False,
        "",
    ),
    (
        "void f(void) { for (int i = 0; i < HALF; i++) for (int j = 0; j < HALF + 1; j++) A[i][j] = B[j][i]; }",
        False,
        "",
    ),
    ("void f(void) { for (int i = 0; i < HALF; i++) for (int j = 0; j < NEXT; j++) A[i][j] = B[j][i]; }", True, ""),
    (
        "void f(void) { for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) V[i * N + j] = W[j * N + i]; }",
        False,
        "",
    ),
    (
        (
            "void f(void) { for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) "
            "V[IDX(i, j)] = SQ(W[IDX(j, i)]) + SQ(N); }"
        ),
        False,
        "",
    ),
    ("void f(void) { for (int i = 0; i < 3; i++) for (int j = 0; j < i * N; j++) V[j] += i; }", True, ""),
    (
        (
            "void f(void) { for (int i = 0; i < N / BLOCK; i++)"
            " for (int j = 0; j < BLOCK; j++) V[i * BLOCK + j] = W[i * BLOCK + j]; }"
        ),
        True,
        "",
    ),
    (
        "void f(void) { for (int i = 0; i < N; i += STEP) for (int j = 0; j < N; j++) A[i][j] = B[j][i] + STEP; }",
        "STEP",
        "",
    ),
    (
        (
            "void f(void) { for (int i = 0; i < N; i++)"
            " for (int j = 0; j < BLOCK; j++) V[3 * BLOCK * i + i * j] = W[i] + N; }"
        ),
        "BLOCK",
        "",
    ),
    ("void f(void) { for (int i = LOW; i < N - LOW; i++) V[i - LOW] = W[i + 3] + LOW; }", False, ""),
    ("void f(void) { for (int i = 0; i < MOST; i++) V[i] = W[i] + MOST; }", False, ""),
    ("void f(void) { for (int i = 0; i < COUNT; i++) for (int j = 0; j < N; j++) square[i][j] = A[j][i]; }", False, ""),
    ("void f(void) { for (int t = 0; t < TIMES; t++) for (int i = 1; i < N; i++) V[i] = V[i] + W[i - 1]; }", False, ""),
    (
        (
            "void f(void) {\n#if N > 50\n  for (int i = 1; i < N; i++) V[i] = W[i];\n#else\n "
            " for (int i = 1; i < N; i++) V[i] = 2;\n#endif\n}"
        ),
        False,
        "",
    ),
    ("void f(void) { for (int i = 1; i < N; i++) { X[i] = W[i] / 3; V[i] = X[i] + 0.5; } }", True, ""),
    ("void f(void) { for (int i = 1; i < E; i++) for (int j = 0; j < F; j++) A[i][j] = B[j][i]; }", True, ""),
    ("void f(void) { for (int i = 1; i < G; i++) V[i] = W[i]; }", True, ""),
    ("void f(int n) { for (int i = 0; i < least(n); i++) V[i] = W[i] + scaled(i); }", True, "f(50); f(250)"),
    (
        (
            "void f(int n) { int i, j; if (n) for (i = 0; i < N; i++)"
            " for (j = 0; j < N; j++) A[i][j] = j; /**/ else { for (i = 0; i < N; i++) V[i] = 1; }}"
        ),
        False,
        "f(0); f(1)",
    ),
    (
        (
            "void f(double p[][N], double q[][N]) { for (int i = 0; i < N; i++)"
            " for (int j = 0; j < N; j++) p[i][j] = q[j][i] * 2; }"
        ),
        False,
        (
            "f((void *)V, (void *)W); f((void *)V, (void *)V);"
            " f((void *)V, (void *)(V + N)); f((void *)V, (void *)(V + N * N - 1))"
        ),
    ),
    (
        (
            "void f(double *p, double *q) { for (int i = 0; i < N; i++)"
            " for (int j = 0; j < N; j++) p[i * N + j] = q[j * N + i] * 2; }"
        ),
        False,
        "f(V, W); f(V, V + N); f(V, V + N * N - 1)",
    ),
    ("void f(void) { for (int i = 0; i < N; i++) V[i] = PASTE(X, N) + W[i]; }", True, ""),
    ("void f(void) {\n  ALL(\n  for (int i = 0; i < N; i++) { V[i] = W[i]; }\n  )\n}", None, ""),
    ("void f(void) {\n  V[0] = 2; \\\n  for (int i = 0; i < N; i++) { V[i] = W[i]; } \\\n  V[3] = N;\n}", True, ""),
    (
        (
            "void f(int k) { switch (k) { case N: { for (int i = 0; i < N; i++) V[i] = 2; } break; "
            "default: { for (int i = 0; i < 9; i++) W[i] = N; } } }"
        ),
        False,
        "f(1); f(N)",
    ),
    ("void f(void) { for (int i = 0; i < 1000; i++) V[i % N] = 1; }", True, ""),
    ("void f(void) { for (unsigned i = 0; i < U; i++) V[i] = W[i] + U + N; }", False, ""),
    (
        "void f(void) { for (int i = 0; i < U - 1; i++) for (int j = 0; j < L; j++) A[i][j] = B[j][i] + (i - U); }",
        False,
        "",
    ),
    (
        (
            "void f(void) { for (long i = L; i > 0; i--)"
            " for (unsigned j = 0; j < NU - 1; j++) A[i - 1][j] = B[j][i] + NU; }"
        ),
        False,
        "",
    ),
    ("void f(void) { for (int i = 0; i < 200; i++) if (i < NU - 20) V[i] = i - NU; else V[i] = -1; }", False, ""),
]

DRIVER = r"""
#include <stdio.h>
#undef N
double A[300][300], B[300][300], V[90000], W[90000];
static void fill(void) {
  for (int i = 0; i < 300; i++) for (int j = 0; j < 300; j++) { A[i][j] = (i * 7 + j * 3) % 11; B[i][j] = (i + j) % 5; }
  for (int i = 0; i < 90000; i++) { V[i] = i % 13; W[i] = i % 17; }
}
static void show(int number) {
  double sum = 0;
  for (int i = 0; i < 300; i++) for (int j = 0; j < 300; j++) sum += A[i][j] * (i + 1) + B[i][j] * j;
  for (int i = 0; i < 90000; i++) sum += V[i] * (i % 97) + W[i] * (i % 3);
  printf("%d %.17g\n", number, sum);
}
"""


def named(number: int, text: str) -> str:
    return re.sub(r"\bf\(", f"f{number}(", text)


def source() -> str:
    functions = "\n".join(named(number, text) for number, (text, _, _) in enumerate(PROGRAMS))
    later = "void later(void) { for (int i = 0; i < N; i++) V[i] = N; }\n"
    return f"{HEAD}{functions}\n#define OLD N\nenum {{ KEPT = N }};\n#undef N\n#define N 60\n{later}"


def driver() -> str:
    calls = "".join(
        f"  fill(); {named(number, call or 'f()')}; show({number});\n" for number, (_, _, call) in enumerate(PROGRAMS)
    )
    return (
        f"{DRIVER}\n#define N KEPT\nint main(void) {{\n{calls}  fill(); later(); "
        f"show({len(PROGRAMS)});\n  return 0;\n}}\n"
    )


@pytest.fixture(scope="module", params=[(), ("-DN=30",)], ids=["default", "given"])
def transformed(request: pytest.FixtureRequest) -> Result:
    return optimize(
        source(), Options(autodetect=True, eager=True, verify="full", cpp_flags=request.param), file="macros.c"
    )


@pytest.mark.parametrize("value", ["", "-DN=1", "-DN=7", "-DN=30", "-DN=51", "-DN=129", "-DN=250"])
def test_results_are_the_same(transformed: Result, compile_c: Callable[..., Path], value: str) -> None:
    def output(text: str, name: str, *flags: str) -> list[str]:
        program = compile_c(
            text + driver(), "-O1", "-w", "-ffp-contract=off", *flags, *([value] if value else []), "-lm", name=name
        )
        return subprocess.run(
            [str(program)], check=True, capture_output=True, text=True, env={"OMP_NUM_THREADS": "3"}
        ).stdout.splitlines()

    emitted = re.sub(r"( if\((?:parallel: )?.*?\))(?= (?:private|schedule|reduction))", "", transformed.text.decode())
    expected, found = output(source(), "original"), output(emitted, "emitted", "-fopenmp")
    assert len(expected) == len(PROGRAMS) + 1
    assert not [
        PROGRAMS[k][0] if k < len(PROGRAMS) else "later"
        for k, (a, b) in enumerate(zip(expected, found, strict=True))
        if a != b
    ]


def test_values_are_tested_only_where_they_are_used(transformed: Result) -> None:
    functions = re.split(r"^void (?=f\d+\()", transformed.text.decode(), flags=re.MULTILINE)[1:]
    assert len(functions) == len(PROGRAMS)
    done = {remark.function for remark in transformed.remarks if remark.id == "region.transformed"}
    for number, (text, (function, expected, _)) in enumerate(zip(functions, PROGRAMS, strict=True)):
        tested = re.findall(r"\((\w+)\) == ", "".join(re.findall(r"^#if \(.*", text, re.MULTILINE)))
        assert (f"f{number}" in done) == (expected is not None), function
        assert tested == [expected] if isinstance(expected, str) else bool(tested) == bool(expected), function
