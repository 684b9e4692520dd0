"""Ordered tails: which loops part with what keeps them in order, and that results stay the same."""

from __future__ import annotations

import pytest

from scopt import pipeline
from scopt.options import Options
from scopt.rewritten_scop import dependences_of, rewriting_fault, tails_scop
from tests.conftest import RunC
from tests.sources import scop_of

BEFORE = "#include <math.h>\ndouble sum, at[3]; struct pair { double x; int k; } pairs[99];"
PATH = "s = x[i]; for (k = 0; k < 9; k++) s = s * exp(s) + k; "


@pytest.mark.parametrize(
    ("body", "cells"),
    [
        (f"for (i = 0; i < n; i++) {{ {PATH} sum += s; }}", ["s_all"]),
        (f"for (i = 0; i < n; i++) {{ {PATH} y[i] = s; sum += y[i] * y[i]; }}", []),
        (f"for (i = 0; i < n; i++) {{ {PATH} y[t] = s; t = (t + i) % m; }}", ["s_all"]),
        # each iteration has three values of its own
        ("for (i = 0; i < n; i++) { double p[3]; for (k = 0; k < 3; k++) p[k] = exp(k + x[i]);"
         " for (k = 0; k < 3; k++) at[k] += p[k]; }", ["p_all"]),
        # inside of a loop in order
        (f"for (j = 0; j < m; j++) {{ for (i = 0; i < n; i++) {{ {PATH} B[j][0] += s; x[i] = s; }} y[j] = x[0]; }}",
         ["s_all"]),
        # another loop uses the scalar, too
        (f"for (i = 0; i < n; i++) {{ {PATH} sum += s; }} for (i = 0; i < n; i++) {{ s = y[i]; x[i] = s * s; }}",
         ["s_all"]),
    ],
)  # fmt: skip
def test_what_keeps_a_loop_in_order_stands_behind_it(body: str, cells: list[str]) -> None:
    scop = scop_of(body, before=BEFORE)
    found = tails_scop(scop, dependences_of(scop, Options()), Options())
    assert found is not None
    assert sorted(found.expansion.extents) == cells
    assert rewriting_fault(scop, found.expansion) is None


@pytest.mark.parametrize(
    "body",
    [
        f"for (i = 0; i < n; i++) {{ {PATH} x[i] = s; }}",  # threads share it anyway
        f"for (i = 1; i < n; i++) {{ {PATH} x[i + 1] = s; }}",  # the next iteration needs it
        "for (i = 0; i < n; i++) { s = x[i] * 2; sum += s; }",  # handing it on takes as long
        f"for (i = 0; i < n; i++) {{ {PATH} sum = sum * exp(s) + exp(sum) * exp(s * 2) + exp(s * 3); "
        "for (k = 0; k < 9; k++) sum += exp(sum * k); }",  # most of it keeps its order
        f"for (i = 0; i < n; i++) {{ {PATH} sum += s; A[i][0] = exp(sum) + exp(s); }} y[0] = s;",  # one is left
        f"for (j = 0; j < m; j++) {{ for (i = 0; i < n; i++) {{ {PATH} B[j][0] += s; }} }}",  # shared outside
        # a cell doesn't stand for a structure whose members are used
        f"for (i = 0; i < n; i++) {{ struct pair p = pairs[i]; {PATH} p.x += s; sum += p.x; }}",
    ],
)
def test_loops_that_stay_as_they_are(body: str) -> None:
    scop = scop_of(body, before=BEFORE)
    assert tails_scop(scop, dependences_of(scop, Options()), Options()) is None


def test_one_thread_hands_on_no_more_than_it_may() -> None:
    taken = "for (i = 0; i < n; i++) { s = exp(x[i]); sum += s; }"
    for body, found in ((taken, True), (f"{taken} for (i = 0; i < n; i++) {{ {PATH} y[i] = s; }}", False)):
        scop = scop_of(body, before=BEFORE)
        assert (tails_scop(scop, dependences_of(scop, Options()), Options()) is not None) == found


PROGRAM = """#include <stdio.h>
#include <math.h>
static double x[9000], y[9000], price[2][4], total;
static int hit[9000];
static double run(int n, int m, double x[restrict], double y[restrict], int hit[restrict], double price[restrict][4])
{
  double sum = 0.1, last = 1;
  int found = 0;
#pragma scop
  for (int i = 0; i < n; i++) {
    unsigned long long z = (unsigned long long)(i + 1) * 0x9E3779B97F4A7C15ULL;
    double pay[2], s = x[i];
    for (int k = 0; k < m; k++) {
      z = z * 6364136223846793005ULL + 1442695040888963407ULL;
      s = s * 0.9 + exp(-s * ((z >> 11) / 9007199254740992.0));
    }
    for (int k = 0; k < 4; k++) {
      for (int p = 0; p < 2; p++) pay[p] = fmax(exp(s) - k - p, 0.0);
      for (int p = 0; p < 2; p++) price[p][k] += pay[p];
    }
  }
#pragma endscop
#pragma scop
  for (int i = 0; i < n; i++) {
    double v = sin(x[i]) + exp(-y[i]) * cos(x[i]);
    while (v > 0.5) v -= 0.3;
    y[i] += v;
    sum += 0.5 * y[i] * y[i];
    if (v > last) hit[found++] = i;
    _Bool low = v < 0.3;
    found ^= low;
    last = v;
  }
#pragma endscop
  return sum + found;
}
int main(void)
{
  int sizes[] = {0, 1, 2, 33, 9000};
  for (int u = 0; u < 5; u++) {
    for (int i = 0; i < 9000; i++) x[i] = i % 7 * .1, y[i] = i % 5, hit[i] = 0;
    double r = run(sizes[u], u * 3, x, y, hit, price), s = 0;
    for (int i = 0; i < 9000; i++) s += y[i] * 3 + hit[i] * (i % 3);
    for (int i = 0; i < 8; i++) s += price[i / 4][i % 4] * i;
    printf("%a %a\\n", r, s);
  }
}
"""


def test_results_stay_the_same(run_c: RunC) -> None:
    made = pipeline.optimize(PROGRAM, Options()).text.decode()
    assert "pay_all" in made
    assert made.count("#pragma omp parallel for") == 2
    assert "scopt_threads() > 1" in made
    flags = ("-ffp-contract=off", "-lm")
    assert run_c(made, "-O2", "-fopenmp", *flags) == run_c(PROGRAM, "-O1", *flags, name="original")
