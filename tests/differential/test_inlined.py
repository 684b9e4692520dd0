"""Calls of functions that lead through pointers: what stands in them is what they compute."""

from __future__ import annotations

from pathlib import Path

import pytest

from scopt.options import Options
from scopt.pipeline import optimize
from tests.conftest import RunC
from tests.differential.control import FLAGS
from tests.fuzz.harness import without_thresholds

BEFORE = """#include <math.h>
#include <stdio.h>
#include <stddef.h>
#define STEP 3
typedef struct { float *d; int w; double scale; } image;
typedef float row[40];
static double of_size(double *p, int i) { return p[i % (int)(sizeof p / sizeof *p)]; }
static float gain = 2.5f;
static image one, many[40];
static row f[40], g[40];
static double d[1600], e[1600];
static unsigned char b[1600], c[1600];
static inline float at(const image *a, long x, long y) { return a->d[y * a->w + x]; }
static inline void put(image *a, int x, int y, double v) { a->d[y * a->w + x] = v; }
static inline float lap(const image *a, int x, int y) { return at(a, x - 1, y) + at(a, x + 1, y) - 2 * at(a, x, y); }
static unsigned char more(const unsigned char *p, size_t i) { return p[i * STEP] + 250; }
static inline void add(float *restrict p, size_t i, double v) { p[i] += v * gain; }
static inline void both(const row *p, double *q, int i, int n) { q[i] = p[i][n]; }
static inline double square(double x) { return x * x; }
static inline float root(const float *p, int i) { return sqrtf(square(p[i])); }
static inline int place(int i, int j, int w) { return i * w + j; }
static inline size_t offset(int w, int i, int j) { return (size_t)i * w + (size_t)j; }
static inline unsigned short_offset(unsigned w, unsigned i, unsigned j) { return i * w + j; }
static inline float *place_of(const image *a, int x, int y) { return a->d + (ptrdiff_t)y * a->w + x; }
static inline float copied(image a, int x, int y) { return a.d[y * a.w + x]; }
static inline int held(int x, int n) { return x < 0 ? 0 : x < n ? x : n - 1; }
static inline float near(const image *a, int x, int y) {
  x = held(x, a->w);
  y = held(y, a->w);
  return a->d[y * a->w + x];
}
static inline float deep(const float *p, int i) { return i ? deep(p, i - 1) : p[0]; }
static inline int counted(unsigned char *p, int i) { return p[i]++; }
static inline float named(const float *p, int i) { return p[i] * gain; }
static inline double size(const image *a) { return a->w + a->scale; }
static inline double wide(const float *p, int i) { return p[i]; }
"""
CASES = {
    "image": "for (int y = 0; y < n; y++) for (int x = 1; x < n - 1; x++) put(&one, x, y, at(&one, x, y) + e[x]);",
    "in two steps": "for (int y = 0; y < n; y++) for (int x = 1; x < n - 1; x++) d[y * n + x] = lap(&one, x, y);",
    "narrow": "for (int i = 0; i < n; i++) c[i] = more(b, i) / 2;",
    "converted": "for (int i = 0; i < n; i++) add(f[3], i, e[i]);",
    "row": "for (int i = 0; i < n; i++) { both(f, d, i, 7); e[i] += root(f[i], i % 7); }",
    "offset": "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) d[place(i, j, n)] = e[place(j, i, n)];",
    "converted offset": "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
    " d[offset(n, i, j)] += e[offset(n, j, i)];",
    "narrow offset": "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++)"
    " d[short_offset(n, i, j)] -= e[short_offset(n, i, j)];",
    "pointer": "for (int y = 1; y < n; y++) for (int x = 0; x < n; x++)"
    " *place_of(&one, x, y) -= *place_of(&one, x, y - 1);",
    "copy": "for (int y = 0; y < n; y++) for (int x = 1; x < n - 1; x++) d[y * n + x] += copied(one, x + 1, y);",
    "held inside": "for (int y = 0; y < n; y++) for (int x = 0; x < n; x++)"
    " e[y * n + x] = near(&one, x - 1, y) - near(&one, x, y + 1);",
    "records": "for (int i = 0; i < n; i++) e[i] = size(many + i) - size(&many[i + 1]);",
    "part of an array": "for (int i = 0; i < n; i++) add(&f[i][1], 2, wide(g[i] + 3, 4));",
}
STAY = {
    "size": "for (int i = 0; i < n; i++) d[i] = of_size(e, i);",
    "deep": "for (int i = 0; i < n; i++) d[i] = deep(f[0], 3);",
    "counted": "for (int i = 0; i < n; i++) d[i] = counted(b, i);",
    "hidden": "float gain = 3; for (int i = 0; i < n; i++) d[i] = named(f[1], i) + gain;",
    "effect": "for (int i = 0; i < n; i++) d[i] = named(f[1], c[i]++ % 9);",
}
AFTER = """int main(void) {
  one.d = f[0]; one.w = 40;
  for (int i = 0; i < 40; i++) many[i].w = i * i, many[i].scale = i / 3.0;
  for (int i = 0; i < 1600; i++) {
    f[i / 40][i % 40] = i % 13 - 5.3f; g[i / 40][i % 40] = i % 7 / 3.0f; d[i] = i % 11; e[i] = i / 17.0;
    b[i] = i * 7; c[i] = i;
  }
  for (int n = 0; n < 40; n += 13) { CALLS }
  double s = 0;
  for (int i = 0; i < 1600; i++) s = s * 0.99 + f[i / 40][i % 40] + d[i] * 3 + e[i] * 5 + b[i] + 2 * c[i];
  printf("%a\\n", s);
}
"""


def source_of(bodies: dict[str, str]) -> str:
    functions = (
        f"static void run{k}(int n) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
        for k, body in enumerate(bodies.values())
    )
    calls = " ".join(f"run{k}(n);" for k in range(len(bodies)))
    return BEFORE + "".join(functions) + AFTER.replace("CALLS", calls)


def test_every_bit_is_the_same(run_c: RunC, tmp_path: Path) -> None:
    source = source_of(CASES)
    result = optimize(source.encode(), Options(eager=True), file=str(tmp_path / "in.c"))
    assert not [remark for remark in result.remarks if remark.kind == "missed"]
    text = result.text.decode()
    assert text.count("omp parallel for") >= len(CASES)
    assert "#if (STEP) == 3" in text  # a macro that only the function names
    assert run_c(without_thresholds(text), *FLAGS, name="emitted") == run_c(source, *FLAGS, name="original")


@pytest.mark.parametrize("body", STAY.values(), ids=STAY)
def test_calls_with_more_effects_stay(body: str) -> None:
    result = optimize(source_of({"one": body}).encode(), Options(eager=True), file="in.c")
    assert "call.unknown" in {remark.id for remark in result.remarks}
