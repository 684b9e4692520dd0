"""Cells in place of scalars that collect what they get: where it is done,
and where something looks at the cell in between."""

from __future__ import annotations

import pytest

from scopt import pipeline
from scopt.check.rewritten import check_rewritten
from scopt.ir.printing import CPrinter
from scopt.ir.scop import Scop
from scopt.options import Options
from scopt.poly.dependences import dependences
from scopt.scheduler.passes.forwarding import forward
from scopt.scheduler.passes.waiting_operands import with_operands
from tests.conftest import RunC
from tests.sources import scop_of

MATRICES = "int n, int m, double A[99][99], double B[99][99], double C[99][99], float F[99][99]"
FACTORIZATION = """for (i = 0; i < n; i++) {
  for (j = 0; j < i; j++) { s = A[i][j]; for (k = 0; k < j; k++) s -= A[i][k] * A[k][j]; A[i][j] = s / A[j][j]; }
  for (j = i; j < n; j++) { s = A[i][j]; for (k = 0; k < i; k++) s -= A[i][k] * A[k][j]; A[i][j] = s; } }"""


def statements(scop: Scop) -> list[str]:
    return [CPrinter().visit(s.body) for s in scop.statements]


def test_each_purpose_of_a_scalar_on_its_own() -> None:
    scop = scop_of(FACTORIZATION, MATRICES)
    made = forward(scop, dependences(scop))
    assert made is not None
    assert statements(made) == [
        "A[i][j] -= A[i][k] * A[k][j]",
        "A[i][j] = A[i][j] / A[j][j]",
        "A[i][j] -= A[i][k] * A[k][j]",
    ]
    assert "s" not in made.arrays
    assert made.order.domain().is_equal(made.domain)
    assert made.schedule.get_domain().is_equal(made.domain)


def test_a_local_scalar() -> None:
    body = (
        "for (i = 0; i < n; i++) for (j = 0; j < n; j++) { double sum = 0;"
        " for (k = 0; k < n; k++) sum += A[i][k] * B[k][j]; C[i][j] = sum; }"
    )
    scop = scop_of(body, MATRICES)
    made = forward(scop, dependences(scop))
    assert made is not None
    assert statements(made) == ["C[i][j] = 0", "C[i][j] += A[i][k] * B[k][j]"]
    assert not made.kills
    assert [name for name, array in made.arrays.items() if array.private] == []


SOLVE = "for (k = 0; k < i; k++) s -= A[i][k] * C[LINEk]; C[LINEi] = s / A[i][i];"


@pytest.mark.parametrize(
    ("body", "line", "cells"),
    [
        ("for (i = 0; i < n; i++) { s = B[0][i]; SOLVE }", "0][", 3),
        ("for (i = 0; i < n; i++) { s = C[0][i]; SOLVE }", "0][", 2),
        ("for (j = 1; j < m; j++) for (i = 0; i < n; i++) { s = C[j - 1][i]; SOLVE }", "j][", 3),
        # each line on its own runs together with others, with the sums in scalars
        ("for (j = 0; j < m; j++) for (i = 0; i < n; i++) { s = C[j][i]; SOLVE }", "j][", 0),
    ],
)
def test_rows_that_need_those_before(body: str, line: str, cells: int) -> None:
    scop = scop_of(body.replace("SOLVE", SOLVE).replace("LINE", line), MATRICES)
    made = forward(scop, dependences(scop), kernels=False)
    assert (0 if made is None else len(made.statements)) == cells


def nest(inner: str, after: str = "") -> str:
    return f"for (i = 0; i < n; i++) for (j = 0; j < n; j++) {{ {inner} }} {after}"


SUM = "s = 0; for (k = 0; k < n; k++) s += A[i][k] * B[k][j];"


@pytest.mark.parametrize(
    "body",
    [
        nest(f"{SUM} C[i][j] = s + C[i][j];"),  # the end needs what was there
        nest(f"{SUM} C[i][0] = C[i][j]; C[i][j] = s;"),  # so does another statement in between
        nest("s = 0; for (k = 0; k < n; k++) s += A[i][k] * C[k][j]; C[i][j] = s;"),  # and here the sum itself
        nest(f"{SUM} F[i][j] = s;"),  # another type
        nest(f"{SUM} if (i < m) C[i][j] = s;"),  # no end in some iterations
        nest(f"{SUM} C[i][j] = s; C[j][i] = s;"),  # two ends
        nest(f"{SUM} C[i][j] = s; s = s + 1; B[0][0] = s;"),  # not the end
        nest("for (k = 0; k < n; k++) s += A[i][k] * B[k][j]; C[i][j] = s;"),  # begins with what was there
        nest("s = A[i][j]; C[i][j] = s;"),  # nothing is gained
    ],
)
def test_elsewhere_scalars_stay(body: str) -> None:
    scop = scop_of(body, MATRICES)
    assert forward(scop, dependences(scop)) is None


def test_a_scalar_that_is_used_afterwards_stays() -> None:
    scop = scop_of(nest(f"{SUM} C[i][j] = s;"), MATRICES, after="A[0][0] = s;")
    assert forward(scop, dependences(scop)) is None


ROWS = "int n, int m, double f[99], double x[99], double w[99], double A[99][99]"
SIDE_BY_SIDE = """for (i = 0; i < n; i++) { s = 0;
  for (k = 0; k < n; k++) s += w[k] / (1 + (x[i] - x[k]) * (x[i] - x[k]));
  f[i] = s; }"""


FROM_ROW_TO_ROW = "{ double t = x[k] - A[i][k]; s += w[k] / (1 + t * t); }"


