"""The arguments of `scopt-bench`."""

from __future__ import annotations

import argparse
from pathlib import Path

from scopt.polybench.argument_types import add_suite, defines, name_list, names_among, natural, positive, seconds, words
from scopt.polybench.suite_command import command_parser
from scopt.polybench.toolchains import PEERS

DESCRIPTION = """\
Measure what scopt gains on the PolyBench kernels, or on those of another suite.

Each kernel is built as it is (CC -O3 -march=native), with scopt (the same flags and -fopenmp), \
and with the other optimizers asked
for. Each program is first checked: built once more with -O2 -ffp-contract=off at the size --check-size, \
it has to print the same
values as the original, to the last bit. Then all programs of a kernel run in turn (A B C A B C ...), \
so that a disturbance
hits all alike, and a table shows the fastest run, the median, and the speedup of the fastest run over the original \
with the
first compiler of --cc.

With --limits a second table tells what each kernel has to do and how near the programs come to what the machine can do.

A kernel that can't be transformed, compiled, or run, takes too long, \
or gives a wrong result is a line with its reason; the
others go on. After Ctrl-C the table shows what there is."""
EPILOG = """\
peers (--against):
  polly     LLVM's polyhedral optimizer, in clang: -mllvm -polly -mllvm -polly-parallel
  graphite  GCC's: -floop-nest-optimize -ftree-parallelize-loops=THREADS
  pluto     the source-to-source optimizer: polycc --tile --parallel, then the first compiler of --cc with -fopenmp
  One that isn't found or doesn't work here is left out with a warning.

exit status:
  0    every original and every output of scopt was built, found correct, and timed (peers may fail)
  1    one of them was not
  2    bad arguments: an unknown kernel or peer, no such suite, a compiler that isn't there; nothing was run
  130  interrupted

limits (--limits):
  All counts are exact, made from the iteration domains with the sizes fixed, within each statement; \
nothing is run for them.
  Gflop     additions, subtractions, multiplications and comparisons of the original, \
as its statements stand (on integers where the
            data are integers); an expression that a statement has twice counts once, so a maximum is one comparison
  needed    without those that only repeat others: alpha * A[i][k] in a loop over j is one multiplication for each i \
and k, if
            neither changes any more; and without those that depend on a condition
  Gdiv      divisions and square roots, apart from the others, needed ones
  MB        compulsory traffic: every cell that is read before it is written once in, \
every cell that is written once out (10^6 bytes)
  foot MB   the footprint: all cells that are touched. * if it fits into the last cache: \
data that are there already needn't come from
            memory, and what is written may stay there, so the bandwidth bounds nothing; \
more than 100 % is possible then
  bound by  flops, divisions or bandwidth: whichever of these takes longest
  roofline  that time, in seconds: needed flops / peak, Gdiv / peak of divisions, MB / bandwidth of memory. \
The least that a program
            can take: it supposes that every multiplication is fused with an addition, and that all of it overlaps
  NAME %    the part of the roofline that the fastest run of this configuration reached: roofline / seconds
  openblas  for gemm, 2mm, 3mm, syrk, syr2k, trmm, symm, cholesky, lu: \
the same operation on the same sizes by OpenBLAS or its LAPACK,
            timed in turn with the others after a call that warms it up, not checked; lu by getrf, \
which looks for pivots as the kernel
            doesn't: a reference for the rate only
  Peaks (vectors of multiply-adds in registers; of divisions) and bandwidth (the triad a = b + s c beyond the last \
cache, 24 bytes an element)
  are measured before and after the kernels, by the first compiler with the same flags and threads; \
the higher figures count. The triad
  counts no line that is read only to be written: a kernel that mostly reads can exceed 100 %.

leaves (--leaves N):
  scopt also runs with --decisions random, with the seeds SEED to SEED + N - 1. \
Each leaf is checked as everything is; a wrong one is a
  failure. A third table tells how far scopt's default is from the best of them, \
and whether the model has them in the machine's order.

environment:
  The programs run with OMP_NUM_THREADS=THREADS, OPENBLAS_NUM_THREADS=THREADS and OMP_PROC_BIND=true.

notes:
  In PolyBench/C itself, cholesky, lu and ludcmp set up their data with an untimed product of matrices that takes \
longer than the
  kernel: at LARGE allow for it in --timeout, or choose a smaller size with --defs. \
The kernels that come with scopt don't.

examples:
  scopt-bench gemm jacobi-2d --size MEDIUM
  scopt-bench --against polly,graphite,pluto --json results.json --plot speedups.svg
  scopt-bench --suite ~/polybench-c-4.2.1 --cc gcc,clang
  scopt-bench --suite general harris lcs --autodetect
  scopt-bench gemm mvt jacobi-2d --limits
  scopt-bench --suite general harris lcs --leaves 20
  scopt-bench lu --defs '-DN=1000' --scopt-flags '--tile-size 16'"""


