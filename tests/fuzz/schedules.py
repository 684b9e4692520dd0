"""The soak test of sampled schedules: `python -m tests.fuzz.schedules --count 10000 --compile 600 --seed 1`.

Schedules are drawn from the schedule space of each kernel, by the walks in turn. Each one's tree is checked exactly
against the dependences. Some of them, evenly over the kernels, go the whole way as a schedule file: transformed with
full verification, compiled, run, and their dump compared with the original's bit by bit. Whatever goes wrong is saved
with all that is needed to see it again.

A kernel whose walks take too long gets spaces as Polyite constructs them, for several schedules each: what the summary
calls shared spaces.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import get_args

import islpy as isl
from msgspec import Struct, field

from scopt.diagnostics import InputError, InternalError
from scopt.isolation import Failed, run_isolated
from scopt.options import Options, Walk
from scopt.pipeline import optimize
from scopt.poly.generators import Row
from scopt.poly.legality import check_order
from scopt.polybench.catalog import load_suite, own_suite, select
from scopt.polybench.explore.analysis import ExploredRegion, analysed
from scopt.polybench.explore.outputs import Output, difference, output_of
from scopt.polybench.explore.programs import Program, compile_program, kernel_program, preprocessor_flags, unpack
from scopt.polybench.processes import run
from scopt.polybench.toolchains import Compiler, find_compiler
from scopt.schedule_file import document, legend
from scopt.scheduler.space.construction import ConstructionMDP, random_construction
from scopt.scheduler.space.exploration import DEFAULT_LARGEST, ScheduleSpace
from scopt.scheduler.space.matrix import schedule_of_rows
from scopt.scheduler.space.polytope import Polytopes
from scopt.scheduler.space.walk import WALKS, draw_coefficients, random_sample
from scopt.tell.results import Result
from tests.fuzz.harness import without_thresholds

# Seconds for a walk, beyond which spaces are shared; for such a space;
# for a tree and its check; and for a program to run.
WALK_SECONDS, SPACE_SECONDS, CHECK_SECONDS, RUN_SECONDS = 5.0, 120.0, 30.0, 30.0
# How many schedules share a space then, and how likely one of its dimensions carries a dependence.
PER_SPACE, PROBABILITY = 25, 0.4
# A kernel is given up after so many attempts for each schedule that is wanted,
# or so many in a row that came to nothing.
ATTEMPTS, IN_A_ROW = 3, 30
PROGRESS_SECONDS = 30.0
# How the messages of isl's own errors begin.
ISL_ERROR = "call to isl_"
# Waiting threads sleep: two workers with two threads each share two cores. A program that enters parallel loops all the
# time may not end in time with two.
THREADS = ("2", "1")
ENVIRONMENT = {"OMP_WAIT_POLICY": "passive", "OMP_DYNAMIC": "false"}


class Job(Struct, frozen=True):
    """A kernel's share. wanted: schedules to check. compiled: how many of them go the whole way, for as many seconds as
    `patience`; every other one is tiled. budget: seconds for transforming one. keep: where failures are saved."""

    program: Program
    compiler: Compiler
    seed: int
    wanted: int
    compiled: int
    patience: float
    budget: float
    keep: Path


class Failure(Struct, frozen=True):
    """An illegal schedule or a wrong result. folder: with `schedule.yaml` (if there is a tree) and `report.txt`."""

    kernel: str
    number: int
    reason: str
    folder: Path


class Soaked(Struct):
    """What became of a kernel's share. counts: by what happened."""

    kernel: str
    counts: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)
    seconds: float = 0.0


class Drawn(Struct, frozen=True):
    """A schedule's matrix. how: it was drawn, in words."""

    walk: Walk
    rows: tuple[Row, ...]
    how: str


class _TooSlow(Exception):
    """The time for something is up."""


# --- drawing ----------------------------------------------------------------------------------------------------------


