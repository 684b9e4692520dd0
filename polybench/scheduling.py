"""The command `scopt-schedule-bench`: how long schedulers take, for the kernels of a suite or for SCoPs of growing
size; or (--spaces) polyhedra."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, get_args

import scopt
from scopt.diagnostics import InputError, Refusal
from scopt.frontend.extract import extract
from scopt.frontend.region.parse import parse
from scopt.ir.scop import Dependences, Scop
from scopt.isolation import Failed, run_isolated
from scopt.options import SCHEDULERS, Fusion, Options
from scopt.pipeline import optimize
from scopt.poly.dependences import dependences
from scopt.polybench.argument_types import defines, name_list, names_among, positive, seconds
from scopt.polybench.growth import SIZES, source_of_size
from scopt.polybench.plot import drawing, require_plotting
from scopt.polybench.space_growth import SpacePlan, run_spaces
from scopt.polybench.suite_command import command_parser, exit_status, kernels_of, save
from scopt.scheduler import get_scheduler

DESCRIPTION = """\
Measure how long scopt's schedulers take: for the kernels of a suite, \
or (--growth) for generated SCoPs of growing size, five statements a nest,
nests of depth 2 and 3 that depend on their neighbours.

Two times each: 'schedule' is the scheduler alone, from the dependences to a schedule tree; \
'whole' is all that scopt does with the file, from the
preprocessor to the checked text, without starting the interpreter. The fastest of several runs counts.

With --spaces, how long the polyhedra of schedule spaces take instead: random constructions, \
each dimension's generators timed on its own."""

EPILOG = """\
exit status:
  0  everything was measured
  1  a scheduler failed or took too long somewhere
  2  bad arguments; nothing was run

examples:
  scopt-schedule-bench gemm lu --schedulers isl,pluto
  scopt-schedule-bench --suite ~/polybench-c-4.2.1 --json times.json
  scopt-schedule-bench --growth 5,20,100 --plot growth.svg
  scopt-schedule-bench --spaces --json spaces.json"""


@dataclass(frozen=True, slots=True)
class Source:
    """A C file to measure. name: of the table's row. flags: for the preprocessor."""

    name: str
    file: str
    text: bytes
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Times:
    """One file by one scheduler. schedule, whole: seconds of each run, see `DESCRIPTION`. failure: why there are none,
    in one line."""

    schedule: tuple[float, ...] = ()
    whole: tuple[float, ...] = ()
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Measured:
    """One file. statements, dependences: how many all its regions have together.
    analysis: seconds for extracting and dependences, once."""

    statements: int
    dependences: int
    analysis: float
    times: Mapping[str, Times]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured. fusion: the policy for all schedulers. runs: of each, the fastest counts. limit: seconds for a
    scheduler's runs on a file."""

    schedulers: tuple[str, ...]
    fusion: Fusion = "auto"
    runs: int = 3
    limit: float = 120.0
    whole: bool = True


# --- measuring --------------------------------------------------------------------------------------------------------


def measure(source: Source, plan: Plan) -> Measured:
    """All schedulers on one file. What can't be analysed is a failure of all of them. Raises InputError if it isn't C
    or has no marked region."""
    options = Options(cpp_flags=source.flags, fusion=plan.fusion, budget=plan.limit)
    started = time.perf_counter()
    try:
        analysed = _analysed(source, options)
    except Refusal as refusal:
        failure = f"{refusal.remark.location}: {refusal.remark.message}"
        return Measured(0, 0, time.perf_counter() - started, {name: Times(failure=failure) for name in plan.schedulers})
    analysis = time.perf_counter() - started
    times = {name: _times(source, analysed, name, plan, options) for name in plan.schedulers}
    statements, number = sum(len(scop.statements) for scop, _ in analysed), sum(len(deps.all) for _, deps in analysed)
    return Measured(statements, number, analysis, times)


def _analysed(source: Source, options: Options) -> list[tuple[Scop, Dependences]]:
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


# --- figures ----------------------------------------------------------------------------------------------------------


def fastest(results: Mapping[str, Measured], scheduler: str, kind: str) -> dict[str, float]:
    """The least time of each file that has one. kind: 'schedule' or 'whole'."""
    runs = {name: getattr(measured.times[scheduler], kind) for name, measured in results.items()}
    return {name: min(times) for name, times in runs.items() if times}


