"""What buffers of strips hold."""

from __future__ import annotations

from math import prod

from scopt.ir.expr import linear
from scopt.ir.marked_schedule import RowBuffer
from scopt.ir.scop import Access
from scopt.machine.costs import SHORT_ROW
from scopt.poly.linear import subscript_rows


def row_cells(buffer: RowBuffer) -> tuple[int, ...] | None:
    """How many cells a row has in each of the other dimensions; None if that depends on parameters."""
    others = [linear(extent) for k, extent in enumerate(buffer.extents) if k != buffer.dimension]
    return None if any(terms for terms, _ in others) else tuple(max(constant, 1) for _, constant in others)


def is_short(buffer: RowBuffer) -> bool:
    """Whether it has a few cells for each row, however long the loops are, which fit on a stack."""
    cells = row_cells(buffer)
    return cells is not None and (buffer.problem or prod(cells) <= SHORT_ROW)


def keeps(buffer: RowBuffer, access: Access, iterator: int) -> bool:
    """Whether a reference is one to the buffer. iterator: the one of its statement that is the row."""
    if access.array != buffer.array:
        return False
    rows = subscript_rows(access.relation)
    return rows is None or any(rows[buffer.dimension][iterator : iterator + 1])
