"""Extremes of what conditions let through: where a mask takes a branch's place, and that results stay the same."""

from __future__ import annotations

import pytest

from scopt import ir, pipeline
from scopt.astgen.passes.conditional_sums import summed
from scopt.astgen.passes.eager import Sure
from scopt.astgen.passes.masking import masked
from scopt.check.masks import does_the_same, sums_the_same
from scopt.ir.from_pycparser import parse_c
from scopt.ir.walks import rebuilt
from scopt.options import Options
from tests.conftest import RunC
from tests.sources import scop_of

PARAMS = "int n, int x[1000], int d[1000], unsigned u[1000], long long w[1000], double r[1000], short h[1000]"
LOOPS = "for (i = 0; i < n; i++) {{ d[i] = 1; for (j = 0; j < i; j++) {} }}"


def call_of(update: str, name: str = "S1") -> str:
    """The statement as the rewrite makes it; empty where it leaves it alone."""
    scop = scop_of(LOOPS.format(update), PARAMS)
    made = masked(scop, scop.statement(name))
    return ir.printing.CPrinter().visit(made.body) if made is not None else ""


@pytest.mark.parametrize(
    ("update", "meant"),
    [
        ("if (x[j] < x[i] && d[j] + 1 > d[i]) d[i] = d[j] + 1;", "d[i], x[j] < x[i], (x[j] < x[i]) ? (d[j] + 1) : (0)"),
        ("if (x[i] > x[j]) d[i] = d[i] < d[j] ? d[j] : d[i];", "max_if(d[i], x[i] > x[j]"),
        ("if (x[i] > x[j]) { if (d[i] >= d[j]) d[i] = d[j]; }", "min_if(d[i], x[i] > x[j]"),
        ("d[i] = x[i] > x[j] && d[j] < d[i] ? d[j] : d[i];", "min_if("),
        ("if (d[j] > 3 && d[j] > d[i] && d[j] < 9) d[i] = d[j];", "(d[j] > 3) & (d[j] < 9)"),
    ],
)
def test_extremes_under_conditions(update: str, meant: str) -> None:
    assert meant in call_of(update)


@pytest.mark.parametrize(
    "update",
    [
        "if (d[j] > d[i]) d[i] = d[j];",  # compilers know it
        "if (x[j] < x[i]) d[i] = d[j];",  # the last one
        "if (x[j] < x[i] && d[j] < d[i] + 1) d[i] = d[j];",
        "if (x[j] && d[j] > d[i]) d[i] = d[j];",  # neither 0 nor 1
        "if (x[j] < x[i] && u[j] > d[i]) d[i] = u[j];",
        "if (x[j] < d[i] && d[j] > d[i]) d[i] = d[j];",
        "if (x[j] < x[i] && r[j] > r[i]) r[i] = r[j];",
        "if (x[j] < x[i] && h[j] > h[i]) h[i] = h[j];",
        "if (x[j] < x[i] && x[x[j]] < 3 && d[j] > d[i]) d[i] = d[j];",  # perhaps there is no such cell
        "if (x[j] < x[i] && w[j] > w[i]) w[i] = w[j];",  # perhaps w[i] may not be written
        "if (x[j] < x[i] && d[j] > d[i]) d[i] = d[j]; else d[i] = 0;",
    ],
)
def test_others_stay_as_they_are(update: str) -> None:
    assert not call_of(update)


def body(text: str) -> ir.Node:
    tree = parse_c(f"void f(void) {{ {text} }}")
    (only,) = tree.ext[0].body.block_items
    assert isinstance(only, ir.Node)
    return only


