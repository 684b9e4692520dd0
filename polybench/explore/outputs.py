"""What a program computes, and whether two programs compute the same: a kernel's dump of its arrays, a plain file's
output and exit status."""

from __future__ import annotations

import zlib

from msgspec import Struct

from scopt.polybench.compare import DumpError, first_difference, parse_dump
from scopt.polybench.processes import Finished


class Output(Struct, frozen=True):
    """A finished run. code: its exit status.
    packed: what it printed where its results are (stderr of a kernel), compressed."""

    code: int
    packed: bytes

    @property
    def text(self) -> str:
        return zlib.decompress(self.packed).decode("utf-8", "surrogateescape")


def output_of(done: Finished, *, is_kernel: bool) -> Output:
    """The part of a run that is compared."""
    text = done.errors if is_kernel else done.output
    return Output(done.code, zlib.compress(text.encode("utf-8", "surrogateescape")))


def difference(expected: Output, actual: Output, *, is_kernel: bool) -> str | None:
    """Where two outputs part, in one line; None if they are the same. A kernel's values are compared to the last bit, a
    plain file's byte by byte."""
    if expected.code != actual.code:
        return f"exit status {actual.code} instead of {expected.code}"
    if not is_kernel:
        return _first_different_line(expected.text, actual.text)
    try:
        return first_difference(parse_dump(expected.text), parse_dump(actual.text))
    except DumpError as error:
        return str(error)


def _first_different_line(expected: str, actual: str) -> str | None:
    if expected == actual:
        return None
    lines, others = expected.split("\n"), actual.split("\n")
    for number, (line, other) in enumerate(zip(lines, others, strict=False), 1):
        if line != other:
            return f"line {number} of the output is {other[:80]!r} instead of {line[:80]!r}"
    return f"the output has {len(others)} lines instead of {len(lines)}"
