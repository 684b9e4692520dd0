"""How long schedulers take on a file: alone, and in all of scopt."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from scopt.diagnostics import InputError, Refusal
from scopt.frontend.extract import extract
from scopt.frontend.region.parse import parse
from scopt.ir.scop import Dependences, Scop
from scopt.isolation import Failed, run_isolated
from scopt.options import Fusion, Options
from scopt.pipeline import optimize
from scopt.poly.dependences import dependences
from scopt.scheduler import get_scheduler


class Source(Struct, frozen=True):
    """A C file to measure. name: of the table's row. flags: for the preprocessor."""

    name: str
    file: str
    text: bytes
    flags: tuple[str, ...] = ()


class Times(Struct, frozen=True):
    """One file by one scheduler. schedule, whole: seconds of each run, see `scopt-schedule-bench --help`.
    failure: why there are none, in one line."""

    schedule: tuple[float, ...] = ()
    whole: tuple[float, ...] = ()
    failure: str = ""


class Measured(Struct, frozen=True):
    """One file. statements, dependences: how many all its regions have together.
    analysis: seconds for extracting and dependences, once."""

    statements: int
    dependences: int
    analysis: float
    times: Mapping[str, Times]


class Plan(Struct, frozen=True):
    """What is measured. fusion: the policy for all schedulers. runs: of each, the fastest counts. limit: seconds for a
    scheduler's runs on a file."""

    schedulers: tuple[str, ...]
    fusion: Fusion = "auto"
    runs: int = 3
    limit: float = 120.0
    whole: bool = True


def measure(source: Source, plan: Plan) -> Measured:
    """All schedulers on one file. What can't be analysed is a failure of all of them. Raises InputError if it isn't C
    or has no marked region."""
    options = Options(cpp_flags=source.flags, fusion=plan.fusion, budget=plan.limit)
    started = time.perf_counter()
    try:
        analysed = analysed_regions(source, options)
    except Refusal as refusal:
        failure = f"{refusal.remark.location}: {refusal.remark.message}"
        return Measured(0, 0, time.perf_counter() - started, {name: Times(failure=failure) for name in plan.schedulers})
    analysis = time.perf_counter() - started
    times = {name: _times(source, analysed, name, plan, options) for name in plan.schedulers}
    statements, number = sum(len(scop.statements) for scop, _ in analysed), sum(len(deps.all) for _, deps in analysed)
    return Measured(statements, number, analysis, times)


def analysed_regions(source: Source, options: Options) -> list[tuple[Scop, Dependences]]:
    """The marked regions with their dependences. Raises Refusal and InputError."""
    return [(scop, dependences(scop)) for scop in _scops(source, options)]


def _scops(source: Source, options: Options) -> list[Scop]:
    """The marked regions, with integer macros expanded where they stand in the way. Raises Refusal and InputError."""
    try:
        return _extracted(source, options, symbolic=True)
    except Refusal:
        return _extracted(source, options, symbolic=False)


def _extracted(source: Source, options: Options, *, symbolic: bool) -> list[Scop]:
    unit = parse(source.text, source.file, options, symbolic=symbolic)
    if not unit.regions:
        raise InputError(f"{source.file}: there is no region between '#pragma scop' and '#pragma endscop'")
    return [extract(unit, region, f"scop{number}") for number, region in enumerate(unit.regions)]


def _times(
    source: Source, analysed: Sequence[tuple[Scop, Dependences]], name: str, plan: Plan, options: Options
) -> Times:
    """In processes of their own: a scheduler that takes forever must not keep the others waiting."""
    scheduler, options = get_scheduler(name), replace(options, scheduler=name)

    def schedule() -> None:
        for scop, deps in analysed:
            scheduler.schedule(scop, deps, options)

    def whole() -> None:
        result = optimize(source.text, options, file=source.file)
        if any(not region.transformed for region in result.regions):
            raise RuntimeError("; ".join(remark.message for remark in result.remarks if remark.kind == "missed"))
        for remark in result.remarks:
            if remark.id == "schedule.simplified":
                raise RuntimeError(remark.message)

    alone = run_isolated(lambda: _repeated(schedule, plan.runs), plan.limit)
    if isinstance(alone, Failed):
        return Times(failure=_one_line(alone.message))
    if not plan.whole:
        return Times(alone.value)
    # Not isolated: scopt itself gives each region a process and a limit.
    try:
        return Times(alone.value, _repeated(whole, plan.runs))
    except RuntimeError as error:
        return Times(alone.value, failure=f"scopt: {_one_line(str(error))}")


def _repeated(work: Callable[[], None], runs: int) -> tuple[float, ...]:
    found = []
    for _ in range(runs):
        started = time.perf_counter()
        work()
        found.append(time.perf_counter() - started)
    return tuple(found)


def _one_line(text: str) -> str:
    return (text.splitlines() or ["unknown"])[0]
