"""The arguments of `scopt-explore`."""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import get_args

from scopt.options import SCHEDULERS, Walk
from scopt.polybench.argument_types import add_suite, names_among, positive, seconds, words
from scopt.polybench.explore.baselines import POLLY
from scopt.polybench.explore.records import Search
from scopt.polybench.suite_command import command_parser

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


def make_parser() -> argparse.ArgumentParser:
    """The parser; what it accepts is checked as far as the words alone allow."""
    parser = command_parser(PROG, DESCRIPTION, EPILOG)
    _add_search(parser)
    _add_programs(parser)
    _add_measuring(parser)
    _add_output(parser)
    return parser


def _add_search(parser: argparse.ArgumentParser) -> None:
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


def _add_programs(parser: argparse.ArgumentParser) -> None:
    what = parser.add_argument_group("programs")
    add_suite(what, "MEDIUM")
    what.add_argument("--cc", default="gcc", metavar="CC", help="the compiler (gcc)")
    what.add_argument(
        "--cflags", type=words, default=(), metavar="'FLAGS'", help="flags for plain files: -I, -D, libraries, ..."
    )


def _add_measuring(parser: argparse.ArgumentParser) -> None:
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


def _add_output(parser: argparse.ArgumentParser) -> None:
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


def _count(text: str) -> int:
    return 0 if text == "0" else positive(text)


def _baselines(text: str) -> tuple[str, ...]:
    return () if text == "none" else names_among(text, "baseline", (*SCHEDULERS, POLLY))
