"""Tiles on diagonals are small enough for all threads where there are few."""

from __future__ import annotations

import re

from scopt import optimize
from tests.sources import source_of

# All splits of all intervals, with all rules: a cell takes long.
SPLITS = """
  for (int len = 2; len <= n; len++)
    for (int i = 0; i <= n - len; i++)
      for (int k = i; k < i + len - 1; k++)
        for (int a = 0; a < 12; a++)
          for (int b = 0; b < 12; b++)
            for (int d = 0; d < 12; d++)
              if (w[a][b][d] + c[i][k][b] + c[k + 1][i + len - 1][d] < c[i][i + len - 1][a])
                c[i][i + len - 1][a] = w[a][b][d] + c[i][k][b] + c[k + 1][i + len - 1][d];
"""


def tiles(size: int) -> set[str]:
    """What the bounds of loops are divided by."""
    params = f"int n, int c[{size}][{size}][12], int w[12][12][12]"
    text = optimize(source_of(SPLITS, params)).text.decode()
    assert "#pragma omp parallel for" in text
    return set(re.findall(r"n / (\d+)", text))


def test_the_fewer_intervals_the_smaller_tiles() -> None:
    assert tiles(72) == {"4"}
    assert tiles(2000) == {"8"}
