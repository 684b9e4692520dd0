"""Subscripts with unsigned operands that don't wrap, in strips, whose statements don't say what they touch."""

from __future__ import annotations

from scopt.options import Options
from tests.sources import optimize

SOURCE = """#include <stddef.h>
void lags(const float *restrict x, float *restrict r, size_t m) {
#pragma scop
  for (size_t o = 0; o + 1424 <= m; o += 256)
    for (int lag = 0; lag <= 400; lag++) {
      float s = 0;
      for (int i = 0; i < 1024; i++) s += x[o + (i + lag)] * x[o + i];
      r[lag] += s;
    }
#pragma endscop
}
"""


def test_strips_have_sums() -> None:
    made = optimize(SOURCE.encode(), Options()).text.decode()
    assert "s_rows[lag - lagt] += x[i + lag + o] *" in made
    assert "(int)lag" not in made
