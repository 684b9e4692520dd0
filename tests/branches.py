"""Both branches of a guard, run and counted, for tests of what is assumed."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

from scopt.options import Options
from scopt.pipeline import optimize
from scopt.tell.results import Result

COMPILERS = [compiler for compiler in ("gcc", "clang", "clang-19") if shutil.which(compiler)]
HEAD = """#include <stdio.h>
static double buffer[4000];
static double *at(int k) { return buffer + k; }
static void reset(void) { for (int k = 0; k < 4000; k++) buffer[k] = k % 17 - 0.25 * (k % 5); }
static void show(void) {
  unsigned long long hash = 1;
  for (unsigned long k = 0; k < sizeof buffer; k++) hash = (hash ^ ((unsigned char *)buffer)[k]) * 1099511628211ULL;
  printf("%llx\\n", hash);
}
"""
# Counts which branch runs; `else` of a guard is on a line of its own.
TAKEN, NOT_TAKEN = "NEW++;\n", "OLD++;\n"


def found(source: str, **options: object) -> Result:
    return optimize(source.encode(), Options(autodetect=True, eager=True, parallel=False, **options), file="in.c")  # type: ignore[arg-type]


def ids(result: Result) -> list[str]:
    return [remark.id for remark in result.remarks]


def counted(text: str) -> str:
    """The transformed text with counters in the two branches of its guard, if it has one."""
    if "scopt_done" in text:
        text = text.replace("scopt_done = 1;", f"scopt_done = 1; {TAKEN}").replace(
            "if (!scopt_done) {\n", f"if (!scopt_done) {{\n{NOT_TAKEN}"
        )
        return "static int NEW, OLD;\n" + text
    before, other, after = text.rpartition("} else {\n")
    head = re.search(r"^(?:  ){1,2}if \([^{}]*?\{\n", before, re.MULTILINE)
    if head is None:
        return "static int NEW, OLD;\n" + text
    return "static int NEW, OLD;\n" + before[: head.end()] + TAKEN + before[head.end() :] + other + NOT_TAKEN + after


def outcome(compiler: str, folder: Path, name: str, text: str) -> str:
    source, program = folder / f"{name}.c", folder / name
    source.write_text(text)
    subprocess.run([compiler, "-O2", "-w", "-ffp-contract=off", "-o", str(program), str(source)], check=True)
    return subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout


def compare(compiler: str, folder: Path, function: str, calls: list[str], counts: tuple[int, int]) -> Result:
    """The function computes the same before and after, in all calls;
    counts: how often the new and the old loops run."""
    body = "".join(f"  reset(); {call}; show();\n" for call in calls)
    result = found(function)
    new = counted(result.text.decode())
    main = f"int main(void) {{\n{body}%s  return 0;\n}}\n"
    expected = outcome(compiler, folder, "before", HEAD + function + main % "")
    got = outcome(compiler, folder, "after", HEAD + new + main % '  printf("%d %d\\n", NEW, OLD);\n')
    assert got == f"{expected}{counts[0]} {counts[1]}\n"
    return result
