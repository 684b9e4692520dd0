"""Runs random programs with and without scopt and compares every bit of their results.

Many programs are compiled into one executable, one translation unit each; what goes wrong in common is tried again one
by one.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from tests.fuzz.program import DEFINES, Program

if TYPE_CHECKING:
    from scopt.tell.results import Result

SUPPORT = Path(__file__).with_name("support.c")
# gcc 12 at -O1 loses stores to `A[8 * j]` in its choice of induction variables, of originals and results alike.
PLAIN_FLAGS = ("-O1", "-fno-ivopts", "-w", "-ffp-contract=off")
SANITIZERS = ("-O1", "-g", "-w", "-ffp-contract=off", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
# The fuzzer's own fault, not scopt's.
MISTAKE = "the generated program itself is wrong"
BUDGET = 8.0
COMPILE_SECONDS, RUN_SECONDS = 300, 60


class Setup(Struct, frozen=True):
    """How emitted programs are compiled and run. threads: one run for each number. budget: seconds that scopt has for a
    region. The originals are compiled plainly, by gcc."""

    compiler: str = ""
    flags: tuple[str, ...] = (*PLAIN_FLAGS, "-fopenmp")
    threads: tuple[int, ...] = (3, 1)
    budget: float = BUDGET

    @property
    def command(self) -> str:
        return self.compiler or os.environ.get("CC", "gcc")


PLAIN = Setup(flags=("-O0", "-w", "-ffp-contract=off"), threads=(1,))


def other_compiler() -> str:
    """A clang that can do OpenMP; empty if there is none."""
    return next((found for name in ("clang", "clang-20", "clang-19", "clang-18") if (found := shutil.which(name))), "")


class Outcome(Struct, frozen=True):
    """What became of one program.

    original, emitted: C texts. failure: what is wrong, empty if nothing is. remarks: ids of what was missed.
    seconds: that scopt took. simplified: scopt gave up its first choice of transformation. guarded: the original loops
      are kept for some arguments.
    blamed: the compiler gets the original wrong in the same way, so that nothing can be said.
    """

    program: Program
    name: str
    original: str
    emitted: str
    transformed: bool
    failure: str
    remarks: tuple[str, ...]
    seconds: float
    simplified: bool = False
    guarded: bool = False
    blamed: bool = False
    number: int = 0


class Ran(Struct, frozen=True):
    """The output of each program by its name, for one run after the other, and what went wrong with it."""

    lines: Mapping[str, tuple[tuple[str, ...], ...]]
    failures: Mapping[str, str]


def check(programs: Sequence[Program], folder: Path, setup: Setup | None = None) -> tuple[Outcome, ...]:
    """Transform, compile, run and compare all programs, with each of the macros' values that they are for."""
    setup = setup or Setup()
    outcomes = tuple(
        replace(transform(program, f"p{number}", setup.budget), number=number)
        for number, program in enumerate(programs)
    )
    for number, defines in enumerate(DEFINES):
        meant = [outcome for outcome in outcomes if not outcome.failure and len(outcome.program.variants) > number]
        judged = _compared(meant, folder / str(number), defines, setup)
        outcomes = tuple(judged.get(outcome.name, outcome) for outcome in outcomes)
    return outcomes


def _compared(outcomes: Sequence[Outcome], folder: Path, defines: tuple[str, ...], setup: Setup) -> dict[str, Outcome]:
    """The outcomes by their names, with what went wrong."""
    expected = run(
        {o.name: o.original for o in outcomes}, folder / "original", replace(PLAIN, flags=(*PLAIN.flags, *defines))
    )
    wrong = {
        o.name: replace(o, failure=f"{MISTAKE}: {expected.failures[o.name]}")
        for o in outcomes
        if o.name in expected.failures
    }
    changed = [outcome for outcome in outcomes if outcome.emitted != outcome.original and outcome.name not in wrong]
    with_defines = replace(setup, flags=(*setup.flags, *defines))
    emitted = run({o.name: without_thresholds(o.emitted) for o in changed}, folder / "emitted", with_defines)
    where = f" with {' '.join(defines)}" if defines else ""
    judged = {outcome.name: _judged(outcome, expected, emitted, where) for outcome in changed}
    suspects = [outcome for outcome in judged.values() if outcome.failure]
    again = run({o.name: o.original for o in suspects}, folder / "again", with_defines)
    return (
        wrong
        | judged
        | {o.name: replace(o, failure="", blamed=True) for o in suspects if _unlike(again, expected, o.name)}
    )


