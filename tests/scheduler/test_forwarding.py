"""Cells in place of scalars that collect what they get: where it is done,
and where something looks at the cell in between."""

from __future__ import annotations

import pytest

from scopt.ir.printing import CPrinter
from scopt.ir.scop import Scop
from scopt.poly.dependences import dependences
from scopt.scheduler.passes.forwarding import forward
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
        SIDE_BY_SIDE.replace("f[i]", "f[2 * i]"),  # the cells aren't neighbours
        SIDE_BY_SIDE.replace("k < n", "k < 5"),  # few enough for straight code
    ],
)
def test_sums_that_would_walk_badly_or_are_short_stay(body: str) -> None:
    scop = scop_of(body, ROWS)
    assert forward(scop, dependences(scop)) is None
