"""What becomes of a candidate: from a candidate, its build and its measurement to the sample that is stored."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from scopt.polybench.explore.candidates import Candidate
from scopt.polybench.explore.database import Database
from scopt.polybench.explore.evaluate import BuildResult, MeasureResult
from scopt.polybench.explore.records import Sample, Series, StoredSample


class Settings(Struct, frozen=True):
    """How all programs of a run are explored and measured.

    samples: how many of each series. runs: of each program that is timed. timeout_factor: times the original's time,
      which a sample may take.
    budget: seconds that scopt may take for a region, once its schedule is drawn. drawing: seconds for that. baselines:
      schedulers, and ``polly``.
    jobs: how many candidates are built at a time.
    """

    samples: int
    threads: int = 2
    runs: int = 4
    timeout_factor: float = 10.0
    budget: float = 60.0
    baselines: tuple[str, ...] = ("isl", "pluto")
    jobs: int = 1
    drawing: float = 300.0


class Mismatch(Exception):
    """A sample that computes something else than the original: a fault of scopt,
    which ends the run. The sample is stored."""

    def __init__(self, program: str, what: str, reason: str) -> None:
        super().__init__(f"{program}: {what}: {reason}")


def unbuilt(candidate: Candidate) -> Sample:
    """A candidate for which there is no schedule."""
    return Sample(candidate.number, "no schedule", candidate.reason, rows=candidate.rows)


def settled(candidate: Candidate, built: BuildResult, measured: MeasureResult | None = None) -> Sample:
    """A candidate that was built, and, if that went well, measured."""
    outcome = measured if measured is not None else built
    reason = outcome.reason or built.reason
    seconds = measured.seconds if measured is not None else ()
    return Sample(
        candidate.number,
        outcome.status,
        reason,
        candidate.schedule,
        candidate.rows,
        candidate.tree_hash,
        built.code_hash,
        None,
        seconds,
    )


def copied(candidate: Candidate, first: StoredSample, code_hash: str = "") -> Sample:
    """A candidate with the tree or the text of a sample that is there already, whose results it takes."""
    return replace(
        first.sample,
        number=candidate.number,
        schedule=candidate.schedule,
        rows=candidate.rows,
        tree_hash=candidate.tree_hash,
        code_hash=code_hash or first.sample.code_hash,
        duplicate_of=first.id,
    )


def known(
    database: Database, series: Series, machine: int, candidate: Candidate, built: BuildResult | None = None
) -> Sample | None:
    """The candidate's sample if its tree, or the text that it was built to, was measured before on that machine."""
    if built is None:
        first = database.same_tree(series, machine, candidate.tree_hash)
        return copied(candidate, first) if first else None
    first = database.same_code(series, machine, built.code_hash)
    return copied(candidate, first, built.code_hash) if first else None