def test_sums_that_run_side_by_side() -> None:
    scop = scop_of(SIDE_BY_SIDE, ROWS)
    made = forward(scop, dependences(scop))
    assert made is not None
    assert statements(made)[0] == "f[i] = 0"
    assert statements(made)[1].startswith("f[i] += w[k] / ")


def test_one_cell_stands_for_one_of_two_sums() -> None:
    second = "double t = 0; for (k = 0; k < n; k++) t += w[k] * (x[i] - x[k]); f[i] = s + t;"
    scop = scop_of(SIDE_BY_SIDE.replace("f[i] = s;", second), ROWS)
    made = forward(scop, dependences(scop))
    assert made is not None
    assert statements(made)[-1] in ("f[i] = f[i] + t", "f[i] = s + f[i]")


@pytest.mark.parametrize(
    "body",
    [
        SIDE_BY_SIDE.replace("x[k]", "A[i][k]"),  # from row to row
        SIDE_BY_SIDE.replace("s += w[k] / (1 + (x[i] - x[k]) * (x[i] - x[k]));", FROM_ROW_TO_ROW),
        SIDE_BY_SIDE.replace("f[i]", "f[2 * i]"),  # the cells aren't neighbours
        SIDE_BY_SIDE.replace("k < n", "k < 5"),  # few enough for straight code
    ],
)
def test_sums_that_would_walk_badly_or_are_short_stay(body: str) -> None:
    scop = scop_of(body, ROWS)
    assert forward(scop, dependences(scop)) is None


BLOCK = """for (i = 0; i < n; i += 4) for (j = 0; j < n; j++) { double r[4];
  for (t = 0; t < 4; t++) r[t] = 0;
  for (k = 0; k < n; k++) { double b = B[j][k]; for (t = 0; t < 4; t++) r[t] += A[i + t][k] * b; }
  for (t = 0; t < 4; t++) C[i + t][j] = r[t]; }"""


def test_rows_of_sums_in_blocks_by_hand() -> None:
    scop = scop_of(BLOCK, MATRICES)
    made = forward(scop, dependences(scop))
    assert made is not None
    assert statements(made) == ["C[i + t][j] = 0", "C[i + t][j] += A[i + t][k] * B[j][k]"]
    assert set(made.arrays) == {"A", "B", "C"}
    check_rewritten(scop, made, ())
    assert forward(scop, dependences(scop), kernels=False) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("A[i + t][k] * b", "C[i + t][k] * b"),  # the sums need what was there
        ("C[i + t][j] = r[t]", "C[i + t][j] = r[3 - t]"),  # cells in another order
        ("C[i + t][j] = r[t]", "if (i + t < n) C[i + t][j] = r[t]"),  # no end of some
        ("r[t] += A", "r[t] += r[0] * A"),  # sums of one another
        ("r[t] += A[i + t][k] * b", "r[t] += A[i + t][k] * A[i + t][k]"),  # nothing is gained
    ],
)
def test_other_rows_of_sums_stay(old: str, new: str) -> None:
    scop = scop_of(BLOCK.replace(old, new), MATRICES)
    assert forward(scop, dependences(scop)) is None


def test_scalars_that_hold_more_than_an_operand_stay() -> None:
    body = "for (i = 0; i < n; i++) { double b = B[i][0], c = A[i][0]; B[i][1] = b; C[i][0] = c * b; }"
    scop = scop_of(body, MATRICES)
    made = with_operands(scop, dependences(scop))
    assert statements(made) == ["b = B[i][0]", "B[i][1] = b", "C[i][0] = A[i][0] * b"]


PROGRAM = """#include <stdio.h>
enum { N = 40, M = 37, K = 70 };
static float a[N][K], b[M][K], c[N][M];
static void f(int n, int m, int l)
{
  %s
}
int main(void)
{
  for (int k = 0; k < K; k++) {
    for (int i = 0; i < N; i++) a[i][k] = (i * 7 + k * 3) %% 11 / 3.0f;
    for (int i = 0; i < M; i++) b[i][k] = (i * 5 + k) %% 13 / 7.0f;
  }
  f(N, M, K);
  f(5, 3, 2);
  for (int i = 0; i < N; i++) for (int j = 0; j < M; j++) printf("%%a ", c[i][j]);
}
"""
ROWS_OF_SUMS = """for (int i = 0; i < n; i += 8) for (int j = 0; j < m; j++) {
    float r[8];
    for (int t = 0; t < 8; t++) r[t] = 1;
    for (int k = 0; k < l; k++) { float w = b[j][k]; for (int t = 0; t < 8; t++) r[t] += a[i + t][k] * w; }
    for (int t = 0; t < 8; t++) c[i + t][j] = r[t];
  }"""
BLOCKS = """for (int i = 0; i < n; i += 4) for (int k = 0; k < l; k += 2)
    for (int s = 0; s < 4; s++) for (int t = 0; t < 2; t++) { float w = a[i + s][k + t];
      for (int j = 0; j < m; j++) c[i + s][j] += w * b[j][k + t]; }"""


@pytest.mark.parametrize("body", [ROWS_OF_SUMS, BLOCKS])
def test_blocks_by_hand_get_register_tiles(body: str, run_c: RunC) -> None:
    source = PROGRAM % f"#pragma scop\n{body}\n#pragma endscop"
    result = pipeline.optimize(source.encode(), Options(eager=True))
    assert "scopt_tile" in result.text.decode()
    flags = ("-O2", "-fopenmp", "-w", "-ffp-contract=off", "-fsanitize=undefined", "-fno-sanitize-recover=all")
    assert run_c(result.text.decode(), *flags, name="emitted") == run_c(source, *flags, name="original")
