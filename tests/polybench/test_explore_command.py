"""`scopt-explore` on a tiny program: what it prints and keeps, being killed and resumed,
duplicates, wrong results, bad arguments."""

from __future__ import annotations

import os
import signal
import sqlite3
import time
from pathlib import Path

import pytest

from scopt import Options, optimize
from scopt.polybench.explore.explore_arguments import make_parser
from scopt.polybench.explore.explore_command import main
from tests.polybench.explored import QUICK, explored, rows_of, start, write_matvec

IDENTITY = "number, tree_hash, code_hash, rows, schedule"


def test_explore_save_and_replay(tmp_path: Path) -> None:
    write_matvec(tmp_path)
    code, printed, errors = explored(
        tmp_path, "in.c", *QUICK, "--samples", "4", "--baselines", "identity", "--save", "best.yaml"
    )
    assert (code, errors.count("in: sample ")) == (0, errors.count("\n"))
    header, _, line = (text.split() for text in printed.splitlines()[:3])
    assert (line[0], line[1], header[-1]) == ("in", "4", "identity")
    best = max(rows_of(tmp_path / "explore.sqlite", "-minimum, schedule"))
    assert (tmp_path / "best.yaml").read_text() == best[1]
    options = Options(schedule_file=str(tmp_path / "best.yaml"), cpp_flags=(f"-I{tmp_path / 'include'}",))
    result = optimize((tmp_path / "in.c").read_bytes(), options, file=str(tmp_path / "in.c"))
    assert [region.transformed for region in result.regions] == [True]


def test_samples_accumulate(tmp_path: Path) -> None:
    write_matvec(tmp_path)
    explored(tmp_path, "in.c", *QUICK, "--samples", "2")
    kept = rows_of(tmp_path / "explore.sqlite", "number, minimum, created")
    code, printed, _ = explored(tmp_path, "in.c", *QUICK, "--samples", "4")
    assert code == 0
    assert printed.splitlines()[2].split()[1] == "4"
    after = rows_of(tmp_path / "explore.sqlite", "number, minimum, created")
    assert (after[:2], len(after)) == (kept, 4)
    # Nothing is left to be done: it only tells.
    assert explored(tmp_path, "in.c", *QUICK, "--samples", "4")[2] == ""
    assert explored(tmp_path, "in.c", *QUICK, "--samples", "0")[1] == printed
    assert rows_of(tmp_path / "explore.sqlite", "number, minimum, created") == after


def test_killed_and_resumed_is_as_never_killed(tmp_path: Path) -> None:
    """kill -9 amid the run; then the same command. Another database has an uninterrupted run."""
    write_matvec(tmp_path)
    arguments = ("in.c", *QUICK, "--jobs", "2", "--samples", "8")
    database = tmp_path / "killed.sqlite"
    with start(tmp_path, *arguments, "--db", database) as process:
        deadline = time.monotonic() + 60
        while not (database.is_file() and _count(database) >= 2) and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    kept = rows_of(database, "number, minimum, created")
    assert 2 <= len(kept) < 8
    assert explored(tmp_path, *arguments, "--db", database)[0] == 0
    assert explored(tmp_path, *arguments, "--db", "whole.sqlite")[0] == 0
    assert rows_of(database, "number, minimum, created")[: len(kept)] == kept
    assert rows_of(database, IDENTITY) == rows_of(tmp_path / "whole.sqlite", IDENTITY)


def _count(database: Path) -> int:
    try:
        return len(rows_of(database, "id"))
    except sqlite3.OperationalError:  # no tables yet
        return 0


def test_interruption(tmp_path: Path) -> None:
    write_matvec(tmp_path)
    with start(tmp_path, "in.c", *QUICK, "--samples", "60") as process:
        assert process.stderr is not None
        assert "in: sample" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        printed, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "interrupted; what was measured is in explore.sqlite" in errors
    assert "Traceback" not in errors
    assert printed.splitlines()[2].split()[0] == "in"
    assert 1 <= len(rows_of(tmp_path / "explore.sqlite", "id")) < 60


