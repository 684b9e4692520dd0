"""Values of C's expressions in the lanes of vectors, in the types that C computes them in.

A lane has as many bits as the widest type that occurs. Signed numbers of fewer bits are the same numbers in wider
lanes; unsigned ones are cut off where they wrap around. Signed sums are computed in unsigned lanes: in a lane that has
ended, nothing keeps them from being too large. What may fail isn't there: divisions of integers, but by powers of two,
and shifts by what isn't a number.
"""

from __future__ import annotations

import re

from msgspec import Struct

from scopt import ir
from scopt.ir.ctypes import arithmetic_kind, literal_bits, type_spelling
from scopt.ir.scop import CType

_COMPARED = ("<", "<=", ">", ">=", "==", "!=")
_LOGICAL = ("&&", "||")
_INT = 32
_FLOATING = re.compile(r"(\d+\.?\d*(e[+-]?\d+)?|\.\d+(e[+-]?\d+)?)f?", re.IGNORECASE)
_WHOLE = re.compile(r"(0x[0-9a-f]+|\d+)(u?l{0,2}|l{0,2}u?)", re.IGNORECASE)


class NoLanes(Exception):
    """There are no lanes for something."""


class Kind(Struct, frozen=True):
    """letter: `f`loating, signed `i`nteger or `u`nsigned."""

    letter: str
    bits: int


INT = Kind("i", _INT)


def kind_of(ctype: CType) -> Kind:
    return Kind("f" if ctype.floating else "i" if ctype.signed else "u", ctype.bits)


