"""Choices that stand several times in an expression are in variables."""

from __future__ import annotations

import pytest

from scopt import pipeline
from scopt.options import Options
from tests.conftest import RunC
from tests.sources import scop_of

PARAMS = "int n, unsigned char *a, unsigned char *b, short *c, int *e"
BEFORE = "#define MAX(a, b) ((a) > (b) ? (a) : (b))\n#define MIN(a, b) ((a) < (b) ? (a) : (b))\n"


def locals_of(body: str) -> dict[str, str]:
    scop = scop_of(f"for (int p = 0; p < n; p++) {{ {body} }}", PARAMS, BEFORE)
    return {name: array.type.spelling for name, array in scop.arrays.items() if array.local}


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("b[p] = MAX(MAX(a[p], a[p + 1]), a[p + 2]);", ["unsigned char"]),
        ("e[p] = MAX(MAX(MAX(a[p], a[p + 1]), MIN(a[p + 2], a[p + 3])), 7);", ["unsigned char"] * 3),
        ("e[p] = MIN(MAX(a[p], c[p]), 9) + 3;", ["short"]),
        ("b[p] = MAX(MAX(b[p], b[p + 1]), a[p]);", []),  # what it is written to
        ("e[p] = MAX(MAX(e[p], a[p]), a[p + 1]);", []),
        ("c[p] = MAX(a[p], a[p + 1]);", []),
        ("c[p] = a[p] ? MAX(MAX(a[p], a[p + 1]), 3) : 4;", []),  # which isn't always evaluated
        ("if (c[p]) b[p] = MAX(MAX(a[p], a[p + 1]), 3);", []),
        ("c[p] = e[p] && MAX(a[p], a[p + 1]) > 3 && MAX(a[p], a[p + 1]) < 9;", []),
        ("e[p] = MAX(MAX(a[p], a[p + 1]) + 1, a[p]);", ["unsigned char"]),
    ],
)
def test_choices_that_stand_twice(body: str, found: list[str]) -> None:
    assert list(locals_of(body).values()) == found


def test_names_are_new() -> None:
    scop = scop_of(
        "int choice_0 = 7; for (int p = 0; p < n; p++) b[p] = MAX(MAX(a[p], a[p + 1]), choice_0);", PARAMS, BEFORE
    )
    assert "choice_1" in scop.arrays


PROGRAM = f"""
#include <stdio.h>
{BEFORE}
static void f(int n, unsigned char *a, signed char *c, unsigned char *b, int *e) {{
#pragma scop
  for (int p = 1; p < n - 1; p++) {{
    b[p] = MAX(MAX(MAX(a[p - 1], a[p]), a[p + 1]), MIN(MIN(c[p], a[p]), c[p + 1]));
    e[p] = MIN(MAX(a[p - 1], c[p]), MAX(MIN(a[p], c[p + 1]), -3)) << 20;
  }}
#pragma endscop
}}
int main(void) {{
  static unsigned char a[999], b[999]; static signed char c[999]; static int e[999];
  for (int p = 0; p < 999; p++) a[p] = p * 37 % 256, c[p] = p * 91 % 256 - 128;
  f(990, a, c, b, e);
  for (int p = 0; p < 990; p++) printf("%d %d ", b[p], e[p]);
}}
"""


def test_values_are_the_same(run_c: RunC) -> None:
    text = pipeline.optimize(PROGRAM, Options(), file="in.c").text
    assert b"choice_1 = " in text
    assert run_c(text, "-O3", "-w", "-fopenmp", name="emitted") == run_c(PROGRAM, "-O3", "-w", name="original")
