"""Parts of subscripts that choose, as values: ``y > 0 ? y - 1 : 0``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.c_expr import Kind, kind_of
from scopt.ir.expr import add, compare, conjunction, disjunction, floor_div, modulo, negate, scale, select, subtract
from scopt.ir.nest import Condition, Const, Expr, Mod, Name
from scopt.ir.scop import CType, Parameter
from scopt.ir.truths import COMPARISONS
from scopt.ir.walks import walk


def choice_value(
    e: ir.Node, values: Mapping[str, Expr], types: Mapping[str, CType], parameters: Mapping[str, Parameter]
) -> Expr | None:
    """The value of a part of a subscript, over iterators and parameters; None if it isn't made of signed ones alone.

    values and types: of the iterators, by their C names; parameters: by their C names too. The original doesn't
    overflow, so that it has its mathematical value. Computed in 64 bits, it may be asked for where the original doesn't
    evaluate it: there is nothing in it that fails. Quotients and remainders are C's.
    """

    def usable(ctype: CType) -> bool:
        return kind_of(ctype) in (Kind.INT, Kind.LONG)

    def value(n: ir.Node) -> Expr | None:
        match n:
            case ir.ID(name=name) if name in values:
                return values[name] if usable(types[name]) else None
            case ir.ID(name=name) if name in parameters:
                return Name(parameters[name].name) if usable(parameters[name].type) else None
            case ir.Constant(type="int", value=digits) if digits.isdecimal() and (digits == "0" or digits[0] != "0"):
                return Const(int(digits))
            case ir.UnaryOp(op="-", expr=operand):
                inner = value(operand)
                return None if inner is None else scale(inner, -1)
            case ir.BinaryOp(op="/" | "%" as op, left=ir.ID() as left, right=ir.Constant() as right):
                return _quotient(op, value(left), value(right))
            case ir.BinaryOp(op="&", left=left, right=ir.Constant() as right):
                return _low_bits(value(left), value(right))
            case ir.BinaryOp(op="+" | "-" | "*" as op, left=left, right=right):
                one, other = value(left), value(right)
                return None if one is None or other is None else _sum(op, one, other)
            case ir.TernaryOp(cond=cond, iftrue=then, iffalse=otherwise):
                test, one, other = condition(cond), value(then), value(otherwise)
                return None if test is None or one is None or other is None else select(test, one, other)
        return None

    def condition(n: ir.Node) -> Condition | None:
        match n:
            case ir.BinaryOp(op="&&" | "||" as op, left=left, right=right):
                one, other = condition(left), condition(right)
                if one is None or other is None:
                    return None
                return conjunction((one, other)) if op == "&&" else disjunction((one, other))
            case ir.BinaryOp(op=op, left=left, right=right) if op in COMPARISONS:
                first, second = value(left), value(right)
                return None if first is None or second is None else _compared(first, op, second)
            case ir.UnaryOp(op="!", expr=operand):
                test = condition(operand)
                return None if test is None else negate(test)
        plain = value(n)
        return None if plain is None else _compared(plain, "!=", Const(0))

    return value(e)


def parts_of_subscripts(body: ir.Node) -> Iterator[ir.Node]:
    """The subscripts in a statement, and what they are sums and products of: an integer's type makes no difference
    there, as long as it holds the value."""
    for node in walk(body):
        if isinstance(node, ir.ArrayRef):
            yield from _operands(node.subscript)


def _operands(node: ir.Node) -> Iterator[ir.Node]:
    yield node
    if isinstance(node, ir.BinaryOp) and node.op in ("+", "-", "*"):
        yield from _operands(node.left)
        yield from _operands(node.right)


def _quotient(op: str, left: Expr | None, right: Expr | None) -> Expr | None:
    """Of an iterator or a parameter: others might be simplified to what rounds in another way."""
    match left, right:
        case Name(), Const(divisor) if divisor > 1:
            return floor_div(left, divisor, True) if op == "/" else modulo(left, divisor, True)
    return None


def _low_bits(left: Expr | None, mask: Expr | None) -> Expr | None:
    """What ``&`` leaves of a signed number, by a mask of its lowest bits: the mathematical remainder."""
    match mask:
        case Const(bits) if left is not None and bits > 0 and not bits & (bits + 1):
            return modulo(left, bits + 1)
    return None


def _compared(left: Expr, op: str, right: Expr) -> Condition:
    """Whether a remainder is 0 C's ``%`` tells as well."""
    match left, op, right:
        case Mod(), "==" | "!=", Const(0):
            return compare(replace(left, zero_test=True), op, right)
    return compare(left, op, right)


def _sum(op: str, left: Expr, right: Expr) -> Expr | None:
    if op != "*":
        return add(left, right) if op == "+" else subtract(left, right)
    if isinstance(left, Const):
        return scale(right, left.value)
    return scale(left, right.value) if isinstance(right, Const) else None
