"""What the machine can do at most, measured by two small programs of our
own with the benchmark's compiler, flags and threads."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field
from msgspec.structs import replace

from scopt.machine.costs import ELEMENT
from scopt.machine.machine_native import NativeMachine, native_machine
from scopt.polybench.builds import TIMED_FLAGS
from scopt.polybench.limits.kernel_work import Work
from scopt.polybench.measure import Plan
from scopt.polybench.processes import run
from scopt.polybench.toolchains import Compiler

MEBIBYTE = 1 << 20
# STREAM's rule: an array is at least four times the last cache. Between these, in bytes.
SMALLEST_ARRAY, LARGEST_ARRAY = 64 * MEBIBYTE, 512 * MEBIBYTE


class Element(Struct, frozen=True):
    """A type of data. spelling: in C, a type that every compiler knows."""

    spelling: str
    integer: bool


class Peak(Struct, frozen=True):
    """Operations a second of all threads together. flops: multiplications and additions, each is one. divisions: 0
    where none were measured."""

    flops: float
    divisions: float


class Machine(Struct, frozen=True):
    """What was measured. peaks: by `Element.spelling`. bandwidth: bytes a second of the triad, 0 if it failed.
    last_cache: bytes of the largest cache, 0 if unknown. failures: what couldn't be measured, a line each."""

    peaks: Mapping[str, Peak] = field(default_factory=dict)
    bandwidth: float = 0.0
    last_cache: int = 0
    failures: tuple[str, ...] = ()


def element_of(work: Work) -> Element | None:
    """The type to measure for a kernel, None if there is none like it."""
    if work.floating:
        spelling = {32: "float", 64: "double"}.get(work.bits)
    else:
        spelling = {8: "signed char", 16: "short", 32: "int", 64: "long long"}.get(work.bits)
    return Element(spelling, not work.floating) if spelling else None


def measure_machine(elements: frozenset[Element], compiler: Compiler, plan: Plan, folder: Path) -> Machine:
    """Build and run both programs. elements: the types whose peaks are wanted.
    folder: for the programs, made if it isn't there."""
    folder.mkdir(parents=True, exist_ok=True)
    peaks: dict[str, Peak] = {}
    failures = []
    for number, element in enumerate(sorted(elements, key=lambda element: element.spelling)):
        flags = (f"-DELEMENT={element.spelling}", *(("-DELEMENT_IS_INTEGER",) if element.integer else ()))
        found = _figures("peak", flags, 2, compiler, plan, folder / f"peak{number}.exe")
        if isinstance(found, str):
            failures.append(f"peak of {element.spelling}: {found}")
        else:
            peaks[element.spelling] = Peak(found[0], found[1])
    cache = last_cache(native_machine())
    found = _figures("triad", (f"-DLENGTH={_array_bytes(cache) // ELEMENT}",), 1, compiler, plan, folder / "triad.exe")
    if isinstance(found, str):
        failures.append(f"bandwidth: {found}")
    return Machine(peaks, 0.0 if isinstance(found, str) else found[0], cache, tuple(failures))


def best_of(one: Machine, other: Machine) -> Machine:
    """The higher figures of two measurements: what else ran on the machine can only lower them."""
    peaks = dict(one.peaks)
    for spelling, peak in other.peaks.items():
        known = peaks.get(spelling, peak)
        peaks[spelling] = Peak(max(known.flops, peak.flops), max(known.divisions, peak.divisions))
    failures = tuple(line for line in one.failures if line in other.failures)
    return replace(one, peaks=peaks, bandwidth=max(one.bandwidth, other.bandwidth), failures=failures)


def last_cache(native: NativeMachine) -> int:
    """Bytes of a machine's last cache, 0 if the system doesn't tell of its caches."""
    return native.machine.caches[-1].size if "caches" in native.found else 0


def _array_bytes(cache: int) -> int:
    """The size of each of the triad's three arrays; together no more than a quarter of the memory."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min(max(4 * cache, SMALLEST_ARRAY), LARGEST_ARRAY, max(memory // 12, 1 << 13))


def _figures(
    name: str, flags: tuple[str, ...], number: int, compiler: Compiler, plan: Plan, program: Path
) -> tuple[float, ...] | str:
    """The figures that one of the programs prints, or why there are none. number: how many it prints."""
    source = Path(__file__).with_name(f"{name}.c")
    built = run([compiler.path, "-w", *TIMED_FLAGS, "-fopenmp", *flags, source, "-o", program], plan.timeout)
    if not built.ok:
        return f"{name}.c: {built.reason()}"
    done = run([program], plan.timeout, environment=plan.environment)
    if not done.ok:
        return f"{name}.c: {done.reason()}"
    try:
        figures = tuple(float(word) for word in done.output.split())
    except ValueError:
        figures = ()
    return figures if len(figures) == number else f"{name}.c: it printed no figures"
