"""Choices of statements in strips: which become calls, and that programs compute the same."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from scopt import ir, pipeline
from scopt.astgen.lower.body_syntax import call
from scopt.astgen.passes import own_choices
from scopt.astgen.passes.own_choices import picks_own, with_own_picks, without_own_picks
from scopt.ir.chosen_values import element_type
from scopt.ir.walks import same_tree
from scopt.machine import Machine
from scopt.options import Options
from tests.conftest import RunC
from tests.fuzz.harness import without_thresholds
from tests.same_results import check_same_results
from tests.sources import optimize, scop_of

PARAMS = "int n, float x[n], float y[n], double z[n], int c[n]"
LOOP = "for (i = 0; i < n; i++) {{ float v = x[i]; int m = c[i]; {} y[i] = v; c[i] = m; }}"


@pytest.mark.parametrize(
    ("update", "picked"),
    [
        ("if (x[i] < 1) { v = v * v + 1; m++; }", True),
        ("if (x[i] < 1) { v = v * v; v += x[i]; }", True),
        ("v = x[i] < 1 ? v * v : v;", True),
        ("v = x[i] < 1 ? v * v : x[i] > 3 ? 2 : 1.5f;", False),  # an int among them
        ("v = x[i] < 1 ? v * v : x[i] > 3 ? 2.0f : 1.5f;", True),
        ("if (v * v < x[i]) v = v * v;", False),  # known before
        ("if (x[i] < 1) v = x[i];", False),  # nothing is computed
        ("if (x[i] < 1) v = v * 0.5;", False),  # of another type
        ("if (x[i]) v = v * v;", False),  # not 0 or 1
        ("if (x[i] < 1) v = z[c[i]];", False),
        ("if (x[i] < 1) v = v * x[c[i]];", False),  # nothing else says that there is such a cell
        ("if (x[i] < 1) m = m + 1;", False),
        ("v = v * v;", False),
    ],
)
def test_what_is_picked(update: str, picked: bool) -> None:
    scop = scop_of(LOOP.format(update), PARAMS)
    assert any(picks_own(scop, one) for one in scop.statements) == picked


def test_calls_and_back() -> None:
    scop = scop_of(LOOP.format("v = x[i] < 1 ? v * v : x[i] > 3 ? 2.0f : 1.5f;"), PARAMS)
    (one,) = (one for one in scop.statements if picks_own(scop, one))

    def type_of(node: object) -> str | None:
        return element_type(scop.arrays.values(), node)

    made = with_own_picks(scop, one.body, type_of)
    assert not same_tree(made, one.body)
    assert same_tree(without_own_picks(scop, made, type_of), one.body)


# Of longer vectors, several updates below a condition have masks.
SHORTER = Options(machine=Machine(vector_bytes=32, vector_registers=16))
PROGRAM = """#include <stdio.h>
void f(int w, int h, unsigned char count[h][w], double price[h], const double *s, int steps) {
#pragma scop
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      float cr = -2.0f + 3.0f * x / w, ci = -1.25f + 2.5f * y / h, zr = 0.0f, zi = 0.0f;
      int n = 0;
      for (int k = 0; k < 50; k++) {
        float rr = zr * zr, ii = zi * zi;
        if (rr + ii <= 4.0f) {
          zi = 2.0f * zr * zi + ci;
          zr = rr - ii + cr;
          n++;
        }
      }
      count[y][x] = (unsigned char)n;
    }
  for (int i = 0; i < h; i++) {
    double r = s[i];
    for (int k = 0; k < steps; k++) {
      double g = r * r - s[i];
      r = g > 0.5 ? r - g / (2.0 * r) : r * 1.25;
    }
    price[i] = r;
  }
#pragma endscop
}
int main(void) {
  static unsigned char count[37 * 53];
  double price[37], s[37];
  for (int i = 0; i < 37; i++) s[i] = 0.5 + i * 0.75;
  for (int w = 1; w < 53; w += 13) {
    f(w, 37, (void *)count, price, s, w % 7);
    for (int i = 0; i < 37 * w; i++) printf("%d ", count[i]);
    for (int i = 0; i < 37; i++) printf("%.17g\\n", price[i]);
  }
}
"""


@pytest.mark.parametrize("sanitized", [False, True])
def test_results_are_the_same(run_c: RunC, sanitized: bool) -> None:
    text = without_thresholds(optimize(PROGRAM.encode(), SHORTER).text.decode())
    assert "scopt_pickf(rr + ii <= 4.0f, " in text
    assert "scopt_pickd(" in text
    check_same_results(run_c, PROGRAM, text, sanitized=sanitized)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda condition, one, other: [condition, other, one],
        lambda condition, one, other: [condition, one, one],
        lambda condition, one, other: [other, one, condition],
    ],
)
def test_other_choices_are_refused(wrong: Callable[..., list[ir.Node]], monkeypatch: pytest.MonkeyPatch) -> None:
    def made(name: str, arguments: list[ir.Node]) -> ir.FuncCall:
        return call(name, wrong(*arguments))

    monkeypatch.setattr(own_choices, "call", made)
    result = pipeline.optimize(PROGRAM.encode(), SHORTER)
    assert "schedule.simplified" in [one.id for one in result.remarks]
    assert "scopt_pickf(" not in result.text.decode()


def test_longer_vectors_have_masks() -> None:
    text = optimize(PROGRAM.encode(), Options()).text.decode()
    assert "scopt_pickf(" not in text
    assert "scopt_pickd(" in text
