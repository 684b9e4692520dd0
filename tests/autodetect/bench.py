"""Times what autodetection makes of the functions in `kernels.c` against the originals: ``python
tests/autodetect/bench.py``.

Each function runs at a small and a large size, with one and two threads, under each compiler; a ratio is the original's
time by the result's, of the best of several alternating runs. Exits with 1 if a ratio is below 0.95. What stayed as it
was has the same code, and isn't timed.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from scopt.options import Options
from tests.sources import optimize

SOURCE = Path(__file__).with_name("kernels.c")
LEAST = 0.95
# How far a ratio may be below what is asked for, by the noise of the clock, before it is measured again.
ROUNDS = 3

_DRIVER = """\
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
KERNELS
static double a[1100000], b[1100000], c[1100000]; static int ints[1100000]; static char text[1100000];
static void refill(void)
{
  for (int i = 0; i < 1100000; i++) {
    a[i] = b[i] = c[i] = 1.0 / (i % 97 + 1);
    ints[i] = i * 7 % 997;
    text[i] = 'A' + i * 5 % 57;
  }
}
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + 1e-9 * t.tv_nsec; }
static double timed(kernel *f, int n, long calls)
{
  double s = now();
  for (long k = 0; k < calls; k++) f(n, a, b, c, ints, text);
  return now() - s;
}
int main(int argc, char **argv)
{
  for (int k = 0; k < COUNT; k++) {
    if (argc > 1 && strcmp(argv[1], names[k])) continue;
    refill();
    long calls = 1;
    while (timed(olds[k], sizes[k], calls) < 0.004) calls *= 2;
    double old = 1e9, new = 1e9, t;
    for (int r = 0; r < 9; r++) {
      refill(); if ((t = timed(olds[k], sizes[k], calls)) < old) old = t;
      refill(); if ((t = timed(news[k], sizes[k], calls)) < new) new = t;
    }
    printf("%s %d %.17g %.17g\\n", names[k], sizes[k], old / calls, new / calls);
    fflush(stdout);
  }
  return 0;
}
"""


def cases(source: str) -> list[tuple[str, int]]:
    """Functions with the sizes that their comments ask for."""
    found = re.findall(r"^// bench: ([\d ]+)\nvoid (\w+)\(", source, re.MULTILINE)
    return [(name, int(size)) for sizes, name in found for size in sizes.split()]


def changed(old: str, new: str, names: list[str]) -> list[str]:
    """The functions whose text is another one now."""

    def bodies(text: str) -> dict[str, str]:
        parts = re.split(r"^// bench: [\d ]+\n", text, flags=re.MULTILINE)[1:]
        return {name: part for part in parts for name in names if f"void {name}(" in part}

    before, after = bodies(old), bodies(new)
    return [name for name in names if before[name] != after[name]]


def driver(chosen: list[tuple[str, int]]) -> str:
    declarations = ["typedef void kernel(int, double *, double *, double *, int *, char *);"]
    for name in dict.fromkeys(name for name, _ in chosen):
        declarations.append(f"kernel old_{name}, new_{name};")

    def row(what: str, values: list[str]) -> str:
        return f"static {what} = {{ {', '.join(values)} }};"

    declarations += [
        row("kernel *olds[]", [f"old_{name}" for name, _ in chosen]),
        row("kernel *news[]", [f"new_{name}" for name, _ in chosen]),
        row("const char *names[]", [f'"{name}"' for name, _ in chosen]),
        row("int sizes[]", [str(size) for _, size in chosen]),
        f"enum {{ COUNT = {len(chosen)} }};",
    ]
    return _DRIVER.replace("KERNELS", "\n".join(declarations))


def build(folder: Path, compiler: str, flags: list[str], chosen: list[tuple[str, int]]) -> Path:
    """Originals and results side by side in one program, under names with a prefix."""
    objects = []
    for kind in ("old", "new"):
        renames = [f"-D{name}={kind}_{name}" for name, _ in cases(SOURCE.read_text())]
        objects.append(folder / f"{kind}-{compiler}.o")
        subprocess.run(
            [compiler, *flags, "-fopenmp", "-w", *renames, "-c", folder / f"{kind}.c", "-o", objects[-1]], check=True
        )
    (folder / "driver.c").write_text(driver(chosen))
    program = folder / f"bench-{compiler}"
    subprocess.run([compiler, "-O1", "-w", "-fopenmp", folder / "driver.c", *objects, "-o", program, "-lm"], check=True)
    return program


def measure(program: Path, threads: int, only: str = "") -> dict[tuple[str, int], float]:
    """Ratios by function and size."""
    done = subprocess.run(
        [program, *([only] if only else [])],
        env={"OMP_NUM_THREADS": str(threads), "PATH": "/usr/bin"},
        check=True,
        capture_output=True,
        text=True,
    )
    rows = (line.split() for line in done.stdout.splitlines())
    return {(name, int(size)): float(old) / float(new) for name, size, old, new in rows}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cc", default="gcc,clang-19", help="compilers, with commas between (default: %(default)s)")
    parser.add_argument("--flags", default="-O3 -march=native", help="for them (default: %(default)s)")
    parser.add_argument(
        "--threads", default="1,2", help="numbers of threads, with commas between (default: %(default)s)"
    )
    parser.add_argument("--keep", type=Path, help="folder that the sources are left in")
    arguments = parser.parse_args()
    source = SOURCE.read_text()
    result = optimize(source, Options(autodetect=True), file=str(SOURCE)).text.decode()
    every = cases(source)
    touched = changed(source, result, list(dict.fromkeys(name for name, _ in every)))
    print(f"{len(dict.fromkeys(name for name, _ in every))} functions, {len(touched)} transformed", file=sys.stderr)
    chosen = [case for case in every if case[0] in touched]
    compilers, threads = arguments.cc.split(","), [int(one) for one in arguments.threads.split(",")]
    slow = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary)
        folder.mkdir(exist_ok=True)
        (folder / "old.c").write_text(source)
        (folder / "new.c").write_text(result)
        columns = [(compiler, count) for compiler in compilers for count in threads]
        measured = {}
        for compiler in compilers:
            program = build(folder, compiler, arguments.flags.split(), chosen)
            for count in threads:
                ratios = measure(program, count)
                for _ in range(ROUNDS):
                    for name in {name for (name, _), ratio in ratios.items() if ratio < LEAST}:
                        again = measure(program, count, name)
                        ratios |= {key: max(ratio, ratios[key]) for key, ratio in again.items()}
                measured[compiler, count] = ratios
        print(f"{'function':24}{'n':>8}" + "".join(f"{f'{compiler} {count}':>10}" for compiler, count in columns))
        for case in chosen:
            row = [measured[column][case] for column in columns]
            slow += sum(ratio < LEAST for ratio in row)
            print(f"{case[0]:24}{case[1]:8}" + "".join(f"{ratio:9.2f}{'!' if ratio < LEAST else ' '}" for ratio in row))
    print(f"{slow} below {LEAST}", file=sys.stderr)
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
