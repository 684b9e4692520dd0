"""Loops over pixels and their channels as one loop over the numbers of a row."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from scopt.options import Options
from tests.sources import optimize

FILTERS = """#include <stdio.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
struct image { int width, height, channels, stride; uint8_t *data; };
static inline uint8_t *row(const struct image *im, int y) { return im->data + (size_t)y * im->stride; }
static inline int clampi(int v, int lo, int hi) { return v < lo ? lo : v > hi ? hi : v; }
void invert(struct image *d, const struct image *s) {
  for (int y = 0; y < s->height; y++)
    for (int x = 0; x < s->width; x++)
      for (int c = 0; c < s->channels; c++)
        row(d, y)[x * s->channels + c] = (uint8_t)(255 - row(s, y)[x * s->channels + c]);
}
void blur(struct image *dst, const struct image *src, const int32_t *taps, int r) {
  int w = src->width, h = src->height, n = src->channels;
  for (int y = 0; y < h; y++) {
    const uint8_t *s = row(src, y);
    uint8_t *d = row(dst, y);
    for (int x = 0; x < w; x++)
      for (int c = 0; c < n; c++) {
        int32_t acc = 0;
        if (x >= r && x + r < w) {
          for (int k = -r; k <= r; k++) acc += taps[k + r] * s[(x + k) * n + c];
        } else {
          for (int k = -r; k <= r; k++) acc += taps[k + r] * s[clampi(x + k, 0, w - 1) * n + c];
        }
        d[x * n + c] = (uint8_t)(acc >> 6);
      }
  }
}
static int conv(const struct image *im, int x, int y, int c, const int k[9]) {
  int s = 0;
  for (int dy = -1; dy <= 1; dy++) {
    const uint8_t *p = row(im, clampi(y + dy, 0, im->height - 1));
    for (int dx = -1; dx <= 1; dx++)
      s += k[3 * (dy + 1) + dx + 1] * p[clampi(x + dx, 0, im->width - 1) * im->channels + c];
  }
  return s;
}
void emboss(struct image *d, const struct image *s) {
  static const int k[9] = { -2, -1, 0, -1, 1, 1, 0, 1, 2 };
  for (int y = 0; y < s->height; y++)
    for (int x = 0; x < s->width; x++)
      for (int c = 0; c < s->channels; c++)
        row(d, y)[x * s->channels + c] = (uint8_t)clampi(conv(s, x, y, c, k), 0, 255);
}
"""
MAIN = """
static uint8_t in[4000], out[4000];
static void print(void) {
  unsigned long sum = 0;
  for (int i = 0; i < 4000; i++) sum = sum * 31 + out[i];
  printf("%lx\\n", sum);
}
int main(void) {
  int32_t taps[33];
  for (int i = 0; i < 4000; i++) in[i] = (uint8_t)(i * 37 % 251 + i / 5);
  for (int i = 0; i < 33; i++) taps[i] = i % 5 + 1;
  for (int w = -1; w < 45; w += w < 4 ? 1 : 13)
    for (int n = -1; n < 5; n++)
      for (int pad = 0; pad < 4; pad += 3) {
        int size = w * n + pad;
        struct image s = { w, 9, n, size, in }, d = { w, 9, n, size, out };
        if (w < 0 && n < 0) s.stride = d.stride = 7;
        memset(out, 1, sizeof out);
        if (size < 0) continue;
        invert(&d, &s); print();
        emboss(&d, &s); print();
        for (int r = -1; r < 16; r += 4) { blur(&d, &s, taps, r < 0 ? 0 : r); print(); }
        struct image same = { w, 4, n, size, in };
        blur(&same, &same, taps, 2); print();
      }
  for (int i = 0; i < 4000; i++) printf("%d ", in[i]);
  return 0;
}
"""


@pytest.mark.parametrize("options", [Options(eager=True, autodetect=True), Options(autodetect=True)])
def test_results_are_the_same(run_c: Callable[..., str], options: Options) -> None:
    text = optimize(FILTERS, options).text.decode() + MAIN
    assert "x_c" in text
    assert "x_begin" in text
    assert run_c(text, "-O1", name="after") == run_c(FILTERS + MAIN, "-O1", name="b")


def test_rows_are_parallel_and_numbers_vectors() -> None:
    done = optimize(FILTERS, Options(autodetect=True))
    assert all(" parallel, 0 vectorizable" not in one.message for one in done.remarks)
    assert "access.unknown-cell" not in {one.id for one in done.remarks}


def loops(body: str, head: str = "int w, int n, int k, int s") -> str:
    """The text that becomes of loops over pixels."""
    source = f"""void f({head}, const int *restrict a, int *restrict b) {{
      for (int y = 0; y < 100; y++)
        for (int x = 0; x < w; x++)
          for (int c = 0; c < n; c++) {{ {body} }}
    }}"""
    return optimize(source, Options(eager=True, autodetect=True)).text.decode()


def test_sums_of_pixels_are_numbers() -> None:
    assert "x_c" in loops("b[y * s + x * n + c] = a[y * s + x * n + c];")
    assert "(long)k * n" in loops("b[y * s + x * n + c] = a[y * s + (x + k) * n + c];").replace("(int)", "")


def test_the_first_and_the_last_pixels_stand_apart() -> None:
    text = loops("b[y * s + x * n + c] = x > 0 ? a[y * s + (x - 1) * n + c] : a[y * s + x * n + c];")
    assert "x_begin" in text
    assert "n <= 16" in text
    text = loops("if (x + k < w) b[y * s + x * n + c] = a[y * s + (x + k) * n + c];")
    assert "x_end" in text


@pytest.mark.parametrize(
    "body",
    [
        "b[y * s + x * n + c] = a[y * s + x * n + c] * x;",
        "b[y * s + x * n + c] = a[c];",
        "b[y * s + x * n - c] = a[y * s + x * n + c];",
        "b[y * s + x * n + 2 * c] = a[y * s + x * n + c];",
        "b[y * s + x * k + c] = a[y * s + x * k + c];",
        "b[y * s + x * n + c] = x == k ? 1 : a[y * s + x * n + c];",
        "b[y * s + x * n + c] = x > a[y] ? 1 : a[y * s + x * n + c];",
        "b[(unsigned)(y * s + x * n) + c] = 1;",
        "b[(y * w + x) * n + c] = a[(y * w + x) * n + c];",
        "b[(y * s + x) * n + c] = 1;",
        "b[x * n + c] = a[x * n + c];",
        "b[k * s + x * n + c] = a[x * n + c];",
        "if (a[x * n + c] < 0) break; b[x * n + c] = 1;",
    ],
)
def test_what_asks_for_pixels_or_channels_stays(body: str) -> None:
    assert "x_c" not in loops(body)


def test_loops_that_pragmas_name_stay() -> None:
    source = """void f(int w, int n, const int *restrict a, int *restrict b) {
    #pragma scop
    #pragma scopt parallel(x)
      for (int x = 0; x < w; x++)
        for (int c = 0; c < n; c++) b[x * n + c] = a[x * n + c];
    #pragma endscop
    }"""
    assert "x_c" not in optimize(source, Options()).text.decode()
