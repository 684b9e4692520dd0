"""Loops through all of an array whose rows other loops go through: ``for (int i = 0; i < h * w; i++) a[i] = 0;`` beside
``b[y * w + x] = a[y * w + x]`` is a loop through the rows, and one through each of them.

The iterations are the same ones in the same order as long as a row has no negative length. Pixels of several channels,
``a[(y * w + x) * c + k]`` beside ``a[i * c + k]``, have such rows, too; and a variable may hold how many there are,
``int size = h * w;`` in front of the region, or ``int size = g->h * g->w;``, which the program asks about
(`scopt.frontend.model.asked_products`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import count
from math import inf
from typing import Any

from msgspec import Struct

from scopt import ir
from scopt.frontend.normalize.element_loops import counting
from scopt.frontend.normalize.named_members import with_named_members
from scopt.frontend.normalize.opaque import leaving
from scopt.frontend.normalize.outer_products import OuterVariables
from scopt.frontend.normalize.tree_rewriting import substituted
from scopt.frontend.syntax.structs import Definitions
from scopt.frontend.syntax.symbols import Symbol, ctype_of
from scopt.ir.effects import effects
from scopt.ir.walks import rebuilt, used_names, walk

_SIGNED = (["int"], ["long"], ["long", "int"], ["long", "long"], ["int64_t"], ["int32_t"], ["ptrdiff_t"])
_JUMPS = (ir.Goto, ir.Label, ir.Return)
_INT_BITS = 32
# Of arrays with more dimensions than that, rows of so many cells at least are worth loops of their own: the channels of
# a pixel may be three, and a loop over all of them is a vector loop (measured: a quarter of the speed).
_RANK, _LEAST_ROW = 2, 16


class RowLoops(Struct, frozen=True, eq=False):
    """items: the statements of a region in that form. required: lengths of rows, variables and members, with what they
    have to be at least: none may be negative. asked: variables that have to be the products of members that they are
    declared as."""

    items: tuple[Any, ...]
    required: tuple[tuple[Any, int], ...] = ()
    asked: frozenset[str] = frozenset()


def with_loops_by_rows(
    items: Iterable[Any],
    reserved: Collection[str],
    symbols: Mapping[str, Symbol],
    function: Any,
    structs: Definitions,
) -> RowLoops:
    """The statements of a region in that form. reserved: names that new iterators must not have; symbols: what names
    mean around the region, in a function."""
    members = with_named_members(items, symbols, function, structs, reserved)
    items, symbols = members.items, members.symbols
    nodes = list(walk(*items))
    declared = frozenset(node.name for node in nodes if isinstance(node, ir.Decl))
    around = {name: symbol for name, symbol in symbols.items() if name not in declared}
    outer = OuterVariables(function, symbols, declared)
    changed_names = effects(*items).changed
    moving = changed_names | declared
    lengths, _ = _depths(items, moving)
    lengths |= _of_planes(lengths, outer, members.products)
    taken = {*reserved, *declared, *(node.name for node in nodes if isinstance(node, ir.ID))}
    numbers = count(1)
    required: dict[str, int] = {}
    asked: set[str] = set()

    def change(node: Any) -> Any:
        found = _head(node, around, outer, members.products)
        if found is None or _ends_early(node.stmt):
            return node
        name, spelling, factors = found
        known = [k for k, factor in enumerate(factors) if isinstance(factor, ir.ID) and factor.name in lengths]
        if not known or name in effects(node.stmt).changed:
            return node
        # Of numbers that are multiplied by the lengths of other rows already, those are the rows around.
        depth = max(_depths([node.stmt], moving)[1].get(name, [0]))
        inner = min(known, key=lambda k: _rank(lengths[factors[k].name], depth))
        length = factors[inner]
        names = {one.name for factor in factors for one in walk(factor) if isinstance(one, ir.ID)}
        if not names.isdisjoint(changed_names):
            return node
        others = [factor for k, factor in enumerate(factors) if k != inner]
        rows = others[0]
        for factor in others[1:]:
            rows = ir.BinaryOp("*", rows, factor, node.coord)
        asked.update({node.cond.right.name} & members.products.keys() if isinstance(node.cond.right, ir.ID) else ())
        number = next(k for k in numbers if not {f"row_{k}", f"cell_{k}"} & taken)
        row, cell = ir.ID(f"row_{number}", node.coord), ir.ID(f"cell_{number}", node.coord)
        index = ir.BinaryOp("+", ir.BinaryOp("*", row, length, node.coord), cell, node.coord)
        required[length.name] = max(required.get(length.name, 0), _LEAST_ROW if len(factors) > _RANK else 0)
        body = counting(cell.name, spelling, length, [substituted(node.stmt, name, index)], node.coord)
        return change(counting(row.name, spelling, rows, [body], node.coord))

    made = tuple(members.unnamed(rebuilt(item, change)) for item in items)
    lengths_asked = tuple((members.unnamed(ir.ID(name)), least) for name, least in required.items())
    return RowLoops(made, lengths_asked, frozenset(asked))


def _depths(items: Iterable[Any], moving: Collection[str]) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
    """Of variables that the number of a row is multiplied by, as `w` and `h` in ``(k * h + y) * w + x``, in how many
    other products that is done: those of the lengths of rows within them. Likewise of all variables that are multiplied
    or added, how many lengths they are multiplied by. moving: names with several values."""
    lengths, uses = dict[str, list[int]](), dict[str, list[int]]()

    def visit(node: Any, depth: int) -> None:
        if isinstance(node, ir.ID):
            uses.setdefault(node.name, []).append(depth)
        elif not (isinstance(node, ir.BinaryOp) and node.op in "+-*"):
            for child in node.parts:
                visit(child, depth if isinstance(node, ir.Cast) else 0)
        elif node.op == "*":
            parts = _multiplied(node)
            still = [part for part in parts if not any(name in moving for name in used_names(part))]
            # Of `k * 2 * n`, rows are longer.
            if len(parts) == 2 and len(still) == 1 and isinstance(still[0], ir.ID):
                lengths.setdefault(still[0].name, []).append(depth)
            for part in parts:
                visit(part, depth + any(not isinstance(one, ir.Constant) for one in still))
        else:
            visit(node.left, depth)
            visit(node.right, depth)

    for item in items:
        visit(item, 0)
    return lengths, uses


def _ends_early(body: Any) -> bool:
    """Whether a loop's body may end the loop, or has labels."""
    ends = any(isinstance(one, ir.Break) for one in leaving(body))
    return ends or any(isinstance(one, _JUMPS) for one in walk(body))


