"""References that may be looked at in front of a loop's iterations: those whose cell is the same for some of these, one
after the other, ``chroma[y / 2][x & ~1]``, and those in tables of narrow cells, ``row[x * step >> 16]``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import gcd

from scopt import ir
from scopt.ir.expr import names
from scopt.ir.nest import Call, Const, For, Name
from scopt.ir.scop import Access, Scop
from scopt.ir.walks import used_names, walk
from scopt.poly.body_rewriting import always_evaluated, names_cells
from scopt.poly.lookups import is_narrow_lookup

# Iterations that a cell lasts for, at most: they are written out. (Of more, a loop of their own is a vector loop.)
MOST = 8
_ARITHMETIC = (ir.ID, ir.Constant, ir.BinaryOp, ir.UnaryOp, ir.Cast, ir.ArrayRef, ir.Typename, ir.TypeDecl)


def lasting_cells(scop: Scop, loop: For, calls: Sequence[Call]) -> Iterator[tuple[Call, Access, int]]:
    """References of a loop's statements that may be looked at in front of all of them, and for how many iterations,
    from a multiple of that number on, each has one cell: a power of two, at least 2."""
    first = loop.lower
    if not isinstance(first, Const) or first.value < 0:
        return
    for call, access, moved in _steady_references(scop, loop, calls):
        if access.node is not None and (count := gcd(lasts(access.node, moved), MOST, first.value)) > 1:
            yield call, access, count


def looked_up_cells(scop: Scop, loop: For, calls: Sequence[Call]) -> Iterator[tuple[Call, Access]]:
    """References to cells that data name, in tables of narrow integers, that may be looked at in front of all
    iterations; no part of another one."""
    found = [
        (call, access)
        for call, access, _ in _steady_references(scop, loop, calls)
        if scop.arrays[access.array].type.integer and is_narrow_lookup(scop, scop.statement(call.statement), access)
    ]
    parts = {id(node) for _, access in found for part in _children(access.node) for node in walk(part)}
    yield from ((call, access) for call, access in found if id(access.node) not in parts)


def _children(node: ir.Node | None) -> Iterator[ir.Node]:
    return iter(node.parts if node is not None else ())


def _steady_references(scop: Scop, loop: For, calls: Sequence[Call]) -> Iterator[tuple[Call, Access, str]]:
    """References of a loop's statements that may be looked at in front of all of them: nothing in the loop writes the
    cell, or what leads to it. With the iterator of the statement that the loop moves."""
    if loop.step != 1:
        return
    accesses = [access for call in calls for access in scop.statement(call.statement).accesses]
    written = {access.array for access in accesses if access.is_write}
    changed = written | {scop.arrays[name].spelling for name in written}
    for call in calls:
        statement = scop.statement(call.statement)
        moved = [name for name, arg in zip(statement.iterators, call.args, strict=True) if loop.iterator in names(arg)]
        if len(moved) != 1 or Name(loop.iterator) not in call.args or call.held or call.chosen or call.kept:
            continue
        for access in statement.accesses:
            node = access.node
            if access.kind != "read" or not isinstance(node, ir.ArrayRef) or not names_cells(node):
                continue
            if not changed & {*used_names(node)} and always_evaluated(statement.body, node):
                yield call, access, moved[0]


def lasts(node: ir.Node, name: str) -> int:
    """For how many values of a variable, which isn't negative, from a multiple of that number on, an expression has
    the same value; 0 if it doesn't depend on the variable, 1 if nothing is known."""
    if not isinstance(node, _ARITHMETIC) or any(isinstance(one, ir.UnaryOp) and _changes(one) for one in walk(node)):
        return 1
    if name not in used_names(node):
        return 0
    if isinstance(node, ir.BinaryOp) and (count := _group(node, name)):
        return count
    if isinstance(node, ir.ID):
        return 1
    return gcd(*(lasts(child, name) for child in node.parts))


def _changes(node: ir.UnaryOp) -> bool:
    return node.op not in ("+", "-", "~")


def _group(node: ir.BinaryOp, name: str) -> int:
    """The number that a variable is divided by, or whose multiple below it is taken; 0 of anything else."""
    match node:
        case ir.BinaryOp(op="-", left=ir.ID(name=own), right=ir.BinaryOp(op="%", left=ir.ID(name=other), right=right)):
            return max(_number(right) or 0, 0) if own == other == name else 0
        case ir.BinaryOp(op="/", left=ir.ID(name=own), right=right) if own == name:
            return max(_number(right) or 0, 0)
        case ir.BinaryOp(op=">>", left=ir.ID(name=own), right=right) if own == name:
            return 1 << max(_number(right) or 0, 0)
        case ir.BinaryOp(op="&", left=ir.ID(name=own), right=right) if own == name:
            mask = _number(right)
            return -mask if mask is not None and mask < 0 and mask & -mask == -mask else 0
    return 0


def _number(node: ir.Node) -> int | None:
    """The value of a constant of type int, negative or inverted ones, too."""
    match node:
        case ir.Constant(type="int", value=value) if value.isdecimal() and (value == "0" or value[0] != "0"):
            return int(value)
        case ir.UnaryOp(op="-" | "~" as op, expr=inner):
            found = _number(inner)
            return None if found is None else -found if op == "-" else ~found
    return None
