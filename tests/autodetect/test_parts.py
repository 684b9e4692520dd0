"""Parts of marked regions that are no SCoP as a whole."""

from __future__ import annotations

import pytest

from scopt.command.outcome import outcome_of
from scopt.options import Options
from tests.conftest import RunC
from tests.sources import optimize

SWAPPED = """\
void heat(int n, int steps, double *a, double *b) {
#pragma scop
  for (int t = 0; t < steps; t++) {
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        b[i * n + j] = a[i * n + j] + a[(i - 1) * n + j] + a[(i + 1) * n + j - 1] / 2;
    double *tmp = a;
    a = b;
    %s
  }
#pragma endscop
}
"""
MAIN = """\
#include <stdio.h>
#define SIDE 40
static double grid[2][SIDE * SIDE];
int main(void) {
  for (int i = 0; i < SIDE * SIDE; i++) grid[0][i] = i % 17, grid[1][i] = i % 13;
  heat(SIDE, 5, grid[0], grid[1]);
  double sum = 0;
  for (int i = 0; i < SIDE * SIDE; i++) sum += (i + 1) * grid[0][i] - i * grid[1][i];
  printf("%a\\n", sum);
}
"""


def test_loops_that_swap_pointers_are_taken_as_a_whole(run_c: RunC) -> None:
    source = SWAPPED % "b = tmp;"
    result = optimize(source.encode(), Options(), file="in.c")
    assert [(region.marked, region.transformed) for region in result.regions] == [(True, True)]
    flags = ("-fopenmp", "-fsanitize=address,undefined")
    assert run_c(result.text.decode() + MAIN, *flags, name="emitted") == run_c(source + MAIN, name="original")


def test_loops_between_swapped_pointers_are_taken(run_c: RunC) -> None:
    source = (SWAPPED % "b = tmp;").replace("a[(i - 1) * n + j]", "a[(n - i) * n + j]")  # no tiles hold several sweeps
    result = optimize(source.encode(), Options(), file="in.c")
    whole, part = result.regions
    assert (whole.marked, whole.transformed, whole.part) == (True, False, False)
    assert (part.marked, part.transformed, part.part) == (False, True, True)
    assert [remark.id for remark in result.remarks].count("access.pointer-modified") == 1
    assert "assume.apart" in [remark.id for remark in part.remarks]
    text = result.text.decode()
    assert text.index("#pragma scop") < text.index("#pragma omp parallel") < text.index("#pragma endscop")
    assert run_c(text + MAIN, "-fopenmp", name="emitted") == run_c(source + MAIN, name="original")


def test_what_pointers_lead_to_inside_is_tested(run_c: RunC) -> None:
    source = SWAPPED % "b = t % 2 ? a : tmp;"  # from some iteration on, both are the same
    text = optimize(source.encode(), Options(), file="in.c").text.decode()
    assert "#pragma omp parallel" in text
    loose = text.replace("(double)n * n > ", "(double)n * n > 0 * ")
    assert run_c(loose + MAIN, "-fopenmp", name="emitted") == run_c(source + MAIN, name="original")


def test_all_loops_are_taken_where_something_beside_them_keeps_the_whole_from_it(run_c: RunC) -> None:
    loops = SWAPPED.partition("double *tmp")[0].partition("#pragma scop")[2].replace("steps; t++) {", "steps; t++)")
    before = "double row[n];\nfor (int i = 0; i < n; i++) row[i] = b[i];\n"
    body = f"{before}{loops}for (int i = 0; i < n; i++) a[i] += row[i];"
    source = f"void heat(int n, int steps, double *a, double *b) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    result = optimize(source.encode(), Options(), file="in.c")
    whole, *parts = result.regions
    assert (whole.marked, whole.transformed) == (True, False)
    assert any(part.transformed for part in parts)
    assert "decl.variable-length" in {remark.id for remark in result.remarks}
    text = result.text.decode()
    assert run_c(text + MAIN, "-fopenmp", name="emitted") == run_c(source + MAIN, name="original")


def test_what_is_asked_for_a_region_is_for_all_of_it() -> None:
    source = (SWAPPED % "b = tmp;").replace("#pragma scop", "#pragma scopt tile(8)\n#pragma scop", 1)
    result = optimize(source.encode(), Options(), file="in.c")
    assert [region.transformed for region in result.regions] == [False]
    assert result.text == source.encode()


