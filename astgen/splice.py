"""Puts new text into a file's bytes; what lies between the replacements stays as it is, byte for byte."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

Replacement = tuple[int, int, bytes]


class Piece(Struct, frozen=True):
    """Bytes [start, end) of the source that became bytes [new_start, new_end) of the result."""

    start: int
    end: int
    new_start: int
    new_end: int


def pieces(replacements: Sequence[Replacement]) -> tuple[Piece, ...]:
    """Where the replacements of a `splice` stand, before and after, in order."""
    found: list[Piece] = []
    shift = 0
    for start, end, text in sorted(replacements, key=lambda r: (r[0], r[1])):
        found.append(Piece(start, end, start + shift, start + shift + len(text)))
        shift += len(text) - (end - start)
    return tuple(found)


def splice(source: bytes, replacements: Sequence[Replacement]) -> bytes:
    """`source` with each ``source[start:end]`` replaced by its bytes. The order of the replacements doesn't matter.

    Raises ValueError if two of them overlap or one lies outside of the source.
    """
    parts: list[bytes] = []
    position = 0
    for start, end, text in sorted(replacements, key=lambda r: (r[0], r[1])):
        if not 0 <= start <= end <= len(source):
            raise ValueError(f"the replacement [{start}, {end}) lies outside of the {len(source)} bytes of the source")
        if start < position:
            raise ValueError(f"two replacements overlap at byte {start}")
        parts += (source[position:start], text)
        position = end
    return b"".join([*parts, source[position:]])


def as_bytes(text: str, *, indent: str = "", newline: str = "\n", whole_lines: bool = True) -> bytes:
    """An emitted text, lines that end in ``\\n`` and begin at column 0, as bytes for a place in a file.

    indent: put before every line that isn't empty; conditional directives stay at column 0. newline: the file's line
      end.
    whole_lines: the text replaces whole lines; otherwise it stands inside a line: its first line isn't indented, and it
    ends without newline. Each character is one byte, as in text that was decoded from the source as latin-1.
    """
    lines = text.rstrip("\n").split("\n")
    indented = [line if not line or _is_conditional(line) else indent + line for line in lines]
    if whole_lines:
        return (newline.join(indented) + newline).encode("latin-1")
    # A directive has its line to itself.
    first = newline + indented[0] if lines[0].startswith("#") else lines[0]
    after = newline if lines[-1].startswith("#") else ""
    return (newline.join([first, *indented[1:]]) + after).encode("latin-1")


def _is_conditional(line: str) -> bool:
    """Whether a line is a directive of the preprocessor other than a pragma,
    which is indented like the loop that it belongs to."""
    return line.startswith("#") and not line.startswith("#pragma")
