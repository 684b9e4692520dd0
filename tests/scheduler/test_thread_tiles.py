"""Tiles on diagonals are small enough for all threads where there are few."""

from __future__ import annotations

import re

from tests.sources import optimize, source_of

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


# All splits alone: there is little to do for what comes to the cores.
FEW = """
  for (int len = 2; len <= n; len++)
    for (int i = 0; i <= n - len; i++)
      for (int k = i; k < i + len - 1; k++)
        for (int b = 0; b < 2; b++)
          if (c[i][k][b] + c[k + 1][i + len - 1][b] < c[i][i + len - 1][0])
            c[i][i + len - 1][0] = c[i][k][b] + c[k + 1][i + len - 1][b];
"""
# All rules, which data name: one thread gains nothing by another order.
RULES = """
  for (int len = 2; len <= n; len++)
    for (int i = 0; i <= n - len; i++)
      for (int k = i; k < i + len - 1; k++)
        for (int r = 0; r < m; r++)
          if (c[i][k][b[r]] + c[k + 1][i + len - 1][d[r]] < c[i][i + len - 1][a[r]]) {
            c[i][i + len - 1][a[r]] = c[i][k][b[r]] + c[k + 1][i + len - 1][d[r]];
            at[i][i + len - 1][a[r]] = k;
          }
"""


def tiles(size: int) -> set[str]:
    """What the bounds of loops are divided by."""
    text = optimize(source_of(FEW, f"int n, int c[{size}][{size}][2]")).text.decode()
    assert "#pragma omp parallel for" in text
    return set(re.findall(r"n / (\d+)", text))


def test_the_fewer_intervals_the_smaller_tiles() -> None:
    assert tiles(100) == {"16"}
    assert tiles(600) == {"32"}


def test_threads_share_intervals_of_one_length_where_caches_have_all_others() -> None:
    text = optimize(source_of(SPLITS, "int n, int c[72][72][12], int w[12][12][12]")).text.decode()
    assert re.search(r"for \(long len = 2;.*\n.*\n *#pragma omp parallel for .*\n *for \(long is = len; is <= n;", text)


def test_one_thread_has_the_original_where_it_gains_nothing() -> None:
    params = "int n, int m, int c[72][72][12], int at[72][72][12], int a[240], int b[240], int d[240]"
    made = optimize(source_of(RULES, params)).text.decode().partition("#pragma scop")[2]
    assert "scopt_threads() > 1" in made.partition("for (long len")[0]
    assert "for (int len = 2;" in made
