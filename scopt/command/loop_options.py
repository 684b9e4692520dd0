"""The options that say what is done with loops: where, in which order, and what becomes of them."""

from __future__ import annotations

import argparse
from typing import get_args

from scopt.command.option_values import tile_sizes
from scopt.options import Fusion, Options, Walk


def add_transformation_arguments(parser: argparse.ArgumentParser) -> None:
    """What is done, and where."""
    group = parser.add_argument_group("what is done")
    group.add_argument(
        "--autodetect",
        action="store_true",
        help=(
            "also find regions without pragmas, as large as possible; where pointers "
            "may overlap, the program tests that before it runs the new loops"
        ),
    )
    group.add_argument(
        "--assume",
        action="append",
        choices=("noalias",),
        default=[],
        help=(
            "noalias: different pointers lead to different memory in regions without "
            "pragmas too, which is then not tested (a wrong assumption makes wrong programs)"
        ),
    )
    group.add_argument(
        "--count-guards",
        action="store_true",
        help=(
            "the program counts how often what it tests before new loops holds and fails, and appends that "
            "to the file named by the environment variable SCOPT_GUARDS (default: stderr) when it ends"
        ),
    )
    group.add_argument(
        "--ignore-openmp",
        action="store_true",
        help=(
            "the file's own '#pragma omp' lines say nothing, as where it is compiled without -fopenmp, "
            "and are left out of the result"
        ),
    )
    group.add_argument(
        "--decide-conditionals",
        action="store_true",
        help=(
            "the result is compiled with these flags alone, as in a build: '#if' inside of functions is decided, "
            "and what it leaves out is left out of a result"
        ),
    )
    group.add_argument(
        "--eager",
        action="store_true",
        help="no tests of sizes; with --autodetect: transform regions even where the model sees no gain",
    )
    _add_scheduler_arguments(group)
    _add_schedule_arguments(group)
    _add_loop_arguments(group)


def _add_scheduler_arguments(group: argparse._ArgumentGroup) -> None:
    """How the order of the instances is found."""
    group.add_argument(
        "--scheduler",
        metavar="NAME",
        help=(
            "pluto (permutable bands, small reuse distances), isl (isl's own), feautrier (minimal latency), "
            f"sample (a random legal one, see --seed), identity (keeps the order); default: {Options().scheduler}"
        ),
    )
    group.add_argument(
        "--fusion",
        choices=get_args(Fusion),
        default=Options().fusion,
        help=(
            "which statements share loops (pluto, feautrier): max, as many as legal; smart, those "
            "in nests of the same depth; typed, parallel loops with parallel ones; no, only those "
            "that depend on each other in a cycle; auto (default), what was measured to be good"
        ),
    )
    group.add_argument(
        "--influence",
        metavar="FILE|vectorize",
        default=Options().influence,
        help=(
            "steer the scheduler by the influence constraint trees in FILE (YAML, see "
            "docs/influence.md), or by trees made for vector loops"
        ),
    )
    group.add_argument(
        "--quasi-affine",
        action="store_true",
        help="feautrier may round quotients down, dates such as i/2, where that lowers the latency",
    )


def _add_schedule_arguments(group: argparse._ArgumentGroup) -> None:
    """What one scheduler alone takes, and schedules that others have found."""
    group.add_argument(
        "--seed",
        metavar="N",
        type=int,
        default=Options().seed,
        help=(
            "which schedule the scheduler sample takes, and which decisions --decisions random: "
            "the same seed, the same ones (default: %(default)s)"
        ),
    )
    group.add_argument(
        "--walk",
        choices=get_args(Walk),
        default=Options().walk,
        help=(
            "how sample draws: all actions alike; few dimensions; few coefficients that aren't 0 (default: %(default)s)"
        ),
    )
    group.add_argument(
        "--input-dependences", action="store_true", help="keep reads of the same cell close together too (pluto)"
    )
    group.add_argument(
        "--schedule",
        metavar="FILE",
        default="",
        help=(
            "take the regions' schedule trees from FILE, as --emit=schedule writes it, instead of the scheduler's; "
            "an empty document leaves its region to the scheduler. A tree that breaks a dependence is an error"
        ),
    )
    group.add_argument(
        "--decisions",
        metavar="FILE",
        default="",
        help=(
            "take what is decided about the regions from FILE, as --emit=decisions writes it; the model decides what "
            "FILE leaves out. 'random': any legal decisions (see --seed)"
        ),
    )


def _add_loop_arguments(group: argparse._ArgumentGroup) -> None:
    """What is made of the loops of that order."""
    group.add_argument(
        "--tile-size",
        metavar="N[,N…]|none",
        type=tile_sizes,
        default=(True, ()),
        help=(
            "tile sizes from the outermost level on, the last one repeated; none: no tiling "
            "(default: from the machine's caches). With register tiles they are the sizes of "
            "the blocks that are packed, rounded to whole register tiles"
        ),
    )
    group.add_argument(
        "--machine",
        metavar="default|native|FILE",
        default="default",
        help=(
            "the processor that tile sizes and costs are computed for: default, a fixed model of "
            "server cores, so that output doesn't depend on the host; native, the one that scopt "
            "runs on, as far as it tells (Linux); or a model in FILE (TOML, see --print-machine)"
        ),
    )
    group.add_argument(
        "--print-machine", action="store_true", help="write the machine model as TOML, and do nothing else"
    )
    group.add_argument(
        "--no-register-tile",
        action="store_true",
        help="no register tiles over packed operands for contractions, such as matrix products",
    )
    group.add_argument(
        "--reassociate",
        action="store_true",
        help=(
            "compute sums, products and extrema in another order where that makes loops parallel or vector loops: "
            "floating-point results then differ in their last digits, and signed sums may overflow on the way"
        ),
    )
    group.add_argument("--no-parallel", action="store_true", help="no `omp parallel for`")
    group.add_argument("--no-simd", action="store_true", help="no `omp simd`")
