"""Structures at places that a region doesn't change, in arrays of them, get pointers to them in front of it: of
``s->level[k].a[i]`` that is `level_k`, so that its members are ``level_k->a`` like those of a structure that a variable
leads to (`scopt.frontend.normalize.members`).

Not where the region goes through the array by other places, too, or writes to the structures themselves: what it writes
then may be another one's member.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from scopt import ir
from scopt.frontend.normalize.members import Hoisted, MemberHoister
from scopt.frontend.syntax.structs import Typed, path_shape, reference_of, references
from scopt.frontend.syntax.symbols import is_value
from scopt.ir.ctypes import Layer, Shape, describe
from scopt.ir.effects import effects, targets
from scopt.ir.printing import CPrinter
from scopt.ir.walks import changed, used_names


def hoist_places(around: MemberHoister) -> tuple[Hoisted, ...]:
    """Name such structures; the items are changed in place. around: has named the members that it can."""
    found: dict[str, list[tuple[str, Any]]] = {}
    others: set[str] = set()
    for item in around.items:
        for node in references(item):
            base, place = reference_of(node).base, _place(node)
            if place is not None and _is_fixed(around, place.name.subscript):
                subscript = str(CPrinter().visit(place.name.subscript))
                found.setdefault(base.name, []).append((subscript, place))
            elif isinstance(base, ir.ID):
                others.add(base.name)
    done = effects(*around.items)
    if done.opaque or done.unnamed:
        return ()
    others |= done.assigned | done.taken | set(_written(around))
    made = list[Hoisted]()
    for base, places in found.items():
        typed = _element(around, base)
        if base in others or typed is None:
            continue
        for text in dict.fromkeys(subscript for subscript, _ in places):
            made.append(_named(around, base, text, typed, [node for subscript, node in places if subscript == text]))
    around.found.extend(made)
    return tuple(made)


def _place(node: Any) -> Any:
    """The innermost step of a reference, where that is ``array[…].member``; else None."""
    while isinstance(node, (ir.ArrayRef, ir.StructRef, ir.UnaryOp)):
        match node:
            case ir.StructRef(type=".", name=ir.ArrayRef(name=ir.ID())):
                return node
            case ir.ArrayRef(name=inner) | ir.StructRef(name=inner) | ir.UnaryOp(op="*", expr=inner):
                node = inner
            case _:
                return None
    return None


def _is_fixed(around: MemberHoister, subscript: Any) -> bool:
    """Whether a subscript is computed from constants, and variables that nothing but their names lead to."""
    known = [around.symbols.get(name) for name in used_names(subscript)]
    own = all(one is None or one.kind == "enum-constant" or is_value(one) for one in known)
    return own and around.is_known(subscript)


def _written(around: MemberHoister) -> Iterator[str]:
    """The arrays in whose elements, not only behind these, something is written."""
    for node in targets(*around.items):
        found = reference_of(node)
        if isinstance(found.base, ir.ID):
            shape = path_shape(around.types, found)
            if shape is None or not any(layer.kind == "pointer" for layer in shape[0][1:]):
                yield found.base.name


def _element(around: MemberHoister, base: str) -> Typed | None:
    """The type of an array's elements, if these are structures, and the region can't give the array another place."""
    symbol = around.symbols.get(base)
    if symbol is None or symbol.kind not in ("local", "parameter", "global") or base in around.inside:
        return None
    if symbol.thread_local or (symbol.pointer and (symbol.kind == "global" or symbol.static or symbol.address_taken)):
        return None
    whole = around.types.of(ir.ID(base))
    typed = whole.element() if whole is not None else None
    if typed is None or not typed.composite or typed.struct is None or typed.type.volatile or typed.type.atomic:
        return None
    return typed if around.types.named(typed.type.spelling) is typed.struct else None


def _named(around: MemberHoister, base: str, text: str, typed: Typed, nodes: list[Any]) -> Hoisted:
    """A pointer to an element, and its members instead of those of the element."""
    name = around.fresh(re.sub(r"\W+", "_", f"{base}_{text}").strip("_"))
    around.symbols[name] = describe(name, Shape((Layer("pointer"),), typed.type, typed.size), "local")
    element = nodes[0].name
    read = frozenset(one for one in used_names(element.subscript) if one in around.symbols)
    around.put({node: changed(node, name=ir.ID(name, node.coord), type="->") for node in nodes})
    return Hoisted(around.symbols[name], f"__typeof__({base}[0]) *{name} = &{CPrinter().visit(element)};", reads=read)
