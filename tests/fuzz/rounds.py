"""A round: one seed, some tens of random programs, checked together. Failures are shrunk and saved with all that is
needed to see them again."""

from __future__ import annotations

import shlex
import tempfile
from collections import Counter
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from tests.fuzz.generate import generate, shrink
from tests.fuzz.harness import MISTAKE, PLAIN_FLAGS, SANITIZERS, Outcome, Setup, check, differences, other_compiler
from tests.fuzz.program import Program

PER_ROUND = 40
PER_EXECUTABLE = 20


class Round(Struct, frozen=True):
    """seed, kinds, setup: what it was played with."""

    seed: int
    kinds: tuple[str, ...]
    setup: Setup
    outcomes: tuple[Outcome, ...]

    @property
    def failures(self) -> tuple[Outcome, ...]:
        return tuple(outcome for outcome in self.outcomes if outcome.failure)


def setup_of(seed: int) -> Setup:
    """Most rounds compile with OpenMP and little optimization; some with more, with clang, or with sanitizers."""
    clang = other_compiler()
    match seed % 8:
        case 2 | 6 if clang:
            return Setup(clang)
        case 4:
            return Setup(flags=SANITIZERS, threads=(1,))
        case 7:
            return Setup(flags=("-O3", "-w", "-ffp-contract=off", "-fopenmp"))
        case _:
            return Setup(flags=(*PLAIN_FLAGS, "-fopenmp"))


def play(seed: int, count: int = PER_ROUND, kinds: tuple[str, ...] = (), setup: Setup | None = None) -> Round:
    """Check the `count` programs of a seed."""
    setup = setup or setup_of(seed)
    programs = generate(seed, count, kinds)
    outcomes: list[Outcome] = []
    for start in range(0, len(programs), PER_EXECUTABLE):
        with tempfile.TemporaryDirectory(prefix="scopt-fuzz-") as folder:
            checked = check(programs[start : start + PER_EXECUTABLE], Path(folder), setup)
        outcomes += (replace(outcome, number=start + outcome.number) for outcome in checked)
    return Round(seed, kinds, setup, tuple(outcomes))


def smallest(played: Round, failure: Outcome | None = None, attempts: int = 150) -> Outcome:
    """A failure of a round, the first by default, made smaller; as it was found if it doesn't fail alone."""

    def alone(program: Program) -> Outcome:
        with tempfile.TemporaryDirectory(prefix="scopt-fuzz-") as folder:
            outcome = check([program], Path(folder), played.setup)[0]
        # A smaller program that is wrong itself is not what is looked for.
        other = outcome.failure.startswith(MISTAKE) != found.failure.startswith(MISTAKE)
        return replace(outcome, failure="") if other else outcome

    found = failure or played.failures[0]
    if not alone(found.program).failure:
        return found
    outcome = alone(
        shrink(played.seed, found.number, lambda program: bool(alone(program).failure), played.kinds, attempts)
    )
    return outcome if outcome.failure else found


def save(outcome: Outcome, seed: int, folder: Path) -> Path:
    """Write original, emitted text and a report into a folder of its own; returns that folder."""
    target = folder / f"seed-{seed}-{outcome.number}"
    target.mkdir(parents=True, exist_ok=True)
    (target / "original.c").write_text(outcome.original)
    (target / "emitted.c").write_text(outcome.emitted)
    with tempfile.TemporaryDirectory(prefix="scopt-fuzz-") as work:
        cells = differences(outcome, Path(work)) if outcome.emitted else ""
    (target / "report.txt").write_text(
        f"{outcome.failure}\n\nscopt original.c {command_line(outcome.program)}\n\n{cells}\n"
    )
    return target


def command_line(program: Program) -> str:
    """The program's options as arguments of the command."""
    options = program.options
    arguments = [
        "--scheduler",
        options.scheduler,
        "--tile-size",
        ",".join(map(str, options.tile_sizes)) if options.tile else "none",
    ]
    if options.tile and not options.tile_sizes:
        arguments = arguments[:2]
    arguments += ["--decisions", options.decisions] if options.decisions else []
    arguments += ["--seed", str(options.seed)] if options.scheduler == "sample" or options.decisions else []
    arguments += ["--fusion", options.fusion, *(["--influence", options.influence] if options.influence else [])]
    switches = {
        "--autodetect": options.autodetect,
        "--eager": options.autodetect,
        "--no-parallel": not options.parallel,
        "--no-simd": not options.simd,
        "--no-register-tile": not options.register_tile,
        "--reassociate": options.reassociate,
    }
    arguments += [name for name, given in switches.items() if given] + ["--verify", options.verify]
    return shlex.join(arguments)


def statistics(outcomes: tuple[Outcome, ...]) -> str:
    """How much was transformed, of each kind, and what stood in the way of the rest."""
    slowest = max((outcome.seconds for outcome in outcomes), default=0.0)
    total = sum(outcome.seconds for outcome in outcomes)
    lines = [
        f"{sum(outcome.transformed for outcome in outcomes)} of {len(outcomes)} programs transformed, "
        f"{sum(outcome.simplified for outcome in outcomes)} of them in a simpler form than asked for",
        f"scopt took {total:.0f} s, {slowest:.1f} s for the slowest",
        f"{sum(outcome.blamed for outcome in outcomes)} originals that the compiler gets wrong itself",
        (
            f"{'kind':12} {'programs':>8} {'transformed':>11} {'guarded':>7} "
            f"{'seconds':>7}  why the others were left alone"
        ),
    ]
    kinds = sorted({outcome.program.kind for outcome in outcomes})
    for kind in kinds:
        lines.append(_line(kind, [outcome for outcome in outcomes if outcome.program.kind == kind]))
    reasons = Counter(_reason(outcome) for outcome in outcomes if not outcome.transformed)
    return "\n".join(lines + [f"  {count:5} {reason}" for reason, count in reasons.most_common()])


def _line(kind: str, outcomes: list[Outcome]) -> str:
    reasons = Counter(_reason(outcome) for outcome in outcomes if not outcome.transformed)
    most = ", ".join(f"{reason} {count}" for reason, count in reasons.most_common(3))
    transformed, guarded = (
        sum(outcome.transformed for outcome in outcomes),
        sum(outcome.guarded for outcome in outcomes),
    )
    seconds = sum(outcome.seconds for outcome in outcomes) / len(outcomes)
    return f"{kind:12} {len(outcomes):8} {transformed:11} {guarded:7} {seconds:7.2f}  {most}"


def _reason(outcome: Outcome) -> str:
    return outcome.remarks[0] if outcome.remarks else "(no remark)"
