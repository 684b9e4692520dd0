"""The options around the loops: files and messages, the compiler, checks."""

from __future__ import annotations

import argparse
from typing import get_args

from scopt.command.option_values import natural, positive, processors, seconds
from scopt.options import Options, VerifyLevel
from scopt.version import __version__


def add_file_arguments(parser: argparse.ArgumentParser) -> None:
    """Inputs, outputs, and what is told."""
    parser.add_argument(
        "inputs", metavar="FILE", nargs="*", help="the C file to read; - is stdin; several only with --check"
    )
    group = parser.add_argument_group("files and messages")
    _add_result_arguments(group)
    _add_explanation_arguments(group)
    _add_message_arguments(group)
    group.add_argument(
        "--cmake-dir",
        action="store_true",
        help="show where the files for CMake's find_package(scopt) are, and do nothing else",
    )
    group.add_argument("--version", action="version", version=f"scopt {__version__}", help="show the version and exit")
    group.add_argument("-h", "--help", action="help", help="show this help and exit")


def _add_result_arguments(group: argparse._ArgumentGroup) -> None:
    """What is written, and where."""
    group.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="where to write, all at once or not at all; may be the input (default: -, stdout)",
    )
    group.add_argument(
        "--line-directives",
        action="store_true",
        help=(
            "write #line before and after the text that changed: diagnostics, __LINE__ "
            "and debuggers then see the lines of FILE"
        ),
    )
    group.add_argument(
        "--emit",
        choices=("c", "schedule", "schedule-final", "decisions"),
        default="c",
        help=(
            "what is written: c, the source with its new loops; schedule, the scheduler's "
            "tree of each region as isl's YAML, to edit and give to --schedule; "
            "schedule-final, the tree after the band passes, to look at; decisions, what was decided "
            "about each region, with what else could be, to edit and give to --decisions (default: c)"
        ),
    )


def _add_explanation_arguments(group: argparse._ArgumentGroup) -> None:
    """What is shown of how a result came about."""
    group.add_argument(
        "--explain",
        action="store_true",
        help=(
            "tell of each region its statements, dependences, schedule and loops, and why: on stdout, where "
            "the C is not written then unless -o names a file; with -o - or another --emit on stdout, on stderr"
        ),
    )
    group.add_argument(
        "--print-after",
        metavar="STEP",
        default="",
        help=(
            "tell what a step makes of each region, as a schedule tree or as C, in the "
            "way of --explain; --print-passes names the steps"
        ),
    )
    group.add_argument(
        "--print-passes", action="store_true", help="list the steps from a region to its text, in their order, and exit"
    )
    group.add_argument(
        "--report",
        metavar="FILE",
        help=(
            "write a page (HTML) about FILE's loops: the source beside the result, dependences, iterations and tiles "
            "drawn, and why loops were left alone; like --explain, the C is not written then unless -o names a file"
        ),
    )


def _add_message_arguments(group: argparse._ArgumentGroup) -> None:
    """What is told of regions."""
    group.add_argument(
        "--remarks",
        choices=("text", "json", "sarif", "yaml"),
        default="text",
        help=(
            "how remarks are written: text, a line each; json, one array; sarif, SARIF 2.1.0 for "
            "code hosts and editors; yaml, LLVM's optimization records for opt-viewer (default: text)"
        ),
    )
    group.add_argument(
        "--remarks-file", metavar="FILE", help="write the remarks to FILE, all at once, instead of stderr"
    )
    group.add_argument("-q", "--quiet", action="store_true", help="no remarks; errors are still shown")
    group.add_argument("--strict", action="store_true", help="exit with 1 if a marked region was left as it was")


def add_compiler_arguments(parser: argparse.ArgumentParser) -> None:
    """The compiler whose preprocessor is used, and its flags."""
    group = parser.add_argument_group(
        "compiler",
        "The source goes through the real preprocessor. These flags are handed to it in their order,\n"
        "joined (-DN=3) or apart (-D N=3). So are -f… and -m…; -O…, -g and -W… are taken and ignored,\n"
        "so that a build can pass its $(CFLAGS).",
    )
    group.add_argument(
        "-p",
        dest="build",
        metavar="DIR",
        help="take these flags for FILE from DIR/compile_commands.json; those given here come after them",
    )
    group.add_argument("--cc", default=Options().cc, metavar="CC", help="the C compiler (default: %(default)s)")
    # Documentation only: `split_flags` has taken these out before argparse sees the arguments, to keep their order.
    for flag, metavar, text in (
        ("-I", "DIR", "look for headers in DIR"),
        ("-D", "NAME[=VALUE]", "define a macro"),
        ("-U", "NAME", "undefine a macro"),
        ("-std", "STANDARD", "the language standard, such as -std=gnu11"),
        ("-include", "FILE", "read FILE first"),
        ("-isystem", "DIR", "look for system headers in DIR"),
        ("-iquote", "DIR", 'look for #include "…" in DIR'),
    ):
        group.add_argument(flag, metavar=metavar, help=text, dest=argparse.SUPPRESS, default=argparse.SUPPRESS)


def add_checking_arguments(parser: argparse.ArgumentParser) -> None:
    """What is checked, and how much that may take."""
    group = parser.add_argument_group("checks")
    group.add_argument(
        "--check",
        metavar="LIST",
        help=(
            "compare what the loops of the FILEs (none: of all that LIST names) get "
            "with what LIST says, and exit with 1 if one lost something; no C is written"
        ),
    )
    group.add_argument("--update", action="store_true", help="with --check: write LIST instead, for these FILEs")
    group.add_argument(
        "--verify",
        choices=get_args(VerifyLevel),
        default=Options().verify,
        help=(
            "schedule: every dependence is kept in order, parallel loops carry none; full: the "
            "emitted loops and the printed C are read back and compared as well (default: %(default)s)"
        ),
    )
    _add_limits(group)


def _add_limits(group: argparse._ArgumentGroup) -> None:
    """How long anything may take, how much memory, and how many processes."""
    group.add_argument(
        "--budget",
        metavar="SECONDS",
        type=seconds,
        default=Options().budget,
        help=(
            "processor time that one region may take before it is left as it was, in each "
            "process that works on it; 0: as long as it needs (default: %(default)g)"
        ),
    )
    group.add_argument(
        "--file-budget",
        metavar="SECONDS",
        type=seconds,
        default=Options().file_budget,
        help=(
            "how long the file may take: regions whose turn comes later are left as they were, "
            "those with the deepest loops come first; 0: as long as it needs (default: %(default)g)"
        ),
    )
    group.add_argument(
        "-j",
        "--jobs",
        metavar="N",
        type=positive,
        default=processors(),
        help=(
            "processes that work at a time, on regions and on the proof of one "
            "(default: as many as there are processors for scopt, at most 4)"
        ),
    )
    group.add_argument(
        "--memory",
        metavar="MIB",
        type=natural,
        default=Options().memory >> 20,
        help=(
            "how much memory the work on one region may take before it is left as it was, "
            "in MiB; 0: what there is (default: %(default)s)"
        ),
    )
