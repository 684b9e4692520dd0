"""May the value that a variable has at the end of a region be read later in its function?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pycparser import c_ast

from scopt.frontend.directives import is_directive
from scopt.frontend.gnu import opaque_words
from scopt.frontend.symbols import base_name, taken_in

if TYPE_CHECKING:
    from scopt.frontend.facts import Fate, FunctionFacts
    from scopt.frontend.regions import Region

_BASIC_WORDS = frozenset({
    "char", "short", "int", "long", "float", "double", "signed", "unsigned", "void", "_Bool", "_Complex",
    "__int128",
})


def may_be_read_after(facts: FunctionFacts, region: Region, name: str) -> bool:
    """May the value of `name` at the end of the region be read by anything executed later? True when in doubt.

    Always True for what isn't a local or parameter with automatic storage, whose address is taken, or that is a pointer's target.
    """
    path = [*facts.path_to(region.parent), (region.parent, region.first)]
    if not _is_automatic(facts, path, name) or facts.jumps:
        return True
    inside = {id(node) for node in _all(region.items)} if facts.leaps or facts.switches else set()
    if not facts.switches <= inside:
        return True
    # A write that a jump may skip doesn't count.
    kills = facts.leaps <= inside
    rest = (region.parent.block_items or ())[region.stop:]
    fate = _known(facts, rest, name, kills)
    if fate != "untouched":
        return fate == "read"
    inner: Any = region.parent
    if _declares((inner.block_items or ())[: region.first], name):
        return False
    for node, index in reversed(path[:-1]):
        fate, leaves_scope = _outwards(node, index, inner, name, kills)
        if fate != "untouched":
            return fate == "read"
        if leaves_scope:
            return False
        inner = node
    return False


def written_in(nodes: Iterable[Any]) -> frozenset[str]:
    """Names of variables that may be assigned in the nodes, wholly or in part: ``x = …``, ``a[i] += …``, ``x++``, ``*p = …`` (p)."""
    written: set[str] = set()
    for node in _all(nodes):
        target = None
        if isinstance(node, c_ast.Assignment):
            target = node.lvalue
        elif isinstance(node, c_ast.UnaryOp) and node.op in ("++", "--", "p++", "p--"):
            target = node.expr
        elif (words := opaque_words(node)) is not None:
            written.update(word.lstrip("&") for word in words)
        if target is not None and (name := base_name(target)) is not None:
            written.add(name)
    return frozenset(written)


def identifiers(node: Any) -> frozenset[str]:
    """Names of all variables, functions and constants that occur in a node; names of members and labels are left out."""
    names: set[str] = set()
    for found in _all([node]):
        if isinstance(found, c_ast.ID):
            names.add(found.name)
        elif isinstance(found, c_ast.Pragma):
            names.update(_pragma_words(found))
        elif (words := opaque_words(found)) is not None:
            names.update(word.lstrip("&") for word in words)
    return frozenset(names)


# --- what kind of variable, what kind of function ---------------------------------------------------------------------------------------


def _is_automatic(facts: FunctionFacts, path: list[tuple[Any, int]], name: str) -> bool:
    """Whether the name is, at the end of the path, a local or parameter that nothing but its name can reach."""
    decl, function = None, facts.function
    for node, index in path:
        before: Any = ()
        if isinstance(node, c_ast.Compound):
            before = (node.block_items or ())[:index]
        elif isinstance(node, c_ast.For) and isinstance(node.init, c_ast.DeclList):
            before = node.init.decls
        for item in before:
            if isinstance(item, c_ast.Decl) and item.name == name:
                decl = item
    if decl is None:
        args = function.decl.type.args
        named = [*(args.params if args is not None else ()), *(function.param_decls or ())]
        decl = next((p for p in named if isinstance(p, c_ast.Decl) and p.name == name), None)
        if decl is None or isinstance(decl.type, c_ast.ArrayDecl):
            return False
    if {"static", "extern", "_Thread_local"} & set(decl.storage or ()) or isinstance(decl.type, c_ast.FuncDecl):
        return False
    rank, node = 0, decl.type
    while isinstance(node, c_ast.ArrayDecl):
        rank, node = rank + 1, node.type
    if isinstance(node, c_ast.TypeDecl) and isinstance(node.type, (c_ast.Struct, c_ast.Union)):
        return False
    if isinstance(node, c_ast.TypeDecl) and not _is_basic(node.type) and _is_subscripted(function, name):
        # An array behind a typedef's name, whose rank isn't known here: its address may be anywhere.
        return False
    return name not in taken_in(facts, {name: rank} if rank else {})


def _is_basic(node: Any) -> bool:
    return isinstance(node, c_ast.IdentifierType) and set(node.names) <= _BASIC_WORDS


def _is_subscripted(function: Any, name: str) -> bool:
    return any(isinstance(node, c_ast.ArrayRef) and base_name(node) == name for node in _all([function.body]))


# --- the walk outwards ------------------------------------------------------------------------------------------------------------------


def _outwards(node: Any, index: int, inner: Any, name: str, kills: bool) -> tuple[Fate, bool]:
    """What happens between the end of `inner`, a part of `node`, and the end of `node`; and whether the variable's scope ends with `node`."""
    match node:
        case c_ast.Compound():
            items = node.block_items or ()
            return _sequence(items[index + 1:], name, kills), _declares(items[:index], name)
        case c_ast.For():
            if inner is not node.stmt:
                return "read", False
            around = [part for part in (node.next, node.cond) if part is not None]
            fate = _around(around, node.stmt, name, kills)
            return fate, isinstance(node.init, c_ast.DeclList) and _declares(node.init.decls, name)
        case c_ast.While() | c_ast.DoWhile():
            return (_around([node.cond], node.stmt, name, kills), False) if inner is node.stmt else ("read", False)
        case c_ast.If():
            return "untouched", False
    return "read", False


