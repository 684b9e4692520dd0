"""Schedules that the literature gives: hyperplanes of Pluto's papers,
latencies of Feautrier's, fusion of gemver and of matrix products."""

from __future__ import annotations

import islpy as isl
import pytest

from scopt.options import Options
from scopt.scheduler.construct.separation import FusionPolicy
from scopt.scheduler.passes.band_passes import apply_passes
from tests.scheduler.schedules import Band, Made, feautrier, pluto
from tests.sources import scop_of

PARAMS = (
    "int n, int m, double A[99][99], double B[99][99], double C[99][99], double D[99][99], "
    "double E[99][99], double x[99], double y[99]"
)
GEMVER_PARAMS = """int n, double A[99][99], double alpha, double beta, double u1[99], double v1[99],
  double u2[99], double v2[99], double w[99], double x[99], double y[99], double z[99]"""

MATVEC = "for (i = 0; i < n; i++) for (j = 0; j < n; j++) x[i] += A[i][j] * y[j];"
MATMUL = "for (i = 0; i < n; i++) for (j = 0; j < n; j++) for (k = 0; k < n; k++) C[i][j] += A[i][k] * B[k][j];"
ZEROED_MATMUL = """for (i = 0; i < n; i++) for (j = 0; j < n; j++) { C[i][j] = 0;
  for (k = 0; k < n; k++) C[i][j] += A[i][k] * B[k][j]; }"""
JACOBI_1D = """for (t = 0; t < m; t++) {
  for (i = 1; i < n - 1; i++) y[i] = x[i - 1] + x[i] + x[i + 1];
  for (i = 1; i < n - 1; i++) x[i] = y[i]; }"""
JACOBI_2D = """for (t = 0; t < m; t++) {
  for (i = 1; i < n - 1; i++) for (j = 1; j < n - 1; j++)
    B[i][j] = A[i - 1][j] + A[i][j] + A[i + 1][j] + A[i][j - 1] + A[i][j + 1];
  for (i = 1; i < n - 1; i++) for (j = 1; j < n - 1; j++) A[i][j] = B[i][j]; }"""
JACOBI_IN_TIME = (
    "for (t = 0; t < m; t++) for (i = 1; i < n - 1; i++) A[t + 1][i] = A[t][i - 1] + A[t][i] + A[t][i + 1];"
)
SEIDEL_1D = "for (t = 0; t < m; t++) for (i = 1; i < n - 1; i++) x[i] = x[i - 1] + x[i] + x[i + 1];"
SEIDEL_2D = """for (t = 0; t < m; t++) for (i = 1; i < n - 1; i++) for (j = 1; j < n - 1; j++)
  A[i][j] = A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1] + A[i][j - 1] + A[i][j]
    + A[i][j + 1] + A[i + 1][j - 1] + A[i + 1][j] + A[i + 1][j + 1];"""
PIPELINE = "for (i = 1; i < n; i++) for (j = 1; j < n; j++) A[i][j] = A[i - 1][j] + A[i][j - 1];"
LU = """for (k = 0; k < n; k++) {
  for (j = k + 1; j < n; j++) A[k][j] = A[k][j] / A[k][k];
  for (i = k + 1; i < n; i++) for (j = k + 1; j < n; j++) A[i][j] -= A[i][k] * A[k][j]; }"""
CHOLESKY = """for (k = 0; k < n; k++) { A[k][k] = A[k][k] * 2;
  for (i = k + 1; i < n; i++) A[i][k] /= A[k][k];
  for (i = k + 1; i < n; i++) for (j = k + 1; j <= i; j++) A[i][j] -= A[i][k] * A[j][k]; }"""
FDTD_2D = """for (t = 0; t < m; t++) {
  for (j = 0; j < n; j++) A[0][j] = x[t];
  for (i = 1; i < n; i++) for (j = 0; j < n; j++) A[i][j] -= C[i][j] - C[i - 1][j];
  for (i = 0; i < n; i++) for (j = 1; j < n; j++) B[i][j] -= C[i][j] - C[i][j - 1];
  for (i = 0; i < n - 1; i++) for (j = 0; j < n - 1; j++) C[i][j] -= B[i][j + 1] - B[i][j] + A[i + 1][j] - A[i][j]; }"""
