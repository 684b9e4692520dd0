from __future__ import annotations

from pathlib import Path

import pytest

from scopt.diagnostics import InputError
from scopt.polybench.bench_results import Cell, Failure, Results
from scopt.polybench.plot import draw, groups, require_plotting


@pytest.fixture
def results() -> Results:
    rows = {
        "gemm": {"gcc": Cell((1.0,)), "scopt": Cell((0.25,)), "polly": Cell(failure=Failure("check", "wrong"))},
        "lu": {"gcc": Cell((1.0,)), "scopt": Cell((1.0,)), "polly": Cell((2.0,))},
    }
    return Results({}, ("gcc", "scopt", "polly"), rows)


def test_groups(results: Results) -> None:
    labels, bars = groups(results)
    assert labels == ("gemm", "lu", "geomean")
    assert bars == {"scopt": (4.0, 1.0, pytest.approx(2.0)), "polly": (None, 0.5, pytest.approx(0.5))}


def test_draw_is_deterministic(results: Results, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    files = [tmp_path / "a.svg", tmp_path / "b.svg"]
    for file in files:
        draw(results, file)
    text = files[0].read_text()
    assert files[1].read_text() == text
    assert all(f">{word}<" in text for word in ("gemm", "lu", "geomean", "scopt", "polly", "speedup over gcc"))


def test_draw_nothing(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    draw(Results({}, ("gcc", "scopt"), {}), tmp_path / "a.svg")
    assert (tmp_path / "a.svg").is_file()


def test_no_matplotlib(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'scopt\[bench\]'"):
        require_plotting(tmp_path / "a.svg")


@pytest.mark.parametrize(
    ("name", "message"), [("a.txt", "has to end in .svg"), ("missing/a.svg", "there is no folder")]
)
def test_no_such_place(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        require_plotting(tmp_path / name)