def _unlike(ran: Ran, expected: Ran, name: str) -> bool:
    """Whether an original itself computes something else when it is compiled like the emitted text: the compiler is
    wrong. (gcc 12 at -O3 is, for some vector loops that run backwards.)"""
    return any(lines != expected.lines[name][0] for lines in ran.lines.get(name, ()))


def transform(program: Program, name: str, budget: float = BUDGET) -> Outcome:
    """Run scopt on one program."""
    from scopt.pipeline import optimize

    original = program.source(name)
    start = time.perf_counter()
    try:
        result: Result = optimize(original.encode(), replace(program.options, budget=budget), file=f"{name}.c")
    except Exception as error:
        return Outcome(program, name, original, "", False, f"optimize raised {type(error).__name__}: {error}", (), 0.0)
    seconds = time.perf_counter() - start
    missed = tuple(
        remark.id for remark in result.remarks if remark.kind == "missed" and not remark.function.startswith("drive")
    )
    internal = [remark.text() for remark in result.remarks if remark.id.startswith("internal")]
    # Under autodetect, what is refused inside a loop nest leaves smaller regions: one of them is enough.
    every = any if program.options.autodetect else all
    transformed = bool(result.regions) and every(region.transformed for region in result.regions)
    simplified = any(remark.id == "schedule.simplified" for remark in result.remarks)
    emitted = result.text.decode()
    return Outcome(
        program,
        name,
        original,
        emitted,
        transformed,
        "\n".join(internal),
        missed,
        seconds,
        simplified,
        _guarded(result),
    )


def _guarded(result: Result) -> bool:
    return any(remark.id.startswith("assume.") for remark in result.remarks)


def run(sources: Mapping[str, str], folder: Path, setup: Setup = PLAIN) -> Ran:
    """Compile the translation units into one executable and run it; one by one if that fails."""
    if not sources:
        return Ran({}, {})
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in sources.items():
        (folder / f"{name}.c").write_text(text)
    main = folder / "main.c"
    calls = " ".join(f"run_{name}();" for name in sources)
    main.write_text(
        "".join(f"void run_{name}(void);\n" for name in sources) + f"int main(void) {{ {calls} return 0; }}\n"
    )
    outputs, failure = _compile_and_run(folder, [*sources, "main"], setup)
    if not failure:
        return Ran({name: tuple(_lines_of(name, output) for output in outputs) for name in sources}, {})
    if len(sources) == 1:
        return Ran({}, {next(iter(sources)): failure})
    single = [run({name: text}, folder / name, setup) for name, text in sources.items()]
    return Ran(
        {k: v for ran in single for k, v in ran.lines.items()},
        {k: v for ran in single for k, v in ran.failures.items()},
    )


def _lines_of(name: str, output: str) -> tuple[str, ...]:
    return tuple(line for line in output.splitlines() if line.startswith(f"{name} "))


def with_threads(text: str) -> str:
    """The C text with the form for threads of whatever stands there in two forms."""
    return re.sub(r"\bif \((?:.* && )?scopt_threads_*\(\) > 1\) \{$", "if (1) {", text, flags=re.MULTILINE)


def in_one_form(text: str) -> str:
    """The C text without the forms for one thread, where there are two."""
    inside = r"(?:\1[ \t]+.*\n)*?"
    head = r"^([ \t]*)(\} else )?if \((?:.* && )?scopt_threads_*\(\) > 1\) \{"
    two = rf"{head}\n({inside})\1\}} else \{{\n{inside}\1\}}\n"
    return re.sub(
        two,
        lambda match: f"{match[1]}}} else {{\n{match[3]}{match[1]}}}\n" if match[2] else match[3],
        text,
        flags=re.MULTILINE,
    )