GEMVER = """for (i = 0; i < n; i++) for (j = 0; j < n; j++) A[i][j] = A[i][j] + u1[i] * v1[j] + u2[i] * v2[j];
for (i = 0; i < n; i++) for (j = 0; j < n; j++) x[i] = x[i] + beta * A[j][i] * y[j];
for (i = 0; i < n; i++) x[i] = x[i] + z[i];
for (i = 0; i < n; i++) for (j = 0; j < n; j++) w[i] = w[i] + alpha * A[i][j] * x[j];"""
TWO_PRODUCTS = f"""{ZEROED_MATMUL}
for (i = 0; i < n; i++) for (j = 0; j < n; j++) {{ E[i][j] = 0;
  for (k = 0; k < n; k++) E[i][j] += C[i][k] * D[k][j]; }}"""
REVERSED = "for (i = 0; i < n; i++) x[i] = 1; for (i = 0; i < n; i++) y[i] = x[n - 1 - i];"


def made(body: str, fusion: FusionPolicy = "max", *, negative: bool = True) -> Made:
    return pluto(scop_of(body, PARAMS), fusion, negative=negative)


def timed(body: str) -> Made:
    return feautrier(scop_of(body, PARAMS))


def only_band(result: Made) -> Band:
    (band,) = result.bands()
    return band


def hyperplanes(result: Made, *statements: str) -> set[tuple[str, ...]]:
    """The members of a band of three, each as the statements' rows; their order is a matter of taste."""
    rows = [result.rows(name)[:3] for name in statements]
    return set(zip(*rows, strict=True))


# --- Pluto: single nests ----------------------------------------------------------------------------------------------


def test_matrix_times_vector() -> None:
    result = made(MATVEC)
    assert result.rows("S0") == ("i", "j")
    assert only_band(result) == Band(("S0",), True, (True, False))


def test_matrix_product_has_two_parallel_loops_and_the_reduction_inside() -> None:
    result = made(MATMUL)
    assert result.rows("S0") == ("i", "j", "k")
    assert only_band(result) == Band(("S0",), True, (True, True, False))


def test_pipelined_loops_stay_as_they_are() -> None:
    result = made(PIPELINE)
    assert result.rows("S0") == ("i", "j")
    assert only_band(result) == Band(("S0",), True, (False, False))


@pytest.mark.parametrize(
    ("body", "rows"),
    [(JACOBI_IN_TIME, ("t", "t+i")), (SEIDEL_1D, ("t", "t+i")), (SEIDEL_2D, ("t", "t+i", "2t+i+j"))],
    ids=["jacobi", "seidel-1d", "seidel-2d"],
)
def test_stencils_are_skewed_into_one_band(body: str, rows: tuple[str, ...]) -> None:
    result = made(body)
    assert result.rows("S0") == rows
    assert only_band(result) == Band(("S0",), True, (False,) * len(rows))


# --- Pluto: several statements in one band ----------------------------------------------------------------------------


@pytest.mark.parametrize("fusion", ["max", "smart", "no", "typed"])
def test_jacobi_1d(fusion: FusionPolicy) -> None:
    result = made(JACOBI_1D, fusion)
    assert result.rows("S0")[:2] == ("t", "2t+i")
    assert result.rows("S1")[:2] == ("t", "2t+i+1")
    assert only_band(result) == Band(("S0", "S1"), True, (False, False))


def test_jacobi_2d() -> None:
    result = made(JACOBI_2D)
    assert result.rows("S0")[:3] == ("t", "2t+i", "2t+j")
    assert result.rows("S1")[:3] == ("t", "2t+i+1", "2t+j+1")
    assert only_band(result) == Band(("S0", "S1"), True, (False,) * 3)


def test_lu_has_one_band_with_the_division_sunk() -> None:
    result = made(LU)
    assert hyperplanes(result, "S0", "S1") == {("k", "k"), ("j", "j"), ("k", "i")}
    assert only_band(result) == Band(("S0", "S1"), True, (False,) * 3)


