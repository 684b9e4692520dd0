"""Switches whose ways end are chains of conditions; what isn't one stays a statement."""

from __future__ import annotations

from pathlib import Path

import pytest

from scopt import ir
from scopt.frontend.normalize.plain_switches import without_switches
from scopt.frontend.region.parse import parse
from scopt.ir.walks import walk
from scopt.options import Options
from scopt.pipeline import optimize
from tests.conftest import RunC
from tests.fuzz.harness import without_thresholds
from tests.sources import scop_of

PARAMS = "int n, int k, int q[n], double x[n], double y[n]"


def body_of(switch: str) -> str:
    scop = scop_of(f"for (i = 0; i < n; i++) {{ {switch} }}", PARAMS, before="enum { ONE = 1, TWO };")
    return " ".join("; ".join(ir.printing.CPrinter().visit(one.body) for one in scop.statements).split())


@pytest.mark.parametrize(
    ("switch", "chain"),
    [
        ("switch (q[i]) { case 1: x[i] = 1; break; default: x[i] = 2; }", "if (q[i] == 1) x[i] = 1; else x[i] = 2;"),
        (
            "switch (q[i]) { default: x[i] = 2; break; case ONE: case TWO: x[i] = 1; }",
            "if ((q[i] == ONE) || (q[i] == TWO)) x[i] = 1; else x[i] = 2;",
        ),
        (
            "switch (q[i] % 4) { case -1: { x[i] = 1; break; } case 'a': if (y[i] > 1) { x[i] = 2; break; } }",
            "if ((q[i] % 4) == (-1)) x[i] = 1; else if ((q[i] % 4) == 'a') { if (y[i] > 1) x[i] = 2; }",
        ),
        ("switch (q[i]) { case 3: continue; case 4: x[i] = 1; } x[i] += 1;", "if (!(q[i] == 3))"),
    ],
)
def test_ways_that_end_are_conditions(switch: str, chain: str) -> None:
    body = body_of(switch)
    assert "switch" not in body
    assert chain.replace("{ ", "").replace(" }", "") in body.replace("{ ", "").replace(" }", "")


@pytest.mark.parametrize(
    "switch",
    [
        "switch (q[i]) { case 1: x[i] = 1; case 2: x[i] += 1; break; default: x[i] = 2; }",  # goes on
        "switch (q[i]) { case 1: if (x[i] > 2) break; x[i] = 1; break; default: x[i] = 2; }",  # left below a condition
        "switch (q[i]++) { case 1: x[i] = 1; break; default: x[i] = 2; }",  # would be done twice
        "switch (q[i]) { case 1u: x[i] = 1; break; case 2: x[i] = 2; }",  # compared as unsigned
        "switch (q[i]) { x[i] = 3; case 1: x[i] = 1; }",
        "switch (q[i]) { case 1: do { x[i] += 1; case 2: x[i] += 2; } while (x[i] < k); }",  # entered inside
    ],
)
def test_others_stay(switch: str) -> None:
    assert "switch" in body_of(switch)


def test_variables_of_several_ways_stay_where_they_are() -> None:
    ways = "case 1: ; double w = 2; x[i] = w; break; case 2: w = 1; x[i] = w; break;"
    tu = parse(f"void f(int i, int k, double *x) {{ switch (k) {{ {ways} }} }}".encode(), "in.c", Options())
    items = tuple(tu.functions["f"].body.block_items)
    assert without_switches(items) is items or without_switches(items)[0] is items[0]


def test_conditions_on_iterators_are_part_of_domains() -> None:
    body = "switch (j) { case 0: x[i] = 1; break; case 2: y[i] = 2; }"
    scop = scop_of(f"for (i = 0; i < n; i++) for (int j = 0; j < 3; j++) {body}", PARAMS)
    assert len(scop.statements) == 2
    assert not any(isinstance(node, ir.If) for one in scop.statements for node in walk(one.body))


PROGRAM = """#include <math.h>
#include <stdio.h>
#define N 700
enum state { LOW, MID, HIGH };
static double slope(int kind, double a, double b)
{
  switch (kind) {
  case 0: return 0.0;
  case 1: return a * b <= 0 ? 0.0 : fabs(a) < fabs(b) ? a : b;
  default: return 0.5 * (a + b);
  }
}
static void step(enum state *s, double *v)
{
  switch (*s) {
  case LOW: *v += 1; if (*v > 4) *s = MID; return;
  case MID: *v *= 1.5; *s = *v > 9 ? HIGH : MID; break;
  case HIGH: *v = 0; *s = LOW;
  }
  *v += 0.25;
}
static void run(int n, const unsigned char *restrict c, double *restrict x, double *restrict y, enum state *restrict s,
                int *restrict count)
{
#pragma scop
  for (int i = 0; i < n; i++)
    switch (c[i]) {
    case 'a': count[0]++; break;
    case 'b': case 'd': count[1]++; break;
    default: count[2]++; break;
    case 'e': case 'f': break;
    }
#pragma endscop
#pragma scop
  for (int i = 0; i < n; i++) {
    switch (c[i] % 5) {
    case 0: x[i] = 2 * y[i]; break;
    case 1: { double e = y[i] - 1; x[i] = e * e; break; }
    case 2: break;
    default: x[i] = 0;
    }
    y[i] += x[i];
  }
#pragma endscop
#pragma scop
  for (int k = 0; k < 3; k++)
    for (int i = 1; i < n - 1; i++) x[i] += slope(k, y[i] - y[i - 1], y[i + 1] - y[i]);
#pragma endscop
#pragma scop
  for (int i = 0; i < n; i++)
    for (int t = 0; t < 6; t++) step(&s[i], &x[i]);
#pragma endscop
}
int main(void)
{
  static unsigned char c[N];
  static double x[N], y[N];
  static enum state s[N];
  int count[3] = {0, 0, 0};
  for (int i = 0; i < N; i++) { c[i] = "abcdefgh"[i * 7 % 8 ^ i / 9 % 8]; y[i] = i * 37 % 23 * 0.25; s[i] = i % 3; }
  run(N, c, x, y, s, count);
  double sum = 0;
  for (int i = 0; i < N; i++) sum = sum * 0.99 + x[i] + 3 * y[i] + s[i];
  printf("%d %d %d %a\\n", count[0], count[1], count[2], sum);
}
"""


def test_results_stay_the_same(run_c: RunC, tmp_path: Path) -> None:
    result = optimize(PROGRAM.encode(), Options(), file=str(tmp_path / "in.c"))
    text = result.text.decode()
    assert [region.transformed for region in result.regions] == [True] * 4
    assert "switch (c[i])" not in text
    assert run_c(without_thresholds(text)) == run_c(PROGRAM)
