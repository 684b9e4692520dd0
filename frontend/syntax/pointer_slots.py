"""Where pointers are kept, members of structures and elements of arrays, and the types of what leads there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from scopt import ir
from scopt.frontend.syntax.structs import Typed, Types, member_of
from scopt.ir.ctypes import CHARACTER, Layer

# A type of pointers: whether they lead to floating-point numbers, or the structure, or how it is spelled; its bits; how
# many pointers have to be followed.
Kind = tuple[Any, int, int]


class Slot(NamedTuple):
    """Where a pointer is stored: a member of a structure, or (None) an element of an array of pointers."""

    struct: Any
    member: str


class NotFollowed(Exception):
    """Something isn't followed."""


def kind_of(typed: Typed) -> Kind:
    depth = len(typed.layers)
    if any(layer.kind != "pointer" for layer in typed.layers):
        return (typed.struct or typed.type.spelling, -1, depth)
    if typed.type.integer or typed.type.floating:
        return (typed.type.floating, typed.type.bits, depth)
    return (typed.struct or typed.type.spelling, 0, depth)


def member_slot(types: Types, struct: Any, path: Sequence[str]) -> Slot | None:
    """The innermost member of a path from a structure on."""
    for name in path[:-1]:
        found = member_of(struct, name)
        if found is None or found.shared:
            return None
        struct = types.definition(found.decl)
    found = member_of(struct, path[-1])
    return Slot(struct, path[-1]) if found is not None and not found.shared else None


def type_of(types: Types, node: Any) -> Typed | None:
    """The type of an expression, as far as it is a pointer or a structure; None if it can't be told."""
    match node:
        case ir.Cast(to_type=named) | ir.CompoundLiteral(type=named):
            return types.declared(named)
        case ir.FuncCall(name=ir.ID(name=name)):
            symbol = types.scope.get(name)
            if symbol is None or symbol.decl is None or not isinstance(symbol.decl.type, ir.FuncDecl):
                return None
            typed = types.declared(symbol.decl)
            return (
                typed._replace(layers=typed.layers[1:])
                if typed.layers[:1] and typed.layers[0].kind == "function"
                else None
            )
        case ir.UnaryOp(op="&", expr=inner):
            whole = type_of(types, inner)
            return whole._replace(layers=(Layer("pointer"), *whole.layers)) if whole is not None else None
        case ir.UnaryOp(op="*", expr=inner):
            whole = type_of(types, inner)
            return whole.element() if whole is not None else None
        case ir.ArrayRef(name=inner):
            whole = type_of(types, inner)
            return whole.element() if whole is not None else None
        case ir.StructRef(name=inner, type=kind, field=name):
            whole = type_of(types, inner)
            if whole is not None and kind == "->":
                whole = whole.element()
            return types.member(whole, name) if whole is not None else None
        case ir.BinaryOp(op="+" | "-", left=left, right=right):
            first, second = type_of(types, left), type_of(types, right)
            return first if first is not None and first.layers else second if second is not None else first
        case ir.TernaryOp(iftrue=first):
            return type_of(types, first)
        case ir.Assignment(lvalue=first) | ir.UnaryOp(op="++" | "--" | "p++" | "p--", expr=first):
            return type_of(types, first)
        case ir.ID():
            return types.of(node)
    return None


def slot_of(types: Types, node: Any) -> Slot | None:
    """The member that a pointer is kept in, also in an array that is one."""
    while isinstance(node, ir.ArrayRef):
        whole = type_of(types, node.name)
        if whole is None or not whole.array:
            return None
        node = node.name
    if not isinstance(node, ir.StructRef):
        return None
    whole = type_of(types, node.name)
    if whole is not None and node.type == "->":
        whole = whole.element()
    found = member_of(whole.struct, node.field) if whole is not None and not whole.layers else None
    if whole is None or found is None or found.shared:
        raise NotFollowed
    return Slot(whole.struct, node.field)


def is_bytes(typed: Typed) -> bool:
    return len(typed.layers) == 1 and typed.pointer and 0 < typed.type.bits <= CHARACTER


def is_row_of_bytes(typed: Typed) -> bool:
    return bool(typed.layers) and typed.array and 0 < typed.type.bits <= CHARACTER


def kinds_in(types: Types, typed: Typed, outer: tuple[Any, ...] = ()) -> Iterator[Kind]:
    """The pointers that lie in an object."""
    while typed.array:
        inner = typed.element()
        assert inner is not None
        typed = inner
    if typed.pointer:
        yield kind_of(typed)
    elif not typed.layers and typed.struct is not None and typed.struct not in outer:
        for one in typed.struct.decls or ():
            if isinstance(one, ir.Decl):
                yield from kinds_in(types, types.declared(one), (*outer, typed.struct))