def test_cholesky_has_one_band_of_three() -> None:
    result = made(CHOLESKY)
    assert hyperplanes(result, "S0", "S1", "S2") == {("k", "k", "k"), ("k", "i", "i"), ("k", "k", "j")}
    assert only_band(result) == Band(("S0", "S1", "S2"), True, (False,) * 3)


def test_fdtd_2d_has_one_band_of_three() -> None:
    result = made(FDTD_2D)
    # C is computed from both fields of its time step, one cell behind; S0 is a boundary of the first one.
    assert hyperplanes(result, "S1", "S2", "S3") == {("t", "t", "t"), ("t+i", "t+i", "t+i+1"), ("t+j", "t+j", "t+j+1")}
    assert set(result.rows("S0")[:3]) == {"t", "t+j"}
    assert only_band(result) == Band(("S0", "S1", "S2", "S3"), True, (False,) * 3)


# --- Pluto: fusion ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fusion", "groups"),
    [
        ("max", [("S0", "S1", "S2", "S3")]),
        ("smart", [("S0", "S1"), ("S2",), ("S3",)]),
        ("no", [("S0",), ("S1",), ("S2",), ("S3",)]),
        ("typed", [("S0", "S1", "S2"), ("S3",)]),
    ],
)
def test_gemver(fusion: FusionPolicy, groups: list[tuple[str, ...]]) -> None:
    result = pluto(scop_of(GEMVER, GEMVER_PARAMS), fusion)
    assert result.fused() == groups
    loops = {name: [row for row in result.rows(name) if not row.startswith("[")] for name in ("S0", "S1", "S3")}
    # x += Aᵀy walks along the rows of A with its outer loop inside:
    # the update of A is interchanged wherever they share a loop.
    assert (loops["S0"], loops["S1"]) == (["i", "j"] if fusion == "no" else ["j", "i"], ["i", "j"])
    outer = result.bands()[0]
    assert outer.coincident[0] == (
        fusion != "max"
    )  # x[j] is ready only after its loop: S3 has to wait for it in the shared one


@pytest.mark.parametrize(
    ("fusion", "groups"),
    [
        ("max", [("S0", "S1", "S2", "S3")]),
        ("smart", [("S0",), ("S1",), ("S2",), ("S3",)]),
        ("no", [("S0",), ("S1",), ("S2",), ("S3",)]),
        ("typed", [("S0", "S1"), ("S2", "S3")]),
    ],
)
def test_two_matrix_products(fusion: FusionPolicy, groups: list[tuple[str, ...]]) -> None:
    result = made(TWO_PRODUCTS, fusion)
    assert result.fused() == groups
    assert all(result.rows(name)[0 if fusion == "max" else 1] == "i" for name in ("S0", "S1", "S2", "S3"))
    assert all(
        band.coincident[0] for band in result.bands() if set(band.statements) in [set(group) for group in groups]
    )


def test_three_matrix_products_fused_by_type() -> None:
    third = """for (i = 0; i < n; i++) for (j = 0; j < n; j++) { D[i][j] = 0;
      for (k = 0; k < n; k++) D[i][j] += C[i][k] * E[k][j]; }"""
    second = ZEROED_MATMUL.replace("C[", "E[")
    result = made(f"{ZEROED_MATMUL} {second} {third}", "typed")
    assert result.fused() == [("S0", "S1"), ("S2", "S3"), ("S4", "S5")]
    assert all(band.coincident == (True, True, False) for band in result.bands())
    assert made(f"{ZEROED_MATMUL} {second} {third}", "no").fused() == [(f"S{k}",) for k in range(6)]


def test_input_dependences_bring_transposed_reads_together() -> None:
    copies = (
        "for (i = 0; i < n; i++) for (j = 0; j < n; j++) B[i][j] = A[i][j];"
        " for (i = 0; i < n; i++) for (j = 0; j < n; j++) C[i][j] = A[j][i];"
    )
    result = pluto(scop_of(copies, PARAMS), "max", inputs=True)
    assert hyperplanes(result, "S0", "S1") == {("i", "j"), ("j", "i")}


