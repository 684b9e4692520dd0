"""The command `scopt-explore`: sample schedules of programs, build,
check and measure them, keep everything in a database."""

from __future__ import annotations

import argparse
import importlib
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import get_args

from scopt.diagnostics import InputError, InternalError
from scopt.options import SCHEDULERS, Walk
from scopt.polybench.argument_types import names_among, positive, seconds, words
from scopt.polybench.bench import SIZES
from scopt.polybench.explore.analysis import analysed, checkable
from scopt.polybench.explore.baselines import POLLY
from scopt.polybench.explore.database import Database, only_writer, open_database
from scopt.polybench.explore.live import BestSoFar, observer
from scopt.polybench.explore.pool import workers
from scopt.polybench.explore.programs import Program, file_program, kernel_program, timed_flags
from scopt.polybench.explore.records import CompilerRecord, Search, Series, this_machine
from scopt.polybench.explore.runner import Explored, explore
from scopt.polybench.explore.settle import Mismatch, Settings
from scopt.polybench.explore.summary import best_schedules, is_file, save_schedules, summary, table
from scopt.polybench.suite_command import command_parser, exit_status, kernels_of
from scopt.polybench.toolchains import Compiler, find_compiler, find_peer

PROG = "scopt-explore"

DESCRIPTION = """\
Search the schedule space of programs for fast schedules.

Each sample is a schedule drawn from the space of all legal ones (or, with --search genetic, \
bred from the better ones). It becomes a C program,
which is first checked: built with -O2 -ffp-contract=off at the size --check-size, \
it has to print the same values as the original, to the
last bit; a plain file has to print the same bytes and end with the same status. \
Then it is timed against the original (CC -O3 -march=native).
Programs are built side by side; while one is timed, nothing else runs. \
Schedules or C texts that were measured before are not measured again.

Everything is kept in the database --db, each sample as soon as it is done. \
The same command goes on where it was stopped, however it
was stopped; with more --samples it adds to what is there. Sample k of a random search with a walk and a seed is \
always the same schedule."""

