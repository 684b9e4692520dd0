"""Extrema of floating-point numbers that are the first one of the best, whichever of them are compared beforehand.

``if (x > most) most = x;`` never takes what is no number, nor what is as good: of two zeros, or of equal numbers, the
first one stays. So the best one of some that follow each other may be found by itself, and be compared instead of each
of these. It takes that a comparison sees the value that the cell takes: where this is rounded, a number that was as
good as the cell may have been better before.
"""

from __future__ import annotations

from scopt import ir
from scopt.ir.ctypes import type_spelling
from scopt.ir.scop import CType, Scop, Statement
from scopt.ir.truths import is_truth
from scopt.poly.reductions import selected

_OPERATIONS = ("+", "-", "*", "/")
_SUFFIXES = {"f": 32, "F": 32}
_CASTS = {"float": 32, "double": 64, "int": 0, "unsigned int": 0, "long": 0, "unsigned long": 0}
# Functions of C that return what they are given, or a number as wide.
_DOUBLE = frozenset("fabs sqrt exp exp2 log pow sin cos cosh hypot fmax fmin floor ceil".split())


def is_first_best(scop: Scop, statement: Statement) -> bool:
    """Whether a statement gives a cell of floating-point numbers what is better than the cell, and nothing else."""
    found = selected(statement.body)
    if found is None or found.extremum.op in (">=", "<=") or found.extremum.keeps:
        return False
    types = {id(access.node): scop.arrays[access.array].type for access in statement.accesses}
    cell = types.get(id(found.cell))
    if cell is None or not cell.floating:
        return False
    bits = [value_bits(scop, statement, one) for one in (found.value, found.compared)]
    return all(one is not None and one <= cell.bits for one in bits)


def value_bits(scop: Scop, statement: Statement, node: ir.Node) -> int | None:
    """Of the floating-point type of a part of a statement, 0 of an integer; None if that isn't known."""
    types = {id(access.node): scop.arrays[access.array].type for access in statement.accesses}
    return _bits(node, types, frozenset((*statement.iterators, *(one.spelling for one in scop.parameters))))


def _bits(node: ir.Node, types: dict[int, CType], numbers: frozenset[str]) -> int | None:
    """Of the floating-point type of a value, 0 of an integer; None if that isn't known."""

    def both(*parts: ir.Node) -> int | None:
        found = [_bits(one, types, numbers) for one in parts]
        known = [one for one in found if one is not None]
        return max(known) if len(known) == len(found) else None

    if id(node) in types:
        return _of_type(types[id(node)])
    match node:
        case ir.ID(name=name) if name in numbers:
            return 0
        case ir.Constant(type="int"):
            return 0
        case ir.Constant(type="float" | "double", value=value):
            return None if value[-1] in "lL" else _SUFFIXES.get(value[-1], 64) if "x" not in value.lower() else None
        case ir.UnaryOp(op="+" | "-", expr=inner):
            return both(inner)
        case ir.Cast(to_type=to_type) if (spelling := type_spelling(to_type)) in _CASTS:
            return _CASTS[spelling]
        case ir.BinaryOp(op=op, left=left, right=right) if op in _OPERATIONS:
            return both(left, right)
        case ir.TernaryOp(iftrue=then, iffalse=other):
            return both(then, other)
        case ir.FuncCall(name=ir.ID(name=name)):
            single = name.endswith("f") and name[:-1] in _DOUBLE
            return 32 if single else 64 if name in _DOUBLE else None
    return 0 if is_truth(node) else None


def _of_type(ctype: CType) -> int | None:
    return ctype.bits if ctype.floating else 0 if ctype.integer else None