def test_input_dependences_count_within_a_statement() -> None:
    # Both loops are parallel: the reuse of y decides which one is outside.
    body = "for (i = 0; i < n; i++) for (j = 0; j < n; j++) A[i][j] = y[j];"
    assert pluto(scop_of(body, PARAMS), inputs=False).rows("S0") == ("i", "j")
    assert pluto(scop_of(body, PARAMS), inputs=True).rows("S0") == ("j", "i")


# --- Pluto: signs of coefficients -------------------------------------------------------------------------------------

DIAGONAL = "for (i = 1; i < n; i++) for (j = 1; j < n; j++) A[i][j] = A[i - 1][j - 1];"
ANTIDIAGONAL = "for (i = 1; i < n; i++) for (j = 0; j < n - 1; j++) A[i][j] = A[i - 1][j + 1];"


def test_only_a_difference_runs_along_a_diagonal() -> None:
    result = made(DIAGONAL)
    assert result.rows("S0")[0] in ("i-j", "-i+j")
    assert only_band(result).coincident == (True, False)
    plain = made(DIAGONAL, negative=False)
    assert (plain.rows("S0"), only_band(plain).coincident) == (("i", "j"), (False, False))


@pytest.mark.parametrize("negative", [False, True])
def test_a_sum_runs_along_an_antidiagonal(negative: bool) -> None:
    result = made(ANTIDIAGONAL, negative=negative)
    assert result.rows("S0") == ("i+j", "i")
    assert only_band(result).coincident == (True, False)


def test_a_reversed_copy_is_not_fused_without_reversal() -> None:
    result = made(REVERSED, negative=False)
    assert result.fused() == [("S0",), ("S1",)]
    assert all(band.coincident == (True,) for band in result.bands())


def test_a_reversed_copy_is_fused_by_reversal_and_a_shift_by_n() -> None:
    result = made(REVERSED)
    assert result.fused() == [("S0", "S1")]
    assert only_band(result).coincident == (True,)


@pytest.mark.parametrize("fusion", ["max", "smart", "no", "typed"])
def test_no_parallelism_is_lost_by_a_choice_of_signs(fusion: FusionPolicy) -> None:
    body = (
        "for (i = 0; i < n; i++) for (j = 0; j < n; j++) A[i][j] = 1; for (i = 0; i < n; i++) "
        "for (j = 0; j < n; j++) B[i][j] = A[i][n - 1 - j];"
    )
    assert all(all(band.coincident) for band in made(body, fusion).bands())


# --- Feautrier --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "dates"),
    [
        # The longest chain is the reduction along k: latency n.
        (MATMUL, ["k"]),
        (ZEROED_MATMUL, ["0", "k+1"]),
        # Wavefronts, latency 2n.
        (PIPELINE, ["i+j"]),
        ("for (i = 1; i < n; i++) x[i] = x[i - 1] + y[i];", ["i"]),
        ("for (i = 0; i < n; i++) { x[i] = 1; y[i] = x[i]; A[i][0] = y[i]; }", ["0", "1", "2"]),
        # Each row waits for the one before; x[j] is ready at time j.
        ("for (i = 0; i < n; i++) { x[i] = y[i]; for (j = 0; j < i; j++) x[i] -= A[i][j] * x[j]; }", ["0", "j+1"]),
        # S0(k) → S1(k, i) → S2(k, i, j) → S0(k + 1): three steps for each k.
        (CHOLESKY, ["3k", "3k+1", "3k+2"]),
        (JACOBI_IN_TIME, ["t"]),
        (JACOBI_1D, ["2t", "2t+1"]),
        (SEIDEL_1D, ["2t+i"]),
        # (0, 1, -1) asks for more of i than of j, (1, -1, -1) then for still more of t.
        (SEIDEL_2D, ["4t+2i+j"]),
    ],
    ids=[
        "product",
        "zeroed product",
        "pipeline",
        "prefix sums",
        "chain",
        "triangular",
        "cholesky",
        "jacobi",
        "jacobi-1d",
        "seidel-1d",
        "seidel-2d",
    ],
)
def test_one_dimensional_time(body: str, dates: list[str]) -> None:
    result = timed(body)
    assert [result.rows(f"S{k}")[0] for k in range(len(dates))] == dates


