"""The arguments of `scopt-schedule-bench`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import get_args

from scopt.options import SCHEDULERS, Fusion
from scopt.polybench.argument_types import SUITE_HELP, defines, name_list, names_among, positive, seconds
from scopt.polybench.catalog import named_suite
from scopt.polybench.growth import SIZES, source_of_size
from scopt.polybench.suite_command import command_parser

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


def make_parser() -> argparse.ArgumentParser:
    """The parser; what it accepts is checked as far as the words alone allow."""
    parser = command_parser("scopt-schedule-bench", DESCRIPTION, EPILOG)
    _add_measuring(parser)
    _add_spaces_and_output(parser)
    return parser


def _add_measuring(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--suite",
        type=named_suite,
        metavar="SUITE",
        help=SUITE_HELP,
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


def _add_spaces_and_output(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
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
