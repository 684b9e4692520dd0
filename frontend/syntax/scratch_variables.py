"""Static variables at file scope that functions use as scratch: each writes them before it reads them, so that what one
leaves there, nobody asks for. Translations from Fortran have such variables in the place of common blocks.

Told by what each function of the file does with the name (`scopt.frontend.syntax.flow`): it is live neither where one
begins nor behind a call of one that might have written it. No other file, and no pointer, knows the variable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from scopt import ir
from scopt.frontend.syntax.facts import FunctionFacts
from scopt.frontend.syntax.flow import SEEN, live_positions
from scopt.frontend.syntax.mentioned import identifiers
from scopt.frontend.syntax.purity import VALUE_FUNCTIONS
from scopt.frontend.syntax.symbols import facts_of
from scopt.frontend.syntax.unit import Region, TranslationUnit
from scopt.ir.ctypes import Symbol
from scopt.ir.walks import walk

_JUMPS = (ir.Break, ir.Continue, ir.Goto, ir.Label, ir.Case, ir.Default)

Live = dict[Any, frozenset[tuple[Any, int]]]
"""By function that has the name, where the variable is live in it."""


def is_scratch(tu: TranslationUnit, region: Region, symbol: Symbol) -> bool:
    """Whether nobody reads what a region leaves in a scalar variable."""
    if (
        symbol.kind != "global"
        or not symbol.static
        or symbol.extern
        or symbol.thread_local
        or symbol.within is not None
    ):
        return False
    if symbol.dims or symbol.pointer or symbol.type.volatile or symbol.type.atomic:
        return False
    live = tu.worked_out("scratch", lambda: _live(tu, symbol.name), symbol.name)
    if live is None:
        return False
    here = live.get(region.function, frozenset())
    return (region.parent, SEEN) in here and (region.parent, region.stop) not in here


def _live(tu: TranslationUnit, name: str) -> Live | None:
    """None where a function may read what another one, or a run before, has left."""
    decl = next((one for one in tu.ast.ext if isinstance(one, ir.Decl) and one.name == name), None)
    if decl is None or not _is_told(tu, name):
        return None
    found: Live = {}
    for function in tu.ast.ext:
        if not isinstance(function, ir.FuncDef):
            continue
        facts = facts_of(tu, function)
        if name not in identifiers(function.body):
            continue
        live = live_positions(function, decl, facts.mentioned)
        if facts.hidden_jumps or live is None or (function.body, 0) in live:
            return None
        if any(_is_read_behind(facts, call, name, live) for call in _calls(function)):
            return None
        found[function] = live
    return found


def _is_told(tu: TranslationUnit, name: str) -> bool:
    """Whether the tree has each mention of a name, and none that makes more of the variable than a value: an address, a
    declaration in a function that means it, too."""
    mentions = 0
    for one in tu.ast.ext:
        for node in walk(one):
            if isinstance(node, ir.ID) and node.name == name:
                mentions += 1
            elif isinstance(node, ir.Decl) and node.name == name:
                mentions += 1
                if "extern" in node.storage or (node is not one and "static" in node.storage):
                    return False
                if node is one and node.init is not None and name in identifiers(node.init):
                    return False
            elif isinstance(node, ir.UnaryOp) and node.op == "&" and name in identifiers(node.expr):
                return False
    return mentions == len(re.findall(rf"\b{re.escape(name)}\b", tu.preprocessed.text, re.ASCII))


def _calls(function: ir.FuncDef) -> Iterator[ir.FuncCall]:
    """Calls that may come back to the file."""
    for node in walk(function.body):
        known = isinstance(node, ir.FuncCall) and isinstance(node.name, ir.ID) and node.name.name in VALUE_FUNCTIONS
        if isinstance(node, ir.FuncCall) and not known:
            yield node


def _is_read_behind(facts: FunctionFacts, call: ir.FuncCall, name: str, live: frozenset[tuple[Any, int]]) -> bool:
    """Whether the variable's value behind a call may be read in the function: by the statement of the innermost block
    that the call stands in, or behind that one, which is where a statement without jumps leads."""
    for node, index in reversed(facts.path_to(call)):
        if isinstance(node, ir.Compound):
            statement = node.parts[index]
            jumps = any(isinstance(one, _JUMPS) for one in walk(statement))
            return jumps or (node, SEEN) not in live or (node, index + 1) in live or name in identifiers(statement)
    return True