def make_parser() -> argparse.ArgumentParser:
    """The parser; what it accepts is checked as far as the words alone allow."""
    parser = command_parser("scopt-bench", DESCRIPTION, EPILOG)
    parser.add_argument("--list", action="store_true", help="print the names of the suite's kernels and stop")
    _add_sizes(parser)
    _add_configurations(parser)
    _add_runs_and_output(parser)
    return parser


def _add_sizes(parser: argparse.ArgumentParser) -> None:
    what = parser.add_argument_group("what is measured")
    add_suite(what, "LARGE")
    what.add_argument(
        "--defs", type=defines, default=(), metavar="'-DN=...'", help="macros for the timed runs, in place of --size"
    )


def _add_configurations(parser: argparse.ArgumentParser) -> None:
    how = parser.add_argument_group("configurations")
    how.add_argument(
        "--cc",
        type=name_list,
        default=("gcc",),
        metavar="CC,...",
        help="compilers, the first one's original is the baseline (gcc)",
    )
    how.add_argument(
        "--against",
        type=_peers,
        default=(),
        metavar="PEER,...",
        help="other optimizers: polly, graphite, pluto, or all",
    )
    how.add_argument(
        "--scheduler",
        type=name_list,
        default=(),
        metavar="NAME,...",
        help="schedulers of scopt, each one a configuration",
    )
    how.add_argument(
        "--reassociate",
        action="store_true",
        help="also scopt --reassociate, whose results may differ by rounding; says by how much they do",
    )
    how.add_argument(
        "--autodetect",
        action="store_true",
        help="also scopt --autodetect, which finds the regions itself: its source has no pragmas",
    )
    how.add_argument("--scopt-flags", type=words, default=(), metavar="'FLAGS'", help="more options for scopt")
    how.add_argument(
        "--scopt-command", type=words, default=(), metavar="'CMD'", help="run CMD in place of this installation's scopt"
    )


def _add_runs_and_output(parser: argparse.ArgumentParser) -> None:
    runs = parser.add_argument_group("runs")
    runs.add_argument("--threads", type=positive, default=2, metavar="N", help="OpenMP threads (2)")
    runs.add_argument("--runs", type=positive, default=3, metavar="N", help="timed runs of each program (3)")
    runs.add_argument(
        "--timeout",
        type=seconds,
        default=600.0,
        metavar="S",
        help="seconds for each transformation, compilation and run (600)",
    )
    out = parser.add_argument_group("output")
    out.add_argument(
        "--limits",
        action="store_true",
        help="also what each kernel has to do, what the machine can do, and OpenBLAS (below)",
    )
    out.add_argument(
        "--leaves", type=natural, default=0, metavar="N", help="also N leaves of the decisions, drawn at random (below)"
    )
    out.add_argument("--seed", type=natural, default=1, metavar="SEED", help="of the first of them (1)")
    out.add_argument("--json", type=Path, metavar="F", help="write all results to F, complete after each kernel")
    out.add_argument(
        "--plot", type=Path, metavar="F.svg", help="draw the speedups as bars (.svg, .pdf, .png; needs matplotlib)"
    )
    out.add_argument("--keep", type=Path, metavar="DIR", help="build in DIR and leave everything there")


def _peers(text: str) -> tuple[str, ...]:
    names = names_among(text, "peer", (*PEERS, "all"))
    return PEERS if "all" in names else names
