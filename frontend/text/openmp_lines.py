"""The lines ``#pragma omp`` of a file that is compiled without OpenMP: what they say is left out, so that scopt's own
directives can be turned on."""

from __future__ import annotations

import re
from collections.abc import Iterator

from scopt.frontend.text.tokens import RawToken, is_pragma, scan

_MARKER = re.compile(rb'#(?:line)?[ \t]+(\d+)[ \t]+"((?:[^"\\]|\\.)*)"')
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


def are_lines_of(source: bytes, name: str, preprocessed: bytes) -> bool:
    """Whether all pragmas of OpenMP in a preprocessed file are such lines of the file itself, not of a header or made
    by a macro. name: of the file in line markers."""
    raw = scan(source)
    lines = {line for token in _pragmas(raw.tokens) for line in range(raw.line(token.start), raw.line(token.end) + 1)}
    file, number = b"", 0
    own = name.encode("utf-8", "surrogateescape").replace(b"\\", b"\\\\").replace(b'"', b'\\"')
    for text in preprocessed.split(b"\n"):
        if (marker := _MARKER.match(text)) is not None:
            number, file = int(marker[1]), marker[2]
            continue
        if _PRAGMA.match(text) and not (file == own and number in lines):
            return False
        number += 1
    return True


def _pragmas(tokens: tuple[RawToken, ...]) -> Iterator[RawToken]:
    return (token for token in tokens if token.kind == "directive" and is_pragma(token, "omp"))
