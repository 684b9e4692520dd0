"""The translation unit cut into external declarations, and those of headers that the user's file needs.

Headers declare hundreds of functions; parsing only what is named keeps the front end fast and away from what the parser
can't read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from scopt.frontend.text.gnu import arguments, closing
from scopt.frontend.text.preprocessed import Preprocessed
from scopt.poly.same_object import of_same

_STRING = r'"(?:\\[\s\S]|[^"\\\n])*"|\'(?:\\[\s\S]|[^\'\\\n])*\''
_STRUCTURE = re.compile(rf"{_STRING}|^[ \t]*#[^\n]*|[(){{}};=]", re.MULTILINE)
_NOTHING = re.compile(r"(?:\s+|^[ \t]*#[^\n]*)*", re.MULTILINE)
_WORD = re.compile(r"[A-Za-z_$\x80-\xff][\w$\x80-\xff]*", re.ASCII)
_ATTRIBUTE = re.compile(r"\b(?:__attribute__|__attribute|__asm__|__asm|__declspec|_Alignas|__typeof__|__typeof)\b")
# Those without much nesting, nearly all.
_PLAIN_ATTRIBUTE = re.compile(r"__attribute__\s*\(\([^()]*(?:\([^()]*\)[^()]*)*\)\)")
_TAG = re.compile(r"\b(?:struct|union|enum)\s+(\w+)")
_DECLARED = re.compile(r"(\w+)\s*(?=[)(\[,;=:])")
_NOT_NAMES = frozenset(
    """
        void char short int long float double signed unsigned const volatile restrict struct union enum extern
        static inline typedef register auto __const __restrict __inline __extension__ __signed__ __volatile__
        _Noreturn _Bool _Complex __inline__ __restrict__
    """.split()
)


class Chunk(NamedTuple):
    """One external declaration: text from `start` to `end`; body: offset of a function definition's brace, else -1.

    user: it has text of the user's file. system: all of it is from a system header.
    """

    start: int
    end: int
    body: int
    user: bool
    system: bool


@of_same(2)
def split(result: Preprocessed) -> tuple[Chunk, ...]:
    """Cut the text after each ``;`` and function body at the outermost level."""
    return tuple(_split(result))


def _split(result: Preprocessed) -> Iterator[Chunk]:
    text = result.text
    origin = _Origins(result)
    start, depth, assigned, body, pending = 0, 0, False, -1, 0
    for match in _STRUCTURE.finditer(text):
        character = match.group()
        if len(character) > 1 or character in "\"'#":
            continue
        if character in "({":
            if character == "{" and depth == 0 and not assigned and _opens_function(text, start, match.start()):
                body = match.start()
            depth += 1
            pending += character == "("
        elif character in ")}":
            depth = max(0, depth - 1)
            pending -= character == ")"
            if character == "}" and depth == 0 and body >= 0:
                yield origin.chunk(start, match.end(), body)
                start, assigned, body = match.end(), False, -1
        elif character == "=":
            assigned = assigned or depth == 0
        elif depth == 0:
            yield origin.chunk(start, match.end(), -1)
            start, assigned, body = match.end(), False, -1
    if text[start:].strip():
        yield origin.chunk(start, len(text), body)


class _Origins:
    """Which files a stretch of the text comes from; asked in order of offsets."""

    def __init__(self, result: Preprocessed) -> None:
        self.text = result.text
        offsets, offset = [0], 0
        while (offset := self.text.find("\n", offset) + 1) > 0:
            offsets.append(offset)
        self.runs = [(offsets[min(run.first, len(offsets) - 1)], run.user, run.system) for run in result.runs]
        self.next = 0

    def chunk(self, start: int, end: int, body: int) -> Chunk:
        # White space before the first token belongs to nobody.
        first = _NOTHING.match(self.text, start)
        begin = min(first.end(), end) if first is not None else start
        while self.next + 1 < len(self.runs) and self.runs[self.next + 1][0] <= begin:
            self.next += 1
        user, system, k = False, True, self.next
        while k < len(self.runs) and (k == self.next or self.runs[k][0] < end):
            user, system = user or self.runs[k][1], system and self.runs[k][2]
            k += 1
        return Chunk(start, end, body, user, system)


def _opens_function(text: str, start: int, brace: int) -> bool:
    """Whether a brace at the outermost level opens a function's body:
    it follows a parameter list (or old-style declarations)."""
    before = text[start:brace].rstrip()
    while before.endswith(")"):
        opening = _opening(before)
        head = before[:opening].rstrip()
        attribute = re.search(r"\b(?:__attribute__|__attribute|__asm__|__asm|__declspec|_Alignas)\Z", head)
        if attribute is None:
            return True
        before = head[: attribute.start()].rstrip()
    return not before


def _opening(text: str) -> int:
    """Offset of the parenthesis that the text's last character closes."""
    depth = 0
    for position in range(len(text) - 1, -1, -1):
        depth += (text[position] == ")") - (text[position] == "(")
        if depth == 0:
            return position
    return 0


