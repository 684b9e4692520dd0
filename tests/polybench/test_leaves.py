"""Leaves beside the default: how they are ranked, and the table of the command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scopt.polybench.bench import main
from scopt.polybench.bench_results import Cell, Failure
from scopt.polybench.leaves import Leaf, Leaves, judged, rank_correlation


@pytest.mark.parametrize(
    ("model", "machine", "expected"),
    [
        ([1, 2, 3, 4], [10, 20, 30, 40], 1.0),
        ([1, 2, 3, 4], [40, 30, 20, 10], -1.0),
        ([1, 2, 3, 4], [10, 30, 20, 40], 0.8),
        ([1, 2, 3, 4], [10, 20.5, 20, 40], 0.9487),  # the two in the middle are the same for the machine
        ([1, 2, 3], [10, 20, 30], None),
        ([5, 5, 5, 5], [10, 20, 30, 40], None),
    ],
)
def test_rank_correlation(model: list[float], machine: list[float], expected: float | None) -> None:
    assert rank_correlation(model, machine) == (None if expected is None else pytest.approx(expected, abs=1e-4))


def test_the_best_leaf_may_be_the_default() -> None:
    row = {
        "gcc": Cell((9.0,)),
        "scopt": Cell((2.0, 1.0)),
        "leaf-1": Cell((3.0,)),
        "leaf-2": Cell(note="the text of scopt"),
        "leaf-3": Cell(failure=Failure("check", "wrong result")),
    }
    each = (Leaf("scopt", 1.0, 1e6), Leaf("leaf-1", 3.0, None))
    assert judged(row, "scopt", {"scopt": 1e6}) == Leaves(1, 1.0, 1.0, "scopt", 1, None, each)
    assert judged({"gcc": Cell((9.0,))}, "scopt", {}) is None


def test_the_place_counts_what_is_faster() -> None:
    row = {"scopt": Cell((1.0,)), **{f"leaf-{k}": Cell((t,)) for k, t in enumerate((0.5, 0.7, 0.97, 2.0))}}
    found = judged(row, "scopt", {})
    assert found is not None
    assert (found.place, found.name, found.count) == (3, "leaf-0", 4)


def test_the_command_draws_leaves(cc: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.json"
    size = ["--size", "MINI", "--check-size", "MINI", "--runs", "1", "--threads", "1"]
    assert main(["atax", *size, "--cc", cc, "--leaves", "1", "--seed", "3", "--json", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "default / best" in printed
    assert "leaf-3" not in printed.splitlines()[0]
    data = json.loads(out.read_text())
    assert set(data["kernels"]["atax"]) == {cc, "scopt", "leaf-3"}
    assert {one["name"] for one in data["leaves"]["atax"]["each"]} == {"scopt", "leaf-3"}
    assert all(one["cycles"] > 0 for one in data["leaves"]["atax"]["each"])
    assert data["leaves"]["atax"]["best"] <= data["leaves"]["atax"]["default"]
