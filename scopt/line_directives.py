"""`#line` directives around replaced text: what follows keeps the line numbers of the user's file (C11 6.10.4)."""

from __future__ import annotations

from collections.abc import Iterator

from scopt.astgen.splice import Replacement
from scopt.diagnostics import InputError
from scopt.frontend.text.tokens import RawSource, directive_words, is_line_directive


def with_line_directives(raw: RawSource, replacement: Replacement, newline: str, file: str) -> Replacement:
    """The same replacement between directives that give its first line, and the text after it, the numbers that they
    have in the user's file.

    New text that is longer than what it replaces stays on the last line of that, so that no debugger shows the lines
    after it instead. Directives name no file: the name that is in force stays. A replacement inside a line gets lines
    of its own.
    Raises InputError where the file has ``#line`` directives of its own whose numbers aren't written as digits.
    """
    start, end, text = replacement
    first, following = _presumed_line(raw, start, file), _presumed_line(raw, end, file)
    # What ends with a line is followed by the next one; what ends inside a line goes on there. An insertion has no
    # lines of its own.
    last = max(first, following - 1 if raw.line_start(end) == end or end == len(raw.text) else following)
    lines = text.decode("latin-1").splitlines(keepends=True)
    lines[-1] += "" if lines[-1].endswith("\n") else newline
    before = newline if raw.line_start(start) != start else ""
    numbered = [
        f"{before}#line {first}{newline}",
        *_kept_back(lines, first, last, newline),
        f"#line {following}{newline}",
    ]
    return start, end, "".join(numbered).encode("latin-1")


def _kept_back(lines: list[str], first: int, last: int, newline: str) -> Iterator[str]:
    """The lines, numbered from `first` on, with directives where a statement or
    a directive has ended and the number is above `last`."""
    number, previous = first, ""
    for line in lines:
        ended = (
            previous.endswith((";", "{", "}"))
            or (previous.startswith("#") and not previous.endswith("\\"))
            or _is_loop(previous)
        )
        if number > last and ended:
            yield f"#line {last}{newline}"
            number = last
        yield line
        number, previous = number + 1, line.strip()


def _is_loop(line: str) -> bool:
    return line.startswith(("for (", "if (")) and line.endswith(")")


def _presumed_line(raw: RawSource, offset: int, file: str) -> int:
    """The number that the compiler gives to the line which an offset lies in: the physical one, unless the file says
    otherwise before it."""
    own = [token for token in raw.tokens if token.start < offset and is_line_directive(token)]
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
