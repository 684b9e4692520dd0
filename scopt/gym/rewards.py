"""What a complete schedule is worth: its speedup over the original (polygym paper, section IV-C), simulated, measured,
or the caller's own figure."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, Protocol

import islpy as isl
from msgspec import Struct, field
from msgspec.structs import replace

from scopt.diagnostics import InputError, ScoptError
from scopt.gym.env_programs import Program
from scopt.pipeline import optimize
from scopt.polybench.builds import TIMED_FLAGS, compile_command
from scopt.polybench.measure import parse_seconds
from scopt.polybench.processes import Finished, run
from scopt.polybench.toolchains import Compiler, Configuration, find_compiler
from scopt.schedule_file import document, legend
from scopt.simulation.static_cost import CostModel

# A run is ended at so many times the original's time; the speedup is the inverse then.
TIMEOUT_FACTOR = 10
SLOWEST = 1 / TIMEOUT_FACTOR
# A limit has room for starting a process, seconds.
SHORTEST_LIMIT = 1.0


class Rewarded(Struct, frozen=True):
    """value: the reward. info: what else is known, of plain types. valid: False if no program came of the schedule: the
    value means nothing."""

    value: float
    info: Mapping[str, object] = field(default_factory=dict)
    valid: bool = True


class Reward(Protocol):
    """The worth of a legal schedule tree, before the band passes."""

    def __call__(self, tree: isl.Schedule) -> Rewarded: ...


RewardName = Literal["simulated", "measured"]
# Given by the caller: the worth of a schedule tree.
RewardFunction = Callable[[isl.Schedule], float]


class GivenReward(Struct, frozen=True, eq=False):
    """The caller's function."""

    function: RewardFunction

    def __call__(self, tree: isl.Schedule) -> Rewarded:
        return Rewarded(float(self.function(tree)))


class SimulatedReward(Struct, frozen=True, eq=False):
    """The original order's static cost over the schedule's, at least `SLOWEST`."""

    model: CostModel

    def __call__(self, tree: isl.Schedule) -> Rewarded:
        try:
            estimate = self.model.estimate(tree)
        except ScoptError as error:
            return Rewarded(SLOWEST, {"failure": _first_line(str(error))})
        info: dict[str, object] = {"nanoseconds": estimate.nanoseconds}
        if estimate.fallback:
            info["fallback"] = estimate.fallback
        return Rewarded(max(self.model.original / estimate.nanoseconds, SLOWEST), info)


class Measuring(Struct, frozen=True):
    """How programs are measured. cc: the compiler. runs: of each program, the fastest counts. build_timeout: seconds
    for each compilation."""

    cc: str = "gcc"
    threads: int = 2
    runs: int = 4
    build_timeout: float = 120.0


