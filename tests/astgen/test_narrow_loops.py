"""Which vector loops have variables of 16 bits, where a test says so or always, and that all values stay the same."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from scopt.astgen.generation import lowered_program, rewritten
from scopt.astgen.rewrite_setting import Setting, Watch
from scopt.astgen.transformed_program import Program
from scopt.check.narrow_values import check_narrow_values
from scopt.diagnostics import InternalError
from scopt.ir.nest import For, Narrow
from scopt.ir.nest_walks import Item, map_block
from scopt.options import Options
from scopt.poly.dependences import dependences
from scopt.scheduler.passes.band_passes import apply_passes
from tests.conftest import RunC
from tests.sources import optimize, scop_of, source_of

PARAMS = "int n, int m, int g, unsigned char *a, unsigned char *b, short *c, int *e, int w[4], signed char v[4]"
WINDOW = "for (i = 0; i < n; i++) { t = 8; for (k = 0; k < 3; k++) t += w[k] * a[i + k]; t = t / 16; b[i] = t; }"


def printed(body: str) -> str:
    return optimize(source_of(body, PARAMS), Options()).text.decode()


@pytest.mark.parametrize(
    ("body", "total"),
    [
        (WINDOW, "8; magnitude += 255 * (scopt_size(w_0) + scopt_size(w_1) + scopt_size(w_2));"),
        (
            WINDOW.replace("w[k]", "v[k]"),
            "8; magnitude += 255 * (scopt_size(v_0) + scopt_size(v_1) + scopt_size(v_2));",
        ),
        (
            "for (i = 0; i < n; i++) { t = g * (a[i] - b[i]); if (t < 0) t = -t; t = t / 2 + m; b[i] = t >> 8; }",
            "0; magnitude += 510 * scopt_size(g); magnitude += scopt_size(m);",
        ),
        ("for (i = 0; i < n; i++) { t = (g * (c[i] >> 8)) >> 3; c[i] = t; }", "0; magnitude += 128 * scopt_size(g);"),
    ],
)
def test_a_test_decides(body: str, total: str) -> None:
    text = printed(body)
    lines = " ".join(text.split())
    assert f"magnitude = {total} if (magnitude <= 32767) {{ short narrow_0 = scopt_short(" in lines
    assert lines.count("{ short t;") == lines.count("if (magnitude <= 32767)") == lines.count("private(t)") / 2 > 0


@pytest.mark.parametrize(
    "body",
    [
        "for (i = 0; i < n; i++) { t = 5 * a[i + 1] - a[i] - a[i + 2]; b[i] = t < 0 ? 0 : t > 255 ? 255 : t; }",
        "for (i = 0; i < n; i++) { t = (a[i] & 0x7f) * 200; t <<= 0; b[i] = t >> 8; }",
    ],
)
def test_constants_decide(body: str) -> None:
    text = printed(body)
    assert "short t;" in text
    assert "magnitude" not in text
    assert "private(t)" not in text  # no other t is left


@pytest.mark.parametrize(
    "body",
    [
        WINDOW.replace("w[k] * a", "w[k] * w[k] * a"),
        WINDOW.replace("w[k] * a[i + k]", "w[k] * c[i + k]"),  # more than 16 bits with any weight but 0
        WINDOW.replace("w[k] * a", "e[i] * a"),
        WINDOW.replace("t / 16", "(t + 0u) / 16"),
        WINDOW.replace("t / 16", "(int)sizeof(t) + t"),
        WINDOW.replace("b[i] = t", "e[i] = t"),
        WINDOW.replace("w[k] * a", "a[0] * g * a"),
        WINDOW.replace("a[i + k]", "a[2 * i + k]"),
        "for (i = 0; i < n; i++) { t = 129 * a[i]; b[i] = t >> 8; }",  # 32895
        "for (i = 0; i < n; i++) { t = a[2 * i] - a[2 * i + 1]; b[i] = t < 0 ? -t : t; }",
    ],
)
def test_others(body: str) -> None:
    text = printed(body)
    assert "short t;" not in text
    assert "magnitude" not in text


def program(body: str) -> Program:
    scop = scop_of(body, PARAMS)
    deps, options = dependences(scop), Options()
    marked = apply_passes(scop, deps, scop.schedule, options, (), ())
    lowered = lowered_program(scop, deps, marked, options.machine, Watch())
    return rewritten(lowered, Setting(options, (), False), Watch())


def with_narrow(made: Program, change: Callable[[Narrow], Narrow]) -> Program:
    def visit(item: Item) -> tuple[Item, ...]:
        if isinstance(item, For) and item.mark.narrow is not None:
            return (replace(item, mark=replace(item.mark, narrow=change(item.mark.narrow))),)
        return (item,)

    return replace(made, nest=replace(made.nest, body=map_block(made.nest.body, visit)))


FAULTS: dict[str, Callable[[Narrow], Narrow]] = {
    "constant": lambda one: replace(one, constant=7),
    "factor": lambda one: replace(one, factors=((254, "w_0"), *one.factors[1:])),
    "missing factor": lambda one: replace(one, factors=one.factors[1:]),
    "twice": lambda one: replace(one, factors=(*one.factors, one.factors[0])),
    "no test": lambda one: replace(one, tested=True),
    "nothing to test": lambda one: replace(one, tested=True, factors=(), copies=()),
    "other variables": lambda one: replace(one, variables=("s",)),
    "hidden": lambda one: replace(one, total="n"),
    "copy of something else": lambda one: replace(one, copies=(("g", "narrow_0"), *one.copies[1:])),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_what_may_be_larger_is_refused(fault: Callable[[Narrow], Narrow]) -> None:
    made = program(WINDOW)
    check_narrow_values(made)
    with pytest.raises(InternalError, match="narrower variables"):
        check_narrow_values(with_narrow(made, fault))


# The largest sums that fit, and the next ones.
RUN = """
#include <stdio.h>
static void f(int n, int *restrict w, unsigned char *restrict a, short *restrict b, short *restrict c) {
  int t;
#pragma scop
  for (int i = 1; i < n - 1; i++) {
    t = w[3];
    for (int k = 0; k < 3; k++) t += w[k] * a[i + k - 1];
    b[i] = (short)(t / 2);
  }
#pragma endscop
#pragma scop
  for (int i = 0; i < n; i++) { t = a[i] - 128 * (a[i] & 1) - 1; c[i] = (short)(t < -5 ? -t : t); }
#pragma endscop
}
int main(void) {
  static unsigned char a[999]; static short b[999], c[999];
  static const int tried[] = {0, 1, -1, 42, 43, -43, 64, -128, 128, 129, 32767, -32768, 65536, 1 << 23, -(1 << 23)};
  for (int p = 0; p < 999; p++) a[p] = p % 7 ? p * 37 % 256 : 255;
  for (int q = 0; q < 15 * 4; q++) {
    int w[4] = {tried[q % 15], q / 15 % 2 ? tried[q % 7] : 0, q / 30 ? -tried[q % 5] : 1, q % 3 ? 127 : -128};
    f(999, w, a, b, c);
    for (int p = 1; p < 998; p++) printf("%d %d ", b[p], c[p]);
  }
}
"""


def test_values_are_the_same(run_c: RunC) -> None:
    text = optimize(RUN, Options()).text
    assert b"short t;" in text
    assert b"magnitude <= 32767" in text
    flags = ("-O3", "-w", "-fopenmp")
    assert run_c(text, *flags, name="emitted") == run_c(RUN, *flags, name="original")
