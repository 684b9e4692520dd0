"""Calls of functions of several statements: what stands in them is what they compute."""

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
#define STEP 3
#define N 40
typedef struct { int w, h; float *d; long ups, downs; } image;
typedef struct { double v[4]; int kind; } point;
typedef struct { double x, y; } pair;
typedef struct { long sum; int low; } group;
static group groups[8];
static image one;
static point ps[N], qs[N];
static float f[N][N], g[N][N];
static double d[N * N], e[N * N];
static int k[N * N], m[N];
static double gain = 0.75;
static float *rows[N];
static unsigned char cs[N];
static const double weights[4] = {1, 0.5, 2, 0.25};

static void update(image *a, int x, int y, float v)
{
    int p = y * a->w + x;
    float old = a->d[p];
    a->d[p] = old + v;
    if (v > old) a->ups++;
    else if (v < 0) a->downs += 1;
}
static double distance(const double *a, const double *b)
{
    double s = 0;
    for (int i = 0; i < 4; i++) { double t = a[i] - b[i]; s += t * t * weights[i]; }
    return s;
}
static double clipped(const double *p, int i, double low)
{
    double x = p[i];
    if (x < low) return low;
    if (x > 5) { x = sqrt(x); return x * gain; }
    else x -= 1;
    return x;
}
static float smaller(float x, const double *p, int i)
{
    x = x < 0 ? -x : x;
    if (p[i] < x) return p[i];
    return x;
}
static void soft(float *x, int n)
{
    float most = x[0], sum = 0;
    for (int i = 1; i < n; i++) if (x[i] > most) most = x[i];
    for (int i = 0; i < n; i++) { x[i] = x[i] - most; sum += x[i]; }
    for (int i = 0; i < n; i++) x[i] /= sum - STEP;
}
static void transform(double in[4][4], double out[4][4])
{
    double tmp[4][4];
    for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) {
        double s = 0;
        for (int l = 0; l < 4; l++) s += in[i][l] * weights[l];
        tmp[i][j] = s + in[j][i];
    }
    for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) out[i][j] = tmp[j][i] * 2;
}
static double twice(const double *p, const double *q, int i)
{
    double a = distance(p, q);
    return a + i + distance(q, p);
}
static void counted(int i, int step) { int v = m[i]; v += step; m[i] = v; if (v > 9) return; m[i] += 2; }
static double length(pair p) { double a = p.x * p.x; a += p.y * p.y; return sqrt(a); }
static void counted_in(group *g, int v) { long w = v * 3L; g->sum += w; if (v < g->low) g->low = v; }
static double weighed(const double *p, int i)
{
    static const double by = 0.5 * 3;
    double a = p[i] * by;
    return a > 1 ? a : -a;
}
static double zeroed(const double *p, int i)
{
    double a[6][7] = {{0}}, s = 0;
    for (int j = 0; j < 6; j++) a[j][j] = p[i];
    for (int j = 0; j < 6; j++) for (int l = 0; l < 7; l++) s += a[j][l] - 1;
    return s;
}
static double searched(const double *p, int n) { int i = 0; while (i < n && p[i] < 3) i++; return i; }
static int first(const double *p, int n) { for (int i = 0; i < n; i++) if (p[i] > 3) return i; return n; }
static double deep(const double *p, int i) { double a = p[i]; if (i > 0) a += deep(p, i - 1); return a; }
static void stepped(const float *p, double *q, int n) { for (int i = 0; i < n; i++) *q++ = *p++; }
static int counting(double x) { static int n; n += x > 2; return n; }
static double rescaled(double *p, double by) { double a = p[0]; p[0] = a * by; p[1] = a * by; return a; }
static void moved(image *a, float *p) { a->d = p; a->d[0] = 1; }
static double named(const double *p, int i) { double a = p[i]; return a * gain; }
static double taken(const double *q, double x) { double *p = &x; return *p + q[0]; }
static void exchanged(float **p, float *x, int n) { float *t = p[0]; p[0] = p[1]; p[1] = t; x[n] += 1; }
static void bytes(unsigned char *c, float *x, int n) { for (int i = 0; i < n; i++) { c[i] = 0; x[i] += 1; } }
static double sized(const double *p) { double a = sizeof p; return a + p[0]; }
"""
CASES = {
    "update": "for (int y = 0; y < n; y++) for (int x = 0; x < n; x++) update(&one, x, y, e[x] - 1.5);",
    "nearest": "for (int i = 0; i < n; i++) { int at = 0; double low = 1e9; for (int j = 0; j < n; j++) {"
    " double a = distance(ps[i].v, qs[j].v); if (a < low) { low = a; at = j; } } ps[i].kind = at; }",
    "early returns": "for (int i = 0; i < n; i++) d[i] = 2 * clipped(e, i, 0.5) + clipped(e + 3, i, d[i]);",
    "changed parameter": "for (int i = 0; i < n; i++) f[1][i] = smaller(g[1][i], e, i);",
    "rows": "for (int i = 0; i < n; i++) soft(f[i], n);",
    "rows by pointers": "for (int i = 0; i < n; i++) soft(fr[i], n);",
    "blocks": "for (int b = 0; b < n; b++) { double a[4][4], c[4][4];"
    " for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) a[i][j] = e[b * 16 + i * 4 + j]; transform(a, c);"
    " for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) d[b * 16 + i * 4 + j] = c[i][j]; }",
    "functions in functions": "for (int i = 0; i < n; i++) d[i] += twice(ps[i].v, qs[(i + 3) % N].v, i);",
    "same names": "for (int i = 0; i < n; i++) { double s = e[i], t = s + 1; d[i] = distance(ps[i].v, qs[i].v) + t; }",
    "leaves": "for (int i = 0; i < n; i++) counted(i, k[i] + 1);",
    "conditions": "for (int i = 0; i < n; i++) if (clipped(e, i, 1.5) > 2) d[i] = i; else d[i] -= 1;",
    "twice the same cells": "for (int i = 0; i + 1 < n; i++) { double a; a = rescaled(&d[i], 0.5); d[i] += a; }",
    "elements": "for (int i = 0; i < n; i++) counted_in(&groups[k[i] % 7], k[i + 1]);",
    "constants": "for (int i = 0; i < n; i++) d[i] += weighed(e, i);",
    "zeros": "for (int i = 0; i < n; i++) d[i] -= zeroed(e, i);",
    "searches": "for (int i = 0; i < n; i++) k[i] = searched(e + i, n - i);",
    "left loops": "for (int i = 0; i < n; i++) k[i] = first(e, i);",
}
STAY = {
    "deep": "for (int i = 0; i < n; i++) d[i] = deep(e, i);",
    "stepped": "for (int i = 0; i < n; i++) stepped(f[i], d + i * N, n);",
    "static": "for (int i = 0; i < n; i++) k[i] = counting(e[i]);",
    "not always": "for (int i = 0; i < n; i++) d[i] = i > 3 && clipped(e, i, 1.5) > 2;",
    "writes in sums": "for (int i = 0; i + 1 < n; i++) k[i] = rescaled(&d[i], 0.5) + d[i];",
    "moved": "for (int i = 0; i < n; i++) moved(&one, f[i]);",
    "hidden": "double gain = 3; for (int i = 0; i < n; i++) d[i] = named(e, i) + gain;",
    "effect": "for (int i = 0; i < n; i++) d[i] = named(e, k[i]++ % 9);",
    "taken": "for (int i = 0; i < n; i++) d[i] = taken(e, e[i]);",
    "exchanged rows": "for (int i = 0; i < n; i++) exchanged(fr, fr[0], i);",
    "bytes": "for (int i = 0; i < n; i++) bytes(cs, fr[i], n);",
    "sized": "for (int i = 0; i < n; i++) d[i] = sized(e);",
    "loaded": "for (int i = 0; i < n; i++) soft(&one.d[m[i]], n);",
}
AFTER = """int main(void) {
  one.d = g[0]; one.w = one.h = N;
  for (int i = 0; i < N; i++) rows[i] = f[N - 1 - i];
  for (int i = 0; i < N; i++) for (int j = 0; j < 4; j++) ps[i].v[j] = i * j % 7, qs[i].v[j] = (i + 3 * j) % 11;
  for (int i = 0; i < N * N; i++) {
    f[i / N][i % N] = i % 13 - 5.3f; g[i / N][i % N] = i % 7 / 3.0f; d[i] = i % 11; e[i] = i % 17 / 2.0; k[i] = i % 19;
  }
  for (int n = 0; n < N; n += 13) { CALLS }
  double s = 0;
  for (int i = 0; i < N * N; i++) s = s * 0.99 + f[i / N][i % N] + g[i / N][i % N] * 7 + d[i] * 3 + e[i] * 5 + k[i];
  for (int i = 0; i < N; i++) s = s * 0.99 + ps[i].kind + m[i];
  for (int i = 0; i < 8; i++) s = s * 0.99 + groups[i].sum + groups[i].low;
  printf("%a %ld %ld\\n", s, one.ups, one.downs);
}
"""


def source_of(bodies: dict[str, str]) -> str:
    functions = (
        f"static void run{number}(int n, float **fr) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
        for number, body in enumerate(bodies.values())
    )
    calls = " ".join(f"run{number}(n, rows);" for number in range(len(bodies)))
    return BEFORE + "".join(functions) + AFTER.replace("CALLS", calls)


def test_every_bit_is_the_same(run_c: RunC, tmp_path: Path) -> None:
    source = source_of(CASES)
    result = optimize(source.encode(), Options(eager=True), file=str(tmp_path / "in.c"))
    assert {remark.id for remark in result.remarks if remark.kind == "missed"} <= {"reduction.in-order"}
    text = result.text.decode()
    assert "#if (STEP) == 3" in text  # a macro that only a function names
    assert run_c(without_thresholds(text), *FLAGS, name="emitted") == run_c(source, *FLAGS, name="original")


@pytest.mark.parametrize("body", STAY.values(), ids=STAY)
def test_calls_with_more_effects_stay(body: str) -> None:
    result = optimize(source_of({"one": body}).encode(), Options(eager=True), file="in.c")
    assert "run0" not in {one.function for one in result.remarks if one.id == "region.transformed"}
