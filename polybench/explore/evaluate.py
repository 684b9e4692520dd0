"""One candidate: built, checked against the original, and timed. Plain functions of picklable jobs, for worker
processes and other machines.

`evaluate_build` may run beside others, `evaluate_measure` must have the machine to itself.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from scopt.diagnostics import InputError
from scopt.options import Options
from scopt.pipeline import optimize
from scopt.polybench.explore.outputs import Output, difference, output_of
from scopt.polybench.explore.programs import Program, compile_program, preprocessor_flags, unpack
from scopt.polybench.explore.records import Status, digest
from scopt.polybench.measure import parse_seconds
from scopt.polybench.processes import Finished, run
from scopt.polybench.toolchains import Compiler
from scopt.tell.results import Result

# Seconds that an original may run.
ORIGINAL_LIMIT = 600.0
# Starting a process takes its time: no limit is below this many seconds.
LEAST_LIMIT = 1.0
# The same for a check, which runs while others compile.
LEAST_CHECK_LIMIT = 20.0


class Original(Struct, frozen=True):
    """What the original does on this machine. expected: its output. check_seconds: of that run. prints_time: a timed
    program prints its time as the last word of its output, as PolyBench's do; otherwise the process is timed. program:
    the timed one."""

    expected: Output
    check_seconds: float
    prints_time: bool
    program: str


class BuildJob(Struct, frozen=True):
    """What `evaluate_build` needs.

    folder: its own, made here. schedule: a schedule file's text, or "". scheduler: in its place; both "": the source
      stays as it is.
    flags: for the compiler. budget: seconds that scopt may take for a region.
    """

    program: Program
    compiler: Compiler
    original: Original
    folder: str
    threads: int
    schedule: str = ""
    scheduler: str = ""
    flags: tuple[str, ...] = ("-fopenmp",)
    budget: float = 60.0
    timeout_factor: float = 10.0


class BuildResult(Struct, frozen=True):
    """program: the timed executable if status is ok. reason: why it isn't, or something to know. code_hash: of the C
    text, "" if there is none."""

    status: Status
    reason: str = ""
    code_hash: str = ""
    program: str = ""


class MeasureJob(Struct, frozen=True):
    """program: an executable. runs: how often. limit: seconds of one run as a process.
    code: the exit status that is expected."""

    program: str
    runs: int
    threads: int
    limit: float
    prints_time: bool
    code: int = 0


class MeasureResult(Struct, frozen=True):
    """seconds: of each run, fewer if one failed. process_seconds: wall time of the longest as a process."""

    status: Status
    reason: str = ""
    seconds: tuple[float, ...] = ()
    process_seconds: float = 0.0


def evaluate_original(program: Program, compiler: Compiler, folder: str, threads: int) -> Original:
    """Build the original for the check and for timing, and run both once. Raises InputError if it fails, or prints
    something else each time."""
    tree = Path(folder, "tree")
    unpack(program, tree)
    outputs = []
    check = _compiled(program, compiler, tree, Path(folder, "check.exe"), check=True)
    for _ in range(2):
        done = run([check], ORIGINAL_LIMIT, environment=_environment(threads))
        _require(program, done, "its check")
        outputs.append(output_of(done, is_kernel=program.is_kernel))
    changed = difference(outputs[0], outputs[1], is_kernel=program.is_kernel)
    if changed:
        raise InputError(f"{program.shown}: its output can't be checked, it differs from run to run: {changed}")
    timed = _compiled(program, compiler, tree, Path(folder, "timed.exe"), check=False)
    once = run([timed], ORIGINAL_LIMIT, environment=_environment(threads))
    _require(program, once, "its timed run")
    prints_time = parse_seconds(once.output) is not None and (
        program.is_kernel or len(once.output.split()) == len(outputs[0].text.split()) + 1
    )
    if program.is_kernel and not prints_time:
        raise InputError(f"{program.shown}: built with -DPOLYBENCH_TIME it prints no time")
    return Original(outputs[0], done.seconds, prints_time, str(timed))


def evaluate_build(job: BuildJob) -> BuildResult:
    """Transform, compile for the check, run, compare, compile for timing.
    Raises nothing but for a disk that is full or the like."""
    tree = Path(job.folder, "tree")
    source = unpack(job.program, tree)
    code_hash = note = ""
    if job.schedule or job.scheduler:
        try:
            result = _transformed(job, tree, source)
        except InputError as error:
            # The core has shown the schedule to be legal; where isl itself gives up that is no contradiction.
            return BuildResult("build failed" if "isl cannot work" in str(error) else "mismatch", _clean(error, job))
        failure, note = _left_as_it_was(result), _simplified(result)
        if failure:
            return BuildResult("build failed", failure)
        code_hash = digest(result.text)
        source.write_bytes(result.text)
    check, timed = Path(job.folder, "check.exe"), Path(job.folder, "timed.exe")
    compiled = compile_program(job.program, job.compiler, tree, check, check=True, flags=job.flags)
    if not compiled.ok:
        return BuildResult("build failed", compiled.reason(), code_hash)
    limit = max(LEAST_CHECK_LIMIT, job.timeout_factor * job.original.check_seconds)
    done = run([check], limit, environment=_environment(job.threads))
    if done.timed_out:
        return BuildResult("timeout", f"check: {done.reason()}", code_hash)
    found = difference(
        job.original.expected, output_of(done, is_kernel=job.program.is_kernel), is_kernel=job.program.is_kernel
    )
    if found:
        return BuildResult("mismatch", f"wrong result: {found}", code_hash)
    compiled = compile_program(job.program, job.compiler, tree, timed, check=False, flags=job.flags)
    if not compiled.ok:
        return BuildResult("build failed", compiled.reason(), code_hash)
    return BuildResult("ok", note, code_hash, str(timed))


def evaluate_measure(job: MeasureJob) -> MeasureResult:
    """Run the program so many times. It ends at the first run that takes too long or fails."""
    seconds: list[float] = []
    longest = 0.0
    for _ in range(job.runs):
        done = run([job.program], job.limit, environment=_environment(job.threads))
        longest = max(longest, done.seconds)
        if done.timed_out:
            return MeasureResult("timeout", done.reason(), tuple(seconds), longest)
        if done.code != job.code:
            return MeasureResult("run failed", done.reason(), tuple(seconds), longest)
        printed = parse_seconds(done.output) if job.prints_time else done.seconds
        if printed is None:
            return MeasureResult("run failed", "it printed no time", tuple(seconds), longest)
        seconds.append(printed)
    return MeasureResult("ok", "", tuple(seconds), longest)


def time_limit(seconds: Sequence[float], process_seconds: float, factor: float) -> float:
    """Seconds that a run of a sample may take as a process: `factor` times the original's fastest time, and what the
    original needs besides."""
    fastest = min(seconds)
    return max(LEAST_LIMIT, factor * fastest) + max(0.0, process_seconds - fastest)


def discard(folder: str) -> None:
    """Delete what a build has left."""
    shutil.rmtree(folder, ignore_errors=True)


def _environment(threads: int) -> dict[str, str]:
    return {"OMP_NUM_THREADS": str(threads), "OMP_PROC_BIND": "true"}


def _compiled(program: Program, compiler: Compiler, tree: Path, output: Path, *, check: bool) -> Path:
    """The original."""
    done = compile_program(program, compiler, tree, output, check=check)
    if not done.ok:
        raise InputError(f"{program.shown}: {compiler.name} can't compile it: {done.reason()}")
    return output


def _require(program: Program, done: Finished, what: str) -> None:
    """A plain file may end with any exit status, but not by a signal."""
    if done.timed_out or done.code < 0 or (program.is_kernel and not done.ok):
        raise InputError(f"{program.shown}: {what} fails: {done.reason()}")


def _transformed(job: BuildJob, tree: Path, source: Path) -> Result:
    flags = preprocessor_flags(job.program, tree)
    # what is measured are the loops of the schedule, whatever the size
    options = Options(cc=job.compiler.path, cpp_flags=flags, budget=job.budget, eager=True)
    if job.scheduler:
        options = replace(options, scheduler=job.scheduler)
    else:
        file = Path(job.folder, "schedule.yaml")
        file.write_text(job.schedule, encoding="utf-8")
        options = replace(options, schedule_file=str(file))
    return optimize(job.program.text, options, file=str(source))


def _left_as_it_was(result: Result) -> str:
    """Why a region wasn't transformed that could have been: time or scopt's own fault;
    what it never can transform doesn't count."""
    for remark in result.remarks:
        if remark.kind == "missed" and remark.id.startswith(("internal.", "budget.")):
            return f"{remark.message} [{remark.id}]"
    return "" if any(region.transformed for region in result.regions) else "no region was transformed"


def _simplified(result: Result) -> str:
    return next((remark.message for remark in result.remarks if remark.id == "schedule.simplified"), "")


def _clean(error: InputError, job: BuildJob) -> str:
    return str(error).replace(f"{job.folder}/", "").splitlines()[0]
