"""What the names mean that are visible at the beginning of a region."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from scopt import ir
from scopt.frontend.syntax.facts import FunctionFacts
from scopt.ir.constants import constant_value, enum_constants, enum_type, enumerator_types, typed_constant
from scopt.ir.ctypes import Layer, Shape, Symbol, SymbolKind, ctype_of, describe, enum_key, shape_of
from scopt.ir.effects import opaque_words

if TYPE_CHECKING:
    from scopt.frontend.syntax.unit import Region, TranslationUnit

__all__ = [
    "POINTER",
    "Layer",
    "Shape",
    "Symbol",
    "SymbolKind",
    "constant_value",
    "ctype_of",
    "enum_constants",
    "facts_of",
    "is_value",
    "leads_elsewhere",
    "scope_at",
    "shape_of",
    "symbol_of",
    "typed_constant",
]

# In the place of an array's rank: `addresses_taken`.
POINTER = -1


def scope_at(tu: TranslationUnit, region: Region) -> Mapping[str, Symbol]:
    """Every name that is visible where the region begins, by name; the target's types too (see `ctypes`)."""
    function = region.function
    facts = facts_of(tu, function)
    scope = tu.worked_out("file scope", FileScope).before(tu, function)
    _declare(function.decl, scope, "global")
    for param in _parameters(function):
        _declare(param, scope, "parameter")
    for node, index in facts.path_to(region.parent):
        if isinstance(node, ir.Compound):
            _declare_all((node.block_items or ())[:index], scope)
        elif isinstance(node, ir.For) and isinstance(node.init, ir.DeclList):
            _declare_all(node.init.decls, scope)
    _declare_all((region.parent.block_items or ())[: region.first], scope)
    return _with_taken_addresses(scope, facts)


def names_of_file(tu: TranslationUnit) -> Mapping[str, Symbol]:
    """What names of a file mean outside of functions, the target's types too."""
    return tu.worked_out("names of the file", lambda: FileScope().before(tu, None))


def facts_of(tu: TranslationUnit, function: Any) -> FunctionFacts:
    """What is known of one of the file's functions as a whole."""
    return tu.worked_out("facts", lambda: FunctionFacts.of(function), function)


class FileScope(Struct, eq=False):
    """The names of the file's own scope up to some function: regions come in the order of the file, so that each
    declaration is read once."""

    position: int = 0
    names: dict[str, Symbol] = field(default_factory=dict)

    def before(self, tu: TranslationUnit, function: Any) -> dict[str, Symbol]:
        """What is declared before a function, the target's types too."""
        nodes = tu.ast.ext
        place = next((k for k in range(self.position, len(nodes)) if nodes[k] is function), -1)
        if place < 0 or not self.names:
            place = next((k for k, node in enumerate(nodes) if node is function), len(nodes))
            self.position, self.names = 0, dict(tu.target)
        for node in nodes[self.position : place]:
            _declare(node, self.names, "global")
        self.position = place
        return dict(self.names)


def symbol_of(decl: Any, scope: Mapping[str, Symbol], kind: SymbolKind = "local") -> Symbol:
    """The symbol that a declaration, typedef or parameter introduces where `scope` is visible."""
    if isinstance(decl, ir.Typedef):
        kind = "typedef"
    storage = set(getattr(decl, "storage", None) or ())
    if kind == "local" and "extern" in storage:
        kind = "global"
    symbol = describe(decl.name, shape_of(decl, scope), kind)
    return replace(
        symbol,
        decl=decl,
        static="static" in storage,
        extern="extern" in storage,
        thread_local="_Thread_local" in storage,
        address_taken=kind == "global",
    )


def is_value(symbol: Symbol) -> bool:
    """Whether the name is a variable of its own for each call of a function, a number or a pointer, that nothing else
    can lead to."""
    shared = symbol.static or symbol.extern or symbol.thread_local or symbol.address_taken
    number = (
        not symbol.dims
        and (symbol.type.integer or symbol.type.floating)
        and not (symbol.type.volatile or symbol.type.atomic)
    )
    return symbol.kind in ("local", "parameter") and not shared and symbol.within is None and (number or symbol.pointer)


def _parameters(function: Any) -> Iterator[Any]:
    args = function.decl.type.args
    old_style = {decl.name: decl for decl in function.param_decls or () if isinstance(decl, ir.Decl)}
    for param in args.params if args is not None else ():
        if isinstance(param, ir.Decl) and param.name:
            yield param
        elif isinstance(param, ir.ID) and param.name in old_style:
            yield old_style[param.name]


def _declare_all(nodes: Iterable[Any], scope: dict[str, Symbol]) -> None:
    for node in nodes:
        if isinstance(node, ir.DeclList):
            _declare_all(node.decls, scope)
        else:
            _declare(node, scope, "local")


