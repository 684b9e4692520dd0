"""Runs random programs with and without scopt and compares every bit of their results.

Many programs are compiled into one executable, one translation unit each; what goes wrong in common is tried again one by one.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tests.fuzz.program import Program

if TYPE_CHECKING:
    from scopt.pipeline import Result

SUPPORT = Path(__file__).with_name("support.c")
PLAIN_FLAGS = ("-O1", "-w", "-ffp-contract=off")
SANITIZERS = ("-O1", "-g", "-w", "-ffp-contract=off", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
COMPILE_SECONDS, RUN_SECONDS = 300, 60


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one program.

    original, emitted: C texts. failure: what is wrong, empty if nothing is. remarks: ids of what was missed.
    seconds: that scopt took. simplified: scopt gave up its first choice of transformation.
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


@dataclass(frozen=True, slots=True)
class Ran:
    """The output of each program by its name, and what went wrong with it."""

    lines: Mapping[str, tuple[str, ...]]
    failures: Mapping[str, str]


def check(programs: Sequence[Program], folder: Path, flags: tuple[str, ...] = (*PLAIN_FLAGS, "-fopenmp")) -> tuple[Outcome, ...]:
    """Transform, compile, run and compare all programs. `flags` are those of the emitted code."""
    outcomes = [transform(program, f"p{number}") for number, program in enumerate(programs)]
    expected = run({o.name: o.original for o in outcomes}, folder / "original", PLAIN_FLAGS)
    if expected.failures:
        name, failure = next(iter(expected.failures.items()))
        raise AssertionError(f"the generated program itself is wrong: {failure}\n{next(o.original for o in outcomes if o.name == name)}")
    emitted = run({o.name: without_thresholds(o.emitted) for o in outcomes if not o.failure}, folder / "emitted", flags)
    return tuple(_judged(outcome, expected, emitted) for outcome in outcomes)


def transform(program: Program, name: str) -> Outcome:
    """Run scopt on one program."""
    from scopt.pipeline import optimize

    original = program.source(name)
    start = time.perf_counter()
    try:
        result: Result = optimize(original.encode(), program.options, file=f"{name}.c")
    except Exception as error:
        return Outcome(program, name, original, "", False, f"optimize raised {type(error).__name__}: {error}", (), 0.0)
    seconds = time.perf_counter() - start
    missed = tuple(remark.id for remark in result.remarks if remark.kind == "missed")
    internal = [remark.text() for remark in result.remarks if remark.id.startswith("internal")]
    # Under autodetect, what is refused inside a loop nest leaves smaller regions: one of them is enough.
    every = any if program.options.autodetect else all
    transformed = bool(result.regions) and every(region.transformed for region in result.regions)
    simplified = any(remark.id == "schedule.simplified" for remark in result.remarks)
    return Outcome(program, name, original, result.text.decode(), transformed, "\n".join(internal), missed, seconds, simplified)


def run(sources: Mapping[str, str], folder: Path, flags: tuple[str, ...]) -> Ran:
    """Compile the translation units into one executable and run it; one by one if that fails."""
    if not sources:
        return Ran({}, {})
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in sources.items():
        (folder / f"{name}.c").write_text(text)
    main = folder / "main.c"
    calls = " ".join(f"run_{name}();" for name in sources)
    main.write_text("".join(f"void run_{name}(void);\n" for name in sources) + f"int main(void) {{ {calls} return 0; }}\n")
    output, failure = _compile_and_run(folder, [*sources, "main"], flags)
    if not failure:
        lines = output.splitlines()
        return Ran({name: tuple(line for line in lines if line.startswith(f"{name} ")) for name in sources}, {})
    if len(sources) == 1:
        return Ran({}, {next(iter(sources)): failure})
    single = [run({name: text}, folder / name, flags) for name, text in sources.items()]
    return Ran({k: v for ran in single for k, v in ran.lines.items()}, {k: v for ran in single for k, v in ran.failures.items()})


def without_thresholds(text: str) -> str:
    """The C text with the `if(…)` clauses of its pragmas removed: the trip counts here are small, the loops shall run in parallel all the same."""
    return re.sub(r"^[ \t]*#[ \t]*pragma[ \t]+omp\b.*$", lambda match: _without_if(match[0]), text, flags=re.MULTILINE)


def differences(outcome: Outcome, folder: Path) -> str:
    """The first cells in which the two texts differ, `label index original emitted`."""
    dumps = []
    for kind, text, flags in (("a", outcome.original, PLAIN_FLAGS), ("b", without_thresholds(outcome.emitted), (*PLAIN_FLAGS, "-fopenmp"))):
        dumps.append(run({outcome.name: text}, folder / kind, flags))
    if any(dump.failures for dump in dumps):
        return "\n".join(failure for dump in dumps for failure in dump.failures.values())
    pairs = zip(*(dump.lines[outcome.name] for dump in dumps), strict=True)
    return "\n".join([f"{left}   {right.rsplit(' ', 1)[-1]}" for left, right in pairs if left != right][:20])


def _without_if(pragma: str) -> str:
    match = re.search(r"\s*\bif\s*\(", pragma)
    if not match:
        return pragma
    depth, end = 1, match.end()
    while depth:
        depth += {"(": 1, ")": -1}.get(pragma[end], 0)
        end += 1
    return pragma[: match.start()] + pragma[end:]


def _compile_and_run(folder: Path, units: Sequence[str], flags: tuple[str, ...]) -> tuple[str, str]:
    """(stdout, what went wrong)."""
    executable = folder / "program"
    command = [os.environ.get("CC", "gcc"), *flags, "-o", str(executable), *(str(folder / f"{unit}.c") for unit in units), str(SUPPORT), "-lm"]
    try:
        compiled = subprocess.run(command, capture_output=True, text=True, timeout=COMPILE_SECONDS, check=False)
        if compiled.returncode:
            return "", f"does not compile: {compiled.stderr[:2000]}"
        # Waiting threads sleep: two workers with two threads each share two cores.
        environment = {**os.environ, "OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "passive", "OMP_DYNAMIC": "false"}
        ran = subprocess.run([str(executable)], capture_output=True, text=True, timeout=RUN_SECONDS, check=False, env=environment)
    except subprocess.TimeoutExpired as error:
        return "", f"takes longer than {error.timeout} s: {error.cmd[0]}"
    finally:
        executable.unlink(missing_ok=True)
    return ran.stdout, f"exits with {ran.returncode}: {ran.stderr[:2000]}" if ran.returncode else ""


def _judged(outcome: Outcome, expected: Ran, emitted: Ran) -> Outcome:
    if outcome.failure:
        return outcome
    if failure := emitted.failures.get(outcome.name):
        return replace(outcome, failure=f"the emitted program {failure}")
    want, got = expected.lines[outcome.name], emitted.lines[outcome.name]
    if want != got:
        labels = sorted({a.split()[1] for a, b in zip(want, got, strict=False) if a != b})
        return replace(outcome, failure=f"wrong result in {', '.join(labels) or 'the number of lines'}")
    return outcome
