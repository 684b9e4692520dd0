"""Between which limits the values of an expression lie, as its cells' types tell."""

from __future__ import annotations

from collections.abc import Callable, Collection

from scopt import ir
from scopt.ir.ctypes import limits_of, plain_type, type_spelling
from scopt.ir.scop import CType, Scop, Statement

Limits = tuple[int, int]
_INT = limits_of(CType("int", integer=True, bits=32))
_BYTE = 8


def limits(scop: Scop, statement: Statement, node: ir.Node) -> Limits | None:
    """The least and the greatest value of an operand of a statement, which is computed in ``int``; None where it isn't,
    or its types don't tell."""

    def cell(reference: ir.Node) -> Limits | None:
        access = next((a for a in statement.accesses if a.node is reference and a.kind == "read"), None)
        ctype = scop.arrays[access.array].type if access is not None else None
        if ctype is None or not ctype.integer or ctype.bits >= 32 or ctype.volatile or ctype.atomic:
            return None
        # whether a plain character has a sign is up to the compiler's options
        return (-(1 << ctype.bits - 1), (1 << ctype.bits) - 1) if ctype.bits == _BYTE else limits_of(ctype)

    types = (one.type for one in scop.arrays.values() if one.type.integer and one.type.signed)
    names = {one.spelling for one in types if (plain_type(one, scop.long_type) or one).spelling == "int"}
    found = _limits(node, cell, {"int", *names})
    return found if found is None or (_INT[0] <= found[0] and found[1] <= _INT[1]) else None


def _limits(node: ir.Node, cell: Callable[[ir.Node], Limits | None], ints: Collection[str]) -> Limits | None:
    """ints: names of the type int."""
    match node:
        case ir.Constant(type="int", value=value) if value.isdecimal() and (value == "0" or value[0] != "0"):
            return (int(value), int(value)) if int(value) <= _INT[1] else None
        case ir.ID() | ir.ArrayRef():
            return cell(node)
        case ir.Cast(expr=inner) if type_spelling(node.to_type) in ints:
            return _limits(inner, cell, ints)
        case ir.UnaryOp(op="+" | "-" as op, expr=inner):
            own = _limits(inner, cell, ints)
            return own if own is None or op == "+" else (-own[1], -own[0])
        case ir.BinaryOp(op="+" | "-" | "*" as op, left=left, right=right):
            a, b = _limits(left, cell, ints), _limits(right, cell, ints)
            return None if a is None or b is None else _combined(op, a, b)
    return None


def _combined(op: str, a: Limits, b: Limits) -> Limits | None:
    """Of a sum, a difference or a product; None where that might overflow."""
    match op:
        case "+":
            found = a[0] + b[0], a[1] + b[1]
        case "-":
            found = a[0] - b[1], a[1] - b[0]
        case _:
            products = [x * y for x in a for y in b]
            found = min(products), max(products)
    return found if _INT[0] <= found[0] and found[1] <= _INT[1] else None
