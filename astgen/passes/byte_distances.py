"""Sums of absolute differences of bytes, for which processors have an instruction (``psadbw``).

gcc finds it in a loop along the bytes, ``d = a[x] - b[x]; s += d < 0 ? -d : d;``, whether the sum begins in the loop
around or goes on from row to row of a block.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from scopt import ir
from scopt.ir.scop import Access, Scop, Statement
from scopt.ir.walks import same_tree

_BYTE, _WORD = 8, 32
_ABSOLUTE = ("abs", "__builtin_abs")


class Difference(Struct, frozen=True, eq=False):
    """``total += |one - other|``. total, one, other: references of the statements that say so, the last of which adds.
    temporary: the variable that they hand the difference on in, if there is one."""

    total: Access
    one: Access
    other: Access
    temporary: str = ""


def is_distance_of_bytes(scop: Scop, statements: Sequence[Statement]) -> bool:
    """Whether the statements of a loop add up one absolute difference of two cells of unsigned bytes."""
    return distance_of_bytes(scop, statements) is not None


def distance_of_bytes(scop: Scop, statements: Sequence[Statement]) -> Difference | None:
    """What they add up, if that is one absolute difference of two cells of unsigned bytes."""
    written = [access for one in statements for access in one.accesses if access.is_write]
    kinds = [scop.arrays[access.array].type for access in written]
    if any(not kind.integer or kind.bits != _WORD or kind.volatile or kind.atomic for kind in kinds):
        return None
    match [one.body for one in statements]:
        case [ir.Assignment(op="+=", rvalue=value)]:
            cells, name = _cells(scop, statements[0], _inside(scop, value)), ""
        case [ir.Assignment(op="=", lvalue=ir.ID(name=name), rvalue=value), ir.Assignment(op="+=", rvalue=added)]:
            inside, cells = _inside(scop, added), _cells(scop, statements[0], value)
            handed = isinstance(inside, ir.ID) and inside.name == name and kinds[0].signed
            cells = cells if handed else None
        case _:
            return None
    if cells is None or len(written) != len(statements):
        return None
    return Difference(written[-1], *cells, written[0].array if name else "")


def _inside(scop: Scop, value: ir.Node) -> ir.Node | None:
    """What an expression is the absolute value of."""
    match value:
        case ir.FuncCall(name=ir.ID(name=name), args=ir.ExprList(exprs=[inner])) if name in _ABSOLUTE:
            return inner if isinstance(inner, ir.Node) and name not in scop.taken else None
        case ir.TernaryOp(cond=ir.BinaryOp(op=op, left=inner, right=ir.Constant(value="0")), iftrue=one, iffalse=other):
            below, above = (one, other) if op in ("<", "<=") else (other, one)
            if op not in ("<", "<=", ">", ">=") or not isinstance(below, ir.UnaryOp) or below.op != "-":
                return None
            return inner if same_tree(inner, above) and same_tree(inner, below.expr) else None
    return None


def _cells(scop: Scop, statement: Statement, value: ir.Node | None) -> tuple[Access, Access] | None:
    """The two cells that an expression is the difference of."""
    if not isinstance(value, ir.BinaryOp) or value.op != "-":
        return None
    read = {one.node: one for one in statement.accesses if not one.is_write}
    cells = [read.get(node) for node in (value.left, value.right)]
    match cells:
        case [Access() as one, Access() as other] if _is_byte(scop, one) and _is_byte(scop, other):
            return one, other
    return None


def _is_byte(scop: Scop, access: Access) -> bool:
    kind = scop.arrays[access.array].type
    return kind.integer and not kind.signed and kind.bits == _BYTE
