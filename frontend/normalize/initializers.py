"""Lists of values that locals are declared with as assignments: ``vec v = {1, x};`` is ``vec v; v.x = 1; v.y = x;``.

What a list leaves out is zero (C11, 6.7.9). Only lists with braces where types have some, of a few elements, without
designators, or zero for all of an array; that the evaluation of its values has no order in C is nobody's business then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import prod
from typing import Any

from scopt import ir
from scopt.frontend.normalize.tree_rewriting import names_of
from scopt.frontend.syntax.structs import Definitions, Typed, Types
from scopt.frontend.syntax.symbols import Symbol, symbol_of
from scopt.ir.constants import constant_value
from scopt.ir.walks import changed, rebuilt

# Elements of one variable: more are as many statements, which loops would be better for.
_MOST = 32


class _NoListError(Exception):
    """A list that isn't one of these."""


def with_assigned_lists(items: Iterable[Any], symbols: Mapping[str, Symbol], structs: Definitions) -> tuple[Any, ...]:
    """The statements of a region, with assignments behind such declarations. symbols: what names mean where it
    begins."""
    types = Types(symbols, structs)

    def several(several_items: Iterable[Any]) -> list[Any]:
        made: list[Any] = []
        for item in several_items:
            made += (is_list(item) and assigned_list(item, types)) or [item]
        return made

    def visit(node: Any) -> Any:
        if not isinstance(node, ir.Compound) or not any(map(is_list, node.block_items or ())):
            return node
        return changed(node, block_items=several(node.block_items))

    return tuple(several([rebuilt(item, visit) for item in items]))


def is_list(node: Any) -> bool:
    """Whether a list gives a variable its value."""
    return isinstance(node, ir.Decl) and isinstance(node.init, ir.InitList)


def assigned_list(node: ir.Decl, types: Types) -> list[Any]:
    """The declaration of a variable without its list, and assignments to all elements; nothing where the list is
    another one, names the variable itself, or gives one its value that isn't a block's own."""
    name, symbol = node.name, symbol_of(node, types.scope)
    if name is None or name in names_of(node.init) or symbol.static or symbol.extern or symbol.thread_local:
        return []
    zeroed = _zeroed(ir.ID(name, node.coord), types.declared(node), node.init, types)
    if zeroed is not None:
        return [_without_list(node), zeroed]
    try:
        made = [_without_list(node)]
        for one in _filled(ir.ID(name, node.coord), types.declared(node), node.init, types):
            made.append(one)
            if len(made) > 1 + _MOST:
                return []
        return made
    except _NoListError:
        return []


def _zeroed(cell: Any, typed: Typed, value: ir.InitList, types: Types) -> Any | None:
    """Loops that make all numbers of an array zero, as ``{0}`` and ``{{0}}`` do; None for a few, and for others."""
    if not _is_zero(value, types):
        return None
    sizes: list[int] = []
    while typed.array:
        size = constant_value(typed.layers[0].dim, types.scope) if typed.layers[0].dim is not None else None
        element = typed.element()
        if size is None or element is None:
            return None
        sizes, typed = [*sizes, size], element
    if prod(sizes) <= _MOST or typed.pointer or typed.composite or typed.type.volatile or typed.type.atomic:
        return None
    iterators = [f"{cell.name}_{k}" for k in range(len(sizes))]
    for iterator in iterators:
        cell = ir.ArrayRef(cell, ir.ID(iterator, cell.coord), cell.coord)
    made: Any = ir.Assignment("=", cell, ir.Constant("int", "0", cell.coord), cell.coord)
    for iterator, size in zip(reversed(iterators), reversed(sizes), strict=True):
        made = _counting(iterator, size, made)
    return made


def _is_zero(value: Any, types: Types) -> bool:
    """Whether a list has a zero alone, however deep, or nothing."""
    while isinstance(value, ir.InitList) and len(value.exprs) == 1:
        (value,) = value.exprs
    if isinstance(value, ir.InitList):
        return not value.exprs
    return isinstance(value, ir.Constant) and constant_value(value, types.scope) == 0


def _counting(iterator: str, size: int, body: Any) -> ir.For:
    where = body.coord
    word, zero = ir.IdentifierType(["int"], where), ir.Constant("int", "0", where)
    declared = ir.TypeDecl(iterator, [], None, word, where)
    init = ir.DeclList([ir.Decl(iterator, [], [], [], [], declared, zero, None, where)], where)
    cond = ir.BinaryOp("<", ir.ID(iterator, where), ir.Constant("int", str(size), where), where)
    return ir.For(init, cond, ir.UnaryOp("p++", ir.ID(iterator, where), where), body, where)


def _without_list(node: ir.Decl) -> ir.Decl:
    """The declaration of something that may be written."""

    def plain(layer: Any) -> Any:
        if isinstance(layer, ir.ArrayDecl):
            return changed(layer, type=plain(layer.type))
        return changed(layer, quals=[one for one in layer.quals or () if one != "const"])

    return changed(node, init=None, type=plain(node.type), quals=[one for one in node.quals or () if one != "const"])


def _filled(cell: Any, typed: Typed, value: Any, types: Types) -> Iterator[Any]:
    """Assignments to all elements of an object. value: its initializer; None: zero."""
    if typed.pointer or typed.type.volatile or typed.type.atomic:
        raise _NoListError
    parts = _parts(cell, typed, types)
    if parts is None:
        if isinstance(value, ir.InitList):
            (value,) = value.exprs if len(value.exprs) == 1 else (None,)
            if value is None or isinstance(value, (ir.InitList, ir.NamedInitializer)):
                raise _NoListError
        yield ir.Assignment("=", cell, value or ir.Constant("int", "0", cell.coord), cell.coord)
        return
    values = list(value.exprs) if isinstance(value, ir.InitList) else []
    if value is not None and not isinstance(value, ir.InitList):
        raise _NoListError
    if len(values) == 1 and isinstance(values[0], ir.Constant) and constant_value(values[0], types.scope) == 0:
        values = []  # {0}, however deep the first element lies
    if len(values) > len(parts) or any(isinstance(one, ir.NamedInitializer) for one in values):
        raise _NoListError
    for k, (part, kind) in enumerate(parts):
        yield from _filled(part, kind, values[k] if k < len(values) else None, types)


def _parts(cell: Any, typed: Typed, types: Types) -> list[tuple[Any, Typed]] | None:
    """The elements of an array, or the members of a structure, with their types; None for a number."""
    if typed.array:
        size = constant_value(typed.layers[0].dim, types.scope) if typed.layers[0].dim is not None else None
        element = typed.element()
        if size is None or element is None or size > _MOST:
            raise _NoListError
        numbers = [ir.Constant("int", str(k), cell.coord) for k in range(size)]
        return [(ir.ArrayRef(cell, number, cell.coord), element) for number in numbers]
    if not typed.composite:
        return None
    members = typed.struct.decls if isinstance(typed.struct, ir.Struct) else None
    if members is None or not all(isinstance(one, ir.Decl) and one.name and one.bitsize is None for one in members):
        raise _NoListError
    return [(ir.StructRef(cell, ".", one.name, cell.coord), types.declared(one)) for one in members]
