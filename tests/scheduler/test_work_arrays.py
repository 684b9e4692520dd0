"""Work arrays that are parameters: where each line gets its own, what is left of them, and where they stay."""

from __future__ import annotations

import re

import islpy as isl
import pytest
from msgspec.structs import replace

from scopt.machine import Machine
from scopt.options import Options
from scopt.poly.dependences import dependences
from scopt.poly.isl_utils import IN, PARAM, maps_of
from scopt.rewritten_scop import rewriting_fault, work_rows_scop
from scopt.scheduler.passes.work_arrays import own_work, reused
from tests.conftest import RunC
from tests.sources import optimize, scop_of, source_of

PARAMS = "int n, int m, double u[restrict n][m], double cp[restrict n], double dp[restrict n], double b[restrict n]"
# little work is enough
SOON = replace(Machine(), fork_nanoseconds=1)
LINES = """
for (j = 0; j < m; j++) {
  cp[0] = 0.5 / b[0];
  dp[0] = u[0][j] / b[0];
  for (i = 1; i < n; i++) {
    s = b[i] - 0.25 * cp[i - 1];
    cp[i] = 0.5 / s;
    dp[i] = (u[i][j] - 0.25 * dp[i - 1]) / s;
  }
  u[n - 1][j] = dp[n - 1];
  for (i = n - 2; i >= 0; i--)
    u[i][j] = dp[i] - cp[i] * u[i + 1][j];
}"""
# what a line leaves stays where a later, shorter one doesn't write it
SHORTER = """
for (j = 0; j < m; j++) {
  for (i = 0; i < n - j; i++) cp[i] = u[i][j] / b[i];
  for (i = 1; i < n - j; i++) u[i][j] = u[i - 1][j] / (cp[i] + 2.0);
}"""
TWICE = f"for (t = 0; t < 3; t++) {{{LINES}{SHORTER} b[0] = b[0] + cp[1]; }}"


def text(body: str, machine: Machine = SOON) -> str:
    return optimize(source_of(body, PARAMS), Options(machine=machine)).text.decode().partition("#pragma scop\n")[2]


def has_own(body: str) -> bool:
    scop = scop_of(body, PARAMS)
    return own_work(scop, dependences(scop), SOON) is not None


def test_lines_get_work_arrays_of_their_own() -> None:
    made = text(LINES)
    assert re.search(r"if \(.*n >= \d", made)  # else a subscript would be negative
    assert "#pragma omp parallel for" in made
    assert "cp_all_rows[thread][i][j - jt] = 0.5 / s;" in made
    assert "cp[cp_0] = cp_all[m - 1L][cp_0];" in made


def test_lines_beside_each_other_in_memory_come_first() -> None:
    """Columns of a grid: strips of those that the last subscript tells apart are whole vectors."""
    params = f"{PARAMS}, double w[restrict n][n][m]"
    columns = f"for (k = 0; k < n; k++) {LINES.replace('u[', 'w[').replace('][j]', '][k][j]')}"
    made = optimize(source_of(columns, params), Options(machine=SOON)).text.decode()
    assert "cp_all_rows[thread][i][j - jt] = 0.5 / s;" in made


def test_the_longest_part_of_a_line_has_to_be_long_alone() -> None:
    """Taps of a filter may be few."""
    taps = "for (k = 0; k < o; k++) s += b[k] * u[i + k][j];"
    body = f"""for (j = 0; j < m; j++) {{
      for (i = 0; i < n; i++) {{ s = 0; {taps} cp[i] = s; }}
      for (i = 0; i < n; i++) {{
        s = 0; for (k = 0; k < n; k++) s += cp[k] * b[i * k % n]; dp[i] = s; u[i][j] = s; }} }}"""
    scop = scop_of(body, f"int o, {PARAMS}")
    made = own_work(scop, dependences(scop), SOON)
    assert made is not None
    assert not made.scop.context.involves_dims(PARAM, made.scop.context.find_dim_by_name(PARAM, "o"), 1)


