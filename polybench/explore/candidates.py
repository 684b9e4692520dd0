"""Sample k of a series: a schedule tree for each region, the same one whatever was drawn before it, in which process,
and after how many stops."""

from __future__ import annotations

import random
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

import islpy as isl
from msgspec import Struct

from scopt.diagnostics import InternalError
from scopt.isolation import Failed, run_isolated
from scopt.options import Walk
from scopt.polybench.explore.analysis import ExploredRegion, analysed
from scopt.polybench.explore.genetic import child
from scopt.polybench.explore.programs import Program
from scopt.polybench.explore.records import Rows, digest
from scopt.schedule_file import document, legend
from scopt.scheduler.space.matrix import schedule_of_rows
from scopt.scheduler.space.walk import random_sample

# The matrix of each region that is explored, in order.
Matrices = tuple[Rows, ...]


class DrawJob(Struct, frozen=True):
    """What `draw` needs. number: in the series. cc: the preprocessor.

    parents: those that the candidate is bred from; none: it is drawn at random. generation: from 1, if there are
      parents.
    budget: seconds for the rows of a region, and again for their tree.
    """

    program: Program
    cc: str
    walk: Walk
    seed: int
    number: int
    parents: tuple[Matrices, ...] = ()
    generation: int = 0
    budget: float = 60.0


class Candidate(Struct, frozen=True):
    """A sample that isn't built yet. schedule: a schedule file's text; "" with the reason if there is none. tree_hash:
    stands for all trees."""

    number: int
    schedule: str
    rows: Matrices
    tree_hash: str
    reason: str = ""


def draw(job: DrawJob) -> Candidate:
    """The candidate, drawn at random or bred; with the reason where none is found in time.

    Raises InputError if the program can't be analysed, InternalError if legal rows make no schedule.
    """
    found = analysed(job.program, job.cc)
    matrices: list[Rows] = []
    trees: list[str] = []
    documents: list[str] = []
    for number, (region, location) in enumerate(zip(found.regions, found.locations, strict=True)):
        if region is None:
            documents.append(document(location, ""))
            trees.append("")
            continue
        try:
            with _at_most(job.budget):
                rows = _rows(region, job, number, len(matrices))
            tree = _tree(region, rows, job.budget)
        except (isl.Error, _NoTree) as error:
            return Candidate(job.number, "", tuple(matrices), "", str(error))
        matrices.append(rows)
        trees.append(tree)
        documents.append(document(location, tree, legend(region.scop)))
    return Candidate(job.number, "".join(documents), tuple(matrices), digest(*trees))


def generator(program: str, walk: str, seed: int, number: int, region: int) -> random.Random:
    """The source of randomness of one region of one sample.
    A text as the seed is hashed by SHA-512, the same everywhere."""
    return random.Random(f"{program} {walk} {seed} {number} {region}")


def _rows(region: ExploredRegion, job: DrawJob, number: int, index: int) -> Rows:
    """The matrix of a region, the `number`-th of the file and the `index`-th that is explored."""
    rng = generator(job.program.name, job.walk, job.seed, job.number, number)
    if not job.parents:
        return random_sample(region.polytopes, job.walk, rng).rows
    return child(region.polytopes, _of_region(job.parents, index), job.walk, rng, job.generation)


def _of_region(parents: Sequence[Matrices], index: int) -> tuple[Rows, ...]:
    return tuple(matrices[index] for matrices in parents)


class _NoTree(Exception):
    """No rows are found, or isl can't make a tree of them, in time; the text says why."""


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Raise _NoTree if the block takes longer. It stays in this process, whose polytopes it adds to. A thread that gets
    no signals has no limit."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise _NoTree(f"not drawn after {seconds:g} s")

    previous = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, previous)


def _tree(region: ExploredRegion, rows: Rows, budget: float) -> str:
    """In a process of its own: isl may take forever.
    Raises _NoTree, or InternalError for whatever isn't isl's fault."""

    def made() -> tuple[str, str]:
        try:
            return str(schedule_of_rows(region.polytopes.problem, rows)), ""
        except isl.Error as error:
            return "", str(error)

    done = run_isolated(made, budget)
    if isinstance(done, Failed):
        if done.timed_out:
            raise _NoTree(done.message)
        raise InternalError(f"{region.scop.location}: no schedule tree of the rows {rows}: {done.message}")
    tree, reason = done.value
    if reason:
        raise _NoTree(reason)
    return tree
