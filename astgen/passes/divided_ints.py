"""Quotients and remainders of integers in vector loops, by floating-point numbers.

Processors divide vectors of floating-point numbers, and none of integers; a loop with ``(x - a) * 255 / (b - a)`` is no
vector loop. Numbers of 32 bits are the same ones as doubles. A half more, away from 0, is further away from all
quotients that aren't whole numbers than a product with a reciprocal is off, whatever compilers make of it, so that
what it is cut off to is C's quotient. Small numbers may be floats, which there are twice as many of in a vector. (For a
tone curve with limits of its own a fourth of the time, for hues a sixth by gcc and a twentieth by clang.)
"""

from __future__ import annotations

from collections.abc import Iterator

from scopt import ir
from scopt.astgen.emit.c_expr import QUOTIENTS, helper_name
from scopt.astgen.lower.body_syntax import call
from scopt.ir.ctypes import type_spelling
from scopt.ir.nest import For, LoopNest
from scopt.ir.nest_walks import calls, items
from scopt.ir.scop import CType, Scop, Statement
from scopt.ir.small_values import int_literal
from scopt.ir.truths import COMPARISONS
from scopt.ir.walks import rewritten, walk
from scopt.poly.value_limits import values

_WORD = 32
# Numbers up to which a float's 24 bits tell a half, and what a division is off by where compilers replace it by a
# product with an estimate, apart; and numbers that it has.
_MOST_DIVIDED, _MOST_DIVISOR = 1 << 20, 1 << 23
# What has quotients by all numbers but 0.
_MOST = (1 << 31) - 1
_ARITHMETIC = ("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>")
_NARROW = ("signed char", "unsigned char", "char", "short", "unsigned short", "int")


def quotient_number(scop: Scop, statement: Statement, node: ir.Node) -> str | None:
    """How a quotient or a remainder of ints that isn't one by a constant is computed, as in `QUOTIENTS`; None for all
    else."""
    match node:
        case (
            ir.BinaryOp(op="/" | "%", left=ir.Node() as left, right=ir.Node() as right)
            | ir.Assignment(op="/=" | "%=", lvalue=ir.Node() as left, rvalue=ir.Node() as right)
        ):
            ints = is_int(scop, statement, left) and is_int(scop, statement, right)
            if not ints or not any(isinstance(one, ir.ID | ir.ArrayRef) for one in walk(right)):
                return None
            small = _is_within(scop, statement, left, _MOST_DIVIDED)
            return "float" if small and _is_within(scop, statement, right, _MOST_DIVISOR) else "double"
    return None


def with_quotients(scop: Scop, statement: Statement, body: ir.Node) -> ir.Node:
    """A statement's body with calls of such functions, with the same references: what is in their subscripts stays.
    Behind conditions, which may not be asked then, quotients are those of any numbers."""
    places = subscripts(statement)
    behind = {inner for node in walk(body) for part in conditional_parts(node) for inner in walk(part)}

    def change(node: ir.Node, made: ir.Node) -> ir.Node:
        number = None if node in places else quotient_number(scop, statement, node)
        if number is None:
            return made
        if isinstance(made, ir.Assignment):
            name = helper_name(QUOTIENTS[made.op[0], number], scop.reserved)
            return ir.Assignment("=", made.lvalue, call(name, [made.lvalue, made.rvalue]), made.coord)
        if number == "double" and node in behind and not _is_within(scop, statement, made.left, _MOST):
            number = "any"
        return call(helper_name(QUOTIENTS[made.op, number], scop.reserved), [made.left, made.right])

    return rewritten(body, change, {})


def subscripts(statement: Statement) -> frozenset[ir.Node]:
    """All that says which cells a statement refers to."""
    return frozenset(inner for one in statement.accesses if one.node is not None for inner in walk(one.node))


