"""Worker processes that candidates are drawn and built in: none of them outlives the run, however that ends."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

Job = TypeVar("Job")
Result = TypeVar("Result")

# Seconds between two looks whether the parent process is still there, and for ending what a worker has started.
PERIOD = 0.5
GRACE = 2.0


class Workers:
    """So many worker processes. Made by `workers`."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._others = multiprocessing.active_children()
        self._pool = _pool(count)

    def each(
        self, function: Callable[[Job], Result], jobs: Sequence[Job], died: Callable[[Job], Result]
    ) -> Iterator[Result]:
        """The function's values for the jobs, computed side by side, in the jobs' order. died: the value of a job that
        its process died of.

        No job runs any more when the last value has been taken. Raises what the function raises.
        """
        futures = [self._pool.submit(function, job) for job in jobs]
        for number, future in enumerate(futures):
            try:
                yield future.result()
            except BrokenExecutor:
                yield from self._one_by_one(function, jobs[number:], died)
                return

    def _one_by_one(
        self, function: Callable[[Job], Result], jobs: Sequence[Job], died: Callable[[Job], Result]
    ) -> Iterator[Result]:
        """After a process has died, which takes all others with it: the rest again, each alone, to see which it was."""
        self._pool = _pool(self._count)
        for job in jobs:
            try:
                yield self._pool.submit(function, job).result()
            except BrokenExecutor:
                self._pool = _pool(self._count)
                yield died(job)

    @contextmanager
    def stopped_by_errors(self) -> Iterator[None]:
        """Around the use of a folder: when an exception leaves it,
        no job writes there any more, and the folder can be removed."""
        try:
            yield
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End all workers now, and what they run."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        children = [child for child in multiprocessing.active_children() if child not in self._others]
        for child in children:
            child.terminate()
        deadline = time.monotonic() + GRACE
        for child in children:
            child.join(max(0.0, deadline - time.monotonic()))
            child.kill()


@contextmanager
def workers(count: int) -> Iterator[Workers]:
    """Workers that are there for a while."""
    made = Workers(count)
    try:
        yield made
    finally:
        made.stop()


def _pool(count: int) -> ProcessPoolExecutor:
    """Fresh interpreters: a fork would copy the threads' locks of a live display."""
    return ProcessPoolExecutor(count, multiprocessing.get_context("spawn"), initializer=_begin, initargs=(os.getpid(),))


def _begin(parent: int) -> None:
    """In a worker: Ctrl-C is the parent's business, which terminates the workers; so does its death."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _leave(number: int, frame: FrameType | None) -> None:
    """Raised within a job, it ends the processes that the job has started
    (see `scopt.isolation`, `scopt.polybench.processes`)."""
    sys.exit(1)


def _watch(parent: int) -> None:
    """End this process soon after its parent, killed say, is gone."""
    while os.getppid() == parent:
        time.sleep(PERIOD)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE)
    os.kill(os.getpid(), signal.SIGKILL)