ORIGINAL = "if (a < b && v + 1 > m) m = v + 1;"


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("m = most(m, a < b, a < b ? v + 1 : 0);", True),
        ("m = least(m, a < b, a < b ? v + 1 : 0);", False),
        ("m = most(m, a <= b, a <= b ? v + 1 : 0);", False),
        ("m = most(m, a < b, a > b ? v + 1 : 0);", False),
        ("m = most(m, a < b, a < b ? v : 0);", False),
        ("m = most(m, a < b, a < b ? v + 1 : 2);", False),
        ("m = most(v, a < b, a < b ? v + 1 : 0);", False),
        ("m = most(m, (a < b) & (a < 2), (a < b) & (a < 2) ? v + 1 : 0);", False),
        ("m = other(m, a < b, a < b ? v + 1 : 0);", False),
        ("a = most(a, a < b, a < b ? v + 1 : 0);", False),
    ],
)
def test_the_text_is_read_for_itself(text: str, same: bool) -> None:
    assert does_the_same(body(text), body(ORIGINAL), {"most": "max", "least": "min"}) is same


@pytest.mark.parametrize(
    ("original", "operator"),
    [
        ("if (c < 1) m = m > v ? m : v;", "max"),
        ("if (c < 1) m = v <= m ? m : v;", "max"),
        ("if (c < 1) { if (v < m) m = v; }", "min"),
        ("m = v > m && c < 1 ? v : m;", "max"),
        ("if (v < m) if (c < 1) m = v;", "min"),
        ("if (c < 1) m = v;", ""),
        ("if (v) if (c < 1) m = v;", ""),
    ],
)
def test_which_extremum(original: str, operator: str) -> None:
    text = body("m = most(m, c < 1, c < 1 ? v : 0);")
    found = [one for one in ("max", "min") if does_the_same(text, body(original), {"most": one})]
    assert found == ([operator] if operator else [])


PROGRAM = """#include <stdio.h>
#define FEW 7
static int n = 700, x[1000], d[1000], e[1000];
static unsigned u[1000];
static long long w[1000];
static void run(int n, int x[restrict 1000], int d[restrict 1000], int e[restrict 1000], unsigned u[restrict 1000],
                long long w[restrict 1000])
{
#pragma scop
  for (int i = 0; i < n; i++) {
    d[i] = 1;
    for (int j = 0; j < i; j++)
      if (x[j] < x[i] && d[j] + 1 > d[i]) d[i] = d[j] + 1;
  }
  for (int i = 0; i < n; i++) {
    int least = 2147483647;
    unsigned most = 0;
    long long lowest = x[i];
    for (int j = 0; j < i; j++) if (x[j] != x[i] && x[j] - i < least && x[j] > 3) least = x[j] - i;
    for (int j = 0; j < i; j++) if (x[j] >= x[i]) most = most > u[j] * 3 ? most : u[j] * 3;
    for (int j = 0; j < i; j++) if (x[j] < x[i] && lowest > w[j]) lowest = w[j];
    e[i] = least; u[i] = u[i] ^ most; w[i] = lowest - 5000000000;
  }
  for (int i = 0; i < n; i++) {
    int few = 0, sum = 0, rest = 0;
    for (int j = 0; j < i; j++) {
      int a = x[j], b = d[j];
      if (a == FEW || b > 20) continue;
      few++;
      if (a != b && (a ^ b) > i) sum += a; else rest -= b;
    }
    e[i] ^= few * 3 ^ sum * 5 ^ rest;
  }
#pragma endscop
}
int main(void)
{
  unsigned long h = 0;
  for (int i = 0; i < 1000; i++)
    x[i] = i * 7919 % 613 - 300, u[i] = i * 2654435761u, w[i] = (i % 17 - 8) * 3000000000;
  run(n, x, d, e, u, w);
  for (int i = 0; i < n; i++) h = h * 31 + d[i], h = h * 31 + e[i], h = h * 31 + u[i], h = h * 31 + w[i];
  printf("%lx\\n", h);
}
"""


