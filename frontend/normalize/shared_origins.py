"""Places in an array that a region counts from: ``u[o + i * w + j]`` with one `o` in all of the array's subscripts, as
levels of a multigrid hierarchy, or blocks of one's own in a larger array, are ``u_o[i * w + j]`` of a pointer `u + o`.

Rows that begin anywhere are no rows by their subscripts: the place of the first would have to be one in a row, where
what is added may be anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from scopt import ir
from scopt.frontend.normalize.members import Hoisted, MemberHoister
from scopt.frontend.syntax.symbols import Symbol
from scopt.ir.ctypes import Layer
from scopt.ir.effects import effects
from scopt.ir.scop import CType
from scopt.ir.walks import changed, copied, used_names, walk

# Bits of the type that narrower ones are promoted to.
INT = 32


def hoist_origins(around: MemberHoister) -> tuple[Hoisted, ...]:
    """Name such places, and count from there."""
    done = effects(*around.items)
    if done.opaque or done.unnamed:
        return ()
    decisive = _decisive(around) | done.changed | around.inside
    found = []
    for name in sorted(_subscripted(around)):
        nodes = _subscripted(around)[name]
        symbol = around.symbols.get(name)
        if symbol is None or name in done.changed | around.inside or not _is_plain(symbol):
            continue
        if [*used_names(*around.items)].count(name) != len(nodes) or not _goes_by_rows(nodes, around.inside):
            continue
        places = set.intersection(*({*_added(node.subscript)} for node in nodes)) - decisive
        origin = next((one for one in sorted(places) if _is_number(around.symbols.get(one))), None)
        if origin is not None and not any(name in used_names(node.subscript) for node in nodes):
            found.append(_named(around, symbol, origin, nodes))
    return tuple(found)


def _subscripted(around: MemberHoister) -> dict[str, list[Any]]:
    """The references to arrays by one subscript, by their names."""
    found = dict[str, list[Any]]()
    for node in walk(*around.items):
        if isinstance(node, ir.ArrayRef) and isinstance(node.name, ir.ID):
            found.setdefault(node.name.name, []).append(node)
    return found


def _decisive(around: MemberHoister) -> frozenset[str]:
    """Names that loops and conditions ask for, other than for places: they are more than that."""
    names = set[str]()
    for node in walk(*around.items):
        asked: tuple[Any, ...]
        match node:
            case ir.For():
                asked = (node.init, node.cond, node.next)
            case ir.If() | ir.While() | ir.DoWhile() | ir.TernaryOp() | ir.Switch():
                asked = (node.cond,)
            case _:
                continue
        names.update(name for one in asked for name in _outside_subscripts(one))
    return frozenset(names)


def _outside_subscripts(node: Any) -> Iterator[str]:
    match node:
        case None | ir.ArrayRef():
            return
        case ir.ID(name=name):
            yield name
        case _:
            for part in node.parts:
                yield from _outside_subscripts(part)


def _is_plain(symbol: Symbol) -> bool:
    """Whether it is an array of numbers of one dimension, or a pointer to some."""
    plain = symbol.kind in ("local", "parameter", "global") and not (symbol.type.volatile or symbol.type.atomic)
    numbers = symbol.type.integer or symbol.type.floating
    return plain and numbers and symbol.within is None and len(symbol.layers) == 1 and symbol.pointer_depth <= 1


def _is_number(symbol: Symbol | None) -> bool:
    """Whether it is a variable whose sums with others are exact, or undefined."""
    if symbol is None or symbol.kind not in ("local", "parameter", "global"):
        return False
    kind = symbol.type
    return kind.integer and kind.signed and not (kind.volatile or symbol.dims or symbol.pointer or symbol.layers)


def _added(node: Any) -> Iterator[str]:
    """The names that a sum adds, and mentions but once."""
    everywhere = [*used_names(node)]
    yield from (one for one in _addends(node) if everywhere.count(one) == 1)


def _addends(node: Any) -> Iterator[str]:
    match node:
        case ir.ID(name=name):
            yield name
        case ir.BinaryOp(op="+", left=left, right=right):
            yield from _addends(left)
            yield from _addends(right)
        case ir.BinaryOp(op="-", left=left):
            yield from _addends(left)


def _goes_by_rows(nodes: Iterable[Any], inside: frozenset[str]) -> bool:
    """Whether subscripts multiply an iterator with what the region doesn't change."""
    for node in walk(*(one.subscript for one in nodes)):
        if isinstance(node, ir.BinaryOp) and node.op == "*":
            sides = [frozenset(used_names(side)) for side in (node.left, node.right)]
            if any(one & inside and other and not other & inside for one, other in (sides, sides[::-1])):
                return True
    return False


def _named(around: MemberHoister, base: Symbol, origin: str, nodes: list[Any]) -> Hoisted:
    """A pointer to the place, which all subscripts count from now."""
    name = around.fresh(f"{base.name}_{origin}")
    text, kind = f"{base.name} + {origin}", around.symbols[origin].type
    layers = (Layer("pointer", None),)
    around.symbols[name] = replace(
        base,
        name=name,
        kind="local",
        dims=(None,),
        pointer=True,
        pointer_depth=1,
        static=False,
        extern=False,
        address_taken=False,
        decl=None,
        layers=layers,
    )
    others: dict[ir.Node, ir.Node] = {
        node: ir.ArrayRef(ir.ID(name, node.name.coord), _from_there(node.subscript, origin, kind), node.coord)
        for node in nodes
    }
    around.put(others)
    element = f"{'const ' if base.type.const else ''}{base.type.spelling}"
    return Hoisted(around.symbols[name], f"{element} *{name} = {text};", reads=frozenset((origin,)))


def _from_there(subscript: Any, origin: str, kind: CType) -> Any:
    """The subscript without what it adds. A zero takes its place where that decides in which type the rest is added."""
    zero = ir.Constant("long int", "0L") if kind.bits > INT else None

    def rest(node: Any) -> Any:
        match node:
            case ir.ID(name=name) if name == origin:
                return zero
            case ir.BinaryOp(op="+" | "-" as op, left=left, right=right):
                first, second = rest(left), rest(right) if op == "+" else right
                if first is None or second is None:
                    if op == "+":
                        return second if first is None else first
                    return ir.UnaryOp("-", second, node.coord)
                return changed(node, left=first, right=second)
        return node

    made = rest(copied(subscript))
    return made if made is not None else ir.Constant("int", "0")