def columns(plan: Plan) -> tuple[tuple[str, str], ...]:
    """(scheduler, kind) of the table's columns."""
    kinds = ("schedule", "whole") if plan.whole else ("schedule",)
    return tuple((name, kind) for name in plan.schedulers for kind in kinds)


def lines(results: Mapping[str, Measured], plan: Plan) -> list[list[str]]:
    """A line of the table for each file."""
    times = {column: fastest(results, *column) for column in columns(plan)}
    found = []
    for name, measured in results.items():
        cells = [f"{times[column][name]:.3f}" if name in times[column] else "failed" for column in times]
        found.append([name, str(measured.statements), str(measured.dependences), *cells])
    return found


def summaries(results: Mapping[str, Measured], plan: Plan) -> list[list[str]]:
    """The lines below: median and maximum of each column, empty where nothing was measured."""
    times = [list(fastest(results, *column).values()) for column in columns(plan)]
    kinds: tuple[tuple[str, Callable[[Iterable[float]], float]], ...] = (("median", statistics.median), ("max", max))
    return [
        [title, "", "", *(f"{summary(column):.3f}" if column else "" for column in times)] for title, summary in kinds
    ]


def as_json(results: Mapping[str, Measured], settings: Mapping[str, object]) -> str:
    """The results as a JSON object: settings, and the files with all their runs."""
    files = {name: asdict(measured) for name, measured in results.items()}
    return json.dumps({"format": 1, "settings": dict(settings), "files": files}, indent=1)


def print_table(results: Mapping[str, Measured], plan: Plan, *, summarized: bool) -> None:
    """With rich, to stdout; the failures below it. summarized: with median and maximum."""
    table_module: Any = importlib.import_module("rich.table")
    console_module: Any = importlib.import_module("rich.console")
    table = table_module.Table(caption=f"Seconds, the fastest of {plan.runs} runs.")
    table.add_column("", overflow="fold")
    for title in ("statements", "dependences", *("\n".join(column) for column in columns(plan))):
        table.add_column(title, justify="right", overflow="fold")
    for row in lines(results, plan):
        table.add_row(*row)
    table.add_section()
    for row in summaries(results, plan) if summarized else ():
        table.add_row(*row)
    # A table that goes into a file isn't fitted into the 80 columns of a terminal that isn't there.
    width = None if sys.stdout.isatty() else 200
    console_module.Console(width=width, markup=False, highlight=False).print(table)
    for name, measured in results.items():
        for scheduler, times in measured.times.items():
            if times.failure:
                print(f"{name}, {scheduler}: {times.failure}")


def draw_growth(results: Mapping[str, Measured], plan: Plan, path: Path) -> None:
    """Draw seconds over statements into `path`, a line for each scheduler, on logarithmic axes."""
    with drawing(path, 6.0, 4.5) as axes:
        for scheduler in plan.schedulers:
            times = fastest(results, scheduler, "schedule")
            axes.plot([results[name].statements for name in times], list(times.values()), marker="o", label=scheduler)
        sizes = [measured.statements for measured in results.values()]
        axes.plot(
            sizes,
            [measured.analysis for measured in results.values()],
            color="gray",
            linestyle=":",
            label="extraction and dependences",
        )
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xticks(sizes, [str(size) for size in sizes])
        axes.minorticks_off()
        axes.yaxis.set_major_formatter("{x:g}")
        axes.set_xlabel("statements")
        axes.set_ylabel("seconds")
        axes.grid(alpha=0.3)
        axes.legend(frameon=False)


# --- the command ------------------------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with `arguments` (the process's own by default); its exit status."""
    options = make_parser().parse_args(arguments)
    return exit_status("scopt-schedule-bench", lambda: _command(options))


