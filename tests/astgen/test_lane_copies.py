"""Vector loops whose lanes have copies of an extremum: which have, that results stay the same, and that faults are
refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from scopt import pipeline
from scopt.astgen import generation
from scopt.astgen.transformed_program import Program
from scopt.check.lanes_beginnings import check_lane_copies
from scopt.diagnostics import InternalError
from scopt.ir.nest import For, LoopMark, LoopNest, Parted
from scopt.ir.nest_walks import Item, map_block
from scopt.ir.scop import Dependences
from scopt.options import Options
from tests.conftest import RunC
from tests.same_results import check_same_results

PARAMS = "int n, const double x[], double t[], const float u[], const int a[], double *out"


def text_of(loop: str, options: Options | None = None) -> str:
    source = f"""#include <math.h>
void f({PARAMS})
{{
  double r = 0, q = 1e300;
  float p = 0;
#pragma scop
{loop}
#pragma endscop
  *out = r + q + p;
}}
"""
    return pipeline.optimize(source.encode(), options or Options(), file="in.c").text.decode()


@pytest.mark.parametrize(
    ("loop", "lines"),
    [
        ("for (int i = 0; i < n; i++) { double d = fabs(x[i]); if (d > r) r = d; }", ["r_lanes[16]", "if (n >= 64) {"]),
        (
            "for (int i = 0; i < n; i++) { t[i] = 0.5 * (x[i] + x[i + 1]); double d = fabs(t[i] - x[i]); "
            "if (d > r) r = d; }",
            ["t[i] = 0.5", "if (r_lanes[lane] > r)", "r_lanes[i - it] = r_lane;"],
        ),
        ("for (int i = 0; i < n; i++) p = fabsf(u[i]) > p ? fabsf(u[i]) : p;", ["float p_lanes[32];", "it += 32"]),
        (
            "for (int i = 0; i < n; i++) r = fmax(r, fabs(x[i]) + t[i]);",
            ["if (n >= 64 && !(r == 0 && __builtin_signbit(r)))", "if (r_lanes[lane] > r || r != r)"],
        ),
        (
            "for (int i = 0; i < n; i++) { double d = x[i] * x[i]; if (d > r) r = d; if (d < q) q = d; }",
            ["double q_lanes[16];", "double r_lanes[16];", "if (q_lanes[lane] < q)"],
        ),
        (  # small loops inside are straight code, with a comparison for each point
            "for (int c = 0; c < 2; c++) { double v = 0; for (int i = 3; i < n; i++) for (int k = 0; k < 2; k++) { "
            "double d = 0; for (int h = 0; h < 4; h++) d += x[4 * k + h] * x[i - h + c]; d = fabs(d); "
            "if (d > v) v = d; } t[c] = v; }",
            ["double v_lanes[16];", "v_lane = d;"],
        ),
    ],
)
def test_lanes_have_copies(loop: str, lines: list[str]) -> None:
    text = text_of(loop)
    assert "found" not in text
    assert [line for line in lines if line not in text] == []


@pytest.mark.parametrize(
    "loop",
    [
        "for (int i = 0; i < n; i++) if (x[i] > r) r = x[i];",
        "for (int i = 0; i < 100; i++) { double d = fabs(x[i]); if (d > r) r = d; }",  # too short
        "for (int i = 0; i < n; i++) { double d = fabs(x[i]); if (d > r) r = d; t[i] = r; }",
        "for (int i = 1; i < n; i++) { t[i] = t[i - 1] / 2; double d = fabs(t[i]); if (d > r) r = d; }",
    ],
)
def test_others_have_none(loop: str) -> None:
    assert "_lanes[" not in text_of(loop)


def test_threads_get_no_clause() -> None:
    """Its copies would begin with the least number, which clang takes for a finite one."""
    text = text_of("for (int i = 0; i < n; i++) { double d = fabs(x[i]); if (d > r) r = d; }")
    assert "reduction(" not in text


PROGRAM = """#include <math.h>
#include <stdio.h>
#include <stdlib.h>
static void run(int n, const double *restrict x, double *restrict t, const float *restrict u, double *restrict out)
{
  double r = out[0], q = out[1], s = out[2], m = out[3] == 0 ? 1 : out[3], d;
  float p = out[4];
#pragma scop
  for (int i = 0; i < n; i++) { d = fabs(x[i]); if (d > r) r = d; if (d < q) q = d; }
#pragma endscop
#pragma scop
  for (int i = 0; i < n; i++) { t[i] = x[i] * 0.5 + 1; s = fmax(s, fabs(t[i] - x[i])); }
#pragma endscop
#pragma scop
  for (int i = 0; i < n; i++) m = fmin(x[i] * x[i], m);
#pragma endscop
#pragma scop
  for (int i = 0; i < n; i++) p = p < fabsf(u[i]) ? fabsf(u[i]) : p;
#pragma endscop
#pragma scop
  for (int c = 0; c < 3; c++) {
    double b = out[c];
    for (int i = 2; i < n; i++)
      for (int k = 0; k < 2; k++) {
        double e = 0;
        for (int h = 0; h < 3; h++) e += (k - h) * x[i - h];
        e = fabs(e);
        if (e > b) b = e;
      }
    t[c] = b;
  }
#pragma endscop
  q = t[0] < q ? t[0] : q;
  out[0] = r; out[1] = q; out[2] = s; out[3] = m; out[4] = p;
}
static void rows(int h, int w, const double x[restrict h][w], double t[restrict h][w], double *restrict out)
{
  double r = out[0];
#pragma scop
  for (int i = 0; i < h; i++)
    for (int j = 1; j < w; j++) {
      t[i][j] = x[i][j] - x[i][j - 1];
      double d = fabs(t[i][j]);
      if (d > r) r = d;
    }
#pragma endscop
  out[0] = r;
}
int main(void)
{
  const double first[] = {0.0, -0.0, NAN, -INFINITY, 3.5, 1e300};
  const int sizes[] = {1, 63, 64, 65, 130, 1000};
  for (int k = 0; k < 6 * 6 * 5; k++) {
    int n = sizes[k % 6], kind = k / 36;
    double *x = calloc(n * 8, 8), *t = calloc(n * 8, 8), out[5];
    float *u = calloc(n, 4);
    unsigned long z = k * 77 + 1;
    for (int i = 0; i < n * 8; i++) {
      z = z * 6364136223846793005u + 1442695040888963407u;
      x[i] = (double)(long)(z >> 40) / 1000 - 5000;
      if (kind == 1 && z % 5 == 0) x[i] = NAN;
      if (kind == 2) x[i] = z & 4096 ? -0.0 : 0.0;
      if (kind == 3) x[i] = NAN;
      if (kind == 4) x[i] = -INFINITY;
      if (i < n) u[i] = x[i];
    }
    for (int i = 0; i < 5; i++) out[i] = first[k / 6 % 6];
    run(n, x, t, u, out);
    for (int i = 0; i < 5; i++) if (out[i] == out[i]) printf("%a ", out[i]); else printf("none ");
    rows(8, n, (void *)x, (void *)t, out);
    printf("%d %a\\n", out[0] != out[0], out[0] == out[0] ? out[0] : 0);
    free(x); free(t); free(u);
  }
}
"""


@pytest.mark.parametrize("sanitized", [False, True])
def test_results_stay_the_same(run_c: RunC, sanitized: bool) -> None:
    made = pipeline.optimize(PROGRAM, Options()).text.decode()
    assert made.count("_lanes[lane] = ") >= 7
    check_same_results(run_c, PROGRAM, made, sanitized=sanitized)


def test_unmarked_ones_gain() -> None:
    source = """#include <math.h>
