"""Loops through all of an array whose rows other loops go through."""

from __future__ import annotations

from collections.abc import Callable

from scopt.options import Options
from tests.sources import optimize

SOURCE = """#include <stdio.h>
void mean(int n, int h, int w, const float *restrict src, float *restrict acc, float *restrict dst) {
  for (int i = 0; i < w * h; i++) acc[i] = 0.5f;
  for (int k = 0; k < n; k++)
    for (int y = 0; y < h; y++)
      for (int x = 1; x < w - 1; x++)
        acc[y * w + x] += src[(k * h + y) * w + x - 1] + src[(k * h + y) * w + x + 1];
  for (long i = 0; i < (long)h * w; i++) dst[i] = acc[i] / n;
}
int main(void) {
  static float src[3000], acc[1000], dst[1000];
  for (int i = 0; i < 3000; i++) src[i] = (i * 7 % 31) * 0.3f;
  for (int h = 0; h < 12; h += 5)
    for (int w = 0; w < 20; w += 3) mean(3, h, w, src, acc, dst);
  mean(3, -2, -9, src, acc, dst);
  for (int i = 0; i < 1000; i++) printf("%a %a ", acc[i], dst[i]);
  return 0;
}
"""


def test_results_are_the_same(run_c: Callable[..., str]) -> None:
    text = optimize(SOURCE, Options(eager=True, autodetect=True)).text.decode()
    assert "row_1" in text
    assert "w >= 0" in text
    assert run_c(text, "-O1", "-ffp-contract=off", name="after") == run_c(SOURCE, "-O1", "-ffp-contract=off", name="b")


CONVERTED = """#include <stdio.h>
static double a[10000], b[10000], c[10000], d[10000];
void fill(double x, int w, int big, unsigned u) {
  for (int i = 0; i < (int)x * w; i++) a[i] += 1;
  for (int i = 0; i < (unsigned char)big * w; i++) b[i] += 3;
  for (int i = 0; i < x * w; i++) c[i] += 2;
  for (int i = 0; i < u * w; i++) d[i] += 5;
  for (int y = 0; y < big; y++)
    for (int x = 0; x < w; x++) b[y * w + x] = a[y * w + x] * 2 + b[y * w + x] + c[y * w + x] + d[y * w + x];
}
int main(void) {
  fill(2.5, 10, 300, (1u << 30) * 2 + 3);
  for (int i = 0; i < 10000; i++) printf("%g ", b[i]);
  return 0;
}
"""


def test_products_that_arent_those_of_the_numbers_stay(run_c: Callable[..., str]) -> None:
    text = optimize(CONVERTED, Options(eager=True, autodetect=True)).text.decode()
    assert run_c(text, "-O1", name="after") == run_c(CONVERTED, "-O1", name="b")


PLANES = """#include <stdio.h>
static double v[5000], c[100], s;
void fold(int o, int n) {
#pragma scop
  for (int k = 0; k < o * n; k++)
    for (int j = 0; j < o; j++)
      for (int b = 0; b < n; b++) v[((long)k * o + j) * n + b] = c[j] * b + k;
  for (int i = 0; i < o; i++)
    for (int a = 0; a < n; a++)
      for (int j = 0; j < o; j++)
        for (int b = 0; b < n; b++)
          s += v[(((long)i * n + a) * o + j) * n + b] * (2 - v[(((long)i * n + b) * o + j) * n + a]);
#pragma endscop
}
int main(void) {
  for (int i = 0; i < 100; i++) c[i] = (i * 7 % 31) * 0.3;
  for (int o = -1; o < 9; o += 2)
    for (int n = 0; n < 9; n += 3) fold(o, n), printf("%a ", s);
  for (int i = 0; i < 5000; i++) printf("%a ", v[i]);
  return 0;
}
"""


def test_loops_through_all_planes_go_through_them_one_by_one(run_c: Callable[..., str]) -> None:
    text = optimize(PLANES, Options(eager=True)).text.decode()
    assert "row_1" in text
    assert "o_n" not in text
    assert run_c(text, "-O1", "-ffp-contract=off", name="after") == run_c(PLANES, "-O1", "-ffp-contract=off", name="b")
