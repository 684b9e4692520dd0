"""Puts the tokens of preprocessed lines back into the columns that they have in the user's file, as far as they can be told."""

from __future__ import annotations

import re
from collections.abc import Iterator

from scopt.frontend.preprocess import Preprocessed
from scopt.frontend.tokens import RawToken

_PIECE = re.compile(r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|[A-Za-z_$\x80-\xff][\w$\x80-\xff]*|\.?\d(?:[eEpP][+-]|[\w.])*|\S", re.ASCII)


def realign(result: Preprocessed, start: int, text: str) -> str:
    """`text`, which begins at offset `start` of the preprocessed text, with its tokens moved by added blanks. Lines stay lines."""
    line = result.text.count("\n", 0, start)
    column = start - (result.text.rfind("\n", 0, start) + 1)
    lines = text.split("\n")
    for index, content in enumerate(lines):
        run = result.run(line + index)
        if run.user and content.strip() and not content.lstrip().startswith("#"):
            number = run.number + line + index - run.first
            lines[index] = _line(content, result, number, column if index == 0 else 0)
    return "\n".join(lines)


def _line(content: str, result: Preprocessed, number: int, offset: int) -> str:
    """One line; `offset` is the column (from 0) where `content` begins."""
    raw = result.raw
    if not 0 < number <= len(raw.line_starts):
        return content
    start = raw.line_starts[number - 1]
    source = _tokens_of_line(result, start, raw.line_end(start))
    out, at, previous_end = "", offset, 0
    wanted = next(source, None)
    for match in _PIECE.finditer(content):
        piece, gap = match.group(), content[previous_end: match.start()]
        while wanted is not None and wanted.text in result.macros and wanted.text != piece:
            wanted = next(source, None)
            wanted = _skip_arguments(wanted, source)
        out, at = out + gap, at + len(gap)
        if wanted is not None and wanted.text.startswith(piece):
            target = wanted.start - start
            if target > at:
                out, at = out + " " * (target - at), target
            elif target < at and gap:
                # Blanks that aren't in the source may go, but one has to stay.
                spare = min(at - target, len(gap) - 1)
                out, at = out[: len(out) - spare], at - spare
            if wanted.text == piece:
                wanted = next(source, None)
            else:
                wanted = RawToken(wanted.kind, wanted.text[len(piece):], wanted.start + len(piece), wanted.end)
        out, at, previous_end = out + piece, at + len(piece), match.end()
    return out


def _tokens_of_line(result: Preprocessed, start: int, end: int) -> Iterator[RawToken]:
    return iter([t for t in result.raw.tokens_between(start, end) if t.kind not in ("comment", "directive")])


def _skip_arguments(token: RawToken | None, source: Iterator[RawToken]) -> RawToken | None:
    """The token after a macro's arguments, if it has any."""
    if token is None or token.text != "(":
        return token
    depth = 1
    for following in source:
        depth += (following.text == "(") - (following.text == ")")
        if depth == 0:
            return next(source, None)
    return None
