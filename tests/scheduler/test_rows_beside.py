"""Rows beside each other: where they are claimed, where they aren't, and what becomes of the rows that are left."""

from __future__ import annotations

import re
from functools import cache

import pytest

from scopt import statement_forms
from scopt.options import Options
from scopt.pipeline import optimize
from scopt.poly.dependences import dependences
from scopt.scheduler.passes.carrying import carry
from scopt.tell.results import Result
from tests.fuzz.harness import in_one_form
from tests.sources import scop_of, source_of

ARRAYS = "int n, int m, double A[2000][2000], double B[2000][2000], double x[2000]"
FILTER = "for (i = 0; i < n; i++) for (j = 1; j < m; j++) A[i][j] = A[i][j-1] * 0.5 * 1.5 * 0.75 + B[i][j];"
HORNER = """
for (i = 0; i < n; i++) {
  double s = 0.0;
  for (j = 0; j < m; j++) s = s * 0.75 + B[i][j];
  x[i] = s;
}"""
SUMMED_UP = HORNER.replace("x[i] = s", "x[0] = x[0] * 0.5 + s")
FORWARD_AND_BACK = """
for (i = 0; i < n; i++) {
  for (j = 1; j < m; j++) A[i][j] = A[i][j] / (A[i][j-1] * 0.5 + 2.0);
  for (j = m - 2; j >= 0; j--) A[i][j] = A[i][j] - 0.5 * 0.75 * A[i][j+1];
}"""


@cache
def optimized(body: str, params: str, options: Options | None) -> Result:
    return optimize(source_of(body, params), options or Options())


def blocks(body: str, params: str = ARRAYS, options: Options | None = None) -> list[int]:
    """How many rows the blocks have, in the order of the text."""
    result = optimized(body, params, options)
    made = in_one_form(result.text.decode()).partition("#pragma scop\n")[2]
    beside = "scopt_apart" in made or "scopt_sums_" in made
    return [int(step) for step in re.findall(r"\bi \+= (\d+)\)", made)] if beside else []


def text(body: str, params: str = ARRAYS, options: Options | None = None) -> str:
    result = optimized(body, params, options)
    assert any(remark.id == "region.transformed" for remark in result.remarks), result.remarks
    return result.text.decode()


# --- where they are ---------------------------------------------------------------------------------------------------


def test_rows_of_which_one_has_an_element_at_a_time_are_neither_strips_nor_vectors() -> None:
    """A block's elements are bounded by its number: at each of them there is no other block."""
    body = "for (i = 0; i < n; i++) { LOOP y[i] = s; }"
    low = "int s = 9; for (j = i * 64; j < i * 64 + 64; j++) s = k[j] < s ? k[j] : s;"
    total = "float s = 0; for (j = i * 64; j < i * 64 + 64; j++) s += x[j];"
    params = "int n, int *restrict k, float *restrict x, float *restrict y"
    for loop in (low, total):
        made = optimize(source_of(body.replace("LOOP", loop), params), Options()).text.decode()
        assert "/ 64" not in made.partition("#pragma scop")[2], loop


def test_loops_that_compute_for_longer_than_they_wait_stay_along_their_rows() -> None:
    body = "for (i = 0; i < n; i++) { double s = 0.0; for (j = 0; j < m; j++) s += TERM; A[i][0] = s; }"
    quick, slow = "B[i][j]", "B[i][j] / (B[i][j] + 2.0) / (B[i][j] + 3.0) / (B[i][j] + 4.0)"
    assert blocks(body.replace("TERM", quick))
    assert not blocks(body.replace("TERM", slow))


def test_whole_statements_read_their_rows_variables_where_their_loops_run() -> None:
    body = """
for (i = 0; i < n; i++) {
  double r = x[i], s = 0.0;
  for (j = 0; j < m; j++) s += B[i][j] * x[j];
  const double t = s * r;
  for (long p = i * m; p < (i + 1) * m; p++) for (long q = 0; q < m; q++) C[i][q] += t * r * x[q];
}"""
    result = optimize(source_of(body, ARRAYS), Options())
    assert "schedule.simplified" not in [remark.id for remark in result.remarks]


@pytest.mark.parametrize(
    ("body", "counts"),
    [(FILTER, [4]), (HORNER, [8]), (FORWARD_AND_BACK, [4])],
    ids=["rows that are written: four", "rows that are only read: eight", "two loops along rows"],
)
def test_rows_of_a_chain_run_beside_each_other(body: str, counts: list[int]) -> None:
    assert blocks(body) == counts
    assert "scopt_rows_0" not in text(body)


def test_cells_that_rows_sum_up_in_are_held() -> None:
    """Else each row waits for its own store, and threads whose cells share a line for each other's."""
    body = "for (i = 0; i < n; i++) for (k = 0; k < m; k++) for (j = 0; j < 40; j++) x[i] += C[k][i][j] * B[j][k];"
    made = text(body, f"{ARRAYS}, double C[50][2000][40]")
    assert "double x_0 = x[i], x_1 = x[i + 1]" in made
    assert "x_1 += C[k][i + 1][j] * B[j][k];" in made