def test_sums_leave_lines_to_strips_whatever_runs_in_vectors_besides() -> None:
    solve = "for (k = 0; k < i; k++) re -= a[i][k] * cp[k]; cp[i] = re / a[i][i]; norm += cp[i] * cp[i];"
    body = f"""for (i = 0; i < n; i++) b[i] = b[i] * 2;
      for (j = 0; j < m; j++) {{
        double norm = 0;
        for (i = 0; i < n; i++) {{ double re = u[i][j]; {solve} }}
        dp[j] = norm; }}"""
    made = optimize(source_of(body, f"{PARAMS}, double a[restrict n][n]"), Options(machine=SOON)).text.decode()
    assert "cp_all_rows[thread]" in made


def test_little_work_is_left_alone() -> None:
    assert "cp_all" not in text(LINES.replace("< n", "< 20").replace("n -", "20 -").replace("< m", "< 30"), Machine())


@pytest.mark.parametrize(
    "body",
    [
        LINES.replace("cp[0] = 0.5 / b[0];", ""),
        "for (t = 0; t < m; t++) for (i = 1; i < n; i++) cp[i] = b[i] * b[i - 1];",
        LINES.replace("cp[i] = 0.5 / s;", "if (u[i][j] > 0.25) cp[i] = 0.5 / s;"),
        LINES.replace("u[n - 1][j] = dp[n - 1];", "u[n - 1][j] = dp[n - 1]; b[1] = b[1] + dp[n - 1];"),
        LINES.replace("dp[i] = (u[i][j]", "dp[i] = (u[i][j - 1]").replace("j = 0", "j = 1"),
    ],
    ids=[
        "read before it is written",
        "the same again and again",
        "perhaps not written",
        "a sum over lines",
        "lines use each other",
    ],
)
def test_other_lines_share_them(body: str) -> None:
    assert body != LINES
    assert not has_own(body)
    assert "cp_all" not in text(body)


# a product in each line, beside another statement in the same loops
PRODUCTS = (
    "double u[restrict m][n][n], double v[restrict m][n][n], double w[restrict m][n], "
    "double cp[restrict n][n], int m, int n"
)
PRODUCT = """
for (int b = 0; b < m; b++) {
  for (i = 0; i < n; i++) for (j = 0; j < n; j++) cp[i][j] = w[b][j] + i;
  for (i = 0; i < n; i++)
    for (j = 0; j < n; j++)
      for (k = 0; k < n; k++) {
        u[b][i][k] += cp[i][j] * v[b][j][k];
        w[b][i] += cp[i][j] * v[b][i][k];
      }
}"""


def test_lines_leave_products_to_loops_of_their_own() -> None:
    waiting = PRODUCT.replace("v[b][i][k];", "v[b][i][k]; v[b][i][k] = u[b][i][k];", 1)
    for body, own in ((PRODUCT, False), (waiting, True)):
        scop = scop_of(body, PRODUCTS)
        assert (own_work(scop, dependences(scop), SOON) is not None) == own


def test_copies_stand_behind_loops_inside_of_a_line() -> None:
    again = SHORTER.replace("{\n", "for (k = 0; k < 4; k++) {\n", 1)
    scop = scop_of(again, PARAMS)
    made = own_work(scop, dependences(scop), SOON)
    assert made is not None
    copy, date = (isl_of(made.scop.order, name) for name in ("S0_cp_last", "S0"))
    # k = 3 at most
    assert date.range().dim_max_val(1).to_python() < copy.range().dim_max_val(1).to_python()


def isl_of(order: isl.UnionMap, name: str) -> isl.Map:
    return next(one for one in maps_of(order) if one.get_tuple_name(IN) == name)


def test_each_cell_has_one_last_line() -> None:
    scop = scop_of(SHORTER, PARAMS)
    made = own_work(scop, dependences(scop), SOON)
    assert made is not None
    (copy,) = (one for one in made.scop.statements if one.name.endswith("_last"))
    (write,) = (access for access in copy.accesses if access.is_write)
    assert write.relation.is_injective()
    assert write.array == "cp"


