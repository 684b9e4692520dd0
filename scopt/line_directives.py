"""`#line` directives around replaced text: what follows keeps the line numbers of the user's file (C11 6.10.4)."""

from __future__ import annotations

from scopt.astgen.splice import Replacement
from scopt.diagnostics import InputError
from scopt.frontend.preprocess import is_line_directive
from scopt.frontend.tokens import RawSource, directive_words


def with_line_directives(raw: RawSource, replacement: Replacement, newline: str, file: str) -> Replacement:
    """The same replacement between directives that give its first line, and the text after it, the numbers that they have in the user's file.

    Directives name no file: the name that is in force stays. A replacement inside a line gets lines of its own.
    Raises InputError where the file has ``#line`` directives of its own whose numbers aren't written as digits.
    """
    start, end, text = replacement
    end_of_line = newline.encode()
    inside = raw.line_start(start) != start
    before = end_of_line * inside + _directive(raw, start, file) + end_of_line
    after = end_of_line * (not text.endswith(b"\n")) + _directive(raw, end, file) + end_of_line
    return start, end, before + text + after


def _directive(raw: RawSource, offset: int, file: str) -> bytes:
    return b"#line %d" % _presumed_line(raw, offset, file)


def _presumed_line(raw: RawSource, offset: int, file: str) -> int:
    """The number that the compiler gives to the line which an offset lies in: the physical one, unless the file says otherwise before it."""
    own = [token for token in raw.tokens if token.kind == "directive" and token.start < offset and is_line_directive(token)]
    # An offset at the very end, after the last newline, is the line that would come next.
    line = raw.line(offset) + (offset == len(raw.text) and raw.text.endswith("\n"))
    if not own:
        return line
    words = directive_words(own[-1].text)
    number = words[1] if words[0] == "line" and len(words) > 1 else words[0]
    if not number.isdigit():
        place = f"{file}:{raw.line(own[-1].start)}:{raw.column(own[-1].start)}"
        raise InputError(f"{place}: error: lines can't be numbered after a #line whose number is a macro")
    return int(number) + line - raw.line(own[-1].end) - 1
