"""The command `scopt-bench`: build the kernels of a suite in several configurations,
check them, time them side by side."""

from __future__ import annotations

import argparse
import os
import platform
import signal
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType

from msgspec import to_builtins

import scopt
from scopt.polybench.argument_types import joined_values
from scopt.polybench.bench_arguments import make_parser
from scopt.polybench.bench_results import Cell, Failure, Results, as_json, table
from scopt.polybench.builds import Built
from scopt.polybench.catalog import Kernel
from scopt.polybench.leaves import Leaves, judged, leaf_configurations, leaves_table, predicted
from scopt.polybench.limits.roofline import Limits, limits_as_json, limits_table
from scopt.polybench.limits.survey import measured_again, references, survey
from scopt.polybench.measure import Plan, measure
from scopt.polybench.plot import draw, require_plotting
from scopt.polybench.progress import Progress, make_progress
from scopt.polybench.suite_command import exit_status, kernels_of, save
from scopt.polybench.toolchains import PEERS, Configuration, find_compiler, find_peer, own_configurations


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with `arguments` (the process's own by default); its exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = make_parser().parse_args(joined_values(given, ("--defs", "--scopt-flags")))
    if arguments is None:  # the process is ours: being terminated ends what it started, too
        signal.signal(signal.SIGTERM, _interrupt)
    return exit_status("scopt-bench", lambda: _command(options))


def _command(options: argparse.Namespace) -> int:
    """Whatever can be wrong with the arguments is found before anything is built."""
    kernels = kernels_of(options.suite, options.kernels)
    if options.list:
        print("\n".join(kernel.name for kernel in kernels))
        return 0
    if options.plot:
        require_plotting(options.plot)
    configurations = _configurations(options)
    results = Results(_settings(options, configurations), tuple(c.name for c in configurations), {})
    save(options.json, as_json(results))
    return _run(kernels, configurations, results, options)


def _run(
    kernels: Sequence[Kernel], configurations: Sequence[Configuration], results: Results, options: argparse.Namespace
) -> int:
    plan = Plan(
        options.defs or (f"-D{options.size}_DATASET",),
        (f"-D{options.check_size}_DATASET",),
        options.runs,
        options.threads,
        options.timeout,
    )
    default = next(one for one in configurations if one.transform and one.name not in PEERS)
    drawn = leaf_configurations(default, options.leaves, options.seed)
    leaves: dict[str, Leaves] = {}
    rows: dict[str, dict[str, Cell]] = {}
    results = Results(results.settings, results.configurations, rows)
    compiler = configurations[0].compiler
    limits: Limits | None = None
    interrupted = False
    with tempfile.TemporaryDirectory(prefix="scopt-bench-") as scratch:
        folder = (options.keep or Path(scratch)).resolve()
        try:
            if options.limits:
                print("counting operations, measuring the machine", file=sys.stderr, flush=True)
                limits = survey(kernels, compiler, plan, folder / ".limits")
            with make_progress(len(kernels), results.baseline) as progress:
                for kernel in kernels:
                    others = references(kernel, limits, compiler, plan, folder / kernel.name) if limits else {}
                    row = rows.setdefault(kernel.name, {})
                    _measure_row(kernel, (*configurations, *drawn), plan, folder, row, progress, others)
                    if drawn:
                        progress.activity(kernel.name, "asking the model")
                        _judge_leaves(kernel, (default, *drawn), plan, folder, row, leaves)
                    save(options.json, _as_json(results, limits, leaves))
            if limits:
                limits = measured_again(limits, compiler, plan, folder / ".limits")
        except KeyboardInterrupt:
            interrupted = True
    save(options.json, _as_json(results, limits, leaves))
    print(table(results))
    if limits:
        print(f"\n{limits_table(results, limits)}")
    if leaves:
        print(f"\n{leaves_table(results, leaves)}")
    if options.plot:
        draw(results, options.plot)
    if interrupted:
        print("scopt-bench: interrupted", file=sys.stderr)
        return 130
    ours = {configuration.name for configuration in (*configurations, *drawn) if configuration.name not in PEERS}
    return int(any(row[name].failure is not None for row in rows.values() for name in row if name in ours))


def _measure_row(
    kernel: Kernel,
    configurations: Sequence[Configuration],
    plan: Plan,
    folder: Path,
    row: dict[str, Cell],
    progress: Progress,
    others: Mapping[str, Built | Failure],
) -> None:
    for name, cell in measure(
        kernel, configurations, plan, folder / kernel.name, lambda text: progress.activity(kernel.name, text), others
    ):
        row[name] = cell
    progress.finished(kernel.name, row)


def _judge_leaves(
    kernel: Kernel,
    configurations: Sequence[Configuration],
    plan: Plan,
    folder: Path,
    row: Mapping[str, Cell],
    leaves: dict[str, Leaves],
) -> None:
    """Put what the leaves show into `leaves`. configurations: the default, and theirs."""
    timed = [one for one in configurations if one.name in row and row[one.name].minimum is not None]
    cycles = {one.name: predicted(kernel, one, plan, folder / kernel.name) for one in timed}
    found = judged(row, configurations[0].name, {name: value for name, value in cycles.items() if value is not None})
    if found:
        leaves[kernel.name] = found


def _as_json(results: Results, limits: Limits | None, leaves: Mapping[str, Leaves]) -> str:
    more: dict[str, object] = {"limits": limits_as_json(results, limits)} if limits else {}
    return as_json(results, {**more, "leaves": to_builtins(leaves)} if leaves else more)


def _configurations(options: argparse.Namespace) -> tuple[Configuration, ...]:
    """The columns; a peer that can't be used is a warning."""
    compilers = tuple(find_compiler(name) for name in options.cc)
    flags, command = options.scopt_flags, options.scopt_command
    also = {"reassociate": options.reassociate, "autodetect": options.autodetect}
    found = list(own_configurations(compilers, options.scheduler, flags, command, **also))
    for name in options.against:
        peer = find_peer(name, compilers, options.threads)
        if isinstance(peer, str):
            print(f"scopt-bench: warning: left out {peer}", file=sys.stderr)
        else:
            found.append(peer)
    return tuple(found)


def _settings(options: argparse.Namespace, configurations: Sequence[Configuration]) -> dict[str, object]:
    """What a reader of the JSON needs to judge the figures."""
    return {
        "scopt": scopt.__version__,
        "suite": str(options.suite) if options.suite else "scopt",
        "size": " ".join(options.defs) or options.size,
        "check_size": options.check_size,
        "threads": options.threads,
        "runs": options.runs,
        "timeout": options.timeout,
        "scopt_flags": list(options.scopt_flags),
        "compilers": {c.name: c.compiler.version for c in configurations},
        "machine": {"processor": _processor(), "cores": os.cpu_count(), "system": platform.platform()},
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    return next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.processor()
    )


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