double f(int n, const double *x) {
  double r = 0;
  for (int i = 0; i < n; i++) { double d = fabs(x[i]); if (d > r) r = d; }
  return r;
}
"""
    text = pipeline.optimize(source.encode(), Options(autodetect=True), file="in.c").text.decode()
    assert "r_lanes[16]" in text


def test_loops_over_narrow_cells_keep_their_copies() -> None:
    """They ask for no wider vectors than their strips have copies."""
    source = """void f(int n, const short *restrict from, double *restrict most)
{
#pragma scop
  for (int i = 0; i < n; i++)
    *most = from[i] > *most ? from[i] : *most;
#pragma endscop
}
"""
    text = pipeline.optimize(source.encode(), Options(), file="in.c").text.decode()
    assert "_lanes[16]" in text


def _plain(mark: LoopMark) -> LoopMark:
    return replace(mark, parted=None)


def _by_clause(mark: LoopMark) -> LoopMark:
    return replace(mark, parted=None, reductions=tuple(replace(one, best=False) for one in mark.reductions))


def _hidden(mark: LoopMark) -> LoopMark:
    assert mark.parted is not None
    return replace(mark, parted=replace(mark.parted, copies=(("x", "r_lane"),)))


def _twice(mark: LoopMark) -> LoopMark:
    parted = mark.parted
    assert parted is not None
    return replace(mark, parted=Parted(parted.strip, parted.strip, parted.count, parted.copies))


@pytest.mark.parametrize(
    ("change", "why"),
    [(_plain, "no copies"), (_by_clause, "another number"), (_hidden, "something else"), (_twice, "something else")],
)
def test_faults_are_refused(monkeypatch: pytest.MonkeyPatch, change: Callable[[LoopMark], LoopMark], why: str) -> None:
    seen: list[tuple[Program, Dependences]] = []

    def kept(program: Program, deps: Dependences) -> None:
        seen.append((program, deps))
        check_lane_copies(program, deps)

    monkeypatch.setattr("scopt.check.program.check_lane_copies", kept)
    monkeypatch.setattr("scopt.crew.Crew.begin", lambda self, check: check())
    text_of("for (int i = 0; i < n; i++) { double d = fabs(x[i]); if (d > r) r = d; }")
    program, deps = seen[-1]

    def visit(item: Item) -> tuple[Item, ...]:
        return (replace(item, mark=change(item.mark)) if isinstance(item, For) and item.mark.parted else item,)

    wrong = replace(program, nest=LoopNest(map_block(program.nest.body, visit)))
    with pytest.raises(InternalError, match=why):
        check_lane_copies(wrong, deps)


def test_the_step_is_listed() -> None:
    assert "lane-copies" in [one.name for one in generation.REWRITES]
