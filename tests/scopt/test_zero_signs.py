"""Which values are never the zero with a sign, and which extrema are the same in any order."""

from __future__ import annotations

import pytest

from scopt.poly.reordering import Reorder, updates_of
from tests.sources import scop_of

PARAMS = (
    "int n, const double x[1000], const double y[1000], const float u[1000], const int a[1000], "
    "const unsigned b[1000], double *out, double w[1001]"
)
BEFORE = "#include <math.h>\n"


def any_order(loop: str) -> set[str]:
    """The arrays that statements of a loop update in any order."""
    body = f"double r = 0; double d, e; float f; for (i = 0; i < n; i++) {{ {loop} }} *out = r + f;"
    scop = scop_of(body, PARAMS, BEFORE)
    return {one.array.rstrip("0123456789_") for one in updates_of(scop, Reorder.SAFE).values() if one.best}


@pytest.mark.parametrize(
    "value",
    [
        "fabs(x[i])",
        "fabs(x[i]) + y[i]",
        "a[i]",
        "b[i] * 1.5",
        "x[i] * x[i]",
        "x[i] * x[i] + y[i] * y[i]",
        "(x[i] - y[i]) * (x[i] - y[i])",
        "sqrt(x[i] * x[i] + y[i] * y[i])",
        "fabs(x[i]) / (fabs(y[i]) + 1)",
        "exp(x[i])",
        "1 - x[i]",
        "a[i] - x[i]",
        "x[i] > 0 ? x[i] : 0",
        "-2.5 + x[i]",
        "1 - x[i] < 0 ? -(1 - x[i]) : 1 - x[i]",
        "fmin(fabs(x[i]), 3.0)",
        "(double)a[i]",
        "fabsf(u[i])",
    ],
)
def test_these_are_no_zeros_with_a_sign(value: str) -> None:
    assert any_order(f"d = {value}; if (d > r) r = d;") == {"r"}
    assert any_order(f"d = {value}; r = d < r ? d : r;") == {"r"}


@pytest.mark.parametrize(
    "value",
    [
        "x[i]",
        "x[i] - y[i]",
        "x[i] + y[i]",
        "x[i] * y[i]",
        "fabs(x[i]) * y[i]",
        "-fabs(x[i])",
        "x[i] < 0 ? -x[i] : x[i]",
        "x[i] > 0 ? x[i] : -x[i]",
        "sqrt(x[i])",
        "fabs(x[i]) - x[i] * y[i]",  # one operation, where compilers may make it of both
        "1e-300 * a[i]",
        "sin(x[i])",
        "floor(x[i])",
        "-0.0",
    ],
)
def test_others_may_be(value: str) -> None:
    assert any_order(f"d = {value}; if (d > r) r = d;") == set()


@pytest.mark.parametrize(
    ("loop", "found"),
    [
        ("r = fmax(r, fabs(x[i]));", {"r"}),
        ("r = fmin(fabs(x[i]), r);", {"r"}),
        ("r = fmax(r, x[i]);", set()),
        ("r = fmaxf(r, fabsf(u[i]));", set()),  # rounds what the cell holds
        ("d = fabs(x[i]); r = r > d ? r : d;", set()),  # takes what is no number
        (
            "d = fabs(x[i]); if (d > r) r = d; r = fmax(r, d);",
            set(),
        ),  # what becomes of no number differs
        ("d = fabs(x[i]); e = x[i] * y[i]; d = d + e; if (d > r) r = d;", set()),
        ("d = x[i] * y[i]; e = d; d = fabs(x[i]) + e; if (d > r) r = d;", set()),
        ("f = fabs(x[i]); if (f > r) r = f;", {"r"}),
        ("f = 1 - x[i]; if (f > r) r = f;", set()),  # may be too small for a float
        ("d = i; d += 0.5; if (d > r) r = d;", {"r"}),
        ("d = 1 - x[i]; if (a[i]) d = x[i]; if (d > r) r = d;", set()),
    ],
)
def test_which_extrema_have_any_order(loop: str, found: set[str]) -> None:
    assert any_order(loop) == found


def test_functions_of_the_program_are_others() -> None:
    before = "static double fabs(double x) { return x < 0 ? -x : x; }\n"
    scop = scop_of("for (i = 0; i < n; i++) { s = fabs(x[i]); if (s > out[0]) out[0] = s; }", PARAMS, before)
    assert not updates_of(scop, Reorder.SAFE)


@pytest.mark.parametrize(
    ("loop", "known"),
    [
        ("d = 0; for (int k = 0; k < 3; k++) d += x[i + k] * y[k]; d = fabs(d); if (d > r) r = d;", True),
        ("d = x[i] - y[i]; d = d * d; d = sqrt(d); if (d > r) r = d;", True),
        ("w[i] = x[i] * y[i]; w[i] = fabs(w[i]); if (w[i] > r) r = w[i];", True),
        # what is written last, or in another iteration, or perhaps not, or in another cell
        ("d = fabs(x[i]); d *= y[i]; if (d > r) r = d;", False),
        ("d = fabs(x[i]); for (int k = 0; k < 3; k++) d *= y[k]; if (d > r) r = d;", False),
        ("if (d > r) r = d; d = x[i]; d = fabs(d);", False),
        ("d = x[i]; if (y[i] > 2) d = fabs(d); if (d > r) r = d;", False),
        ("w[i] = x[i]; w[i + 1] = fabs(w[i + 1]); if (w[i] > r) r = w[i];", False),
        ("w[i] = fabs(x[i]); w[b[i]] = x[i]; if (w[i] > r) r = w[i];", False),
    ],
)
def test_the_last_value_in_an_iteration_is_what_counts(loop: str, known: bool) -> None:
    assert any_order(loop) == ({"r"} if known else set())
