"""Band passes: what comes out parallel, tiled, skewed and vectorizable, and with what private copies."""

from __future__ import annotations

import islpy as isl
import pytest

from scopt.ir.marked_schedule import MarkedSchedule
from scopt.ir.nest import LoopMark
from scopt.ir.scop import Scop
from scopt.options import SCHEDULERS, Options
from scopt.poly.bands import band_nodes, ordered, with_properties
from scopt.poly.dependences import dependences
from scopt.poly.isl_utils import walk
from scopt.poly.legality import check_marks, check_order
from scopt.scheduler import REGISTRY, get_scheduler
from scopt.scheduler.decisions.setting import Setting
from scopt.scheduler.decisions.shared_parts import is_short_nest
from scopt.scheduler.passes.band_passes import apply_passes
from tests.conftest import everyday
from tests.sources import scop_of

GEMM = "for (i = 0; i < n; i++) for (j = 0; j < n; j++) for (k = 0; k < n; k++) A[i][j] += B[i][k] * A0[k][j];"
JACOBI = """for (t = 0; t < m; t++) {
  for (i = 1; i < n - 1; i++) y[i] = x[i - 1] + x[i] + x[i + 1];
  for (i = 1; i < n - 1; i++) x[i] = y[i - 1] + y[i] + y[i + 1]; }"""
SEIDEL = """for (t = 0; t < m; t++) for (i = 1; i < n - 1; i++) for (j = 1; j < n - 1; j++)
  A[i][j] = A[i][j - 1] + A[i - 1][j] + A[i + 1][j] + A[i][j + 1];"""
GRAM = """for (k = 0; k < n; k++) { for (j = k + 1; j < n; j++) {
  for (i = 0; i < m; i++) x[j] += A[i][k] * A[i][j];
  for (i = 0; i < m; i++) A[i][j] = A[i][j] - A[i][k] * x[j]; } }"""
CASES = {
    "gemm": (GEMM, "int n, double A[9][9], double B[9][9], double A0[9][9]"),
    "jacobi": (JACOBI, "int n, int m, double *x, double *y"),
    "seidel": (SEIDEL, "int n, int m, double A[99][99]"),
    "gram": (GRAM, "int n, int m, double *x, double A[99][99]"),
}


def scheduled(scop: Scop, options: Options = Options(), scheduler: str = "isl") -> MarkedSchedule:  # noqa: B008 - frozen
    deps = dependences(scop)
    result = apply_passes(scop, deps, get_scheduler(scheduler).schedule(scop, deps, options).tree, options)
    check_order(scop, deps, result.tree.get_map())
    check_marks(scop, deps, result)
    return result


def case(name: str) -> Scop:
    return scop_of(*CASES[name])


def loops(schedule: MarkedSchedule) -> list[tuple[int, LoopMark, str]]:
    """Depth, mark and function of each marked band."""
    return [
        (node.get_schedule_depth(), schedule.loop(node), str(node.child(0).band_get_partial_schedule()))
        for node in walk(schedule.tree.get_root())
        if node.get_type() == isl.schedule_node_type.mark
    ]


def test_gemm_is_tiled_parallel_outside_and_contiguous_inside() -> None:
    (outer, inner) = sorted(loops(scheduled(case("gemm"), Options(register_tile=False))), key=lambda loop: loop[0])
    assert (outer[0], outer[1].parallel) == (0, True)
    assert (inner[0], inner[1].simd, inner[2].count("[(j)]")) == (5, True, 1)


def test_tile_sizes_are_the_users() -> None:
    text = str(scheduled(case("gemm"), Options(tile_sizes=(5, 7), register_tile=False)).tree.get_root())
    assert "mod 5" in text
    assert text.count("mod 7") == 2


def test_no_tiling_if_not_wanted() -> None:
    assert "mod" not in str(scheduled(case("gemm"), Options(tile=False)).tree.get_root())


def test_stencil_runs_in_wavefronts_with_a_vector_loop_for_each_statement() -> None:
    marks = [mark for _, mark, _ in loops(scheduled(case("jacobi")))]
    assert [mark.parallel for mark in marks].count(True) == 1
    assert [mark.simd for mark in marks].count(True) == 2


def test_loops_of_a_few_turns_in_a_time_loop_have_no_wavefronts() -> None:
    """Turns run along with the time: no two tiles of them are on one diagonal. The loops inside are parallel."""
    scop = scop_of(
        """for (t = 0; t < n; t++) for (int turn = 0; turn < 2; turn++) {
          if (turn == 0) for (i = 0; i < n; i++) for (j = 0; j < n; j++) B[i][j] = A[j][i];
          else for (i = 0; i < n; i++) for (j = 0; j < n; j++) A[i][j] = B[i][j] + B[i][0]; }"""
    )
    marks = [mark for _, mark, _ in loops(scheduled(scop))]
    assert [mark.parallel for mark in marks].count(True) == 2


def test_seidel_is_parallel_and_not_vectorizable() -> None:
    marks = [mark for _, mark, _ in loops(scheduled(case("seidel")))]
    assert [(mark.parallel, mark.simd, mark.scalar) for mark in marks] == [(True, False, False), (False, False, True)]


def test_loop_sinks_into_a_sequence_for_the_stride() -> None:
    simd = [loop for loop in loops(scheduled(case("gram"))) if loop[1].simd]
    # the sums of columns have one loop for eight rows and one for what is left
    assert len(simd) == 3
    assert all("[(j)]" in loop[2] for loop in simd)


