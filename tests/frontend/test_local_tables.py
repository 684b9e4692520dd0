"""Tables of constants that regions declare."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from scopt.diagnostics import Refusal
from scopt.options import Options
from tests.sources import optimize, scop_of

SOURCE = """#include <stdio.h>
struct tap { int at; float by; };
static void f(int n, float *r, const float *a) {
#pragma scop
  for (int i = 0; i < n; i++) {
    static const struct tap taps[2] = {{.at = 1, .by = 0.5f}, {3, -2.5f}};
    const float plain[3] = {[1] = 2, -1};
    static const int shift = 1;
    float s = 0;
    for (int k = 0; k < 2; k++) s += taps[k].by * a[i + taps[k].at] + plain[k + shift];
    r[i] = s;
  }
#pragma endscop
}
int main(void) {
  float a[60], r[50] = {0};
  for (int i = 0; i < 60; i++) a[i] = i * 0.3f - 2;
  for (int n = 0; n < 50; n += 7) f(n, r, a);
  for (int i = 0; i < 50; i++) printf("%a ", r[i]);
  return 0;
}
"""


def test_tables_stand_in_front() -> None:
    made = scop_of(
        "for (int i = 0; i < n; i++) { static const double t[2] = {1, 2}; b[i] = t[i % 2]; }", params="int n, double *b"
    )
    assert made.prologue[0] == "static const double t_values[2] = {1, 2};"


@pytest.mark.parametrize("declared", ["static double t[2] = {1, 2}", "static const char *t[2] = {0}"])
def test_other_statics(declared: str) -> None:
    with pytest.raises(Refusal):
        scop_of(f"for (int i = 0; i < n; i++) {{ {declared}; b[i] = t[i % 2] != 0; }}", params="int n, double *b")


def test_results_are_the_same(run_c: Callable[..., str]) -> None:
    text = optimize(SOURCE, Options(eager=True)).text.decode()
    assert text.count("_values[") > 2
    assert run_c(text, "-O1", "-ffp-contract=off", name="after") == run_c(SOURCE, "-O1", "-ffp-contract=off", name="b")
