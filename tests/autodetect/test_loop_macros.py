"""Macros that are the heads of loops, in unmarked code."""

from __future__ import annotations

from pathlib import Path

from scopt.options import Options
from scopt.pipeline import optimize
from scopt.tell.results import Result
from tests.conftest import RunC
from tests.differential.control import FLAGS
from tests.fuzz.harness import without_thresholds

MACROS = """
#define INNER(n) \\
    for (int k = 1; k < (n) - 1; k++) \\
        for (int j = 1; j < LESS(n); j++)
#define LESS(n) ((n) - 1)
#define REP(i, n) for (int i = 0; i < (n); i++)
#define ALL for (int q = 0; q < n; q++)
#define OPEN(i) for (int i = 0; i < n; i++) {
#define TWICE(i) REP(i, 2)
#define DONE(i, s) for (int i = 0; i < n; i++) s;
"""
BODIES = {
    "two in one": "INNER(n)\n  a[k][j] = b[k][j] * 2 + b[k - 1][j];",
    "in one line": "REP(i, n) REP(j, n) { a[i][j] *= 3; b[i][j] += 1; }",
    "without parameters": "ALL c[q] = q;\n  c[0] = 1;",
    "beside others": "REP(t, 3) INNER(n) if (k != j) a[k][j] += b[j][k];\n  REP(i, n) b[i][0] += a[0][i];",
    "in a loop": "int t = 0;\n  while (t < 5) {\n    INNER(n) { a[k][j] += b[k][j];\n    b[k][j] = k; }\n    t++;\n  }",
    "in a branch": "if (n > 3) {\n    INNER(n) b[k][j] -= a[j][k];\n  }",
}
STAY = {
    "open": "OPEN(i) c[i] = i; }",
    "of others": "TWICE(i) c[i] = i;",
    "whole": "DONE(i, c[i] = i)",
}


def found(bodies: dict[str, str]) -> tuple[str, Result]:
    functions = (
        f"static void run{k}(int n, double a[n][n], double b[n][n], double *c) {{\n  {body}\n}}\n"
        for k, body in enumerate(bodies.values())
    )
    source = f"""#include <stdio.h>
{MACROS}{"".join(functions)}
int main(void) {{
  static double a[20][20], b[20][20], c[20];
  for (int i = 0; i < 400; i++) a[i / 20][i % 20] = i % 13, b[i / 20][i % 20] = i % 7;
  {" ".join(f"run{k}(20, a, b, c);" for k in range(len(bodies)))}
  double s = 0;
  for (int i = 0; i < 400; i++) s = s * 0.99 + a[i / 20][i % 20] + b[i / 20][i % 20] * 3 + c[i % 20];
  printf("%a\\n", s);
}}
"""
    return source, optimize(source.encode(), Options(eager=True, autodetect=True), file="in.c")


def test_loops_behind_them_are_transformed(run_c: RunC, tmp_path: Path) -> None:
    source, result = found(BODIES)
    functions = {remark.function for remark in result.remarks if remark.id == "region.transformed"}
    assert functions >= {f"run{k}" for k in range(len(BODIES))}
    text = without_thresholds(result.text.decode())
    assert run_c(text, *FLAGS, name="emitted") == run_c(source, *FLAGS, name="original")


def test_other_macros_are_left() -> None:
    functions = {remark.function for remark in found(STAY)[1].remarks if remark.id == "region.transformed"}
    assert functions.isdisjoint(f"run{k}" for k in range(len(STAY)))