def test_what_is_left_runs_a_row_at_a_time() -> None:
    made = text(FILTER)
    assert "A[i + 3][j] = A_last_rows[3]" in made
    assert "A[i + 4][j]" not in made
    assert "A[i][j] = A_last_rows2[0]" in made


def test_rows_of_a_number_that_is_known_leave_what_is_over() -> None:
    known = FILTER.replace("i < n", "i < 10")
    assert "for (long i = 8; i < 10; i++)" in text(known)
    assert "A_last_rows2" not in text(FILTER.replace("i < n", "i < 8"))


def test_a_chain_hands_its_value_on_in_scalars() -> None:
    made = carry(scop := scop_of(FILTER, ARRAYS), dependences(scop))
    assert made is not None
    assert set(made.arrays) - set(scop.arrays) == {"A_last"}
    assert [one.name for one in made.statements] == ["S0_first", "S0", "S0_kept"]


def test_blocks_run_in_parallel_and_threads_have_their_own_scalars() -> None:
    made = text(HORNER)
    (pragma,) = (line for line in made.splitlines() if "#pragma omp parallel for" in line)
    assert "private(s_rows)" in pragma
    assert "firstprivate(B, m, n, x)" in pragma


def test_what_stands_behind_the_loops_keeps_its_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statement_forms, "rows_scops", lambda *_: ())  # which lets threads run the rows
    body = f"{SUMMED_UP}\n"  # not what is known from other tests
    made = text(body)
    assert blocks(body) == [8]
    assert "#pragma omp" not in made
    places = [made.index(f"x[0] = x[0] * 0.5 + s_rows[{k}]") for k in range(8)]
    assert places == sorted(places)


# --- where they aren't ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "params"),
    [
        (FILTER.replace(" * 0.5 * 1.5 * 0.75", ""), ARRAYS),
        (FILTER.replace("j < m", "j < 13"), ARRAYS.replace("[2000][2000]", "[2000][13]")),
        (FILTER.replace(" * 0.5 * 1.5 * 0.75", ""), ARRAYS.replace("double", "int")),
        ("for (i = 0; i < n; i++) for (j = 1; j < m; j++) A[j][i] = A[j-1][i] * 0.5 * 1.5 + B[j][i];", ARRAYS),
        ("for (i = 1; i < n; i++) for (j = 1; j < m; j++) A[i][j] = A[i][j-1] * 0.5 * 1.5 + A[i-1][j];", ARRAYS),
        (
            "for (i = 0; i < n; i++) { double s = B[i][0];"
            " for (j = 0; j < m; j++) { s = B[i][j] > s ? B[i][j] : s; A[i][j] = s; } }",
            ARRAYS,
        ),
        (
            "for (i = 0; i < n; i++) { double s = 0.0;"
            " for (j = 0; j < m; j++) { if (B[i][j] < 0.0) s = 0.0; s = s * 0.5 * 0.75 + B[i][j]; A[i][j] = s; } }",
            ARRAYS,
        ),
    ],
    ids=[
        "a chain that waits for memory",
        "short rows",
        "sums of integers",
        "columns",
        "rows that wait for each other",
        "extremes",
        "a branch that forgets",
    ],
)
def test_other_chains_run_otherwise(body: str, params: str) -> None:
    assert blocks(body, params) == []


def test_a_chain_in_the_cache_doesnt_wait_for_memory() -> None:
    summing = FILTER.replace(" * 0.5 * 1.5 * 0.75", "")
    assert blocks(summing, ARRAYS.replace("[2000][2000]", "[200][200]")) != []


def test_strips_keep_what_later_runs_overwrite_out_of_memory() -> None:
    sweep = """
for (t = 0; t < 10; t++) {
  for (i = 1; i < n - 1; i++) {
    A[i][0] = 1.0;
    for (j = 1; j < m; j++) A[i][j] = (C[i-1][j] + C[i+1][j]) / (A[i][j-1] * 0.5 * 1.5 * 0.75 + 2.0);
    for (j = m - 2; j >= 1; j--) B[i][j] = A[i][j] * B[i][j+1] + 0.25;
  }
  for (i = 1; i < n - 1; i++) for (j = 1; j < m; j++) C[i][j] = B[i][j-1] * C[i][j];
}"""
    assert blocks(sweep, f"{ARRAYS}, double C[2000][2000]") == []
    assert "A_rows[thread]" in text(sweep, f"{ARRAYS}, double C[2000][2000]")


def test_without_vectors_or_tiles_there_are_none() -> None:
    assert blocks(FILTER, options=Options(simd=False)) == []
    assert blocks(FILTER, options=Options(tile=False)) == []


def test_chains_one_after_the_other_are_waited_for_one_after_the_other() -> None:
    """Either of them alone takes too little longer than memory does."""
    arrays = "int n, int m, " + ", ".join(f"double {name}[2000][1000]" for name in ("a", "b", "c", "d", "x"))
    forth = "for (j = 1; j < m; j++) { s = a[i][j] / b[i][j-1]; b[i][j] -= s * c[i][j-1]; d[i][j] -= s * d[i][j-1]; }"
    back = "for (j = m - 2; j >= 0; j--) x[i][j] = (d[i][j] - c[i][j] * x[i][j+1]) / b[i][j];"
    assert blocks(f"for (i = 0; i < n; i++) {{ {forth} {back} }}", arrays)


