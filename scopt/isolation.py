"""Run one piece of work in a process of its own, so that a time limit always holds and a crash in native code stays there."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Finished(Generic[T]):
    """The work returned a value."""

    value: T


@dataclass(frozen=True, slots=True)
class Failed:
    """The work raised, or its process died. message: one line. timed_out: it was ended at its limit."""

    message: str
    timed_out: bool = False


def run_isolated(work: Callable[[], T], seconds: float) -> Finished[T] | Failed:
    """The value of ``work()``, computed in a forked process that is killed after `seconds` (0: no limit).

    The value travels by pickle. Where processes can't be forked, and in a worker of a `multiprocessing.Pool`, which may not have children, the work
    runs here, without a limit.
    """
    if "fork" not in multiprocessing.get_all_start_methods() or multiprocessing.current_process().daemon:
        return _attempt(work)
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(work, sender), daemon=True)
    process.start()
    sender.close()
    try:
        if not receiver.poll(seconds or None):
            return Failed(f"not finished after {seconds:g} s", timed_out=True)
        try:
            outcome: Finished[T] | Failed = receiver.recv()
        except EOFError:
            process.join()
            return Failed(f"the process died with exit code {process.exitcode}")
        return outcome
    finally:
        receiver.close()
        process.kill()
        process.join()


def _child(work: Callable[[], T], sender: Connection) -> None:
    sender.send(_attempt(work))
    sender.close()


def _attempt(work: Callable[[], T]) -> Finished[T] | Failed:
    try:
        return Finished(work())
    except Exception as error:
        return Failed(f"{type(error).__name__}: {error}")
