"""A file's text before and after, side by side, with remarks below the lines that they are about.

Bytes become text as people expect them: UTF-8 where it is, else Windows-1252 or Latin-1 byte by byte; control
characters are made visible.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from typing import Any

from msgspec import Struct

from scopt.astgen.splice import Piece
from scopt.diagnostics import InputError, Location, Remark

# Unchanged text: so many lines around what changed are shown at once, longer stretches fold;
# beyond the limit they are left out.
_CONTEXT = 6
_FOLDED = 1500
# Lines of one changed piece, on either side.
_CHANGED = 1500
# Pygments' types of tokens by the class that the page's style knows; a subtype has the class of its nearest ancestor.
_CLASSES = {
    "Comment.Preproc": "p",
    "Comment.PreprocFile": "s",
    "Comment": "c",
    "Keyword": "k",
    "Literal.String": "s",
    "Literal.Number": "n",
}


class Segment(Struct, frozen=True):
    """Lines [first, last) of the source that became lines [new_first, new_last) of the result, counted from 0.
    changed: they differ."""

    first: int
    last: int
    new_first: int
    new_last: int
    changed: bool


def check_highlighter() -> None:
    """Raises InputError if Pygments isn't installed."""
    if importlib.util.find_spec("pygments") is None:
        raise InputError("scopt: error: --report needs Pygments; install it with: pip install 'scopt[report]'")


def decoded(data: bytes) -> str:
    """The bytes as text, line by line: bytes that are no UTF-8 as Windows-1252, without control characters but for
    tabs; lines end in ``\\n``."""
    text = data.replace(b"\r\n", b"\n").decode("utf-8", "surrogateescape")
    return "".join(_visible(character) for character in text)


def _visible(character: str) -> str:
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:
        shown = bytes([code - 0xDC00]).decode("cp1252", "replace")
        return shown
    if code < 0x20 and character not in "\n\t":
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else "\ufffd" if 0x80 <= code < 0xA0 or 0xFFFE <= code <= 0xFFFF else character


def highlighted(text: str) -> list[str]:
    """The lines of C as HTML, their tokens in elements with a class."""
    lexers: Any = importlib.import_module("pygments.lexers.c_cpp")
    lexer = lexers.CLexer(stripnl=False, ensurenl=False)
    lines = [""]
    for kind, value in lexer.get_tokens(text):
        name = _class(kind)
        for number, part in enumerate(value.split("\n")):
            if number:
                lines.append("")
            if part:
                lines[-1] += f'<span class="{name}">{escape(part)}</span>' if name else escape(part)
    return lines[:-1] if text.endswith("\n") or not text else lines


def _class(kind: Any) -> str:
    while kind is not None:
        if (found := _CLASSES.get(str(kind).removeprefix("Token."))) is not None:
            return found
        kind = kind.parent
    return ""


def segments(source: bytes, result: bytes, pieces: Iterable[Piece]) -> list[Segment]:
    """The lines of both files in order, changed and unchanged ones in turn."""
    changed: list[list[int]] = []
    for piece in pieces:
        old, new = _lines(source, piece.start, piece.end), _lines(result, piece.new_start, piece.new_end)
        if changed and (old[0] < changed[-1][1] or new[0] < changed[-1][3]):
            changed[-1][1], changed[-1][3] = max(changed[-1][1], old[1]), max(changed[-1][3], new[1])
        else:
            changed.append([*old, *new])
    found: list[Segment] = []
    at, new_at = 0, 0
    for first, last, new_first, new_last in changed:
        if first > at:
            found.append(Segment(at, first, new_at, new_first, changed=False))
        found.append(Segment(first, last, new_first, new_last, changed=True))
        at, new_at = last, new_last
    end, new_end = _count(source), _count(result)
    if end > at:
        found.append(Segment(at, end, new_at, new_end, changed=False))
    return found


