"""An exploration on this machine: candidates are drawn and built side by side, batch by batch; while programs are
timed, nothing else runs."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from scopt.options import Walk
from scopt.polybench.explore.baselines import measured_baselines, original_baseline
from scopt.polybench.explore.candidates import Candidate, DrawJob, draw
from scopt.polybench.explore.database import Database
from scopt.polybench.explore.evaluate import (
    BuildJob,
    BuildResult,
    MeasureJob,
    Original,
    discard,
    evaluate_build,
    evaluate_measure,
    evaluate_original,
    time_limit,
)
from scopt.polybench.explore.pool import Workers
from scopt.polybench.explore.programs import Program
from scopt.polybench.explore.records import ORIGINAL, Baseline, Sample, Series
from scopt.polybench.explore.rounds import rounds
from scopt.polybench.explore.settle import Mismatch, Settings, known, settled, unbuilt
from scopt.polybench.toolchains import Compiler

# Candidates of a batch for each worker: enough that all are busy,
# few enough that little is lost when the run is killed.
PER_WORKER = 3


class Observer(Protocol):
    """Who wants to know how far it is."""

    def activity(self, program: str, text: str) -> None:
        """What is being done now."""

    def stored(self, program: str, sample: Sample, original: float) -> None:
        """A sample is in the database. original: the original's fastest time on the same machine, in seconds."""


class Explored(Struct, frozen=True):
    """A program with its series, and the walk of its draws."""

    program: Program
    series: Series
    walk: Walk


def explore(
    explored: Explored,
    compiler: Compiler,
    database: Database,
    machine: int,
    settings: Settings,
    workers: Workers,
    observer: Observer,
) -> None:
    """Draw, build, check, measure and store the samples of a series that aren't there yet, and the baselines.

    Raises Mismatch after storing the sample that computes something else, and InputError if the original can't be
      measured.
    """
    series, program = explored.series, explored.program
    have = database.baselines(series.program, machine, series.compiler)
    lacking = [name for name in settings.baselines if name not in have]
    if ORIGINAL in have and not lacking and not database.missing(series, settings.samples, machine):
        return
    with tempfile.TemporaryDirectory(prefix="scopt-explore-") as scratch, workers.stopped_by_errors():
        observer.activity(program.name, "measuring the original")
        original = evaluate_original(program, compiler, f"{scratch}/original", settings.threads)
        if ORIGINAL not in have:
            have[ORIGINAL] = original_baseline(original, settings)
            database.add_baseline(series.program, machine, series.compiler, have[ORIGINAL])
        for baseline in measured_baselines(
            program,
            compiler,
            original,
            lacking,
            settings,
            scratch,
            lambda text: observer.activity(program.name, text),
            lambda job: next(workers.each(evaluate_build, (job,), _died_building)),
        ):
            database.add_baseline(series.program, machine, series.compiler, baseline)
        run = _Run(
            explored, compiler, original, have[ORIGINAL], database, machine, settings, workers, observer, Path(scratch)
        )
        for jobs in rounds(
            database, series, program, compiler.path, explored.walk, settings.samples, machine, settings.drawing
        ):
            for batch in _batches(jobs, settings.jobs * PER_WORKER):
                run.batch(batch)


class _Run(Struct, frozen=True, eq=False):
    """All that stays the same while a series is explored."""

    explored: Explored
    compiler: Compiler
    original: Original
    baseline: Baseline
    database: Database
    machine: int
    settings: Settings
    workers: Workers
    observer: Observer
    scratch: Path

    def batch(self, jobs: Sequence[DrawJob]) -> None:
        """Draw, build, then measure; each sample is stored as soon as it is settled."""
        self._activity(f"drawing {_numbers(jobs)}")
        candidates = list(self.workers.each(draw, jobs, _died_drawing))
        first_of: dict[str, int] = {}
        later: list[Candidate] = []
        to_build: list[Candidate] = []
        for candidate in candidates:
            if not candidate.schedule:
                self._store(unbuilt(candidate))
            elif (sample := known(self.database, self.explored.series, self.machine, candidate)) is not None:
                self._store(sample)
            elif first_of.setdefault(candidate.tree_hash, candidate.number) != candidate.number:
                later.append(candidate)
            else:
                to_build.append(candidate)
        self._measure(self._built(to_build))
        for candidate in later:
            sample = known(self.database, self.explored.series, self.machine, candidate)
            assert sample is not None, "the first sample with this tree has just been stored"
            self._store(sample)

    def _built(self, candidates: Sequence[Candidate]) -> list[tuple[Candidate, BuildJob, BuildResult]]:
        """All of them, when no build runs any more; those that failed are stored.
        Raises Mismatch at the first that is wrong."""
        self._activity(f"building {_numbers(candidates)}")
        jobs = [self._build_job(candidate) for candidate in candidates]
        built = []
        for candidate, job, result in zip(
            candidates, jobs, self.workers.each(evaluate_build, jobs, _died_building), strict=True
        ):
            if result.status == "ok":
                built.append((candidate, job, result))
            else:
                self._store(settled(candidate, result))
                discard(job.folder)
        return built

    def _measure(self, built: Sequence[tuple[Candidate, BuildJob, BuildResult]]) -> None:
        limit = time_limit(self.baseline.seconds, self.baseline.process_seconds, self.settings.timeout_factor)
        for candidate, job, result in built:
            sample = known(self.database, self.explored.series, self.machine, candidate, result)
            if sample is None:
                self._activity(f"measuring {candidate.number}")
                expected = self.original.expected.code
                measure = MeasureJob(
                    result.program,
                    self.settings.runs,
                    self.settings.threads,
                    limit,
                    self.original.prints_time,
                    expected,
                )
                sample = settled(candidate, result, evaluate_measure(measure))
            self._store(sample)
            discard(job.folder)

    def _build_job(self, candidate: Candidate) -> BuildJob:
        settings = self.settings
        return BuildJob(
            self.explored.program,
            self.compiler,
            self.original,
            str(self.scratch / str(candidate.number)),
            settings.threads,
            candidate.schedule,
            budget=settings.budget,
            timeout_factor=settings.timeout_factor,
        )

    def _store(self, sample: Sample) -> None:
        self.database.add_sample(self.explored.series, self.machine, sample)
        self.observer.stored(self.explored.program.name, sample, min(self.baseline.seconds))
        if sample.status == "mismatch":
            raise Mismatch(self.explored.program.name, f"sample {sample.number}", sample.reason)

    def _activity(self, text: str) -> None:
        self.observer.activity(self.explored.program.name, text)


def _batches(jobs: Sequence[DrawJob], size: int) -> Iterator[Sequence[DrawJob]]:
    for start in range(0, len(jobs), size):
        yield jobs[start : start + size]


def _numbers(things: Sequence[DrawJob] | Sequence[Candidate]) -> str:
    if not things:
        return "nothing new"
    first, last = things[0].number, things[-1].number
    return f"{first}" if first == last else f"{first} to {last}"


def _died_drawing(job: DrawJob) -> Candidate:
    return Candidate(job.number, "", (), "", "the process that drew it died")


def _died_building(job: BuildJob) -> BuildResult:
    return BuildResult("build failed", "the process that built it died")
