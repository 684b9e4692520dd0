"""Members of structures that lie in rows of one dimension, by every mechanism."""

from __future__ import annotations

import re

import pytest

from scopt.options import Options
from tests.conftest import RunC
from tests.sources import optimize

HEAD = """#include <stdio.h>
typedef struct { unsigned char r, g, b; } rgb;
typedef struct { double re, im; } number;
typedef struct { int score, gap; } cell;
typedef struct { double at; float f[9]; struct { int x[2]; } in; } node;
enum { H = 70, W = 90 };
static rgb in[H * W], out[H * W];
static number A[W * W], B[W * W], C[W * W];
static cell t[H * W];
static node nodes[H * W], others[H * W];
static int rows[H], u[H], v[W];
static double sums[W];
"""
LOOPS = "for (int y = 1; y < h - 1; y++) for (int x = 1; x < w - 1; x++)"
BODIES = {
    "copies": f"{LOOPS} {{ int p = y * w + x; out[p].r = in[p].g; out[p].g = in[p - w].b + 1; out[p].b = y; }}",
    "sweeps": f"{LOOPS} in[y * w + x].r = (in[y * w + x - 1].r + in[(y - 1) * w + x].r + in[y * w + x + 1].g) / 3;",
    "sums of rows": "for (int y = 0; y < h; y++) { int s = 0; "
    "for (int x = 0; x < w; x++) s = s / 2 + in[y * w + x].r * in[y * w + x].g; rows[y] = s; }",
    "sums of columns": "for (int x = 0; x < w; x++) { sums[x] = 0; "
    "for (int y = 0; y < h; y++) sums[x] += A[y * w + x].re * A[y * w + x].im; }",
    "products": "for (int i = 0; i < w; i++) for (int j = 0; j < w; j++) for (int k = 0; k < w; k++) {"
    " C[i * w + j].re += A[i * w + k].re * B[k * w + j].re - A[i * w + k].im * B[k * w + j].im;"
    " C[i * w + j].im += A[i * w + k].re * B[k * w + j].im + A[i * w + k].im * B[k * w + j].re; }",
    "tables": "for (int y = 1; y < h; y++) for (int x = 1; x < w; x++) { int p = y * w + x;"
    " t[p].gap = t[p - 1].gap > t[p - w].score ? t[p - 1].gap - 1 : t[p - w].score - 2;"
    " int d = t[p - w - 1].score + (u[y] == v[x] ? 3 : -1); t[p].score = d > t[p].gap ? d : t[p].gap; }",
    "streams": f"{LOOPS} {{ node *o = &others[y * w + x]; o->f[0] = nodes[y * w + x].f[0];"
    " o->f[1] = nodes[y * w + x - 1].f[1]; o->f[5] = nodes[(y - 1) * w + x + 1].f[5] + nodes[y * w + x].at; }",
    "relaxes": f"{LOOPS} {{ float s = 0; for (int k = 0; k < 9; k++) s += nodes[y * w + x].f[k];"
    " for (int k = 0; k < 9; k++) nodes[y * w + x].f[k] += (s / 9 - nodes[y * w + x].f[k]) / 2;"
    " nodes[y * w + x - w].in.x[1] += nodes[y * w + x].in.x[0] + y; }",
    "steps": "for (int s = 0; s < 9; s++)"
    f" {{ {LOOPS} B[y * w + x].re = (A[y * w + x - 1].re + A[y * w + x + 1].re + A[y * w + x - w].re) / 3;"
    f" {LOOPS} A[y * w + x].re = B[y * w + x].re; }}",
}
MAIN = """int main(void) {
  for (int i = 0; i < H * W; i++) in[i].r = i * 7, in[i].g = i * 5 % 91, in[i].b = i % 13, t[i].score = i % 3;
  for (int i = 0; i < W * W; i++) A[i].re = i % 7, A[i].im = i % 5, B[i].re = i % 3, B[i].im = i % 11;
  for (int i = 0; i < H * W; i++) {
    nodes[i].at = i % 5; nodes[i].in.x[0] = i % 23;
    for (int k = 0; k < 9; k++) nodes[i].f[k] = (i * 3 + k) % 17;
  }
  for (int i = 0; i < H; i++) u[i] = i * i % 4;
  for (int i = 0; i < W; i++) v[i] = i * 3 % 4;
  f(H, W);
  unsigned long s = 0;
  for (int i = 0; i < H * W; i++)
    s = s * 31 + in[i].r + 3 * out[i].r + 5 * out[i].g + 7 * out[i].b + t[i].score + 9 * t[i].gap;
  for (int i = 0; i < W * W; i++) s = s * 31 + (long)(A[i].re * 16 + B[i].re * 8 + C[i].re + 3 * C[i].im);
  for (int i = 0; i < H * W; i++)
    for (int k = 0; k < 9; k++)
      s = s * 31 + (long)(nodes[i].f[k] * 64 + others[i].f[k] * 8) + nodes[i].in.x[1];
  for (int i = 0; i < H; i++) s = s * 31 + rows[i];
  for (int i = 0; i < W; i++) s = s * 31 + (long)sums[i];
  printf("%lu\\n", s);
}
"""


@pytest.mark.parametrize("what", BODIES)
def test_results_stay(what: str, run_c: RunC) -> None:
    source = f"{HEAD}\nvoid f(int h, int w) {{\n#pragma scop\n{BODIES[what]}\n#pragma endscop\n}}\n{MAIN}"
    result = optimize(source.encode(), Options())
    assert "region.transformed" in {remark.id for remark in result.remarks}
    assert not {remark.id for remark in result.remarks} & {"schedule.simplified", "internal.error"}
    text = re.sub(r"> \d{2,}\b", "> 0", result.text.decode())  # as if there were enough to do
    assert run_c(text, "-O2", "-fopenmp", name="made") == run_c(source, "-O2", name="plain")
