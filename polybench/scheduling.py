"""The command `scopt-schedule-bench`: how long schedulers take, for the kernels of a suite or for SCoPs of growing
size; or (--spaces) polyhedra."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
from collections.abc import Sequence
from functools import partial

from msgspec import to_builtins

import scopt
from scopt.diagnostics import InputError
from scopt.options import Options
from scopt.polybench.growth import source_of_size
from scopt.polybench.plot import require_plotting
from scopt.polybench.scheduler_tables import as_json, draw_growth, print_table
from scopt.polybench.scheduler_times import Measured, Plan, Source, analysed_regions, measure
from scopt.polybench.scheduling_arguments import make_parser
from scopt.polybench.space_growth import SpacePlan, run_spaces
from scopt.polybench.suite_command import exit_status, kernels_of, save


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with `arguments` (the process's own by default); its exit status."""
    options = make_parser().parse_args(arguments)
    return exit_status("scopt-schedule-bench", lambda: _command(options))


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
        files = {source.name: partial(analysed_regions, source, Options(cpp_flags=source.flags)) for source in sources}
        return run_spaces(
            files, SpacePlan(options.spaces, options.select_probability, options.timeout or 600.0), options.json
        )
    plan = Plan(options.schedulers, options.fusion, options.runs, options.timeout or 120.0, not options.schedule_only)
    settings = {"scopt": scopt.__version__, **to_builtins(plan)}
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


if __name__ == "__main__":
    sys.exit(main())
