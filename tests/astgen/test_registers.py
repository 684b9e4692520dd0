"""Register tiles: how a contraction is cut, and what the code looks like."""

from __future__ import annotations

import islpy as isl
import pytest

from scopt.astgen.emit.emit_c import emit
from scopt.astgen.loops.isl_loops import build
from scopt.astgen.lower.register_lowering import Lowered, lower
from scopt.astgen.lower.tile_steps import with_choices, with_kernel_calls, with_transposed_copies
from scopt.ir.nest import LoopNest
from scopt.ir.scop import Scop
from scopt.machine import Machine
from scopt.options import Options
from scopt.poly.dependences import dependences
from scopt.poly.isl_utils import compact
from scopt.scheduler import get_scheduler
from scopt.scheduler.decisions.contractions import contraction_by
from scopt.scheduler.passes.band_passes import apply_passes
from tests.sources import scop_of

MATRICES = "int n, double A[99][99], double B[99][99], double C[99][99]"
PRODUCT = "for (i = 0; i < n; i++) for (j = 0; j < n; j++) for (k = 0; k < n; k++) C[i][j] += A[i][k] * B[k][j];"
FACTORIZATION = """for (k = 0; k < n; k++) for (i = k + 1; i < n; i++) { C[i][k] /= C[k][k];
 for (j = k + 1; j < n; j++) C[i][j] -= C[i][k] * C[k][j]; }"""


def lowered(body: str, parameters: str = MATRICES) -> tuple[Scop, Lowered, LoopNest]:
    scop = scop_of(body, parameters)
    deps = dependences(scop)
    marked = apply_passes(scop, deps, get_scheduler("pluto").schedule(scop, deps, Options()).tree, Options())
    assert marked.tilings
    result = lower(scop, marked, Machine())
    return scop, result, with_choices(result, build(result.scop, result.schedule))


def test_tilings_share_kernels_and_buffers_only_where_they_are_the_same() -> None:
    _, twice, _ = lowered(PRODUCT + PRODUCT.replace("C[i][j]", "B[i][j]").replace("B[k][j]", "C[k][j]"))
    assert len(twice.kernels) == 1
    scop, both, _ = lowered(PRODUCT.replace("A[i][k]", "C[i][k]").replace("C[i][j]", "A[i][j]") + FACTORIZATION)
    assert len(both.kernels) == 2  # one adds, the other subtracts
    buffers = {name: array.sizes for name, array in both.scop.arrays.items() if name not in scop.arrays}
    assert buffers["C_rows"] != buffers["C_rows2"]


ACROSS = (
    "for (i = 0; i < n; i++) for (j = 0; j < n; j++) for (k = 0; k < n; k++) "
    "C[i][j] += A[i][k] * B[j][k] + B[i][k] * A[j][k];"
)


def test_operands_across_their_rows_are_packed_by_calls_that_share_functions() -> None:
    _, result, nest = lowered(ACROSS)
    text = emit(result.scop, with_transposed_copies(result.turned, nest)).text
    assert len(result.transposed) == 2  # panels of rows and of columns differ in width
    columns, rows = (one.name for one in result.transposed)
    for name, array, target in (
        (rows, "A", "A_rows"),
        (rows, "B", "B_rows"),
        (columns, "A", "A_columns"),
        (columns, "B", "B_columns"),
    ):
        (line,) = (line for line in text.splitlines() if f"{name}(" in line and f"&{target}[" in line)
        assert f"&{array}[" in line


@pytest.mark.parametrize(
    "operand", ["A[k][i]", "A[i][2 * k]", "A[2 * i][k]", "A[i][i + k]", "(A[i][k] - A[k][i])", "(A[i][k] + x[k])"]
)
def test_other_operands_are_packed_in_loops(operand: str) -> None:
    body = PRODUCT.replace("A[i][k]", operand)
    _, result, _ = lowered(body, MATRICES + ", double x[99]")
    assert not result.transposed
    assert not result.turned


def test_a_tile_is_one_call_and_partial_ones_work_on_a_copy() -> None:
    _, result, nest = lowered(PRODUCT)
    text = emit(result.scop, with_kernel_calls(result, nest)).text
    (kernel,) = result.kernels
    calls = [line.strip() for line in text.splitlines() if kernel.name in line]
    assert len(calls) == 2
    assert "&C[" in calls[0]
    assert "C_tile" in calls[1]
    assert "it + 8 <= n" in text
    assert text.count("pragma omp parallel for") == 1
    assert "private(A_rows, B_columns, C_tile)" in text


