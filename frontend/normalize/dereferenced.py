"""Pointers that surely lead to objects where a region begins: what stands in front of it has read through them.

``int p = t->cols; for (…) for (k = f(j); …) … t->data[k]``: nobody knows whether the inner loop is ever entered, but
`t` leads to a structure, or the program would have gone wrong before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scopt import ir
from scopt.frontend.normalize.member_uses import uses_in
from scopt.frontend.syntax.pointer_values import ALLOCATING
from scopt.frontend.syntax.purity import VALUE_FUNCTIONS
from scopt.frontend.syntax.structs import reference_of
from scopt.ir.ctypes import Symbol
from scopt.ir.effects import effects
from scopt.ir.walks import walk

# Functions that end no object's life.
_HARMLESS = VALUE_FUNCTIONS | ALLOCATING | {"memset", "memcpy", "memmove"}


def dereferenced(before: Sequence[Any], symbols: Mapping[str, Symbol]) -> frozenset[str]:
    """The local pointers that statements, executed one after the other in front of a region, go through, and that
    lead to the same objects still where it begins."""
    found: set[str] = set()
    changed: set[str] = set()
    for item in reversed(before):
        if not all(_is_harmless(node) for node in walk(item) if isinstance(node, ir.FuncCall)):
            break  # an object may be gone
        inner = {node.name for part in item.parts for node in walk(part) if isinstance(node, ir.Decl)}
        changed |= effects(item).assigned | inner
        found |= {name for name in _surely(item) if name not in changed and _is_local(symbols.get(name))}
        changed |= {node.name for node in walk(item) if isinstance(node, ir.Decl)}
    return frozenset(found)


def _is_harmless(call: ir.FuncCall) -> bool:
    return isinstance(call.name, ir.ID) and call.name.name in _HARMLESS


def _surely(item: Any) -> Iterator[str]:
    """The pointers that a statement goes through whatever it does."""
    for use in uses_in((item,)):
        base = reference_of(use.node).base
        if use.guards == () and isinstance(base, ir.ID):
            yield base.name


def _is_local(symbol: Symbol | None) -> bool:
    """Whether only assignments to its name change a pointer."""
    return symbol is not None and symbol.kind in ("local", "parameter") and not symbol.address_taken