@pytest.mark.parametrize(("around", "short"), [("", True), ("x[0] = A[t][0];", False)])
def test_a_loop_inside_of_another_one_for_threads_may_sink_as_a_whole(around: str, *, short: bool) -> None:
    body = f"""for (t = 0; t < m; t++) {{ {around} for (j = 0; j < 6; j++) {{
      A[t][j] = x[0]; for (i = 0; i < n; i++) A[t][j] += B[i][t] * A0[i][j]; }} }}"""
    scop = scop_of(body, "int n, int m, double *x, double A[9][6], double B[9][9], double A0[9][6]")
    deps = dependences(scop)
    tree = with_properties(scop, ordered(scop, deps), scop.schedule)
    (band,) = [node for node in band_nodes(tree) if node.get_schedule_depth() == 1]
    assert is_short_nest(Setting.of(scop, deps, Options()), band) is short


def test_private_copies_make_a_loop_parallel() -> None:
    (mark,) = [
        mark
        for _, mark, _ in loops(
            scheduled(scop_of("for (i = 0; i < n; i++) { double u = x[i]; double v = u * u; y[i] = u + v; }"))
        )
    ]
    assert mark.parallel
    assert set(mark.private) == {"u", "v"}


def test_scalar_that_lives_on_keeps_the_loop_sequential() -> None:
    schedule = scheduled(
        scop_of(
            "for (i = 0; i < n; i++) { s = x[i]; y[i] = s; }",
            params="int n, double *x, double *y, double *r",
            after="*r = s;",
        )
    )
    assert not loops(schedule)


def test_live_range_across_iterations_is_not_private() -> None:
    schedule = scheduled(scop_of("s = 0; for (i = 0; i < n; i++) { y[i] = s; s = x[i]; }"))
    assert not any(mark.parallel and "s" in mark.private for _, mark, _ in loops(schedule))


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("sizes", everyday([(), (3,), (4, 2)]))
def test_every_combination_is_legal(scheduler: str, name: str, sizes: tuple[int, ...]) -> None:
    assert scheduled(case(name), Options(tile_sizes=sizes), scheduler).tree.get_domain().is_equal(case(name).domain)


def test_properties_are_computed_not_believed() -> None:
    scop = scop_of("for (i = 1; i < n; i++) for (j = 0; j < n - 1; j++) A[i][j] = A[i - 1][j + 1];")
    claimed = scop.schedule.get_root().child(0).band_set_permutable(1).band_member_set_coincident(0, 1).get_schedule()
    bands = band_nodes(with_properties(scop, ordered(scop, dependences(scop)), claimed))
    assert [band.band_n_member() for band in bands] == [1, 1]
    assert [bool(band.band_member_get_coincident(0)) for band in bands] == [False, True]


def test_unknown_scheduler() -> None:
    with pytest.raises(KeyError):
        get_scheduler("nonesuch")


def test_every_name_that_options_take_is_a_scheduler() -> None:
    assert tuple(REGISTRY) == SCHEDULERS


SOLVES = """for (t = 0; t < m; t++) {
  for (i = 1; i < n; i++) for (j = 1; j < n; j++)
    A[i][j] = (A[i][j] - B[i][j] * A[i - 1][j] - C[i][j] * A[i][j - 1]) / 3;
  for (i = n - 2; i >= 0; i--) for (j = n - 2; j >= 0; j--)
    A[i][j] = A[i][j] - B[i][j] * A[i + 1][j] - C[i][j] * A[i][j + 1]; }"""


@pytest.mark.parametrize(("size", "shapes"), [(300, [True, True]), (512, [])])
def test_rows_of_solves_inside_of_a_loop_run_beside_each_other(size: int, shapes: list[bool]) -> None:
    """Unless they lie so that the first cache keeps few of their lines."""
    cells = ", ".join(f"double {name}[{size}][{size}]" for name in "ABC")
    found = scheduled(scop_of(SOLVES, f"int n, int m, {cells}"), scheduler="pluto")
    assert [shape.interleave for shape in found.shapes] == shapes
    blocks = [mark for _, mark, _ in loops(found) if mark.scalar]
    assert all(mark.most > 1 for mark in blocks)
    assert len(blocks) == len(shapes)


def test_sweeps_leave_borders_behind() -> None:
    """What could be a vector loop doesn't share the band of what waits for itself."""
    body = """for (t = 0; t < m; t++) {
      for (j = 0; j < n; j++) A[0][j] = A[1][j];
      for (i = 1; i < n - 1; i++) for (j = 1; j < n - 1; j++)
        A[i][j] = (B[i][j] * A[i - 1][j] + C[i][j] * A[i][j - 1] + A[i + 1][j]) / 3; }"""
    cells = ", ".join(f"double {name}[300][300]" for name in "ABC")
    found = scheduled(scop_of(body, f"int n, int m, {cells}"), scheduler="pluto")
    assert [(shape.interleave, len(shape.statements)) for shape in found.shapes] == [(True, 1)]


def test_only_outermost_wavefronts_have_shapes() -> None:
    """A band inside of a sequential loop has short wavefronts:
    interleaving its points would cost more than it hides."""
    inner = scop_of(
        "for (k = 0; k < n; k++) for (i = 0; i < n; i++) for (j = 0; j < n; j++) A[i][j] = A[i][j] + A[i][k] * A[k][j];"
    )
    outer = scop_of("for (k = 0; k < n; k++) for (i = 1; i < n; i++) x[i] = x[i - 1] + x[i] + x[i + 1];")
    assert scheduled(inner, scheduler="pluto").shapes == ()
    assert [shape.interleave for shape in scheduled(outer, scheduler="pluto").shapes] == [True]
