"""No fault in a kernel or a copy goes unseen: what the check lets pass computes the same, as gcc compiles it, in all
configurations.
"""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scopt.astgen.lower.kernel import Kernel
from scopt.astgen.lower.pair_kernel import PairKernel
from scopt.astgen.lower.transposing import Transposed
from scopt.check.functions.kernels import check_kernel
from scopt.check.functions.transposed import check_transposed
from scopt.check.functions.workshop import Workshop
from scopt.ir.marked_schedule import Extremum
from tests.check.definitions import checked, kernel, mutants, paired, transposed
from tests.conftest import EVERYTHING

# How many mutants of each text, in everyday's runs; None takes all.
SAMPLE: int | None = 250 if EVERYTHING else 40
# Macros alone choose a form, so that any processor runs all of them.
AVX, AVX512 = ("-D__AVX__",), ("-D__AVX__", "-D__AVX2__", "-D__AVX512F__")
CONFIGURATIONS = {
    "plain": ("-U__GNUC__",),
    "16": (),
    "32": AVX,
    "64": AVX512,
    "aarch64": ("-U__x86_64__", "-D__aarch64__"),
    "clang": ("-D__clang__",),
    "gcc 11": (*AVX512, "-U__GNUC__", "-D__GNUC__=11"),
    "clang 64": (*AVX512, "-D__clang__", "-U__x86_64__"),
}
SUBJECTS: dict[str, Kernel | Transposed] = {
    "product": kernel("+=", "row0 * column0"),
    "products": kernel("-=", "row0 * column0 + scalar0 * row1 * column1", "float", rows=16),
    "extremum": kernel("=", "row0 + column0", "int", Extremum("<", False)),
    "pairs": paired(),
    "copy": transposed("A[i][k] * alpha"),
    "narrow copy": transposed("A[i][k]", "float", 8),
    "copy back": transposed("A[i][k]", "float", 17, back=True),
}
BUFFERS = """
typedef TYPE T;
extern int printf(const char *, ...);
extern int memcmp(const void *, const void *, unsigned long);
static T inputs[6][4096], meant[4096], found[4096];
static unsigned state = 1;
static T drawn(void) { state = state * 1664525u + 1013904223u; return (T)(int)(state >> 20) / 16 + 1; }
static void fill(void) {
  for (int k = 0; k < 6; k++) for (int n = 0; n < 4096; n++) inputs[k][n] = drawn();
}
static void reset(void) { for (int n = 0; n < 4096; n++) meant[n] = found[n] = inputs[5][n]; }
"""


def harness(subject: Kernel | Transposed, names: list[str]) -> Iterator[str]:
    """A program that runs each of the functions and the one they are mutants of, with inputs drawn, and names those
    that do something else.
    """
    middle = "1000"  # cells before the first
    if isinstance(subject, Kernel):
        operation = subject.operation
        operands = [f"inputs[{k}] + {middle}" for k in range(len(operation.rows) + len(operation.columns))] + [
            "3"
        ] * len(operation.scalars)
        lengths = f"for (long b = {subject.columns}; b < {subject.columns} + 9; b += 8)"
        loops = f"for (long a = 0; a < 36; a += a < 4 ? 1 : 31) {lengths}"
        calls = {where: f"(a, {', '.join(operands)}, {where} + {middle}, b)" for where in ("meant", "found")}
    else:
        loops = f"for (long a = 0; a <= {subject.width}; a++) for (long b = 0; b < 35; b++)"
        scalars, inputs = ", 3" * len(subject.scalars), "inputs[0]"
        ends = {where: (where, inputs) if subject.back else (inputs, where) for where in ("meant", "found")}
        calls = {
            where: f"(a, b, {row} + {middle}, 40, {panel} + {middle}{scalars})" for where, (row, panel) in ends.items()
        }
    yield "int main(void) { fill();"
    for name in names:
        yield f"{loops} {{ reset(); {subject.name}{calls['meant']}; {name}{calls['found']};"
        yield f'if (memcmp(meant, found, sizeof meant)) {{ printf("{name}\\n"); goto after_{name}; }} }}'
        yield f"after_{name}: ;"
    yield "return 0; }"


def different(subject: Kernel | Transposed, texts: dict[str, str], folder: Path) -> list[str]:
    """The names of those mutants that compute something else in some configuration."""
    renamed = [re.sub(rf"\b{subject.name}(?=\b|_)", name, text) for name, text in texts.items()]
    ctype = (subject.operation.type if isinstance(subject, Kernel) else subject.type).spelling
    program = "\n".join((BUFFERS.replace("TYPE", ctype), subject.text, *renamed, *harness(subject, list(texts))))
    (folder / "mutants.c").write_text(program)
    found: list[str] = []
    for name, flags in CONFIGURATIONS.items():
        if isinstance(subject, PairKernel) and AVX512[-1] in flags:
            continue  # macros don't make instructions
        options = ["-O0", "-w", "-ffp-contract=off", "-Wno-psabi", *flags]
        done = subprocess.run(
            ["gcc", *options, "mutants.c", "-o", "mutants"], cwd=folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (name, done.stderr[:2000])
        run = subprocess.run(["./mutants"], cwd=folder, capture_output=True, text=True, check=True)
        found += run.stdout.split()
    return found


def passed(subject: Any, workshop: Workshop) -> tuple[int, dict[str, tuple[str, str]]]:
    """How many mutants were tried, and those that the check lets pass: by a name, what was done and the text."""
    check = check_kernel if isinstance(subject, Kernel) else check_transposed
    made = list(mutants(subject.text))
    if SAMPLE is not None and len(made) > SAMPLE:
        made = random.Random(0).sample(made, SAMPLE)
    found = {}
    for number, (what, text) in enumerate(made):
        if not checked(check, workshop, subject, text):
            found[f"mutant{number}"] = (what, text)
    return len(made), found


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
@pytest.mark.parametrize("name", SUBJECTS)
def test_mutants_that_pass_compute_the_same(name: str, tmp_path: Path) -> None:
    subject = SUBJECTS[name]
    tried, found = passed(subject, Workshop())
    assert len(found) < tried / 4
    wrong = different(subject, {key: text for key, (_, text) in found.items()}, tmp_path)
    assert not wrong, [found[key][0] for key in wrong]
