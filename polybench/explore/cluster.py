"""An exploration on a Dask cluster: the samples of all programs shared out to workers, one at a time on each.

Workers of equal machines share baselines, and what is known of duplicates; different machines are told apart in the
database as if each had been explored alone. A series counts a sample that any machine has measured. Only this process
writes the database.
"""

from __future__ import annotations

import sys
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec import Struct, field

import scopt
from scopt.diagnostics import InputError, InternalError
from scopt.polybench.explore.candidates import DrawJob
from scopt.polybench.explore.database import Database
from scopt.polybench.explore.records import ORIGINAL, Baseline, Sample
from scopt.polybench.explore.remote import Call, ChildError, in_child
from scopt.polybench.explore.rounds import rounds
from scopt.polybench.explore.runner import Explored, Observer
from scopt.polybench.explore.settle import Mismatch, Settings, known, settled, unbuilt
from scopt.polybench.explore.tasks import (
    Evaluated,
    Facts,
    ReferenceJob,
    References,
    SampleJob,
    describe,
    evaluate_sample,
    measure_references,
)
from scopt.polybench.explore.workers import Task, connected, work_off
from scopt.polybench.toolchains import Compiler

# A sample whose worker was lost so often is taken to be the cause.
LOSSES = 5


class _Key(Struct, frozen=True):
    """What a task is about: a program, by its place, and the sample's number; None: its references."""

    place: int
    number: int | None


class _Ready(Struct, frozen=True):
    """What is known of a program on a kind of machine before a sample can be measured there."""

    references: References
    baseline: Baseline
    trees: set[str]
    codes: set[str]


class _Progress(Struct):
    """A program's samples: waiting, and handed out by number.
    ahead: further rounds, each asked for when all before it are stored."""

    explored: Explored
    ahead: Iterator[tuple[DrawJob, ...]]
    waiting: deque[DrawJob] = field(default_factory=deque)
    out: dict[int, DrawJob] = field(default_factory=dict)
    ended: bool = False

    def refill(self) -> None:
        while not (self.waiting or self.out or self.ended):
            jobs = next(self.ahead, None)
            self.ended = jobs is None
            self.waiting.extend(jobs or ())


def print_warning(text: str) -> None:
    """On stderr, as the command's other warnings."""
    print(f"scopt-explore: warning: {text}", file=sys.stderr)


def explore(
    address: str,
    explored: Sequence[Explored],
    compiler: Compiler,
    database: Database,
    settings: Settings,
    observer: Observer,
    warn: Callable[[str], None] = print_warning,
) -> None:
    """Draw, build, check, measure and store on the cluster with the scheduler at `address` all samples that the series
    don't have yet.

    compiler: workers need one of that name and version. warn: called with what the user should know about workers, in
    one line. Raises Mismatch after storing a sample that computes something else, InternalError for scopt's own faults,
    InputError if there is no scheduler, no worker that can be used, or an original fails.
    """
    source = Distribution(explored, compiler, database, settings, observer, warn)
    if source.is_done:
        return
    with connected(address) as client:
        work_off(client, Task(None, describe, compiler.name), source)


