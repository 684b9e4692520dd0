"""Which loops are split around one iteration, and which stay whole."""

from __future__ import annotations

import islpy as isl
import pytest

from scopt.astgen.emit.emit_c import emit
from scopt.astgen.loops.isl_loops import build
from scopt.ir.marked_schedule import MarkedSchedule
from scopt.ir.nest import LoopMark
from scopt.ir.scop import Scop
from scopt.options import Options
from scopt.poly.dependences import dependences
from scopt.poly.legality import check_marks, check_order
from scopt.scheduler import get_scheduler
from scopt.scheduler.passes.band_passes import apply_passes
from tests.sources import optimize, scop_of, source_of

PATHS = """for (k = 0; k < n; k++) for (i = 0; i < n; i++) for (j = 0; j < n; j++)
  A[i][j] = A[i][j] < A[i][k] + A[k][j] ? A[i][j] : A[i][k] + A[k][j];"""


# with a scalar, of which each iteration may have one of its own
WIDEST = """for (k = 0; k < n; k++) for (i = 0; i < n; i++) for (j = 0; j < n; j++) {
  s = A[i][k] < A[k][j] ? A[i][k] : A[k][j];
  A[i][j] = A[i][j] > s ? A[i][j] : s; }"""


# with a scalar that each row sets, in front of the loop along it
ROWS = """for (k = 0; k < n; k++) for (i = 0; i < n; i++) { s = A[i][k];
  if (s < 1e30) for (j = 0; j < n; j++) if (s + A[k][j] < A[i][j]) A[i][j] = s + A[k][j]; }"""


def passed(body: str) -> tuple[Scop, MarkedSchedule]:
    """What isl schedules after all passes; checked to be legal."""
    scop = scop_of(body)
    deps = dependences(scop)
    result = apply_passes(scop, deps, get_scheduler("isl").schedule(scop, deps, Options()).tree, Options())
    check_order(scop, deps, result.tree.get_map())
    check_marks(scop, deps, result)
    return scop, result


def marks(body: str) -> list[LoopMark]:
    return list(passed(body)[1].loops.values())


def text(body: str) -> str:
    scop, result = passed(body)
    return emit(scop, build(scop, result)).text


@pytest.mark.parametrize("body", [PATHS, WIDEST], ids=["shortest", "with a scalar"])
def test_paths_have_parallel_rows_and_vectors_on_both_sides(body: str) -> None:
    found = text(body)
    assert found.count("for (long i = 0; i < k; i++)") == found.count("for (long i = k + 1; i < n; i++)") == 1
    assert found.count("#pragma omp simd") == 6
    assert sum(mark.parallel for mark in marks(body)) >= 2


def test_rows_that_set_a_scalar_are_parallel_on_both_sides() -> None:
    found = text(ROWS)
    assert found.count("for (long i = 0; i < k; i++)") == found.count("for (long i = k + 1; i < n; i++)") == 1
    assert sum(mark.parallel for mark in marks(ROWS)) >= 2


def test_loops_inside_of_rows_that_are_split_have_vectors() -> None:
    rows = "if (A[i][k] < 1e30) for (j = 0; j < n; j++) if (A[i][k] + A[k][j] < A[i][j]) A[i][j] = A[i][k] + A[k][j];"
    assert text(f"for (k = 0; k < n; k++) for (i = 0; i < n; i++) {rows}").count("#pragma omp simd") == 6


@pytest.mark.parametrize(("kind", "vectors"), [("int", True), ("short", False)])
def test_narrow_cells_that_are_stored_with_others_below_a_condition_are_no_vectors(kind: str, vectors: bool) -> None:
    """Few processors have masks for them."""
    update = "if (A[i][k] + A[k][j] < A[i][j]) { A[i][j] = A[i][k] + A[k][j]; q[i][j] = q[i][k]; }"
    source = source_of(
        f"for (k = 0; k < n; k++) for (i = 0; i < n; i++) for (j = 0; j < n; j++) {update}",
        f"int n, double A[n][n], {kind} q[n][n]",
    )
    made = optimize(source, Options()).text.decode()
    assert ("#pragma omp simd" in made) is vectors
    assert made.count("#pragma omp parallel for") == 2


def test_nor_are_they_inside_of_rows_that_are_left_out() -> None:
    update = "if (A[i][k] + A[k][j] < A[i][j]) { A[i][j] = A[i][k] + A[k][j]; q[i][j] = q[i][k]; }"
    rows = f"for (k = 0; k < n; k++) for (i = 0; i < n; i++) if (A[i][k] < 1e9) for (j = 0; j < n; j++) {update}"
    made = optimize(source_of(rows, "int n, double A[n][n], short q[n][n]"), Options()).text.decode()
    shared = made.partition("#pragma omp parallel for")[2]
    assert "for (long j = 0; j < n; j++)" in shared.partition("} else")[0]


def test_loops_around_others_stay_whole_where_several_iterations_hand_on_values() -> None:
    found = text(ROWS.replace("s + A[k][j] < A[i][j]", "i > 0 && s + A[i - 1][j] < A[i][j]"))
    assert "for (long i = 0; i < n; i++)" in found


def test_one_row_with_a_cell_that_all_others_read() -> None:
    assert text("for (j = 0; j < n; j++) x[j] = x[j] * x[m];").count("#pragma omp") == 2


@pytest.mark.parametrize(
    "body",
    [
        "for (j = 1; j < n; j++) x[j] = x[j - 1] * 2;",  # every iteration needs the one before
        "for (j = 0; j < n; j++) x[j] = x[n - 1 - j] * 2;",  # many pairs, each with ends of its own
        "for (j = 0; j < n; j++) x[j] = x[3] * x[5];",  # two iterations
        "for (j = 0; j < n; j++) { x[j] = x[3] * s; s = x[j] + s; }",  # a scalar that each hands on
    ],
)
def test_loops_that_more_than_one_iteration_ties_together_stay_whole(body: str) -> None:
    assert text(body).count("for (") == 1


def test_what_has_a_vector_loop_is_left_alone() -> None:
    assert text("for (i = 0; i < n; i++) for (j = 0; j < n; j++) A[i][j] = A[i][j] * A[3][j];").count("A[3][j]") == 1


def test_parts_cover_all_instances() -> None:
    scop, result = passed(PATHS)
    assert result.tree.get_map().domain().is_equal(isl.UnionSet(str(scop.domain)))


def test_the_one_iteration_is_one_where_nothing_is_carried_too() -> None:
    """The function that the pairs give is plain only where there are pairs: elsewhere it has several values at once."""
    scop, result = passed("for (k = 4; k > 0; k--) x[k] = x[k] * x[n + 12 * k];")
    assert result.tree.get_map().domain().is_equal(isl.UnionSet(str(scop.domain)))


def test_pairs_with_an_end_that_is_no_iteration() -> None:
    """Where `continue` leaves an instance out, a piece of the relation may have nothing in the loop."""
    text = b"""unsigned A[15];
unsigned f(int n, int m, unsigned B[14])
{
  unsigned s0 = 3, s1 = 3;
#pragma scop
  for (int i = m; i != 0; i--) {
    if (i - n + 1 == n)
      continue;
    if (A[i - 1] > 9u) {
      B[i - 1] = (B[m + 2] < B[i + 2] ? s1 : 5u);
      A[i - 1] -= (1u < A[i] ? A[n + 3] : 5u);
    } else {
      s0 = 3u * s1 + 1u;
    }
  }
#pragma endscop
  return s0 + s1;
}
"""
    result = optimize(text, Options(tile=False))
    assert [remark.id for remark in result.remarks if remark.kind != "analysis"] == ["region.transformed"]