def _of_planes(
    lengths: Mapping[str, Sequence[int]], outer: OuterVariables, products: Mapping[str, Any]
) -> dict[str, list[int]]:
    """Lengths that only variables that hold products show: of `size` in ``k * size + y * w + x`` there are `h` rows
    where ``size = h * w``. products: what variables hold besides."""
    found = dict[str, list[int]]()
    for name, depths in lengths.items():
        factors = list(used_names(outer.product(name) or products.get(name)))
        others = [one for one in factors if one not in lengths]
        if len(others) == 1:
            found.setdefault(others[0], []).extend(depth + len(factors) - 1 for depth in depths)
    return found


def _rank(depths: Sequence[int], depth: int) -> tuple[float, int]:
    """How near a length of rows is that stands in so many products, and how often, to a number that does."""
    return min((one for one in depths if one >= depth), default=inf), -len(depths)


def _multiplied(node: Any) -> list[Any]:
    if isinstance(node, ir.BinaryOp) and node.op == "*":
        return [*_multiplied(node.left), *_multiplied(node.right)]
    return [node]


def _head(
    node: Any, symbols: Mapping[str, Symbol], outer: OuterVariables, products: Mapping[str, Any]
) -> tuple[str, str, list[Any]] | None:
    """The iterator of a loop from zero, its type, and the factors of what it ends at, if these are several. products:
    what variables hold besides."""
    match node:
        case ir.For(
            init=ir.DeclList(decls=[ir.Decl(name=name, type=ir.TypeDecl(type=kind), init=ir.Constant(value="0"))]),
            cond=ir.BinaryOp(op="<", left=ir.ID(name=tested), right=end),
            next=ir.UnaryOp(op="++" | "p++", expr=ir.ID(name=stepped)),
        ) if name == tested == stepped and isinstance(kind, ir.IdentifierType) and list(kind.names) in _SIGNED:
            whole = outer.product(end.name) or products.get(end.name) if isinstance(end, ir.ID) else None
            factors = _factors(end if whole is None else whole, symbols)
            return (name, " ".join(kind.names), factors) if factors is not None and len(factors) > 1 else None
    return None


def _factors(node: Any, symbols: Mapping[str, Symbol]) -> list[Any] | None:
    """The factors of a product whose value is that of the numbers that they are; None where a conversion or arithmetic
    modulo some power of two may make another one of it."""
    match node:
        case ir.BinaryOp(op="*"):
            left, right = _factors(node.left, symbols), _factors(node.right, symbols)
            return None if left is None or right is None else [*left, *right]
        case ir.Cast(expr=ir.ID() as inner):
            made = ctype_of(node.to_type, symbols)
            if made is None or not made.integer or made.bits < (_INT_BITS if made.signed else 2 * _INT_BITS):
                return None
            found = _factors(inner, symbols)
            return found if found and symbols[inner.name].type.bits <= made.bits else None
        case ir.ID(name=name):
            symbol = symbols.get(name)
            if symbol is None or symbol.pointer or symbol.dims or not symbol.type.integer:
                return None
            exact = symbol.type.signed or symbol.type.bits < _INT_BITS or symbol.type.bits == 2 * _INT_BITS
            return [node] if exact else None
        case ir.Constant(type="int"):
            return [node]
    return None
