"""Lengths of arrays that constant variables give."""

from __future__ import annotations

import islpy as isl
import pytest

from scopt.diagnostics import Refusal
from scopt.frontend.extract import extract
from scopt.frontend.region.parse import parse
from scopt.ir.scop import Scop
from scopt.options import Options


def scop(declaration: str) -> Scop:
    source = f"""void f(int n, double *x, double *y) {{
  {declaration}
#pragma scop
  for (int i = 0; i < n; i++) {{
    double t[w + 1];
    for (int j = 0; j < w; j++) t[j] = x[i];
    for (int j = 0; j < w; j++) y[i] += t[j];
  }}
#pragma endscop
}}
"""
    tu = parse(source.encode(), "in.c", Options())
    return extract(tu, tu.regions[0], "scop0")


def test_a_length_is_a_number_that_is_tested() -> None:
    made = scop("const int w = 2 * 4;")
    assert made.arrays["t"].sizes == (9,)
    assert made.guard is not None
    assert made.guard.parameters.is_equal(isl.Set("[w] -> { : w = 8 }"))


@pytest.mark.parametrize("declaration", ["int w = 8;", "const int w = n;", "const volatile int w = 8;"])
def test_what_may_be_another_number_stays(declaration: str) -> None:
    with pytest.raises(Refusal):
        scop(declaration)
