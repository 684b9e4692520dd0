"""A round: one seed, some tens of random programs, checked together. Failures are shrunk and saved with all that is needed to see them again."""

from __future__ import annotations

import shlex
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.generate import generate, shrink
from tests.fuzz.harness import PLAIN_FLAGS, Outcome, check, differences
from tests.fuzz.program import Program

PER_ROUND = 40
PER_EXECUTABLE = 20
FLAGS = (*PLAIN_FLAGS, "-fopenmp")


@dataclass(frozen=True, slots=True)
class Round:
    seed: int
    outcomes: tuple[Outcome, ...]

    @property
    def failures(self) -> tuple[Outcome, ...]:
        return tuple(outcome for outcome in self.outcomes if outcome.failure)


def play(seed: int, count: int = PER_ROUND, flags: tuple[str, ...] = FLAGS) -> Round:
    """Check the `count` programs of a seed."""
    programs = generate(seed, count)
    outcomes: list[Outcome] = []
    for start in range(0, len(programs), PER_EXECUTABLE):
        with tempfile.TemporaryDirectory(prefix="scopt-fuzz-") as folder:
            outcomes += check(programs[start : start + PER_EXECUTABLE], Path(folder), flags)
    return Round(seed, tuple(outcomes))


def smallest(played: Round, count: int = PER_ROUND, flags: tuple[str, ...] = FLAGS) -> Outcome:
    """The first failure of a round, made as small as can be; as it was found if it doesn't fail alone."""

    def alone(program: Program) -> Outcome:
        with tempfile.TemporaryDirectory(prefix="scopt-fuzz-") as folder:
            return check([program], Path(folder), flags)[0]

    first = played.failures[0]
    outcome = alone(shrink(played.seed, count, first.program, lambda program: bool(alone(program).failure)))
    return outcome if outcome.failure else first


def save(outcome: Outcome, seed: int, folder: Path) -> Path:
    """Write original, emitted text and a report into a folder of its own; returns that folder."""
    target = folder / f"seed-{seed}"
    target.mkdir(parents=True, exist_ok=True)
    (target / "original.c").write_text(outcome.original)
    (target / "emitted.c").write_text(outcome.emitted)
    with tempfile.TemporaryDirectory(prefix="scopt-fuzz-") as work:
        cells = differences(outcome, Path(work)) if outcome.emitted else ""
    (target / "report.txt").write_text(f"{outcome.failure}\n\nscopt original.c {command_line(outcome.program)}\n\n{cells}\n")
    return target


def command_line(program: Program) -> str:
    """The program's options as arguments of the command."""
    options = program.options
    arguments = ["--scheduler", options.scheduler, "--tile-size", ",".join(map(str, options.tile_sizes)) if options.tile else "none"]
    arguments += ["--seed", str(options.seed)] if options.scheduler == "sample" else []
    arguments += ["--fusion", options.fusion, *(["--influence", options.influence] if options.influence else [])]
    found = options.autodetect
    switches = {"--autodetect": found, "--eager": found, "--no-parallel": not options.parallel, "--no-simd": not options.simd}
    arguments += [name for name, given in switches.items() if given] + ["--verify", options.verify]
    return shlex.join(arguments)


def statistics(outcomes: tuple[Outcome, ...]) -> str:
    """How much was transformed, and what stood in the way of the rest."""
    transformed = sum(outcome.transformed for outcome in outcomes)
    slowest = max((outcome.seconds for outcome in outcomes), default=0.0)
    total = sum(outcome.seconds for outcome in outcomes)
    reasons = Counter(outcome.remarks[0] if outcome.remarks else "(no remark)" for outcome in outcomes if not outcome.transformed)
    simplified = sum(outcome.simplified for outcome in outcomes)
    lines = [
        f"{transformed} of {len(outcomes)} programs transformed, {simplified} of them in a simpler form than asked for",
        f"scopt took {total:.0f} s, {slowest:.1f} s for the slowest",
    ]
    return "\n".join(lines + [f"  {count:5} {reason}" for reason, count in reasons.most_common()])
