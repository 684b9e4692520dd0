"""Which bands are unrolled and jammed, how their rows are cut, and which are left alone."""

from __future__ import annotations

import islpy as isl
import pytest

from scopt.ir.marked_schedule import MarkedSchedule
from scopt.ir.scop import Scop
from scopt.options import Options
from scopt.poly.bands import Ordered, band_nodes, ordered, with_properties
from scopt.poly.dependences import dependences
from scopt.poly.isl_utils import walk
from scopt.poly.legality import check_marks, check_order
from scopt.scheduler import get_scheduler
from scopt.scheduler.decisions.jam import Jam, jam_of, parts_of
from scopt.scheduler.locality.tiling import origin
from scopt.scheduler.passes.band_passes import apply_passes
from tests.sources import scop_of

pytestmark = pytest.mark.usefixtures("no_rows_beside")

ROW_SUM = "for (i = 0; i < n; i++) for (j = 0; j < m; j++) x[i] = x[i] + A[i][j] * y[j];"
COLUMN_SUM = "for (i = 0; i < n; i++) for (j = 0; j < m; j++) x[j] += A[i][j] * y[i];"
SOLVE = "for (i = 0; i < n; i++) { for (j = 0; j < i; j++) x[i] -= A[i][j] * x[j]; x[i] = x[i] / A[i][i]; }"
BACK = "for (i = n - 1; i >= 0; i--) { for (j = n - 1; j > i; j--) x[i] -= A[i][j] * x[j]; x[i] = x[i] / A[i][i]; }"


def leaf(scop: Scop) -> tuple[Ordered, isl.ScheduleNode]:
    """The last band of what isl schedules."""
    deps = dependences(scop)
    found = ordered(scop, deps)
    tree = with_properties(scop, found, get_scheduler("isl").schedule(scop, deps, Options()).tree)
    return found, band_nodes(tree)[-1]


def jam(body: str, options: Options = Options()) -> Jam | None:  # noqa: B008 - frozen
    scop = scop_of(body)
    return jam_of(scop, *leaf(scop), options)


def marked(body: str) -> MarkedSchedule:
    """After all passes; checked to be legal."""
    scop = scop_of(body)
    deps = dependences(scop)
    result = apply_passes(scop, deps, get_scheduler("isl").schedule(scop, deps, Options()).tree, Options())
    check_order(scop, deps, result.tree.get_map())
    check_marks(scop, deps, result)
    return result


def unrolled(schedule: MarkedSchedule) -> int:
    """How many bands ask for unrolled loops."""
    bands = (node for node in walk(schedule.tree.get_root()) if node.get_type() == isl.schedule_node_type.band)
    return sum(node.band_member_get_ast_loop_type(0) == isl.ast_loop_type.unroll for node in bands)


def test_sums_of_rows_are_parallel_over_rows() -> None:
    found = jam(ROW_SUM)
    assert found is not None
    assert (found.parallel, found.simd) == (found.row, False)


def test_sums_of_columns_are_parallel_and_vectorized_over_columns() -> None:
    found = jam(COLUMN_SUM)
    assert found is not None
    assert (found.parallel, found.simd) == (found.column, True)
    without = jam(COLUMN_SUM, Options(simd=False))
    assert without is not None
    assert not without.simd


@pytest.mark.parametrize("body", [SOLVE, BACK])
def test_solvers_are_jammed_without_threads(body: str) -> None:
    found = jam(body)
    assert found is not None
    assert (found.parallel, found.simd) == (None, False)


@pytest.mark.parametrize("body", [ROW_SUM, COLUMN_SUM, SOLVE, BACK])
def test_jammed_schedules_are_legal(body: str) -> None:
    schedule = marked(body)
    assert unrolled(schedule) == 1
    assert any(mark.jammed for mark in schedule.loops.values())
    assert any(mark.parallel for mark in schedule.loops.values()) == (body in (ROW_SUM, COLUMN_SUM))


