"""Declarations of mathematical functions in front of vector loops that call them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from scopt.check.functions.definitions import check_functions
from scopt.diagnostics import InternalError, Location
from scopt.options import Options
from scopt.pipeline import optimize

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


@pytest.mark.parametrize("word", ["sqrtl", "malloc", "sqrt2"])
def test_other_declarations_are_refused(word: str) -> None:
    declared = f"#ifdef __GNUC__\ndouble ({word})(double) __attribute__((const));\n#endif\n"
    with pytest.raises(InternalError):
        check_functions(Location("in.c", 1, 1), [declared], long_type="long")
