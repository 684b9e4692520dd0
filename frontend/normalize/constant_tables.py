"""Tables that never change: constant arrays with all their values in the source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from math import prod
from typing import Any

from msgspec import Struct

from scopt import ir
from scopt.ir.constants import typed_constant
from scopt.ir.ctypes import Symbol, limits_of
from scopt.ir.scop import CType

# Cells of a table at most.
_CELLS = 4096


class Table(Struct, frozen=True):
    """cells: by their subscripts. type: of each."""

    cells: Mapping[tuple[int, ...], int]
    type: CType

    def cell(self, subscripts: Sequence[int | None]) -> int | None:
        """A cell's value; None where the subscripts aren't numbers or lead outside."""
        known = tuple(one for one in subscripts if one is not None)
        return self.cells.get(known) if len(known) == len(subscripts) else None


def table_of(symbol: Symbol, symbols: Mapping[str, Symbol]) -> Table | None:
    """A constant array of integers that an `int` holds; None where not all values are plain numbers of its type."""
    init = getattr(symbol.decl, "init", None)
    own = symbol.type
    if symbol.pointer or not symbol.dims or not own.const or not own.integer or not isinstance(init, ir.InitList):
        return None
    if own.volatile or own.spelling == "_Bool" or own.bits > symbols["int"].type.bits:
        return None
    extents = _extents(symbol, init, symbols)
    if extents is None or prod(extents) > _CELLS:
        return None
    cells = {place: 0 for place in product(*map(range, extents))}
    if not _fill(cells, init, (), len(extents), symbols):
        return None
    least, greatest = limits_of(symbols["int"].type)
    low, high = max(least, limits_of(own)[0]), min(greatest, limits_of(own)[1])
    return Table(cells, own) if all(low <= value <= high for value in cells.values()) else None


def _extents(symbol: Symbol, init: ir.InitList, symbols: Mapping[str, Symbol]) -> tuple[int, ...] | None:
    found = []
    for position, dim in enumerate(symbol.dims):
        constant = typed_constant(dim, symbols) if dim is not None else None
        if constant is None and (dim is not None or position):
            return None
        found.append(constant[0] if constant is not None else len(init.exprs))
    return tuple(found) if all(size > 0 for size in found) else None


def _fill(
    cells: dict[tuple[int, ...], int], node: Any, place: tuple[int, ...], rank: int, symbols: Mapping[str, Symbol]
) -> bool:
    """Whether an initializer has braces for each row, and numbers for cells that there are."""
    if not isinstance(node, ir.InitList):
        constant = typed_constant(node, symbols)
        if len(place) != rank or constant is None or place not in cells:
            return False
        cells[place] = constant[0]
        return True
    if len(place) == rank:
        return False
    return all(_fill(cells, part, (*place, k), rank, symbols) for k, part in enumerate(node.exprs))
