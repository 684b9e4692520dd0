"""Faults in C text: all places where each kind of fault can be planted."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

_TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<name>[A-Za-z_$]\w*)|(?P<number>(?:0[xX][\da-fA-F]+|\d+\.?\d*(?:[eE][-+]?\d+)?)[uUlLfF]*)"
    r"|(?P<string>\"[^\"]*\")|(?P<op><<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||\+\+|--|[-+*/%&|^]=|.)"
)
_OPERATORS = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "+": "-",
    "-": "+",
    "*": "+",
    "/": "*",
    "%": "/",
    "&&": "||",
    "||": "&&",
    "+=": "=",
    "-=": "+=",
    "*=": "+=",
    "=": "+=",
    "++": "--",
    "--": "++",
    "?": "==",
    "!": "",
    "~": "",
    "^=": "|=",
    "|=": "^=",
    "<<": ">>",
    ">>": "<<",
}
_KEYWORDS = frozenset(
    """
        for if else int long double float char short unsigned signed const static inline void sizeof return restrict
        struct typedef define ifdef ifndef elif endif defined include pragma omp parallel simd private firstprivate
        reduction schedule GCC unroll
    """.split()
)
_CLAUSE = re.compile(r"\s(?P<name>if|private|firstprivate|reduction|schedule|simdlen)\(")


class _Token(Struct, frozen=True):
    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def text_edits(text: str) -> Iterator[tuple[str, str, str]]:
    """Every fault in C text: its kind, its place, and the text with it."""
    tokens = _tokens(text)
    yield from _token_edits(text, tokens)
    yield from _line_edits(text)
    yield from _pragma_edits(text)


def _tokens(text: str) -> list[_Token]:
    found = [_Token(match.lastgroup or "", match.group(), match.start()) for match in _TOKEN.finditer(text)]
    return [token for token in found if token.kind != "space"]


def _place(text: str, start: int) -> str:
    begin = text.rfind("\n", 0, start) + 1
    end = text.find("\n", start)
    line = text[begin : end if end >= 0 else len(text)].strip()
    return f"line {text.count(chr(10), 0, start) + 1}: {line[:90]}"


def _token_edits(text: str, tokens: list[_Token]) -> Iterator[tuple[str, str, str]]:
    names = sorted({token.text for token in tokens if token.kind == "name"} - _KEYWORDS)

    def put(token: _Token, new: str) -> str:
        return text[: token.start] + new + text[token.end :]

    for k, token in enumerate(tokens):
        place = _place(text, token.start)
        if token.kind == "number" and (digits := re.match(r"\d+(?![\d.xXeE])", token.text)):
            rest = token.text[digits.end() :]
            yield "literal + 1", place, put(token, f"{int(digits[0]) + 1}{rest}")
            yield "literal - 1", place, put(token, f"{int(digits[0]) - 1}{rest}")
            if rest:
                yield "suffix dropped", place, put(token, digits[0])
        elif token.kind == "op" and token.text in _OPERATORS:
            yield f"{token.text} turned", place, put(token, _OPERATORS[token.text])
        elif token.kind == "name" and token.text in names:
            others = [name for name in names if name != token.text]
            position = names.index(token.text)
            for other in (
                dict.fromkeys((others[position % len(others)], others[(position + len(others) // 2) % len(others)]))
                if others
                else ()
            ):
                yield "another name", place, put(token, other)
            if token.text.endswith(("scopt_min", "scopt_max")):
                yield (
                    "min for max",
                    place,
                    put(token, token.text.translate({ord("i"): "a", ord("n"): "x", ord("a"): "i", ord("x"): "n"})),
                )
        elif token.text == "(" and [one.text for one in tokens[k + 1 : k + 3]] == ["long", ")"]:
            yield "cast dropped", place, text[: token.start] + text[tokens[k + 2].end :]
        elif token.text == "," and 0 < k < len(tokens) - 1 and "name" == tokens[k - 1].kind == tokens[k + 1].kind:
            left, right = tokens[k - 1], tokens[k + 1]
            yield (
                "names exchanged",
                place,
                text[: left.start] + right.text + text[left.end : right.start] + left.text + text[right.end :],
            )


def _line_edits(text: str) -> Iterator[tuple[str, str, str]]:
    lines = text.splitlines(keepends=True)
    for k, line in enumerate(lines):
        if not line.strip():
            continue
        place = f"line {k + 1}: {line.strip()[:90]}"
        pragma = line.lstrip().startswith("#")
        yield ("pragma dropped" if pragma else "line dropped"), place, "".join((*lines[:k], *lines[k + 1 :]))
        if line.rstrip().endswith(";"):
            yield "line doubled", place, "".join((*lines[: k + 1], *lines[k:]))
        if line.rstrip().endswith(";") and k + 1 < len(lines) and lines[k + 1].rstrip().endswith(";"):
            yield "lines exchanged", place, "".join((*lines[:k], lines[k + 1], line, *lines[k + 2 :]))
        if line.lstrip().startswith("for (") and not (k and "#pragma" in lines[k - 1]):
            indent = line[: len(line) - len(line.lstrip())]
            for words in ("omp parallel for", "omp simd"):
                yield (
                    "pragma added",
                    place,
                    "".join(
                        (
                            *lines[:k],
                            f"{indent}#pragma {words} schedule(static)\n"
                            if "for" in words
                            else f"{indent}#pragma {words}\n",
                            *lines[k:],
                        )
                    ),
                )


def _pragma_edits(text: str) -> Iterator[tuple[str, str, str]]:
    for match in re.finditer(r"^[ \t]*#pragma omp[^\n]*$", text, flags=re.MULTILINE):
        line, place = match[0], _place(text, match.start())
        for kind, new in _pragma_variants(line):
            yield kind, place, text[: match.start()] + new + text[match.end() :]


def _pragma_variants(line: str) -> Iterator[tuple[str, str]]:
    if "parallel for simd" in line:
        yield "simd dropped", line.replace("parallel for simd", "parallel for")
    elif "parallel for" in line:
        yield "simd added", line.replace("parallel for", "parallel for simd")
    if "omp simd" in line:
        yield "parallel added", line.replace("omp simd", "omp parallel for simd")
    for name, start, end in clauses(line):
        content = line[line.index("(", start) + 1 : end - 1]
        yield f"{name} clause dropped", line[:start] + line[end:]
        if name == "private":
            yield "firstprivate for private", f"{line[:start]} firstprivate({content}){line[end:]}"
            yield "lastprivate for private", f"{line[:start]} lastprivate({content}){line[end:]}"
        if name == "firstprivate":
            yield "private for firstprivate", f"{line[:start]} private({content}){line[end:]}"
        if name in ("private", "firstprivate", "reduction"):
            operator, colon, listed = content.rpartition(": ")
            members = listed.split(", ")
            for k in range(len(members)):
                left = ", ".join(members[:k] + members[k + 1 :])
                if left:
                    yield f"name dropped from {name}", f"{line[:start]} {name}({operator}{colon}{left}){line[end:]}"
            if colon:
                for other in ("+", "*", "max", "^"):
                    if other != operator:
                        yield "reduction's operator", f"{line[:start]} reduction({other}: {listed}){line[end:]}"
        if name == "simdlen":
            yield "another simdlen", f"{line[:start]} simdlen({int(content) * 2}){line[end:]}"
    yield "nowait added", f"{line} nowait"
    yield "collapse added", f"{line} collapse(2)"


def clauses(line: str) -> Iterator[tuple[str, int, int]]:
    """The clauses of a pragma: name, and where they start and end."""
    for match in _CLAUSE.finditer(line):
        depth, end = 1, match.end()
        while depth and end < len(line):
            depth += {"(": 1, ")": -1}.get(line[end], 0)
            end += 1
        yield match["name"], match.start(), end
