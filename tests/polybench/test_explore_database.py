"""The database of `scopt-explore`: what goes in comes out, samples that are missing, duplicates, other processes."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from scopt.diagnostics import InputError
from scopt.polybench.explore.database import Database, only_writer, open_database
from scopt.polybench.explore.records import (
    Baseline,
    CompilerRecord,
    Machine,
    ProgramRecord,
    Sample,
    Series,
    digest,
    this_machine,
)

OTHER = Machine("abacus", 1, "none")
SAMPLE = Sample(3, "ok", "note", "---\n", (((1, -2), (0, 1)), ((5,),)), "tree", "code", None, (0.5, 0.25))


def entered(database: Database) -> tuple[int, Series]:
    """A machine and a series."""
    program = database.program(ProgramRecord("gemm", "hash", "MEDIUM", "SMALL", 2))
    return database.machine(this_machine()), Series(
        program, database.compiler(CompilerRecord("cc 1", "-O3")), "random", "uniform", 7
    )


def test_what_goes_in_comes_out(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    with open_database(path) as database:
        machine, series = entered(database)
        number = database.add_sample(series, machine, SAMPLE)
        database.add_baseline(series.program, machine, series.compiler, Baseline("original", (1.0, 2.0), 3.0))
    with open_database(path) as database:
        assert entered(database) == (machine, series)
        (stored,) = database.samples()
        assert (stored.id, stored.series, stored.machine, stored.sample) == (number, series, machine, SAMPLE)
        assert stored.sample.minimum == 0.25
        assert database.baselines(series.program, machine, series.compiler) == {
            "original": Baseline("original", (1.0, 2.0), 3.0)
        }
        assert database.machines() == {machine: this_machine()}
        assert database.programs()[series.program].name == "gemm"
        assert database.compilers()[series.compiler] == CompilerRecord("cc 1", "-O3")


def test_missing_numbers(tmp_path: Path) -> None:
    with open_database(tmp_path / "a.sqlite") as database:
        machine, series = entered(database)
        other = database.machine(OTHER)
        database.add_sample(series, machine, SAMPLE)
        database.add_sample(series, other, replace(SAMPLE, number=1))
        assert database.missing(series, 5) == (0, 2, 4)
        assert database.missing(series, 5, machine) == (0, 1, 2, 4)
        assert database.missing(replace(series, seed=8), 2) == (0, 1)
        assert [stored.sample.number for stored in database.samples(series, other)] == [1]


def test_a_sample_is_stored_once(tmp_path: Path) -> None:
    with open_database(tmp_path / "a.sqlite") as database:
        machine, series = entered(database)
        first = database.add_sample(series, machine, SAMPLE)
        assert database.add_sample(series, machine, replace(SAMPLE, reason="later")) == first
        assert [stored.sample for stored in database.samples()] == [SAMPLE]


def test_duplicates_lead_to_what_was_measured(tmp_path: Path) -> None:
    with open_database(tmp_path / "a.sqlite") as database:
        machine, series = entered(database)
        first = database.add_sample(series, machine, SAMPLE)
        # Another tree, the same text; then a search that finds this tree again.
        database.add_sample(series, machine, replace(SAMPLE, number=4, tree_hash="other", duplicate_of=first))
        found = [
            database.same_tree(series, machine, "tree"),
            database.same_tree(replace(series, search="genetic"), machine, "other"),
            database.same_code(series, machine, "code"),
        ]
        assert [stored.id for stored in found if stored] == [first] * 3
        assert database.same_tree(series, database.machine(OTHER), "tree") is None
        assert database.same_tree(series, machine, "") is None


def test_files_that_are_no_database(tmp_path: Path) -> None:
    text, foreign, newer = tmp_path / "text", tmp_path / "foreign", tmp_path / "newer"
    text.write_text("no database, but a text that is long enough for a header of SQLite's, which has 100 bytes" * 3)
    for path, statement in ((foreign, "CREATE TABLE mine (x)"), (newer, "PRAGMA user_version = 99")):
        with sqlite3.connect(path) as connection:
            connection.execute(statement)
    for path, message in (
        (text, "file is not a database"),
        (foreign, "not a database of scopt-explore"),
        (newer, "another version"),
    ):
        with pytest.raises(InputError, match=message):
            open_database(path)
    with pytest.raises(InputError, match="no such database"):
        open_database(tmp_path / "none", create=False)
    with pytest.raises(InputError, match="no folder"):
        open_database(tmp_path / "no" / "folder")


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    holder = (
        "import sys, pathlib, scopt; from scopt.polybench.explore.database import only_writer\n"
        "with only_writer(pathlib.Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    )
    root = Path(__file__).resolve().parents[2]
    with subprocess.Popen(
        [sys.executable, "-c", holder, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=root
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        with (
            pytest.raises(InputError, match=rf"another scopt-explore is adding to it \(process {process.pid}\)"),
            only_writer(path),
        ):
            pass
        process.kill()
    with only_writer(path), open_database(path):
        pass


def test_digests_know_borders() -> None:
    assert digest("ab", "c") != digest("a", "bc")
    assert digest("a", b"b") == digest(b"a", "b")
    assert replace(this_machine(), cores=77).fingerprint != this_machine().fingerprint
