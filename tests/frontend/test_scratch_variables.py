"""Static variables that each function writes before it reads them: nobody asks for what a region leaves there."""

from __future__ import annotations

import pytest

from scopt.frontend.extract import extract
from scopt.frontend.region.parse import parse
from scopt.options import Options

REGION = """
double a[9], b[9];
void f(int n) {
#pragma scop
  for (int i = 0; i < n; i++) { t = a[i]; b[i] = t * t; }
#pragma endscop
  BEHIND
}
"""


def is_private(before: str, behind: str = "", more: str = "") -> bool:
    source = before + REGION.replace("BEHIND", behind) + more
    tu = parse(source.encode(), "in.c", Options())
    return extract(tu, tu.regions[0], "scop0").arrays["t"].private


@pytest.mark.parametrize(
    "more",
    [
        "void g(void) { t = 1; b[0] = t; }",
        "double g(double x) { t = x; double y = t; f(3); t = y; return t; }",
        "double g(double u) { f(3); return u * 2; }",
        "void g(int n) { for (int k = 0; k < n; k++) { f(k); t = k; b[k] = t; } }",
    ],
)
def test_scratch(more: str) -> None:
    assert is_private("static double t;", more=more)


@pytest.mark.parametrize(
    ("before", "behind", "more"),
    [
        ("double t;", "", "void g(void) { t = 1; b[0] = t; }"),
        ("static double t;", "b[0] = t;", "void g(void) { t = 1; b[0] = t; }"),
        ("static double t;", "", "double g(void) { return t; }"),
        ("static double t;", "", "double g(void) { t = 1; f(3); return t; }"),
        ("static double t;", "", "double g(int n) { t = 1; while (n--) f(n); b[0] = t; return 1; }"),
        ("static double t;", "", "double g(int n) { t = 1; for (;;) { if (f(3), n--) break; t = 2; } return t; }"),
        ("static double t;", "", "double g(int n) { switch (n) { case 1: f(3); break; case 2: t = 1; } return t; }"),
        ("static double t;", "", "double g(int n) { if (n) t = 1; return t; }"),
        ("static double t;", "", "double *g(void) { t = 1; return &t; }"),
        ("static double t;", "", "void g(void) { t = 1; { extern double t; b[0] = t; } }"),
        ("static double t;", "", "void g(void) { t = 1; b[0] = ({ f(3); t; }); }"),
        ("static double t; static double *p = &t;", "", "void g(void) { t = 1; b[0] = t; }"),
    ],
)
def test_no_scratch(before: str, behind: str, more: str) -> None:
    assert not is_private(before, behind, more)
