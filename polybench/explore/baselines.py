"""The references of a program on this machine: the original, scopt's own schedulers, Polly.
Each is measured once and stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from scopt.diagnostics import InputError
from scopt.polybench.explore.evaluate import (
    ORIGINAL_LIMIT,
    BuildJob,
    BuildResult,
    MeasureJob,
    Original,
    evaluate_build,
    evaluate_measure,
    evaluate_original,
)
from scopt.polybench.explore.programs import Program
from scopt.polybench.explore.records import ORIGINAL, Baseline
from scopt.polybench.explore.settle import Mismatch, Settings
from scopt.polybench.toolchains import Compiler, find_peer

POLLY = "polly"
Build = Callable[[BuildJob], BuildResult]


def original_baseline(original: Original, settings: Settings) -> Baseline:
    """The original's time: what all speedups are over. Raises InputError if it fails."""
    measured = evaluate_measure(_measure_job(original.program, original, settings))
    if measured.status != "ok":
        raise InputError(f"the original fails at the timed size: {measured.reason}")
    return Baseline(ORIGINAL, measured.seconds, measured.process_seconds)


def measured_baselines(
    program: Program,
    compiler: Compiler,
    original: Original,
    wanted: Sequence[str],
    settings: Settings,
    folder: str,
    activity: Callable[[str], None],
    build: Build = evaluate_build,
) -> Iterator[Baseline]:
    """The other references, one by one; Polly is left out where there is none.

    folder: for files. build: how a program is built. What can't be built or run has the reason. Raises Mismatch if
      scopt's own result differs.
    """
    for name in wanted:
        activity(f"measuring {name}")
        measured = _reference(name, program, compiler, original, settings, folder, build)
        if measured is not None:
            yield measured


def _reference(
    name: str, program: Program, compiler: Compiler, original: Original, settings: Settings, folder: str, build: Build
) -> Baseline | None:
    if name == POLLY:
        return _polly(program, compiler, settings, str(Path(folder, name)))
    built = build(
        BuildJob(
            program,
            compiler,
            original,
            str(Path(folder, name)),
            settings.threads,
            scheduler=name,
            budget=settings.budget,
        )
    )
    if built.status == "mismatch":
        raise Mismatch(program.name, f"--scheduler {name}", built.reason)
    return _measured(name, built, original, settings)


def _polly(program: Program, compiler: Compiler, settings: Settings, folder: str) -> Baseline | None:
    """Checked against the original built by the same clang,
    whose library calls may be folded in another way than gcc's."""
    peer = find_peer(POLLY, (compiler,), settings.threads)
    if isinstance(peer, str):
        return None
    try:
        original = evaluate_original(program, peer.compiler, f"{folder}-original", settings.threads)
    except InputError as error:
        return Baseline(POLLY, failure=str(error))
    built = evaluate_build(BuildJob(program, peer.compiler, original, folder, settings.threads, flags=peer.flags))
    return _measured(POLLY, built, original, settings)


def _measured(name: str, built: BuildResult, original: Original, settings: Settings) -> Baseline:
    if built.status != "ok":
        return Baseline(name, failure=f"{built.status}: {built.reason}")
    measured = evaluate_measure(_measure_job(built.program, original, settings))
    if measured.status != "ok":
        return Baseline(name, failure=f"{measured.status}: {measured.reason}")
    return Baseline(name, measured.seconds, measured.process_seconds)


def _measure_job(program: str, original: Original, settings: Settings) -> MeasureJob:
    return MeasureJob(
        program, settings.runs, settings.threads, ORIGINAL_LIMIT, original.prints_time, original.expected.code
    )
