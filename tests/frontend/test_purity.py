"""Functions that only compute a value, by their bodies."""

from __future__ import annotations

import pytest

from scopt.frontend.region.parse import parse
from scopt.frontend.syntax.purity import VALUE_FUNCTIONS
from scopt.options import Options

BEFORE = """
typedef double *row; typedef union { float f; unsigned u; } word; enum { ONE = 1 };
extern int g; extern const int limit; static const double table[9][2]; static const row rows[3]; volatile int port;
int printf(const char *, ...); double other(double); __attribute__((const)) double declared(double);
static double square(double x) { return x * x; }
"""


def computing(text: str, *flags: str) -> frozenset[str]:
    options = Options(cpp_flags=flags)
    return frozenset(parse((BEFORE + text).encode(), "in.c", options).pure_functions) - VALUE_FUNCTIONS


@pytest.mark.parametrize(
    "text",
    [
        "static double f(double x) { x = x < 1 ? 1 : x; return sqrt(square(x)) + declared(x); }",
        "static inline int f(int a, int b) { return a > b ? a : b; }",
        "int f(int a, int b) { return a > b ? a : b; } __attribute__((weak)) int other_weak(void);",
        "typedef struct { int a, b; } two; static two f(int a) { if (a > 1) return (two){a, 1}; return (two){0, a}; }",
        (
            "inline int f(int a) { int s = 0, i; for (i = 0; i < a; i++) s += i; while (s > 9) "
            "{ s /= 2; if (s == 7) continue; s--; } return s; }"
        ),
        "static double f(int i) { return table[i & 7][ONE] * limit; }",
        "static unsigned f(float x) { word w; w.f = x; w.u &= 0x7fffffff; return w.u >> 3; }",
        (
            "static int f(int k) { int t[3] = {1, 2, 3}; t[k % 3] += k;"
            " switch (k) { case 1: return t[0]; default: break; } return t[1]; }"
        ),
        "static double f(double x) { return (double)(float)x + sizeof(row); }",
        "static int f(int d) { static const int step[4] = {8, 9, 1, -7}; int r = step[d]; return r << 1; }",
        "static unsigned f(float x) { unsigned u; memcpy(&u, &x, sizeof u); return u >> 3; }",
        "static int f(int k) { double t[2]; __builtin_memcpy(t, &k, 4); memcpy(t, table, 8); return t[0] > 1; }",
    ],
)
def test_those_that_do(text: str) -> None:
    assert "f" in computing(text)


@pytest.mark.parametrize(
    "text",
    [
        "__attribute__((weak)) double f(double x) { return x; }",  # another one may be linked in its place
        "double f(double x) __attribute__((__weak__)); double f(double x) { return x; }",
        "double f(double x) { return x; }\n#pragma weak f\n",
        'static double f(double x) { printf("%g", x); return x; }',
        "static double f(double x) { return other(x); }",
        "static int f(int x) { return x + g; }",
        "static int f(int x) { g = x; return x; }",
        "static int f(int x) { g++; return x; }",
        "static int f(int x) { static int n; n += x; return n; }",
        "static int f(int x) { static const volatile int n = 3; return n + x; }",
        "static int f(int x) { static const int *const n = &g; return *n + x; }",
        "static int f(int x) { { int g = x; x += g; } return g; }",
        "static double f(double *x) { return x[0]; }",
        "static double f(double x[3]) { return x[0]; }",
        "static double f(row x, int i) { return x[i]; }",
        "static double f(int i) { row x = 0; x[i] = 3; return 1; }",
        "static double f(int i) { return rows[0][i]; }",
        "static double f(long i) { return *(double *)i; }",
        "static double f(double x) { double *p = &x; return *p; }",
        "static int f(int x) { return port + x; }",
        "static int f(int x) { volatile int y = x; return y; }",
        "static int f(int x) { return x ? f(x - 1) : 0; }",
        "static int h(int); static int f(int x) { return h(x); } static int h(int x) { return f(x); }",
        "static int f(int x) { for (;;) ; return x; }",
        "static int f(int x) { while (1) ; return x; }",
        "static int f(int x) { l: if (x++ < 3) goto l; return x; }",
        'static int f(int x) { asm("nop"); return x; }',
        "static void f(int x) { x = 1; }",
        "static unsigned f(float x) { memcpy(&g, &x, 4); return 1; }",
        "static unsigned f(float x) { unsigned u; memcpy(&u, &g, 4); return u; }",
        "static unsigned f(float x) { unsigned u; memcpy(&u, &x, g); return u; }",
        "static unsigned f(float x) { row u = 0; memcpy(u, &x, 4); return 1; }",
        "static void *memcpy(void *a, void *b, int n) { g++; return a; }"
        " static int f(int x) { int y; memcpy(&y, &x, 4); return y; }",
        "static int f(x) int x; { return x; }",
        "static int f(int x) { return ({ g = 1; x; }); }",
        "static int f(int (*h)(int), int x) { return h(x); }",
        "static double sqrt(double x) { g++; return x; } static double f(double x) { return sqrt(x); }",
    ],
)
def test_those_that_may_do_more(text: str) -> None:
    assert not {"f", "h"} & computing(text)


def test_calls_of_them_are_statements_like_others() -> None:
    from scopt.pipeline import optimize

    arrays = "double A[900][900], B[900][900];\n"
    text = "void k(void) { for (int i = 0; i < 900; i++) for (int j = 0; j < 900; j++) A[i][j] += square(B[j][i]); }\n"
    result = optimize((BEFORE + arrays + text).encode(), Options(autodetect=True))
    assert "region.transformed" in [remark.id for remark in result.remarks]


def test_functions_of_shared_libraries_can_be_replaced() -> None:
    unit = parse(b"int f(int a) { return a; } static int g(int a) { return a; }", "in.c", Options(cpp_flags=("-fPIC",)))
    assert set(unit.pure_functions) - VALUE_FUNCTIONS == {"g"}
