"""Fusion: neighbours that gain nothing apart run together; what has a vector loop of its own stays."""

from __future__ import annotations

import islpy as isl
import pytest

from scopt.ir.scop import Scop
from scopt.options import Options
from scopt.pipeline import optimize
from scopt.poly.bands import ordered, with_properties
from scopt.poly.dependences import dependences
from scopt.poly.legality import check_marks, check_order
from scopt.poly.trees import Band, Sequence, build, read
from scopt.rewritten_scop import dependences_of
from scopt.scheduler import get_scheduler
from scopt.scheduler.passes.band_passes import apply_passes
from scopt.scheduler.passes.fusion import Fusion, fuse_loops
from tests.fuzz.harness import in_one_form
from tests.sources import scop_of, source_of

pytestmark = pytest.mark.usefixtures("no_rows_beside")

# Two chains along the rows of each i: a loop over j can't be a vector loop, one over i jumps from row to row.
CHAINS = """for (i = 0; i < n; i++) for (j = 1; j < n; j++) A[i][j] = A[i][j] / (A[i][j - 1] + 2);
for (i = 0; i < n; i++) for (j = 1; j < n; j++) B[i][j] = B[i][j - 1] / A[i][j - 1];"""
VECTORS = """for (i = 0; i < n; i++) for (j = 1; j < n; j++) A[i][j] = A[i][j] * 2;
for (i = 0; i < n; i++) for (j = 1; j < n; j++) B[i][j] = A[i][j] + 1;"""
CROSSED = """for (i = 0; i < n; i++) for (j = 1; j < n; j++) A[i][j] = A[i][j] / (A[i][j - 1] + 2);
for (i = 0; i < n - 1; i++) for (j = 1; j < n; j++) B[i][j] = B[i][j - 1] / A[i + 1][j];"""


def top_level_loops(scop: Scop) -> int:
    """How many bands have no band above them."""
    deps = dependences(scop)
    result = apply_passes(scop, deps, get_scheduler("isl").schedule(scop, deps, Options()).tree, Options())
    check_order(scop, deps, result.tree.get_map())
    check_marks(scop, deps, result)
    found = 0

    def visit(node: isl.ScheduleNode) -> None:
        nonlocal found
        if node.get_type() == isl.schedule_node_type.band:
            found += 1
            return
        for position in range(node.n_children()):
            visit(node.child(position))

    visit(result.tree.get_root())
    return found


def test_chains_run_together() -> None:
    assert top_level_loops(scop_of(CHAINS)) == 1


def test_vector_loops_stay_apart() -> None:
    assert top_level_loops(scop_of(VECTORS)) == 2


def test_a_dependence_between_iterations_forbids_it() -> None:
    assert top_level_loops(scop_of(CROSSED)) == 2


# What both read is read at other times, but for the first rows.
FAR = """for (i = 0; i < n; i++) for (j = 1; j < n; j++) A[i][j] = A[i][j - 1] / (C[i][j] + 2);
for (i = 0; i < n; i++) for (j = 1; j < n; j++) B[i][j] = B[i][j - 1] / C[{row}][j];"""
PARAMS = "int n, double A[100][100], double B[100][100], double C[200][100]"


@pytest.mark.parametrize(("row", "loops"), [("i", 1), ("i + 1", 1), ("2 * i", 2), ("i + 50", 2)])
def test_loops_that_are_far_from_each_other_stay_apart(row: str, loops: int) -> None:
    assert top_level_loops(scop_of(FAR.format(row=row), params=PARAMS)) == loops


@pytest.mark.parametrize(("row", "shared"), [("y[i] += A[0][j];", False), ("y[i] += A[j][i];", True)])
def test_a_cell_of_every_row_has_nothing_to_do_with_whole_rows(row: str, shared: bool) -> None:
    scop = scop_of(
        "for (i = 0; i < n; i++) for (j = 0; j < n; j++) x[i] += A[j][i];"
        f"for (i = 0; i < n; i++) for (j = 0; j < n; j++) {row}"
    )
    outer = [
        isl.UnionPwAff(f"{{ {one.name}[i, j] -> [(i)] }}").intersect_domain(isl.UnionSet.from_set(one.domain))
        for one in scop.statements
    ]
    assert Fusion(scop, ordered(scop, dependences(scop)), lambda _node: False).share_data(*outer) is shared


def test_trees_survive_the_round_trip() -> None:
    mixed = (
        "for (t = 0; t < m; t++) { for (i = 0; i < n; i++) x[i] = y[i]; x[0] = 1;"
        " for (i = 0; i < n; i++) y[i] = x[i]; }"
    )
    for source in (CHAINS, CROSSED, mixed):
        scop = scop_of(source)
        again = build(read(scop.schedule.get_root()))
        deps = dependences(scop)
        check_order(scop, deps, again.get_map())
        before, after = (with_properties(scop, ordered(scop, deps), tree) for tree in (scop.schedule, again))
        assert str(before.get_root()) == str(after.get_root())


SUMS = """for (i = 0; i < n; i++) for (j = 1; j < n; j++) A[i][j] = A[i][j] / (A[i][j - 1] + 2);
for (i = 0; i < n; i++) {}"""


@pytest.mark.parametrize(("second", "count"), [("s += A[i][n - 1];", 2), ("y[i] = A[i][n - 1];", 1)])
def test_a_loop_in_order_does_not_take_parallel_rows_along(second: str, count: int) -> None:
    assert top_level_loops(scop_of(SUMS.format(second))) == count


