"""Quotients of integers by floating-point numbers: where they are, that the proof tells other calls from them, and that
they are C's."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.c_expr import QUOTIENTS
from scopt.astgen.emit.helper_texts import helper_definitions
from scopt.astgen.passes.divided_ints import with_quotients
from scopt.astgen.passes.picking import with_picks
from scopt.astgen.passes.wrapped_ints import is_wrapped, with_wrapped_ints
from scopt.check.picked_choices import is_picked
from scopt.ir.walks import replaced
from scopt.options import Options
from scopt.pipeline import optimize
from tests.conftest import RunC
from tests.fuzz.harness import without_thresholds
from tests.same_results import check_same_results
from tests.sources import scop_of, source_of

PARAMS = "int n, int low, int high, int a[n], int b[n], unsigned char u[n], short w[n], int q[n]"
STRETCHED = """for (i = 0; i < n; i++) {
  int v = (u[i] - low) * 255 / (high - low);
  if (v < 0) v = 0;
  if (v > 255) v = 255;
  q[i] = v; }"""
HUES = """for (i = 0; i < n; i++) {
  int x = u[i], y = w[i], d = x > y ? x - y : y - x, h;
  if (d == 0) h = 0; else if (x > 100) h = 6 * (x - y) / d; else h = 240 + 6 * (y - x) % d;
  q[i] = h; }"""
REMAINDERS = "for (i = 0; i < n; i++) { q[i] = a[i] % (b[i] | 1); u[i] /= b[i] & 7 | 1; }"

RAMP = """for (i = 0; i < n; i++) {
  int x = u[i], k = x <= low ? 0 : x >= high ? 256 : (x - low) * 256 / (high - low);
  q[i] = k * w[i]; }"""


def text(body: str) -> str:
    result = optimize(source_of(body, PARAMS), Options())
    return result.text.decode().partition("#pragma scop\n")[2]


def test_a_quotient_of_ints_is_one_of_doubles() -> None:
    assert "v = scopt_quotient((u[i] - low) * 255, high - low);" in text(STRETCHED)
    assert "q[i] = scopt_remainder(a[i], b_0 | 1);" in text(REMAINDERS)
    assert "u[i] = scopt_quotient(u[i], (b_0 & 7) | 1);" in text(REMAINDERS)


def test_small_numbers_are_floats_and_what_branches_compute_is_chosen() -> None:
    assert "h = scopt_blend(d == 0, 0, scopt_blend(x > 100, scopt_quotientf(6 * (x - y), d), " in text(HUES)


def test_what_may_not_be_asked_for_is_one_of_any_numbers() -> None:
    made = text("for (i = 0; i < n; i++) q[i] = b[i] > 0 ? a[i] / b[i] : a[i];")
    assert "q[i] = scopt_blend(b[i] > 0, scopt_any_quotient(a[i], b[i]), a[i]);" in made


def test_what_might_be_no_int_where_nothing_asks_for_it_wraps_around() -> None:
    made = "scopt_any_quotient(scopt_times(scopt_minus(x, low), 256), scopt_minus(high, low))"
    assert f"k = scopt_blend(x <= low, 0, scopt_blend(x >= high, 256, {made}));" in text(RAMP)


@pytest.mark.parametrize(
    "body",
    [
        "for (i = 0; i < n; i++) q[i] = a[i] / 7;",  # compilers multiply vectors
        "for (i = 0; i < n; i++) q[i] = a[i] / (b[i] + 1L);",  # of 64 bits
        "for (i = 0; i < n; i++) q[i] = (a[i] + 3000000000) / b[i];",
        "for (i = 0; i < n; i++) q[i] = (a[i] + 0xffffffff) / b[i];",
        "for (i = 0; i < n; i++) q[i] = a[i] / (b[i] + 1u);",
        "for (i = 0; i < n; i++) if (b[i]) q[i] = a[i] / b[i];",  # a branch for what is stored
        "for (i = 1; i < n; i++) q[i] = q[i - 1] / b[i];",  # no vectors
        "for (i = 0; i < n; i++) q[i] = a[(b[i] & 255) / (w[i] & 7 | 1)];",  # a place
    ],
)
def test_others_stay(body: str) -> None:
    made = text(body)
    assert "scopt_quotient" not in made
    assert "/" in made


def test_the_proof_tells_other_calls_apart() -> None:
    scop = scop_of("for (i = 0; i < n; i++) q[i] = (a[i] + w[i]) / (b[i] + u[i]) + w[i] % u[i];", PARAMS)
    (base,) = scop.statements
    made = with_quotients(scop, base, base.body)
    assert made is not base.body
    assert is_picked(scop, replace(base, body=made), base)

    def renamed(one: str, other: str) -> ir.Node:
        return replaced(made, lambda node: ir.ID(other) if isinstance(node, ir.ID) and node.name == one else node)

    def swapped(node: ir.Node) -> ir.Node:
        match node:
            case ir.FuncCall(name=name, args=ir.ExprList(exprs=[one, other])):
                return ir.FuncCall(name, ir.ExprList([other, one]))
        return node

    wrong = [
        renamed("scopt_quotient", "scopt_quotientf"),  # too large for floats
        renamed("scopt_quotient", "scopt_remainder"),
        renamed("scopt_remainderf", "scopt_quotientf"),
        replaced(made, swapped),
    ]
    assert not any(is_picked(scop, replace(base, body=body), base) for body in wrong)


def test_the_proof_tells_what_wraps_around() -> None:
    scop = scop_of(RAMP.replace("int x = u[i], k", "int x = u[i]; q[i]").replace("q[i] = k * w[i];", ""), PARAMS)
    base = scop.statements[-1]
    made = with_picks(scop, base, with_wrapped_ints(scop, base, with_quotients(scop, base, base.body)))
    assert made is not None
    assert is_picked(scop, replace(base, body=made), base)

    def plain(operator: str) -> ir.Node:
        def change(node: ir.Node) -> ir.Node:
            match node:
                case ir.FuncCall(args=ir.ExprList(exprs=[one, other])) if is_wrapped(scop, node, (operator,)):
                    return ir.BinaryOp(operator, one, other)
            return node

        return replaced(made, change)

    def other(node: ir.Node) -> ir.Node:
        return ir.ID("scopt_plus") if isinstance(node, ir.ID) and node.name == "scopt_minus" else node

    wrong = [plain("-"), plain("*"), replaced(made, other)]
    assert not any(is_picked(scop, replace(base, body=body), base) for body in wrong)


CHECKED = """#include <stdio.h>
static const int numbers[] = {0, 1, 2, 3, 5, 7, 49, 255, 1000, 46341, 65535, 1048575, 1048576, 8388607, 16777217,
  1073741823, 2147483646, 2147483647};