def _lines(data: bytes, start: int, end: int) -> tuple[int, int]:
    """The lines that bytes [start, end) touch, half-open; none for an empty range at the beginning of a line."""
    first = data.count(b"\n", 0, start)
    begins = start == 0 or data[start - 1 : start] == b"\n"
    if start == end and begins:
        return first, first
    whole = data[end - 1 : end] == b"\n" and end > start
    return first, data.count(b"\n", 0, end) + (0 if whole else 1)


def _count(data: bytes) -> int:
    return data.count(b"\n") + (0 if data.endswith(b"\n") or not data else 1)


def side_by_side(
    source: bytes,
    result: bytes,
    pieces: Iterable[Piece],
    remarks: Mapping[int, Sequence[Remark]],
    anchors: Mapping[int, str],
) -> Iterator[str]:
    """HTML: rows of two columns. remarks: by line of the source, counted from 1;
    anchors: ids of lines, for links to them."""
    old, new = highlighted(decoded(source)), highlighted(decoded(result))
    folded = 0
    for segment in segments(source, result, pieces):
        if segment.changed:
            yield _row(
                "changed",
                _column(old, segment.first, segment.last, remarks, anchors),
                _column(new, segment.new_first, segment.new_last),
            )
            continue
        told = sorted(line - 1 for line in {*remarks, *anchors} if segment.first < line <= segment.last)
        for start, end, hidden in _folds(segment, told):
            shift = segment.new_first - segment.first
            if hidden and folded + end - start > _FOLDED:
                yield f'<p class="fold">{end - start} unchanged lines are left out here</p>'
                continue
            folded += end - start if hidden else 0
            row = _row("same", _column(old, start, end, remarks, anchors), _column(new, start + shift, end + shift))
            yield (
                f'<details class="fold"><summary>{end - start} unchanged lines</summary>{row}</details>'
                if hidden
                else row
            )


def _folds(segment: Segment, told: Sequence[int]) -> Iterator[tuple[int, int, bool]]:
    """Parts of unchanged lines: those beside changes and remarks are shown, longer stretches between them hidden."""
    beside = ((line - _CONTEXT, line + _CONTEXT) for line in told)
    keep = [(segment.first, segment.first + _CONTEXT), *beside, (segment.last - _CONTEXT, segment.last)]
    at = segment.first
    for low, high in keep:
        low, high = max(low, at), min(high, segment.last)
        if high <= low and high <= at:
            continue
        if low - at > 2 * _CONTEXT:
            yield at, low, True
            at = low
        if high > at:
            yield at, high, False
            at = high


def _row(kind: str, left: str, right: str) -> str:
    return f'<div class="row {kind}"><pre>{left}</pre><pre>{right}</pre></div>'


def _column(
    lines: Sequence[str],
    first: int,
    last: int,
    remarks: Mapping[int, Sequence[Remark]] | None = None,
    anchors: Mapping[int, str] | None = None,
) -> str:
    parts = []
    for number in range(first + 1, min(last, first + _CHANGED) + 1):
        name = f' id="{anchors[number]}"' if anchors and number in anchors else ""
        parts.append(f'<span class="l" data-n="{number}"{name}>{lines[number - 1]}\n</span>')
        parts += [remark_html(remark) for remark in (remarks or {}).get(number, ())]
    if last - first > _CHANGED:
        parts.append(f'<span class="remark">{last - first - _CHANGED} more lines are left out here</span>')
    return "".join(parts)


def place_html(place: Location, name: str) -> str:
    """A line as a link, or, in another file than the page's, in words."""
    if place.file == name:
        return f'<a href="#line-{place.line}">line {place.line}</a>'
    return escape(decoded_name(f"{place.file}, line {place.line}"))


def remark_html(remark: Remark) -> str:
    """A remark with its suggestion and its id."""
    hint = f' <span class="hint">{escape(remark.hint)}</span>' if remark.hint else ""
    return (
        f'<span class="remark {remark.kind}">{escape(decoded_name(remark.message))}{hint} '
        f'<span class="id">{escape(remark.id)}</span></span>'
    )


def decoded_name(text: str) -> str:
    """Text that may have bytes of a file's name in it, or of the source read as Latin-1."""
    return "".join(_visible(character) for character in text)