def test_the_kernel_has_a_form_for_every_compiler() -> None:
    _, result, _ = lowered(PRODUCT)
    text = result.kernels[0].text
    assert text.count("#if") == text.count("#endif")
    assert "vector_size" in text
    assert "cell[i * length + j] += row0[k * 8 + i] * column0[k * 24 + j];" in text
    # 8 rows of 3 vectors each, and 4 of them where there are fewer registers
    assert text.count(" += x7_0 * y0_2;") == 1
    assert text.count(" += x3_0 * y0_2;") == 2


def test_extrema_of_integers_compare_as_signed_and_add_as_unsigned() -> None:
    """Sums of cells that don't exist may wrap around."""
    body = "C[i][j] = C[i][j] >= A[i][k] + B[k][j] ? C[i][j] : A[i][k] + B[k][j];"
    _, result, _ = lowered(
        f"for (i = 0; i < n; i++) for (j = 0; j < n; j++) for (k = 0; k < n; k++) {body}",
        MATRICES.replace("double", "int"),
    )
    (kernel,) = result.kernels
    assert "typedef unsigned int" in kernel.text
    assert f"c7_2 = {kernel.name}_of(c7_2, x7_0 + y0_2);" in kernel.text
    assert "cell[k] = (int)cell[k] >= (int)value[k] ? cell[k] : value[k];" in kernel.text
    assert "unsigned int value = (unsigned int)row0[k * 8 + i] + (unsigned int)column0[k * 48 + j];" in kernel.text


NARROW = "int n, unsigned char A[99][99], short B[99][99], unsigned short D[99][99], int C[99][99]"


@pytest.mark.parametrize(
    ("update", "fits"),
    [
        ("C[i][j] += A[i][k] * B[j][k];", True),
        ("C[i][j] = B[k][j] * (A[i][k] - 128) + C[i][j];", True),
        ("C[i][j] += (int)B[i][k] * (2 * A[j][k]);", True),
        ("C[i][j] += D[i][k] * B[j][k];", False),
        ("C[i][j] += (B[i][k] - 1) * A[j][k];", False),
        ("C[i][j] -= A[i][k] * B[j][k];", False),
        ("C[i][j] += A[i][k] * C[0][0] * B[j][k];", False),
    ],
)
def test_operands_that_fit_into_16_bits_may_be_packed_so(update: str, fits: bool) -> None:
    loops = "for (i = 1; i < n; i++) for (j = 1; j < n; j++) for (k = 0; k < n; k++) "
    scop = scop_of(loops + update, NARROW)
    contraction = contraction_by(scop, scop.statements[0], [0, 1, 2])
    assert contraction is not None
    assert contraction.operation.operand_type.spelling == ("short" if fits else "int")


def test_narrow_operands_of_rows_lie_along_the_steps() -> None:
    loops = "for (i = 0; i < n; i++) for (j = 0; j < n; j++) for (k = 0; k < n; k++) "
    scop, result, nest = lowered(loops + "C[i][j] += B[i][k] * A[k][j];", NARROW)
    made = {name: one.type.spelling for name, one in result.scop.arrays.items() if name not in scop.arrays}
    assert made == {"B_rows": "short", "A_columns": "short", "C_tile": "int"}
    text = emit(result.scop, with_kernel_calls(result, nest)).text
    assert "B_rows[512 * i + k - 512 * itt - kt] = B[i][k];" in text


def test_unions_of_pieces_become_conjunctions() -> None:
    pieces = isl.Set(
        "[n] -> { [i, j, k] : 0 <= k and j < i < n and k < 4*floor(j/4);"
        " [i, j, k] : 0 <= k and i <= j < n and k < 4*floor(i/4) }"
    )
    assert compact(pieces).n_basic_set() == 1
    assert compact(pieces).is_equal(pieces)
    apart = isl.Set("{ [i] : 0 <= i < 3; [i] : 5 <= i < 8 }")
    assert compact(apart).is_equal(apart)
    assert compact(apart).n_basic_set() == 2


def test_rows_that_lack_cells_at_both_ends_are_one_case() -> None:
    padded = "for (i = 0; i < n; i++) if (i + m >= 1 && i + m <= n) for (j = 0; j < n; j++) for (k = 0; k < n; k++) "
    _, result, _ = lowered(padded + "C[i][j] += A[i + m - 1][k] * B[k][j];", f"int m, {MATRICES}")
    assert [choice.condition.n_basic_set() for choice in result.choices] == [1]
    domains = {one.name: one.domain for one in result.scop.statements if one.name.startswith("S0_rows0")}
    zeros, copies = (one.reset_tuple_id() for one in (domains["S0_rows0_none"], domains["S0_rows0"]))
    assert zeros.is_disjoint(copies)