@pytest.mark.parametrize(
    "body",
    [
        # an update needs cells that a later row, or an earlier one, has still to change
        "for (i = 0; i < n; i++) for (j = 0; j < n; j++) x[i] += A[i][j] * x[j];",
        # the first addend of a row is the last cell that is known
        BACK.replace("j = n - 1; j > i; j--", "j = i + 1; j < n; j++"),
        # no reduction
        "for (i = 0; i < n; i++) for (j = 0; j < n; j++) B[i][j] = A[i][j] * x[j];",
        # rows of one matrix are columns of the other
        "for (i = 0; i < n; i++) for (j = 0; j < n; j++) x[i] += A[i][j] * B[j][i];",
        # diagonals
        "for (i = 0; i < n; i++) for (j = 0; j < n; j++) x[i] += A[i][i + j];",
        # each row would need a copy of s
        "for (i = 0; i < n; i++) for (j = 0; j < n; j++) { s = A[i][j]; x[i] += s * y[j]; }",
        # too much code
        "for (i = 0; i < n; i++) for (j = 0; j < m; j++) {" + 5 * "x[i] += A[i][j] * y[j];" + "}",
        # not every iteration adds
        "for (i = 0; i < n; i++) for (j = 0; j < n; j++) x[i] = A[i][j] * y[j];",
    ],
)
def test_what_is_left_alone(body: str) -> None:
    assert unrolled(marked(body)) == 0


def test_no_tiles_no_jam() -> None:
    assert jam(ROW_SUM, Options(tile=False)) is None
    assert jam(ROW_SUM, Options(tile_sizes=(4,))) is not None


# --- parts ------------------------------------------------------------------------------------------------------------


def below_blocks(node: isl.ScheduleNode, found: Jam) -> tuple[isl.ScheduleNode, isl.UnionPwAff, isl.UnionPwAff]:
    partial = node.band_get_partial_schedule()
    row, column = partial.get_at(found.row), partial.get_at(found.column)
    band = isl.MultiUnionPwAff.from_union_pw_aff(origin(row, found.rows))
    return node.delete().insert_partial_schedule(band).child(0), row, column


def count(instances: isl.UnionSet, name: str, n: int) -> int:
    """How many instances of a statement there are, for n = m."""
    part = instances.intersect_params(isl.Set(f"[n, m] -> {{ : n = m = {n} }}")).intersect(
        isl.UnionSet(f"{{ {name}[i, j] }}")
    )
    total = 0

    def add(_: isl.Point) -> None:
        nonlocal total
        total += 1

    part.foreach_point(add)
    return total


def test_full_columns_have_all_rows_of_a_block() -> None:
    scop = scop_of(ROW_SUM)
    found, node = leaf(scop)
    jammed = jam_of(scop, found, node, Options())
    assert jammed is not None
    parts = parts_of(found, *below_blocks(node, jammed), jammed.rows)
    assert parts is not None
    assert [count(part, "S0", 19) for part in (parts.before, parts.full, parts.after)] == [0, 16 * 19, 3 * 19]


def test_triangle_of_a_solver_runs_after_its_full_columns() -> None:
    scop = scop_of(SOLVE)
    found, node = leaf(scop)
    jammed = jam_of(scop, found, node, Options())
    assert jammed is not None
    parts = parts_of(found, *below_blocks(node, jammed), jammed.rows)
    assert parts is not None
    assert parts.before.is_empty()
    assert count(parts.full, "S0", 16) == 64
    assert count(parts.after, "S0", 16) == 56


def test_parts_without_an_order_are_refused() -> None:
    scop = scop_of(SOLVE)
    found, node = leaf(scop)
    jammed = jam_of(scop, found, node, Options())
    assert jammed is not None
    everything = isl.UnionMap.from_domain_and_range(scop.domain, scop.domain)
    assert parts_of(Ordered(everything, everything, {}, {}), *below_blocks(node, jammed), jammed.rows) is None


def test_triangle_above_the_diagonal_runs_before_its_full_columns() -> None:
    scop = scop_of("for (i = 0; i < n; i++) for (j = i + 1; j < m; j++) x[i] += A[i][j] * y[j];")
    found, node = leaf(scop)
    jammed = jam_of(scop, found, node, Options())
    assert jammed is not None
    parts = parts_of(found, *below_blocks(node, jammed), jammed.rows)
    assert parts is not None
    assert parts.after.is_empty()
    assert [count(part, "S0", 16) for part in (parts.before, parts.full)] == [28 + 28, 64]