def _around(before_body: list[Any], body: Any, name: str, kills: bool) -> Fate:
    """From the end of a loop's body to the loop's end: its step and condition, and perhaps the body again."""
    fate = _sequence(before_body, name, kills)
    if fate == "untouched" and _statement(body, name, kills) == "read":
        return "read"
    return fate


def _declares(items: Iterable[Any], name: str) -> bool:
    return any(isinstance(item, (c_ast.Decl, c_ast.Typedef)) and item.name == name for item in items)


def _known(facts: FunctionFacts, items: Iterable[Any], name: str, kills: bool) -> Fate:
    """`_sequence` of items that later regions of the function ask about again: what each does is kept."""
    for item in items:
        if _declares([item], name):
            return _sequence([item], name, kills)
        key = (id(item), name, kills)
        fate: Fate | None = facts.fates.get(key)
        if fate is None:
            fate = facts.fates[key] = _statement(item, name, kills)
        if fate != "untouched":
            return fate
    return "untouched"


# --- fates ------------------------------------------------------------------------------------------------------------------------------


def _sequence(items: Iterable[Any], name: str, kills: bool) -> Fate:
    for item in items:
        if _declares([item], name):
            return "read" if _mentions(item, name) else "untouched"
        fate = _statement(item, name, kills)
        if fate != "untouched":
            return fate
    return "untouched"


def _statement(node: Any, name: str, kills: bool) -> Fate:
    match node:
        case None:
            return "untouched"
        case c_ast.Compound():
            return _sequence(node.block_items or (), name, kills)
        case c_ast.If():
            return _branch(node, name, kills)
        case c_ast.For():
            if isinstance(node.init, c_ast.DeclList) and _declares(node.init.decls, name):
                return "read" if any(_mentions(decl, name) for decl in node.init.decls) else "untouched"
            init = node.init.decls if isinstance(node.init, c_ast.DeclList) else [node.init]
            fate = _sequence([*init, node.cond], name, kills)
            return fate if fate != "untouched" else _loop_body([node.stmt, node.next, node.cond], name, kills)
        case c_ast.While():
            fate = _statement(node.cond, name, kills)
            return fate if fate != "untouched" else _loop_body([node.stmt, node.cond], name, kills)
        case c_ast.DoWhile():
            return _sequence([node.stmt, node.cond], name, kills)
        case c_ast.Return():
            if node.expr is not None and _mentions(node.expr, name):
                return "read"
            return "killed" if kills else "untouched"
        case c_ast.ExprList():
            return _sequence(node.exprs, name, kills)
        case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=target)) if target == name and kills:
            return "read" if _mentions(node.rvalue, name) else "killed"
        case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=target)) if target == name:
            return "read" if _mentions(node.rvalue, name) else "untouched"
    return "read" if _mentions(node, name) else "untouched"


def _branch(node: Any, name: str, kills: bool) -> Fate:
    fate = _statement(node.cond, name, kills)
    if fate != "untouched":
        return fate
    fates = {_statement(node.iftrue, name, kills), _statement(node.iffalse, name, kills)}
    return "read" if "read" in fates else "killed" if fates == {"killed"} else "untouched"


def _loop_body(parts: list[Any], name: str, kills: bool) -> Fate:
    """A body that may run any number of times, none too."""
    return "read" if _sequence(parts, name, kills) == "read" else "untouched"


def _mentions(node: Any, name: str) -> bool:
    return name in identifiers(node)


def _pragma_words(pragma: Any) -> list[str]:
    if is_directive(pragma):
        return []  # names loops, which is no use of their iterators
    text = pragma.string if isinstance(pragma.string, str) else str(getattr(pragma.string, "value", ""))
    return "".join(c if c.isalnum() or c in "_$" else " " for c in text).split()


def _all(nodes: Iterable[Any]) -> Iterator[Any]:
    """The nodes and all below them, names of members left out."""
    todo = [node for node in nodes if node is not None]
    while todo:
        node = todo.pop()
        yield node
        if isinstance(node, c_ast.StructRef):
            todo.append(node.name)
        else:
            todo.extend(child for _, child in node.children())
