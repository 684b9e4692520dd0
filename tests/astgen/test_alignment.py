"""Vector loops that are split at a line's start: which, where, and that the instances stay what they are."""

from __future__ import annotations

from functools import cache

import hypothesis.strategies as st
from hypothesis import given, settings

from scopt.astgen.passes.alignment import with_aligned_starts
from scopt.ir.expr import evaluate, plus
from scopt.ir.nest import Block, Call, Const, Expr, For, LoopMark, LoopNest, Name
from scopt.ir.scop import Scop
from scopt.options import Options
from tests.sources import optimize, scop_of as parsed

SIMD = LoopMark(simd=True)
ROW, COLUMN, N, T = Name("i"), Name("j"), Name("n"), Name("t")
STENCIL = (
    "for (i = 1; i < n - 1; i++)"
    " for (j = 1; j < m - 1; j++) A[i][j] = B[i - 1][j] + B[i][j] + B[i + 1][j] + B[i][j - 1] + B[i][j + 1];"
)
LINE = 64
PARAMS = "int n, int m, double A[400][400], double B[400][400], double *x, double *y"


@cache
def scop_of(body: str, params: str = PARAMS) -> Scop:
    return parsed(body, params)


def row(start: int, upper: Expr = N, shift: int = 0, mark: LoopMark = SIMD) -> For:
    return For("j", Const(start), upper, 1, Block((Call("S0", (ROW, plus(COLUMN, shift))),)), mark)


def split(loop: For, body: str = STENCIL, depth: int = 2) -> tuple[object, ...]:
    """What becomes of the loop inside of as many others."""
    nest = Block((loop,))
    for level in range(depth):
        nest = Block((For("tic"[level], Const(0), N, 1, nest),))
    nest = with_aligned_starts(scop_of(body), LoopNest(nest), LINE).body
    for _ in range(depth):
        (outer,) = nest.items
        assert isinstance(outer, For)
        nest = outer.body
    return nest.items


def test_most_references_start_at_a_line() -> None:
    before, after = split(row(1))
    assert isinstance(before, For)
    assert isinstance(after, For)
    assert before.lower == Const(1)
    assert evaluate(before.upper, {"n": 100}) == 7
    assert evaluate(before.upper, {"n": 3}) == 3
    assert (after.lower, after.upper) == (Const(8), N)
    assert (before.mark.lanes, after.mark.lanes) == (0, 8)  # vectors as long as a line, where there are any
    (_, shifted) = split(row(4, shift=-3))
    assert isinstance(shifted, For)
    assert shifted.lower == Const(11)


def test_short_rows_are_left_alone() -> None:
    """One by one, the first iterations and those that are left over take as long as the vectors between them."""
    short = scop_of(STENCIL, PARAMS.replace("400", "100"))
    loop = For("i", Const(0), N, 1, Block((row(1),)))
    assert with_aligned_starts(short, LoopNest(Block((loop,))), LINE).body.items == (loop,)


def test_what_is_left_alone() -> None:
    for loop in (
        row(0),
        row(8),
        row(3, shift=-3),
        row(1, mark=LoopMark()),
        row(1, Const(20)),
        row(1, mark=LoopMark(simd=True, parallel=True)),
    ):
        assert split(loop) == (loop,)
    assert split(row(1), depth=1) == (row(1),)  # each row once
    few = "for (i = 0; i < n; i++) for (j = 1; j < n; j++) A[i][j] = B[i][j - 1];"
    assert split(row(1), few) == (row(1),)
    columns = "for (i = 0; i < n; i++) for (j = 1; j < n; j++) A[j][i] = A[j][i] * B[j][i];"
    assert split(row(1), columns) == (row(1),)


@settings(deadline=None)
@given(start=st.integers(0, 20), shift=st.integers(-9, 9), size=st.integers(-3, 40))
def test_the_instances_and_their_order_stay(start: int, shift: int, size: int) -> None:
    loop = row(start, N, shift)
    found = [
        value
        for part in split(loop)
        if isinstance(part, For)
        for value in range(evaluate(part.lower, {"n": size}), evaluate(part.upper, {"n": size}) + 1)
    ]
    assert found == list(range(start, size + 1))


def test_a_stencil_in_tiles_of_time() -> None:
    source = """
void f(int steps, int n, double A[restrict n][n], double B[restrict n][n]) {
#pragma scop
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        B[i][j] = 0.2 * (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i + 1][j] + A[i - 1][j]);
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        A[i][j] = 0.2 * (B[i][j] + B[i][j - 1] + B[i][j + 1] + B[i + 1][j] + B[i - 1][j]);
  }
#pragma endscop
}
"""
    text = optimize(source, Options()).text.decode()
    assert (
        "for (long j = 1; j < scopt_min(n - 1L, 8); j++)" in text
        or "for (long j = 1; j < scopt_min(8, n - 1L); j++)" in text
    )
    assert "for (long j = 8; j < n - 1L; j++)" in text


def test_the_length_of_vectors_is_asked_for() -> None:
    loops = "for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++)"
    body = f"for (int t = 0; t < s; t++) {{ {loops} B[i][j] = A[i][j - 1] + A[i][j] + A[i - 1][j];"
    back = f" {loops} A[i][j] = B[i][j - 1] + B[i][j] + B[i - 1][j]; }}"
    head = "void f(int s, int n, float A[n][n], float B[n][n]) {\n#pragma scop\n"
    result = optimize(f"{head}{body}{back}\n#pragma endscop\n}}\n".encode(), Options())
    assert b"#pragma omp simd simdlen(16)\n" in result.text


BYTES = """void f(int t, unsigned char a[{n}][{n}], unsigned char b[{n}][{n}]) {{
#pragma scop
  for (int k = 0; k < t; k++)
    for (int i = 1; i < {n} - 1; i++)
      for (int j = 1; j < {n} - 1; j++)
        b[i][j] = a[i - 1][j] {op} a[i][j] {op} a[i + 1][j] {op} a[i][j - 1];
#pragma endscop
}}
"""


def test_rows_are_long_enough_for_what_goes_in_front() -> None:
    """Up to 63 bytes in front are no whole vector."""
    splits = {
        n: "j = 64;" in optimize(BYTES.format(n=n, op="&").encode(), Options()).text.decode() for n in (600, 6000)
    }
    assert splits == {600: False, 6000: True}


def test_operations_hide_loads() -> None:
    """Comparisons take longer than loads that reach into two lines."""
    text = optimize(BYTES.format(n=6000, op="* 3 > 5 ^ 7 +").encode(), Options()).text.decode()
    assert "j = 64;" not in text
    assert "simdlen(64)" in text
