"""Sums that a loop's body has one below the other, one for each lane of a vector, as a short vector loop over lanes:
``s0 += x[j] * y[j]; s1 += x[j + 1] * y[j + 1]; …``, ``acc[0] += x[j] * h[j]; acc[1] += x[j] * h[j + 1]; …``.

People write them so to have several chains of additions at a time, and each sum keeps its order. gcc looks for vectors
along the loop, for which sums would have to be taken apart, and in straight code, beginning at stores, which sums in
registers don't have (two to five times as fast). Compilers that find these vectors make the same of both.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import count
from typing import Any

from msgspec.structs import replace

from scopt import ir
from scopt.frontend.normalize.expression_types import ExpressionTypes
from scopt.frontend.normalize.opaque import LOOPS, has_jump
from scopt.frontend.normalize.sum_lanes import Lanes, lanes_at
from scopt.frontend.normalize.tree_rewriting import items_of, mentions, number
from scopt.frontend.region.regions import region_of
from scopt.frontend.syntax.symbols import scope_at, symbol_of
from scopt.frontend.syntax.unit import Region, TranslationUnit
from scopt.ir.printing import CPrinter
from scopt.ir.walks import changed, copied, same_items, walk, with_nodes

Scopes = Mapping[ir.Node, ExpressionTypes]


def in_lanes(tu: TranslationUnit, region: Region, *, deep: bool) -> tuple[str, Scopes] | None:
    """The text of a region with such loops in lanes, and what is known where each of them stands; None if there are
    none. deep: it may be any statements with such loops inside, instead of one of them."""
    whole = region.parent.block_items[region.first : region.stop]
    if not same_items(region.items, whole) or (len(whole) > 1 and not deep):
        return None
    found = [*_found(tu, region, deep=deep)]
    if not found:
        return None
    made: dict[ir.Node, Any] = {loop: one for loop, _, one in found}
    items = [with_nodes(item, made) for item in region.items]
    block = items[0] if len(items) == 1 and isinstance(items[0], ir.Compound) else ir.Compound(items)
    return str(CPrinter(reduce_parentheses=True).visit(block)), {loop: types for loop, types, _ in found}


def _found(tu: TranslationUnit, region: Region, *, deep: bool) -> Iterator[tuple[Any, ExpressionTypes, ir.Compound]]:
    """The loops of a region that have such sums, what is known there, and what takes their place."""
    for position in range(region.first, region.stop):
        item = region.parent.block_items[position]
        place = region_of(tu, region.function, region.parent, position, position + 1)
        if isinstance(item, LOOPS) and place is not None:
            types = ExpressionTypes(scope_at(tu, place), tu.structs, region.symbolic, region.types)
            made = loop_in_lanes(item, types, tu.reserved)
            if made is not None:
                yield item, types, made
                continue
        if deep:
            for block in _blocks(item):
                inside = replace(region, parent=block, first=0, stop=len(block.block_items or ()))
                yield from _found(tu, inside, deep=True)


def _blocks(node: Any) -> Iterator[ir.Compound]:
    """The outermost blocks in a statement."""
    if isinstance(node, ir.Compound):
        yield node
        return
    for part in node.parts:
        yield from _blocks(part)


def loop_in_lanes(loop: Any, types: ExpressionTypes, reserved: Collection[str]) -> ir.Compound | None:
    """What takes the place of a loop with such sums: these as arrays around it; None if it has none.
    reserved: names that are none of new variables."""
    declared = [node for node in walk(loop) if isinstance(node, ir.Decl)]
    inner = {one.name: symbol_of(one, types.scope) for one in declared}
    hidden = len(inner) < len(declared) or not types.scope.keys().isdisjoint(inner)
    if not isinstance(loop.stmt, ir.Compound) or has_jump(loop.stmt) or hidden:
        return None
    types = replace(types, scope={**types.scope, **inner})
    items, done, found = items_of(loop.stmt), list[Any](), list[Lanes]()
    lane, sums = next(_fresh("lane", reserved)), _fresh("sums", reserved)
    before, behind = list[Any](), list[Any]()
    position = 0
    while position < len(items):
        lanes = lanes_at(items, position, types)
        if lanes is None:
            done.append(items[position])
            position += 1
            continue
        own = [next(sums) for _ in lanes.updates]
        done += _vector_loop(lanes, own, lane)
        before += [_declared(name, lanes.type, cells) for name, cells in zip(own, lanes.cells, strict=True)]
        behind += [
            ir.Assignment("=", copied(cell), ir.ArrayRef(ir.ID(name), number(k)))
            for name, cells in zip(own, lanes.cells, strict=True)
            for k, cell in enumerate(cells)
        ]
        found.append(lanes)
        position += lanes.statements
    if not found or not _are_alone(loop, found, inner):
        return None
    return ir.Compound([*before, changed(loop, stmt=ir.Compound(done)), *behind])


def _are_alone(loop: Any, found: list[Lanes], declared: Collection[str]) -> bool:
    """Whether a loop uses sums nowhere else, and each once. declared: in it."""
    cells = [cell for lanes in found for each in lanes.cells for cell in each]
    texts = {str(CPrinter().visit(cell)) for cell in cells}
    names = {node.name: 0 for cell in cells for node in walk(cell) if isinstance(node, ir.ID)}
    for lanes in found:
        for name, times in lanes.mentions.items():
            names[name] += times
    once = len(texts) == len(cells) and names.keys().isdisjoint(declared)
    return once and all(mentions(loop, name) == times for name, times in names.items())


def _fresh(stem: str, reserved: Collection[str]) -> Iterator[str]:
    return (name for k in count(1) if (name := stem if k == 1 else f"{stem}_{k}") not in reserved)


def _declared(name: str, ctype: str, cells: tuple[Any, ...]) -> ir.Decl:
    """An array that begins with the sums' values."""
    element = ir.TypeDecl(name, [], None, ir.IdentifierType(ctype.split()))
    array = ir.ArrayDecl(element, number(len(cells)), [])
    return ir.Decl(name, [], [], [], [], array, ir.InitList([copied(cell) for cell in cells]), None)


def _vector_loop(lanes: Lanes, names: list[str], lane: str) -> list[Any]:
    declared = ir.TypeDecl(lane, [], None, ir.IdentifierType(["int"]))
    first = ir.DeclList([ir.Decl(lane, [], [], [], [], declared, number(0), None)])
    end = ir.BinaryOp("<", ir.ID(lane), number(lanes.number))
    updates: list[Any] = [
        ir.Assignment(update.op, ir.ArrayRef(ir.ID(name), ir.ID(lane)), update.at(ir.ID(lane)))
        for name, update in zip(names, lanes.updates, strict=True)
    ]
    body = updates[0] if len(updates) == 1 else ir.Compound(updates)
    return [ir.Pragma("omp simd"), ir.For(first, end, ir.UnaryOp("p++", ir.ID(lane)), body)]
