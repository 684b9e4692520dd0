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
    known_good = {outcome.program for outcome in played.outcomes if not outcome.failure}

    def outcome_of(program: Program) -> Outcome:
        with tempfile.TemporaryDirectory(prefix="scopt-fuzz-") as folder:
            return check([program], Path(folder), flags)[0]

    def fails(program: Program) -> bool:
        return program not in known_good and bool(outcome_of(program).failure)

    found = shrink(played.seed, count, fails)
    outcome = outcome_of(found) if found is not None else None
    return outcome if outcome is not None and outcome.failure else played.failures[0]


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
    switches = {"--autodetect": options.autodetect, "--no-parallel": not options.parallel, "--no-simd": not options.simd}
    arguments += [name for name, given in switches.items() if given] + ["--verify", options.verify]
    return shlex.join(arguments)


def statistics(outcomes: tuple[Outcome, ...]) -> str:
    """How much was transformed, and what stood in the way of the rest."""
    transformed = sum(outcome.transformed for outcome in outcomes)
    slowest = max((outcome.seconds for outcome in outcomes), default=0.0)
    total = sum(outcome.seconds for outcome in outcomes)
    reasons = Counter(outcome.remarks[0] if outcome.remarks else "(no remark)" for outcome in outcomes if not outcome.transformed)
    lines = [f"{transformed} of {len(outcomes)} programs transformed; scopt took {total:.0f} s, {slowest:.1f} s for the slowest"]
    return "\n".join(lines + [f"  {count:5} {reason}" for reason, count in reasons.most_common()])
