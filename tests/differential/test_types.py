"""Small functions with the types that people write: all of them in one file, which is transformed once, compiled, and
run beside the original.

A function works on the buffers A and B (doubles), L (long doubles), on global arrays and on structures; after each call
everything is hashed.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from scopt.options import Options
from scopt.pipeline import optimize
from scopt.tell.results import Result

HEAD = r"""
#include <complex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#define N 100u
#define M (10 * 4)
#define BIG ((size_t)1 << 6)
enum { E = 40, F = E + 8 };
typedef enum color { RED, GREEN, BLUE, COLORS } color;
typedef struct { double x, y, z; } vec;
typedef struct { double x, y, z; float v[4]; int id; vec inner; } particle;
typedef struct { int n, m; double a[40][40], b[40], sum; double *data; vec *cells; } grid;
typedef struct { unsigned lo : 4, hi : 4; int w; } bits;
typedef union { float f; uint32_t u; } word;
typedef double row[40];
extern double g1[200], g3[40][40], g4[40][40], ga[100][100];
extern particle ps[100];
extern grid G;
extern int hist[100];
"""

# Function and, where it isn't a call with n, how it is called.
PROGRAMS = [
    ("void f(unsigned n) { for (unsigned i = 0; i < n; i++) A[i] = B[i] * 2; }", ""),
    ("void f(unsigned n) { for (int i = 0; i < n; i++) A[i] = B[i] * 2; }", ""),
    ("void f(int n) { for (size_t i = 0; i < n; i++) A[i] = B[i] * 2; }", ""),
    ("void f(size_t n) { for (size_t i = n; i-- > 0;) A[i] = B[i] + i; }", ""),
    ("void f(size_t n) { for (size_t i = n; i--;) A[i] = B[i] + i; }", ""),
    ("void f(int n) { for (int i = n; i-- > 2;) A[i] = B[i] + i; }", ""),
    ("void f(int n) { for (int i = n - 1; i >= 0; --i) A[i] = A[i + 1] * 0.5; }", ""),
    ("void f(unsigned n) { for (unsigned i = n; i > 0; i--) A[i - 1] = B[i - 1] * 2; }", ""),
    ("void f(size_t n) { for (size_t i = n; i >= 1; i--) A[i - 1] = i; }", ""),
    ("void f(size_t n) { for (size_t i = n - 1; i < n; i--) A[i] = A[i + 1] + 1; }", ""),
    ("void f(unsigned n) { if (n) for (unsigned i = 0; i <= n - 1; i++) A[i] = B[i] * 2; }", ""),
    ("void f(size_t n) { for (size_t i = 1; i + 1 < n; i++) A[i] = B[i - 1] + B[i + 1]; }", ""),
    ("void f(size_t n) { if (n) for (size_t i = 1; i < n - 1; i++) A[i] = B[i - 1] + B[i + 1]; }", ""),
    ("void f(size_t n, size_t limit) { for (size_t i = 0; i < n; i++) if (i < limit) A[i] = i; }", "f(n, (size_t)-1)"),
    ("void f(size_t n, size_t from) { for (size_t i = from; i < n; i++) A[i] = i; }", "f(n, (size_t)-2)"),
    ("void f(unsigned n) { for (unsigned i = 0; i < n; i++) A[(int)i] = 3; }", ""),
    ("void f(unsigned n) { for (unsigned i = 0; i < n; i += 4) A[i] = 1; }", ""),
    ("void f(short n) { for (short i = 0; i < n; i++) A[i] += i; }", ""),
    ("void f(uint8_t n, uint8_t *restrict a) { for (uint8_t i = 0; i < n; i++) a[i] = i * i; }", "f(n, (void *)A)"),
    ("void f(int n) { for (unsigned char i = 0; i < 200; i++) A[i] += i; }", ""),
    ("void f(unsigned n) { for (unsigned i = 0; i < n; i++) A[i] = i * -1 / 3 + (i - 5 > 3); }", ""),
    (
        "void f(uint32_t n, uint32_t *restrict a) { for (uint32_t i = 0; i < n; i++) a[i] = i * 2654435761u; }",
        "f(n, (void *)A)",
    ),
    (
        (
            "void f(int n) { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) "
            "ga[(size_t)i][(size_t)j] = B[(size_t)i]; }"
        ),
        "",
    ),
    ("void f(int n) { for (int i = 0; i < E; i++) for (int j = 0; j < E; j++) g3[i][j] = g4[j][i] + F; }", ""),
    ("void f(int n) { for (color c = RED; c < COLORS; c++) hist[c] = c * 2; }", ""),
    ("void f(int n) { for (enum color c = RED; c < COLORS; c++) hist[c] += (c + 1) * n; }", ""),
    (
        (
            "void f(int n, unsigned char *restrict a, const unsigned char *restrict b) { "
            "for (int i = 0; i < n; i++) a[i] = 255 - b[i]; }"
        ),
        "f(n, (void *)A, (void *)B)",
    ),
    ("void f(int n) { for (int i = 0; i < n; i++) L[i] = L[i] * 2.0L + 1; }", ""),
    (
        (
            "void f(int n, double complex *restrict a, const double complex *restrict b) { "
            "for (int i = 0; i < n; i++) a[i] = a[i] * b[i]; }"
        ),
        "f(n, (void *)A, (void *)B)",
    ),
    ("void f(int n, bool *restrict a) { for (int i = 0; i < n; i++) a[i] = B[i] > 1; }", "f(n, (void *)A)"),
    ("void f(int n, particle *restrict p) { for (int i = 0; i < n; i++) p[i].x += 0.5 * p[i].y; }", "f(n, ps)"),
    (
        (
            "void f(int n, particle *restrict p) { for (int i = 0; i < n; i++)"
            " for (int k = 0; k < 4; k++) p[i].v[k] = k + i; }"
        ),
        "f(n, ps)",
    ),
    (
        (
            "void f(int n, particle *p) { for (int i = 1; i < n; i++) {"
            " p[i].inner.x = p[i - 1].x; p[i].x = p[i].inner.x + p->y; } }"
        ),
        "f(n, ps)",
    ),
    (
        "void f(int n, vec *p, const vec *q) { for (int i = 0; i < n; i++) { p[i].x += q[i].x; p[i].y -= q[i].x; } }",
        "f(n, (vec *)A, (vec *)B)",
    ),
    (
        "void f(int n, vec *p, const vec *q) { for (int i = 0; i < n; i++) { p[i].x += q[i].x; p[i].y -= q[i].x; } }",
        "f(n, (vec *)A + 1, (vec *)A)",
    ),
    (
        (
            "void f(int n, vec *p) { for (int i = 0; i < n; i++) {"
            " vec d; d.x = p[i].x; d.y = p[i].y; p[i].z = d.x * d.y; } }"
        ),
        "f(n, (vec *)A)",
    ),
    (
        (
            "void f(int n, vec *restrict p, const vec *restrict q) {"
            " for (int i = 0; i < n; i++) { p[i] = q[n - i]; p[i].x = i; } }"
        ),
        "f(n, (vec *)A, (vec *)B)",
    ),
    (
        "void f(grid *s) { for (int i = 0; i < s->n; i++) for (int j = 0; j < s->n; j++) s->a[i][j] = i + s->b[j]; }",
        "f(&G)",
    ),
    ("void f(int n) { for (int i = 0; i < G.n; i++) for (int j = 0; j < G.m; j++) G.a[i][j] += G.b[j]; }", ""),
    ("void f(grid *s) { for (int i = 0; i < 40; i++) (*s).b[i] = i * 3; }", "f(&G)"),
    ("void f(grid *s) { for (int i = 0; i < 30; i++) s->data[i] = s->b[i] * 2; }", "f(&G)"),
    ("void f(grid *s) { for (int i = 0; i < 30; i++) s->sum += s->b[i]; }", "f(&G)"),
    ("void f(grid *s) { for (int i = 0; i < 20; i++) s->cells[i].x = s->cells[i].y + s->n; }", "f(&G)"),
    (
        "void f(int n, grid *s) { for (int i = 0; i < n; i++) for (int j = 0; j < s->n; j++) ga[i][j] = s->data[j]; }",
        "f(n, n ? &G : 0)",
    ),
    ("void f(int *a, grid *s) { for (int i = 0; i < s->n; i++) a[i] = i + 5; }", "f(&G.n, &G)"),
    (
        "void f(int n, word *restrict p) { for (int i = 0; i < n; i++) { p[i].f = i; p[i].u ^= 0x80000000u; } }",
        "f(n, (void *)A)",
    ),
    (
        (
            "void f(int n, bits *restrict p) { for (int i = 0; i < n; i++) {"
            " p[i].lo = i & 7; p[i].hi = i & 3; p[i].w = i; } }"
        ),
        "f(n, (void *)A)",
    ),
    (
        "void f(int n, double (*a)[n]) { for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) a[i][j] += 1; }",
        "f(n, (void *)A)",
    ),
    ("void f(row *a) { for (int i = 0; i < 40; i++) for (int j = 0; j < 40; j++) a[i][j] += 1; }", "f((void *)A)"),
    (
        (
            "void f(size_t r, size_t c, double (*restrict m)[c]) { for (size_t i = 0; i < r; i++)"
            " for (size_t j = i; j < c; j++) m[i][j] *= 2; }"
        ),
        "f(n, n + 1, (void *)A)",
    ),
    (
        (
            "void f(size_t n, row *a) { for (size_t k = 0; k < n; k++)"
            " for (size_t i = k + 1; i < n; i++) a[i][k] -= a[k][k] * a[k][i]; }"
        ),
        "f(n, (void *)A)",
    ),
    (
        (
            "void f(int n) { static double acc[40]; for (int i = 0; i < n; i++) acc[i] = acc[i] + i;"
            " for (int i = 0; i < n; i++) g1[i] += acc[i]; }"
        ),
        "",
    ),
    (
        (
            "void f(int n) { for (size_t i = 0; i < sizeof(g3) / sizeof(g3[0]); i++)"
            " for (int j = 0; j < sizeof g3[0] / sizeof *g3[0]; j++) g3[i][j] = i; }"
        ),
        "",
    ),
    ("void f(int n) { for (unsigned i = 0; i < N; i++) g1[i] = i; for (size_t i = 0; i < BIG; i++) g1[i] *= 2; }", ""),
    ("void f(int n) { for (int i = 0; i < M; i++) for (int j = 0; j < M - 1; j++) g3[i][j] = g3[i][j + 1] + 1; }", ""),
]

DRIVER = r"""
#include <stdio.h>
double A[8192], B[8192], g1[200], g3[40][40], g4[40][40], ga[100][100], data[200];
long double L[400];
particle ps[100];
vec cells[50];
grid G;
int hist[100];
static void fill(void) {
  for (int i = 0; i < 8192; i++) { A[i] = (i * 7 + 3) % 97; B[i] = (i * 5 + 1) % 89; }
  memset(L, 0, sizeof L);
  for (int i = 0; i < 400; i++) L[i] = i;
  for (int i = 0; i < 200; i++) { g1[i] = i; data[i] = i % 9; }
  for (int i = 0; i < 40; i++) for (int j = 0; j < 40; j++) { g3[i][j] = i * j % 17; g4[i][j] = (i + 2 * j) % 13; }
  memset(ga, 0, sizeof ga); memset(ps, 0, sizeof ps); memset(hist, 0, sizeof hist);
  memset(&G, 0, sizeof G); memset(cells, 0, sizeof cells);
  for (int i = 0; i < 100; i++) { ps[i].x = i; ps[i].y = i % 5; }
  for (int i = 0; i < 50; i++) cells[i].y = i;
  G.n = 30; G.m = 20; G.data = data; G.cells = cells;
  for (int i = 0; i < 40; i++) G.b[i] = i % 7;
}
static unsigned long hash;
static void mix(const void *p, size_t n) {
  const unsigned char *c = p;
  for (size_t i = 0; i < n; i++) hash = (hash ^ c[i]) * 1099511628211ul;
}
static void show(int number) {
  hash = 14695981039346656037ul;
  mix(A, sizeof A); mix(B, sizeof B); mix(L, sizeof L);
  mix(g1, sizeof g1); mix(g3, sizeof g3); mix(ga, sizeof ga); mix(data, sizeof data);
  mix(ps, sizeof ps); mix(cells, sizeof cells); mix(hist, sizeof hist); mix(&G, offsetof(grid, data));
  printf("%d %016lx\n", number, hash);
}
"""


def source() -> str:
    functions = "".join(re.sub(r"\bf\(", f"f{k}(", text, count=1) + "\n" for k, (text, _) in enumerate(PROGRAMS))
    return f"{HEAD}extern double A[8192], B[8192];\nextern long double L[400];\n{functions}"


def driver() -> str:
    calls = "".join(
        f"  fill(); {re.sub(r'^f', f'f{k}', call or 'f(n)')}; show({k});\n" for k, (_, call) in enumerate(PROGRAMS)
    )
    return f"{DRIVER}int main(void) {{\n  for (int n = 0; n < 40; n = 2 * n + 1) {{\n{calls}  }}\n  return 0;\n}}\n"


@pytest.fixture(scope="module")
def transformed() -> Result:
    return optimize(source(), Options(autodetect=True, eager=True, verify="full"), file="types.c")


Outputs = Callable[..., str]


@pytest.fixture
def output_of(compile_c: Callable[..., Path], tmp_path: Path) -> Outputs:
    def run(text: str, name: str, *flags: str) -> str:
        program = compile_c(text + driver(), "-O1", "-w", "-ffp-contract=off", *flags, "-lm", name=name)
        return subprocess.run(
            [str(program)], check=True, capture_output=True, text=True, env={"OMP_NUM_THREADS": "3"}
        ).stdout

    return run


def test_results_are_the_same(transformed: Result, output_of: Outputs) -> None:
    emitted = re.sub(r"( if\((?:parallel: )?.*?\))(?= (?:private|schedule|reduction))", "", transformed.text.decode())
    expected = output_of(source(), "original").splitlines()
    found = output_of(emitted, "emitted", "-fopenmp").splitlines()
    assert len(expected) == 6 * len(PROGRAMS)
    wrong = sorted({int(a.split()[0]) for a, b in zip(expected, found, strict=True) if a != b})
    assert not wrong, [PROGRAMS[k][0] for k in wrong]


def test_all_are_transformed(transformed: Result) -> None:
    assert not [remark for remark in transformed.remarks if remark.id.startswith("internal.")]
    assert [str(remark) for remark in transformed.remarks if remark.kind == "missed"] == []


def test_the_same_with_another_value_of_a_macro(transformed: Result, output_of: Outputs) -> None:
    emitted = (
        transformed.text.decode()
        .replace("#define N 100u", "#define N 57u")
        .replace("#define M (10 * 4)", "#define M (10 * 3)")
    )
    original = source().replace("#define N 100u", "#define N 57u").replace("#define M (10 * 4)", "#define M (10 * 3)")
    assert output_of(original, "original") == output_of(emitted, "emitted", "-fopenmp")
