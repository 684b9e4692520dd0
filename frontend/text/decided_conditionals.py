"""Conditionals of the preprocessor inside of functions, decided as the compiler decides them: what it leaves out is
left out of a text that is only compiled with the same flags, so that they stand in no loop's way."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct, field

from scopt.diagnostics import InputError
from scopt.frontend.text.preprocessor import preprocessed_text
from scopt.frontend.text.tokens import RawSource, RawToken, directive_words, is_pragma, scan
from scopt.options import Options

# What a group begins with in the copy that the preprocessor reads: the last words are the conditional's number, and the
# group's in it.
_MARK = "#pragma scopt_group"
_FOUND = re.compile(rf"^[ \t]*{_MARK} (\d+) (\d+)[ \t]*$", re.MULTILINE)
_MARKER = re.compile(r"#(?:line)? \d+(?: |$)")
_SHOWN = re.compile(r"[^\r\n]")
_OPENS, _GOES_ON = ("if", "ifdef", "ifndef"), ("elif", "elifdef", "elifndef", "else")
# Pragmas that say something of a loop to other compilers than gcc and clang, which pass over them.
_UNKNOWN = ("ivdep", "vector", "novector", "loop_count")
# What conditions may ask that depends on where they stand, or that changes something.
_UNSTABLE = re.compile(r"__(?:LINE__|COUNTER__|INCLUDE_LEVEL__)")


class _Conditional(Struct):
    """``#if`` to ``#endif``: the directives of one conditional, in order. braces: opened in front of it. behind: those
    that are opened behind it. inside: of the former, and not of parentheses, where it may be among what a macro is
    given."""

    braces: int
    inside: bool
    behind: int = 0
    directives: list[RawToken] = field(default_factory=list)


def with_decided_conditionals(source: bytes, file: str, options: Options) -> bytes:
    """A file with blanks in the place of the conditionals inside of functions, and of the groups that these leave out:
    every other byte stands where it stood. The file as it was where that can't be told. Pragmas for other compilers
    than gcc and clang are blanks in any case."""
    raw = scan(source)
    unknown = [(t.start, t.end) for t in raw.tokens if t.kind == "directive" and is_pragma(t, *_UNKNOWN)]
    if unknown:
        source = _blanked(raw, unknown).encode("latin-1")
        raw = scan(source)
    found = [one for one in _conditionals(raw.tokens) if one.inside and len(one.directives) > 1]
    if not found or any(_UNSTABLE.search(token.text) for one in found for token in one.directives):
        return source
    if any(_is_spliced(raw, token) for one in found for token in one.directives):
        return source
    try:
        marked = preprocessed_text(_marked(raw, found), file, options)
        taken = {int(match[1]): int(match[2]) for match in _FOUND.finditer(marked)}
        decided = _blanked(raw, _left_out(found, taken)).encode("latin-1")
        # Not so where the file includes itself, say.
        same = _code(marked) == _code(preprocessed_text(decided, file, options))
    except InputError:
        return source  # which is told where the file itself is read
    return decided if same else source


def _code(output: str) -> list[str]:
    """What the compiler reads, without what says where it stands."""
    lines = (line for line in output.split("\n") if not _MARKER.match(line) and not _FOUND.match(line))
    return [word for line in lines for word in line.split()]


def _conditionals(tokens: Iterable[RawToken]) -> Iterator[_Conditional]:
    """The conditionals that are closed. Behind one, what any of its groups leaves open counts."""
    opened: list[_Conditional] = []
    braces = parentheses = 0
    for token in tokens:
        if token.kind != "directive":
            braces += {"{": 1, "}": -1}.get(token.text, 0)
            parentheses = 0 if token.text in ("{", "}") else parentheses + {"(": 1, ")": -1}.get(token.text, 0)
            continue
        word = next(iter(directive_words(token.text)), "")
        if word in _OPENS:
            opened.append(_Conditional(braces, braces > 0 and parentheses <= 0, directives=[token]))
        elif opened and word in (*_GOES_ON, "endif"):
            opened[-1].directives.append(token)
            opened[-1].behind = max(opened[-1].behind, braces)
            braces, parentheses = opened[-1].braces, 0
        if opened and word == "endif":
            braces = opened[-1].behind
            yield opened.pop()


def _is_spliced(raw: RawSource, token: RawToken) -> bool:
    """Whether a directive shares a line with a comment that goes on behind it, or that ends in front of it."""
    start, end = raw.line_start(token.start), raw.line_end(token.end - 1)
    return bool(raw.text[start : token.start].strip() or raw.text[token.end : end].strip())


def _marked(raw: RawSource, found: Sequence[_Conditional]) -> bytes:
    """The file with a pragma at the beginning of each group; all lines keep their numbers."""
    marks: dict[int, str] = {}
    for number, one in enumerate(found):
        for group, token in enumerate(one.directives):
            mark = "" if token is one.directives[-1] else f"{_MARK} {number} {group}\n"
            marks[raw.line_end(token.end - 1)] = f"{mark}#line {raw.line(token.end - 1) + 1}\n"
    parts: list[str] = []
    position = 0
    for place in sorted(marks):
        parts += (raw.text[position:place], marks[place])
        position = place
    return "".join([*parts, raw.text[position:]]).encode("latin-1")


def _left_out(found: Sequence[_Conditional], taken: dict[int, int]) -> Iterator[tuple[int, int]]:
    """The extents of directives and of groups that aren't taken. Those in a group that is left out lie in it."""
    for number, one in enumerate(found):
        for token in one.directives:
            yield token.start, token.end
        for group, (token, following) in enumerate(zip(one.directives, one.directives[1:], strict=False)):
            if taken.get(number) != group:
                yield token.start, following.end


def _blanked(raw: RawSource, extents: Iterable[tuple[int, int]]) -> str:
    """The text with blanks for the bytes of some extents, which may overlap; lines stay lines."""
    parts: list[str] = []
    position = 0
    for start, end in sorted(extents):
        if end > position:
            parts += (raw.text[position : max(start, position)], _SHOWN.sub(" ", raw.text[max(start, position) : end]))
            position = end
    return "".join([*parts, raw.text[position:]])