def is_sure(scop: Scop, statement: Statement, node: ir.Node) -> bool:
    """Whether a part of a statement is nothing that divides ints, or a call that does whatever these are."""
    match node:
        case ir.BinaryOp(op="/" | "%"):
            return not is_int(scop, statement, node)
        case ir.FuncCall(name=ir.ID(name=name), args=ir.ExprList(exprs=[left, _])) if is_quotient(scop, node):
            least = {helper_name(QUOTIENTS[op, "double"], scop.reserved) for op in ("/", "%")}
            return name not in least or _is_within(scop, statement, left, _MOST)
    return True


def is_quotient(scop: Scop, node: ir.Node) -> bool:
    """Whether it is a call of such a function."""
    match node:
        case ir.FuncCall(name=ir.ID(name=name)):
            return name in quotient_names(scop)
    return False


def quotient_names(scop: Scop) -> frozenset[str]:
    return frozenset(helper_name(one, scop.reserved) for one in QUOTIENTS.values())


def is_computed_always(scop: Scop, body: ir.Node) -> bool:
    """Whether no such call stands behind a condition: compilers make no vectors of a division that might trap there."""
    behind = (part for node in walk(body) for part in conditional_parts(node))
    return not any(is_quotient(scop, inner) for part in behind for inner in walk(part))


def conditional_parts(node: ir.Node) -> Iterator[ir.Node]:
    """The parts of a node that a condition in it decides about."""
    match node:
        case ir.If(iftrue=one, iffalse=other) | ir.TernaryOp(iftrue=one, iffalse=other):
            yield from (part for part in (one, other) if part is not None)
        case ir.BinaryOp(op="&&" | "||", right=right):
            yield right


def has_quotients(scop: Scop, nest: LoopNest) -> bool:
    """Whether vector loops have quotients that compilers make no vectors of."""
    loops = (item for item in items(nest.body) if isinstance(item, For) and item.mark.simd)
    names = {one.statement for loop in loops for one in calls(loop.body)}
    return any(divides(scop, one) for one in scop.statements if one.name in names)


def divides(scop: Scop, statement: Statement) -> bool:
    """Whether a statement computes such a quotient."""
    found = [node for node in walk(statement.body) if quotient_number(scop, statement, node) is not None]
    return bool(found) and not subscripts(statement).issuperset(found)


def is_int(scop: Scop, statement: Statement, node: ir.Node) -> bool:
    """Whether a value's type is int, or one whose values are ints before anything is computed of them."""
    access = next((one for one in statement.accesses if one.node is node), None)
    if access is not None:
        return access.kind != "write" and _holds_ints(scop.arrays[access.array].type)
    match node:
        case ir.Constant():
            return int_literal(node) is not None
        case ir.ID(name=name) if name in statement.iterators:
            return _holds_ints(statement.iterator_types[statement.iterators.index(name)])
        case ir.ID(name=name):
            return any(one.spelling == name and _holds_ints(one.type) for one in scop.parameters)
        case ir.Cast(to_type=to_type, expr=inner):
            return type_spelling(to_type) in _NARROW and is_int(scop, statement, inner)
        case ir.UnaryOp(op="+" | "-" | "~", expr=inner):
            return is_int(scop, statement, inner)
        case ir.UnaryOp(op="!"):
            return True
        case ir.FuncCall():
            return is_quotient(scop, node)
        case ir.BinaryOp(op=op) if op in (*COMPARISONS, "&&", "||"):
            return True
        case ir.BinaryOp(op=op, left=left, right=right) if op in _ARITHMETIC:
            return is_int(scop, statement, left) and is_int(scop, statement, right)
        case ir.TernaryOp(iftrue=one, iffalse=other):
            return is_int(scop, statement, one) and is_int(scop, statement, other)
    return False


def _holds_ints(ctype: CType) -> bool:
    return ctype.integer and 0 < ctype.bits < _WORD + ctype.signed and not (ctype.volatile or ctype.atomic)


def _is_within(scop: Scop, statement: Statement, node: ir.Node, most: int) -> bool:
    """Whether a value's magnitude is at most so much, as its variables' values and its cells' types tell."""
    found = values(scop, statement, node)
    return found is not None and -most <= found[0] and found[1] <= most