# vector loops along lines: threads have a line each
ALONG = """
for (j = 0; j < m; j++) {
  for (i = 1; i < n; i++) cp[i] = 0.5 * (u[i - 1][j] + u[i][j]);
  cp[0] = cp[1];
  for (i = 0; i < n - 1; i++) u[i][j] = u[i][j] - 0.25 * (cp[i + 1] - cp[i]);
}"""
# a window that slides along the line: its steps wait for each other, but not long
SLIDING = """
for (j = 0; j < m; j++) {
  for (i = 0; i < n; i++) cp[i] = 0.5 * u[i][j] + b[i];
  k = cp[0] > 3.0;
  for (i = 1; i < n - 1; i++) {
    k += cp[i + 1] > 3.0;
    u[i][j] = k;
    k -= cp[i - 1] > 3.0;
  }
}"""
# a loop in order around vector loops, and nothing else in a line
STEPS = """
for (j = 0; j < m; j++)
  for (k = 0; k < 9; k++) {
    for (i = 0; i < n; i++) cp[i] = 0.5 * u[i][j] + b[i];
    for (i = 0; i < n; i++) dp[i] = cp[n - 1 - i] - 0.125 * cp[i];
    for (i = 0; i < n; i++) u[i][j] = u[i][j] + 0.25 * dp[i];
  }"""
BACKWARDS = LINES.replace("j = 0; j < m; j++", "j = m - 1; j >= 0; j--")


@pytest.mark.parametrize(
    ("body", "rows"),
    [(TWICE, False), (BACKWARDS, False), (LINES, True), (ALONG, True), (SLIDING, True), (STEPS, True)],
    ids=["in a time loop, shorter and shorter", "backwards", "along rows", "a line at a time", "a window", "steps"],
)
def test_all_arrays_are_left_as_they_were(body: str, rows: bool, run_c: RunC) -> None:
    if rows:
        body = re.sub(r"u\[([^]]*)\]\[([^]]*)\]", r"u[\2][\1]", body)
    source = source_of(body, PARAMS.replace("[restrict n][m]", "[restrict m][n]") if rows else PARAMS)
    made = optimize(source, Options(machine=SOON)).text
    assert b"cp_all" in made
    flags = ("-O1", "-ffp-contract=off", "-w")
    before = run_c(DRIVER.replace("KERNEL", source.decode()), *flags, name="before")
    assert run_c(DRIVER.replace("KERNEL", made.decode()), *flags, "-fopenmp", name="after") == before


DRIVER = """
#include <stdio.h>
#include <stdlib.h>
KERNEL
int main(void) {
  static const int sizes[] = {2, 5, 31, 33, 70};
  for (int a = 0; a < 5; a++)
    for (int c = -1; c < 5; c++) {
      int n = sizes[a], m = c < 0 ? 0 : sizes[c];
      double *u = malloc(8 * (n * m + 1)), *w = malloc(8 * 3 * n);
      for (int k = 0; k < n * m; k++) u[k] = k % 13 / 7.0;
      for (int k = 0; k < 3 * n; k++) w[k] = 2 + k % 5 / 3.0;
      f(n, m, (void *)u, w, w + n, w + 2 * n);
      unsigned long hash = 5381;
      for (int k = 0; k < 8 * n * m; k++) hash = hash * 33 + ((unsigned char *)u)[k];
      for (int k = 0; k < 8 * 3 * n; k++) hash = hash * 33 + ((unsigned char *)w)[k];
      printf("%d %d %lu\\n", n, m, hash);
      free(u);
      free(w);
    }
}
"""


# a total in its order over lines with work arrays
TOTAL = """
double loss = 0;
for (j = 0; j < m; j++) {
  double most = -1.0;
  for (i = 0; i < n; i++) cp[i] = 0.5 * u[i][j] + b[i];
  for (i = 1; i < n; i++) dp[i] = cp[i - 1] - 0.125 * cp[i] * cp[i];
  for (i = 1; i < n; i++) if (dp[i] > most) most = dp[i];
  u[0][j] = most;
  loss = 0.5 * loss + most;
}
b[0] = loss;"""


