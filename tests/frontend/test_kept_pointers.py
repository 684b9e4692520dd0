"""Memory that a function allocates and keeps to itself: no other pointer leads there."""

from __future__ import annotations

import pytest

from scopt.frontend.region.parse import parse
from scopt.frontend.syntax.pointer_values import hands_on
from scopt.options import Options
from tests.conftest import RunC
from tests.same_results import check_same_results
from tests.sources import optimize

HEADS = "#include <stdlib.h>\n#include <string.h>\ntypedef struct { int n; double *t; } curve;\nextern double *seen;\n"
FUNCTION = """double *other(double *);
void f(const curve *c, int m, int *b, double **q) {
  double *y = malloc(m * sizeof *y);
  USES
  for (int k = 0; k < c->n; k++) y[b[k]] = 2 * c->t[k];
  for (int k = 0; k < c->n; k++) seen[k] = y[k];
  free(y);
}
"""


@pytest.mark.parametrize(
    ("uses", "others"),
    [
        ("", False),
        ("if (!y) return; if (y == 0) return;", False),
        ("memset(y, 0, m); if (m) memcpy(y, seen, m);", False),
        ("y[0] = *y;", False),
        ("if (!(y = malloc(m * sizeof *y))) return;", False),
        ("if ((y = malloc(m * sizeof *y)) == 0) return; if (m) y = malloc(m * sizeof *y);", False),
        ("seen = y = malloc(m * sizeof *y);", True),
        ("other(y = malloc(m * sizeof *y));", True),
        ("seen = y;", True),
        ("seen = &y[1];", True),
        ("seen = y + 1;", True),
        ("seen = memset(y, 0, m);", True),
        ("q[0] = m ? y : 0;", True),
        ("other(y);", True),
        ("other(&*y);", True),
    ],
)
def test_what_a_function_hands_on(uses: str, others: bool) -> None:
    text = HEADS + FUNCTION.replace("USES", uses)
    tu = parse(text.encode(), "in.c", Options())
    assert hands_on(tu.functions["f"].body, "y") == others
    remarks = optimize(text.encode(), Options(autodetect=True)).remarks
    doubted = [one for one in remarks if one.id in ("alias.may-overlap", "assume.apart") and "'y'" in one.message]
    assert bool(doubted) == others


def test_tables_of_a_function_are_apart_from_what_it_reads(run_c: RunC) -> None:
    """Neighbours of points: which places of the sorted list are written only data say."""
    source = """#include <stdio.h>
    #include <stdlib.h>
    __attribute__((noinline)) float *scaled(const float *x, int n) {
      float *p = malloc(n * sizeof *p);
      for (int i = 0; i < n; i++) p[i] = 0.5f * x[i];
      return p;
    }
    __attribute__((noinline))
    void nearest(const float *train, const float *test, int nr, int nt, int nc, int k, int *found) {
      float *a = scaled(train, nr * nc), *b = scaled(test, nt * nc), *best = malloc(k * sizeof *best);
      int *who = malloc(k * sizeof *who);
      for (int i = 0; i < nt; i++) {
        for (int j = 0; j < k; j++) { best[j] = 1e30f; who[j] = -1; }
        for (int r = 0; r < nr; r++) {
          float d = 0.0f;
          for (int c = 0; c < nc; c++) d += (a[r * nc + c] - b[i * nc + c]) * (a[r * nc + c] - b[i * nc + c]);
          if (d >= best[k - 1]) continue;
          int j = k - 1;
          while (j > 0 && best[j - 1] > d) { best[j] = best[j - 1]; who[j] = who[j - 1]; j--; }
          best[j] = d;
          who[j] = r;
        }
        for (int j = 0; j < k; j++) found[i * k + j] = who[j];
      }
      free(a); free(b); free(best); free(who);
    }
    int main(void) {
      enum { R = 500, T = 40, C = 9, K = 5 };
      static float train[R * C], test[T * C];
      static int found[T * K];
      for (int i = 0; i < R * C; i++) train[i] = i * 37 % 101 * 0.25f;
      for (int i = 0; i < T * C; i++) test[i] = i * 53 % 97 * 0.25f;
      nearest(train, test, R, T, C, K, found);
      for (int i = 0; i < T * K; i++) printf("%d ", found[i]);
    }
    """
    made = optimize(source.encode(), Options(autodetect=True)).text.decode()
    inside = made[made.index("nearest(") : made.index("int main")]
    assert "omp simd" in inside
    check_same_results(run_c, source, made, sanitized=True)
    check_same_results(run_c, source, made, sanitized=False)
