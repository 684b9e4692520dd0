"""Rows of their own lengths: loops whose bounds are cells that change with the loops around the region, as those of
sparse matrices and of skylines do (``for (k = top[j]; k < j; k++)``).

A matrix has many of these, each short. Where a row alone would have to be very long for threads to share it, that
doesn't happen, while what asks for it is in the way of the loops around: it takes registers.
"""

from __future__ import annotations

from collections.abc import Iterator, Set

from scopt.astgen.source_work import outermost_loops, product_of
from scopt.ir.expr import names
from scopt.ir.nest import Block, For, LoopNest
from scopt.ir.scop import Scop

# Iterations that no row has (chosen: several times those of dense rows).
_NO_ROW = 20_000


def are_ragged_rows(scop: Scop, nest: LoopNest) -> bool:
    """Whether all that threads could share is one row, which would have to be longer than rows are."""
    shared = list(_parallel(nest.body)) if scop.row_ends else []
    return bool(shared) and all(_is_row(loop, scop.row_ends) for loop in shared)


def _parallel(block: Block) -> Iterator[For]:
    for loop in outermost_loops(block):
        if loop.mark.parallel:
            yield loop
        else:
            yield from _parallel(loop.body)


def _is_row(loop: For, cells: Set[str]) -> bool:
    asked = product_of(loop.work) if loop.work is not None else None
    if asked is None or len(asked[0]) != 1 or asked[1] < _NO_ROW:
        return False
    return not cells.isdisjoint(names(loop.lower) | names(loop.upper))
