"""An exploration on a Dask cluster: a real scheduler and workers on loopback, one of them killed; and what is handed to
whom, without a cluster."""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

import scopt
from scopt.diagnostics import InputError, InternalError
from scopt.polybench.explore import cluster, workers
from scopt.polybench.explore.candidates import Candidate, DrawJob, draw
from scopt.polybench.explore.cluster import LOSSES, Distribution
from scopt.polybench.explore.database import Database, open_database
from scopt.polybench.explore.evaluate import BuildResult, MeasureResult, Original
from scopt.polybench.explore.outputs import Output
from scopt.polybench.explore.programs import Program, file_program, timed_flags
from scopt.polybench.explore.records import Baseline, CompilerRecord, Machine, Sample, Series, this_machine
from scopt.polybench.explore.remote import ChildError, in_child
from scopt.polybench.explore.runner import Explored
from scopt.polybench.explore.settle import Mismatch, Settings
from scopt.polybench.explore.tasks import Evaluated, Facts, References, describe
from scopt.polybench.processes import run
from scopt.polybench.toolchains import Compiler, find_compiler
from tests.polybench.explored import ROOT, write_matvec

SETTINGS = Settings(6, threads=1, runs=2, baselines=("isl",))


class Silent:
    """An observer that only remembers."""

    def __init__(self) -> None:
        self.samples: list[Sample] = []
        self.activities: list[str] = []

    def activity(self, program: str, text: str) -> None:
        self.activities.append(text)

    def stored(self, program: str, sample: Sample, original: float) -> None:
        self.samples.append(sample)


@pytest.fixture
def compiler(cc: str) -> Compiler:
    return find_compiler(cc)


@pytest.fixture
def program(tmp_path: Path, compiler: Compiler) -> Program:
    return file_program(write_matvec(tmp_path), (f"-I{tmp_path / 'include'}",), compiler)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with open_database(tmp_path / "explore.sqlite") as opened:
        yield opened


def explored(program: Program, compiler: Compiler, database: Database) -> Explored:
    record = (
        database.program(program.record(1)),
        database.compiler(CompilerRecord(compiler.version, timed_flags(program))),
    )
    return Explored(program, Series(*record, "random", "bias_coeff_0", 0), "bias_coeff_0")


# --- a real cluster ---------------------------------------------------------------------------------------------------