class Distribution:
    """The `Source` of the workers' tasks."""

    def __init__(
        self,
        explored: Sequence[Explored],
        compiler: Compiler,
        database: Database,
        settings: Settings,
        observer: Observer,
        warn: Callable[[str], None],
    ) -> None:
        self._compiler, self._database, self._settings, self._observer, self._warn = (
            compiler,
            database,
            settings,
            observer,
            warn,
        )
        self._progress = [
            _Progress(
                each,
                rounds(
                    database,
                    each.series,
                    each.program,
                    compiler.path,
                    each.walk,
                    settings.samples,
                    None,
                    settings.drawing,
                ),
            )
            for each in explored
        ]
        self._machines: dict[str, int] = {}  # of the workers that are used, by address
        self._hosts: dict[str, str] = {}
        self._ready: dict[
            tuple[int, int], _Ready | None
        ] = {}  # by program and machine; None: a worker is measuring the references
        self._losses: Counter[_Key] = Counter()
        self._refill()

    @property
    def is_done(self) -> bool:
        return all(each.ended for each in self._progress)

    def joined(self, address: str, facts: Facts) -> bool:
        """Times are comparable only with the same scopt and the same compiler; machines may differ."""
        if facts.version != scopt.__version__:
            self._warn(f"worker {address} isn't used: its scopt is {facts.version}, this one is {scopt.__version__}")
            return False
        if facts.compiler != self._compiler.version:
            found = f"is '{facts.compiler}', not '{self._compiler.version}'" if facts.compiler else "isn't there"
            self._warn(f"worker {address} isn't used: its {self._compiler.name} {found}")
            return False
        neighbour = next((other for other, host in self._hosts.items() if host == facts.host), None)
        if neighbour:
            self._warn(f"workers {neighbour} and {address} run on one host: they disturb each other's times")
        self._hosts[address] = facts.host
        self._machines[address] = self._database.machine(facts.machine)
        return True

    def refused(self, address: str, error: BaseException) -> None:
        self._warn(f"worker {address} isn't used: {_line(error)}")

    def next(self, address: str) -> Task[_Key] | None:
        machine = self._machines.get(address)
        if machine is None:
            return None
        for place, progress in enumerate(self._progress):
            if not progress.waiting:
                continue
            if (place, machine) not in self._ready:
                return self._references_task(place, machine)
            ready = self._ready[place, machine]
            if ready is not None:
                return self._sample_task(place, ready)
        return None

    def finished(self, address: str, key: _Key, result: Any) -> None:
        machine = self._machines[address]
        if key.number is None:
            self._take_references(key.place, machine, result)
        else:
            self._take_sample(key, machine, result)

    def lost(self, address: str, key: _Key) -> None:
        """Its task waits again, first of all, unless it has cost too many workers."""
        machine = self._machines[address]
        self._leave(address)
        self._again(key, machine, f"worker {address} is lost")

    def gone(self, address: str) -> None:
        self._leave(address)

    def failed(self, address: str, key: _Key, error: BaseException) -> bool:
        """A sample that its process died of is a result. Anything else is a fault of the worker (a full disk, say),
        which isn't used any more."""
        machine, name = self._machines[address], self._progress[key.place].explored.program.name
        if isinstance(error, (InputError, InternalError)):
            raise type(error)(f"{name}, worker {address}: {error}") from error
        if isinstance(error, ChildError):
            if key.number is None:
                self._again(key, machine, f"worker {address}: {error}")
            else:
                self._store(key, machine, Sample(key.number, "build failed", str(error)))
            return True
        self._leave(address)
        self._again(key, machine, f"worker {address} isn't used any more: {_line(error)}")
        if not self._machines:
            raise InputError(f"{name}: no worker is left; the last one, {address}: {_line(error)}") from error
        return False

    def _again(self, key: _Key, machine: int, why: str) -> None:
        """Let a task wait to be handed out again, unless that was often enough."""
        name = self._progress[key.place].explored.program.name
        self._losses[key] += 1
        if key.number is None:
            if self._losses[key] == LOSSES:
                raise InputError(f"{name}: its references can't be measured; {LOSSES} attempts, the last one: {why}")
            del self._ready[key.place, machine]
        elif self._losses[key] == LOSSES:
            self._store(
                key, machine, Sample(key.number, "run failed", f"{LOSSES} attempts to evaluate it, the last one: {why}")
            )
            return
        else:
            progress = self._progress[key.place]
            progress.waiting.appendleft(progress.out.pop(key.number))
        self._warn(
            f"{why}; {'the references' if key.number is None else f'sample {key.number}'} "
            f"of {name} will be measured again"
        )

    # --- tasks --------------------------------------------------------------------------------------------------------

    def _references_task(self, place: int, machine: int) -> Task[_Key]:
        explored = self._progress[place].explored
        have = self._database.baselines(explored.series.program, machine, explored.series.compiler)
        self._ready[place, machine] = None
        self._observer.activity(explored.program.name, "measuring the original")
        job = ReferenceJob(explored.program, self._compiler.name, self._settings, frozenset(have))
        return _task(_Key(place, None), (measure_references, job))

    def _sample_task(self, place: int, ready: _Ready) -> Task[_Key]:
        progress = self._progress[place]
        draw = progress.waiting.popleft()
        progress.out[draw.number] = draw
        self._observer.activity(progress.explored.program.name, f"sample {draw.number}")
        original = ready.references.original
        assert original is not None
        trees, codes = frozenset(ready.trees), frozenset(ready.codes)
        job = SampleJob(draw, self._compiler.name, original, ready.baseline, self._settings, trees, codes)
        return _task(_Key(place, draw.number), (evaluate_sample, job))

    # --- results ------------------------------------------------------------------------------------------------------

    def _take_references(self, place: int, machine: int, result: References) -> None:
        explored = self._progress[place].explored
        series, name = explored.series, explored.program.name
        if result.failure:
            raise InputError(result.failure)
        for baseline in result.baselines:
            self._database.add_baseline(series.program, machine, series.compiler, baseline)
        if result.mismatch:
            what, _, reason = result.mismatch.removeprefix(f"{name}: ").partition(": ")
            raise Mismatch(name, what, reason)
        original = self._database.baselines(series.program, machine, series.compiler)[ORIGINAL]
        measured = [
            stored.sample
            for stored in self._database.samples(machine=machine)
            if (stored.series.program, stored.series.compiler) == (series.program, series.compiler)
            and stored.sample.duplicate_of is None
        ]
        trees, codes = {sample.tree_hash for sample in measured}, {sample.code_hash for sample in measured}
        self._ready[place, machine] = _Ready(result, original, trees - {""}, codes - {""})

    def _take_sample(self, key: _Key, machine: int, result: Evaluated) -> None:
        """Another worker may have measured the same tree or text meanwhile: the first one stored counts."""
        series, candidate, built = self._progress[key.place].explored.series, result.candidate, result.built
        sample = known(self._database, series, machine, candidate) if candidate.schedule else unbuilt(candidate)
        if sample is None and built is not None:
            if built.status == "ok":
                sample = known(self._database, series, machine, candidate, built)
            sample = sample or settled(candidate, built, result.measured)
        assert sample is not None, "a tree that isn't built again is in the database"
        self._store(key, machine, sample)

    def _store(self, key: _Key, machine: int, sample: Sample) -> None:
        progress, ready = self._progress[key.place], self._ready[key.place, machine]
        assert ready is not None
        name = progress.explored.program.name
        self._database.add_sample(progress.explored.series, machine, sample)
        if sample.duplicate_of is None:
            ready.trees.update({sample.tree_hash} - {""})
            ready.codes.update({sample.code_hash} - {""})
        del progress.out[sample.number]
        self._observer.stored(name, sample, min(ready.baseline.seconds))
        if sample.status == "mismatch":
            raise Mismatch(name, f"sample {sample.number}", sample.reason)
        self._refill()

    # --- who is there, and what is left -------------------------------------------------------------------------------

    def _refill(self) -> None:
        for each in self._progress:
            each.refill()

    def _leave(self, address: str) -> None:
        self._machines.pop(address, None)
        self._hosts.pop(address, None)


def _task(key: _Key, call: Call) -> Task[_Key]:
    return Task(key, in_child, call)


def _line(error: BaseException) -> str:
    lines = str(error).splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else ''}"
