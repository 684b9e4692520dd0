"""What the commands of this folder share around what they measure: their parser's beginning, the kernels asked for,
files of results, exit status."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import scopt
from scopt.diagnostics import InputError
from scopt.polybench.bench_results import write_atomically
from scopt.polybench.catalog import Kernel, load_suite, own_suite, select


def command_parser(prog: str, description: str, epilog: str) -> argparse.ArgumentParser:
    """A parser that takes kernels and --version; description and epilog are printed as they are."""
    parser = argparse.ArgumentParser(
        prog=prog, description=description, epilog=epilog, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "kernels", nargs="*", metavar="KERNEL", help="kernels to measure, by name (default: all of the suite)"
    )
    parser.add_argument("--version", action="version", version=f"{prog} {scopt.__version__}")
    return parser


def exit_status(prog: str, command: Callable[[], int]) -> int:
    """What the command returns; 2 after telling of an InputError, 130 after Ctrl-C."""
    try:
        return command()
    except InputError as error:
        print(f"{prog}: error: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def kernels_of(suite: Path | None, words: Sequence[str]) -> tuple[Kernel, ...]:
    """The kernels that the words, each a name or several with commas between, ask for; all if there are none. suite: a
    root, or None for scopt's own PolyBench kernels. Raises InputError."""
    return select(load_suite(suite or own_suite()), [name for word in words for name in word.split(",") if name])


def save(path: Path | None, text: str) -> None:
    """Write what --json asks for, if it does; at every moment the file is complete. Raises InputError."""
    if path is None:
        return
    try:
        write_atomically(path, text + "\n")
    except OSError as error:
        raise InputError(f"--json {path}: {error.strerror}") from error
