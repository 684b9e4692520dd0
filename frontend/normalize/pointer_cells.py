"""Pointers in arrays, at places that are constants, get names before the region: ``u[1][k]`` becomes ``u_1[k]``, with
the pointer loaded once, as members that are pointers do (`scopt.frontend.normalize.members`).

Fields at several times (``double *u[3]``), components (``double **w[4]``) and the like are arrays like others then.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from scopt import ir
from scopt.frontend.normalize.member_uses import Use, uses_in
from scopt.frontend.normalize.members import Hoisted, MemberHoister
from scopt.frontend.normalize.structure_places import hoist_places
from scopt.frontend.syntax.structs import Typed, reference_of
from scopt.ir.constants import constant_value
from scopt.ir.ctypes import Shape, Symbol, describe
from scopt.ir.effects import effects, targets
from scopt.ir.printing import CPrinter
from scopt.ir.walks import walk


def hoist_pointers(around: MemberHoister) -> tuple[Hoisted, ...]:
    """Name the members, such pointers, and structures at such places, with the members of these; the items are changed
    in place. All that has a name then."""
    around.run()
    while _pointers(around) or hoist_places(around):
        around.run()
    return tuple(around.found)


def _pointers(around: MemberHoister) -> bool:
    """Name such pointers; whether there were any."""
    found: dict[tuple[str, int], list[Use]] = {}
    through: dict[str, list[Use]] = {}
    for use in uses_in(around.items):
        place = _place(around, use.node)
        if place is not None:
            found.setdefault(place, []).append(use)
        if isinstance(base := reference_of(use.node).base, ir.ID):
            through.setdefault(base.name, []).append(use)
    kept = {name: _is_kept(around, name) for name in {name for name, _ in found}}
    kept |= {name: False for name in kept if _has_rows(around, name)}
    named = [_named(around, name, uses, through[name]) for (name, _), uses in found.items() if kept[name]]
    around.found.extend(one for one in named if one is not None)
    return any(one is not None for one in named)


def _place(around: MemberHoister, node: Any) -> tuple[str, int] | None:
    """The array and the number of an element that is a pointer to numbers, to such pointers, or to a
    structure."""
    match node:
        case ir.ArrayRef(name=ir.ID(name=base), subscript=subscript):
            pass
        case _:
            return None
    typed, number = _element(around, base), constant_value(subscript, around.symbols)
    if typed is None or number is None or number < 0:
        return None
    layer = around.symbols[base].layers[0]
    size = constant_value(layer.dim, around.symbols) if layer.dim is not None else None
    return (base, number) if size is None or number < size else None


def _element(around: MemberHoister, base: str) -> Typed | None:
    """The type of an array's elements that are pointers, if their names can be told from what they lead to."""
    symbol = around.symbols.get(base)
    if symbol is None or symbol.kind not in ("local", "parameter", "global") or base in around.inside:
        return None
    whole = around.typed.get(base) or around.types.of(ir.ID(base))
    typed = whole.element() if whole is not None else None
    if whole is None or typed is None or not typed.pointer:
        return None
    own = set(whole.layers[0].quals) | set(typed.layers[0].quals)
    structure = len(typed.layers) == 1 and typed.struct is not None
    named = structure and around.types.named(typed.type.spelling) is typed.struct
    plain = typed.type.integer or typed.type.floating or named
    if not plain or typed.type.volatile or typed.type.atomic or symbol.thread_local or own & {"volatile", "_Atomic"}:
        return None
    return typed if all(layer.kind == "pointer" for layer in typed.layers) else None


# Steps of a pointer to rows: to one of them, and to its cells.
_ROWS = 2


def _has_rows(around: MemberHoister, base: str) -> bool:
    """Whether an array holds as many rows as there may be (``double **a``), which have tests of their own; not if all
    that is used of it are rows at constant places, as the planes of an image."""
    whole = around.typed.get(base) or around.types.of(ir.ID(base))
    if whole is None or not whole.pointer or whole.layers[0].dim is not None or len(whole.layers) != _ROWS:
        return False
    rows = (node for node in walk(*around.items) if isinstance(node, ir.ArrayRef) and _is_named(node.name, base))
    return any(constant_value(row.subscript, around.symbols) is None for row in rows)


def _is_named(node: Any, name: str) -> bool:
    return isinstance(node, ir.ID) and node.name == name


def _is_kept(around: MemberHoister, base: str) -> bool:
    """Whether the region leaves the pointers in an array what they are, as far as their names tell."""
    done = effects(*around.items)
    if base in done.assigned or done.opaque or done.unnamed:  # functions that write are none of a region
        return False
    for node in targets(*around.items):
        found = reference_of(node)
        if isinstance(found.base, ir.ID) and found.base.name == base and len(found.subscripts) < _ROWS:
            return False
    return True


def _named(around: MemberHoister, base: str, uses: list[Use], through: list[Use]) -> Hoisted | None:
    """A name for a pointer in the place of its uses; None where it may not be there to be read."""
    typed, root = _element(around, base), around.symbols[base]
    assert typed is not None
    # of an array that has no known end, an element may be there and the next one not
    bounded = root.layers[0].dim is not None and root.kind != "parameter"
    reached = through if bounded else uses
    sure = (bounded and not root.pointer) or any(use.guards == () for use in reached)
    condition = "" if sure else around.condition(uses, reached)
    if condition is None:
        return None
    node = uses[0].node
    number = constant_value(node.subscript, around.symbols)
    text = str(CPrinter().visit(ir.ArrayRef(node.name, ir.Constant("int", str(number)))))
    name = around.fresh(f"{base}_{number}")
    around.symbols[name] = describe(name, Shape(typed.layers, typed.type, typed.size), "local")
    around.put({use.node: ir.ID(name, use.node.coord) for use in uses})
    pointer = replace(typed.type, spelling=f"{typed.type.spelling} *", integer=False, floating=False)
    struct = root.struct if root.within is not None else None
    cell = Symbol(text, "global", pointer, within=root.within or root, path=root.path, struct=struct)
    value = f"{condition} ? {text} : 0" if condition else text
    return Hoisted(around.symbols[name], f"__typeof__({text}) {name} = {value};", cell)