int main(void) {
  long wrong = 0;
  for (int i = 0; i < 18; i++)
    for (int j = 0; j < 18; j++)
      for (int d = -2; d <= 2; d++)
        for (int signs = 0; signs < 4; signs++) {
          long x = numbers[i] / (numbers[j] ? numbers[j] : 1) * (long)numbers[j] + d, y = numbers[j];
          if (x > 2147483647 || x < -2147483647 || y == 0) continue;
          int a = (int)(signs & 1 ? -x : x), b = (int)(signs & 2 ? -y : y);
          wrong += scopt_quotient(a, b) != a / b;
          wrong += scopt_remainder(a, b) != a % b;
          wrong += (scopt_any_quotient(a, b) != a / b) + (scopt_any_remainder(a, b) != a % b);
          if (x <= 1048576 && x >= -1048576 && y <= 8388608)
            wrong += (scopt_quotientf(a, b) != a / b) + (scopt_remainderf(a, b) != a % b);
        }
  unsigned state = 1;
  for (int n = 0; n < 300000; n++) {
    state = state * 1664525u + 1013904223u;
    int a = (int)(state >> (n % 20)) - (n % 3 ? 0 : 1073741824), b = 1 + (int)(state >> (8 + n % 23));
    int c = a % 1048577;
    wrong += (scopt_quotient(a, b) != a / b) + (scopt_remainder(a, b) != a % b);
    if (b < 8388608) wrong += (scopt_quotientf(c, b) != c / b) + (scopt_remainderf(c, b) != c % b);
  }
  printf("%ld\\n", wrong);
}
"""


@pytest.mark.parametrize("flags", [["-O3"], ["-O3", "-ffast-math", "-mavx2"], ["-O1", "-freciprocal-math"]])
@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
def test_they_are_quotients(compiler: str, flags: list[str], tmp_path: Path) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"there is no {compiler}")
    names = tuple(QUOTIENTS.values())
    source, program = tmp_path / "program.c", tmp_path / "program"
    source.write_text(helper_definitions(names, "long", frozenset()) + CHECKED)
    subprocess.run([compiler, *flags, str(source), "-o", str(program), "-lm"], check=True)
    assert subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout == "0\n"


@pytest.mark.parametrize("sanitized", [False, True])
def test_results_stay(run_c: RunC, sanitized: bool) -> None:
    loops = "".join(
        f"void f{k}({PARAMS})\n{{\n  int i;\n#pragma scop\n  {body}\n#pragma endscop\n}}\n"
        for k, body in enumerate((STRETCHED, HUES, REMAINDERS, RAMP))
    )
    program = f"""#include <stdio.h>
#define N 1003
{loops}int main(void) {{
  static int a[N], b[N], q[N];
  static unsigned char u[N];
  static short w[N];
  unsigned state = 7, sum = 0;
  for (int i = 0; i < N; i++) {{
    state = state * 1664525u + 1013904223u;
    a[i] = (int)(state >> 1) - 1000000000; b[i] = (int)(state % 5001) - 2500; u[i] = state >> 9; w[i] = state >> 17;
  }}
  for (int k = 0; k < 7; k++) {{
    if (k > 2) f3(N, (int[]){{10, 40, -2147483647, 70}}[k - 3], (int[]){{90, 20, 7, 70}}[k - 3], a, b, u, w, q);
    else if (k == 0) f0(N, 20, 31, a, b, u, w, q); else if (k == 1) f1(N, 0, 1, a, b, u, w, q);
    else f2(N, 0, 1, a, b, u, w, q);
    for (int i = 0; i < N; i++) sum = (sum * 31 + (unsigned)q[i]) * 31 + u[i];
  }}
  printf("%u\\n", sum);
}}
"""
    made = optimize(program.encode(), Options()).text.decode()
    assert made.count("scopt_quotient") > 2
    check_same_results(run_c, program, without_thresholds(made), sanitized=sanitized)
