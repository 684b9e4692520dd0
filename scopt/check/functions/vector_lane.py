"""What the text with vectors does in one lane, on terms: each lane of a vector is computed like all others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

from msgspec import Struct

from scopt import ir
from scopt.check.functions.faults import Fault
from scopt.check.functions.lane_terms import LaneTerms, Oracle, Term
from scopt.check.functions.one_lane import Item

_COMPARED = ("<", "<=", ">", ">=", "==", "!=")


class Lane(Struct, eq=False):
    """vectors: letters of the types' names. fixed: what is known in all lanes, by name, with its letter; values: what
    this unit computes. scalars: the function's, by C's rules. suffix: of this unit's names."""

    terms: LaneTerms
    vectors: Mapping[str, str]
    oracle: Oracle
    scalars: Item
    fixed: Mapping[str, tuple[Term, str]]
    values: dict[str, tuple[Term, str]]
    suffix: str

    def statement(self, node: ir.Node) -> None:
        match node:
            case ir.Decl(name=name, type=ctype, init=ir.Node() as init, storage=[]) if self.letter_of(ctype):
                if name in self.fixed or name in self.values or not name.endswith(self.suffix):
                    raise Fault(f"another variable '{name}'")
                self.put(name, self.value(init), self.letter_of(ctype))
                return
            case ir.Assignment(op="=", lvalue=ir.ID(name=name), rvalue=value) if name in self.values:
                self.put(name, self.value(value), self.values[name][1])
                return
        raise Fault(f"a statement that isn't understood: {type(node).__name__}")

    def put(self, name: str, value: tuple[Term, str], letter: str) -> None:
        if value[1] != letter:
            raise Fault(f"'{name}' gets a value of another type")
        self.values[name] = value

    def letter_of(self, ctype: ir.Node) -> str:
        """Of a vector's type; empty for others."""
        if isinstance(ctype, ir.TypeDecl) and isinstance(ctype.type, ir.IdentifierType):
            return self.vectors.get(" ".join(ctype.type.names), "")
        return ""

    def value(self, node: ir.Node) -> tuple[Term, str]:
        """The term, and the letter of its vector's type."""
        match node:
            case ir.ID(name=name) if name in self.values:
                return self.values[name]
            case ir.ID(name=name) if name in self.fixed:
                return self.fixed[name]
            case ir.CompoundLiteral(type=ir.Typename(type=ctype), init=ir.InitList(exprs=[ir.Constant(value="0")])):
                if letter := self.letter_of(ctype):
                    return (self.terms.rounded(0.0) if letter == "f" else self.terms.number(0)), letter
            case ir.BinaryOp(op="-", left=left, right=ir.CompoundLiteral() as nothing):
                return self.same_in_all(left, nothing)
            case ir.BinaryOp(op=op, left=left, right=right):
                (first, letter), (second, other) = self.value(left), self.value(right)
                if letter != other or letter == "w":
                    raise Fault(f"'{op}' of two types")
                if op in _COMPARED:
                    holds = self.oracle.holds(op, letter, first, second)
                    return self.terms.number(-int(holds)), "i"
                return self.terms.binary(op, letter, first, second), letter
            case ir.UnaryOp(op="-", expr=inner):
                term, letter = self.value(inner)
                return self.terms.negated(letter, term), letter
            case ir.UnaryOp(op="~", expr=inner):
                term, letter = self.value(inner)
                if letter == "f":
                    raise Fault("'~' of floating-point numbers")
                return self.terms.inverted(term), letter
            case ir.Cast(to_type=ir.Typename(type=ctype), expr=inner):
                if letter := self.letter_of(ctype):
                    return self.seen_as(*self.value(inner), letter), letter
        self.refuse(node)

    def same_in_all(self, scalar: ir.Node, nothing: ir.CompoundLiteral) -> tuple[Term, str]:
        """A number, less a vector of zeros: that changes no number, -0 included."""
        _, letter = self.value(nothing)
        term, (own, bits) = self.scalars.value(scalar)
        if bits != self.terms.bits and not (letter != "f" and isinstance(scalar, ir.Constant)):
            raise Fault("a number of another size in all lanes")
        if (own == "f") != (letter == "f"):
            raise Fault("a number of another type in all lanes")
        return term, letter

    def seen_as(self, term: Term, own: str, letter: str) -> Term:
        """The same bits as those of another type."""
        if own == letter or "f" not in (own, letter):
            return term
        if letter == "f":
            if term[0] == "bits" and isinstance(term[1], tuple):
                return term[1]
            raise Fault("bits that are no number")
        return ("bits", term)

    def refuse(self, node: ir.Node) -> NoReturn:
        raise Fault(f"a value that isn't understood: {type(node).__name__}")
