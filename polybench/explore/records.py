"""What an exploration knows, as it stands in the database: machines, compilers, programs, baselines, samples."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct

# One integer schedule function over the columns of a region's space problem.
Rows = tuple[tuple[int, ...], ...]
# How the samples of a series are found.
Search = Literal["random", "genetic"]
# ok: checked and measured. timeout: a run took longer than the limit. build failed: scopt left a region as it was, or
# the compiler refused the text.
# mismatch: the schedule was found illegal, or the output differed (a fault of scopt, which ends the run). no schedule:
# the walk led to none. run failed: the timed program crashed, or printed no time.
Status = Literal["ok", "timeout", "build failed", "mismatch", "no schedule", "run failed"]
STATUSES: tuple[Status, ...] = ("ok", "timeout", "build failed", "mismatch", "no schedule", "run failed")
# The baselines of a program by configuration; the others are names of schedulers, and "polly".
ORIGINAL = "original"


class Machine(Struct, frozen=True):
    """What decides about a program's time. system: the operating system with its version. There is no host's name in
    it: equal machines are one."""

    processor: str
    cores: int
    system: str

    @property
    def fingerprint(self) -> str:
        """Equal for equal machines; 16 hexadecimal digits."""
        return digest(self.processor, str(self.cores), self.system)


class CompilerRecord(Struct, frozen=True):
    """A compiler by its ``--version`` line, and the flags of the timed programs."""

    version: str
    flags: str


class ProgramRecord(Struct, frozen=True):
    """A program under fixed conditions.

    source_hash: of all its files' contents. size, check_size: data sets of the timed and the checked program, "" for a
      file that has none.
    threads: OMP_NUM_THREADS.
    """

    name: str
    source_hash: str
    size: str
    check_size: str
    threads: int


class Series(Struct, frozen=True):
    """Samples that belong together, numbered from 0: sample k of a series is reproducible, whatever was measured before
    it and where.

    program, compiler: ids in the database.
    """

    program: int
    compiler: int
    search: Search
    walk: str
    seed: int


class Baseline(Struct, frozen=True):
    """A reference measurement. configuration: ``original`` (the compiler alone), a scheduler's name, or ``polly``.

    seconds: of each run. process_seconds: wall time of the longest run as a process. failure: why there is no time, or
      "".
    """

    configuration: str
    seconds: tuple[float, ...] = ()
    process_seconds: float = 0.0
    failure: str = ""

    @property
    def minimum(self) -> float | None:
        return min(self.seconds) if self.seconds and not self.failure else None


class Sample(Struct, frozen=True):
    """One sample with what became of it.

    number: in its series, from 0. schedule: a schedule file (YAML documents, one for each region), "" if there is no
      schedule.
    rows: the matrix of each region that was sampled. tree_hash: of the schedule trees; code_hash: of the C text; ""
      where it didn't get there.
    duplicate_of: the id of an earlier sample with the same tree or text, whose status and times these are; None for one
      that was measured itself.
    reason: why the status isn't ok, or something to know although it is. seconds: of each run; minimum: the fastest,
      None unless ok.
    """

    number: int
    status: Status
    reason: str = ""
    schedule: str = ""
    rows: tuple[Rows, ...] = ()
    tree_hash: str = ""
    code_hash: str = ""
    duplicate_of: int | None = None
    seconds: tuple[float, ...] = ()

    @property
    def minimum(self) -> float | None:
        return min(self.seconds) if self.status == "ok" and self.seconds else None


class StoredSample(Struct, frozen=True):
    """A sample as it stands in the database. machine: an id. created: when it was stored, UTC, in ISO 8601."""

    id: int
    series: Series
    machine: int
    sample: Sample
    created: str


def digest(*parts: str | bytes) -> str:
    """16 hexadecimal digits that stand for the parts; their borders count."""
    hashed = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
        hashed.update(len(data).to_bytes(8, "little") + data)
    return hashed.hexdigest()[:16]


def this_machine() -> Machine:
    """The machine that this process runs on."""
    return Machine(_processor(), os.cpu_count() or 1, platform.platform())


def _processor() -> str:
    try:
        lines: Sequence[str] = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = ()
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.processor()
    )
