"""What a worker of a cluster is asked to do: to say what it is, to measure a program's references, to evaluate one
sample.

Functions of picklable jobs. Nothing is read from a file that the worker doesn't have: sources and headers come with the
job, compilers are the worker's own. What is known to go wrong is part of the result.
"""

from __future__ import annotations

import platform
import tempfile

from msgspec import Struct
from msgspec.structs import replace

import scopt
from scopt.diagnostics import InputError
from scopt.polybench.explore.baselines import measured_baselines, original_baseline
from scopt.polybench.explore.candidates import Candidate, DrawJob, draw
from scopt.polybench.explore.evaluate import (
    BuildJob,
    BuildResult,
    MeasureJob,
    MeasureResult,
    Original,
    evaluate_build,
    evaluate_measure,
    evaluate_original,
    time_limit,
)
from scopt.polybench.explore.programs import Program
from scopt.polybench.explore.records import ORIGINAL, Baseline, Machine, this_machine
from scopt.polybench.explore.settle import Mismatch, Settings
from scopt.polybench.toolchains import find_compiler

PREFIX = "scopt-explore-"


class Facts(Struct, frozen=True):
    """A worker. host: its name, to tell workers that disturb each other; it isn't stored. compiler: its ``--version``
    line, "" if there is none."""

    machine: Machine
    host: str
    version: str
    compiler: str


class ReferenceJob(Struct, frozen=True):
    """Measure the original and what is lacking of the baselines. cc: the compiler's name.
    have: configurations that are measured already."""

    program: Program
    cc: str
    settings: Settings
    have: frozenset[str]


class References(Struct, frozen=True):
    """What was measured, the original first unless it was there. mismatch: of a scheduler's output, which ends the run.
    failure: of the original."""

    original: Original | None
    baselines: tuple[Baseline, ...] = ()
    mismatch: str = ""
    failure: str = ""


class SampleJob(Struct, frozen=True):
    """Draw, build, check and measure a sample.

    draw: its compiler is replaced by the worker's, called cc. original, baseline: of an equal machine. trees, codes:
    hashes of the schedule trees and C texts that were measured before on such a machine; these aren't measured again.
    """

    draw: DrawJob
    cc: str
    original: Original
    baseline: Baseline
    settings: Settings
    trees: frozenset[str]
    codes: frozenset[str]


class Evaluated(Struct, frozen=True):
    """How far a sample got. built: None if there is no schedule, or its tree is known. measured: None if it wasn't
    built, or its text is known."""

    candidate: Candidate
    built: BuildResult | None = None
    measured: MeasureResult | None = None


def describe(cc: str) -> Facts:
    """This worker, with its compiler called `cc`."""
    try:
        compiler = find_compiler(cc).version
    except InputError:
        compiler = ""
    return Facts(this_machine(), platform.node(), scopt.__version__, compiler)


def measure_references(job: ReferenceJob) -> References:
    """The original built, checked against itself and timed, and then the others."""
    settings = job.settings
    with tempfile.TemporaryDirectory(prefix=PREFIX) as scratch:
        found: list[Baseline] = []
        try:
            compiler = find_compiler(job.cc)
            original = evaluate_original(job.program, compiler, f"{scratch}/original", settings.threads)
            if ORIGINAL not in job.have:
                found.append(original_baseline(original, settings))
        except InputError as error:
            return References(None, failure=str(error))
        lacking = [name for name in settings.baselines if name not in job.have]
        try:
            for baseline in measured_baselines(
                job.program, compiler, original, lacking, settings, scratch, lambda text: None
            ):
                found.append(baseline)
        except Mismatch as error:
            return References(None, tuple(found), mismatch=str(error))
    return References(replace(original, program=""), tuple(found))


def evaluate_sample(job: SampleJob) -> Evaluated:
    """One sample from its number to its time.
    Raises InputError if there is no such compiler, or the program can't be analysed."""
    settings, original = job.settings, job.original
    compiler = find_compiler(job.cc)
    candidate = draw(replace(job.draw, cc=compiler.path))
    if not candidate.schedule or candidate.tree_hash in job.trees:
        return Evaluated(candidate)
    with tempfile.TemporaryDirectory(prefix=PREFIX) as scratch:
        built = evaluate_build(
            BuildJob(
                job.draw.program,
                compiler,
                original,
                f"{scratch}/sample",
                settings.threads,
                candidate.schedule,
                budget=settings.budget,
                timeout_factor=settings.timeout_factor,
            )
        )
        if built.status != "ok" or built.code_hash in job.codes:
            return Evaluated(candidate, built)
        limit = time_limit(job.baseline.seconds, job.baseline.process_seconds, settings.timeout_factor)
        measure = MeasureJob(
            built.program, settings.runs, settings.threads, limit, original.prints_time, original.expected.code
        )
        return Evaluated(candidate, built, evaluate_measure(measure))