class MeasuredReward(Struct, eq=False):
    """The -O3 original's time over the transformed program's, built and run here. The original is measured once, when
    it is first needed.

    A kernel prints its own time; of another program, the whole run counts. What scopt can't transform or the compiler
    can't build is not valid.
    """

    program: Program
    measuring: Measuring
    _folder: tempfile.TemporaryDirectory[str] = field(
        default_factory=lambda: tempfile.TemporaryDirectory(prefix="scopt-env-")
    )
    _compiler: Compiler | None = None
    _original: tuple[float, float] | None = None
    _built: int = 0

    def __call__(self, tree: isl.Schedule) -> Rewarded:
        original, limit = self._baseline()
        try:
            executable = self._build(self._transformed(tree), ("-fopenmp",))
        except ScoptError as error:
            return Rewarded(0.0, {"failure": _first_line(str(error))}, valid=False)
        seconds: list[float] = []
        for _ in range(self.measuring.runs):
            done = self._run(executable, limit)
            if done.timed_out:
                return Rewarded(SLOWEST, {"original_seconds": original, "timeout": limit})
            found = self._seconds(done)
            if found is None:
                return Rewarded(0.0, {"failure": done.reason()}, valid=False)
            seconds.append(found)
        info = {"original_seconds": original, "seconds": min(seconds)}
        return Rewarded(max(original / max(min(seconds), 1e-9), SLOWEST), info)

    def close(self) -> None:
        """Remove everything that was built."""
        self._folder.cleanup()

    def _baseline(self) -> tuple[float, float]:
        """(the original's seconds, the limit for a transformed run).
        Raises InputError if the original can't be built or run."""
        if self._original is None:
            executable = self._build(self.program.text, ())
            runs = [self._run(executable, self.measuring.build_timeout) for _ in range(self.measuring.runs)]
            seconds = [self._seconds(done) for done in runs]
            known = [value for value in seconds if value is not None]
            if len(known) < len(seconds):
                reason = next(done.reason() for done, value in zip(runs, seconds, strict=True) if value is None)
                raise InputError(f"{self.program.file}:1:1: error: the original can't be measured: {reason}")
            limit = max(TIMEOUT_FACTOR * min(done.seconds for done in runs), SHORTEST_LIMIT)
            self._original = min(known), limit
        return self._original

    def _transformed(self, tree: isl.Schedule) -> bytes:
        """The program with the region in the order of the tree; other regions stay as they are. Raises ScoptError."""
        program = self.program
        mine = document(program.scop.location, str(tree), legend(program.scop))
        path = Path(self._folder.name, "schedule.yaml")
        path.write_text(
            "".join(mine if k == program.region else "---\n" for k in range(program.regions)), encoding="utf-8"
        )
        options = replace(program.options, cc=self._found().path, schedule_file=str(path), scheduler="identity")
        result = optimize(program.text, options, file=str(program.file))
        if not result.regions[program.region].transformed:
            missed = [remark.message for remark in result.regions[program.region].remarks if remark.kind == "missed"]
            raise ScoptError(missed[0] if missed else "the region was not transformed")
        return result.text

    def _found(self) -> Compiler:
        if self._compiler is None:
            self._compiler = find_compiler(self.measuring.cc)
        return self._compiler

    def _build(self, text: bytes, flags: tuple[str, ...]) -> Path:
        """Compile a text of the program. Raises InputError with the compiler's message."""
        self._built += 1
        folder = Path(self._folder.name, str(self._built))
        folder.mkdir()
        source, executable = folder / self.program.file.name, folder / "program"
        source.write_bytes(text)
        kernel, compiler = self.program.kernel, self._found()
        options = (*TIMED_FLAGS, f"-I{self.program.file.resolve().parent}", *self.program.options.cpp_flags)
        if kernel is not None:
            command = compile_command(kernel, Configuration("sample", compiler, flags), source, options, executable)
        else:
            command = (compiler.path, "-w", *options, str(source), "-o", str(executable), *flags, "-lm")
        done = run(command, self.measuring.build_timeout, cwd=folder)
        if not done.ok:
            raise InputError(f"{self.program.file}:1:1: error: it can't be compiled: {done.reason()}")
        return executable

    def _run(self, executable: Path, limit: float) -> Finished:
        return run(
            [executable], limit, environment={"OMP_NUM_THREADS": str(self.measuring.threads), "OMP_PROC_BIND": "true"}
        )

    def _seconds(self, done: Finished) -> float | None:
        """The time of one run; None if it failed."""
        if not done.ok:
            return None
        return parse_seconds(done.output) if self.program.kernel is not None else done.seconds


def reward_of(program: Program, reward: RewardName | RewardFunction, measuring: Measuring) -> Reward:
    """The reward of that name for a program, or the caller's."""
    if callable(reward):
        return GivenReward(reward)
    if reward == "measured":
        return MeasuredReward(program, measuring)
    if reward == "simulated":
        return SimulatedReward(CostModel(program.scop, program.deps, program.options))
    raise InputError(f"scopt: error: reward '{reward}': it is 'simulated', 'measured' or a function of a schedule tree")


def _first_line(text: str) -> str:
    return (text.splitlines() or ["unknown"])[0]
