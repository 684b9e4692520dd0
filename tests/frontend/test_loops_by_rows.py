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


PIXELS = """#include <stdio.h>
void scale(int h, int w, int c, const float *restrict in, float *restrict mid, float *restrict out, const float *gain) {
#pragma scop
  for (int y = 1; y < h - 1; y++)
    for (int x = 1; x < w - 1; x++)
      for (int k = 0; k < c; k++)
        mid[(y * w + x) * c + k] = in[((y - 1) * w + x) * c + k] + in[(y * w + x - 1) * c + k];
  for (int p = 0; p < h * w; p++)
    for (int k = 0; k < c; k++)
      out[p * c + k] = mid[p * c + k] * gain[k] / (h * w);
#pragma endscop
}
void energy(int nz, int ny, int nx, const double *restrict p, double *restrict ex, double *restrict e) {
  const int size = nx * ny * nz;
#pragma scop
  for (int z = 1; z < nz - 1; z++)
    for (int y = 1; y < ny - 1; y++)
      for (int x = 1; x < nx - 1; x++)
        ex[(z * ny + y) * nx + x] = p[(z * ny + y) * nx + x + 1] - p[((z - 1) * ny + y) * nx + x];
  for (int i = 0; i < size; i++)
    e[i] += ex[i] * ex[i];
#pragma endscop
}
int main(void) {
  static float in[3000], mid[3000], out[3000], gain[4] = {1, 2, 0.5f, 3};
  static double p[3000], ex[3000], e[3000];
  for (int i = 0; i < 3000; i++) in[i] = p[i] = (i * 7 % 31) * 0.3f;
  for (int h = -2; h < 16; h += 6)
    for (int w = -1; w < 20; w += 5)
      for (int c = 0; c < 5; c += 2) scale(h, w, c, in, mid, out, gain), energy(c, h, w, p, ex, e);
  for (int i = 0; i < 3000; i++) printf("%a %a %a ", out[i], mid[i], e[i]);
  return 0;
}
"""


def test_rows_of_records_and_sizes_in_variables(run_c: Callable[..., str]) -> None:
    result = optimize(PIXELS, Options(eager=True))
    text = result.text.decode()
    told = [remark.message for remark in result.remarks if remark.id == "assume.values"]
    assert sorted(one.rpartition(": ")[2] for one in told) == ["ny >= 0 and nx >= 16", "w >= 0"]
    assert run_c(text, "-O1", "-ffp-contract=off", name="after") == run_c(PIXELS, "-O1", "-ffp-contract=off", name="b")


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


CHANNELS = """#include <stdio.h>
static void halve(int h, int w, int ch, const signed char *in, signed char *mid, signed char *out) {
  for (int y = 0; y < h; y++)
    for (int x = 1; x < w; x++)
      for (int c = 0; c < ch; c++)
        mid[(y * w + x) * ch + c] = (signed char)((in[(y * w + x) * ch + c] + in[(y * w + x - 1) * ch + c]) / 2);
  for (int p = 0; p < h * w; p++)
    for (int o = 0; o < ch; o++) {
      int sum = 0;
      for (int i = 0; i < ch; i++) sum += mid[p * ch + i] * (i + o);
      out[p * ch + o] = (signed char)(sum / (h * w));
    }
  for (int i = 0; i < h * w * ch; i++) out[i] = (signed char)(out[i] / 2 + in[i] / 2);
}
int main(void) {
  static signed char in[2000], mid[2000], out[2000];
  for (int i = 0; i < 2000; i++) in[i] = (signed char)(i * 7 % 201 - 100);
  for (int h = 0; h < 7; h += 3)
    for (int w = 0; w < 9; w += 4)
      for (int c = 0; c < 20; c += 19) halve(h, w, c, in, mid, out);
  for (int i = 0; i < 2000; i++) printf("%d ", out[i]);
  return 0;
}
"""


def test_rows_of_pixels_of_channels_are_the_same_rows_everywhere(run_c: Callable[..., str]) -> None:
    """``p < h * w`` counts the pixels of rows of `w`, as ``(y * w + x) * ch`` does, and all cells go by both."""
    text = optimize(CHANNELS, Options(eager=True, autodetect=True)).text.decode()
    assert "row_1 < h;" in text
    assert "cell_1 < w;" in text
    assert "_all" not in text  # each nest knows which cells it writes
    assert "ch >= 16" in text  # a loop over all cells is none over three channels at a time
    assert run_c(text, "-O1", name="after") == run_c(CHANNELS, "-O1", name="b")


ENDING = """#include <stdio.h>
static float acc[400], dst[400];
static int at[400];
void find(int h, int w, int n, const float *restrict level) {
#pragma scop
  for (int y = 0; y < h; y++)
    for (int x = 1; x < w - 1; x++) acc[y * w + x] = dst[y * w + x - 1] + dst[y * w + x + 1];
  for (int p = 0; p < h * w; p++) {
    int k;
    for (k = 0; k < n; k++)
      if (acc[p] < level[k]) break;
    at[p] = k;
  }
#pragma endscop
}
int main(void) {
  float level[5] = {1, 2, 4, 8, 16};
  for (int i = 0; i < 400; i++) dst[i] = (i * 7 % 31) * 0.3f;
  for (int h = 0; h < 20; h += 6)
    for (int w = -1; w < 20; w += 5) find(h, w, 5, level);
  for (int i = 0; i < 400; i++) printf("%a %d ", acc[i], at[i]);
  return 0;
}
"""


def test_loops_inside_may_have_an_end_of_their_own(run_c: Callable[..., str]) -> None:
    text = optimize(ENDING, Options(eager=True)).text.decode()
    assert "row_1" in text
    assert run_c(text, "-O1", name="after") == run_c(ENDING, "-O1", name="b")
