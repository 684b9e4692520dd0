"""Rows of an array that loops walk along as a whole, so that those of several iterations are one piece of memory."""

from __future__ import annotations

import islpy as isl

from scopt import ir
from scopt.ir.scop import Access, Scop, Statement
from scopt.ir.walks import walk
from scopt.poly.isl_utils import SET

# Of eight bytes, rows one after the other wait for memory alone (measured: 3.0 ms, by blocks 4.4).
_FLOATING = ("float",)
_ARITHMETIC = ("+", "-", "*", "/")


def fills_rows(scop: Scop, access: Access) -> bool:
    """Whether a reference's last subscripts are all of a row's, whose length is a variable or a number."""
    array = scop.arrays[access.array]
    size = array.sizes[-1] if array.sizes else None
    extent = array.extents[-1] if array.rank > 1 else None
    length = str(size) if size is not None else extent.name if isinstance(extent, ir.ID) else ""
    if not length:
        return False
    found = access.relation.range().intersect_params(scop.context)
    last = found.project_out(SET, 0, found.dim(SET) - 1).reset_tuple_id()
    row = isl.Set(f"{'' if size is not None else f'[{length}] -> '}{{ [c] : 0 <= c < {length} }}")
    return bool(row.intersect_params(last.params()).is_subset(last))


def sums_plainly(scop: Scop, statement: Statement) -> bool:
    """Whether a statement adds up numbers of four bytes, which wait for each other, by plain arithmetic."""
    body = statement.body
    if not isinstance(body, ir.Assignment) or body.op not in ("+=", "-="):
        return False
    types = {scop.arrays[one.array].type.spelling for one in statement.accesses}
    plain = (ir.BinaryOp, ir.ArrayRef, ir.ID, ir.Constant)
    inside = list(walk(body.rvalue))
    return (
        len(types) == 1
        and types <= {*_FLOATING}
        and all(
            isinstance(one, plain) and (not isinstance(one, ir.BinaryOp) or one.op in _ARITHMETIC) for one in inside
        )
    )