def make_parser() -> argparse.ArgumentParser:
    """The parser; what it accepts is checked as far as the words alone allow."""
    parser = command_parser("scopt-schedule-bench", DESCRIPTION, EPILOG)
    add = parser.add_argument
    add(
        "--suite",
        type=Path,
        metavar="DIR",
        help="root of a PolyBench/C tree (default: the kernels that come with scopt)",
    )
    add(
        "--growth",
        type=_sizes,
        nargs="?",
        const=SIZES,
        metavar="N,...",
        help=f"SCoPs of N statements ({','.join(map(str, SIZES))}), not kernels",
    )
    add(
        "--schedulers",
        type=_schedulers,
        default=("isl", "pluto", "feautrier"),
        metavar="NAME,...",
        help="(isl,pluto,feautrier)",
    )
    add("--fusion", choices=get_args(Fusion), default="auto", help="the fusion policy (auto)")
    add("--runs", type=positive, default=3, metavar="N", help="runs of each, of which the fastest counts (3)")
    add(
        "--timeout",
        type=seconds,
        metavar="S",
        help="seconds for the runs of one scheduler on one file (120), or with --spaces for a file (600)",
    )
    add(
        "--defs",
        type=defines,
        default=("-DLARGE_DATASET",),
        metavar="'-DN=...'",
        help="macros for the kernels, as --defs='…' (-DLARGE_DATASET)",
    )
    add("--schedule-only", action="store_true", help="leave out the time of the whole of scopt")
    add(
        "--spaces",
        type=positive,
        nargs="?",
        const=20,
        metavar="EPISODES",
        help="schedule spaces, so many random constructions of each file (20)",
    )
    add(
        "--select-probability",
        type=_probability,
        default=0.4,
        metavar="P",
        help="with --spaces: how likely a dimension carries a dependence (0.4)",
    )
    add("--json", type=Path, metavar="F", help="write all results to F, complete after each file")
    add(
        "--plot", type=Path, metavar="F.svg", help="draw the growth (with --growth; .svg, .pdf, .png; needs matplotlib)"
    )
    return parser


def _command(options: argparse.Namespace) -> int:
    """Whatever can be wrong with the arguments is found before anything is measured."""
    if importlib.util.find_spec("rich") is None:
        raise InputError("the table needs rich; install it with: pip install 'scopt[bench]'")
    if options.growth and (options.kernels or options.suite):
        raise InputError("--growth measures generated SCoPs: it takes no kernels and no --suite")
    if options.plot:
        if not options.growth:
            raise InputError("--plot draws what --growth measures")
        require_plotting(options.plot)
        if options.spaces:
            raise InputError("--plot draws schedulers' times, not --spaces")
    sources = _generated(options.growth) if options.growth else _kernels(options)
    if options.spaces:
        files = {source.name: partial(_analysed, source, Options(cpp_flags=source.flags)) for source in sources}
        return run_spaces(
            files, SpacePlan(options.spaces, options.select_probability, options.timeout or 600.0), options.json
        )
    plan = Plan(options.schedulers, options.fusion, options.runs, options.timeout or 120.0, not options.schedule_only)
    settings = {"scopt": scopt.__version__, **asdict(plan)}
    results: dict[str, Measured] = {}
    save(options.json, as_json(results, settings))
    for number, source in enumerate(sources, 1):
        results[source.name] = measure(source, plan)
        print(f"[{number:2}/{len(sources)}] {source.name}", file=sys.stderr, flush=True)
        save(options.json, as_json(results, settings))
    print_table(results, plan, summarized=not options.growth)
    if options.plot:
        draw_growth(results, plan, options.plot)
    return int(any(times.failure for measured in results.values() for times in measured.times.values()))


def _generated(sizes: Sequence[int]) -> list[Source]:
    return [Source(f"{size} statements", f"growth-{size}.c", source_of_size(size).encode()) for size in sizes]


def _kernels(options: argparse.Namespace) -> list[Source]:
    return [
        Source(
            kernel.name,
            str(kernel.source),
            kernel.source.read_bytes(),
            (*(f"-I{folder}" for folder in kernel.includes), *options.defs),
        )
        for kernel in kernels_of(options.suite, options.kernels)
    ]


def _schedulers(text: str) -> tuple[str, ...]:
    return names_among(text, "scheduler", SCHEDULERS)


def _probability(text: str) -> float:
    value = seconds(text)
    if value > 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a probability above 0")
    return value


def _sizes(text: str) -> tuple[int, ...]:
    sizes = tuple(sorted({positive(word) for word in name_list(text)}))
    try:
        for size in sizes:
            source_of_size(size)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return sizes


if __name__ == "__main__":
    sys.exit(main())
