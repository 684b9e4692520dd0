"""Nests that run as stages in blocks of rows, and nests that don't."""

from __future__ import annotations

import re

import islpy as isl
import pytest

from scopt.options import Options
from scopt.scheduler.passes.staging import copied
from tests.sources import optimize, source_of

SIZES = "int n, int m, float a[4000][4000], float b[4000][4000], float c[4000][4000], float d[4000][4000]"
FIRST = "for (i = 0; i < n; i++) for (j = 1; j < m - 1; j++) b[i][j] = a[i][j - 1] + a[i][j + 1];"
SECOND = "for (i = 1; i < n - 1; i++) for (j = 1; j < m - 1; j++) c[i][j] = b[i - 1][j] * b[i + 1][j];"


def region(body: str, params: str = SIZES, options: Options | None = None) -> str:
    result = optimize(source_of(body, params), options or Options(eager=True))
    assert [remark.id for remark in result.remarks if remark.kind == "passed"] == ["region.transformed"]
    return result.text.decode().split("#pragma scop")[1].split("#pragma endscop")[0]


def loops_over_rows(text: str) -> list[str]:
    """The parallel loops, each to the next one."""
    return re.split(r"#pragma omp parallel", text)[1:]


def test_rows_follow_each_other_and_those_at_borders_come_last() -> None:
    blocks, borders = loops_over_rows(region(FIRST + SECOND))
    assert "b[i][j] =" in blocks
    assert "c[i][j] =" in blocks
    assert "b[i][j] =" not in borders
    assert "c[i][j] =" in borders
    assert all("schedule(static)" in one.split("\n")[0] for one in (blocks, borders))


def test_nests_of_the_same_rows_have_no_borders() -> None:
    later = "for (i = 0; i < n; i++) for (j = 1; j < m - 1; j++) c[i][j] = b[i][j - 1] * b[i][j + 1];"
    assert len(loops_over_rows(region(FIRST + later))) == 1


def test_a_nest_may_overwrite_what_the_one_before_reads() -> None:
    later = "for (i = 0; i < n; i++) for (j = 0; j < m; j++) b[i][j] *= 0.5f;"
    blocks, borders = loops_over_rows(region(SECOND + later))
    assert "c[i][j] =" in blocks
    assert "b[i][j] *=" in blocks
    assert "c[i][j] =" not in borders
    assert "b[i][j] *=" in borders


@pytest.mark.parametrize(
    ("body", "params"),
    [
        (FIRST + SECOND, SIZES.replace("4000", "1000")),
        (FIRST + SECOND, "int n, int m, float a[n][m], float b[n][m], float c[n][m]"),
        (FIRST + SECOND.replace("b[i - 1]", "b[n - 1 - i]"), SIZES),
        (FIRST + SECOND.replace("b[i - 1]", "b[i - 20]").replace("i = 1", "i = 20"), SIZES),
        (FIRST + SECOND.replace("b[i - 1][j] * b[i + 1][j]", "d[i][j]"), SIZES),
        (FIRST + "for (j = 0; j < m; j++) b[0][j] = 0;" + SECOND, SIZES),
    ],
    ids=["in the cache", "unknown", "other end", "far", "nothing shared", "something between"],
)
def test_nests_that_stay_apart(body: str, params: str) -> None:
    for one in loops_over_rows(region(body, params)):
        assert not ("b[i][j] =" in one and "c[i][j] =" in one)


def test_the_user_can_keep_nests_apart() -> None:
    assert len(loops_over_rows(region(FIRST + SECOND, options=Options(fusion="no", eager=True)))) == 2


def test_filters_of_what_is_left_of_a_sequence_are_copied() -> None:
    tree = isl.Schedule.from_domain(isl.UnionSet("{ A[i] : 0 <= i < 9; B[] }"))
    node = tree.get_root().child(0).insert_filter(isl.UnionSet("{ A[i] : i < 3 }"))
    assert node.get_type() == isl.schedule_node_type.filter
    assert copied(node).get_domain().is_equal(isl.UnionSet("{ A[i] : 0 <= i < 3 }"))