def test_lines_with_work_arrays_hand_on_results(run_c: RunC) -> None:
    rows = re.sub(r"u\[([^]]*)\]\[([^]]*)\]", r"u[\2][\1]", TOTAL)
    params = PARAMS.replace("[restrict n][m]", "[restrict m][n]")
    scop = scop_of(rows, params)
    deps = dependences(scop)
    assert own_work(scop, deps, SOON) is None
    assert reused(scop, deps) == {"cp", "dp"}
    made = work_rows_scop(scop, deps, Options(machine=SOON))
    assert made is not None
    expansion, results = made
    assert (set(expansion.extents), results) == ({"cp_all", "dp_all", "most_all"}, {"most_all"})
    assert rewriting_fault(scop, expansion) is None
    source = source_of(rows, params)
    text = optimize(source, Options(machine=SOON)).text
    assert b"cp_all" in text
    flags = ("-O1", "-ffp-contract=off", "-w")
    before = run_c(DRIVER.replace("KERNEL", source.decode()), *flags, name="before")
    assert run_c(DRIVER.replace("KERNEL", text.decode()), *flags, "-fopenmp", name="after") == before


# exercise as data say, in an array that each line fills anew
CHOSEN = """
for (j = 0; j < m; j++) {
  int flag = 0;
  for (i = 0; i < n; i++) cp[i] = u[i][j] * b[i];
  for (t = n - 2; t >= 0; t--)
    if (b[t] > 0.5) {
      for (i = 0; i <= t; i++) {
        s = 0.5 * (cp[i] + cp[i + 1]);
        if (s < b[i]) { cp[i] = b[i]; flag = 1; } else cp[i] = s;
      }
    } else
      for (i = 0; i <= t; i++) cp[i] = 0.5 * (cp[i] + cp[i + 1]);
  u[0][j] = cp[0] + flag;
}"""


def test_data_may_choose_among_cells_that_are_written_anyway(run_c: RunC) -> None:
    assert has_own(CHOSEN)
    assert not has_own(CHOSEN.replace("cp[i] = u[i][j] * b[i];", "if (u[i][j] > 0) cp[i] = u[i][j] * b[i];"))
    source = source_of(CHOSEN, PARAMS)
    made = optimize(source, Options(machine=SOON)).text
    assert b"cp_all" in made
    flags = ("-O1", "-ffp-contract=off", "-w")
    before = run_c(DRIVER.replace("KERNEL", source.decode()), *flags, name="before")
    assert run_c(DRIVER.replace("KERNEL", made.decode()), *flags, "-fopenmp", name="after") == before


def test_lines_of_complex_numbers_run_one_by_one() -> None:
    """Their quotients are calls, which neither lanes nor lines beside each other make faster: threads have lines, and
    variables of their own in place of cells; one thread has the loops as they were."""
    params = "int n, int m, double _Complex *w, double _Complex *cp, double *out, double *f"
    body = """for (j = 0; j < m; j++) {
      double scale = 0.5 * f[j];
      cp[0] = 0;
      for (i = 1; i < n; i++) cp[i] = scale / (w[i] - cp[i - 1]);
      double _Complex v = cp[n - 1];
      for (i = n - 2; i >= 1; i--) v = 1.0 / (cp[i] + v);
      out[j] = creal(v) * scale;
    }"""
    made = optimize(source_of(body, params, "double creal(double _Complex);"), Options()).text.decode()
    assert "cp_all_rows[thread][i][0] = scale / (w[i] - cp_all_rows[thread][i - 1][0]);" in made
    assert "scale_rows" not in made
    assert " && scopt_threads() > 1" in made.partition("scopt_rows_0(scopt_threads_0")[0].partition("#pragma scop")[2]
