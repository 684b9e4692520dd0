"""Alignments in one row, with the best score and its place: every bit as in the original, below and above the lengths
from which on rows run along diagonals, with whole tiles and parts of some."""

from __future__ import annotations

import pytest

from scopt.options import Options
from tests.conftest import EVERYTHING, RunC
from tests.fuzz.harness import without_thresholds
from tests.same_results import check_same_results
from tests.sources import optimize

PROGRAM = """#include <stdio.h>
#include <string.h>
enum { MOST = 600 };
typedef %(type)s T;
static T score[5][5], row[MOST + 1], gaps[MOST + 1];
static unsigned char a[MOST], b[MOST];
static T f(int n, int m, int *last, int *at)
{
  T best = 0;
  int rows = 0, columns = 0;
%(before)s
  for (int j = 0; j <= m; j++) { row[j] = 0; gaps[j] = -100; }
  for (int i = 1; i <= n; i++) {
    const T *own = score[a[i - 1]];
    T before = 0, gap = -100;
    for (int j = 1; j <= m; j++) {
      gaps[j] = gaps[j] - 1 > row[j] - 5 ? gaps[j] - 1 : row[j] - 5;
      gap = gap - 1 > row[j - 1] - 5 ? gap - 1 : row[j - 1] - 5;
      T here = before + own[b[j - 1]];
      here = here > 0 ? here : 0;
      here = here > gaps[j] ? here : gaps[j];
      here = here > gap ? here : gap;
      before = row[j];
      row[j] = here;
      if (here > best) { best = here; rows = i; columns = j; }
    }
  }
%(behind)s
  *last = rows;
  *at = columns;
  return best;
}
int main(void)
{
  static const int sizes[] = {0, 1, 2, 31, 32, 33, 64, 130, 257, 600};
  for (int k = 0; k < 25; k++)
    score[k / 5][k %% 5] = k / 5 == k %% 5 ? 4 : -(k %% 3) - 1;
  for (int x = 0; x < 10; x++)
    for (int y = 0; y < 10; y++) {
      int n = sizes[x], m = sizes[y], rows, columns;
      for (int k = 0; k < MOST; k++)
        b[k] = k * k %% 7 %% 5, a[k] = k %% 9 == x %% 9 ? k %% 5 : (k + 3) * (k + 3) %% 7 %% 5;
      double best = f(n, m, &rows, &columns), sum = 0;
      for (int k = 0; k <= MOST; k++)
        sum = sum * 0.875 + row[k] + 3 * gaps[k];
      printf("%%d %%d %%g %%d %%d %%.17g\\n", n, m, best, rows, columns, sum);
    }
}
"""
MARKED = {"before": "#pragma scop", "behind": "#pragma endscop"}
PLAIN = {"before": "", "behind": ""}


@pytest.mark.parametrize("ctype", ["int", "float", *(["short", "double", "long"] if EVERYTHING else [])])
@pytest.mark.parametrize("sanitized", [False, True])
def test_every_bit_is_the_same(run_c: RunC, ctype: str, sanitized: bool) -> None:
    program = PROGRAM % {"type": ctype, **MARKED}
    result = optimize(program, Options(eager=True))
    assert not [remark for remark in result.remarks if remark.id in ("internal.error", "schedule.simplified")]
    made = without_thresholds(result.text.decode())
    assert "#pragma omp simd private(here)" in made
    check_same_results(run_c, program, made, sanitized=sanitized)


def test_short_rows_are_left_alone(run_c: RunC) -> None:
    program = PROGRAM % {"type": "int", **PLAIN}
    made = optimize(program, Options(autodetect=True)).text.decode()
    assert "n > 31 && m > 31 && (double)n * m > 4095" in made
    assert "? here : best_total_all[j + n - is];" in made
    check_same_results(run_c, program, made, sanitized=False)
