"""What all iterations of a vector loop read, and nothing writes."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from scopt.options import Options
from tests.fuzz.harness import without_thresholds
from tests.sources import optimize, source_of

BEFORE = "struct light { float x, r; };"
PARAMS = "int n, int m, int o, struct light light[99], float a[60][70], float b[60][210]"
SUM = """for (i = 0; i < n; i++) for (j = 0; j < m; j++) {
  float r = a[i][j], g = r;
  for (k = 0; k < o; k++) {
    float d = light[k].x - a[i][j];
    if (d > 0.0f) { float e = d * d; r += e * light[k].r; g += e / light[k].r; }
  }
  b[i][3 * j] = r; b[i][3 * j + 1] = g; b[i][3 * j + 2] = r - g; }"""


def text(body: str, before: str = BEFORE) -> str:
    result = optimize(source_of(body, PARAMS, before), Options(eager=True))
    assert [remark.id for remark in result.remarks if remark.kind == "passed"] == ["region.transformed"]
    return result.text.decode()


def test_members_are_in_variables_in_strips() -> None:
    found = text(SUM)
    assert re.search(r"float light_r_0 = light\[k\]\.r;\n(?: *float [^\n]*\n)* *#pragma omp simd", found)
    assert "* light_r_0" in found


@pytest.mark.parametrize(("size", "is_there"), [(99, True), (98, False)])
def test_what_conditions_read_of_an_object_that_has_the_cells(size: int, is_there: bool) -> None:
    body = SUM.replace("k < o", "k < 99").replace("light[k].x", "2.0f").replace("light[k].r", "w[k]")
    assert ("float w_0 = w[k];" in text(body, f"{BEFORE} static const float w[{size}];")) is is_there


def test_records_are_written_by_one_loop_over_the_columns() -> None:
    assert re.search(r"b\[i\]\[3 \* j\] = r_rows\[[^\n]*\n *b\[i\]\[3 \* j \+ 1\] = g_rows\[", text(SUM))


@pytest.mark.parametrize(
    "body",
    [
        SUM.replace("b[i][3 * j] = r;", "b[i][3 * j] = r; light[0].r = 1;"),  # written meanwhile
        SUM.replace("light[k].x", "light[0].x"),  # nobody knows whether the others are there
    ],
    ids=["written", "missing"],
)
def test_cells_that_change_or_may_be_missing_stay(body: str) -> None:
    result = optimize(source_of(body, PARAMS, BEFORE), Options(eager=True)).text.decode()
    assert "light_r_0" not in result


COLUMNS = "int n, int m, double a[60][70], double z[60], double *y"
# Borders of a column: what lies above and below is missing there.
CHOICES = """for (k = 0; k < m; k++) for (j = 0; j < n; j++) {
  double h = k > 0 ? 0.5 * (z[k - 1] + z[k]) : 1.0;
  a[k][j] = a[k][j] / h * (k < m - 1 ? z[k + 1] : 2); }"""


def test_choices_are_in_variables_as_a_whole() -> None:
    found = optimize(source_of(CHOICES, COLUMNS), Options(eager=True)).text.decode()
    values = re.findall(r"double (value_\d) = ([^\n]*);\n", found)
    assert {value for _, value in values} == {
        "(int)k > 0 ? 0.5 * (z[k - 1] + z[k]) : 1.0",
        "(int)k < m - 1 ? z[k + 1] : 2",
    }
    assert re.search(r"if \(n > 0\) \{\n *double value_0", found)  # nothing is read where nothing was
    assert not re.search(r"simd[^\n]*\n *for [^\n]*\n[^}]*\?", found)


@pytest.mark.parametrize(
    "body",
    [
        CHOICES.replace("a[k][j] = ", "z[k] = 2; a[k][j] = "),  # written meanwhile
        CHOICES.replace("z[k + 1] : 2", "z[j] : 2").replace("k > 0 ?", "j > 0 ?"),  # others for each iteration
        "for (k = 0; k < m; k++) for (j = 0; j < n; j++) if (a[k][j] > 0) a[k][j] = k > 0 ? z[k - 1] : 2;",
        "for (k = 0; k < m; k++) for (j = 0; j < n; j++) a[k][j] = y[j] > 0 && (k > 0 ? z[k - 1] : 2);",
    ],
    ids=["written", "moving", "perhaps", "second"],
)
def test_choices_that_change_or_may_not_be_made_stay(body: str) -> None:
    assert "value_" not in optimize(source_of(body, COLUMNS), Options(eager=True)).text.decode()


PROGRAM = """
#include <stdio.h>
static struct light light[99];
static float a[60][70], b[60][210];
int main(void) {
  for (int k = 0; k < 9; k++) light[k].x = k * 0.25f, light[k].r = 1 + k * 0.125f;
  for (int k = 0; k < 60 * 70; k++) a[k / 70][k % 70] = (k * 40503u & 0xffff) / 32768.0f;
  f(59, 67, 9, light, a, b);
  for (int k = 0; k < 60 * 210; k++) printf("%a ", b[k / 210][k % 210]);
}
"""


def test_results_stay(run_c: Callable[..., str]) -> None:
    flags = ("-O2", "-ffp-contract=off")
    made = run_c(without_thresholds(text(SUM)) + PROGRAM, *flags, "-fopenmp", name="ours")
    assert made == run_c(source_of(SUM, PARAMS, BEFORE).decode() + PROGRAM, *flags, name="theirs")
