"""Running a command with a time limit, so that nothing of it is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec import Struct


class Finished(Struct, frozen=True):
    """How a command ended. code: its exit status, -N if signal N ended it. timed_out: it was killed at the limit."""

    code: int
    output: str
    errors: str
    seconds: float
    timed_out: bool = False

    @property
    def ok(self) -> bool:
        return self.code == 0 and not self.timed_out

    def reason(self) -> str:
        """Why it isn't ok, in one line: the limit, the signal, or the message that it printed."""
        if self.timed_out:
            return f"timeout after {self.seconds:.0f} s"
        if self.code < 0:
            return f"killed by {_signal_name(-self.code)}"
        return _message(self.errors or self.output) or f"exit code {self.code}"


def run(
    command: Sequence[str | Path],
    timeout: float,
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Finished:
    """Run `command` for at most `timeout` seconds, with `environment` added to the current one.

    The command gets a process group of its own, which is killed as a whole at the limit and when this process is
    interrupted. A command that can't be started is an exit code 127.
    """
    start = time.perf_counter()
    try:
        process = subprocess.Popen(
            [str(word) for word in command],
            cwd=cwd,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except OSError as error:
        return Finished(127, "", f"{command[0]}: {error.strerror}", 0.0)
    try:
        output, errors = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        _kill_group(process)
        output, errors = process.communicate()
        return Finished(process.returncode, output, errors, time.perf_counter() - start, timed_out=True)
    except BaseException:
        _kill_group(process)
        process.wait()
        raise
    return Finished(process.returncode, output, errors, time.perf_counter() - start)


def _kill_group(process: subprocess.Popen[str]) -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _message(text: str) -> str:
    """The line that says most: the first with 'error' in it, else the last."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    return (errors or lines[-1:] or [""])[0][:300]
