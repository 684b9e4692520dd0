"""Variables of type int that only choose among narrow cells get narrow types."""

from __future__ import annotations

import pytest

from scopt import pipeline
from scopt.options import Options
from tests.conftest import RunC
from tests.sources import scop_of

PARAMS = "int n, unsigned char *a, unsigned char *b, signed char *c, unsigned short *d, int *e"
CHOICE = "int v = a[p] < b[p] ? a[p] : b[p];"


def types(body: str) -> dict[str, str]:
    scop = scop_of(f"for (int p = 0; p < n; p++) {{ {body} }}", PARAMS)
    return {name: array.type.spelling for name, array in scop.arrays.items() if array.local}


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (f"{CHOICE} e[p] = v;", {"v": "unsigned char"}),
        (f"{CHOICE} int w = a[p + 1] < v ? v : c[p]; e[p] = w;", {"v": "unsigned char", "w": "short"}),
        (f"{CHOICE} int w = v > 9 ? d[p] : 70; e[p] = w;", {"v": "unsigned char", "w": "unsigned short"}),
        ("int v = a[p], w = b[p]; if (v > w) { int t = v; v = w; w = t; } e[p] = v; e[p + 1] = w;", None),
        ("int v = 255; for (int q = 0; q < 3; q++) if (a[p + q] < v) v = a[p + q]; e[p] = v;", {"v": "unsigned char"}),
        ("int v = 0; for (int q = 0; q < n; q++) if (a[q] > v) v = a[q]; e[p] = v;", {"v": "unsigned char"}),
        ("int v = 9; for (int q = 0; q < n; q++) if (v > c[q]) { v = c[q]; } e[p] = v;", {"v": "signed char"}),
        ("int v = a[p] < 3 ? -1 : (signed char)e[p]; e[p] = v;", {"v": "signed char"}),
    ],
)
def test_choices_of_narrow_cells(body: str, found: dict[str, str] | None) -> None:
    narrow = types(body)
    if found is None:
        assert narrow
        assert set(narrow.values()) == {"unsigned char"}
    else:
        assert found.items() <= narrow.items()


@pytest.mark.parametrize(
    "body",
    [
        "int v = a[p]; e[p] = 3 * v;",  # nothing is chosen
        f"{CHOICE} v = v + 1; e[p] = v;",
        f"{CHOICE} v += 1; e[p] = v;",
        f"{CHOICE} v++; e[p] = v;",
        f"{CHOICE} v = e[p]; e[p] = v;",
        "int v = a[p] < 3 ? 70000 : 0; e[p] = v;",
        "int v = d[p] < 3 ? -1 : d[p]; e[p] = v;",
        "int w = e[p], v = a[p] < 3 ? w : a[p]; e[p] = v;",
        f"unsigned {CHOICE[4:]} e[p] = -v;",
        f"{CHOICE} e[p] = v + sizeof v;",
        "int v = 0; for (int q = 0; q < n; q++) if (a[q] > v && b[q] > 9) v = a[q]; e[p] = v;",  # handed on
        "int v = 0, at = 0; for (int q = 0; q < 99; q++) if (a[q] > v) { v = a[q]; at = q; } e[p] = v; e[p + 1] = at;",
        "int v = 0; for (int q = 0; q < n; q++) if (a[q] > v) v = a[q + 1]; e[p] = v;",
        "int v = 0; for (int q = 0; q < n; q++) if (e[q] > v) v = e[q]; e[p] = v;",
    ],
)
def test_others_are_ints(body: str) -> None:
    assert "v" not in types(body) or types(body)["v"] in ("int", "unsigned int")


def test_variables_that_are_declared_outside_are_ints() -> None:
    scop = scop_of("for (int p = 0; p < n; p++) { t = a[p] < b[p] ? a[p] : b[p]; e[p] = t; }", PARAMS)
    assert scop.arrays["t"].type.spelling == "int"


PROGRAM = """
#include <stdio.h>
static void f(int n, unsigned char *a, signed char *c, int *e) {
#pragma scop
  for (int p = 0; p < n; p++) {
    int v = a[p] < c[p] ? a[p] : c[p], w = a[p] < c[p] ? c[p] : a[p], x = a[p + 1];
    if (x > w) { int t = x; x = w; w = t; }
    int most = -128;
    for (int q = 0; q < 3; q++) if (c[p + q] > most) most = c[p + q];
    e[p] = (v << 20) - ~w * x + -most;
  }
#pragma endscop
}
int main(void) {
  static unsigned char a[999]; static signed char c[999]; static int e[999];
  for (int p = 0; p < 999; p++) a[p] = p * 37 % 256, c[p] = p * 91 % 256 - 128;
  f(990, a, c, e);
  for (int p = 0; p < 990; p++) printf("%d ", e[p]);
}
"""


def test_values_are_the_same(run_c: RunC) -> None:
    text = pipeline.optimize(PROGRAM.encode(), Options(), file="in.c").text
    assert b"unsigned char w" not in text
    assert b"short w" in text
    flags = ("-O3", "-w", "-fopenmp", "-fsanitize=undefined")
    assert run_c(text, *flags, name="emitted") == run_c(PROGRAM, *flags, name="original")
