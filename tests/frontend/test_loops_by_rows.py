"""Loops through all of an array whose rows other loops go through."""

from __future__ import annotations

from collections.abc import Callable

from scopt.options import Options
from scopt.pipeline import optimize

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
