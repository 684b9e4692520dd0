"""What a text that was accepted in spite of a fault in it does, compared with the original."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from msgspec import Struct, field

from tests.fuzz.harness import with_threads, without_thresholds
from tests.mutate.races import Unreadable, told
from tests.mutate.source import Source
from tests.mutate.texts import clauses

RACE = Path(__file__).with_name("race.c")
PLAIN = ("-O2", "-w", "-ffp-contract=off", "-fno-strict-aliasing")
SANITIZED = (
    "-O1",
    "-g",
    "-w",
    "-ffp-contract=off",
    "-fopenmp",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
)
WATCHED = (
    "-O1",
    "-w",
    "-ffp-contract=off",
    "-fno-tree-loop-distribute-patterns",
    "-fsanitize=thread",
    "-DSCOPT_THREADS",
)
SECONDS = 60


class Failure(Exception):
    """A program can't be compiled, or doesn't end well."""


class Judge(Struct):
    """Of one source. folder: for its programs."""

    source: Source
    folder: Path
    known: dict[str, str] = field(default_factory=dict)
    expected: str = ""

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.expected = self.run(self.source.text, PLAIN, {})

    def verdict(self, text: str) -> str:
        """What shows that a text does something else than the original; empty if nothing does."""
        if text not in self.known:
            self.known[text] = self.judged(text)
        return self.known[text]

    def judged(self, text: str) -> str:
        small = forced(text)
        runs = (
            [("compiled as it is", text, (*PLAIN, "-fopenmp"), threads) for threads in (1, 4)]
            if small != without_ifs(text)
            else []
        )
        any_order = re.sub(r"\bschedule\([^)]*\)", "schedule(runtime)", small)
        for threads, order in ((4, "static,1"), (4, "dynamic,1"), (4, "static"), (3, "guided"), (1, "static")):
            runs.append((f"with {threads} threads, {order}", any_order, (*PLAIN, "-fopenmp"), threads, order))  # type: ignore[arg-type]
        runs.append(("with sanitizers", small, SANITIZED, 2))
        for what, program, flags, threads, *order in runs:
            environment = {"OMP_NUM_THREADS": str(threads), "OMP_SCHEDULE": order[0] if order else "static"}
            try:
                output = self.run(program, flags, environment)
            except Failure as failure:
                return f"{what}: {failure}"
            if output != self.expected:
                return f"{what}: another result"
        return self.races(small)

    def races(self, text: str) -> str:
        try:
            output = self.run(told(text), WATCHED, {}, RACE)
        except (Failure, Unreadable) as failure:
            return f"one iteration after the other: {failure}"
        if "data race" in output:
            return "a data race"
        return "" if output == self.expected else "one iteration after the other: another result"

    def run(self, text: str, flags: tuple[str, ...], environment: dict[str, str], more: Path | None = None) -> str:
        """What the program prints."""
        source, program = self.folder / "program.c", self.folder / "program"
        whole = text + self.source.driver
        if not source.exists() or not program.exists() or source.read_text() != f"{whole}\n// {flags}":
            program.unlink(missing_ok=True)
            source.write_text(f"{whole}\n// {flags}")
            linked = [flag for flag in flags if flag != "-fsanitize=thread"]
            parts = [str(source)] if more is None else [str(self.folder / "program.o"), str(more)]
            if more is not None:
                self.call(
                    [os.environ.get("CC", "gcc"), *flags, "-c", str(source), "-o", parts[0]], {}, "doesn't compile"
                )
            self.call([os.environ.get("CC", "gcc"), *linked, *parts, "-o", str(program), "-lm"], {}, "doesn't compile")
        settings = {"OMP_WAIT_POLICY": "passive", "OMP_DYNAMIC": "false", "MALLOC_PERTURB_": "165"}
        return self.call([str(program)], settings | environment, "exits")

    def call(self, command: list[str], environment: dict[str, str], what: str) -> str:
        try:
            ran = subprocess.run(
                command, capture_output=True, text=True, timeout=SECONDS, check=False, env={**os.environ, **environment}
            )
        except subprocess.TimeoutExpired:
            raise Failure("takes too long") from None
        if ran.returncode:
            raise Failure(f"{what} with {ran.returncode}: {ran.stderr[:400]}")
        return ran.stdout


def without_ifs(text: str) -> str:
    """The text without the tests of parallel loops' work."""
    return without_thresholds(text)


def forced(text: str) -> str:
    """The text with parallel loops that run however little work they have, also where threads have copies of arrays."""
    either = (
        r"^([ \t]*)if \(.*\) \{(\n[ \t]*#pragma omp parallel "
        r"for(?![^\n]*\bif\()[^\n]*reduction[^\n]*\n(?:.*\n)*?\1\} else \{\n)"
    )
    text = re.sub(either, r"\1if (1) {\2", with_threads(text), flags=re.MULTILINE)
    lines = text.split("\n")
    for k, line in enumerate(lines):
        if line.lstrip().startswith("#pragma omp"):
            for name, start, end in reversed(list(clauses(line))):
                if name == "if":
                    line = line[:start] + line[end:]
            lines[k] = line
    return "\n".join(lines)
