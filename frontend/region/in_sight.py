"""What keeps statements from being a SCoP that can be seen without reading them: jumps out of them, and calls of
functions that nobody knows.

Whatever they are rewritten as, these stay. A loop that prints, around the whole of a program's work, would be the most
expensive one to find out about.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scopt import ir
from scopt.diagnostics import Location, Remark
from scopt.frontend.model.access_names import unknown_call
from scopt.frontend.normalize.failing_checks import never_returns
from scopt.frontend.normalize.memory_calls import LIBRARY
from scopt.frontend.normalize.opaque import construct_of
from scopt.frontend.syntax.purity import VALUE_FUNCTIONS
from scopt.frontend.syntax.unit import Region, TranslationUnit
from scopt.ir.walks import used_names

_LEAVING = (ir.Goto, ir.Label, ir.Return)


def in_sight(tu: TranslationUnit, region: Region) -> Remark | None:
    """Why a region can't be extracted, if that is in sight."""
    for node in (found for item in region.items for found in _reached(tu, item)):
        if node.coord is None:
            continue
        place = Location(node.coord.file, node.coord.line, node.coord.column or 0)
        if isinstance(node, _LEAVING):
            said = construct_of(node)
            return Remark("missed", said.id, said.message, place, said.hint)
        if isinstance(node, ir.FuncCall) and _is_unknown(tu, node):
            return unknown_call(node.name.name, place).remark
    return None


def _reached(tu: TranslationUnit, node: Any) -> Iterator[Any]:
    """The statements in one, but for those that constants may keep from being executed, and those that end the program
    where a check fails."""
    yield node
    match node:
        case ir.If() | ir.While() | ir.DoWhile() | ir.Switch() if next(used_names(node.cond), None) is None:
            return
        case ir.If() if never_returns(tu, node.iftrue):
            if node.iffalse is not None:
                yield from _reached(tu, node.iffalse)
        case ir.Compound() | ir.For() | ir.If() | ir.While() | ir.DoWhile() | ir.Switch() | ir.Case() | ir.Default():
            for part in node.parts:
                yield from _reached(tu, part)


def _is_unknown(tu: TranslationUnit, call: ir.FuncCall) -> bool:
    """Whether a call surely has effects that nobody knows; the compiler's own functions, and those that are loops over
    memory, are for others to know."""
    name = call.name.name if isinstance(call.name, ir.ID) else "__"
    known = name in tu.defined_functions or name in tu.pure_functions
    return not (known or name.startswith("__") or name in VALUE_FUNCTIONS or name in LIBRARY)
