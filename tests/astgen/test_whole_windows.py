"""Small windows in loops that are no vector loops: constant lengths where no border cuts them off."""

from __future__ import annotations

from collections.abc import Callable

from scopt.astgen.passes.whole_windows import with_whole_windows
from scopt.ir.nest import Block, Call, Const, For, If, LoopMark, LoopNest, Max, Min, Name, Sum
from scopt.options import Options
from tests.sources import optimize

X, Q, R = Name("x"), Name("q"), Name("r")
BODY = Block((Call("S", (X, Q, R)),))
WINDOW = For("r", Max((Const(0), Sum(((-1, X),), 1))), Min((Const(3), Sum(((-1, X), (1, Name("n"))), 1))), 1, BODY)
SOURCE = """#include <stdio.h>
static void f(int c, int n, float *out, const float *in, const float *w) {
#pragma scop
  for (int k = 0; k < c; k++)
    for (int y = 0; y < n; y++)
      for (int x = 0; x < n; x++) {
        float a = in[(k * n + y) * n + x];
        for (int p = 0; p < 3; p++)
          for (int q = 0; q < 4; q++) {
            int at = 2 * x + q - 1;
            if (at < 0 || at >= 2 * n || y + p < 1 || y + p > n)
              continue;
            out[(k * n + y + p - 1) * 2 * n + at] += a * w[(k * 3 + p) * 4 + q];
          }
      }
#pragma endscop
}
int main(void) {
  static float in[1000], out[1000], w[60];
  for (int n = 0; n < 12; n++) {
    for (int i = 0; i < 1000; i++) in[i] = (float)(i % 7) * 0.3f, w[i % 60] = (float)(i % 11), out[i] = 0;
    f(3, n, out, in, w);
    for (int i = 0; i < 1000; i++) printf("%a ", out[i]);
  }
  return 0;
}
"""


def around(*items: For | Call, mark: LoopMark = LoopMark()) -> LoopNest:  # noqa: B008
    return LoopNest(Block((For("x", Const(0), Name("n"), 1, Block(items), mark=mark),)))


def made(nest: LoopNest) -> object:
    (loop,) = with_whole_windows(nest).body.items
    assert isinstance(loop, For)
    return loop.body.items[0]


def test_loops_of_constant_lengths_beside_those_as_they_were() -> None:
    small = For("q", Const(0), Const(2), 1, Block((WINDOW,)))
    choice = made(around(small))
    assert isinstance(choice, If)
    assert choice.otherwise == Block((small,))
    (outer,) = choice.then.items
    assert isinstance(outer, For)
    assert outer.upper == Const(2)
    assert outer.body.items == (For("r", Const(0), Const(3), 1, BODY),)


def test_a_part_of_a_window() -> None:
    """Only the inner loop, where both have many instances, or where its bounds move with the outer one."""
    for low, high, most in ((WINDOW.lower, Min((Const(7), X)), 7), (Max((Const(0), Q)), Const(3), 2)):
        outer = made(around(For("q", Const(0), Const(most), 1, Block((For("r", low, high, 1, BODY),)))))
        assert isinstance(outer, For)
        assert isinstance(outer.body.items[0], If)


def test_others_stay() -> None:
    whole = For("r", Const(0), Const(3), 1, BODY)
    assert made(around(whole)) == whole
    assert made(around(WINDOW, mark=LoopMark(simd=True))) == WINDOW
    assert with_whole_windows(LoopNest(Block((WINDOW,)))).body.items == (WINDOW,)


def test_what_has_loops_of_its_own_stays() -> None:
    assert with_whole_windows(around(WINDOW), {"S"}) == around(WINDOW)


def test_results_are_the_same(run_c: Callable[..., str]) -> None:
    text = optimize(SOURCE, Options(eager=True)).text.decode()
    assert "for (long q = 0; q < 4; q++)" in text
    flags = ("-O2", "-fopenmp", "-ffp-contract=off")
    assert run_c(text, *flags, name="after") == run_c(SOURCE, *flags, name="before")
