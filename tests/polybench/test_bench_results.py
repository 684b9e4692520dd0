from __future__ import annotations

import json
from pathlib import Path

import pytest

from scopt.polybench.bench_results import (
    Cell,
    Failure,
    Results,
    as_json,
    geomean,
    speedup,
    speedups,
    table,
    write_atomically,
)


@pytest.fixture
def results() -> Results:
    return Results(
        {"size": "LARGE"},
        ("gcc", "scopt", "polly"),
        {
            "gemm": {"gcc": Cell((2.0, 1.0, 3.0)), "scopt": Cell((0.25, 0.5)), "polly": Cell((0.5,))},
            "lu": {
                "gcc": Cell((4.0,)),
                "scopt": Cell((1.0,), note="left unchanged"),
                "polly": Cell(failure=Failure("check", "wrong result: A[0]")),
            },
            "mvt": {"gcc": Cell(failure=Failure("run", "timeout after 5 s")), "scopt": Cell((1.0,))},
        },
    )


def test_geomean() -> None:
    assert geomean([2.0, 8.0]) == pytest.approx(4.0)
    assert geomean([]) is None


def test_minimum_and_median() -> None:
    cell = Cell((3.0, 1.0, 2.5))
    assert (cell.minimum, cell.median) == (1.0, 2.5)


def test_a_failure_has_no_time() -> None:
    cell = Cell((3.0,), failure=Failure("run", "timeout"))
    assert (cell.minimum, cell.median) == (None, None)


def test_speedup(results: Results) -> None:
    assert speedup(results.rows["gemm"], "scopt", "gcc") == pytest.approx(4.0)
    assert speedup(results.rows["mvt"], "scopt", "gcc") is None
    assert speedup(results.rows["mvt"], "polly", "gcc") is None
    assert speedups(results, "polly") == {"gemm": pytest.approx(2.0)}


def test_a_time_of_zero_is_below_the_resolution() -> None:
    assert speedup({"gcc": Cell((0.0,)), "scopt": Cell((0.000002,))}, "scopt", "gcc") == pytest.approx(0.5)


def test_table(results: Results) -> None:
    lines = table(results).splitlines()
    assert lines[0].split() == ["kernel", "gcc", "scopt", "polly"]
    assert lines[2].split() == "gemm 1.000 (2.000) 0.2500 (0.3750) 4.00x 0.5000 (0.5000) 2.00x".split()
    assert lines[3].split()[-2:] == ["check", "failed"]
    assert lines[4].split() == ["mvt", "run", "failed", "1.000", "(1.000)", "-"]
    assert lines[6].split() == ["geomean", "2", "of", "3:", "4.00x", "1", "of", "3:", "2.00x"]
    assert len({len(line) for line in lines[:7]}) == 1
    assert lines[-3:] == [
        "lu, scopt: left unchanged",
        "lu, polly: check failed: wrong result: A[0]",
        "mvt, gcc: run failed: timeout after 5 s",
    ]


def test_table_of_nothing() -> None:
    assert table(Results({}, ("gcc", "scopt"), {})).splitlines()[0].split() == ["kernel", "gcc", "scopt"]


def test_json(results: Results) -> None:
    data = json.loads(as_json(results))
    assert data["configurations"] == ["gcc", "scopt", "polly"]
    assert data["settings"] == {"size": "LARGE"}
    assert data["kernels"]["gemm"]["gcc"]["seconds"] == [2.0, 1.0, 3.0]
    assert data["kernels"]["gemm"]["gcc"]["min"] == 1.0
    assert data["kernels"]["lu"]["polly"]["failure"] == {"stage": "check", "reason": "wrong result: A[0]"}
    assert data["geomeans"]["scopt"] == pytest.approx(4.0)


def test_write_atomically(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    path.write_text("old")
    write_atomically(path, "new")
    assert path.read_text() == "new"
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.json"]


def test_write_atomically_into_nothing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        write_atomically(tmp_path / "missing" / "out.json", "new")
