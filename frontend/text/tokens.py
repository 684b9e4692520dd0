"""Tokens of raw C text: comments, strings, directives and line continuations told apart, with byte offsets.

Text is bytes decoded as latin-1, so that an offset into it is a byte offset of the file and no byte is ever lost.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Literal, NamedTuple

from msgspec import Struct

RawKind = Literal["word", "number", "string", "punct", "comment", "directive"]

IDENTIFIER = re.compile(r"[A-Za-z_$][\w$]*", re.ASCII)
_STRING = r'(?:u8|[uUL])?"(?:\\(?:\r\n|[\s\S])|[^"\\\n])*"'
_CHAR = r"(?:u8|[uUL])?'(?:\\(?:\r\n|[\s\S])|[^'\\\n])*'"
_COMMENT = r"/\*[\s\S]*?(?:\*/|\Z)|//(?:\\\r?\n|[^\n])*"
# The rest of a directive: to the end of the line, but a comment or a continuation takes the next line in.
_DIRECTIVE_REST = rf"(?:\\\r?\n|{_STRING}|{_CHAR}|{_COMMENT}|[^\n])*"
_TOKEN = re.compile(
    rf"(?P<space>(?:[ \t\f\v\r]|\\\r?\n)+)|(?P<newline>\n)|(?P<comment>{_COMMENT})|(?P<string>{_STRING}|{_CHAR})"
    r"|(?P<word>[A-Za-z_$\x80-\xff][\w$\x80-\xff]*)|(?P<number>\.?\d(?:[eEpP][+-]|[\w.$]|'(?=\w))*)"
    r"|(?P<punct>%:%:|%:|\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\#\#|[\s\S])",
    re.ASCII,
)
_REST = re.compile(_DIRECTIVE_REST)


class RawToken(NamedTuple):
    """A token of the source; `text` of a directive is the whole logical line from ``#`` on, without its newline."""

    kind: RawKind
    text: str
    start: int
    end: int


class RawSource(Struct, frozen=True):
    """A source file cut into tokens.

    text: the bytes as latin-1. tokens: all but white space, in order. line_starts: offset of each physical line.
    """

    text: str
    tokens: tuple[RawToken, ...]
    line_starts: tuple[int, ...]

    def line(self, offset: int) -> int:
        """Number of the physical line (from 1) that an offset lies in."""
        return bisect_right(self.line_starts, offset)

    def column(self, offset: int) -> int:
        """Column (from 1, in bytes)."""
        return offset - self.line_starts[self.line(offset) - 1] + 1

    def line_start(self, offset: int) -> int:
        return self.line_starts[self.line(offset) - 1]

    def line_end(self, offset: int) -> int:
        """Offset just past the newline of the line that an offset lies in."""
        line = self.line(offset)
        return self.line_starts[line] if line < len(self.line_starts) else len(self.text)

    def code_between(self, start: int, end: int) -> tuple[RawToken, ...]:
        """The tokens that begin in [start, end), comments and directives left out."""
        return tuple(t for t in self.tokens_between(start, end) if t.kind not in ("comment", "directive"))

    def tokens_between(self, start: int, end: int) -> tuple[RawToken, ...]:
        low = bisect_right(self.tokens, start - 1, key=lambda token: token.start)
        high = bisect_right(self.tokens, end - 1, key=lambda token: token.start)
        return self.tokens[low:high]


def scan(source: bytes) -> RawSource:
    """Cut a source file into tokens. Never fails: what is no C comes out as single characters."""
    text = source.decode("latin-1")
    tokens: list[RawToken] = []
    position, fresh_line = 0, True
    while position < len(text):
        match = _TOKEN.match(text, position)
        assert match is not None
        assert match.lastgroup is not None
        kind, value = match.lastgroup, match.group()
        end = match.end()
        if kind == "newline":
            fresh_line = True
        elif kind == "comment":
            tokens.append(RawToken("comment", value, position, end))
        elif kind != "space":
            if fresh_line and (value == "#" or value == "%:"):
                kind, value, end = "directive", *_directive(text, position)
            tokens.append(RawToken(kind, value, position, end))  # type: ignore[arg-type]
            fresh_line = False
        position = end
    starts = [0, *(m.end() for m in re.finditer("\n", text))]
    if starts[-1] == len(text) and len(starts) > 1:
        starts.pop()
    return RawSource(text, tuple(tokens), tuple(starts))


def _directive(text: str, start: int) -> tuple[str, int]:
    match = _REST.match(text, start)
    assert match is not None
    value = match.group().removesuffix("\r")
    return value, start + len(value)


def directive_words(directive: str) -> list[str]:
    """The words and punctuators of a directive's logical line, ``#`` left out:
    ``# pragma \\⏎ scop`` gives pragma, scop."""
    joined = re.sub(r"\\\r?\n", "", directive)
    joined = re.sub(_COMMENT, " ", joined)
    return re.findall(rf"{_STRING}|[\w$]+|[^\s\w]", joined.lstrip().removeprefix("%:").removeprefix("#"))


def is_line_directive(token: RawToken) -> bool:
    """Whether a raw token is a directive that says which line this is: ``#line 3``, or ``# 3``."""
    if token.kind != "directive":
        return False
    words = directive_words(token.text)
    return bool(words) and (words[0] == "line" or words[0].isdigit())


def is_pragma(token: RawToken, *names: str) -> bool:
    """Whether a raw directive is ``#pragma`` (with one of the names as its first word, if any are given)."""
    words = directive_words(token.text)
    return words[:1] == ["pragma"] and (not names or (len(words) > 1 and words[1] in names))


def around_pragma(tokens: Sequence[RawToken], place: int) -> tuple[int, int] | None:
    """The places, among some tokens, of ``#if`` and ``#endif`` around nothing but the directive at a place."""
    if place == 0 or place + 1 == len(tokens) or any(tokens[k].kind != "directive" for k in (place - 1, place + 1)):
        return None
    opens = directive_words(tokens[place - 1].text)[:1] in (["if"], ["ifdef"], ["ifndef"])
    return (place - 1, place + 1) if opens and directive_words(tokens[place + 1].text) == ["endif"] else None


def pragma_token(raw: RawSource, kind: str, line: int) -> RawToken | None:
    """The directive ``#pragma kind`` of the source whose logical line holds physical line `line`."""
    for token in raw.tokens:
        if (
            token.kind == "directive"
            and raw.line(token.start) <= line <= raw.line(token.end)
            and is_pragma(token, kind)
        ):
            return token
    return None
