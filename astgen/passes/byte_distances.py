"""Sums of absolute differences of bytes, for which processors have an instruction (``psadbw``).

gcc finds it in a loop along the bytes, ``d = a[x] - b[x]; s += d < 0 ? -d : d;``, whether the sum begins in the loop
around or goes on from row to row of a block.
"""

from __future__ import annotations

from collections.abc import Sequence

from scopt import ir
from scopt.ir.scop import Scop, Statement
from scopt.ir.walks import same_tree

_BYTE, _WORD = 8, 32
_ABSOLUTE = ("abs", "__builtin_abs")


def is_distance_of_bytes(scop: Scop, statements: Sequence[Statement]) -> bool:
    """Whether the statements of a loop add up one absolute difference of two cells of unsigned bytes."""
    written = [scop.arrays[access.array].type for one in statements for access in one.accesses if access.is_write]
    if any(not kind.integer or kind.bits != _WORD or kind.volatile or kind.atomic for kind in written):
        return False
    match [one.body for one in statements]:
        case [ir.Assignment(op="+=", rvalue=value)]:
            return _is_difference(scop, statements[0], _inside(value))
        case [ir.Assignment(op="=", lvalue=ir.ID(name=name), rvalue=value), ir.Assignment(op="+=", rvalue=added)]:
            inside = _inside(added)
            return isinstance(inside, ir.ID) and inside.name == name and _is_difference(scop, statements[0], value)
    return False


def _inside(value: ir.Node) -> ir.Node | None:
    """What an expression is the absolute value of."""
    match value:
        case ir.FuncCall(name=ir.ID(name=name), args=ir.ExprList(exprs=[inner])) if name in _ABSOLUTE:
            return inner if isinstance(inner, ir.Node) else None
        case ir.TernaryOp(cond=ir.BinaryOp(op=op, left=inner, right=ir.Constant(value="0")), iftrue=one, iffalse=other):
            below, above = (one, other) if op in ("<", "<=") else (other, one)
            if op not in ("<", "<=", ">", ">=") or not isinstance(below, ir.UnaryOp) or below.op != "-":
                return None
            return inner if same_tree(inner, above) and same_tree(inner, below.expr) else None
    return None


def _is_difference(scop: Scop, statement: Statement, value: ir.Node | None) -> bool:
    if not isinstance(value, ir.BinaryOp) or value.op != "-":
        return False
    nodes = (value.left, value.right)
    types = {one.node: scop.arrays[one.array].type for one in statement.accesses if one.node in nodes}
    return len(types) == len(nodes) and all(
        kind.integer and not kind.signed and kind.bits == _BYTE for kind in types.values()
    )
