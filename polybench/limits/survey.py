"""All that `--limits` needs to know before and after the kernels run:
counts, the machine's figures, whether there is OpenBLAS."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from scopt.diagnostics import InputError
from scopt.isolation import Failed, run_isolated
from scopt.polybench.bench_results import Failure
from scopt.polybench.builds import Built
from scopt.polybench.catalog import Kernel
from scopt.polybench.limits.ceilings import Element, best_of, element_of, measure_machine
from scopt.polybench.limits.kernel_work import Work, work_of_kernel
from scopt.polybench.limits.points import NotCounted
from scopt.polybench.limits.reference import NAME, ROUTINES, build_reference, missing_openblas
from scopt.polybench.limits.roofline import Limits
from scopt.polybench.measure import Plan
from scopt.polybench.toolchains import Compiler

# Seconds for one kernel's counts, which take half a second, nearly all of it for the front end.
COUNT_LIMIT = 60.0


def survey(kernels: Sequence[Kernel], compiler: Compiler, plan: Plan, folder: Path) -> Limits:
    """Count what the kernels do, and measure what the machine can do with the data types that they have.
    folder: for programs."""
    works = {kernel.name: _counted(kernel, compiler, plan) for kernel in kernels}
    machine = measure_machine(_elements(works), compiler, plan, folder)
    openblas = missing_openblas(compiler) if any(kernel.name in ROUTINES for kernel in kernels) else ""
    return Limits(machine, works, openblas)


def measured_again(limits: Limits, compiler: Compiler, plan: Plan, folder: Path) -> Limits:
    """The machine measured once more after the kernels; the higher figures count."""
    return replace(
        limits, machine=best_of(limits.machine, measure_machine(_elements(limits.works), compiler, plan, folder))
    )


def references(
    kernel: Kernel, limits: Limits, compiler: Compiler, plan: Plan, folder: Path
) -> Mapping[str, Built | Failure]:
    """OpenBLAS's program for a kernel, by its name in the results; none if there is no such routine or no OpenBLAS."""
    built = None if limits.openblas else build_reference(kernel, compiler, plan.defines, folder / NAME, plan.timeout)
    return {} if built is None else {NAME: built}


def _counted(kernel: Kernel, compiler: Compiler, plan: Plan) -> Work | str:
    """What the kernel does, or why that can't be told; in a process of its own,
    since isl may take its time with odd sets."""
    outcome = run_isolated(partial(_work_or_reason, kernel, plan.defines, compiler.path), COUNT_LIMIT)
    return outcome.message if isinstance(outcome, Failed) else outcome.value


def _work_or_reason(kernel: Kernel, defines: Sequence[str], cc: str) -> Work | str:
    try:
        return work_of_kernel(kernel, defines, cc)
    except (NotCounted, InputError) as error:
        return str(error)


def _elements(works: Mapping[str, Work | str]) -> frozenset[Element]:
    found = (element_of(work) for work in works.values() if isinstance(work, Work))
    return frozenset(element for element in found if element is not None)
