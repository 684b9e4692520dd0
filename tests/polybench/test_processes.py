from __future__ import annotations

import sys
import time
from pathlib import Path

from scopt.polybench.processes import run


def test_output_and_errors(tmp_path: Path) -> None:
    done = run(
        [sys.executable, "-c", "import os, sys; print(os.getcwd(), os.environ['X']); print('e', file=sys.stderr)"],
        60,
        tmp_path,
        {"X": "5"},
    )
    assert (done.ok, done.output.split(), done.errors) == (True, [str(tmp_path), "5"], "e\n")


def test_exit_code_with_the_line_that_says_error() -> None:
    done = run(["sh", "-c", "echo 'in f:' >&2; echo 'x.c:1: error: no' >&2; echo done >&2; exit 3"], 60)
    assert (done.ok, done.code, done.reason()) == (False, 3, "x.c:1: error: no")


def test_silent_failure() -> None:
    assert run(["false"], 60).reason() == "exit code 1"


def test_signal() -> None:
    assert run(["sh", "-c", "kill -SEGV $$"], 60).reason() == "killed by SIGSEGV"


def test_no_such_program() -> None:
    done = run(["/no/such/program"], 60)
    assert (done.code, done.reason()) == (127, "/no/such/program: No such file or directory")


def test_timeout_kills_grandchildren(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    start = time.monotonic()
    done = run(["sh", "-c", f"(sleep 1.5; touch {mark}) & wait"], 0.2)
    assert time.monotonic() - start < 1.4
    assert done.timed_out
    assert not done.ok
    assert "timeout after" in done.reason()
    time.sleep(1.6)
    assert not mark.exists()
