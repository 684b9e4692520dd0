"""Values of tables that never change: constant arrays with all their values in the source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scopt import ir
from scopt.ir.constants import typed_constant
from scopt.ir.ctypes import Symbol, limits_of


def table_values(symbol: Symbol, symbols: Mapping[str, Symbol]) -> tuple[int, int] | None:
    """The least and the greatest value of a constant array of integers, 0 included, which cells without an initializer
    have; None where the values aren't plain numbers of its type."""
    init = getattr(symbol.decl, "init", None)
    if symbol.pointer or not symbol.dims or not symbol.type.const or not isinstance(init, ir.InitList):
        return None
    values = [0, *_values(init, symbols)]
    least, greatest = limits_of(symbol.type)
    found = [value for value in values if value is not None and least <= value <= greatest]
    return (min(found), max(found)) if len(found) == len(values) else None


def _values(node: Any, symbols: Mapping[str, Symbol]) -> Iterator[int | None]:
    for part in node.exprs:
        if isinstance(part, ir.InitList):
            yield from _values(part, symbols)
        else:
            constant = typed_constant(part, symbols)
            yield constant[0] if constant is not None else None
