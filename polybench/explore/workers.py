"""Tasks on the workers of a Dask cluster: one at a time on each, handed out again when a worker is lost, to whoever is
there.

Dask itself would queue several tasks on a worker and move them as it sees fit; here a task is bound to the worker that
it was made for (its machine decides what is to be measured), and what becomes of it is decided by the `Source` that it
came from.
"""

from __future__ import annotations

import importlib
import importlib.util
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Generic, Protocol, TypeVar

from msgspec import Struct

from scopt.diagnostics import InputError

# Seconds between two looks at who is there, and at what has ended; and for a worker to answer with a result that it
# says it has.
PERIOD = 0.25
GLANCE = 0.01
ANSWER = 30.0
CONNECT = 20.0
# Seconds without any worker that can be used, after which it is no use to wait longer.
PATIENCE = 300.0

Facts = TypeVar("Facts")
FactsTaken = TypeVar("FactsTaken", contravariant=True)
Key = TypeVar("Key")


class Task(Struct, Generic[Key], frozen=True):
    """What one worker does: `function` (importable on it) of `payload`. key: what the source knows it by."""

    key: Key
    function: Callable[[Any], Any]
    payload: Any


class Source(Protocol[FactsTaken, Key]):
    """Where tasks come from and results go to. All calls come from the thread that runs `work_off`."""

    @property
    def is_done(self) -> bool:
        """Whether there is nothing to be done any more, nor under way that could lead to more."""

    def joined(self, address: str, facts: FactsTaken) -> bool:
        """A worker is there; whether it can be used."""

    def next(self, address: str) -> Task[Key] | None:
        """Something for this worker to do; None: nothing now (it is asked again after the next result)."""

    def finished(self, address: str, key: Key, result: Any) -> None:
        """A task's result."""

    def lost(self, address: str, key: Key) -> None:
        """The worker is gone with the task on it, which can be handed out again."""

    def gone(self, address: str) -> None:
        """A worker without a task is gone."""

    def failed(self, address: str, key: Key, error: BaseException) -> bool:
        """The task's function has raised `error` on the worker; whether the worker can be used further."""

    def refused(self, address: str, error: BaseException) -> None:
        """A worker can't even say what it is: `error`. It isn't used."""


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """distributed's client of the scheduler at `address` (``host:port`` or ``tcp://host:port``). Raises InputError."""
    if importlib.util.find_spec("distributed") is None:
        raise InputError("--cluster needs Dask; install it with: pip install 'scopt[cluster]'")
    distributed: Any = importlib.import_module("distributed")
    try:
        client = distributed.Client(address, timeout=CONNECT, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise InputError(f"--cluster {address}: there is no Dask scheduler: {error}") from error
    try:
        yield client
    finally:
        client.close(timeout=5)


def work_off(client: Any, describe: Task[None], source: Source[Facts, Key]) -> None:
    """Hand out the source's tasks until it is done. describe: the first task of each worker, whose result is what
    `Source.joined` gets.

    Without a worker it waits for one. Workers may come and go at any time. Raises InputError if the scheduler is gone
    or no worker can be used for a while, and what the source raises.
    """
    _Pool(client, describe, source).run()


class _Pool(Generic[Facts, Key]):
    """The workers that are there, and what each does."""

    def __init__(self, client: Any, describe: Task[None], source: Source[Facts, Key]) -> None:
        self._client, self._describe, self._source = client, describe, source
        self._thread = ThreadPoolExecutor(1)
        self._distributed: Any = importlib.import_module("distributed")
        self._known: set[str] = set()  # there, and asked what they are
        self._idle: set[str] = set()  # usable, and doing nothing
        self._running: dict[
            str, tuple[Any, Task[Key] | None]
        ] = {}  # the future of each worker's task; None: it describes itself

    def run(self) -> None:
        last = time.monotonic()  # when there was a worker that can be used
        try:
            while not self._source.is_done:
                self._look_around()
                last = time.monotonic() if self._idle or self._running else last
                if time.monotonic() - last > PATIENCE:
                    raise InputError(f"the Dask cluster has had no worker that can be used for {PATIENCE:.0f} s")
                self._hand_out()
                for address in self._ended():
                    self._take_in(address)
        finally:
            self._thread.shutdown(wait=False)
            self._client.cancel([future for future, _ in self._running.values()], force=True)

    def _look_around(self) -> None:
        """Ask new workers what they are; give back the tasks of those that are gone."""
        try:
            there = set(self._called(self._client.nthreads))
        except (OSError, TimeoutError, RuntimeError) as error:
            raise InputError(
                f"the Dask scheduler is gone ({error}); what was measured is stored, and the same command goes on"
            ) from error
        for address in self._known - there:
            self._drop(address)
        for address in there - self._known:
            self._known.add(address)
            self._start(address, self._describe, None)

    def _hand_out(self) -> None:
        for address in sorted(self._idle):
            task = self._source.next(address)
            if task is not None:
                self._idle.discard(address)
                self._start(address, task, task)

    def _start(self, address: str, work: Task[Any], task: Task[Key] | None) -> None:
        # pure=False: another key each time, so that Dask doesn't take a result it has seen before
        future = self._client.submit(
            work.function, work.payload, workers=[address], allow_other_workers=False, pure=False
        )
        self._running[address] = future, task

    def _ended(self) -> list[str]:
        """The workers whose tasks have ended; waits for one, but no longer than a period."""
        deadline = time.monotonic() + PERIOD
        while True:
            ended = [address for address, (future, _) in self._running.items() if future.done()]
            if ended or time.monotonic() > deadline:
                return ended
            time.sleep(GLANCE)

    def _called(self, function: Callable[[], Any]) -> Any:
        """Its value, computed in another thread: a KeyboardInterrupt in the middle
        of Dask's waiting would leave as another error."""
        call = self._thread.submit(function)
        while not call.done():
            time.sleep(GLANCE)
        return call.result()

    def _take_in(self, address: str) -> None:
        future, task = self._running[address]
        try:
            result = self._called(lambda: future.result(timeout=ANSWER))
        except (TimeoutError, OSError, self._distributed.CancelledError) as error:
            if future.status != "error":  # the result went with the worker, or Dask has given the task up
                self._drop(address)
                return
            self._error(address, task, error)
        except Exception as error:
            self._error(address, task, error)
        else:
            del self._running[address]
            if task is not None:
                self._source.finished(address, task.key, result)
                self._idle.add(address)
            elif self._source.joined(address, result):
                self._idle.add(address)

    def _error(self, address: str, task: Task[Key] | None, error: BaseException) -> None:
        """A worker that is killed several times is an error of Dask's own; any other is the function's."""
        if isinstance(error, self._distributed.scheduler.KilledWorker):
            self._drop(address)
            return
        del self._running[address]
        if task is None:
            self._source.refused(address, error)
        elif self._source.failed(address, task.key, error):
            self._idle.add(address)

    def _drop(self, address: str) -> None:
        """The worker isn't there any more; if it comes back, it is a new one."""
        self._known.discard(address)
        self._idle.discard(address)
        future, task = self._running.pop(address, (None, None))
        if future is not None:
            future.cancel(force=True)
        if task is None:
            self._source.gone(address)
        else:
            self._source.lost(address, task.key)