# --- what is needed ---------------------------------------------------------------------------------------------------


def needed(text: str, chunks: Iterable[Chunk]) -> list[Chunk]:
    """The user's chunks and those of headers that declare, directly or not, a name that they use; in order."""
    listed = list(chunks)
    words: set[str] = set()
    mentioning: dict[str, list[int]] = {}
    for index, chunk in enumerate(listed):
        if chunk.user:
            words.update(_WORD.findall(text, chunk.start, chunk.end))
        else:
            for word in set(_WORD.findall(_PLAIN_ATTRIBUTE.sub(" ", _head(text, chunk)))):
                mentioning.setdefault(word, []).append(index)
    declared: dict[int, set[str]] = {}
    kept: set[int] = set()
    todo = list(words - _NOT_NAMES)
    while todo:
        word = todo.pop()
        for index in mentioning.get(word, ()):
            if index in kept:
                continue
            head = _head(text, listed[index])
            if index not in declared:
                declared[index] = declared_names(head)
            if word in declared[index]:
                kept.add(index)
                fresh = set(_WORD.findall(head)) - words
                words |= fresh
                todo.extend(fresh - _NOT_NAMES)
    return [chunk for index, chunk in enumerate(listed) if chunk.user or index in kept]


def _head(text: str, chunk: Chunk) -> str:
    """A chunk less the body of a system header's function: nobody looks into that."""
    return text[chunk.start : chunk.body] + ";" if chunk.body >= 0 and chunk.system else text[chunk.start : chunk.end]


def declared_names(text: str) -> set[str]:
    """Names that a declaration may declare, tags and enumerators too. Perhaps too many, never too few."""
    text = re.sub(r"^[ \t]*#.*", "", text, flags=re.MULTILINE)
    text = _without_attributes(text)
    names: set[str] = set()
    if "{" in text:
        names.update(_TAG.findall(text))
        if "enum" in text:
            names.update(_WORD.findall(text))
        text = _without_braces(text)
    first = re.match(r"[^(;=,]*?(\w+)\s*\(\s*([^*^(\s])?", text)
    if first is not None and first.group(1) not in _NOT_NAMES and first.group(2):
        opening = text.index("(", first.end(1))
        group = text[opening + 1 : closing(text, opening) - 1].strip()
        names.add(first.group(1))
        if _WORD.fullmatch(group):
            names.add(group)
        names.update(_DECLARED.findall(text, closing(text, opening)))
        return names
    names.update(_DECLARED.findall(text))
    if ";" not in text:
        names.update(_WORD.findall(text))
    return names - _NOT_NAMES


def _without_attributes(text: str) -> str:
    if not _ATTRIBUTE.search(text):
        return text
    parts, position = [], 0
    while (match := _ATTRIBUTE.search(text, position)) is not None:
        parts.append(text[position : match.start()])
        position = arguments(text, match.end()) or match.end()
    return " ".join([*parts, text[position:]])


def _without_braces(text: str) -> str:
    while (opening := text.find("{")) >= 0:
        end = closing(text, opening)
        text = f"{text[:opening]} {text[end:]}"
    return text
