"""Lengths of local arrays that a constant variable gives, as ``const int tile = 8; for … { float sums[tile]; … }``.

To C these are arrays of variable length, whatever the variable is initialized with. The variable's value may come from
a macro, and be another one when the result is compiled: it is a condition on the variable, which compilers work out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scopt import ir
from scopt.frontend.normalize.tree_rewriting import number, substituted
from scopt.ir.constants import constant_value
from scopt.ir.ctypes import Symbol
from scopt.ir.walks import used_names, walk


def with_named_numbers(items: Iterable[Any], symbols: Mapping[str, Symbol]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The statements of a region with numbers in the place of such variables, and what these have to be. symbols: what
    names mean around the region."""
    items = tuple(items)
    declared = [node for node in walk(*items) if isinstance(node, ir.Decl)]
    lengths = {name for one in declared for name in _length_names(one)} - {one.name for one in declared}
    found = {name: _value(symbols.get(name), symbols) for name in sorted(lengths)}
    values = {name: number(value) for name, value in found.items() if value is not None}
    for name, value in values.items():
        items = tuple(substituted(item, name, value) for item in items)
    return items, values


def _length_names(declaration: ir.Decl) -> frozenset[str]:
    """The names in the extents of an array."""
    found = frozenset[str]()
    node = declaration.type
    while isinstance(node, ir.ArrayDecl):
        found |= frozenset(used_names(node.dim)) if node.dim is not None else frozenset()
        node = node.type
    return found


def _value(symbol: Symbol | None, symbols: Mapping[str, Symbol]) -> int | None:
    """What a variable is initialized with that nothing may change; None for any other, and for types but `int`."""
    if symbol is None or symbol.kind != "local" or symbol.dims or symbol.pointer:
        return None
    plain = symbol.type.spelling == "int" and symbol.type.const and not symbol.type.volatile
    init = getattr(symbol.decl, "init", None)
    return constant_value(init, symbols) if plain and init is not None else None
