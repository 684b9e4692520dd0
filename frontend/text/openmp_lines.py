"""The lines ``#pragma omp`` of a file, and of its headers, that are compiled without OpenMP: what they say is left out,
so that scopt's own directives can be turned on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from scopt.frontend.text.tokens import RawToken, is_pragma, scan

_MARKER = re.compile(rb'#(?:line)?[ \t]+(\d+)[ \t]+"((?:[^"\\]|\\.)*)"((?:[ \t]+\d)*)')
_PRAGMA = re.compile(rb"[ \t]*#[ \t]*pragma[ \t]+omp\b")
_SHOWN = re.compile(r"[^\r\n]")


def without_openmp(source: bytes) -> bytes:
    """A file with blanks in the place of these lines: every other byte stands where it stood."""
    parts: list[str] = []
    raw, position = scan(source), 0
    for token in _pragmas(raw.tokens):
        parts += (raw.text[position : token.start], _SHOWN.sub(" ", token.text))
        position = token.end
    return "".join([*parts, raw.text[position:]]).encode("latin-1")


def can_be_left_out(source: bytes, name: str, preprocessed: bytes) -> bool:
    """Whether each pragma of OpenMP in a preprocessed file is such a line of the file itself, or of a header: one that
    a macro makes can't be told from scopt's own. name: of the file in line markers."""
    raw = scan(source)
    lines = {line for token in _pragmas(raw.tokens) for line in range(raw.line(token.start), raw.line(token.end) + 1)}
    own = name.encode("utf-8", "surrogateescape").replace(b"\\", b"\\\\").replace(b'"', b'\\"')
    return all(line.depth or (line.file == own and line.number in lines) for line in _found(preprocessed))


def without_headers_openmp(preprocessed: bytes) -> bytes:
    """A preprocessed file with blanks in the place of the pragmas that its headers have."""
    lines = preprocessed.split(b"\n")
    for line in _found(preprocessed):
        if line.depth:
            lines[line.place] = b""
    return b"\n".join(lines)


class _Line(NamedTuple):
    """A pragma of a preprocessed file. place: its line there. number: its line of the file that it came from. depth: of
    headers around it, 0 in the file itself."""

    place: int
    file: bytes
    number: int
    depth: int


def _found(preprocessed: bytes) -> Iterator[_Line]:
    file, number, depth = b"", 0, 0
    for place, text in enumerate(preprocessed.split(b"\n")):
        if (marker := _MARKER.match(text)) is not None:
            number, file, flags = int(marker[1]), marker[2], marker[3].split()
            depth = max(0, depth + (b"1" in flags) - (b"2" in flags))
            continue
        if _PRAGMA.match(text):
            yield _Line(place, file, number, depth)
        number += 1


def _pragmas(tokens: tuple[RawToken, ...]) -> Iterator[RawToken]:
    return (token for token in tokens if token.kind == "directive" and is_pragma(token, "omp"))