def without_thresholds(text: str) -> str:
    """The C text with the `if(…)` clauses of its pragmas removed, and the tests around loops with copies of arrays or
    in two forms: the trip counts here are small, the loops shall run in parallel all the same.
    """
    text = with_threads(text)
    either = (
        r"^([ \t]*)if \(.*\) \{\n([ \t]*#pragma omp parallel for[^\n]*\n)((?:.*\n)*?)\1\} else \{\n((?:.*\n)*?)\1\}$"
    )
    text = re.sub(
        either, lambda match: f"{match[2]}{match[3]}" if match[3] == match[4] else match[0], text, flags=re.MULTILINE
    )
    return re.sub(r"^[ \t]*#[ \t]*pragma[ \t]+omp\b.*$", lambda match: _without_if(match[0]), text, flags=re.MULTILINE)


def differences(outcome: Outcome, folder: Path) -> str:
    """The first cells in which the two texts differ, `label index original emitted`."""
    for number, defines in enumerate(outcome.program.variants):
        dumps = []
        for kind, text, setup in (("a", outcome.original, PLAIN), ("b", without_thresholds(outcome.emitted), Setup())):
            dumps.append(
                run({outcome.name: text}, folder / f"{kind}{number}", replace(setup, flags=(*setup.flags, *defines)))
            )
        if any(dump.failures for dump in dumps):
            return "\n".join(failure for dump in dumps for failure in dump.failures.values())
        pairs = zip(*(dump.lines[outcome.name][0] for dump in dumps), strict=True)
        found = [f"{left}   {right.rsplit(' ', 1)[-1]}" for left, right in pairs if left != right][:20]
        if found:
            return "\n".join(found)
    return ""


def _without_if(pragma: str) -> str:
    match = re.search(r"\s*\bif\s*\(", pragma)
    if not match:
        return pragma
    depth, end = 1, match.end()
    while depth:
        depth += {"(": 1, ")": -1}.get(pragma[end], 0)
        end += 1
    return pragma[: match.start()] + pragma[end:]


def _compile_and_run(folder: Path, units: Sequence[str], setup: Setup) -> tuple[list[str], str]:
    """(stdout of each run, what went wrong)."""
    executable = folder / "program"
    sources = [*(str(folder / f"{unit}.c") for unit in units), str(SUPPORT)]
    command = [setup.command, *setup.flags, "-o", str(executable), *sources, "-lm"]
    outputs = []
    try:
        compiled = subprocess.run(command, capture_output=True, text=True, timeout=COMPILE_SECONDS, check=False)
        if compiled.returncode:
            return [], f"does not compile: {compiled.stderr[:2000]}"
        for threads in setup.threads:
            # Waiting threads sleep: two workers with some threads each share two cores.
            environment = {
                **os.environ,
                "OMP_NUM_THREADS": str(threads),
                "OMP_WAIT_POLICY": "passive",
                "OMP_DYNAMIC": "false",
            }
            ran = subprocess.run(
                [str(executable)], capture_output=True, text=True, timeout=RUN_SECONDS, check=False, env=environment
            )
            if ran.returncode:
                return [], f"exits with {ran.returncode}: {ran.stderr[:2000]}"
            outputs.append(ran.stdout)
    except subprocess.TimeoutExpired as error:
        return [], f"takes longer than {error.timeout} s: {error.cmd[0]}"
    finally:
        executable.unlink(missing_ok=True)
    return outputs, ""


def _judged(outcome: Outcome, expected: Ran, emitted: Ran, where: str) -> Outcome:
    if failure := emitted.failures.get(outcome.name):
        return replace(outcome, failure=f"the emitted program{where} {failure}")
    (want,) = expected.lines[outcome.name]
    for got in emitted.lines[outcome.name]:
        if want != got:
            labels = sorted({a.split()[1] for a, b in zip(want, got, strict=False) if a != b})
            return replace(outcome, failure=f"wrong result{where} in {', '.join(labels) or 'the number of lines'}")
    return outcome
