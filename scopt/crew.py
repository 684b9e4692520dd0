"""Checks side by side: those that need nothing of each other, each in a fork of this process."""

from __future__ import annotations

import gc
import os
import pickle
import select
import signal
from collections.abc import Callable
from types import TracebackType

from msgspec import Struct, field

from scopt.diagnostics import InternalError

Check = Callable[[], None]


class _Member(Struct, eq=False):
    """A process with a check of its own. told: its end of a pipe, for the error, if there is one."""

    pid: int
    told: int


class Crew(Struct, eq=False):
    """At most `jobs` processes with this one. A context manager: all checks that were begun have held at its end, or
    it raises what one of them raised.

    A process ends at the limits of time and memory of this one, and takes this one with it then. It stays in the group
    of processes of this one, by which builds end what takes too long.
    """

    jobs: int
    members: list[_Member] = field(default_factory=list)

    def begin(self, check: Check) -> None:
        """Have the check done in a new process if there may be another one, else here and now. Raises what it raises,
        or an earlier one."""
        self._reap()
        if len(self.members) + 1 >= self.jobs or not hasattr(os, "fork"):
            check()
        else:
            self.members.append(_started(check))

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, kind: type[BaseException] | None, _error: object, _trace: TracebackType | None) -> None:
        try:
            while kind is None and self.members:
                self._end(self.members[0])
        finally:
            for member in self.members:
                os.kill(member.pid, signal.SIGKILL)
                os.close(member.told)
                os.waitpid(member.pid, 0)
            self.members.clear()

    def _reap(self) -> None:
        for member in tuple(self.members):
            if select.select([member.told], [], [], 0)[0]:
                self._end(member)

    def _end(self, member: _Member) -> None:
        """Wait for a process. Raises what it raised."""
        with os.fdopen(os.dup(member.told), "rb") as told:
            error = told.read()
        self.members.remove(member)
        os.close(member.told)
        _, status = os.waitpid(member.pid, 0)
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGPROF:
            os.kill(os.getpid(), signal.SIGPROF)  # the time that there is for both is over
        if error:
            raise pickle.loads(error)
        if status:
            raise InternalError(f"a check's process died with status {status}")


def _started(check: Check) -> _Member:
    left, _ = signal.getitimer(signal.ITIMER_PROF)  # a fork has none
    receiver, sender = os.pipe()
    pid = os.fork()
    if pid:
        os.close(sender)
        return _Member(pid, receiver)
    gc.freeze()  # see `scopt.isolation`
    try:
        # Who waits for this process's parent at the other end of a pipe is to see that it ends.
        os.closerange(3, sender)
        os.closerange(sender + 1, os.sysconf("SC_OPEN_MAX"))
        signal.setitimer(signal.ITIMER_PROF, left)
        error = _error_of(check)
        with os.fdopen(sender, "wb") as out:
            out.write(error)
        os._exit(0)
    finally:
        os._exit(1)


def _error_of(check: Check) -> bytes:
    """What the check raises, to be read by `pickle`; empty if it raises nothing."""
    try:
        check()
    except Exception as error:
        try:
            return pickle.dumps(error)
        except Exception:
            return pickle.dumps(InternalError(f"{type(error).__name__}: {error}"))
    return b""
