"""Fixtures that all tests share: a C compiler, and golden files."""

from __future__ import annotations

import gc
import multiprocessing
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import settings

from scopt.scheduler.passes import band_passes
from tests.seldom.listed import seldom

# How long an example takes says nothing but how busy the machine is.
settings.register_profile("scopt", deadline=None)
settings.load_profile("scopt")

# A script's background job ignores Ctrl-C, and so would all that the tests start and interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)

# With SCOPT_TEST_ALL=1 in the environment all is run, else what tells most in the time that everyday's runs have.
EVERYTHING = bool(os.environ.get("SCOPT_TEST_ALL"))

# Folders whose tests are about schedules, or have programs of all kinds: there, each pass over a tree is checked.
WITH_PASSES = frozenset({"differential", "fuzz", "mutate", "polybench", "scheduler"})
# Folders whose tests ask for nothing that processes of their own are for.
WITHOUT_LIMITS = frozenset(
    {"astgen", "autodetect", "check", "differential", "frontend", "machine", "scheduler", "scopt"}
)
# Files in these whose tests do.
WITH_LIMITS = frozenset({"test_cli.py", "test_crew.py", "test_isolation.py", "test_pipeline.py"})

Case = TypeVar("Case")


def everyday(cases: Sequence[Case]) -> Sequence[Case]:
    """Of cases that differ in their input alone, all or every other one."""
    return cases if EVERYTHING else cases[::2]


def but_for(cases: Iterable[Case], *alike: Case) -> list[Case]:
    """All of the cases, or but for those that go through no other lines than the others."""
    return [case for case in cases if EVERYTHING or case not in alike]


CompileC = Callable[..., Path]
RunC = Callable[..., str]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write what comes out as the new expected files; read the diff before committing",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out cases through which no way goes that isn't another one's, unless they are asked for by name."""
    named = any("::" in str(one) for one in config.args) or config.option.keyword
    if EVERYTHING or named or os.environ.get("SCOPT_TEST_SELDOM"):
        return
    cases = seldom()
    left = [item for item in items if item.nodeid in cases]
    config.hook.pytest_deselected(items=left)
    items[:] = [item for item in items if item.nodeid not in cases]


def pytest_collection_finish() -> None:
    """Modules and tests stay until the end: looking for garbage among them again and again takes a tenth of the time,
    as in the command itself."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)


@pytest.fixture(autouse=True)
def _passes_are_checked(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Passes over schedule trees are held to what they say, whatever the options."""
    if EVERYTHING or request.path.parent.name in WITH_PASSES:
        monkeypatch.setattr(band_passes, "is_checked", lambda options: True)


@pytest.fixture
def regions_stay_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Regions are transformed in the tests' own process, as where nothing can be forked, without limits of time and
    memory: a copy of this process takes longer than what most tests have to be transformed."""
    monkeypatch.setattr(multiprocessing, "get_all_start_methods", lambda: ["spawn"])


@pytest.fixture(autouse=True)
def _regions_stay_here(request: pytest.FixtureRequest) -> None:
    if request.path.parent.name in WITHOUT_LIMITS and request.path.name not in WITH_LIMITS:
        request.getfixturevalue("regions_stay_here")


@pytest.fixture(scope="session")
def cc() -> str:
    """The C compiler: $CC, else gcc, else cc."""
    wanted = os.environ.get("CC") or ("gcc" if shutil.which("gcc") else "cc")
    if shutil.which(wanted) is None:
        pytest.fail(f"there is no C compiler {wanted!r}")
    return wanted


@pytest.fixture
def compile_c(cc: str, tmp_path: Path) -> CompileC:
    """compile_c(source, *flags, name="program"): compile a C text or file, return the executable. Fails the test with
    the compiler's message."""

    def compile_it(source: str | bytes | Path, *flags: str, name: str = "program") -> Path:
        if not isinstance(source, Path):
            text = source.encode() if isinstance(source, str) else source
            source = tmp_path / f"{name}.c"
            source.write_bytes(text)
        executable = tmp_path / name
        command = [cc, *flags, str(source), "-o", str(executable), "-lm"]
        compiled = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert compiled.returncode == 0, f"{' '.join(command)}\n{compiled.stderr}\n{source.read_text(errors='replace')}"
        return executable

    return compile_it


@pytest.fixture
def run_c(compile_c: CompileC) -> RunC:
    """run_c(source, *flags, name="program"): compile, run with two threads, return what it prints."""

    def run_it(source: str | bytes | Path, *flags: str, name: str = "program") -> str:
        environment = {**os.environ, "OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive"}
        executable = compile_c(source, *flags, name=name)
        ran = subprocess.run(
            [str(executable)], capture_output=True, text=True, timeout=120, check=False, env=environment
        )
        assert ran.returncode == 0, f"exits with {ran.returncode}: {ran.stderr}"
        return ran.stdout

    return run_it


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[Path, bytes], None]:
    """golden(file, actual): compare with an expected file, or write it with --update-golden."""

    def compare(file: Path, actual: bytes) -> None:
        if request.config.getoption("--update-golden"):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(actual)
            return
        assert file.is_file(), f"{file} is missing; make it with --update-golden"
        # Text first, for a readable diff; then the bytes, for line ends.
        assert actual.decode(errors="replace").splitlines() == file.read_bytes().decode(errors="replace").splitlines()
        assert actual == file.read_bytes()

    return compare


@pytest.fixture
def no_rows_beside(monkeypatch: pytest.MonkeyPatch) -> None:
    """No rows beside each other: strips with buffers, and loops in order, where they would be faster."""
    monkeypatch.setattr("scopt.scheduler.decisions.strip_claims.LEAST_TOGETHER", 10**6)
    monkeypatch.setattr("scopt.statement_forms.carrying_scop", lambda *_: None)