class Drawer:
    """Draws the schedules of one region, keeping its polytopes."""

    def __init__(self, region: ExploredRegion, name: str, seed: int) -> None:
        self._problem = region.polytopes.problem
        self._polytopes = region.polytopes
        self._name, self._seed = name, seed
        self._space: ScheduleSpace | None = None
        self._left = 0

    def draw(self, number: int) -> Drawn:
        """Raises _TooSlow."""
        walk: Walk = get_args(Walk)[number % len(get_args(Walk))]
        rng = random.Random(f"{self._name} {self._seed} {number}")
        if not self._left:
            try:
                with _at_most(WALK_SECONDS):
                    return Drawn(walk, random_sample(self._polytopes, walk, rng).rows, walk)
            except _TooSlow:
                with _at_most(SPACE_SECONDS):
                    self._share(rng)
        assert self._space is not None
        self._left -= 1
        points = self._space.points(draw_coefficients(self._space, WALKS[walk], rng, DEFAULT_LARGEST))
        assert points is not None
        return Drawn(walk, points, f"{walk} in a shared space")

    def _share(self, rng: random.Random) -> None:
        # Large polytopes seldom come again: those of before would only take memory.
        self._polytopes = Polytopes(self._problem)
        mdp = ConstructionMDP(self._polytopes)
        self._space = mdp.space(random_construction(mdp, PROBABILITY, iter(rng.random, None)))
        self._left = PER_SPACE


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Raise _TooSlow if the block takes longer. It stays in this process, whose polytopes it adds to."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise _TooSlow

    previous = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, previous)


# --- checking ---------------------------------------------------------------------------------------------------------


def checked_tree(region: ExploredRegion, rows: Sequence[Row]) -> tuple[str, str]:
    """(the tree of a matrix as isl prints it, "") or ("", what is illegal). Raises isl.Error where isl gives up."""
    try:
        tree = schedule_of_rows(region.polytopes.problem, rows)
    except ValueError as error:
        return "", f"no tree: {error}"
    dates = tree.get_map().intersect_domain(region.scop.domain)
    if not region.scop.domain.is_subset(dates.domain()):
        return str(tree), "the tree leaves instances out"
    try:
        check_order(region.scop, region.deps, dates)
    except InternalError as error:
        return str(tree), str(error)
    return str(tree), ""


def _checked(region: ExploredRegion, rows: Sequence[Row]) -> tuple[str, str, str]:
    """(tree, what is illegal, why there is no answer), in a process of its own: isl may take forever."""

    def work() -> tuple[str, str, str]:
        try:
            return (*checked_tree(region, rows), "")
        except isl.Error as error:
            return "", "", f"isl gave up: {str(error).splitlines()[0]}"

    done = run_isolated(work, CHECK_SECONDS)
    if isinstance(done, Failed):
        return ("", "", "unchecked in time") if done.timed_out else ("", done.message, "")
    return done.value


# --- compiling --------------------------------------------------------------------------------------------------------


def transformed(job: Job, schedule: str, *, tile: bool) -> Result:
    """The kernel with a schedule file's text in the scheduler's place. Raises InputError."""
    with tempfile.TemporaryDirectory(prefix="scopt-soak-") as scratch:
        folder = Path(scratch)
        source, file = unpack(job.program, folder / "tree"), folder / "schedule.yaml"
        file.write_text(schedule, encoding="utf-8")
        flags = preprocessor_flags(job.program, folder / "tree")
        options = Options(cc=job.compiler.path, cpp_flags=flags, tile=tile, budget=job.budget, schedule_file=str(file))
        return optimize(job.program.text, options, file=str(source))


def output(job: Job, text: bytes, *flags: str) -> Output | str:
    """What the kernel's dump is with this text in the source's place, or why there is none. Raises _TooSlow."""
    with tempfile.TemporaryDirectory(prefix="scopt-soak-") as scratch:
        folder = Path(scratch)
        unpack(job.program, folder).write_bytes(text)
        compiled = compile_program(job.program, job.compiler, folder, folder / "check.exe", check=True, flags=flags)
        if not compiled.ok:
            return f"it doesn't compile: {compiled.reason()}"
        for threads in THREADS:
            done = run([folder / "check.exe"], RUN_SECONDS, environment={**ENVIRONMENT, "OMP_NUM_THREADS": threads})
            if not done.timed_out:
                return output_of(done, is_kernel=True) if done.ok else f"it fails: {done.reason()}"
        raise _TooSlow