def write_copy(folder: Path, name: str = "in") -> None:
    """A program whose space has few distinct schedules."""
    file = write_matvec(folder, name=name)
    before, region = file.read_text().split("#pragma scop\n")
    after = region.split("#pragma endscop")[1]
    file.write_text(
        f"{before}#pragma scop\n    for (int i = 0; i < N; i++)\n        y[i] = x[i];\n#pragma endscop{after}"
    )


def test_duplicates_are_measured_once(tmp_path: Path) -> None:
    write_copy(tmp_path)
    assert explored(tmp_path, "in.c", *QUICK, "--samples", "8")[0] == 0
    found = rows_of(tmp_path / "explore.sqlite", "id, duplicate_of, code_hash, minimum, status")
    first = {id: result for id, of, *result in found if of is None}
    copies = [(of, result) for _, of, *result in found if of is not None]
    assert len({code_hash for code_hash, _, _ in first.values()}) == len(first) < 8
    assert all(first[of] == copied for of, copied in copies)


def test_a_wrong_result_ends_the_run(tmp_path: Path) -> None:
    """Only transformed programs are built with OpenMP."""
    write_matvec(tmp_path, '\n#ifdef _OPENMP\nprintf("1\\n");\n#endif\n')
    code, _, errors = explored(tmp_path, "in.c", *QUICK, "--samples", "40")
    assert code == 1
    assert "scopt-explore: wrong result, please report this: in: sample 0: wrong result: line 17" in errors
    assert rows_of(tmp_path / "explore.sqlite", "number, status, minimum") == [(0, "mismatch", None)]


def test_genetic_search_and_several_programs(tmp_path: Path) -> None:
    write_copy(tmp_path)
    write_copy(tmp_path, "other")
    code, printed, _ = explored(
        tmp_path, "in.c", "other.c", *QUICK, "--samples", "34", "--search", "genetic", "--save", "best"
    )
    assert code == 0
    lines = [line.split()[:2] for line in printed.splitlines()[2:5]]
    assert (lines[:2], lines[2][0]) == ([["in", "34"], ["other", "34"]], "geomean")
    assert sorted(os.listdir(tmp_path / "best")) == ["in.yaml", "other.yaml"]
    assert {search for (search,) in rows_of(tmp_path / "explore.sqlite", "search")} == {"genetic"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gem"], "unknown kernel 'gem'; did you mean gemm"),
        (["none.c"], "none.c: no such file"),
        (["--cc", "no-such-cc", "gemm"], "compiler 'no-such-cc' is not on the PATH"),
        (["gemm", "--db", "/no/such/folder/a.sqlite"], "there is no folder /no/such/folder"),
        (["gemm", "--samples", "0", "--db", "none.sqlite"], "none.sqlite: there is no such database"),
        (["gemm", "lu", "--save", "best.yaml"], "there are 2 programs; name a folder"),
    ],
)
def test_bad_arguments(
    arguments: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(arguments) == 2
    assert message in capsys.readouterr().err
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--size", "HUGE"], "unknown size 'HUGE'"),
        (["--walk", "drunken"], "invalid choice: 'drunken'"),
        (["--search", "no"], "invalid choice: 'no'"),
        (["--samples", "-1"], "'-1' is not a positive whole number"),
        (["--baselines", "isl,icc"], "unknown baseline 'icc'"),
        (["--timeout-factor", "0"], "is not a number of seconds above 0"),
    ],
)
def test_bad_words(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert message in capsys.readouterr().err


def test_programs_without_a_region_that_can_be_explored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    unmarked = "int main(void) { return 0; }\n"
    refused = (
        "int g(void);\nint main(void) {\n#pragma scop\nfor (int i = 0; i < 5; i++) g();\n#pragma endscop\nreturn 0; }\n"
    )
    for text, message in ((unmarked, "there is no region"), (refused, "no region can be transformed: in.c:4")):
        (tmp_path / "in.c").write_text(text)
        assert main(["in.c", "--samples", "1"]) == 2
        assert message in capsys.readouterr().err


def test_help_names_the_exit_codes() -> None:
    text = make_parser().format_help()
    assert all(
        word in text for word in ("exit status:", "130  interrupted", "examples:", "--cluster", "--report", "genetic")
    )
