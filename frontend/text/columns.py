"""Columns of preprocessed tokens in the user's file: what comes from a macro gets the place of its name."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from scopt.frontend.text.preprocessed import Preprocessed
from scopt.frontend.text.tokens import RawToken

_PIECE = re.compile(
    r"\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'|[A-Za-z_$\x80-\xff][\w$\x80-\xff]*|\.?\d(?:[eEpP][+-]|[\w.])*|\S", re.ASCII
)


class Moved(NamedTuple):
    """A token that begins at column `text` of a preprocessed line and at column `source` of the file."""

    text: int
    source: int


def moved_columns(result: Preprocessed, text_line: int, content: str) -> tuple[Moved, ...]:
    """Where the tokens of one line of the preprocessed text (its number from 0) stand in the user's file;
    columns count from 1."""
    run, raw = result.run(text_line), result.raw
    number = run.number + text_line - run.first
    if not run.user or not 0 < number <= len(raw.line_starts):
        return ()
    start = raw.line_starts[number - 1]
    first = start + len(content) - len(content.lstrip(" ")) if _goes_on(result, text_line) else start
    tokens = [t for t in raw.tokens_between(first, raw.line_end(start)) if t.kind not in ("comment", "directive")]
    return tuple(_aligned(content, tokens, start, result))


def _goes_on(result: Preprocessed, text_line: int) -> bool:
    """Whether a line of the text has the rest of a source line, in its columns, after directives that were put into the
    middle of that."""
    position = bisect_right(result.runs, text_line, key=lambda run: run.first) - 1
    run, before = result.runs[position], result.runs[position - 1] if position > 0 else None
    if before is None or run.first != text_line or not before.user:
        return False
    return before.number <= run.number < before.number + run.first - before.first


def source_column(moved: tuple[Moved, ...], column: int) -> int:
    """The file's column of a column of the text; 0 if nothing is known."""
    index = bisect_right(moved, column, key=lambda m: m.text) - 1
    return moved[index].source if index >= 0 else 0


def _aligned(content: str, tokens: list[RawToken], start: int, result: Preprocessed) -> Iterator[Moved]:
    """Walk over both sides at once. Where they differ, a macro was expanded:
    its tokens go on until the token after it comes."""
    position, macro = 0, -1
    for match in _PIECE.finditer(content):
        piece = match.group()
        if macro >= 0 and position < len(tokens) and tokens[position].text == piece:
            macro = -1
        while (
            macro < 0
            and position < len(tokens)
            and tokens[position].text != piece
            and tokens[position].text in result.all_macros
        ):
            macro = position
            position = _after_arguments(tokens, position)
            if position < len(tokens) and tokens[position].text == piece:
                macro = -1
        if macro >= 0:
            yield Moved(match.start() + 1, tokens[macro].start - start + 1)
        elif position < len(tokens):
            token = tokens[position]
            inside = token.text.find(piece)
            yield Moved(match.start() + 1, token.start + max(inside, 0) - start + 1)
            if token.text.endswith(piece):
                position += 1


def _after_arguments(tokens: list[RawToken], position: int) -> int:
    """The position after a macro's name and the arguments that may follow it."""
    position += 1
    if position >= len(tokens) or tokens[position].text != "(":
        return position
    depth = 0
    for index in range(position, len(tokens)):
        depth += (tokens[index].text == "(") - (tokens[index].text == ")")
        if depth == 0:
            return index + 1
    return len(tokens)
