"""Declarations of mathematical functions in front of vector loops that call them."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from scopt.check.functions.definitions import check_functions
from scopt.diagnostics import InternalError, Location
from scopt.options import Options
from tests.sources import optimize

SOURCE = """#include <math.h>
{include}
#include <stdio.h>
void f(int n, double *restrict y, const double *x) {{
#pragma scop
  for (int i = 0; i < n; i++) y[i] = {call}(x[i]) * 0.5 + 1.0;
#pragma endscop
}}
int main(void) {{
  static double x[999], y[999];
  for (int i = 0; i < 999; i++) x[i] = i * 0.37 - 3;
  f(999, y, x);
  for (int i = 0; i < 999; i++) printf("%a ", y[i]);
  return 0;
}}
"""


def text(call: str, include: str = "") -> str:
    return optimize(SOURCE.format(call=call, include=include), Options()).text.decode()


def test_square_roots_may_be_computed_in_vectors() -> None:
    assert "double (sqrt)(double) __attribute__((const));" in text("sqrt")


@pytest.mark.parametrize(
    ("call", "include"), [("exp", ""), ("sqrt", "#include <errno.h>"), ("sqrt", "extern int errno;")]
)
def test_nothing_is_declared_where(call: str, include: str) -> None:
    """Vectors would give other results, or the file may look at errno."""
    assert "__attribute__((const))" not in text(call, include)


def test_results_are_the_same(run_c: Callable[..., str]) -> None:
    before = run_c(SOURCE.format(call="sqrt", include=""), "-O0", "-lm", name="before")
    for flags in (("-O2", "-fopenmp", "-Wall", "-Werror", "-Wno-unknown-pragmas"), ("-O1", "-std=c99")):
        assert run_c(text("sqrt"), *flags, "-lm", name="after") == before


CLAMPED = """#include <math.h>
{include}
#include <stdio.h>
static double up(double s, double x) {{ return s > 0 ? fmax(x, 0.0) : fmin(x, s); }}
void f(int n, double *restrict y, float *restrict z, long *restrict k, const double *restrict x) {{
#pragma scop
  for (int i = 0; i < n; i++) {{
    y[i] = up(x[i], x[n - 1 - i]) + up(x[i], round(x[i]));
    z[i] = fminf(roundf((float)x[i]), fmaxf(2.5f, (float)x[n - 1 - i]));
    k[i] = lrint(x[i]) + lroundf((float)x[i]);
  }}
#pragma endscop
}}
int main(void) {{
  static double x[77], y[77];
  static double some[] = {{0.0, -0.0, 0.5, -0.5, 0.49999999999999994, 2.5, 1e300, -INFINITY, NAN, 4503599627370497.0}};
  static float z[77];
  static long k[77];
  for (int i = 0; i < 77; i++) x[i] = i < 10 ? some[i] : (i - 40) * 0.25;
  f(77, y, z, k, x);
  for (int i = 0; i < 77; i++) printf("%a %a %ld ", y[i], z[i], k[i]);
  return 0;
}}
"""


def clamped(include: str = "") -> str:
    return optimize(CLAMPED.format(include=include), Options()).text.decode()


def test_minima_and_rounded_numbers_are_defined_for_gcc(run_c: Callable[..., str]) -> None:
    found = clamped()
    for name in ("fmax", "fmin", "fmaxf", "fminf", "round", "roundf", "lrint", "lroundf"):
        assert len(re.findall(rf"\({name}\)\((?:double|float) a[^)]*\) {{ return", found)) == 1
    assert found.count('GCC optimize("no-thread-jumps")') == 1
    before = run_c(CLAMPED.format(include=""), "-O1", "-lm", name="before")
    for flags in (("-O0", "-Wall", "-Werror", "-Wno-unknown-pragmas"), ("-O3", "-mavx2", "-std=c99")):
        assert run_c(found, *flags, "-lm", name="after") == before


@pytest.mark.parametrize("include", ["#include <errno.h>", "#include <tgmath.h>"])
def test_nothing_is_defined_where_it_might_be_seen(include: str) -> None:
    assert "gnu_inline" not in clamped(include)


@pytest.mark.parametrize("word", ["sqrtl", "malloc", "sqrt2"])
def test_other_declarations_are_refused(word: str) -> None:
    declared = f"#ifdef __GNUC__\ndouble ({word})(double) __attribute__((const));\n#endif\n"
    with pytest.raises(InternalError):
        check_functions(Location("in.c", 1, 1), [declared], long_type="long")


def test_other_definitions_are_refused() -> None:
    (defined,) = re.findall(r"#if [^#]*\(fmax\)[^#]*#endif\n", clamped())
    check_functions(Location("in.c", 1, 1), [defined], long_type="long")
    with pytest.raises(InternalError):
        check_functions(Location("in.c", 1, 1), [defined.replace("a > b", "b > a")], long_type="long")
