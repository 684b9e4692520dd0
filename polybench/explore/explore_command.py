"""The command `scopt-explore`: sample schedules of programs, build,
check and measure them, keep everything in a database."""

from __future__ import annotations

import argparse
import importlib
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from scopt.diagnostics import InputError, InternalError
from scopt.polybench.argument_types import joined_values
from scopt.polybench.explore.analysis import analysed, checkable
from scopt.polybench.explore.baselines import POLLY
from scopt.polybench.explore.database import Database, only_writer, open_database
from scopt.polybench.explore.explore_arguments import PROG, make_parser
from scopt.polybench.explore.live import BestSoFar, observer
from scopt.polybench.explore.pool import workers
from scopt.polybench.explore.programs import Program, file_program, kernel_program, timed_flags
from scopt.polybench.explore.records import CompilerRecord, Series, this_machine
from scopt.polybench.explore.runner import Explored, explore
from scopt.polybench.explore.settle import Mismatch, Settings
from scopt.polybench.explore.summary import best_schedules, is_file, save_schedules, summary, table
from scopt.polybench.suite_command import exit_status, kernels_of
from scopt.polybench.toolchains import Compiler, find_compiler, find_peer


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with `arguments` (the process's own by default); its exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = make_parser().parse_args(joined_values(given, ("--cflags",)))
    if arguments is None:  # the process is ours: being terminated ends what it started, too
        signal.signal(signal.SIGTERM, _interrupt)
    return exit_status(PROG, lambda: _command(options))


def _command(options: argparse.Namespace) -> int:
    status = 0
    if options.report:
        importlib.import_module("scopt.polybench.explore.figures").require_drawing()
    if options.samples or options.kernels or not options.report:
        status = _explore(options)
    if options.report and status != 130:
        report = importlib.import_module("scopt.polybench.explore.exploration_report")
        report.write_report(options.db, options.report)
    return status


def _explore(options: argparse.Namespace) -> int:
    """Whatever can be wrong with the arguments is found before anything is measured."""
    compiler = find_compiler(options.cc)
    programs = [checkable(program, compiler.path) for program in _programs(options, compiler)]
    for program in programs:
        _look_at(program, compiler)
    if options.save and is_file(options.save) and len(programs) > 1:
        raise InputError(
            f"--save {options.save}: there are {len(programs)} programs; name a folder for their schedules"
        )
    baselines = _available(options.baselines, compiler, options.threads)
    settings = Settings(
        options.samples,
        options.threads,
        options.runs,
        options.timeout_factor,
        options.budget,
        baselines,
        options.jobs,
        options.draw_budget,
    )
    with open_database(options.db, create=options.samples > 0) as database:
        machine = None if options.cluster else database.machine(this_machine())
        compiler_id = database.compiler(CompilerRecord(compiler.version, timed_flags(programs[0])))
        explored = [
            Explored(
                program,
                Series(
                    database.program(program.record(options.threads)),
                    compiler_id,
                    options.search,
                    options.walk,
                    options.seed,
                ),
                options.walk,
            )
            for program in programs
        ]
        status = _run(explored, compiler, database, machine, settings, options) if options.samples else 0
        return _tell(explored, database, machine, options) or status


def _run(
    explored: Sequence[Explored],
    compiler: Compiler,
    database: Database,
    machine: int | None,
    settings: Settings,
    options: argparse.Namespace,
) -> int:
    """Explore all programs; 130 after Ctrl-C, 1 after a wrong result, which are told of."""
    left = sum(len(database.missing(each.series, settings.samples, machine)) for each in explored)
    try:
        with only_writer(options.db), observer(left) as watcher:
            for each in explored:
                watcher.known(
                    each.program.name, summary(database, each.program.name, each.series, machine, None).speedup()
                )
            if machine is None:
                cluster = importlib.import_module("scopt.polybench.explore.cluster")
                cluster.explore(options.cluster, explored, compiler, database, settings, watcher)
            else:
                _explore_here(explored, compiler, database, machine, settings, watcher)
    except KeyboardInterrupt:
        print(
            f"{PROG}: interrupted; what was measured is in {options.db}, and the same command goes on", file=sys.stderr
        )
        return 130
    except InternalError as error:
        print(f"{PROG}: internal error, please report this: {error}", file=sys.stderr)
        return 1
    except Mismatch as error:
        print(
            f"{PROG}: wrong result, please report this: {error} (what was sampled is in {options.db})", file=sys.stderr
        )
        return 1
    return 0


def _explore_here(
    explored: Sequence[Explored],
    compiler: Compiler,
    database: Database,
    machine: int,
    settings: Settings,
    watcher: BestSoFar,
) -> None:
    with workers(settings.jobs) as pool:
        for each in explored:
            explore(each, compiler, database, machine, settings, pool, watcher)


def _tell(explored: Sequence[Explored], database: Database, machine: int | None, options: argparse.Namespace) -> int:
    """The table on stdout, and --save; 1 if a sample of the programs is wrong."""
    count = options.samples or None
    summaries = [summary(database, each.program.name, each.series, machine, count) for each in explored]
    print(table(summaries, options.baselines))
    if options.save:
        schedules = best_schedules(
            database, [each.program.name for each in explored], [each.series for each in explored], machine
        )
        for each in explored:
            if each.program.name not in schedules:
                print(f"{PROG}: warning: --save: no sample of {each.program.name} has a time", file=sys.stderr)
        save_schedules(options.save, schedules)
    return int(any(each.counts.get("mismatch") for each in summaries))


def _programs(options: argparse.Namespace, compiler: Compiler) -> list[Program]:
    """Files by their suffix, kernels by name."""
    files = [Path(word) for word in options.kernels if word.endswith(".c")]
    names = [word for word in options.kernels if not word.endswith(".c")]
    kernels = kernels_of(options.suite, names) if names or not files else ()
    found = [kernel_program(kernel, options.size, options.check_size, compiler) for kernel in kernels]
    found += [file_program(file, options.cflags, compiler) for file in files]
    twice = [program.name for program in found if sum(other.name == program.name for other in found) > 1]
    if twice:
        raise InputError(f"two programs are called {twice[0]}")
    return found


def _available(wanted: Sequence[str], compiler: Compiler, threads: int) -> tuple[str, ...]:
    """The baselines without Polly where there is no clang that has it."""
    return tuple(
        name for name in wanted if name != POLLY or not isinstance(find_peer(POLLY, (compiler,), threads), str)
    )


def _look_at(program: Program, compiler: Compiler) -> None:
    """Tell of regions that stay as they are. Raises InputError if there is nothing to explore."""
    found = analysed(program, compiler.path)
    if not any(found.regions):
        raise InputError(f"{program.shown}: no region can be transformed: {found.refused[0].text()}")
    for remark in found.refused:
        print(f"{PROG}: warning: left out {remark.text()}", file=sys.stderr)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