def test_results_stay_the_same(run_c: RunC) -> None:
    made = pipeline.optimize(PROGRAM, Options()).text.decode()
    for helper in ("max_if(d", "min_if(least", "max_ifu(most", "min_ifll(lowest"):
        assert f"scopt_{helper}" in made
    assert "few += !((a == FEW) | (b > 20)) ? 1 : 0;" in made
    assert "rest -= -(!((a == FEW) | (b > 20)) & !((a != b) & ((a ^ b) > (int)i))) & b;" in made
    assert run_c(made, "-O2", "-fopenmp") == run_c(PROGRAM, "-O1", name="original")


COUNTED = """\
long long f(int n, double *x, unsigned *u, long long count, unsigned sum) {
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++)
      %s
#pragma endscop
  return count + sum;
}
"""


@pytest.mark.parametrize(
    ("update", "chosen"),
    [
        ("if (x[i] > x[j]) count++;", "count += x[i] > x[j] ? 1 : 0;"),
        ("if (x[i] > x[j]) { --count; }", "count -= x[i] > x[j] ? 1 : 0;"),
        ("if (x[i] > x[j]) sum += u[j];", "sum += x[i] > x[j] ? u[j] : 0;"),
        ("if (x[i] > x[j]) if (u[j]) sum ^= u[j];", "sum ^= x[i] > x[j] && u[j] ? u[j] : 0;"),
        (
            "{ if (x[i] > x[j] && u[j] > 3) sum += u[j]; if (u[j] > 7) count++; }",
            "(x[i] > x[j]) & (u[j] > 3) ? u[j] : 0;",
        ),
        ("if (x[i] > x[j]) { count++; sum += u[j]; }", "sum += x[i] > x[j] ? u[j] : 0;"),
        ("if (x[i] > x[j]) count++; else sum += u[j];", "sum += !(x[i] > x[j]) ? u[j] : 0;"),
    ],
)
def test_vector_loops_choose_what_they_add(update: str, chosen: str) -> None:
    text = pipeline.optimize((COUNTED % update).encode(), Options(), file="in.c").text.decode()
    assert "#pragma omp parallel for" in text
    assert "#pragma omp simd reduction(" in text
    assert chosen in text


COUNTS = """\
#define NONE 4
void f(int n, int x[n][n], int y[n][n], %s, int out[n][2]) {
#pragma scop
  for (int i = 0; i < n; i++) {
    int count = 0, sum = 0;
    for (int j = 0; j < n; j++) { int a = x[i][j], b = y[i][j]; %s }
    out[i][0] = count; out[i][1] = sum;
  }
#pragma endscop
}
"""


@pytest.mark.parametrize(
    ("update", "other", "chosen"),
    [
        (
            "if (a == NONE || b == NONE) continue; count++; sum += a;",
            "int c",
            "sum += -(!((a == NONE) | (b == NONE))) & a;",
        ),
        ("if (a < c && b < n) { sum -= b; count += 2; }", "int c", "sum -= -((a < c) & (b < n)) & b;"),
        ("if (a < c && b < n) { sum += a * b; count++; }", "int c", "sum += (a < c) & (b < n) ? a * b : 0;"),
        ("if (a && b < n) { sum += a; count++; }", "int c", "sum += -((a != 0) & (b < n)) & a;"),
        ("if (a < 3 && b < *c) { sum += a; count++; }", "int *c", "if (a < 3 && b < c[0])"),
        ("if (a < c && b < sum) { sum += a; count++; }", "int c", "if (a < c && b < sum)"),
        ("if (a < c && b < 3) { sum = a; count++; }", "int c", "if (a < c && b < 3)"),
        ("if (a < c && b / 3 < c) { sum += a; count++; }", "int c", "if (a < c && b / 3 < c)"),
    ],
)
def test_plain_loops_count_without_branches(update: str, other: str, chosen: str) -> None:
    """Signed sums keep their order, without a directive."""
    text = pipeline.optimize((COUNTS % (other, update)).encode(), Options(), file="in.c").text.decode()
    assert "#pragma omp simd" not in text
    assert chosen in text.split("#pragma scop")[1]


