"""Between which limits the values of an expression lie, as its cells' types tell, and what variables are given."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import lru_cache, reduce

from scopt import ir
from scopt.ir.ctypes import limits_of, plain_type, type_spelling
from scopt.ir.made_arrays import is_made
from scopt.ir.scop import Array, CType, Scop, Statement
from scopt.ir.small_values import Interval, hull, interval
from scopt.ir.walks import walk

Limits = tuple[int, int]
_INT = limits_of(CType("int", integer=True, bits=32))
_BYTE, _WORD = 8, 32


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


def values(scop: Scop, statement: Statement, node: ir.Node) -> Interval | None:
    """Likewise of any part of a statement that is computed in ``int``, where its variables may have no values but those
    that the SCoP's statements give them."""
    return _interval(scop, statement, node, _variables(scop))


def _interval(scop: Scop, statement: Statement, node: ir.Node, variables: Mapping[str, Interval]) -> Interval | None:
    def known(part: ir.Node) -> Interval | None:
        access = next((one for one in statement.accesses if one.node is part), None)
        return None if access is None else limits(scop, statement, part) or variables.get(access.array)

    return interval(node, known)


@lru_cache(maxsize=64)
def _variables(scop: Scop) -> Mapping[str, Interval]:
    """Of variables of the type int, and of arrays of the region's own, between which limits lies all that they are
    given."""
    given = dict[str, list[tuple[Statement, ir.Node | None]]]()
    for statement in scop.statements:
        for write in (one for one in statement.accesses if one.is_write and _is_variable(scop.arrays[one.array])):
            given.setdefault(write.array, []).append((statement, _assigned(statement.body, write.node)))
    found = dict[str, Interval]()
    while True:
        more = dict[str, Interval]()
        for name in given.keys() - found.keys():
            each = [None if value is None else _interval(scop, one, value, found) for one, value in given[name]]
            if all(each):
                more[name] = reduce(lambda one, other: hull(one, other) or other, (one for one in each if one))
        if not more:
            return found
        found |= more


def _is_variable(array: Array) -> bool:
    """Whether an array is a variable, or one of the region's own, that has no values from elsewhere."""
    ctype = array.type
    whole = ctype.integer and ctype.signed and ctype.bits == _WORD and not (ctype.volatile or ctype.atomic)
    return whole and (is_made(array) or (array.private and not (array.rank or array.within or array.pointer)))


def _assigned(body: ir.Node, cell: ir.Node | None) -> ir.Node | None:
    """What a part of a statement's body assigns to a cell."""
    for node in walk(body):
        match node:
            case ir.Assignment(op="=", lvalue=target, rvalue=ir.Node() as value) if target is cell:
                return value
    return None