def test_times_of_one_chain_need_as_many_dimensions_as_loops() -> None:
    """Feautrier, part II (1992): one cell takes n² values one after the other;
    an affine date of one dimension has a linear latency."""
    result = timed("for (i = 0; i < n; i++) for (j = 0; j < n; j++) x[0] += A[i][j];")
    assert result.rows("S0") == ("i", "j")
    assert [band.coincident for band in result.bands()] == [(False,), (False,)]


def test_the_first_dimension_carries_what_the_second_can_not() -> None:
    result = timed("for (i = 0; i < n; i++) { x[0] = 0; for (j = 0; j < n; j++) x[0] += A[i][j]; }")
    assert (result.rows("S0")[0], result.rows("S1")) == ("2i", ("2i+1", "j"))


def test_what_is_left_after_the_dates_is_parallel() -> None:
    result = timed(JACOBI_1D)
    dates, rest = result.bands()
    assert (dates.coincident, rest.coincident) == ((False,), (True,))


def test_fronts_of_a_pipeline_are_parallel_loops() -> None:
    result = timed(PIPELINE)
    marked = apply_passes(result.scop, result.deps, result.tree, Options(scheduler="feautrier", tile=False))
    assert any(mark.parallel for mark in marked.loops.values())


@pytest.mark.parametrize(
    ("body", "dates", "latency"),
    [
        # Feautrier, part I (1992), the program that the method is shown on:
        # s(i) := 0, then s(i) := s(i) + a(i, j) * x(j).
        (
            "for (i = 0; i <= n; i++) { x[i] = 0; for (j = 0; j <= n; j++) x[i] += A[i][j] * y[j]; }",
            ["0", "j+1"],
            "n + 1",
        ),
        # Lengauer, "Loop parallelization in the polytope model" (1993):
        # a trapezoid of uniform dependences (1, 0) and (0, 1).
        (
            "for (i = 0; i <= n; i++) for (j = 0; j <= i + m; j++) A[i+1][j+1] = A[i][j+1] + A[i+1][j];",
            ["i+j"],
            "2 n + m",
        ),
        # Lamport, "The parallel execution of DO loops" (1974): relaxation of a grid, the hyperplane method's example:
        # 2t + i + j.
        (
            """for (t = 0; t < m; t++) for (i = 1; i < n; i++) for (j = 1; j < n; j++)
              A[i][j] = A[i+1][j] + A[i][j+1] + A[i-1][j] + A[i][j-1];""",
            ["2t+i+j"],
            "2 m + 2 n - 4",
        ),
        # Elimination without pivoting takes 3n - 2 steps, as on Kung and Leiserson's systolic array (1978): dates from
        # 0 to 3n - 3.
        (CHOLESKY, ["3k", "3k+1", "3k+2"], "3 n - 3"),
        # The reduction along k keeps its order: n steps after the zero.
        (ZEROED_MATMUL, ["0", "k+1"], "n"),
    ],
    ids=["part I", "trapezoid", "relaxation", "cholesky", "product"],
)
def test_published_latencies(body: str, dates: list[str], latency: str) -> None:
    """The last date, for all parameters from 9 on."""
    result = timed(body)
    assert [result.rows(f"S{k}")[0] for k in range(len(dates))] == dates
    expected = isl.PwAff(f"[n, m] -> {{ [({latency})] : n >= 9 and m >= 9 }}")
    assert last_date(result).is_equal(expected)


def last_date(result: Made) -> isl.PwAff:
    """The greatest first date of all instances, over the parameters n and m from 9 on."""
    dates = isl.Set("[n, m] -> { [t] : 1 = 0 }")
    for statement in result.scop.statements:
        instances = f"{statement.name}[{', '.join(statement.iterators)}]"
        dates = dates.union(
            statement.domain.apply(isl.Map(f"[n, m] -> {{ {instances} -> [{result.rows(statement.name)[0]}] }}"))
        )
    return dates.dim_max(0).intersect_params(isl.Set("[n, m] -> { : n >= 9 and m >= 9 }"))
