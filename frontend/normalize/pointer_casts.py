"""Pointers to bytes, or to nothing in particular, that a region takes for pointers to numbers get names of that type
before it: ``((float *)im->data)[i]`` becomes ``im_data_float[i]``, as buffers of several pixel types, or of a memory
pool, have it.

What is reached by several types (a pool of memory for floats, then for ints) would be several arrays in one place, so
that only what is read, by all of its types, gets such names then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scopt import ir
from scopt.frontend.normalize.members import Hoisted, MemberHoister
from scopt.frontend.syntax.structs import Typed
from scopt.frontend.syntax.symbols import Symbol
from scopt.ir.ctypes import Shape, describe
from scopt.ir.effects import effects
from scopt.ir.walks import walk

_BYTE = 8


def hoist_casts(around: MemberHoister) -> tuple[Hoisted, ...]:
    """Name such pointers; the items are changed in place."""
    casts = dict[tuple[str, str], list[tuple[Any, Typed]]]()
    for node in walk(*around.items):
        if isinstance(node, ir.Cast) and isinstance(node.expr, ir.ID) and (typed := _numbers(around, node)) is not None:
            casts.setdefault((node.expr.name, typed.type.spelling), []).append((node, typed))
    done = effects(*around.items)
    if not casts or done.opaque:
        return ()
    kept = {name for name, _ in casts if _is_kept(around, name) and _is_one_array(around, name, casts)}
    return tuple(_named(around, name, uses) for (name, _), uses in casts.items() if name in kept)


def _numbers(around: MemberHoister, cast: Any) -> Typed | None:
    """The type that a cast gives, if that is a pointer to numbers."""
    typed = around.types.declared(cast.to_type)
    plain = typed.type.integer or typed.type.floating
    if not typed.pointer or len(typed.layers) > 1 or not plain or typed.type.volatile or typed.type.atomic:
        return None
    return typed


def _is_kept(around: MemberHoister, name: str) -> bool:
    """Whether a variable is a pointer to bytes, or to nothing in particular, that keeps its value in the region."""
    symbol = around.symbols.get(name)
    if symbol is None or symbol.kind not in ("local", "parameter") or symbol.address_taken or symbol.static:
        return False
    if not symbol.pointer or symbol.pointer_depth != 1 or len(symbol.dims) > 1 or not _is_raw(symbol):
        return False
    return name not in around.inside and name not in around.assigned()


def _is_one_array(
    around: MemberHoister, name: str, casts: Mapping[tuple[str, str], Sequence[tuple[Any, Typed]]]
) -> bool:
    """Whether a pointer is reached by one type only, or leads to what no type lets anybody write."""
    own = [uses for (base, _), uses in casts.items() if base == name]
    taken = [typed.type for uses in own for _, typed in uses]
    mentioned = sum(isinstance(node, ir.ID) and node.name == name for node in walk(*around.items))
    if len(own) == 1 and mentioned == len(taken):
        return True
    return around.symbols[name].type.const and all(kind.const for kind in taken)


def _is_raw(symbol: Symbol) -> bool:
    kind = symbol.type
    if kind.volatile or kind.atomic:
        return False
    return kind.spelling == "void" or (kind.integer and kind.bits == _BYTE)


def _named(around: MemberHoister, base: str, uses: list[tuple[Any, Typed]]) -> Hoisted:
    """A name for what a pointer is taken for."""
    # one that may be written through is one that may be read through, too
    typed = next((one for _, one in uses if not one.type.const), uses[0][1])
    spelling = typed.type.spelling
    name = around.fresh(f"{base}_{'_'.join(spelling.split())}")
    kind = f"{'const ' if typed.type.const else ''}{spelling} *"
    around.symbols[name] = describe(name, Shape(typed.layers, typed.type, typed.size), "local")
    around.put({node: ir.ID(name, node.coord) for node, _ in uses})
    return Hoisted(around.symbols[name], f"{kind}{name} = ({kind}){base};")