STANDARDIZED = """
for (i = 0; i < n; i++) {
  double m = 0.0, v = 0.0;
  for (j = 0; j < n; j++) m += A[i][j];
  m /= n;
  for (j = 0; j < n; j++) { double d = A[i][j] - m; v += d * d; }
  for (j = 0; j < n; j++) { double d = (A[i][j] - m) / v; B[i][j] = d * x[j]; }
}"""


def test_loops_that_carry_nothing_stay_vector_loops_along_the_rows() -> None:
    made = text(STANDARDIZED, ARRAYS.replace("2000", "200"))
    assert blocks(STANDARDIZED, ARRAYS.replace("2000", "200")) == [4]
    assert re.search(
        r"for \(long i2 = i; i2 < i \+ 4; i2\+\+\) \{\s+#pragma omp simd private\(d_2\)\s+for \(long j", made
    )
    assert made.count("omp simd") == 3  # with threads and without, and where fewer rows than four are left


def test_rows_of_which_others_are_blocks_are_those_next_to_each_other() -> None:
    """Of a band of two loops, the inner one; the outer one may have few iterations."""
    body = """
for (t = 0; t < m; t++) for (i = 0; i < n; i++) {
  double s = 0.0;
  for (j = 0; j < n; j++) s += C[t][i][j];
  for (j = 0; j < n; j++) C[t][i][j] /= s;
}"""
    made = text(body, "int n, int m, double C[4][100][200]")
    assert re.search(
        r"parallel for collapse\(2\)[^\n]*\n\s*for \(long t = 0;[^\n]*\n\s*for \(long i = [^\n]*i \+= 4\)", made
    )


SUMMED = "for (i = 0; i < n; i++) { double s = 0.0; for (j = 0; j < m; j++) s += a[i * m + j] * x[j]; y[i] = s; }"
POINTERS = "int n, int m, const double *a, const double *x, double *y"


def test_sums_that_write_nothing_gain_where_rows_are_long_or_cached() -> None:
    """Short rows from memory, many at a time, would keep prefetchers from following any: threads take one by one."""
    halved = SUMMED.replace("s += ", "s = s * 0.5 + ")
    made = text(halved, POINTERS)
    assert blocks(halved, POINTERS) == [8]
    short, _, others = made.partition("if (m <= 511 && n >= 2054) {")[2].partition("\n    } else ")
    assert "omp parallel for" in short
    assert "i += 8" not in short
    assert others.index("omp parallel for") < others.index("i += 8")
    alone = text(halved, POINTERS, Options(parallel=False))
    assert "m > 511 || !((double)n * m > 1048576)" in alone


def test_short_rows_without_gaps_are_asked_for_ahead() -> None:
    body, params = SUMMED.replace("double", "float"), POINTERS.replace("double", "float")
    made = text(body, params)
    assert "__builtin_prefetch(row0_0 + (row0_1 - row0_0 == count && count < 1024 ? " in made
    assert "1023" not in made
    assert "m <= 1024" in text(body.replace("j = 0", "j = 1"), params)


def test_a_few_rows_run_all_at_once() -> None:
    made = text(SUMMED.replace("i < n", "i < 6"), POINTERS)
    assert "s_rows[5] += a[5L * m + j] * x[j]" in made
    assert "s_rows2" not in made
    assert "||" not in made.partition("#pragma scop")[2]  # one block of rows is no stream of blocks


def test_planes_run_all_at_once_in_their_own_nests() -> None:
    """Threads share rows; the sums along columns, which use the planes likewise, have vectors across these."""
    nests = (
        "for (k = 0; k < n; k++) { s = 0; for (j = 0; j < m; j++) { s = s * 0.5 + A[c][k][j]; B[c][k][j] = s; } }"
        "for (j = 0; j < m; j++) { s = 0; for (k = 0; k < n; k++) { s = s * 0.5 + B[c][k][j]; A[c][k][j] = s; } }"
    )
    made = text(
        f"for (int c = 0; c < 5; c++) {{ {nests} }}", "int n, int m, float A[5][900][900], float B[5][900][900]"
    )
    assert re.search(r"#pragma omp parallel for [^\n]*\n\s*for \(long k = 0; k < n; k\+\+\)", made)
    assert re.search(r"#pragma omp simd\n\s*for \(long j = jt; [^\n]*\n[^\n]*\[j - jt\]", made)


def test_statements_around_the_steps_may_choose() -> None:
    """They wait for no branch in the chain."""
    body = SUMMED.replace("y[i] = s;", "y[i] = s; if (x[i] < y[i]) y[i] = x[i];")
    assert blocks(body, POINTERS.replace("const double *x", "const double *restrict x")) == [8]


def test_records_of_many_steps_stay_loops() -> None:
    body = SUMMED.replace("j < m", "j < 39").replace("* m", "* 39").replace("double s", "float s")
    assert blocks(body, POINTERS.replace("double", "float")) == [8]
