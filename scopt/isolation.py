"""Run pieces of work in processes of their own, so that limits of time and memory always hold and a crash in native
code stays there."""

from __future__ import annotations

import gc
import math
import mmap
import multiprocessing
import signal
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import Generic, TypeVar

from msgspec import Struct

from scopt.stage_clock import LISTENERS

# Seconds on the clock for each one of processor time: for work that waits, on machines that are busy.
PATIENCE = 10
# Bytes for a stage's name, and for the seconds that it took to come to where a process has more time.
BOARD, _LATE = 64, 16

T = TypeVar("T")
R = TypeVar("R")


class Finished(Struct, Generic[T], frozen=True):
    """The work returned a value."""

    value: T


class Failed(Struct, frozen=True):
    """The work raised, or its process died. message: one line. timed_out: it was ended at its limit, or gave up before
    by a TimeoutError. stage: that it was in when it was ended. late: seconds that it took to
    come to where it had more time, see `Attempt`; 0 if it didn't."""

    message: str
    timed_out: bool = False
    stage: str = ""
    late: float = 0.0


class Attempt(Struct, Generic[T], frozen=True):
    """Work for a process of its own. seconds: of processor time, after which it is killed (0: no limit), so that what
    becomes of it doesn't depend on what else runs; memory: bytes that it may take besides what is there already (0: no
    limit). more: seconds besides, once it has come to one of the `late` stages."""

    work: Callable[[], T]
    seconds: float
    memory: int = 0
    more: float = 0.0
    late: frozenset[str] = frozenset()


Task = Generator[Attempt[T], Finished[T] | Failed, R]
"""Yields attempts, one after the other, is sent what became of each, and returns its result."""


def run_isolated(work: Callable[[], T], seconds: float, memory: int = 0) -> Finished[T] | Failed:
    """The value of ``work()``, computed in a forked process with these limits, see `Attempt`.

    The value travels by pickle. Where processes can't be forked, and in a worker of a `multiprocessing.Pool`, which may
    not have children, the work runs here, without limits.
    """

    def once() -> Task[T, Finished[T] | Failed]:
        return (yield Attempt(work, seconds, memory))

    return run_tasks([once()], 1)[0]


def run_tasks(tasks: Sequence[Task[T, R]], jobs: int) -> list[R]:
    """The results of the tasks, in order; their attempts run in processes of their own, at most `jobs` at a time.
    Raises what a task raises."""
    results: dict[int, R] = {}
    waiting = deque(enumerate(tasks))
    running: dict[Connection, _Running[T, R]] = {}
    forks = "fork" in multiprocessing.get_all_start_methods() and not multiprocessing.current_process().daemon

    def advance(number: int, task: Task[T, R], outcome: Finished[T] | Failed | None) -> None:
        """Go on with a task until it waits for a process, or is done."""
        try:
            while True:
                attempt = next(task) if outcome is None else task.send(outcome)
                if forks:
                    started = _started(number, task, attempt)
                    running[started.receiver] = started
                    return
                outcome = _attempt(attempt.work)
        except StopIteration as stop:
            results[number] = stop.value

    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                advance(*waiting.popleft(), None)
            limits = [one.deadline for one in running.values()]
            timeout = min(limits, default=math.inf) - time.monotonic()
            ready = wait(list(running), max(0.0, timeout) if math.isfinite(timeout) else None) if running else []
            now = time.monotonic()
            for receiver in [r for r in running if r in ready or running[r].deadline <= now]:
                one = running.pop(receiver)
                advance(one.number, one.task, one.ended(receiver in ready))
    finally:
        for one in running.values():
            one.ended(False)
    return [results[number] for number in range(len(tasks))]


class _Running(Struct, Generic[T, R], frozen=True, eq=False):
    """An attempt's process. deadline: of `time.monotonic`, far behind its seconds. board: where it says what stage it
    is in."""

    number: int
    task: Task[T, R]
    seconds: float
    more: float
    deadline: float
    process: ForkProcess
    receiver: Connection
    board: mmap.mmap

    def ended(self, ready: bool) -> Finished[T] | Failed:
        """What became of it; it is killed if it has nothing to say."""
        try:
            if not ready:
                return self.late()
            try:
                outcome: Finished[T] | Failed = self.receiver.recv()
            except EOFError:
                self.process.join()
                if self.process.exitcode == -signal.SIGPROF:
                    return self.late()
                return Failed(f"the process died with exit code {self.process.exitcode}")
            return outcome
        finally:
            self.receiver.close()
            self.process.kill()
            self.process.join()
            self.board.close()

    def late(self) -> Failed:
        stage, late = self.board[:BOARD].rstrip(b"\0").decode(), float(self.board[BOARD:].rstrip(b"\0") or 0)
        seconds = self.seconds + (self.more if late else 0.0)
        return Failed(f"not finished after {seconds:g} s", timed_out=True, stage=stage, late=late)


def _started(number: int, task: Task[T, R], attempt: Attempt[T]) -> _Running[T, R]:
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    board = mmap.mmap(-1, BOARD + _LATE)  # memory that both have

    def work() -> T:
        LISTENERS[:] = [partial(_show, board, attempt.seconds, attempt.more if attempt.seconds else 0.0, attempt.late)]
        return attempt.work()

    process = context.Process(target=_child, args=(work, sender, attempt.seconds, attempt.memory), daemon=True)
    process.start()
    sender.close()
    deadline = time.monotonic() + (attempt.seconds + attempt.more) * PATIENCE if attempt.seconds else math.inf
    return _Running(number, task, attempt.seconds, attempt.more, deadline, process, receiver, board)


def _show(board: mmap.mmap, seconds: float, more: float, late: frozenset[str], stage: str) -> None:
    """Say what stage this process is in; in the first late one, its limit is so much later."""
    board[:BOARD] = stage.encode()[:BOARD].ljust(BOARD, b"\0")
    if more and stage in late and not board[BOARD]:
        left, _ = signal.getitimer(signal.ITIMER_PROF)
        board[BOARD:] = f"{seconds - left:.3f}".encode()[:_LATE].ljust(_LATE, b"\0")
        signal.setitimer(signal.ITIMER_PROF, left + more)


def _child(work: Callable[[], T], sender: Connection, seconds: float, memory: int) -> None:
    gc.freeze()  # what the parent has needn't be looked through again and again, which would copy its memory
    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # ends the process, even inside of native code
    signal.setitimer(signal.ITIMER_PROF, seconds)
    limited = bool(memory) and _limit_memory(memory)
    outcome = _attempt(work)
    if isinstance(outcome, Failed) and limited and outcome.message.startswith("MemoryError"):
        outcome = Failed(f"not finished with {memory >> 20} MiB of memory", timed_out=True)
    sender.send(outcome)
    sender.close()


def _limit_memory(more: int) -> bool:
    """Let the process have so many bytes of memory besides what it has. False where that can't be said."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        limit = pages * resource.getpagesize() + more
        resource.setrlimit(resource.RLIMIT_AS, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))
    except (ImportError, OSError, ValueError):
        return False
    return True


def _attempt(work: Callable[[], T]) -> Finished[T] | Failed:
    try:
        return Finished(work())
    except MemoryError:
        return Failed("MemoryError")
    except TimeoutError as error:
        return Failed(str(error), timed_out=True)
    except Exception as error:
        return Failed(f"{type(error).__name__}: {error}")
