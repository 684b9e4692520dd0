"""`scopt-schedule-bench`: what it measures, its table, JSON and plot, its arguments; and the SCoPs of growing size."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scopt.frontend.extract import extract
from scopt.frontend.region.parse import parse
from scopt.ir.scop import Dependences, Scop
from scopt.options import Options
from scopt.poly.dependences import dependences
from scopt.polybench import scheduler_times
from scopt.polybench.growth import STATEMENTS_A_NEST, source_of_size
from scopt.polybench.scheduler_tables import as_json, draw_growth, fastest, lines, summaries
from scopt.polybench.scheduler_times import Measured, Plan, Source, Times, measure
from scopt.polybench.scheduling import main
from scopt.scheduler.base import ScheduleResult
from tests.sources import source_of

PLAN = Plan(("isl", "identity"), runs=2, whole=False)


@pytest.fixture
def results() -> dict[str, Measured]:
    return {
        "a": Measured(2, 6, 0.5, {"isl": Times((0.25, 0.125)), "identity": Times((0.5,))}),
        "b": Measured(4, 9, 0.5, {"isl": Times((0.375,)), "identity": Times(failure="not finished after 1 s")}),
    }


# --- SCoPs of growing size --------------------------------------------------------------------------------------------


def analysed(statements: int) -> tuple[Scop, Dependences]:
    unit = parse(source_of_size(statements).encode(), "in.c", Options())
    scop = extract(unit, unit.regions[0], "scop0")
    return scop, dependences(scop)


def test_statements_and_depths() -> None:
    scop, deps = analysed(15)
    assert [len(statement.iterators) for statement in scop.statements] == [2] * 5 + [3] * 5 + [2] * 5
    nests = {
        (int(d.source[1:]) // STATEMENTS_A_NEST, int(d.sink[1:]) // STATEMENTS_A_NEST) for d in deps.select("flow")
    }
    assert nests == {(0, 0), (0, 1), (1, 1), (1, 2), (2, 2)}


@pytest.mark.parametrize("statements", [0, -5, 7])
def test_not_a_size(statements: int) -> None:
    with pytest.raises(ValueError, match="multiple of 5"):
        source_of_size(statements)


# --- measuring --------------------------------------------------------------------------------------------------------


def test_measure() -> None:
    source = Source("copy", "in.c", source_of("for (i = 0; i < n; i++) { x[i] = i; y[i] = x[i]; }"))
    found = measure(source, Plan(("isl", "identity"), runs=2))
    assert (found.statements, found.dependences, found.analysis > 0) == (2, 1, True)
    assert [(len(times.schedule), len(times.whole), times.failure) for times in found.times.values()] == [
        (2, 2, "")
    ] * 2
    assert all(min(times.schedule) < min(times.whole) for times in found.times.values())


def test_a_scheduler_that_fails_or_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken:
        def schedule(self, scop: Scop, deps: Dependences, options: Options) -> ScheduleResult:
            if options.scheduler == "isl":
                raise ValueError("boom\nand more")
            while True:
                pass

    monkeypatch.setattr(scheduler_times, "get_scheduler", lambda name: Broken())
    source = Source("copy", "in.c", source_of("for (i = 0; i < n; i++) x[i] = i;"))
    found = measure(source, Plan(("isl", "identity"), runs=1, limit=1.0))
    assert [times.failure for times in found.times.values()] == ["ValueError: boom", "not finished after 1 s"]


def test_what_cant_be_extracted_is_a_failure() -> None:
    found = measure(Source("odd", "in.c", source_of("while (n > 0) n--;")), PLAN)
    assert found.statements == 0
    assert all(times.failure.startswith("in.c:") for times in found.times.values())


# --- figures ----------------------------------------------------------------------------------------------------------


def test_lines(results: dict[str, Measured]) -> None:
    assert lines(results, PLAN) == [["a", "2", "6", "0.125", "0.500"], ["b", "4", "9", "0.375", "failed"]]
    assert summaries(results, PLAN) == [["median", "", "", "0.250", "0.500"], ["max", "", "", "0.375", "0.500"]]
    assert summaries({}, PLAN) == [["median", "", "", "", ""], ["max", "", "", "", ""]]


def test_json_has_all_runs(results: dict[str, Measured]) -> None:
    data = json.loads(as_json(results, {"runs": 2}))
    assert data["settings"] == {"runs": 2}
    assert data["files"]["a"]["times"]["isl"]["schedule"] == [0.25, 0.125]
    assert fastest(results, "isl", "schedule") == {"a": 0.125, "b": 0.375}


def test_draw_is_deterministic(results: dict[str, Measured], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    files = [tmp_path / "a.svg", tmp_path / "b.svg"]
    for file in files:
        draw_growth(results, PLAN, file)
    text = files[0].read_text()
    assert files[1].read_text() == text
    assert all(f">{word}<" in text for word in ("isl", "identity", "statements", "seconds"))


# --- the command ------------------------------------------------------------------------------------------------------


def test_a_kernel(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("rich")
    out = tmp_path / "out.json"
    assert main(["gemm", "--schedulers", "identity", "--runs", "1", "--schedule-only", "--json", str(out)]) == 0
    printed = capsys.readouterr()
    assert all(word in printed.out for word in ("gemm", "identity", "median", "max"))
    assert printed.err == "[ 1/1] gemm\n"
    data = json.loads(out.read_text())
    assert data["settings"]["schedulers"] == ["identity"]
    assert data["files"]["gemm"]["statements"] == 2


def test_growth(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("rich")
    pytest.importorskip("matplotlib")
    out = tmp_path / "out.svg"
    assert (
        main(["--growth", "10,5", "--schedulers", "identity", "--runs", "1", "--schedule-only", "--plot", str(out)])
        == 0
    )
    printed = capsys.readouterr()
    assert "5 statements" in printed.out
    assert printed.err == "[ 1/2] 5 statements\n[ 2/2] 10 statements\n"
    assert out.is_file()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gem"], "unknown kernel 'gem'"),
        (["--suite", "/no/such/tree"], "no such folder"),
        (["gemm", "--growth", "5"], "takes no kernels"),
        (["--plot", "a.svg"], "--plot draws what --growth measures"),
        (["--growth", "5", "--plot", "a.txt"], "has to end in .svg"),
        (["gemm", "--json", "/no/such/folder/out.json"], "No such file or directory"),
    ],
)
def test_bad_arguments(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--schedulers", "llvm"], "unknown scheduler 'llvm'"),
        (["--growth", "7"], "multiple of 5"),
        (["--growth", "x"], "not a positive whole number"),
        (["--fusion", "most"], "invalid choice"),
    ],
)
def test_bad_words(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert message in capsys.readouterr().err
