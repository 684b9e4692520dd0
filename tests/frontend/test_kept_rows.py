"""Whether statements leave pointers to rows as they are, and what marked regions then promise of their parts."""

from __future__ import annotations

import pytest

from scopt.frontend.region.parse import parse
from scopt.frontend.syntax.kept_rows import keeps_rows
from scopt.frontend.syntax.symbols import scope_at
from scopt.options import Options
from tests.sources import optimize

BEFORE = """
double largest(double *x, int n);
static double above(double **t, int i, int j) { return t[i - 1][j] + t[i][j - 1]; }
static void swap(double **t, int i) { double *row = t[i]; t[i] = t[0]; t[0] = row; }
static double deeper(double **t, int i) { return above(t, i, 1); }
static void bump(double *cell) { *cell += 1; }
"""


def keeps(body: str) -> bool:
    source = f"{BEFORE}void f(int n, double **a, double **b) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    tu = parse(source.encode(), "in.c", Options())
    symbols = scope_at(tu, tu.regions[0])
    return keeps_rows(tu, tu.regions[0].items, symbols, symbols["a"])


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < n; i++) a[i][0] = b[i][1];",
        "for (int i = 0; i < n; i++) { double *row = a[i]; row[0] = 1; }",
        "for (int i = 1; i < n; i++) a[i][1] = above(a, i, 1) + deeper(a, i);",
        "for (int i = 0; i < n; i++) { bump(&a[i][1]); b[i][0] = largest(&a[i][0], n); }",
        "for (int i = 0; i < n; i++) { double *row = b[i]; b[i] = b[0]; b[0] = row; }",
    ],
)
def test_cells_may_be_written(body: str) -> None:
    assert keeps(body)


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < n; i++) a[i] = b[i];",
        "a = b; for (int i = 0; i < n; i++) a[i][0] = 1;",
        "for (int i = 0; i < n; i++) *(a + i) = b[i];",
        "for (int i = 0; i < n; i++) swap(a, i);",
        "{ double **c = a; for (int i = 0; i < n; i++) c[i] = b[i]; }",
        "{ double **c[2] = {a, b}; for (int i = 0; i < n; i++) c[0][i] = b[i]; }",
        "for (int i = 0; i < n; i++) { double **p = &a[i]; *p = b[i]; }",
        "for (int i = 0; i < n; i++) unknown(a, i);",
        "for (int i = 0; i < n; i++) unknown(&a[i]);",
    ],
)
def test_pointers_may_not(body: str) -> None:
    assert not keeps(body)


MARKED = """
int next(int);
void f(int n, int k, int *x, double **a, double **b) {
#pragma scop
  for (int t = 0; t < k; t++) {
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        a[i][j] += b[i][j] * 2;
    x[t] = next(t);%s
  }
#pragma endscop
}
"""


@pytest.mark.parametrize(("more", "tested"), [("", False), (" a[0] = a[1];", True)])
def test_rows_of_marked_regions_are_apart_in_their_parts(more: str, tested: bool) -> None:
    result = optimize((MARKED % more).encode(), Options(eager=True))
    ids = {remark.id for remark in result.remarks}
    assert "region.transformed" in ids
    assert ("assume.apart" in ids) is tested
