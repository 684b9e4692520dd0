"""Where strips of rows are made, where they aren't,
and that what runs is what the original computes, to the last bit."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

import islpy as isl
import pytest

from scopt.astgen.lower.strip_dependences import apart
from scopt.astgen.lower.strip_lowering import lower_strips
from scopt.diagnostics import InternalError
from scopt.ir.marked_schedule import MarkedSchedule
from scopt.machine import Machine
from scopt.options import Options
from scopt.pipeline import optimize
from scopt.poly.dependences import dependences
from scopt.scheduler import get_scheduler
from scopt.scheduler.passes.band_passes import apply_passes
from tests.conftest import EVERYTHING
from tests.fuzz.harness import without_thresholds
from tests.sources import scop_of, source_of

pytestmark = pytest.mark.usefixtures("no_rows_beside")

RECURRENCE = "for (i = 0; i < n; i++) for (j = 1; j < m; j++) A[i][j] = A[i][j-1] * 0.5 * 1.5 * 0.75 + B[i][j];"
DOWN = "for (j = 0; j < m; j++) for (i = 1; i < n; i++) A[i][j] = A[i-1][j] * 0.5 * 1.5 * 0.75 + B[i][j];"
PREFIX_SUM = "for (i = 0; i < n; i++) for (j = 1; j < m; j++) A[i][j] = A[i][j-1] + B[i][j];"
CARRIED_TWICE = "for (i = 1; i < n; i++) for (j = 1; j < m; j++) A[i][j] = A[i][j-1] * 0.5 * 1.5 * 0.75 + A[i-1][j];"
BOTH_WAYS = (
    "for (i = 0; i < n; i++) for (j = 1; j < m; j++) A[i][j] = A[i][j-1] * 0.5 * 1.5 * 0.75 + B[i][j] + B[j][i];"
)
KEPT = (
    "for (i = 0; i < n; i++) for (j = 1; j < m; j++) { s = A[i][j-1] * 0.5 * 1.5 * 0.75 + B[i][j]; A[i][j] = s * s; }"
)
# A scalar that is used after the region holds the rows to their order.
FILTER = """
for (i = 0; i < n; i++) {
  double w = 0.0;
  for (j = 0; j < m; j++) { A[i][j] = w * 0.5 * 1.5 * 0.75 + B[i][j]; w = A[i][j] * 0.25 * 1.5 * 0.75 + w; }
}"""
LOCAL_ARRAY = """
for (i = 0; i < n; i++) {
  double w[100];
  for (j = 0; j < m; j++) w[j] = B[i][j] + 1.0;
  for (j = 1; j < m; j++) A[i][j] = A[i][j-1] * w[j] + 0.5;
}"""
# What is found out about each pixel goes into a cell that it names, in the order of the pixels.
VOTES = """
for (i = 0; i < n; i++) for (j = 0; j < m; j++) {
  double best = 0.0; int at = 0;
  for (t = 0; t < m; t++) { double v = B[i][j] * C[t][i] - 0.25; if (v > best) { best = v; at = t; } }
  if (best > 0.5) A[at][0] += best * B[i][j];
}"""
# All rows look at what the first one has found: it runs by itself, with the variable as it is.
LED = """
for (i = 0; i < n; i++) {
  s = B[1][i];
  for (j = 0; j < m; j++) s = A[0][j] + C[0][0] / (s + B[1][i]);
  if (i == 0) C[0][0] = s;
  B[2][i] = s / C[0][0];
}"""
GUARDED = (
    "for (i = 0; i < n; i++) for (j = 1; j < m; j++)"
    " A[i][j] = A[i][j-1] * 0.5 * 1.5 * 0.75 + (B[0][i] > 0.75 ? B[i][j] : 1.0);"
)
THEN_A_PRODUCT = (
    RECURRENCE
    + " for (i = 0; i < n; i++) for (j = 0; j < m; j++) for (k = 0; k < m; k++) C[i][j] += A[i][k] * B[k][j];"
)
# The first sweep's values are overwritten; the second one's are left for the last t only; B is read in two rows beside.
SWEEPS = """
for (t = 0; t < 3; t++) {
  for (i = 1; i < n - 1; i++) {
    A[i][0] = 1.0 / (t + 2);
    for (j = 1; j < m; j++) A[i][j] = B[i][j] / (A[i][j-1] * 0.5 * 1.5 * 0.75 + 2.0);
    for (j = m - 2; j >= 1; j--) C[j][i] = A[i][j] * C[j+1][i] + A[i][j-1];
  }
  for (i = 1; i < n - 1; i++) {
    A[i][0] = 2.0;
    for (j = 1; j < m; j++) A[i][j] = (C[i-1][j] - C[i+1][j] * 0.5 + C[i][j]) / (A[i][j-1] * 0.5 * 1.5 * 0.75 + 3.0);
    for (j = m - 2; j >= 1; j--) B[i][j] = A[i][j] * B[i][j+1] + 0.25;
  }
}"""


# Sums over pairs: a row's own cells are far apart, the others' are the same for all rows.
FORCES = """
for (i = 0; i < n; i++) {
  double fx = 0.0, fy = 0.0;
  for (j = 0; j < n; j++) {
    double dx = A[j][0] - A[i][0], dy = A[j][1] - A[i][1], q = 1.0 / (dx * dx + dy * dy + 0.01);
    fx += dx * q; fy += dy * q;
  }
  B[i][0] = fx; B[i][1] = fy;
}"""
NEAREST = """
for (i = 0; i < n; i++) {
  double best = 1e30; int at = 0;
  for (j = 0; j < m; j++) {
    double d = (A[i][0] - B[0][j]) * (A[i][0] - B[0][j]);
    if (d < best) { best = d; at = j; }
  }
  C[0][i] = best; C[1][i] = at;
}"""
# A sum down each column, and then a loop down the column that carries nothing, neither of them along lines.
REFLECTED = """
for (j = 1; j < m; j++) {
  double w = 0.0;
  for (i = 0; i < n; i++) w += A[i][0] * A[i][j];
  w = -w / A[0][0];
  for (i = 0; i < n; i++) A[i][j] += w * A[i][0];
}"""
CONDITIONAL = """
for (t = 0; t < 3; t++) {
  double q = A[t][t] - 0.5;
  if (q != 0.0) {
    for (j = t + 1; j < m; j++) {
      double w = 0.0;
      for (i = t; i < n; i++) w += A[i][t] * A[i][j];
      w = -w / q;
      for (i = t; i < n; i++) A[i][j] += w * A[i][t] * 0.125;
    }
  }
}"""
ROW_SUMS = "for (i = 0; i < n; i++) { int k = 0; for (j = 0; j < m; j++) k += D[i][j]; D[i][0] = k; }"


def schedule_of(body: str, options: Options | None = None, after: str = "") -> MarkedSchedule:
    options = options or Options()
    scop = scop_of(body, after=after)
    deps = dependences(scop)
    return apply_passes(scop, deps, get_scheduler(options.scheduler).schedule(scop, deps, options, None).tree, options)


# --- where there are strips -------------------------------------------------------------------------------------------


def test_a_recurrence_along_rows_uses_buffers_with_the_rows_side_by_side() -> None:
    (strips,) = schedule_of(RECURRENCE).strips.values()
    assert [(one.array, one.dimension, one.spread) for one in strips.buffers] == [("A", 0, 0), ("B", 0, 0)]


CLIPPED = """
for (j = 0; j < m; j++) {
  double low = -1e30, high = 1e30;
  for (t = 0; t < 3; t++) {
    double sum = 0.0, square = 0.0; int count = 0;
    for (i = 0; i < n; i++) if (A[i][j] >= low && A[i][j] <= high) { sum += A[i][j]; count++; }
    double mean = count > 0 ? sum / count : 0.0;
    for (i = 0; i < n; i++) if (A[i][j] >= low && A[i][j] <= high) square += (A[i][j] - mean) * (A[i][j] - mean);
    double sigma = count > 1 ? square / (count - 1) : 0.0;
    low = mean - sigma; high = mean + sigma; B[0][j] = mean;
  }
}"""


def test_statements_between_loops_are_in_strips_as_they_are() -> None:
    text = emitted(MAIN.format(body=CLIPPED))
    assert "sigma_rows" in text


@pytest.mark.parametrize(
    ("steps", "rows", "count"), [(4, 500_000, 32), (16, 500_000, 4096), (16, 6000, 512), (16, 3000, 32)]
)
def test_strips_with_more_streams_than_prefetchers_follow_are_long(steps: int, rows: int, count: int) -> None:
    body = "for (i = 0; i < n; i++) { s = 0; for (j = 0; j < m; j++) s += E[j][i] * x[K[j][i]]; y[i] = s; }"
    scop = scop_of(
        body, f"int n, int m, double E[{steps}][{rows}], int K[{steps}][{rows}], double x[{rows}], double *y"
    )
    deps = dependences(scop)
    tree = get_scheduler("pluto").schedule(scop, deps, Options(), None).tree
    (strips,) = apply_passes(scop, deps, tree, Options()).strips.values()
    assert strips.count == count


def test_scalars_that_rows_use_anew_get_a_cell_a_row() -> None:
    (strips,) = schedule_of(FILTER).strips.values()
    assert len(strips.scalars) == 1


@pytest.mark.parametrize(
    ("body", "arrays"),
    [
        pytest.param(BOTH_WAYS, ["A", "B"], id="B's cells of a column are where they were"),
        pytest.param(GUARDED, ["A"], id="what may not exist isn't copied"),
        pytest.param(FORCES, ["A", "B"], id="what is the same for all rows isn't copied"),
    ],
)
def test_references_that_do_not_move_with_the_rows_stay(body: str, arrays: list[str]) -> None:
    (strips,) = schedule_of(body).strips.values()
    assert sorted(one.array for one in strips.buffers) == arrays


def test_scalars_that_an_iteration_uses_up_get_a_cell_a_lane() -> None:
    schedule = schedule_of(FORCES)
    (strips,) = schedule.strips.values()
    lanes = {name for mark in schedule.loops.values() if mark.simd for name in mark.private}
    assert (len(strips.scalars), len(lanes)) == (2, 3)
    assert not lanes & set(strips.scalars)


def test_loops_that_carry_nothing_and_leave_lines_are_in_strips_of_others() -> None:
    """Their vectors are those across the rows, too; along lines, they would be their own."""
    (strips,) = schedule_of(REFLECTED).strips.values()
    assert len(strips.statements) == 4
    assert schedule_of(REFLECTED.replace("A[i][j] += w * A[i][0]", "B[j][i] += w")).strips == {}


@pytest.mark.parametrize(
    ("body", "after"),
    [
        pytest.param(PREFIX_SUM, "", id="a chain of one addition doesn't pay"),
        pytest.param(DOWN, "", id="the loop over rows is a vector loop anyway"),
        pytest.param(CARRIED_TWICE, "", id="rows depend on each other"),
        pytest.param(LOCAL_ARRAY, "", id="each row needs an array of its own"),
        pytest.param(KEPT, "x[0] = s;", id="a scalar is used afterwards"),
        pytest.param(
            "for (i = 0; i < n; i++) for (j = 1; j < m; j++) A[i][j] = B[i][j-1] * 0.5 + 1.0;",
            "",
            id="nothing is carried",
        ),
    ],
)
def test_no_strips_where(body: str, after: str) -> None:
    assert schedule_of(body, after=after).strips == {}


def test_no_strips_where_no_two_rows_go_through_the_same_steps() -> None:
    body = """for (i = 0; i < n; i++) {
      int low = 0;
      for (j = 1024 * i; j < 1024 * i + 1024; j++) low = y[j] < low ? y[j] : low;
      z[i] = low;
    }"""
    text = optimize(source_of(body, params="int n, int *y, int *z"), Options(eager=True), file="in.c").text
    assert b"simd reduction(min: low)" in text
    assert b"low_rows" not in text


def test_no_strips_where_compilers_have_vectors_along_the_rows() -> None:
    scop = scop_of(ROW_SUMS, params="int n, int m, int D[100][100]")
    deps = dependences(scop)
    tree = get_scheduler("pluto").schedule(scop, deps, Options(), None).tree
    assert apply_passes(scop, deps, tree, Options()).strips == {}


@pytest.mark.parametrize(("cell", "strips"), [("float", True), ("unsigned char", False)])
def test_no_instruction_gathers_what_is_narrow(cell: str, strips: bool) -> None:
    body = """for (i = 0; i < 1000; i++) for (j = 0; j < 1500; j++) { float v = 0;
      for (k = 0; k < 4; k++) v += w[j][k] * p[i][q[j] + k];
      o[i][j] = v; }"""
    params = f"float w[1500][4], {cell} p[1000][904], int q[1500], float o[1000][1500]"
    found = optimize(source_of(body, params), Options(verify="schedule")).text.decode()
    assert ("v_rows" in found) == strips


def test_checksums_of_rows_run_side_by_side() -> None:
    body = """for (i = 0; i < n; i++) {
  unsigned c = 1;
  for (j = 0; j < m; j++) { c ^= data[i][j]; for (k = 0; k < 8; k++) c = c >> 1 ^ (0x82f63b78u & -(c & 1)); }
  sums[i] = c;
}"""
    made = optimize(source_of(body, "int n, int m, unsigned char data[300][300], unsigned *sums"))
    assert b"c_rows[p - " in made.text or b"c_rows[i - " in made.text


def test_what_data_name_is_written_in_order() -> None:
    text = emitted(MAIN.format(body=VOTES))
    assert re.search(r"#pragma omp simd[^\n]*\n *for \(long j[^\n]*\n[^\n]*\n *at_rows", text)
    ends = re.findall(r"([^\n]*)\n *for \(long j[^\n]*\n *if \(best_rows[^\n]*\n *A\[at_rows", text)
    assert ends
    assert not any("pragma" in before for before in ends)


@pytest.mark.parametrize(
    ("old", "new"),
    [("B[i][j] * C[t][i]", "B[i][j] * A[t][0]"), ("double best = 0.0", "double best = A[0][0]")],
    ids=["in a loop", "in front of it"],
)
def test_what_is_written_in_order_is_not_looked_at_before(old: str, new: str) -> None:
    """The first one is looked at in a loop along the rows; the second one by statements that run row by row, too, but
    stand in front of what writes."""
    params = "int n, int m, double A[100][100], double B[100][100], double C[100][100]"
    found = [scop_of(body, params=params) for body in (VOTES, VOTES.replace(old, new))]
    trees = [get_scheduler("pluto").schedule(scop, dependences(scop), Options(), None).tree for scop in found]
    made = [apply_passes(scop, dependences(scop), tree, Options()) for scop, tree in zip(found, trees, strict=True)]
    assert [len(one.strips) for one in made] == [1, 0]


def test_a_contraction_does_not_join() -> None:
    scop = scop_of(THEN_A_PRODUCT, params="int n, int m, double A[100][100], double B[100][100], double C[100][100]")
    deps = dependences(scop)
    marked = apply_passes(scop, deps, get_scheduler("pluto").schedule(scop, deps, Options(), None).tree, Options())
    assert [strips.statements for strips in marked.strips.values()] == [("S0",)]
    assert len(marked.tilings) == 1


@pytest.mark.parametrize(("size", "rows"), [(8, 8), (20, 24), (3, 8), (1000, 64)])
def test_rows_of_a_strip_are_the_users_in_whole_vectors(size: int, rows: int) -> None:
    (strips,) = schedule_of(RECURRENCE, Options(tile_sizes=(size,))).strips.values()
    assert strips.count == rows


# --- checks -----------------------------------------------------------------------------------------------------------


def test_values_that_go_from_row_to_row_are_found() -> None:
    sound = schedule_of(RECURRENCE)
    other = scop_of(CARRIED_TWICE)
    with pytest.raises(InternalError, match="'A' is kept by rows"):
        apart(other, dependences(other), sound)


def test_only_what_is_used_is_copied() -> None:
    scop = scop_of(SWEEPS, params="int n, int m, double A[100][100], double B[100][100], double C[100][100]")
    deps = dependences(scop)
    marked = apply_passes(scop, deps, get_scheduler("pluto").schedule(scop, deps, Options(), None).tree, Options())
    buffered = lower_strips(scop, deps, marked, Machine())
    copies = sorted(
        one.name for one in buffered.scop.statements if one.name.rstrip("0123456789").endswith(("_in", "_out"))
    )
    # A comes from nowhere; the first sweep's A is dead, of the second one's the last t is left;
    # B's last column comes in twice
    assert copies == ["A_out", "B_in", "B_in2", "B_out", "C_in"]
    left = next(one for one in buffered.scop.statements if one.name == "A_out").domain
    assert left.is_subset(left.lower_bound_val(isl.dim_type.set, 0, isl.Val(2)))


# --- what runs --------------------------------------------------------------------------------------------------------

MAIN = """
#include <stdio.h>
#include <stdlib.h>
void f(int n, int m, double A[N][M], double B[N][M], double C[M][N]) {{
  int i, j, t;
  double s;
#pragma scop
{body}
#pragma endscop
}}
static double A[N][M], B[N][M], C[M][N];
int main(void) {{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) {{
      A[i][j] = (i * 7 + j) % 11 / 8.0;
      B[i][j] = (i + j * 5) % 13 / 9.0;
      C[j][i] = (i * 3 + j) % 17 / 10.0;
    }}
  f(N - LESS, M - LESS, A, B, C);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) printf("%a %a %a\\n", A[i][j], B[i][j], C[j][i]);
  return 0;
}}
"""
EXACT = ("-ffp-contract=off", "-w")
FLAGS = ("-O2", "-march=native", "-fopenmp", *EXACT)


@cache
def emitted(source: str) -> str:
    result = optimize(source, Options(cpp_flags=("-DN=80", "-DM=80", "-DLESS=0")), file="in.c")
    assert [remark.id for remark in result.remarks if remark.kind == "missed"] == []
    return without_thresholds(result.text.decode())


RUNNING = {
    "recurrence": RECURRENCE,
    "filter": FILTER,
    "sweeps": SWEEPS,
    "both ways": BOTH_WAYS,
    "guarded": GUARDED,
    "forces": FORCES,
    "nearest": NEAREST,
    "reflected": REFLECTED,
    "conditional": CONDITIONAL,
    "votes": VOTES,
    "led": LED,
}
# Whole blocks of rows and some beside them; fewer than a block, or nothing but blocks: one or the other, or, with
# SCOPT_TEST_ALL=1 in the environment, both.
RUNS = [
    pytest.param(body, rows, id=f"{name}-{rows}")
    for number, (name, body) in enumerate(RUNNING.items())
    for rows in ((3, 32, 71) if EVERYTHING else ((3, 32)[number % 2], 71))
]


@pytest.mark.parametrize(("body", "rows"), RUNS)
def test_results_are_the_same(body: str, rows: int, run_c: Callable[..., str]) -> None:
    square = body not in (RECURRENCE, FILTER)  # their arrays are used along both directions
    source = MAIN.format(body=body)
    text = emitted(source)
    assert "_rows" in text
    columns = rows if square else rows + 10
    sizes = (f"-DN={rows}", f"-DM={columns}", f"-DLESS={int(rows == 71)}")
    before = run_c(source, "-O0", *EXACT, *sizes, name="before")
    assert run_c(text, *FLAGS, *sizes, name="after") == before
    if rows == 71:
        assert run_c(text, "-O1", "-std=c99", *EXACT, *sizes, name="plain") == before


def test_without_threads_there_is_one_buffer() -> None:
    source = MAIN.format(body=RECURRENCE)
    text = optimize(source, Options(cpp_flags=("-DN=80", "-DM=80", "-DLESS=0"), parallel=False), file="in.c").text
    assert b"omp_get_thread_num" not in text
    assert b"A_rows[" in text


def test_no_strips_inside_a_parallel_loop() -> None:
    body = """for (t = 0; t < n; t++)
  for (i = 0; i < m; i++) for (j = 1; j < m; j++) D[t][i][j] = D[t][i][j-1] * 0.5 + 1.0;"""
    scop = scop_of(body, params="int n, int m, double D[50][60][70]")
    deps = dependences(scop)
    marked = apply_passes(scop, deps, get_scheduler("pluto").schedule(scop, deps, Options(), None).tree, Options())
    assert len([mark for mark in marked.loops.values() if mark.parallel]) == 1


# Scores of shifts: sums over points that data place, along lines; their places are written in front.
SCORES = """
for (t = 0; t < n; t++)
  for (i = 0; i < 41; i++) for (j = 0; j < 41; j++) {
    int sum = 0;
    for (k = 0; k < m; k++) sum += grid[y[k] + i][x[k] + j];
    score[i][j] += sum - t * j;
  }"""
# The same over several loops that carry nothing, with what each iteration around them computes for itself.
WEIGHTED = """
for (t = 0; t < n; t++) {
  float h[700];
  for (k = 0; k < m; k++) h[k] = k * t;
  for (i = 0; i < 41; i++) for (j = 0; j < 41; j++) {
    float sum = 0;
    for (k = 0; k < m; k++) sum += grid[y[k] + i][x[k] + j] * h[k];
    score[t][i][j] = sum;
  }
}"""
COLUMNS = """
for (t = 0; t < n; t++) {
  for (i = 0; i < m; i++) { s = 0; for (j = 0; j < m; j++) s += A[i][j]; for (j = 0; j < m; j++) A[i][j] *= p[i] / s; }
  w[t] = 0;
  for (j = 0; j < m; j++) {
    double e;
    c[j] = 0;
    for (i = 0; i < m; i++) c[j] += A[i][j];
    e = (c[j] - p[j]) / p[j];
    if (e > w[t]) w[t] = e;
    for (i = 0; i < m; i++) A[i][j] = A[i][j] * p[j] / c[j];
  }
}"""


@pytest.mark.parametrize(("body", "score"), [(SCORES, "score[41][41]"), (WEIGHTED, "score[90][41][41]")])
def test_strips_of_rows_inside_of_others(body: str, score: str) -> None:
    params = f"int n, int m, const unsigned char grid[600][600], const int x[700], const int y[700], int {score}"
    text = optimize(source_of(body, params), Options(eager=True)).text.decode()
    assert re.search(r"omp simd\n *for \(int j = [^\n]*\n *sum_rows\[j[^\n]* \+= grid", text)


def test_columns_of_several_loops_are_strips_without_cells_of_their_own() -> None:
    params = "int n, int m, double A[900][900], double p[900], double c[900], double w[50]"
    text = optimize(source_of(COLUMNS, params), Options(eager=True)).text.decode()
    assert re.search(r"omp simd\n *for \(long j = jt[^\n]*\n *c\[j\] \+= A\[i\]\[j\]", text)


# Sums over sources, into records of three cells, behind derivatives with borders of their own.
RECORDS = """
for (i = 0; i < n; i++) for (j = 0; j < m; j++) u[i][j] = v[i][j < m - 1 ? j + 1 : j] - v[i][j > 0 ? j - 1 : 0];
for (i = 0; i < n; i++) for (j = 0; j < m; j++) {
  float r = 0, g = 0;
  for (k = 0; k < o; k++) { r += u[i][j] * w[k]; g += v[i][j] / w[k]; }
  c[i][3 * j] = r; c[i][3 * j + 1] = g; c[i][3 * j + 2] = r - g; }"""


def test_records_stay_where_they_are_and_borders_apart() -> None:
    params = "int n, int m, int o, float u[400][300], float v[400][300], float w[90], float c[400][900]"
    found = optimize(source_of(RECORDS, params), Options(eager=True)).text.decode()
    assert "r_rows[j - jt] += u[i][j] * " in found
    assert "c[i][3 * j + 1] = g_rows[j - jt]" in found
    assert "u_rows" not in found
    assert "c_rows" not in found


def test_no_strips_where_data_say_how_often_a_loop_runs() -> None:
    body = """for (i = 0; i < n; i++) { double q = 0; for (j = 0; j < m; j++) {
  q = B[j][i] / (q + 1); while (q < A[j][i]) q += 0.5; A[j][i] = q; } }"""
    assert schedule_of(body.replace("while (q < A[j][i]) q += 0.5;", "")).strips
    assert not schedule_of(body).strips


WINDOWS = """
void f(int h, int w, int m, const unsigned short *restrict src, const float *restrict wr, float *restrict dst) {
#pragma scop
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      int c = src[y * w + x];
      float sum = 0.0f, norm = 0.0f;
      for (int k = 0; k < m; k++)
        if (c > 0) {
          int d = src[(y + k) * w + x];
          int diff = d > c ? d - c : c - d;
          if (d > 0 && diff < 100) { float v = wr[diff]; sum += v * d; norm += v; }
        }
      dst[y * w + x] = sum - norm;
    }
#pragma endscop
}"""


@pytest.mark.parametrize(("vector", "strips"), [(32, False), (64, True)])
def test_narrow_cells_that_some_lanes_load_are_no_vectors(vector: int, strips: bool) -> None:
    """Only AVX-512 has masks for them."""
    done = optimize(WINDOWS.encode(), Options(machine=Machine(vector_bytes=vector)))
    assert ("sum_rows" in done.text.decode()) == strips
    wide = WINDOWS.replace("unsigned short", "int").encode()
    assert "sum_rows" in optimize(wide, Options(machine=Machine(vector_bytes=vector))).text.decode()