class Cluster:
    """`dask scheduler` and `dask worker` as processes of their own."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._file = folder, folder / "scheduler.json"
        self._environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH")))),
        }
        self.processes = [self._start("scheduler", "--host", "127.0.0.1", "--port", "0")]

    def worker(self) -> subprocess.Popen[bytes]:
        self.processes.append(
            self._start("worker", "--no-nanny", "--nthreads", "1", "--local-directory", str(self._folder / "dask"))
        )
        return self.processes[-1]

    def address(self) -> str:
        deadline = time.monotonic() + 30
        while not self._file.is_file() and time.monotonic() < deadline:
            time.sleep(0.05)
        return str(json.loads(self._file.read_text())["address"])

    def _start(self, *words: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", *words, "--scheduler-file", str(self._file), "--no-dashboard"]
        return subprocess.Popen(
            command, env=self._environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self._folder
        )


@pytest.fixture
def dask_cluster(tmp_path: Path) -> Iterator[Cluster]:
    if importlib.util.find_spec("distributed") is None:
        pytest.skip("no distributed")
    made = Cluster(tmp_path)
    yield made
    for process in made.processes:
        process.kill()
        process.wait()


class Killing(Silent):
    """Kills a worker while it evaluates a sample, and lets another one join."""

    def __init__(self, dask_cluster: Cluster, victim: subprocess.Popen[bytes]) -> None:
        super().__init__()
        self._cluster, self._victim = dask_cluster, victim

    def activity(self, program: str, text: str) -> None:
        super().activity(program, text)
        # both workers have a sample now
        if text == "sample 1" and self._victim.returncode is None:
            threading.Timer(0.2, self._victim.kill).start()
            self._cluster.worker()


def test_a_worker_is_killed(
    dask_cluster: Cluster, tmp_path: Path, program: Program, compiler: Compiler, database: Database
) -> None:
    victim, _ = dask_cluster.worker(), dask_cluster.worker()
    watcher, warnings = Killing(dask_cluster, victim), list[str]()
    one = explored(program, compiler, database)
    # to be waited for as little as possible
    settings = replace(SETTINGS, samples=4, runs=1)
    cluster.explore(dask_cluster.address(), [one], compiler, database, settings, watcher, warnings.append)
    assert victim.poll() == -signal.SIGKILL
    lost = [text for text in warnings if "is lost; sample" in text]
    assert len(lost) == 1
    again = lost[0].partition("is lost; ")[2].split(" of ")[0]
    assert again in ("sample 0", "sample 1")
    assert watcher.activities.count(again) == 2
    # every sample is there once, and is the one that this machine would have drawn
    stored = database.samples(one.series)
    assert [each.sample.number for each in stored] == list(range(4))
    assert len(watcher.samples) == 4
    for each in stored:
        candidate = draw(DrawJob(program, compiler.path, one.walk, 0, each.sample.number))
        assert (each.sample.rows, each.sample.tree_hash, each.sample.schedule) == (
            candidate.rows,
            candidate.tree_hash,
            candidate.schedule,
        )
        assert (each.sample.status, len(each.sample.seconds)) == ("ok", 1)
    by_id = {each.id: each.sample for each in stored}
    trees = [each.sample.tree_hash for each in stored if each.sample.duplicate_of is None]
    assert len(trees) == len(set(trees))
    for sample in by_id.values():
        if sample.duplicate_of is not None:
            assert sample.seconds == by_id[sample.duplicate_of].seconds
    # all workers are on this machine, and share its baselines
    assert list(database.machines().values()) == [this_machine()]
    assert database.baselines(one.series.program, 1, one.series.compiler).keys() == {"original", "isl"}
    assert watcher.activities.count("measuring the original") == 1


def test_no_scheduler(
    monkeypatch: pytest.MonkeyPatch, program: Program, compiler: Compiler, database: Database
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr(workers, "CONNECT", 0.3)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(InputError, match=f"--cluster {address}: there is no Dask scheduler"):
            cluster.explore(address, [explored(program, compiler, database)], compiler, database, SETTINGS, Silent())


def test_no_dask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'scopt\[cluster\]'"), workers.connected("127.0.0.1:1"):
        pass


# --- a worker's process -----------------------------------------------------------------------------------------------


def test_the_process_of_a_worker() -> None:
    assert in_child((int, "12")) == 12
    first = in_child((_pid, None))
    assert first not in (os.getpid(), None)
    assert in_child((_pid, None)) == first
    with pytest.raises(ValueError, match="invalid literal"):
        in_child((int, "twelve"))
    with pytest.raises(ChildError, match="killed by SIGKILL"):
        in_child((functools.partial(os.kill, first), signal.SIGKILL))
    assert in_child((_pid, None)) != first


def _pid(_: None) -> int:
    return os.getpid()


def test_what_a_worker_does_ends_with_it(tmp_path: Path) -> None:
    file = tmp_path / "pid"
    # a worker, dead as soon as its process has started a program
    script = f"""\
import functools, os, threading, time
from pathlib import Path
from scopt.polybench.explore.remote import in_child
from scopt.polybench.processes import run
def die():
    while not Path({str(file)!r}).is_file() or not Path({str(file)!r}).read_text():
        time.sleep(0.02)
    os.kill(os.getpid(), 9)
