"""What the data of a kernel or a copy say that it computes, as terms."""

from __future__ import annotations

from collections.abc import Callable

from scopt import ir
from scopt.check.functions.faults import Fault
from scopt.check.functions.terms import Term, Terms
from scopt.check.functions.values import FLOATING, bits, floating_number, whole_number

_OPERATORS = ("+", "-", "*", "/")


def computed(terms: Terms, n: ir.Node, ctype: str, leaf: Callable[[ir.Node], Term | None]) -> Term:
    """The value of an expression whose operands and operations all have one type. leaf: the term of what is an operand.

    Raises Fault if it is made of something else.
    """
    found = leaf(n)
    if found is not None:
        return found
    match n:
        case ir.Constant():
            return _constant(terms, n, ctype, 1)
        case ir.UnaryOp(op="+", expr=inner):
            return computed(terms, inner, ctype, leaf)
        case ir.UnaryOp(op="-", expr=ir.Constant(type="int") as inner):
            return _constant(terms, inner, ctype, -1)
        case ir.UnaryOp(op="-", expr=inner):
            return terms.table("-", ctype)[computed(terms, inner, ctype, leaf),]
        case ir.BinaryOp(op=op, left=left, right=right) if op in _OPERATORS:
            return terms.table(op, ctype)[computed(terms, left, ctype, leaf), computed(terms, right, ctype, leaf)]
    raise Fault("an operation that isn't understood")


def _constant(terms: Terms, n: ir.Constant, ctype: str, sign: int) -> Term:
    """An integer takes the type of what it is an operand of."""
    if n.type == "int":
        value = whole_number(n.value)
        if value is None:
            raise Fault(f"a constant that isn't understood: {n.value}")
        return terms.floating(ctype, sign * value) if ctype in FLOATING else terms.integer(bits(ctype), sign * value)
    if n.type != ctype:
        raise Fault(f"a constant of the type '{n.type}' among numbers of the type '{ctype}'")
    return terms.floating(ctype, floating_number(n.value))