def _declare(node: Any, scope: dict[str, Symbol], kind: SymbolKind) -> None:
    """Enter what a node declares, tags and enumerators too, into the scope."""
    if isinstance(node, ir.FuncDef):
        node = node.decl
    if not isinstance(node, (ir.Decl, ir.Typedef)):
        return
    _declare_enums(node.type, scope)
    if not node.name:
        return
    symbol = symbol_of(node, scope, kind)
    known = scope.get(node.name)
    if known is not None and known.kind == "global" == symbol.kind and len(known.dims) == len(symbol.dims):
        # `extern double a[];` beside `double a[10];` says less: what one of them knows counts.
        dims = tuple(new if new is not None else old for new, old in zip(symbol.dims, known.dims, strict=True))
        symbol = replace(
            symbol,
            dims=dims,
            static=symbol.static or known.static,
            thread_local=symbol.thread_local or known.thread_local,
        )
    scope[node.name] = symbol


def _declare_enums(node: Any, scope: dict[str, Symbol]) -> None:
    """Enumerators may be declared anywhere inside a declaration's type."""
    if node is None or isinstance(node, (ir.Constant, ir.ID)):
        return
    if isinstance(node, ir.Enum) and node.values is not None:
        ctype = enum_type(node, scope)
        values, types = enum_constants(node, scope), enumerator_types(node, scope)
        for enumerator in node.values.enumerators:
            if isinstance(enumerator, ir.Enumerator):
                name = enumerator.name
                kind = types.get(name, scope["int"].type)
                value = values.get(name) if kind.integer else None
                scope[name] = Symbol(name, "enum-constant", kind, decl=enumerator, value=value)
        scope[enum_key(node)] = Symbol(ctype.spelling, "type", ctype, size=ctype.bits // 8)
        return
    if isinstance(node, ir.FuncDecl):
        _declare_enums(node.type, scope)
        return
    for child in node.parts:
        _declare_enums(child, scope)


# --- addresses --------------------------------------------------------------------------------------------------------


def taken_in(facts: FunctionFacts, ranks: Mapping[str, int]) -> frozenset[str]:
    """`addresses_taken` of a whole function."""
    key = frozenset(ranks.items())
    if key not in facts.taken:
        facts.taken[key] = addresses_taken(facts.function, ranks)
    return facts.taken[key]


def _with_taken_addresses(scope: dict[str, Symbol], facts: FunctionFacts) -> dict[str, Symbol]:
    ranks = {name: len(s.dims) for name, s in scope.items() if s.dims and not s.pointer}
    ranks.update({name: POINTER for name, symbol in scope.items() if leads_elsewhere(symbol)})
    taken = taken_in(facts, ranks)
    return {
        name: replace(symbol, address_taken=True) if name in taken and symbol.kind in ("local", "parameter") else symbol
        for name, symbol in scope.items()
    }


def leads_elsewhere(symbol: Symbol) -> bool:
    """Whether a variable is one pointer, with nothing in it that could be pointed to but itself: a parameter that is
    declared as an array is one, too."""
    return symbol.pointer and bool(symbol.layers) and (symbol.kind == "parameter" or symbol.layers[0].kind == "pointer")


def addresses_taken(root: Any, ranks: Mapping[str, int]) -> frozenset[str]:
    """Names to which a pointer may be made under `root`: operands of ``&``, and arrays (by rank) that are used as a
    value. In ``&p[i]`` of a pointer it is a copy of its value that is made.

    By name alone: an inner variable of the same name counts too.
    """
    taken: set[str] = set()
    todo = [root]
    while todo:
        node = todo.pop()
        match node:
            case ir.UnaryOp(op="sizeof"):
                continue
            case ir.UnaryOp(op="&"):
                name = base_name(node.expr)
                if name is not None and (isinstance(node.expr, ir.ID) or ranks.get(name, 0) != POINTER):
                    taken.add(name)
            case ir.ArrayRef():
                depth, base = 0, node
                while isinstance(base, ir.ArrayRef):
                    todo.append(base.subscript)
                    depth, base = depth + 1, base.name
                if not isinstance(base, ir.ID):
                    todo.append(base)
                elif depth < ranks.get(base.name, 0):
                    taken.add(base.name)
                continue
            case ir.ID():
                if ranks.get(node.name, 0) > 0:
                    taken.add(node.name)
            case ir.StructRef():
                todo.append(node.name)
                continue
            case ir.FuncCall():
                if (words := opaque_words(node)) is not None:
                    taken.update(w[1:] for w in words if w.startswith("&"))
                    taken.update(w for w in words if ranks.get(w, 0) > 0)
                    continue
        todo.extend(node.parts)
    return frozenset(taken)


def base_name(node: Any) -> str | None:
    """The variable that an lvalue is a part of: ``a`` for ``a[i].x``; None where a pointer is followed by ``*`` or
    ``->`` from something else."""
    while True:
        match node:
            case ir.ID():
                return str(node.name)
            case ir.ArrayRef() | ir.StructRef():
                node = node.name
            case ir.UnaryOp(op="*" | "&") | ir.Cast():
                node = node.expr
            case ir.BinaryOp(op="+" | "-"):
                node = node.left
            case _:
                return None