EPILOG = """\
programs:
  KERNEL    a kernel of the suite by name, or several with commas between; without any, all kernels of the suite
  FILE.c    a program with a main and a region between '#pragma scop' and '#pragma endscop', timed as a process, \
unless it prints a time as the last
            word of its output when it is built with -DPOLYBENCH_TIME

searches:
  random    each sample is a random walk: 'uniform', 'bias_select_dep' (few dimensions), 'bias_coeff_0' (simple ones)
  genetic   a population of 30 random samples; then each generation keeps the better half and breeds 15 more: \
630 samples are 40 generations

exit status:
  0    all samples are in the database (those that were too slow or could not be built, too, with the reason)
  1    a sample, now or in an earlier run, computes something else than the original, or is no schedule: \
a bug of scopt, please report it
  2    bad arguments, a program that can't be built or measured, or another scopt-explore on the same database
  130  interrupted; what was measured is stored

environment:
  The programs run with OMP_NUM_THREADS=THREADS and OMP_PROC_BIND=true.

examples:
  scopt-explore gemm lu --samples 60 --size MEDIUM
  scopt-explore in.c --samples 200 --save best.yaml     # then: scopt in.c --schedule best.yaml -o in.opt.c
  scopt-explore jacobi-2d --search genetic --samples 630
  scopt-explore --samples 0 --report figures            # only draws what the database holds"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with `arguments` (the process's own by default); its exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = make_parser().parse_args(_joined_flags(given))
    if arguments is None:  # the process is ours: being terminated ends what it started, too
        signal.signal(signal.SIGTERM, _interrupt)
    return exit_status(PROG, lambda: _command(options))


def make_parser() -> argparse.ArgumentParser:
    """The parser; what it accepts is checked as far as the words alone allow."""
    parser = command_parser(PROG, DESCRIPTION, EPILOG)
    search = parser.add_argument_group("search")
    search.add_argument(
        "--samples",
        type=_count,
        default=100,
        metavar="N",
        help="samples of each program in the database at the end (100)",
    )
    search.add_argument(
        "--walk", choices=get_args(Walk), default="bias_coeff_0", help="how random samples are drawn (bias_coeff_0)"
    )
    search.add_argument("--search", choices=get_args(Search), default="random", help="(random)")
    search.add_argument("--seed", type=int, default=0, metavar="S", help="another seed, other samples (0)")
    what = parser.add_argument_group("programs")
    what.add_argument(
        "--suite",
        type=Path,
        metavar="DIR",
        help="root of a PolyBench/C tree (default: the kernels that come with scopt)",
    )
    what.add_argument(
        "--size",
        type=_size,
        default="MEDIUM",
        metavar="SIZE",
        help=f"data set of the timed kernels: {', '.join(SIZES)} (MEDIUM)",
    )
    what.add_argument("--check-size", type=_size, default="SMALL", metavar="SIZE", help="data set of the check (SMALL)")
    what.add_argument("--cc", default="gcc", metavar="CC", help="the compiler (gcc)")
    what.add_argument(
        "--cflags", type=words, default=(), metavar="'FLAGS'", help="flags for plain files: -I, -D, libraries, ..."
    )
    runs = parser.add_argument_group("measuring")
    runs.add_argument("--threads", type=positive, default=2, metavar="N", help="OpenMP threads (2)")
    runs.add_argument(
        "--runs",
        type=positive,
        default=4,
        metavar="N",
        help="timed runs of each program, of which the fastest counts (4)",
    )
    runs.add_argument(
        "--timeout-factor",
        type=seconds,
        default=10.0,
        metavar="F",
        help="a sample may take F times the original's time (10)",
    )
    runs.add_argument(
        "--budget", type=seconds, default=60.0, metavar="S", help="seconds that transforming a region may take (60)"
    )
    runs.add_argument(
        "--draw-budget",
        type=seconds,
        default=300.0,
        metavar="S",
        help="seconds that drawing a region's schedule may take (300)",
    )
    runs.add_argument(
        "--baselines",
        type=_baselines,
        default=("isl", "pluto", POLLY),
        metavar="NAME,...",
        help="measured for comparison (isl,pluto,polly)",
    )
    runs.add_argument(
        "--jobs",
        type=positive,
        default=os.cpu_count() or 1,
        metavar="N",
        help="samples that are built side by side (all cores)",
    )
    runs.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="build and measure on the workers of the Dask scheduler at ADDRESS (scopt[cluster])",
    )
    out = parser.add_argument_group("output")
    out.add_argument(
        "--db", type=Path, default=Path("explore.sqlite"), metavar="F", help="the database (explore.sqlite)"
    )
    out.add_argument(
        "--save",
        type=Path,
        metavar="F.yaml",
        help="write the best schedule for 'scopt --schedule'; a folder for several programs",
    )
    out.add_argument(
        "--report", type=Path, metavar="DIR", help="write figures and a page about all that the database holds into DIR"
    )
    return parser


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


def _joined_flags(given: Sequence[str]) -> list[str]:
    """``--cflags -DN=5`` as ``--cflags=-DN=5``: argparse takes a value that starts with a dash for an option."""
    joined: list[str] = []
    for word in given:
        if joined and joined[-1] == "--cflags":
            joined[-1] += f"={word}"
        else:
            joined.append(word)
    return joined


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


# --- argument types ---------------------------------------------------------------------------------------------------


def _count(text: str) -> int:
    return 0 if text == "0" else positive(text)


def _size(text: str) -> str:
    if text.upper() not in SIZES:
        raise argparse.ArgumentTypeError(f"unknown size '{text}' (known: {', '.join(SIZES)})")
    return text.upper()


def _baselines(text: str) -> tuple[str, ...]:
    return () if text == "none" else names_among(text, "baseline", (*SCHEDULERS, POLLY))


if __name__ == "__main__":
    sys.exit(main())