def test_a_counter_does_not_bind_rows_to_a_sum_in_order() -> None:
    """Threads can count: the loop with the sum, which they can't share, stays apart."""
    scop = scop_of(
        """for (i = 0; i < n; i++) {
          int falls = 0;
          for (j = 1; j < n; j++) { A[i][j] = A[i][j] / (A[i][j - 1] + 2); if (A[i][j] < x[j]) falls = 1; }
          if (falls) c++;
        }
        for (i = 0; i < n; i++) s += A[i][n - 1];""",
        before="int c;",
    )
    deps = dependences_of(scop, Options())
    fused = fuse_loops(scop, ordered(scop, deps), scop.schedule, lambda _node: False, lambda _node: False)
    tree = read(fused.get_root())
    assert isinstance(tree, Sequence)
    strict = ordered(scop, deps.strict())
    assert isinstance(
        read(fuse_loops(scop, strict, scop.schedule, lambda _node: False, lambda _node: False).get_root()), Band
    )


def test_a_loop_that_reads_all_of_a_private_row_does_not_join_the_one_that_fills_it() -> None:
    row = """for (t = 0; t < m; t++) { double r[100];
      for (i = 0; i < n; i++) { double s = A[t][i]; for (j = 0; j < n; j++) s += B[i][j] * x[j]; r[i] = s; }
      for (i = 0; i < n; i++) { double s = A[t][i]; for (j = 0; j < n; j++) s += B[i][j] * r[j]; y[i] = s; }
      for (i = 0; i < n; i++) x[i] = y[i]; }"""
    scop = scop_of(row)
    deps = dependences(scop)
    check_order(scop, deps, apply_passes(scop, deps, scop.schedule, Options()).tree.get_map())


BETWEEN = """for (i = 0; i < n; i++) {
  for (j = 1; j < n; j++) A[i][j] = A[i][j] / (A[i][j - 1] + 2);
  x[i] = %s;
  for (j = 1; j < n; j++) B[i][j] = B[i][j - 1] / A[i][j - 1] + %s; }"""


@pytest.mark.parametrize(
    ("before", "behind", "parts"),
    [
        ("2", "1", 2),  # may run before both, or behind them
        ("2", "x[i]", 2),  # before both
        ("A[i][n - 1]", "1", 2),  # behind both
        ("A[i][n - 1]", "x[i]", 3),
    ],
)
def test_statements_between_two_loops_go_before_or_behind_both(before: str, behind: str, parts: int) -> None:
    scop = scop_of(BETWEEN % (before, behind))
    deps = dependences(scop)
    tree = with_properties(scop, ordered(scop, deps), scop.schedule)
    fused = fuse_loops(scop, ordered(scop, deps), tree, lambda _node: False, lambda _node: False)
    check_order(scop, deps, fused.get_map())
    band = read(fused.get_root())
    assert isinstance(band, Band)
    assert isinstance(band.body, Sequence)
    assert len(band.body.parts) == parts


def test_loops_that_only_meet_at_their_ends_stay_apart() -> None:
    forth = "for (j = 0; j < n; j++) A[0][j + 1] = A[0][j] / (x[j] + 2);"
    back = "for (j = 1 - n; j < 1; j++) B[0][-j] = B[0][1 - j] / (x[-j] + 2);"
    assert top_level_loops(scop_of(f"{forth} {back}")) == 2


def test_calls_of_the_library_are_no_reason_for_a_loop_of_their_own() -> None:
    series = f"{' '.join(f'({k} + x[j] *' for k in range(1, 20))} x[j]{')' * 19}"  # more than the sum hides
    body = f"s = 0; for (j = 0; j < m; j++) {{ x[j] = %s({series}); s += x[j]; }} y[0] = s;"

    def loops(function: str) -> int:
        source = b"#include <math.h>\n" + source_of(body % function)
        return optimize(source, Options(parallel=False)).text.decode().count("for (long j = 0")

    assert [loops(function) for function in ("exp", "fabs")] == [1, 2]


def test_nests_along_rows_share_the_loop_over_rows_that_they_share_in_the_source() -> None:
    rows = """for (i = 0; i < n; i++) {
      for (j = 0; j < m - 1; j++) A[i][j] = B[i][2 * j + 1] - (B[i][2 * j] + B[i][2 * j + 2]);
      A[i][m - 1] = B[i][0];
      for (j = 1; j < m; j++) x[i * m + j] = B[i][2 * j] + (A[i][j - 1] + A[i][j]); }"""
    params = "int n, int m, double A[n][m], double B[n][2 * m], double x[]"
    text = in_one_form(optimize(source_of(rows, params), Options()).text.decode())
    assert text.count("#pragma omp parallel for") == 1
    assert text.count("#pragma omp simd") == 2


def test_a_nest_in_strips_does_not_share_a_loop_with_straight_code() -> None:
    rounds = "{ %s += ((%s << 4) ^ (%s >> 5)) + u[2 * k]; %s += ((%s << 4) ^ (%s >> 5)) + u[2 * k + 1]; }"
    body = f"""for (i = 0; i < n; i++) for (j = 0; j < m; j++) {{
      unsigned v = i, w = j;
      for (k = 0; k < 16; k++) {rounds % tuple("vwwwvv")}
      d[i][j][0] ^= v; d[i][j][1] ^= w; }}
    for (i = 0; i < n; i++) {{
      unsigned a = i, b = m;
      for (j = 0; j < m; j++) {{
        a ^= d[i][j][0]; b ^= d[i][j][1];
        for (k = 0; k < 16; k++) {rounds % tuple("abbbaa")} }}
      h[i][0] = a; h[i][1] = b; }}"""
    params = "int n, int m, unsigned u[restrict 32], unsigned d[restrict n][m][2], unsigned h[restrict n][2]"
    text = in_one_form(optimize(source_of(body, params), Options()).text.decode())
    assert text.count("#pragma omp parallel for") == 2
    assert "a_rows" in text
