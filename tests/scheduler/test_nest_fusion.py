"""Statements of one nest of the source: which share their loops again, and which gain by standing apart."""

from __future__ import annotations

import re

import pytest

from scopt.options import Options
from tests.fuzz.harness import in_one_form
from tests.sources import optimize, source_of

PARAMS = (
    "int n, int m, double x[3000][3000], double y[3000][3000], double z[3000][3000], double lo[3000], double u[3000],"
    " double q[3000], double p[3000]"
)
# The first statement is live until the next ones; the last one only reads what the one before has written.
SCALED = """for (i = 0; i < n; i++) { double f = lo[i] / u[i];
  for (j = 0; j < m; j++) { x[i][j] = f * x[i][j]; if (x[i][j] < 0) x[i][j] = 0; } }"""
COLUMNS = """for (i = 0; i < n; i++) for (j = 0; j < m; j++) {
  u[j] += x[i][j]; if (x[i][j] < lo[j]) lo[j] = x[i][j]; }"""
# Small loops become straight code: what is set to zero in front of them shares the loops that are left.
ZEROED = """for (i = 0; i < n; i++) for (j = 0; j < m; j++) {
  x[i][j] = 0; for (k = 0; k < 3; k++) x[i][j] += u[k] * y[i][j + k]; }"""
# Beside other statements of a loop around, where the scheduler has left both in one band.
ZEROED_ROW = """for (i = 1; i < n; i++) { for (j = 0; j < m; j++) {
  u[j] = 0; for (k = 0; k < 4; k++) u[j] += x[i + k][j]; }
  s = 0; for (j = 0; j < m; j++) { s += u[j]; y[i][j] = y[i - 1][j] + s; } }"""
BOTH_WAYS = "for (i = 0; i < n; i++) for (j = 0; j < m; j++) { u[j] += p[i] * x[i][j]; q[i] += x[i][j] * lo[j]; }"
TWO_SUMS = "for (i = 0; i < n; i++) for (j = 0; j < m; j++) { u[i] += x[i][j] * p[j]; q[i] += y[i][j] * p[j]; }"


def vector_loops(body: str) -> list[str]:
    """The statements of each vector loop, and of each other innermost loop."""
    result = optimize(source_of(body, PARAMS), Options(eager=True))
    assert [remark.id for remark in result.remarks if remark.kind == "passed"] == ["region.transformed"]
    text = in_one_form(result.text.decode()).split("#pragma scop")[1].split("#pragma end")[0]
    region = re.sub(r"#pragma[^\n]*\n|\{|\}", "", text)
    return re.split(r"\bfor \([^\n]*\n", region)


@pytest.mark.parametrize(("body", "written"), [(SCALED, ("x[i][j] =",)), (COLUMNS, ("u[", "lo[j] ="))])
def test_lines_come_once(body: str, written: tuple[str, ...]) -> None:
    inner = [one for one in vector_loops(body) if "x[i][j] <" in one]
    assert len(inner) == 1
    assert all(some in inner[0] for some in written)


@pytest.mark.parametrize(("body", "cell"), [(ZEROED, "x[i][j]"), (ZEROED_ROW, "u[j]")], ids=["band", "row"])
def test_straight_code_beside_what_it_starts_from(body: str, cell: str) -> None:
    inner = [one for one in vector_loops(body) if f"{cell} =" in one]
    assert len(inner) == 1
    assert inner[0].count("+=") >= 3
    assert inner[0].count(f"{cell} =") == 1  # what is stored is a variable's value
    assert re.search(r"_0 = 0", inner[0])


def test_no_cell_that_others_may_be() -> None:
    inner = vector_loops("for (i = 0; i < n; i++) { u[i] = 0; for (k = 0; k < 3; k++) u[i] += u[i + k]; }")
    assert not any("u_0" in one for one in inner)


@pytest.mark.parametrize(("divisor", "nests"), [("i * j % n", 1), ("(i + j)", 2)])
def test_divisions_in_subscripts_are_shared(divisor: str, nests: int) -> None:
    sums = f"for (i = 0; i < n; i++) for (j = 0; j < n; j++) {{ u[i] += p[{divisor}]; q[i] += lo[{divisor}]; }}"
    assert len([one for one in vector_loops(sums) if "+=" in one]) == nests


def test_many_at_once() -> None:
    swaps = "".join(
        f"t = r[i][{a}]; r[i][{a}] = t < r[i][{b}] ? t : r[i][{b}]; r[i][{b}] = t < r[i][{b}] ? r[i][{b}] : t; "
        for a, b in ((0, 2), (1, 3), (0, 1), (2, 3), (1, 2))
    )
    result = optimize(source_of(f"for (i = 0; i < n; i++) {{ {swaps} }}", "int n, int r[3000][4]"), Options(eager=True))
    assert in_one_form(result.text.decode()).split("#pragma scop")[1].count("for (") == 1


@pytest.mark.parametrize("body", [BOTH_WAYS, TWO_SUMS], ids=["rows and columns", "two matrices"])
def test_what_gains_by_standing_apart(body: str) -> None:
    for one in vector_loops(body):
        assert not ("u[" in one and "q[" in one)
