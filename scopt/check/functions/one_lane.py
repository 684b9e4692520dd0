"""A loop that ends on data as C executes it: what one iteration does to an item's variables, on terms."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from scopt import ir
from scopt.check.functions.faults import Fault
from scopt.check.functions.lane_terms import LaneTerms, Oracle, Term
from scopt.check.functions.values import whole_number
from scopt.ir.ctypes import arithmetic_kind, literal_bits, type_spelling
from scopt.ir.scop import CType

_COMPARED = ("<", "<=", ">", ">=", "==", "!=")
Kind = tuple[str, int]
INT: Kind = ("i", 32)


class Item(Struct, eq=False):
    """types: of the names in the loop. values: of them. oracle: of conditions. long_type: as in the SCoP."""

    terms: LaneTerms
    types: Mapping[str, CType]
    oracle: Oracle
    values: dict[str, Term]
    long_type: str

    def start(self, loop: ir.Node) -> None:
        """What the loop does once."""
        if isinstance(loop, ir.For) and loop.init is not None:
            for node in loop.init.decls if isinstance(loop.init, ir.DeclList) else [loop.init]:
                self.statement(node)

    def iteration(self, loop: ir.Node) -> bool:
        """Whether the item goes on behind it."""
        match loop:
            case ir.DoWhile(cond=condition, stmt=body):
                return self.statement(body) != "break" and self.truth(condition)
            case ir.While(cond=condition, stmt=body):
                return self.truth(condition) and self.statement(body) != "break"
            case ir.For(cond=condition, next=step, stmt=body):
                if (condition is not None and not self.truth(condition)) or self.statement(body) == "break":
                    return False
                if step is not None:
                    self.statement(step)
                return True
        raise Fault("no loop")

    def statement(self, node: ir.Node) -> str:
        """How it ends: `next`, `break` or `continue`."""
        match node:
            case ir.Compound():
                for one in node.block_items or []:
                    if (ends := self.statement(one)) != "next":
                        return ends
            case ir.EmptyStatement():
                pass
            case ir.Break():
                return "break"
            case ir.Continue():
                return "continue"
            case ir.If(cond=condition, iftrue=then, iffalse=otherwise):
                chosen = then if self.truth(condition) else otherwise
                return self.statement(chosen) if chosen is not None else "next"
            case ir.Decl(name=name, init=ir.Node() as init):
                self.values[name] = self.converted(init, self.type(name))
            case ir.ExprList(exprs=several):
                for one in several:
                    self.statement(one)
            case ir.Assignment(op="=", lvalue=ir.ID(name=name), rvalue=value):
                self.values[name] = self.converted(value, self.type(name))
            case ir.Assignment(op=op, lvalue=ir.ID(name=name) as target, rvalue=value):
                self.values[name] = self.converted(ir.BinaryOp(op[:-1], target, value), self.type(name))
            case ir.UnaryOp(op="++" | "p++" | "--" | "p--" as op, expr=ir.ID(name=name) as target):
                by_one = ir.BinaryOp(op[-1], target, ir.Constant("int", "1"))
                self.values[name] = self.converted(by_one, self.type(name))
            case _:
                raise Fault(f"a statement that isn't understood: {type(node).__name__}")
        return "next"

    def type(self, name: str) -> Kind:
        ctype = self.types[name]
        return "f" if ctype.floating else "i" if ctype.signed else "u", ctype.bits

    # --- values -------------------------------------------------------------------------------------------------------

    def converted(self, node: ir.Node, to: Kind) -> Term:
        return self.cast(*self.value(node), to)

    def cast(self, value: Term, own: Kind, to: Kind) -> Term:
        """A value of one type in another one. Raises Fault where that isn't the same number of a lane."""
        bits = self.terms.bits
        if to[1] > bits or own[1] > bits or (own[0] == "f" and own != to):
            raise Fault("a conversion that isn't understood")
        if own == to:
            return value
        if to[0] == "f":
            if own[0] == "u" or to[1] != bits:
                raise Fault("a conversion that isn't understood")
            return self.terms.converted(value)
        if to == ("u", 32):
            return self.terms.cut(value)
        if to[1] < own[1] or (to == INT and own[0] == "u" and bits > 32):
            if value[0] == "n" and isinstance(value[1], int) and -(1 << 31) <= value[1] < 1 << 31 and to == INT:
                return value
            raise Fault("a conversion that may have to wrap around")
        return value

    def value(self, node: ir.Node) -> tuple[Term, Kind]:
        terms = self.terms
        match node:
            case ir.ID(name=name) if name in self.values:
                return self.values[name], self.type(name)
            case ir.Constant():
                return self.constant(node)
            case ir.BinaryOp(op=op) if op in (*_COMPARED, "&&", "||"):
                return terms.number(int(self.truth(node))), INT
            case ir.UnaryOp(op="!"):
                return terms.number(int(self.truth(node))), INT
            case ir.BinaryOp(op="<<" | ">>" as op, left=left, right=right):
                first, kind = self.value(left)
                second, _ = self.value(right)
                if second[0] != "n" or not isinstance(second[1], int) or not 0 <= second[1] < kind[1]:
                    raise Fault("a shift that may fail")
                return self.wrapped(terms.binary(op, kind[0], first, second), kind, op), kind
            case ir.BinaryOp(op=op, left=left, right=right):
                (first, one), (second, other) = self.value(left), self.value(right)
                kind = _common(one, other)
                made = terms.binary(op, kind[0], self.cast(first, one, kind), self.cast(second, other, kind))
                return self.wrapped(made, kind, op), kind
            case ir.UnaryOp(op="+", expr=inner):
                return self.value(inner)
            case ir.UnaryOp(op="-", expr=inner):
                value, kind = self.value(inner)
                return self.wrapped(terms.negated(kind[0], value), kind, "-"), kind
            case ir.UnaryOp(op="~", expr=inner):
                value, kind = self.value(inner)
                if kind[0] == "f":
                    raise Fault("'~' of a floating-point number")
                return self.wrapped(terms.inverted(value), kind, "-"), kind
            case ir.TernaryOp(cond=condition, iftrue=one_side, iffalse=other_side):
                (first, one), (second, other) = self.value(one_side), self.value(other_side)
                kind = _common(one, other)
                return (self.cast(first, one, kind) if self.truth(condition) else self.cast(second, other, kind)), kind
            case ir.Cast(to_type=to_type, expr=inner):
                named = arithmetic_kind(type_spelling(to_type), self.long_type)
                if named is None:
                    raise Fault("a conversion to a type that isn't understood")
                return self.converted(inner, named), named
            case ir.FuncCall(name=ir.ID(name="fabs" | "fabsf" as name), args=ir.ExprList(exprs=[only])):
                kind = ("f", 64 if name == "fabs" else 32)
                return ("fabs", self.converted(only, kind)), kind
        raise Fault(f"a value that isn't understood: {type(node).__name__}")

    def wrapped(self, value: Term, kind: Kind, op: str) -> Term:
        """Unsigned numbers wrap around in their own bits; signed ones fit."""
        return self.terms.cut(value) if kind == ("u", 32) and op in "+-*<<" else value

    def constant(self, node: ir.Constant) -> tuple[Term, Kind]:
        text = node.value.lower()
        if node.type in ("float", "double"):
            return self.terms.floating(text), ("f", 32 if text.endswith("f") else 64)
        digits = text.rstrip("ul")
        value = whole_number(digits)
        suffix = text[len(digits) :]
        bits = literal_bits(suffix, value or 0, self.long_type)
        if value is None or ("u" not in suffix and value >= 1 << bits - 1):
            raise Fault(f"the constant {node.value}")
        return self.terms.number(value), ("u" if "u" in suffix else "i", bits)

    # --- conditions ---------------------------------------------------------------------------------------------------

    def truth(self, node: ir.Node) -> bool:
        match node:
            case ir.BinaryOp(op="&&", left=left, right=right):
                return self.truth(left) and self.truth(right)
            case ir.BinaryOp(op="||", left=left, right=right):
                return self.truth(left) or self.truth(right)
            case ir.UnaryOp(op="!", expr=inner):
                return not self.truth(inner)
            case ir.BinaryOp(op=op, left=left, right=right) if op in _COMPARED:
                (first, one), (second, other) = self.value(left), self.value(right)
                kind = _common(one, other)
                return self.oracle.holds(op, kind[0], self.cast(first, one, kind), self.cast(second, other, kind))
        value, kind = self.value(node)
        zero = self.terms.rounded(0.0) if kind[0] == "f" else self.terms.number(0)
        return self.oracle.holds("!=", kind[0], value, zero)


def _common(one: Kind, other: Kind) -> Kind:
    """C's usual arithmetic conversions."""
    if "f" in (one[0], other[0]):
        return "f", max(bits for letter, bits in (one, other) if letter == "f")
    bits = max(one[1], other[1])
    return ("u" if ("u", bits) in (one, other) else "i"), bits
