"""Runs other programs: the compiler, with or without the user watching, and scopt with a time limit."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from typing import NamedTuple

# These make a compiler write dependencies for any run, also for those that the user doesn't know of.
_DEPENDENCY_VARIABLES = ("DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES")


class Finished(NamedTuple):
    """What a program wrote, and its exit status as a shell has it (128 and more for a signal)."""

    status: int
    output: bytes
    errors: bytes


class TooSlow(Exception):
    """The program was ended at its time limit."""


def run(command: Sequence[str], *, source: bytes | None = None, dependencies: bool = False) -> Finished:
    """Run a program and keep what it writes.

    source: its stdin, where it has one. dependencies: this run is the one that writes the files with dependencies.
    """
    environment = None if dependencies else _quiet_environment()
    done = subprocess.run(command, input=source, capture_output=True, check=False, env=environment, close_fds=False)
    return Finished(_status(done.returncode), done.stdout, done.stderr)


def run_visible(command: Sequence[str], *, source: bytes | None = None, dependencies: bool = True) -> int:
    """Run a program that writes to the user's streams; its exit status. File descriptors are inherited: make's job
    server is among them."""
    environment = None if dependencies else _quiet_environment()
    return _status(subprocess.run(command, input=source, check=False, env=environment, close_fds=False).returncode)


def run_limited(command: Sequence[str], seconds: float, *, source: bytes, environment: Mapping[str, str]) -> Finished:
    """Run a program in a process group of its own, which is ended with all its children at the time limit, and if this
    process is interrupted.

    Raises TooSlow.
    """
    child = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**_quiet_environment(), **environment},
        process_group=0,
    )
    try:
        output, errors = child.communicate(source, timeout=seconds)
    except subprocess.TimeoutExpired:
        _end_group(child)
        raise TooSlow from None
    except BaseException:
        _end_group(child)
        raise
    if child.returncode < 0:
        _end_group(child)  # what it had started may have outlived its crash
    return Finished(_status(child.returncode), output, errors)


def _end_group(child: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _quiet_environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in _DEPENDENCY_VARIABLES}


def _status(code: int) -> int:
    return code if code >= 0 else 128 - code
