"""Command line arguments that commands of this folder share, and their types: a word's meaning or argparse's error."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Collection, Sequence

from scopt.polybench.catalog import OWN_SUITES, named_suite

# The data sets of PolyBench, smallest first.
SIZES = ("MINI", "SMALL", "MEDIUM", "LARGE", "EXTRALARGE")
SUITE_HELP = f"{' or '.join(OWN_SUITES)}, which come with scopt, or the root of a PolyBench/C tree (polybench)"


def joined_values(arguments: Sequence[str], options: Collection[str]) -> list[str]:
    """The arguments with values of these options joined, ``--defs -DN=5`` as ``--defs=-DN=5``:
    argparse takes a value that starts with a dash for an option."""
    joined: list[str] = []
    for word in arguments:
        if joined and joined[-1] in options and word.startswith("-"):
            joined[-1] += f"={word}"
        else:
            joined.append(word)
    return joined


def name_list(text: str) -> tuple[str, ...]:
    """Names separated by commas, each once."""
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise argparse.ArgumentTypeError("a list of names, separated by commas, is expected")
    return names


def names_among(text: str, noun: str, known: Sequence[str]) -> tuple[str, ...]:
    """Names separated by commas, each once, all of them known. noun: what one of them is called."""
    names = name_list(text)
    unknown = [name for name in names if name not in known]
    if unknown:
        raise argparse.ArgumentTypeError(f"unknown {noun} '{unknown[0]}' (known: {', '.join(known)})")
    return names


def words(text: str) -> tuple[str, ...]:
    """The words of a shell command."""
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r}: {error}") from error


def defines(text: str) -> tuple[str, ...]:
    """Flags that define macros."""
    found = words(text)
    wrong = [word for word in found if not word.startswith("-D")]
    if wrong:
        raise argparse.ArgumentTypeError(f"'{wrong[0]}' is not of the form -DNAME=VALUE")
    return found


def data_set(text: str) -> str:
    """One of `SIZES`, in any case."""
    if text.upper() not in SIZES:
        raise argparse.ArgumentTypeError(f"unknown size '{text}' (known: {', '.join(SIZES)})")
    return text.upper()


def positive(text: str) -> int:
    value = int(text) if text.isdecimal() else 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a positive whole number")
    return value


def natural(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number")
    return int(text)


def seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of seconds above 0")
    return value


def add_suite(group: argparse._ArgumentGroup, size: str) -> None:
    """Options for where kernels come from, and how large they are; size: of those that are timed, by default."""
    group.add_argument(
        "--suite",
        type=named_suite,
        metavar="SUITE",
        help=SUITE_HELP,
    )
    group.add_argument(
        "--size",
        type=data_set,
        default=size,
        metavar="SIZE",
        help=f"data set of the timed kernels: {', '.join(SIZES)} (%(default)s)",
    )
    group.add_argument(
        "--check-size", type=data_set, default="SMALL", metavar="SIZE", help="data set of the check (%(default)s)"
    )