def _expected(job: Job) -> Output:
    """The original's. Raises InputError."""
    try:
        found = output(job, job.program.text)
    except _TooSlow:
        found = f"it runs for more than {RUN_SECONDS:g} s"
    if isinstance(found, str):
        raise InputError(f"{job.program.name}: {found}")
    return found


def whole_way(job: Job, schedule: str, expected: Output, *, tile: bool) -> tuple[str, str]:
    """(what is wrong, what happened otherwise): one of both is empty."""
    try:
        result = transformed(job, schedule, tile=tile)
    except InputError as error:
        return ("", "isl gave up on the file") if "isl cannot work" in str(error) else (str(error), "")
    for remark in result.remarks:
        if remark.id.startswith("internal."):
            # The schedule has been shown to be legal: that isl fails,
            # or reaches its limit of operations, is no contradiction.
            return ("", "left as it was: isl gave up") if ISL_ERROR in remark.message else (remark.text(), "")
    if not all(region.transformed for region in result.regions):
        missed = next((remark.id for remark in result.remarks if remark.kind == "missed"), "no remark")
        return "", f"left as it was: {missed}"
    # The trip counts are small: loops shall run in parallel all the same.
    try:
        found = output(job, without_thresholds(result.text.decode()).encode(), "-fopenmp")
    except _TooSlow:
        # Loops over widely scattered dates can take as long as they like: no result, but no wrong one either.
        return "", "not run in time"
    wrong = found if isinstance(found, str) else difference(expected, found, is_kernel=True)
    if wrong:
        return f"wrong result: {wrong}", ""
    simplified = any(remark.id == "schedule.simplified" for remark in result.remarks)
    return "", "identical, tiled" if tile and not simplified else "identical, not tiled"


# --- a kernel's share -------------------------------------------------------------------------------------------------


def soak(job: Job) -> Soaked:
    """Draw, check and compile a kernel's share.
    Raises InputError if the kernel itself can't be analysed, built or run."""
    started = reported = time.monotonic()
    found = analysed(job.program, job.compiler.path)
    (region,), (location,) = found.regions, found.locations
    if region is None:
        raise InputError(f"{job.program.name}: {found.refused[0].message}")
    expected = _expected(job)
    done, drawer, fruitless = Soaked(job.program.name), Drawer(region, job.program.name, job.seed), 0
    identical, tries, spent = 0, 0, 0.0
    for number in range(ATTEMPTS * job.wanted):
        if done.counts["checked"] >= job.wanted or fruitless > IN_A_ROW:
            break
        if time.monotonic() - reported > PROGRESS_SECONDS:
            reported = time.monotonic()
            print(
                f"  {job.program.name}: {_told(done.counts)}, {reported - started:.0f} s", file=sys.stderr, flush=True
            )
        fruitless += 1
        try:
            drawn = drawer.draw(number)
        except _TooSlow:
            done.counts["not drawn in time"] += 1
            continue
        tree, illegal, unanswered = _checked(region, drawn.rows)
        if unanswered:
            done.counts[unanswered] += 1
            continue
        fruitless = 0
        done.counts.update(("checked", f"by {drawn.how}"))
        schedule = document(location, tree, legend(region.scop)) if tree else ""
        part = done.counts["checked"] / job.wanted
        if not illegal and identical < job.compiled * part and spent < job.patience * part:
            began = time.monotonic()
            illegal, happened = whole_way(job, schedule, expected, tile=tries % 2 == 0)
            spent, tries = spent + time.monotonic() - began, tries + 1
            identical += happened.startswith("identical")
            done.counts[happened or "wrong"] += 1
        if illegal:
            done.failures.append(_saved(job, number, drawn, schedule, illegal))
    done.seconds = time.monotonic() - started
    return done


