"""Arrays of pointers to rows (``double **a``) as arrays of two dimensions: ``a[i][j]``; those of pointers to such
(``double ***a``) as arrays of three.

Where each row lies is known when the program runs. In a marked region, rows are taken to be apart, as all that is
reached through pointers is. Stores to their cells don't change where they lie if C's types keep cells and pointers
apart; characters may be part of any object, also of a pointer: that what the region writes of them is apart from the
pointers to rows, too, is taken for granted in marked regions, and tested in others (`scopt.frontend.model.aliasing`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from scopt.frontend.syntax.symbols import Symbol

# Its pointers to rows, and the rows; more pointers than this are read by no loops.
_STEPS = 2
_MOST_STEPS = 4


def with_rows(symbols: Mapping[str, Symbol], outer: Iterable[str]) -> dict[str, Symbol]:
    """The symbols, with those of `outer` that point to pointers to numbers as arrays of rows.

    Objects of different types must not overlap, but for characters.
    """
    rows = {name: rows for name in outer if (rows := _as_rows(symbols[name])) is not None}
    return {**symbols, **rows}


def is_rows(symbol: Symbol) -> bool:
    """Whether an array's rows are reached through pointers of their own."""
    return len(symbol.dims) == symbol.pointer_depth >= _STEPS


def _as_rows(symbol: Symbol) -> Symbol | None:
    if symbol.row is None or symbol.pointer_depth > _MOST_STEPS:
        return None
    element, size = symbol.row
    if not (element.integer or element.floating) or element.bits == 0 or element.volatile or element.atomic:
        return None
    return replace(symbol, type=element, dims=(None,) * symbol.pointer_depth, size=size)