def test_documents_are_those_of_whole_regions() -> None:
    source = (SWAPPED % "b = t % 2 ? a : tmp;").encode()
    outcome = outcome_of(source, Options(), "in.c", "schedule")
    assert outcome.refused
    assert len(outcome.result.regions) == 2
    assert outcome.text.count(b"---") <= 1


BOXES = """\
void boxes(int n, const int *from, const int *to, const int *z, int depth[300][400]) {
#pragma scop
  for (int t = 0; t < n; t++) {
    int first = from[t] > 0 ? from[t] : 0, last = to[t] < 399 ? to[t] : 399;
    for (int i = first; i <= last; i++)
      for (int j = first; j <= last; j++)
        if (z[t] < depth[i % 300][j]) depth[i % 300][j] = z[t];
  }
#pragma endscop
}
"""


def test_loops_with_bounds_that_change_are_taken_where_the_region_gains_nothing() -> None:
    rows = BOXES.replace("i % 300", "i").replace("depth[300]", "depth[400]")
    result = optimize(rows.encode(), Options(), file="in.c")
    whole, part = result.regions
    assert (whole.transformed, part.transformed, part.part) == (False, True, True)
    assert "region.no-gain" in [remark.id for remark in result.remarks]
    assert "#pragma omp parallel" in result.text.decode()


def test_loops_with_bounds_that_change_are_taken_where_others_gain_that_are_less_deep() -> None:
    rows = BOXES.replace("i % 300", "i").replace("depth[300]", "depth[400]")
    cleared = "for (int i = 0; i < 400; i++)\n    for (int j = 0; j < 400; j++) depth[i][j] = 0;\n  for (int t"
    result = optimize(rows.replace("for (int t", cleared).encode(), Options(), file="in.c")
    whole, *_, deepest = result.regions
    assert (whole.transformed, deepest.transformed) == (False, True)


def test_regions_stay_whole_where_their_parts_gain_nothing_either() -> None:
    chain = BOXES.replace(
        "if (z[t] < depth[i % 300][j]) depth[i % 300][j] = z[t];", "depth[0][0] = depth[0][0] * 3 ^ z[j];"
    )
    result = optimize(chain.encode(), Options(), file="in.c")
    assert [region.transformed for region in result.regions if region.marked] == [True]


GATHER = """\
void gather(int n, const int *from, const int *to, const int *at, const double *x, double *y) {
#pragma scop
  for (int t = 0; t < n; t++) {
    int first = from[t], last = to[t];
    for (int i = first; i <= last; i++)
      y[i] = y[i] * 3 + 2 * x[at[i]];
    %s
  }
#pragma endscop
}
"""


@pytest.mark.parametrize(("last", "told"), [("", False), ("x = first > 2 ? x + 1 : y;", True)])
def test_what_the_region_says_of_pointers_holds_in_its_parts_while_they_stay(last: str, told: bool) -> None:
    result = optimize((GATHER % last).encode(), Options(), file="in.c")
    assert ("alias.may-overlap" in [remark.id for remark in result.remarks]) == told
    assert ("#pragma omp parallel" in result.text.decode()) != told


CALLED = """\
static void step(int n, double a[n], double b[n])
{
    for (int i = 1; i < n - 1; i++)
        b[i] = a[i - 1] + a[i + 1];
}
static void both(int n, double a[n], double b[n]) { step(n, a, b); step(n, b, a); }
static void other(int n, double a[n]) { for (int i = 0; i < n; i++) a[i] = i; }
void f(int n, double a[n], double b[n], double limit)
{
    other(n, a);
#pragma scop
    while (a[n / 2] < limit) {
        both(n, a, b);
        if (b[1] > limit)
            break;
    }
#pragma endscop
}
"""


def test_what_is_called_in_regions_that_are_left_is_taken() -> None:
    result = optimize(CALLED.encode(), Options(), file="in.c")
    done = {(remark.id, remark.function) for remark in result.remarks if remark.id == "region.transformed"}
    assert done == {("region.transformed", "step")}