threading.Thread(target=die).start()
in_child((functools.partial(run, timeout=60), ["sh", "-c", "echo $$ > {file}; exec sleep 60"]))
"""
    environment = {"PYTHONPATH": os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))}
    assert run([sys.executable, "-c", script], 30, environment=environment).code == -signal.SIGKILL
    deadline = time.monotonic() + 10
    while _is_running(int(file.read_text())) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _is_running(int(file.read_text()))


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


# --- what is handed to whom -------------------------------------------------------------------------------------------

HERE = Machine("Some CPU", 2, "Linux")
ELSEWHERE = Machine("Another CPU", 8, "Linux")
ORIGINAL = References(
    Original(Output(0, b""), 0.1, False, ""), (Baseline("original", (1.0, 2.0), 2.0), Baseline("isl", (0.5,)))
)


class Shared:
    """A distribution of six samples with two workers, whose tasks the test answers."""

    def __init__(self, program: Program, compiler: Compiler, database: Database) -> None:
        self.database, self.compiler, self.observer = database, compiler, Silent()
        self.explored = explored(program, compiler, database)
        self.warnings: list[str] = []
        self.source = Distribution([self.explored], compiler, database, SETTINGS, self.observer, self.warnings.append)

    def join(self, address: str, machine: Machine = HERE, host: str = "") -> bool:
        return self.source.joined(address, Facts(machine, host or address, scopt.__version__, self.compiler.version))

    def number(self, address: str) -> int | None:
        """Of the sample that the worker gets."""
        task = self.source.next(address)
        assert task is not None
        self.key = task.key
        return task.key.number

    def evaluated(self, tree: str, code: str = "", seconds: float = 1.0) -> Evaluated:
        built, measured = BuildResult("ok", "", code or f"code of {tree}"), MeasureResult("ok", "", (seconds,))
        return Evaluated(Candidate(self.key.number or 0, "schedule", (), tree), built, measured)


@pytest.fixture
def shared(program: Program, compiler: Compiler, database: Database) -> Shared:
    return Shared(program, compiler, database)


def test_references_come_first_and_once_per_machine(shared: Shared) -> None:
    assert shared.join("a")
    assert shared.join("b")
    assert shared.join("c", ELSEWHERE)
    assert shared.number("a") is None
    references = shared.key
    assert shared.source.next("b") is None
    assert shared.number("c") is None
    shared.source.finished("a", references, ORIGINAL)
    assert (shared.number("b"), shared.number("a")) == (0, 1)
    other = replace(ORIGINAL, baselines=(Baseline("original", (4.0,)),))
    shared.source.finished("c", references, other)
    assert shared.number("c") == 2
    shared.source.finished("c", shared.key, shared.evaluated("x", seconds=2.0))
    series = shared.explored.series
    assert [(each.machine, each.sample.number) for each in shared.database.samples(series)] == [(2, 2)]
    assert shared.database.baselines(series.program, 1, series.compiler)["original"].minimum == 1.0
    assert shared.database.baselines(series.program, 2, series.compiler)["original"].minimum == 4.0
    # what one machine has measured is no duplicate on another
    assert shared.number("b") == 3
    shared.source.finished("b", shared.key, shared.evaluated("x"))
    assert [each.sample.duplicate_of for each in shared.database.samples(series)] == [None, None]
    assert shared.database.machines() == {1: HERE, 2: ELSEWHERE}


def ready(shared: Shared) -> None:
    """A worker `a` that has measured the references."""
    shared.join("a")
    shared.number("a")
    shared.source.finished("a", shared.key, ORIGINAL)


def test_duplicates_that_are_measured_at_the_same_time(shared: Shared) -> None:
    ready(shared)
    for tree, code, seconds in (("x", "c", 3.0), ("x", "c", 2.0), ("y", "c", 1.0)):
        shared.number("a")
        shared.source.finished("a", shared.key, shared.evaluated(tree, code, seconds))
    task = shared.source.next("a")
    assert task is not None
    assert task.payload[1].trees == {"x"}
    assert task.payload[1].codes == {"c"}
    samples = [each.sample for each in shared.database.samples()]
    assert [(sample.duplicate_of, sample.seconds) for sample in samples] == [(None, (3.0,)), (1, (3.0,)), (1, (3.0,))]


def test_a_sample_that_costs_too_many_workers(shared: Shared) -> None:
    ready(shared)
    for _ in range(LOSSES):
        assert shared.number("a") == 0
        shared.source.lost("a", shared.key)
        assert shared.source.next("a") is None
        shared.join("a")
    assert shared.number("a") == 1
    sample = shared.database.samples()[0].sample
    assert (sample.number, sample.status) == (0, "run failed")
    assert len(shared.warnings) == LOSSES - 1


def test_a_lost_worker_was_measuring_the_references(shared: Shared) -> None:
    for _ in range(LOSSES - 1):
        shared.join("a")
        assert shared.number("a") is None
        shared.source.lost("a", shared.key)
    shared.join("b")
    assert shared.number("b") is None
    with pytest.raises(InputError, match="its references can't be measured"):
        shared.source.lost("b", shared.key)


@pytest.mark.parametrize("kind", [InputError, InternalError])
def test_faults_that_no_worker_could_avoid(shared: Shared, kind: type[Exception]) -> None:
    ready(shared)
    assert shared.number("a") == 0
    with pytest.raises(kind, match="in, worker a: boom"):
        shared.source.failed("a", shared.key, kind("boom"))


def test_errors_of_a_worker(shared: Shared) -> None:
    ready(shared)
    shared.join("b")
    assert shared.number("a") == 0
    assert shared.source.failed("a", shared.key, ChildError("the process at work has ended: killed by SIGSEGV"))
    assert shared.database.samples()[0].sample.status == "build failed"
    # a full disk: the worker isn't used any more, another one gets the sample
    assert shared.number("a") == 1
    assert not shared.source.failed("a", shared.key, OSError(28, "No space left on device"))
    assert shared.source.next("a") is None
    assert shared.number("b") == 1
    with pytest.raises(InputError, match="no worker is left"):
        shared.source.failed("b", shared.key, OSError(28, "No space left on device"))


def test_a_mismatch_ends_the_run(shared: Shared) -> None:
    ready(shared)
    shared.number("a")
    wrong = Evaluated(Candidate(0, "schedule", (), "x"), BuildResult("mismatch", "wrong result: y", "c"))
    with pytest.raises(Mismatch, match="in: sample 0: wrong result: y"):
        shared.source.finished("a", shared.key, wrong)
    assert shared.database.samples()[0].sample.reason == "wrong result: y"


def test_references_that_fail(shared: Shared) -> None:
    shared.join("a")
    shared.number("a")
    with pytest.raises(Mismatch, match="in: --scheduler isl: wrong result"):
        shared.source.finished("a", shared.key, References(None, mismatch="in: --scheduler isl: wrong result"))
    with pytest.raises(InputError, match=r"in\.c: it crashes"):
        shared.source.finished("a", shared.key, References(None, failure="in.c: it crashes"))


def test_workers_that_cannot_be_used(shared: Shared, compiler: Compiler) -> None:
    facts = describe(compiler.name)
    assert facts == Facts(this_machine(), facts.host, scopt.__version__, compiler.version)
    assert describe("no-such-compiler").compiler == ""
    assert not shared.source.joined("a", replace(facts, version="0.0"))
    assert not shared.source.joined("b", replace(facts, compiler="gcc 1"))
    assert not shared.source.joined("c", replace(facts, compiler=""))
    shared.source.refused("d", ModuleNotFoundError("No module named 'scopt'"))
    assert all(f"worker {name} isn't used: " in text for name, text in zip("abcd", shared.warnings, strict=True))
    assert shared.source.next("a") is None
    assert shared.source.joined("e", facts)
    assert shared.source.joined("f", facts)
    assert "one host" in shared.warnings[-1]


def test_all_samples_are_there(shared: Shared, program: Program, compiler: Compiler) -> None:
    ready(shared)
    for number in range(SETTINGS.samples):
        assert not shared.source.is_done
        assert shared.number("a") == number
        shared.source.finished("a", shared.key, shared.evaluated(f"tree {number}"))
    assert shared.source.is_done
    assert Distribution([shared.explored], compiler, shared.database, SETTINGS, Silent(), print).is_done
    # nobody is asked
    cluster.explore("nowhere:1", [shared.explored], compiler, shared.database, SETTINGS, Silent())
