"""Products of narrow integers in register tiles: operands are widened when they are packed."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from scopt.options import Options
from tests.fuzz.harness import without_thresholds
from tests.sources import optimize

SOURCE = """
#include <stdio.h>
#define N {n}
static {left} A[N][N];
static {right} B[N][N];
static {cell} C[N][N];
static void f(int n, int z) {{
#pragma scop
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {{
      {cell} s = 0;
      for (int k = 0; k < n; k++) s += {product};
      C[i][j] = s;
    }}
#pragma endscop
}}
int main(void) {{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {{
      A[i][j] = ({left})(i * 77 + j * 31 - 90);
      B[i][j] = ({right})(i * 53 - j * 29 + 11);
    }}
  f(N, 7);
  for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) printf("%g ", (double)C[i][j]);
  return 0;
}}
"""


def source(left: str, right: str, cell: str, product: str, n: int = 400) -> str:
    return SOURCE.format(left=left, right=right, cell=cell, product=product, n=n)


def has_tiles(text: str) -> bool:
    return "_columns" in text and "_tile" in text


@pytest.mark.parametrize(
    ("left", "right", "cell", "product"),
    [
        ("unsigned char", "unsigned char", "int", "A[i][k] * B[k][j]"),
        ("unsigned char", "signed char", "int", "A[i][k] * B[j][k]"),
        ("short", "unsigned short", "int", "(A[i][k] - z) * B[k][j]"),
        ("short", "short", "int", "A[i][k] * B[j][k]"),
        ("signed char", "signed char", "int", "(int)A[i][k] * (int)B[k][j]"),
        ("float", "double", "double", "(double)A[i][k] * B[k][j]"),
        ("int", "int", "long", "(long)A[i][k] * (long)B[k][j]"),
    ],
)
def test_operands_are_widened(left: str, right: str, cell: str, product: str, run_c: Callable[..., str]) -> None:
    original = source(left, right, cell, product)
    text = without_thresholds(optimize(original, Options()).text.decode())
    assert has_tiles(text)
    before = run_c(original, "-O1", "-ffp-contract=off", "-w", name="before")
    for flags in (("-O2", "-march=native", "-fopenmp"), ("-O1", "-std=c99", "-fwrapv")):
        assert run_c(text, *flags, "-ffp-contract=off", "-w", name="after") == before


@pytest.mark.parametrize(
    ("left", "right", "cell", "product"),
    [
        # C multiplies in the narrower type, and rounds or wraps there
        ("float", "float", "double", "A[i][k] * B[k][j]"),
        ("int", "int", "long", "A[i][k] * B[k][j]"),
        ("unsigned short", "unsigned short", "unsigned int", "A[i][k] * B[k][j]"),
        ("short", "short", "int", "(short)(A[i][k] * B[k][j])"),
        ("unsigned int", "int", "int", "A[i][k] * B[k][j]"),
    ],
)
def test_what_c_computes_in_another_type_is_no_operand(left: str, right: str, cell: str, product: str) -> None:
    assert not has_tiles(optimize(source(left, right, cell, product, 400), Options()).text.decode())