class LaneValues(Struct, frozen=True, eq=False):
    """Of the expressions of one unit. name: of the function. long_type: as in the SCoP. numbers: vectors of one number
    each, by type and text."""

    name: str
    long_type: str
    types: dict[str, CType]
    bits: int
    unit: int
    numbers: dict[tuple[str, str], str]

    # --- types --------------------------------------------------------------------------------------------------------

    def kind(self, node: ir.Node) -> Kind:
        """The type of an expression."""
        match node:
            case ir.ID(name=name) if name in self.types:
                return self.fitting(kind_of(self.types[name]))
            case ir.Constant():
                return self.constant(node)
            case ir.BinaryOp(op=op) if op in _COMPARED or op in _LOGICAL:
                return INT
            case ir.BinaryOp(op="<<" | ">>", left=left):
                return self.kind(left)
            case ir.BinaryOp(left=left, right=right):
                return self.fitting(_common(self.kind(left), self.kind(right)))
            case ir.UnaryOp(op="!"):
                return INT
            case ir.UnaryOp(op="-" | "+" | "~", expr=inner):
                return self.kind(inner)
            case ir.TernaryOp(iftrue=one, iffalse=other):
                return self.fitting(_common(self.kind(one), self.kind(other)))
            case ir.Cast(to_type=to_type):
                return self.fitting(self.named(to_type))
            case ir.FuncCall(name=ir.ID(name="fabs")):
                return self.fitting(Kind("f", 64))
            case ir.FuncCall(name=ir.ID(name="fabsf")):
                return self.fitting(Kind("f", 32))
        raise NoLanes

    def named(self, to_type: ir.Node) -> Kind:
        found = arithmetic_kind(type_spelling(to_type), self.long_type)
        if found is None:
            raise NoLanes
        return Kind(*found)

    def constant(self, node: ir.Constant) -> Kind:
        text = node.value.lower()
        if _WHOLE.fullmatch(text):
            suffix, value = text.lstrip("0123456789abcdefx"), _whole(node)
            bits = literal_bits(suffix, value, self.long_type)
            if "u" not in suffix and value >= 1 << (bits - 1):
                raise NoLanes  # of a type that depends on how it is written
            return Kind("u" if "u" in suffix else "i", bits)
        if _FLOATING.fullmatch(text):
            return Kind("f", 32 if text.endswith("f") else 64)
        raise NoLanes

    def fitting(self, kind: Kind) -> Kind:
        """The type, where lanes can be of it."""
        if kind.bits > self.bits or (kind.letter == "f" and kind.bits != self.bits):
            raise NoLanes
        return kind

    # --- values -------------------------------------------------------------------------------------------------------

    def converted(self, node: ir.Node, to: Kind) -> str:
        """An expression's value in another type."""
        if isinstance(node, ir.Constant) or (isinstance(node, ir.ID) and node.name.startswith("all")):
            return self.splat(node, to)
        if isinstance(node, ir.UnaryOp) and node.op == "-" and isinstance(node.expr, ir.Constant) and to.letter == "f":
            if self.kind(node.expr).letter != "f" and not _whole(node.expr):
                raise NoLanes  # no number is -0 before it is converted
            return f"(-{self.converted(node.expr, to)})"
        return self.cast(node, to)

    def cast(self, node: ir.Node, to: Kind) -> str:
        own, text = self.kind(node), self.text(node)
        if own == to:
            return text
        if "f" in (own.letter, to.letter):
            raise NoLanes
        if own.bits == to.bits or (own.bits < to.bits and own.letter == "u"):
            if to == INT and self.bits > _INT:
                raise NoLanes  # what doesn't fit would have to wrap around
            if to == Kind("u", _INT) and self.bits > _INT:
                return self.cut(f"(({self.vector('u')}){text})")
            return text if own.letter == to.letter else f"(({self.vector(to.letter)}){text})"
        if own.bits < to.bits:
            return text if own.letter == to.letter else f"(({self.vector(to.letter)}){text})"
        if to.letter == "u":
            return self.cut(f"(({self.vector('u')}){text})")
        raise NoLanes

    def text(self, node: ir.Node) -> str:
        """The value in its own type."""
        kind = self.kind(node)
        match node:
            case ir.ID(name=name) if not name.startswith("all"):
                return f"{name}_{self.unit}"
            case ir.ID() | ir.Constant():
                return self.splat(node, kind)
            case ir.BinaryOp(op=op) if op in _COMPARED or op in _LOGICAL:
                return f"(-{self.mask(node)})"
            case ir.UnaryOp(op="!"):
                return f"(-{self.mask(node)})"
            case ir.BinaryOp(op="<<" | ">>" as op, left=left, right=ir.Constant() as amount):
                return self.shifted(op, self.text(left), kind, _whole(amount))
            case ir.BinaryOp(op="/" | "%" as op, left=left, right=right) if kind.letter != "f":
                return self.divided(op, left, right, kind)
            case ir.BinaryOp(op="+" | "-" | "*" | "/" | "&" | "|" | "^" as op, left=left, right=right):
                return self.computed(op, self.converted(left, kind), self.converted(right, kind), kind)
            case ir.UnaryOp(op="+", expr=inner):
                return self.text(inner)
            case ir.UnaryOp(op="-" | "~" as op, expr=inner):
                return self.turned(op, self.text(inner), kind)
            case ir.TernaryOp(cond=condition, iftrue=one, iffalse=other):
                sides = self.converted(one, kind), self.converted(other, kind)
                return f"{self.name}_pick({self.vector(kind.letter)}, {self.mask(condition)}, {', '.join(sides)})"
            case ir.Cast(expr=inner):
                return self.converted(inner, kind)
            case ir.FuncCall(args=ir.ExprList(exprs=[only])):
                sign = self.number("i", f"{(1 << self.bits - 1) - 1:#x}{'LL' if self.bits > _INT else ''}")
                return f"(({self.vector('f')})(({self.vector('i')}){self.converted(only, kind)} & {sign}))"
        raise NoLanes

    def computed(self, op: str, left: str, right: str, kind: Kind) -> str:
        if kind.letter == "f":
            if op in "&|^":
                raise NoLanes
            return f"({left} {op} {right})"
        if op in "&|^":
            return f"({left} {op} {right})"
        if op == "/":
            raise NoLanes
        if kind.letter == "i":
            unsigned = self.vector("u")
            return f"(({self.vector('i')})(({unsigned}){left} {op} ({unsigned}){right}))"
        return self.wrapped(f"({left} {op} {right})", kind)

    def turned(self, op: str, inner: str, kind: Kind) -> str:
        if kind.letter == "f":
            if op == "~":
                raise NoLanes
            return f"(-{inner})"
        if kind.letter == "i" and op == "-":
            return f"(({self.vector('i')})-({self.vector('u')}){inner})"
        return self.wrapped(f"({op}{inner})", kind) if kind.letter == "u" else f"({op}{inner})"

    def shifted(self, op: str, left: str, kind: Kind, amount: int) -> str:
        if not 0 <= amount < kind.bits or kind.letter == "f":
            raise NoLanes
        by = self.number(kind.letter, str(amount))
        if op == ">>":
            return f"({left} >> {by})"
        if kind.letter == "u":
            return self.wrapped(f"({left} << {by})", kind)
        unsigned = self.vector("u")
        return f"(({self.vector('i')})(({unsigned}){left} << {self.number('u', str(amount))}))"

    def divided(self, op: str, left: ir.Node, right: ir.Node, kind: Kind) -> str:
        """By a power of two."""
        value = _whole(right) if isinstance(right, ir.Constant) else 0
        if value <= 0 or value & (value - 1) or value >= 1 << 30:
            raise NoLanes
        return f"({self.converted(left, kind)} {op} {self.converted(right, kind)})"

    # --- conditions ---------------------------------------------------------------------------------------------------

    def mask(self, node: ir.Node) -> str:
        """-1 where a condition holds, 0 elsewhere."""
        match node:
            case ir.BinaryOp(op="&&", left=left, right=right):
                return f"({self.mask(left)} & {self.mask(right)})"
            case ir.BinaryOp(op="||", left=left, right=right):
                return f"({self.mask(left)} | {self.mask(right)})"
            case ir.UnaryOp(op="!", expr=inner):
                return f"(~{self.mask(inner)})"
            case ir.BinaryOp(op=op, left=left, right=right) if op in _COMPARED:
                kind = self.fitting(_common(self.kind(left), self.kind(right)))
                return self.compared(op, self.converted(left, kind), self.converted(right, kind))
        kind = self.kind(node)
        zero = ir.Constant("int", "0")
        return self.compared("!=", self.text(node), self.converted(zero, kind))

    def compared(self, op: str, left: str, right: str) -> str:
        return f"(({self.vector('i')})({left} {op} {right}))"

    # --- pieces -------------------------------------------------------------------------------------------------------

    def vector(self, letter: str) -> str:
        return f"{self.name}_{letter}"

    def wrapped(self, text: str, kind: Kind) -> str:
        """An unsigned value that may have grown out of its type."""
        return self.cut(text) if kind.bits < self.bits else text

    def cut(self, text: str) -> str:
        return f"({text} & {self.number('u', '0xffffffffULL')})"

    def splat(self, node: ir.Node, to: Kind) -> str:
        """What is the same in all lanes, in another type."""
        own = self.kind(node)
        wide = {"f": {32: "float", 64: "double"}, "i": {32: "int", 64: "long long"}}
        wide["u"] = {bits: f"unsigned {name}" for bits, name in wide["i"].items()}
        if isinstance(node, ir.Constant):
            if own.letter == "f" and to.letter != "f":
                raise NoLanes
            if to.letter != "f" and _whole(node) >= 1 << (to.bits - (to.letter == "i")):
                raise NoLanes
            return self.number(to.letter, f"({wide[to.letter][self.bits]}){node.value}")
        if own.letter == "f" and to != own:
            raise NoLanes
        narrowed = to.bits < own.bits or (to.bits == own.bits and own.letter != to.letter)
        if narrowed and to.letter != "f":
            return self.cast_of_splat(node, own, to)
        return self.number(to.letter, f"({wide[to.letter][self.bits]}){node.name}")

    def cast_of_splat(self, node: ir.Node, own: Kind, to: Kind) -> str:
        if to == Kind("u", _INT) and self.bits > _INT:
            return self.number("u", f"(unsigned long long)(unsigned int){node.name}")
        if own.bits != to.bits or self.bits != to.bits:
            raise NoLanes
        return f"(({self.vector(to.letter)}){self.splat(node, own)})"

    def number(self, letter: str, text: str) -> str:
        return self.numbers.setdefault((letter, text), f"c{len(self.numbers)}")


def _common(one: Kind, other: Kind) -> Kind:
    """C's usual arithmetic conversions."""
    if "f" in (one.letter, other.letter):
        return Kind("f", max(kind.bits for kind in (one, other) if kind.letter == "f"))
    bits = max(one.bits, other.bits)
    unsigned = any(kind.letter == "u" and kind.bits == bits for kind in (one, other))
    return Kind("u" if unsigned else "i", bits)


def _whole(node: ir.Node) -> int:
    """The value of an integer constant."""
    text = node.value.lower()
    if not isinstance(node, ir.Constant) or not _WHOLE.fullmatch(text):
        raise NoLanes
    digits = text.rstrip("ul")
    if digits.startswith("0") and len(digits) > 1 and not digits.startswith("0x"):
        raise NoLanes
    return int(digits, 0)
