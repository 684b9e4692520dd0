"""Tests for regions whose loops are taken each by itself at once."""

from __future__ import annotations

import pytest

from scopt import Options, large_regions, optimize
from scopt.large_regions import LARGE
from scopt.tell.results import Result

ROWS = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) A[i][j] = 2 * B[i][j];"
BACK = "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) B[i][j] = A[i][j] + 1;"


def optimized(body: str, monkeypatch: pytest.MonkeyPatch, *, square: float = 0.1, budget: float = 20.0) -> Result:
    monkeypatch.setattr(large_regions, "SQUARE_A_SECOND", square)
    text = f"void f(int n, double A[n][n], double B[n][n])\n{{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    return optimize(text, Options(jobs=1, budget=budget))


def taken(result: Result) -> list[tuple[bool, bool]]:
    return [(one.part, one.transformed) for one in result.regions]


def large(result: Result) -> bool:
    return LARGE in {remark.id for remark in result.remarks}


def test_loops_beside_each_other_are_taken_each_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    result = optimized(f"{ROWS}\n{BACK}", monkeypatch)
    assert large(result)
    assert taken(result) == [(False, False), (True, True), (True, True)]


def test_loops_in_one_that_runs_in_order_are_taken_each_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    result = optimized(f"for (int t = 0; t < n; t++) {{\n{ROWS}\n{BACK}\n}}", monkeypatch)
    assert large(result)
    assert taken(result) == [(False, False), (True, True), (True, True)]


def test_loops_inside_are_taken_apart_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    body = f"{ROWS}\nfor (int t = 0; t < n; t++) {{\n{ROWS}\n{BACK}\n}}"
    result = optimized(body, monkeypatch, square=1.0)
    assert [(one.part, one.transformed) for one in result.regions] == [
        (False, False),
        (True, True),
        (True, False),
        (True, True),
        (True, True),
    ]


@pytest.mark.parametrize(
    "body",
    [
        "for (int i = 0; i < n; i++) { for (int j = 0; j < n; j++) A[i][j] = 1;\n"
        "for (int j = 0; j < n; j++) B[i][j] = 2; }",
        ROWS,
    ],
    ids=["loops that threads share", "a loop without others inside"],
)
def test_what_is_worth_more_as_a_whole_stays_one(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    result = optimized(body, monkeypatch)
    assert not large(result)
    assert taken(result) == [(False, True)]


@pytest.mark.parametrize(("square", "budget"), [(0.1, 0.0), (0.1, 1e4), (495.0, 20.0)])
def test_as_long_as_there_is_time_regions_are_taken_as_a_whole(
    square: float, budget: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = optimized(f"{ROWS}\n{BACK}", monkeypatch, square=square, budget=budget)
    assert not large(result)
    assert taken(result) == [(False, True)]