@pytest.mark.parametrize("update", ["count += x[i] > x[j];", "sum += u[j] * u[i];"])
def test_plain_sums_along_rows_are_left_to_compilers(update: str) -> None:
    """With a directive, gcc adds what fills no vector one by one."""
    text = pipeline.optimize((COUNTED % update).encode(), Options(), file="in.c").text.decode()
    assert "#pragma omp parallel for" in text
    assert "#pragma omp simd" not in text
    assert update in text


def sure_of(statement: str) -> Sure:
    scop = scop_of(f"for (i = 0; i < n; i++) {statement}", PARAMS)
    return Sure(scop, scop.statements[0])


SURE = sure_of("x[i] = 0;")


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("s += a < b ? v : 0;", True),
        ("s -= a < b ? v : 0;", False),
        ("s += a <= b ? v : 0;", False),
        ("s += a < b ? v : 1;", False),
        ("s += a < b ? 0 : v;", False),
        ("s += a < b ? s : 0;", False),
        ("v += a < b ? v : 0;", False),
        ("s = a < b ? v : 0;", False),
        ("s += -(a < b) & 4;", False),
        ("s += -(a < b) & v;", False),  # perhaps there is no such variable
    ],
)
def test_sums_of_choices_are_read_for_themselves(text: str, same: bool) -> None:
    assert sums_the_same(SURE, body(text), body("if (a < b) { s += v; }")) is same


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("s += -(a < b) & 4;", True),
        ("s += -((a < b) & 1) & 4;", False),
        ("s += (a < b) & 4;", False),
        ("s += -(a <= b) & 4;", False),
        ("s += -(a < b) & 5;", False),
        ("s += -(a < b) | 4;", False),
    ],
)
def test_sums_of_what_is_masked_are_read_for_themselves(text: str, same: bool) -> None:
    assert sums_the_same(SURE, body(text), body("if (a < b) s += 4;")) is same


def test_steps_are_sums_of_ones() -> None:
    assert sums_the_same(SURE, body("s -= a ? 1 : 0;"), body("if (a) s--;"))
    assert not sums_the_same(SURE, body("s += a ? 1 : 0;"), body("if (a) s--;"))
    assert not sums_the_same(SURE, body("s += a ? 2 : 0;"), body("if (a) s++;"))
    assert not sums_the_same(SURE, body("s += a ? 1 : 0;"), body("if (a) s++; else s--;"))


@pytest.mark.parametrize(("condition", "eager"), [("x[i] > 3 && x[i] < 9", True), ("x[i] > 3 && d[i] < 9", False)])
def test_both_sides_of_conditions_are_evaluated_where_they_may_be(condition: str, eager: bool) -> None:
    scop = scop_of(f"for (i = 0; i < n; i++) if ({condition}) k++;", PARAMS, after="x[0] = k;")
    (only,) = scop.statements
    made = summed(scop, only)
    assert made is not None
    assert ("&&" in ir.printing.CPrinter().visit(made.body)) is not eager
    assert sums_the_same(Sure(scop, only), made.body, only.body)

    def change(node: ir.Node) -> ir.Node:
        return ir.BinaryOp("&", node.left, node.right) if isinstance(node, ir.BinaryOp) and node.op == "&&" else node

    assert sums_the_same(Sure(scop, only), rebuilt(made.body, change), only.body) is eager


@pytest.mark.parametrize(("index", "eager"), [("int", False), ("unsigned char", True)])
def test_what_data_name_is_looked_at_where_it_surely_exists(index: str, eager: bool) -> None:
    """`table[y[i]]` may be beside the table where a condition keeps it from being read."""
    source = f"""static unsigned table[256];
void f(int n, const {index} y[n], const unsigned v[n], int out[n]) {{
#pragma scop
  for (int i = 0; i < n; i++) {{ unsigned w = v[i]; out[i] = y[i] >= 0 && w < table[y[i]]; }}
#pragma endscop
}}
"""
    text = pipeline.optimize(source.encode(), Options()).text.decode()
    assert ("&& w" not in text.split("#pragma scop")[1]) is eager
