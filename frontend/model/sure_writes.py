"""Cells that a statement writes whatever its conditions say: each way through it assigns them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import islpy as isl
from msgspec.structs import replace

from scopt import ir
from scopt.frontend.model.access_names import RawAccess

# An array's name, and ``[i, n] -> { A[a, b] }``.
Cell = tuple[str, isl.Set]


def with_sure_writes(
    body: Any, accesses: Sequence[RawAccess], conditional: Mapping[Any, Cell]
) -> tuple[RawAccess, ...]:
    """The accesses, those that write a cell surely marked as such.

    conditional: by the reference, the cells of which it surely writes one, where its condition holds.
    """
    if not conditional:
        return tuple(accesses)
    certain = {access.node: (access.array, access.subscripts) for access in accesses if access.kind == "write"}
    sure = _written(body, {**certain, **conditional})
    return tuple(
        replace(access, kind="write")
        if access.kind == "may-write" and _is_in(conditional.get(access.node), sure)
        else access
        for access in accesses
    )


def _written(body: Any, cells: Mapping[Any, Cell]) -> list[Cell]:
    """What each way through a statement writes; nothing of statements that may be left halfway, as loops."""
    match body:
        case ir.Assignment(lvalue=target) if target in cells:
            return [cells[target]]
        case ir.If(iftrue=first, iffalse=second) if second is not None:
            other = _written(second, cells)
            return [cell for cell in _written(first, cells) if _is_in(cell, other)]
        case ir.Compound(block_items=[*items]) if all(isinstance(one, ir.Assignment | ir.If) for one in items):
            return [cell for one in items for cell in _written(one, cells)]
    return []


def _is_in(cell: Cell | None, cells: Sequence[Cell]) -> bool:
    return cell is not None and any(cell[0] == array and cell[1].is_equal(where) for array, where in cells)
