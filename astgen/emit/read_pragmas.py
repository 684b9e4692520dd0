"""OpenMP directives, read from the printed text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from scopt import ir
from scopt.astgen.emit.c_read import Unreadable


class Directive(Struct, frozen=True):
    """A parsed OpenMP directive. clauses: text by name."""

    parallel: bool
    simd: bool
    clauses: dict[str, str]


def directive_of(node: ir.Pragma) -> Directive:
    """``omp parallel for simd if(…) private(…)``: the words up to the first clause,
    then clauses with balanced parentheses."""
    text = re.sub(r"\s+", " ", str(node.string)).strip()
    directive = re.match(r"omp (parallel for simd|parallel for|simd)(?: |$)", text)
    if directive is None:
        raise Unreadable(f"#pragma {text}")
    words = directive.group(1)
    clauses: dict[str, str] = {}
    for name, content in _clauses(text[directive.end() :]):
        if name == "reduction":
            operator, _, content = content.partition(": ")
            name = f"reduction {operator}"
        if name in clauses:
            raise Unreadable(f"the clause '{name}' occurs twice")
        clauses[name] = content
    return Directive("parallel" in words, "simd" in words, clauses)


def _clauses(text: str) -> Iterator[tuple[str, str]]:
    while text:
        head = re.match(r"(\w+)\(", text)
        if head is None:
            raise Unreadable(f"the clauses '{text}'")
        depth, end = 1, head.end()
        while depth and end < len(text):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            end += 1
        if depth:
            raise Unreadable(f"the clauses '{text}'")
        yield head.group(1), text[head.end() : end - 1]
        text = text[end:].lstrip()
