"""Of which types the values in a statement are, and which of them may be computed whatever its conditions say."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from scopt import ir
from scopt.astgen.emit.c_expr import PICKS
from scopt.astgen.passes.divided_ints import is_int, is_quotient, is_sure
from scopt.astgen.passes.eager import Sure
from scopt.astgen.passes.folded_choices import is_constant, is_small
from scopt.astgen.passes.wrapped_ints import is_wrapped, may_wrap
from scopt.ir.scop import Access, Scop, Statement
from scopt.ir.small_values import int_literal
from scopt.ir.truths import COMPARISONS

_WORD = 32
_FLOATS = ("float", "double")
# Those that operations have if one of their operands has it, whatever integers others are.
_WIDEST = ("double", "float")
_INTEGER = "integer"
# Functions that are one instruction and can't fail, by name, and what they take and give.
INSTRUCTIONS = {"fabs": "double", "fabsf": "float"}


class Values(Struct, frozen=True, eq=False):
    """What values of a statement of a SCoP are. kept: a reference to a variable that may keep its value. divides:
    quotients of ints are computed by functions. wraps: so is what might be too large for an int."""

    scop: Scop
    statement: Statement
    kept: ir.Node | None = None
    divides: bool = False
    wraps: bool = False

    def kind(self, node: ir.Node) -> str | None:
        """The type of a value, a key of `PICKS`, the same one on both sides of choices; None if it is another one."""
        access = self.access(node)
        if access is not None:
            ctype = self.scop.arrays[access.array].type
            if ctype.volatile or ctype.atomic or (access.kind != "read" and node is not self.kept):
                return None
            if ctype.floating:
                return ctype.spelling if ctype.spelling in _FLOATS else None
            return "int" if ctype.integer and ctype.bits < _WORD + ctype.signed else None
        match node:
            case ir.ID(name=name) if name in self.statement.iterators:
                ctype = self.statement.iterator_types[self.statement.iterators.index(name)]
                return "int" if ctype.bits < _WORD + ctype.signed else None
            case ir.Constant(type="int"):
                return None if int_literal(node) is None else "int"
            case ir.Constant(type=spelling):
                return spelling if spelling in PICKS else None
            case ir.TernaryOp(iftrue=one, iffalse=other):
                return self.common(one, other)
            case ir.UnaryOp(op="-", expr=inner):
                return self.kind(inner)
            case ir.UnaryOp(op="!"):
                return "int"
            case ir.BinaryOp(op=op) if op in (*COMPARISONS, "&&", "||"):
                return "int"
            case ir.FuncCall() if is_quotient(self.scop, node) or is_wrapped(self.scop, node):
                return "int"
            case ir.FuncCall(name=ir.ID(name=name), args=ir.ExprList(exprs=[given])):
                return INSTRUCTIONS.get(name) if self.kind(given) in PICKS else None
            case ir.BinaryOp(op="%") if self.is_int(node):
                return "int"
            case ir.BinaryOp(op="+" | "-" | "*" | "/", left=left, right=right):
                kinds = [_INTEGER if self.is_macro(one) else self.kind(one) for one in (left, right)]
                whole = None if _INTEGER in kinds else "int"
                return None if None in kinds else next((one for one in _WIDEST if one in kinds), whole)
        return None

    def is_macro(self, node: ir.Node) -> bool:
        """Whether a value is an integer constant of some type."""
        return isinstance(node, ir.ID) and node.name in self.scop.constants

    def common(self, *sides: ir.Node) -> str | None:
        """The type of all of several values, which small integers have anyway."""
        kinds = {self.kind(one) for one in sides if not is_small(one)} or {"int"}
        return kinds.pop() if len(kinds) == 1 else None

    def is_partly_constant(self, node: ir.Node) -> bool:
        """Whether a value is a choice of floating-point numbers, some of which are constants."""
        if not isinstance(node, ir.TernaryOp) or self.kind(node) not in _FLOATS:
            return False
        sides = list(_sides(node))
        return 0 < sum(map(is_constant, sides)) < len(sides)

    def may_be_computed(self, node: ir.Node) -> bool:
        """Whether a value does nothing but look at cells that are there, and compute what can't fail."""
        sure = Sure(self.scop, self.statement)
        if node is self.kept:
            return True
        if self.access(node) is not None or isinstance(node, ir.Constant | ir.ID):
            return sure.may_be_evaluated(node)
        match node:
            case ir.TernaryOp() | ir.UnaryOp(op="!"):
                pass
            case ir.FuncCall(args=ir.ExprList(exprs=[one, other])) if is_quotient(self.scop, node):
                return (
                    is_sure(self.scop, self.statement, node)
                    and self.may_be_computed(one)
                    and self.may_be_computed(other)
                )
            case ir.FuncCall(args=ir.ExprList(exprs=[one, other])) if is_wrapped(self.scop, node):
                return self.may_be_computed(one) and self.may_be_computed(other)
            case ir.BinaryOp(op="/" | "%", left=one, right=other) if self.divides and self.is_int(node):
                return self.may_be_computed(one) and self.may_be_computed(other)
            case ir.FuncCall(args=ir.ExprList(exprs=[given])):
                return self.kind(node) is not None and self.may_be_computed(given)
            case ir.UnaryOp(op="-", expr=inner):
                if self.kind(inner) not in _FLOATS and not sure.fits(node):
                    return False
            case ir.BinaryOp(op=op) if op in (*COMPARISONS, "&&", "||"):
                pass
            case ir.BinaryOp(op="&" | "|"):
                if self.kind(node.left) != "int" or self.kind(node.right) != "int":
                    return False
            case ir.BinaryOp(op="+" | "-" | "*"):
                wraps = self.wraps and may_wrap(self.scop, self.statement, node)
                if self.kind(node) not in _FLOATS and not (wraps or sure.fits(node)):
                    return False
            case ir.BinaryOp(op="/" | "%", right=ir.Constant(type="int", value=text)) if text.isdecimal() and int(text):
                pass
            case ir.BinaryOp(op="/"):
                if self.kind(node) not in _FLOATS:
                    return False
            case _:
                return False
        return all(map(self.may_be_computed, node.parts))

    def is_int(self, node: ir.Node) -> bool:
        return is_int(self.scop, self.statement, node)

    def computes_floats(self, node: ir.Node) -> bool:
        """Whether a value is computed by operations on floating-point numbers, or by comparing such."""
        if self.access(node) is not None:
            return False
        if is_quotient(self.scop, node):
            return True
        operands = [node.left, node.right] if isinstance(node, ir.BinaryOp) else []
        return any(self.kind(one) in _FLOATS for one in operands) or any(map(self.computes_floats, node.parts))

    def access(self, node: ir.Node) -> Access | None:
        return next((one for one in self.statement.accesses if one.node is node), None)


def _sides(value: ir.Node) -> Iterator[ir.Node]:
    """What may be chosen."""
    if isinstance(value, ir.TernaryOp):
        yield from _sides(value.iftrue)
        yield from _sides(value.iffalse)
    else:
        yield value
