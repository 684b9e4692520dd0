"""Lists of values that locals are declared with as assignments: ``vec v = {1, x};`` is ``vec v; v.x = 1; v.y = x;``.

What a list leaves out is zero (C11, 6.7.9). Only lists with braces where types have some; that the evaluation of its
values has no order in C is nobody's business then. Where elements are many, or a list names them (``{[2] = x}``), loops
set all of them to zero before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import count, islice
from typing import Any

from scopt import ir
from scopt.frontend.normalize.element_loops import Cells, ElementLoops, NoElementsError
from scopt.frontend.normalize.tree_rewriting import names_of
from scopt.frontend.syntax.structs import Definitions, Typed, Types
from scopt.frontend.syntax.symbols import Symbol, symbol_of
from scopt.ir.constants import constant_value
from scopt.ir.walks import changed, rebuilt, same_tree

# Elements of one variable: more are as many statements, which loops would be better for.
_MOST = 32
# What a list gives to elements that loops have set to zero.
_GIVEN = 16


class _NoListError(Exception):
    """A list that isn't one of these."""


def with_assigned_lists(
    items: Iterable[Any],
    symbols: Mapping[str, Symbol],
    structs: Definitions,
    reserved: Collection[str],
    symbolic: Collection[str],
) -> tuple[Any, ...]:
    """The statements of a region, with assignments behind such declarations. symbols: what names mean where it begins.
    reserved: names that iterators of loops must not have. symbolic: macros with names of their own."""
    types = Types(symbols, structs)

    def several(several_items: Iterable[Any]) -> list[Any]:
        made: list[Any] = []
        for item in several_items:
            made += (
                is_list(item) and (assigned_list(item, types) or zeroed_list(item, types, reserved, symbolic))
            ) or [item]
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
    try:
        made = [_without_list(node)]
        for one in _filled(ir.ID(name, node.coord), types.declared(node), node.init, types):
            made.append(one)
            if len(made) > 1 + _MOST:
                return []
        return made
    except _NoListError:
        return []


def zeroed_list(node: ir.Decl, types: Types, reserved: Collection[str], symbolic: Collection[str]) -> list[Any]:
    """The declaration of a variable without its list, loops that set all elements to zero, and assignments to those
    that the list gives other values."""
    name, symbol = node.name, symbol_of(node, types.scope)
    if name is None or name in names_of(node.init) or symbol.static or symbol.extern or symbol.thread_local:
        return []
    plain, numbers = _without_list(node), count(1)

    def fresh() -> str:
        return next(made for k in numbers if (made := f"each_{k}") not in reserved)

    def zero(cells: Cells, typed: Typed) -> list[Any]:
        if _is_const(typed):
            raise _NoListError
        return [ir.Assignment("=", cells[0], ir.Constant("int", "0", node.coord), node.coord)]

    cell, typed = ir.ID(name, node.coord), types.declared(plain)
    try:
        made = ElementLoops(types, fresh, symbolic).loops((cell,), typed, zero)
        given = list(islice(_given(cell, typed, node.init, types), _GIVEN + 1))
    except (_NoListError, NoElementsError):
        return []
    if len(given) > _GIVEN:
        return []
    # What isn't in arrays needs no zero before.
    made = [one for one in made if not any(same_tree(one.lvalue, other.lvalue) for other in given if _sets(one))]
    return [plain, *made, *given]


def _sets(node: Any) -> bool:
    return isinstance(node, ir.Assignment)


def _given(cell: Any, typed: Typed, value: Any, types: Types) -> Iterator[Any]:
    """Assignments of the values in a list, but for zeros."""
    if not isinstance(value, ir.InitList):
        if typed.array or (typed.composite and _is_scalar(value, types)) or _is_const(typed):
            raise _NoListError
        if constant_value(value, types.scope) != 0:
            yield ir.Assignment("=", cell, value, cell.coord)
        return
    exprs = list(value.exprs)
    if len(exprs) == 1 and isinstance(exprs[0], ir.Constant) and constant_value(exprs[0], types.scope) == 0:
        return
    if not typed.array and not typed.composite:
        raise _NoListError
    position, found = 0, dict[int, tuple[Any, Typed, Any]]()
    for k, one in enumerate(exprs):
        inner, (part, kind) = one, (cell, typed)
        if isinstance(one, ir.NamedInitializer):
            inner = one.expr
            if len(one.name) > 1 and k < len(exprs) - 1:
                raise _NoListError  # what follows is a part of the same part
            for depth, designator in enumerate(one.name):
                where = _position(designator, kind, types)
                position = where if depth == 0 else position
                part, kind = _part(part, kind, where, types)
        else:
            part, kind = _part(cell, typed, position, types)
        if found.pop(position, None) is not None and isinstance(one, ir.NamedInitializer) and len(one.name) > 1:
            raise _NoListError
        found[position] = part, kind, inner  # the last one counts
        position += 1
    for part, kind, inner in found.values():
        yield from _given(part, kind, inner, types)


def _is_const(typed: Typed) -> bool:
    """Whether nothing may be assigned to an object: a member, or one whose type has a name, is const."""
    return typed.type.const and not typed.pointer


def _position(designator: Any, typed: Typed, types: Types) -> int:
    """Which element or member a designator means."""
    match designator:
        case ir.ArrayDesignator(expr=index) if (
            typed.array and (found := constant_value(index, types.scope)) is not None
        ):
            return found
        case ir.FieldDesignator(name=name) if not typed.array:
            names = [one.name for one in getattr(typed.struct, "decls", None) or () if isinstance(one, ir.Decl)]
            if name in names:
                return names.index(name)
    raise _NoListError


def _part(cell: Any, typed: Typed, position: int, types: Types) -> tuple[Any, Typed]:
    """An element of an array, or a member of a structure, by its number."""
    if typed.array:
        element = typed.element()
        if element is None:
            raise _NoListError
        return ir.ArrayRef(cell, ir.Constant("int", str(position), cell.coord), cell.coord), element
    parts = list(ElementLoops(types, str).members(cell, typed))
    if position >= len(parts):
        raise _NoListError
    return parts[position]


def _is_scalar(value: Any, types: Types) -> bool:
    """Whether a value may be that of a number, not of a structure."""
    found = types.of(value)
    return found is None or not found.composite


def _without_list(node: ir.Decl) -> ir.Decl:
    """The declaration of something that may be written."""

    def plain(layer: Any) -> Any:
        if isinstance(layer, ir.ArrayDecl):
            return changed(layer, type=plain(layer.type))
        return changed(layer, quals=[one for one in layer.quals or () if one != "const"])

    return changed(node, init=None, type=plain(node.type), quals=[one for one in node.quals or () if one != "const"])


def _filled(cell: Any, typed: Typed, value: Any, types: Types) -> Iterator[Any]:
    """Assignments to all elements of an object. value: its initializer; None: zero."""
    if typed.pointer or typed.type.volatile or typed.type.atomic or _is_const(typed):
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
