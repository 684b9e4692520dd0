"""The values of options: from the word on the command line to what it stands for, for argparse."""

from __future__ import annotations

import argparse
import math
import os


def tile_sizes(text: str) -> tuple[bool, tuple[int, ...]]:
    """(whether to tile, the sizes)."""
    if text == "none":
        return False, ()
    try:
        sizes = tuple(int(size) for size in text.split(","))
    except ValueError:
        sizes = (0,)
    if min(sizes) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a list of positive numbers such as 32,64 nor 'none'")
    return True, sizes


def natural(text: str) -> int:
    if not text.isascii() or not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a natural number")
    return int(text)


def positive(text: str) -> int:
    if (number := natural(text)) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return number


def processors() -> int:
    """How many processes to have by default: one for each processor that scopt may use, but no more than gain."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(usable, 4)


def seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds")
    return seconds