def _saved(job: Job, number: int, drawn: Drawn, schedule: str, reason: str) -> Failure:
    folder = job.keep / f"{job.program.name}-seed-{job.seed}-{number}"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "schedule.yaml").write_text(schedule, encoding="utf-8")
    matrix = "\n".join(map(str, drawn.rows))
    flags = " ".join(f"-I{include}" for include in job.program.includes)
    command = f"scopt {job.program.source} {flags} {' '.join(job.program.defines)} --schedule schedule.yaml"
    (folder / "report.txt").write_text(
        f"{reason}\n\nsample {number}, {drawn.how}\n\nin polybench/: {command}\n\n{matrix}\n", encoding="utf-8"
    )
    return Failure(job.program.name, number, reason, folder)


def _told(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {what}" for what, count in counts.items())


# --- the command ------------------------------------------------------------------------------------------------------


def jobs(
    names: Sequence[str], count: int, compiled: int, seed: int, patience: float, budget: float, keep: Path
) -> list[Job]:
    """Even shares of the kernels (all if there are no names), those with long sources first. Raises InputError."""
    compiler = find_compiler(os.environ.get("CC", "gcc"))
    programs = [kernel_program(kernel, "MINI", "MINI", compiler) for kernel in select(load_suite(own_suite()), names)]
    found = []
    for number, program in enumerate(programs):
        share, whole = (
            (number + 1) * total // len(programs) - number * total // len(programs) for total in (count, compiled)
        )
        found.append(Job(program, compiler, seed, share, whole, patience, budget, keep))
    return sorted(found, key=lambda job: -len(job.program.text))


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz.schedules", description="Check and compile schedules sampled from schedule spaces."
    )
    parser.add_argument(
        "--count", type=int, default=300, help="how many schedules are checked, over all kernels (default: %(default)s)"
    )
    parser.add_argument(
        "--compile", type=int, default=30, help="how many of them are compiled and run (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=1, help="(default: %(default)s)")
    parser.add_argument("--workers", type=int, default=2, help="how many kernels at a time (default: %(default)s)")
    parser.add_argument(
        "--patience",
        type=float,
        default=75.0,
        help="seconds for compiling and running those of a kernel (default: %(default)s)",
    )
    parser.add_argument(
        "--budget", type=float, default=10.0, help="seconds for transforming one (default: %(default)s)"
    )
    parser.add_argument("--kernels", nargs="*", default=(), help="by name (default: all)")
    parser.add_argument(
        "--keep", type=Path, default=Path("build/soak"), help="where failing schedules go (default: %(default)s)"
    )
    options = parser.parse_args(arguments)
    started, total, failures, short = time.monotonic(), Counter[str](), list[Failure](), list[str]()
    work = jobs(
        options.kernels, options.count, options.compile, options.seed, options.patience, options.budget, options.keep
    )
    with ProcessPoolExecutor(options.workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        running = {pool.submit(soak, job): job for job in work}
        try:
            for number, future in enumerate(as_completed(running), 1):
                done, job = future.result(), running[future]
                total += done.counts
                failures += done.failures
                short += [done.kernel] if done.counts["checked"] < job.wanted else []
                print(
                    f"[{number:2}/{len(work)}] {done.kernel}: {_told(done.counts)}, {done.seconds:.0f} s",
                    file=sys.stderr,
                    flush=True,
                )
                for failure in done.failures:
                    print(
                        f"FAILED: {failure.kernel}, sample {failure.number}: "
                        f"{failure.reason}; saved in {failure.folder}",
                        flush=True,
                    )
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            return 130
    print(f"after {time.monotonic() - started:.0f} s, {len(work)} kernels:")
    print("\n".join(f"  {count:6} {what}" for what, count in sorted(total.items())))
    if short:
        print(f"fewer schedules than wanted: {', '.join(sorted(short))}")
    print(f"{len(failures)} failures" if failures else "all schedules legal, all results identical")
    return int(bool(failures))


if __name__ == "__main__":
    sys.exit(main())
