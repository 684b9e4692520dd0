"""The work of a Dask worker, in a process of its own beside it.

A worker is a process of many threads and, under Dask's nanny, may not have children of `multiprocessing`: time limits
on isl's computations need a forked process (`scopt.isolation`), and these would hold up its answers to the scheduler.
So each worker starts this module as a command once and sends it functions with their arguments. When the worker dies,
however it dies, what the process is doing is ended at once: it would disturb the times of others on that machine.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import lru_cache
from typing import Any, BinaryIO

Call = tuple[Callable[[Any], Any], Any]


class ChildError(RuntimeError):
    """The process ended while it was at work (a crash, or killed for its memory), or what it raised can't be sent."""


def in_child(call: Call) -> Any:
    """The value of ``function(argument)``, computed in this worker's process for that;
    raises what it raises, or ChildError."""
    return _child().call(call)


@lru_cache(maxsize=1)
def _child() -> _Child:
    """One for each worker: what was analysed for a sample is there for the next."""
    return _Child()


class _Child:
    """The process, started when it is needed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def call(self, call: Call) -> Any:
        with self._lock:  # a worker with several threads still measures one thing at a time
            if self._process is None or self._process.poll() is not None:
                self._process = _start()
            try:
                good, value = _exchange(self._process, call)
            except (OSError, EOFError, pickle.UnpicklingError) as error:
                self._process.kill()
                code = self._process.wait()
                self._process = None
                raise ChildError(f"the process at work has ended: {_ending(code)}") from error
        if good:
            return value
        raise value


def _start() -> subprocess.Popen[bytes]:
    # It finds scopt where this process has found it.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, "-m", "scopt.polybench.explore.remote"]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, start_new_session=True
    )


def _exchange(process: subprocess.Popen[bytes], call: Call) -> tuple[bool, Any]:
    assert process.stdin is not None
    assert process.stdout is not None
    pickle.dump(call, process.stdin)
    process.stdin.flush()
    answer: tuple[bool, Any] = pickle.load(process.stdout)
    return answer


def _ending(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Compute what is asked for until `requests` ends; that ends a computation, too."""
    asked: queue.SimpleQueue[Call] = queue.SimpleQueue()
    # The whole of the main thread may be one call; only another thread sees the end of the pipe.
    threading.Thread(target=_listen, args=(requests, asked), daemon=True).start()
    while True:
        function, argument = asked.get()
        answers.write(_answer(function, argument))
        answers.flush()


def _listen(requests: BinaryIO, asked: queue.SimpleQueue[Call]) -> None:
    with contextlib.suppress(EOFError, OSError):
        while True:
            asked.put(pickle.load(requests))
    # A real signal: it interrupts the main thread's waiting for a program, which is killed on the way out.
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


def _answer(function: Callable[[Any], Any], argument: Any) -> bytes:
    """(True, value) or (False, exception), pickled."""
    try:
        return pickle.dumps((True, function(argument)))
    except Exception as error:
        try:
            text = pickle.dumps((False, error))
            pickle.loads(text)
        except Exception:  # one whose constructor wants other arguments
            return pickle.dumps((False, ChildError(f"{type(error).__name__}: {error}")))
        return text


def main() -> None:
    """What the process runs. Standard input and output become harmless: forked processes close the one, and what isl
    prints is no answer."""
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        serve(requests, answers)
    os._exit(0)  # everything is cleaned up; the interpreter would wait for the other thread's lock on `requests`


if __name__ == "__main__":
    main()
