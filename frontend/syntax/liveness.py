"""May the value that a variable has at the end of a region be read later in its function?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scopt import ir
from scopt.frontend.syntax.flow import BEHIND, SEEN, live_positions
from scopt.frontend.syntax.symbols import base_name, taken_in
from scopt.ir.walks import walk

if TYPE_CHECKING:
    from scopt.frontend.syntax.facts import FunctionFacts
    from scopt.frontend.syntax.unit import Region

_BASIC_WORDS = frozenset("char short int long float double signed unsigned void _Bool _Complex __int128".split())


def may_be_read_after(facts: FunctionFacts, region: Region, name: str) -> bool:
    """May the value of `name` at the end of the region be read by anything executed later? True when in doubt.

    Always True for what isn't a local or parameter with automatic storage, whose address is taken, or that is a
    pointer's target.
    """
    path = [*facts.path_to(region.parent), (region.parent, region.first)]
    return _is_live(facts, path, name, region.parent, region.stop)


def may_be_read_behind(facts: FunctionFacts, loop: Any, name: str) -> bool:
    """The same for the value at the end of a loop of the function."""
    return _is_live(facts, facts.path_to(loop), name, loop, BEHIND)


def _is_live(facts: FunctionFacts, path: list[tuple[Any, int]], name: str, statement: Any, place: int) -> bool:
    decl = _declaration(facts, path, name)
    if decl is None or facts.hidden_jumps or not _is_automatic(facts, decl, name):
        return True
    if decl not in facts.live:
        facts.live[decl] = live_positions(facts.function, decl, facts.mentioned)
    known = facts.live[decl]
    return known is None or (statement, SEEN) not in known or (statement, place) in known


# --- what kind of variable, what kind of function ---------------------------------------------------------------------


def _declaration(facts: FunctionFacts, path: list[tuple[Any, int]], name: str) -> Any:
    """The declaration that the name has at the end of the path, of a local or a parameter; None if there is none."""
    decl, function = None, facts.function
    for node, index in path:
        before: Any = ()
        if isinstance(node, ir.Compound):
            before = (node.block_items or ())[:index]
        elif isinstance(node, ir.For) and isinstance(node.init, ir.DeclList):
            before = node.init.decls
        for item in before:
            if isinstance(item, ir.Decl) and item.name == name:
                decl = item
    if decl is None:
        args = function.decl.type.args
        named = [*(args.params if args is not None else ()), *(function.param_decls or ())]
        decl = next((p for p in named if isinstance(p, ir.Decl) and p.name == name), None)
        if decl is not None and isinstance(decl.type, ir.ArrayDecl):
            return None
    return decl


def _is_automatic(facts: FunctionFacts, decl: Any, name: str) -> bool:
    """Whether nothing but its name can reach the local or parameter."""
    if {"static", "extern", "_Thread_local"} & set(decl.storage or ()) or isinstance(decl.type, ir.FuncDecl):
        return False
    rank, node = 0, decl.type
    while isinstance(node, ir.ArrayDecl):
        rank, node = rank + 1, node.type
    if isinstance(node, ir.TypeDecl) and isinstance(node.type, (ir.Struct, ir.Union)):
        return False
    if isinstance(node, ir.TypeDecl) and not _is_basic(node.type) and _is_subscripted(facts.function, name):
        # An array behind a typedef's name, whose rank isn't known here: its address may be anywhere.
        return False
    return name not in taken_in(facts, {name: rank} if rank else {})


def _is_basic(node: Any) -> bool:
    return isinstance(node, ir.IdentifierType) and set(node.names) <= _BASIC_WORDS


def _is_subscripted(function: Any, name: str) -> bool:
    return any(isinstance(node, ir.ArrayRef) and base_name(node) == name for node in walk(function.body))
