"""Bounds, and parts of subscripts, that are cells of arrays which stay what they are in a region (``dims[1]``,
``sizes[level]``, ``levels[k].n``, ``*count``) get a name before it, as members of one object do
(`scopt.frontend.normalize.members`).

The cell is read where the region begins, under the condition that its loops are entered; whether something that the
region writes may be the cell by another name is for `scopt.frontend.model.aliasing` to say.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.frontend.normalize.failing_checks import behind_checks
from scopt.frontend.normalize.forward_substitution import LocalNames, substituted_locals
from scopt.frontend.normalize.index_uses import bound_names
from scopt.frontend.normalize.member_uses import Use
from scopt.frontend.normalize.members import Hoisted, MemberHoister
from scopt.frontend.normalize.opaque import may_end_early
from scopt.frontend.syntax.structs import Typed, path_shape, reference_of, shared_storage
from scopt.ir.constants import constant_value
from scopt.ir.ctypes import Layer, Symbol
from scopt.ir.effects import effects, targets
from scopt.ir.printing import CPrinter
from scopt.ir.walks import distinct, used_names


def hoist_cells(around: MemberHoister, known: Collection[str] = ()) -> tuple[Hoisted, ...]:
    """Name such cells; the items are changed in place. around: has named the members. known: pointers whose first cells
    may be read whether loops are entered or not."""
    named: list[Hoisted] = []
    tried: set[str] = set()
    while True:  # the conditions of inner ones are made of the names of outer ones
        found: dict[str, list[_Occurrence]] = {}
        bounds = bound_names(around.items)
        late = behind_checks(around.items)
        for item in around.items:
            for one in _occurrences(item, (), bounds, late, wanted=False):
                found.setdefault(_text(one.use.node), []).append(one)
        text = next(
            (text for text, some in found.items() if text not in tried and any(one.wanted for one in some)), None
        )
        if text is None:
            return tuple(named)
        tried.add(text)
        made = _named(around, text, [one.use for one in found[text]], known)
        named += [made] if made is not None else []


def named_cells(
    around: MemberHoister,
    found: int,
    read_before: Collection[str],
    plain_pointers: Callable[[tuple[Any, ...]], tuple[Any, ...]],
    given: Callable[[], LocalNames],
) -> tuple[tuple[Hoisted, ...], tuple[Hoisted, ...]]:
    """Names for cells, and for members behind them, with what is computed from these computed from names. found: how
    many members have names already. read_before: `known` of `hoist_cells`. given: what names mean then."""
    cells = hoist_cells(around, read_before)
    if not cells:
        return (), ()
    behind = around.run()[found:]
    if behind:  # what loops up to such a cell load
        around.items = distinct(plain_pointers(around.items))
    while True:
        around.items = substituted_locals(around.items, given())
        deeper = hoist_cells(around, read_before)  # in loops whose bounds are the values of cells
        if not deeper:
            return cells, behind
        cells = (*cells, *deeper)


def _text(node: Any) -> str:
    """A reference in C, the same for ``*p`` and ``p[0]``."""
    if isinstance(node, ir.UnaryOp) and isinstance(node.expr, ir.ID):
        node = ir.ArrayRef(node.expr, ir.Constant("int", "0", node.coord), node.coord)
    return str(CPrinter().visit(node))


class _Occurrence(Struct, frozen=True, eq=False):
    """wanted: it is a part of a bound or of a subscript, or of a variable's value that bounds are made of."""

    use: Use
    wanted: bool


