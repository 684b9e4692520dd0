"""Which function of the user's file a line belongs to."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from scopt.diagnostics import Remark
from scopt.frontend.syntax.unit import TranslationUnit
from scopt.ir.walks import walk


def in_functions(tu: TranslationUnit, remarks: Iterable[Remark]) -> tuple[Remark, ...]:
    """The remarks, each with the function that its place is in, where that is known: from the line of its name to the
    last line of its code."""
    remarks = tuple(remarks)
    if all(remark.function for remark in remarks):
        return remarks
    lines = [(function.decl.name, lines_of(function, tu.file)) for function in tu.user_functions]

    def function_of(line: int) -> str:
        return next((name for name, its_lines in lines if line in its_lines), "")

    return tuple(
        r if r.function or r.location.file != tu.file else replace(r, function=function_of(r.location.line))
        for r in remarks
    )


def lines_of(function: Any, file: str) -> range:
    """From the line of a function's name to the last line of its code."""
    return range(function.decl.coord.line, _last_line(function, file) + 1)


def _last_line(function: Any, file: str) -> int:
    """The largest line number of a node; a brace at the end has none."""
    places = (node.coord for node in walk(function) if node.coord is not None)
    return max((place.line for place in places if place.file == file), default=0)