def _occurrences(
    node: Any, guards: tuple[Any, ...] | None, bounds: frozenset[str], late: frozenset[Any], *, wanted: bool
) -> Iterator[_Occurrence]:
    """The references to elements, in textual order. guards: the loops around, or None where it depends on something
    else too whether the node is reached. bounds: the variables that bounds are made of. late: `behind_checks`."""
    guards = None if node in late else guards
    match node:
        case ir.For():
            inner = (*guards, node) if guards is not None and not may_end_early(node.stmt) else None
            for part, place, head in (
                (node.init, guards, True),
                (node.cond, guards, True),
                (node.next, inner, True),
                (node.stmt, inner, False),
            ):
                if part is not None:
                    yield from _occurrences(part, place, bounds, late, wanted=head)
        case ir.If() | ir.TernaryOp():
            yield from _occurrences(node.cond, guards, bounds, late, wanted=wanted)
            for part in node.parts[1:]:
                yield from _occurrences(part, None, bounds, late, wanted=wanted)
        case ir.BinaryOp(op="&&" | "||"):
            yield from _occurrences(node.left, guards, bounds, late, wanted=wanted)
            yield from _occurrences(node.right, None, bounds, late, wanted=wanted)
        case ir.UnaryOp(op="sizeof" | "_Alignof" | "__alignof__" | "&"):
            return
        case ir.ArrayRef() | ir.StructRef() | ir.UnaryOp(op="*"):
            yield _Occurrence(Use(node, guards), wanted)
            for subscript in reference_of(node).subscripts:
                yield from _occurrences(subscript, guards, bounds, late, wanted=True)
        case ir.While() | ir.DoWhile() | ir.Switch():
            for part in node.parts:
                yield from _occurrences(part, None, bounds, late, wanted=wanted)
        case ir.Assignment(op="=", lvalue=ir.ID(name=name)) if name in bounds:
            yield from _occurrences(node.rvalue, guards, bounds, late, wanted=True)
        case ir.Node():
            for part in node.parts:
                yield from _occurrences(part, guards, bounds, late, wanted=wanted)


def _named(around: MemberHoister, text: str, uses: list[Use], known: Collection[str]) -> Hoisted | None:
    """A name for a cell in the place of its uses; None where there can't be one."""
    typed = _fixed(around, uses[0].node)
    if typed is None:
        return None
    sure = any(use.guards == () for use in uses) or text in {f"{name}[0]" for name in known}
    placed = uses if sure else [use for use in uses if use.guards is not None]
    condition = "" if sure else around.condition(placed, placed) if placed else None
    if condition is None:
        return None
    found = reference_of(uses[0].node)
    base = around.symbols[found.base.name]
    name = around.fresh(re.sub(r"\W+", "_", text).strip("_"))
    kind = replace(typed.type, const=False)
    around.symbols[name] = Symbol(name, "local", kind, size=typed.size)
    around.put({use.node: ir.ID(name, use.node.coord) for use in placed})
    value = f"{condition} ? {text} : 0" if condition else text
    cell = Symbol(
        text, "global", kind, within=base.within or base, path=(*base.path, *found.path), struct=_struct(around, base)
    )
    reads = frozenset(word for subscript in found.subscripts for word in used_names(subscript))
    return Hoisted(around.symbols[name], f"const {kind.spelling} {name} = {value};", cell, reads)


def _struct(around: MemberHoister, base: Symbol) -> Any:
    """The definition that a cell's path begins in."""
    if base.within is not None:
        return base.struct
    typed = around.types.of(ir.ID(base.name))
    return typed.struct if typed is not None else None


def _fixed(around: MemberHoister, node: Any) -> Typed | None:
    """The type of a cell that holds an integer, which the region doesn't write by the same name, and whose place it
    doesn't change; None for any other."""
    found = reference_of(node)
    base = around.symbols.get(found.base.name) if isinstance(found.base, ir.ID) else None
    if base is None or base.name in around.inside or base.kind not in ("local", "parameter", "global"):
        return None
    done = effects(*around.items)
    if base.name in done.assigned | done.passed or done.opaque or done.unnamed:
        return None
    shape = path_shape(around.types, found)
    if shape is None or any(layer.kind != "array" for layer in shape[0][1:]) or not shape[0]:
        return None
    typed = shape[1]
    plain = not typed.layers and typed.type.integer and typed.type.bits > 1
    if not plain or typed.type.volatile or typed.type.atomic or base.type.volatile or base.type.atomic:
        return None
    if not all(_is_place(around, *one) for one in zip(shape[0], found.subscripts, strict=True)):
        return None
    if found.path and shared_storage(around.types, found):
        return None
    for written in targets(*around.items):
        other = reference_of(written)
        if isinstance(other.base, ir.ID) and other.base.name == base.name:
            pairs = zip(other.path, found.path, strict=False)
            if not any(one != another for one, another in pairs):
                return None
    return typed


def _is_place(around: MemberHoister, layer: Layer, subscript: Any) -> bool:
    """Whether a subscript stays what it is, and isn't known to lead out of its array."""
    size = constant_value(layer.dim, around.symbols) if layer.kind == "array" and layer.dim is not None else None
    number = constant_value(subscript, around.symbols)
    return around.is_known(subscript) and (size is None or number is None or 0 <= number < size)
