"""Expressions for the value of a variable that a loop steps: start + total × (i - first), and their place in the loop's
body.

All of it is computed in 64 bits, where it can't overflow before the variable itself does; an unsigned variable's in its
own type, modulo its range.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from msgspec import Struct

from scopt import ir
from scopt.frontend.normalize.tree_rewriting import cast, number, signed_number, value_of
from scopt.ir.effects import STEPS
from scopt.ir.scop import CType
from scopt.ir.walks import changed, mapped

_LONG_BITS = 64
# Where a use of a variable stands: its value itself;
# a subscript, where only the number matters; what a pointer leads to.
_VALUE, _INDEX, _ADDRESS = "value", "index", "address"


class Progress(Struct, frozen=True, eq=False):
    """How far a loop has come. iterations: an expression of those that are done, times `stride`; stride: the
    iterator's, at least 1."""

    iterations: Any
    stride: int


class Values(Struct, frozen=True, eq=False):
    """ctype: the variable's, None for a pointer. start: its value in front of the loop.
    long_type: an integer type of 64 bits."""

    ctype: CType | None
    start: Any
    long_type: str

    def at(self, progress: Progress, total: Any, prefix: Any) -> tuple[Any, Any]:
        """The start and what is added to it after so many iterations: total for each, and prefix in this one."""
        if self.ctype is not None and not self.ctype.signed:
            return self.unsigned(value_of(total) or 0, progress, value_of(prefix) or 0), number(0)
        return self.start, self.plus(self.times(total, progress), prefix)

    def unsigned(self, total: int, progress: Progress, prefix: int) -> Any:
        """The value of an unsigned variable: what is subtracted comes last,
        so that nothing wraps that the variable doesn't."""
        start, parts = (
            self.start,
            (signed_number(prefix), self.times(signed_number(abs(total)), progress)),
        )
        first, last = parts if total < 0 else parts[::-1]
        so_far = self.plus(start, first)
        return self.minus(so_far, last) if total < 0 else self.plus(so_far, last)

    def times(self, total: Any, progress: Progress) -> Any:
        constant = value_of(total)
        if constant is None:
            return self.product(total, progress.iterations)
        return self.product(signed_number(constant // progress.stride), progress.iterations)

    def whole(self, start: Any, added: Any, *, wide: bool) -> Any:
        """The sum as an expression of the variable's type, or of a wider one with the same value."""
        if value_of(added) == 0 and (self.ctype is None or value_of(start) is None):
            return start
        if self.ctype is None:
            return ir.BinaryOp("+", start, added)
        result = self.plus(start, added)
        return result if wide and self.ctype.signed else self.typed(result)

    def typed(self, node: Any) -> Any:
        """An expression as a value of the variable's type."""
        if self.ctype is None or (self.ctype.signed and self.ctype.bits == _LONG_BITS):
            return node
        return cast(self.ctype.spelling, node)

    @property
    def wide(self) -> str:
        """The type that values are computed in."""
        return self.long_type if self.ctype is None or self.ctype.signed else self.ctype.spelling

    def widened(self, node: Any) -> Any:
        """An expression as one of that type."""
        return node if value_of(node) is not None or _is_of_type(node, self.wide) else cast(self.wide, node)

    def plus(self, left: Any, right: Any) -> Any:
        a, b = value_of(left), value_of(right)
        if a is not None and b is not None:
            return signed_number(a + b)
        if a == 0:
            return right
        if b is not None:
            return left if b == 0 else ir.BinaryOp("+" if b > 0 else "-", self.widened(left), number(abs(b)))
        if (
            isinstance(right, ir.BinaryOp)
            and right.op == "*"
            and (factor := value_of(right.left)) is not None
            and factor < 0
        ):
            return ir.BinaryOp("-", self.widened(left), _times(-factor, right.right))
        return ir.BinaryOp("+", self.widened(left), self.widened(right))

    def minus(self, left: Any, right: Any) -> Any:
        constant = value_of(right)
        return self.plus(left, signed_number(-constant) if constant is not None else _times(-1, self.widened(right)))

    def product(self, left: Any, right: Any) -> Any:
        a, b = value_of(left), value_of(right)
        if a is not None and b is not None:
            return signed_number(a * b)
        if 0 in (a, b):
            return number(0)
        if a is not None or b is not None:
            constant, other = (a, right) if a is not None else (b, left)
            return _times(constant or 0, self.widened(other))
        return ir.BinaryOp(
            "*", left, self.widened(right)
        )  # the left one is a sum of the source, which has a type of its own


def _is_of_type(node: Any, spelling: str) -> bool:
    """Whether an expression is a sum or product with something that was converted to the type.
    No type made here is narrower."""
    match node:
        case ir.Cast():
            return _spelling(node) == spelling
        case ir.BinaryOp(op="+" | "-" | "*"):
            return _is_of_type(node.left, spelling) or _is_of_type(node.right, spelling)
    return False


def _spelling(cast: ir.Cast) -> str:
    inner = cast.to_type.type
    return (
        " ".join(inner.type.names)
        if isinstance(inner, ir.TypeDecl) and isinstance(inner.type, ir.IdentifierType)
        else ""
    )


def _times(factor: int, node: Any) -> Any:
    return node if factor == 1 else ir.BinaryOp("*", signed_number(factor), node)


# --- in place of a variable -------------------------------------------------------------------------------------------


def substituted(
    root: Any, wanted: Callable[[Any], bool], values: Values, at: tuple[Any, Any], is_signed: Callable[[str], bool]
) -> Any:
    """The tree with a variable's value in the place of the nodes that are wanted.

    at: start and what is added. is_signed(name): whether a variable is a signed integer for sure.
    """

    def visit(node: Any, place: str) -> Any:
        if wanted(node):
            return values.whole(*at, wide=place == _INDEX)
        match node:
            case ir.StructRef(name=pointer, type="->") if wanted(pointer):
                return ir.StructRef(ir.ArrayRef(*at, node.coord), ".", node.field, node.coord)
            case ir.StructRef() | ir.UnaryOp(op="*"):
                inner = _ADDRESS
            case ir.ArrayRef():
                # In a wider type the sum of signed numbers is the same, as long as it doesn't overflow.
                index = _INDEX if _is_signed_sum(node.subscript, values.long_type, is_signed) else _VALUE
                name, subscript = visit(node.name, _ADDRESS), visit(node.subscript, index)
                is_same = name is node.name and subscript is node.subscript
                return node if is_same else changed(node, name=name, subscript=subscript)
            case ir.BinaryOp(op="+" | "-" | "*") | ir.Cast():
                inner = place if place == _INDEX else _VALUE
            case _:
                inner = _VALUE
        return mapped(node, lambda child: visit(child, inner))

    return visit(root, _VALUE)


def _is_signed_sum(node: Any, long_type: str, is_signed: Callable[[str], bool]) -> bool:
    """Whether an expression is made of signed variables and constants by arithmetic,
    in types that only become wider."""
    match node:
        case ir.ID(name=name):
            return is_signed(name)
        case ir.Constant():
            return value_of(node) is not None
        case ir.UnaryOp(op="+" | "-" | "++" | "--" | "p++" | "p--"):
            return _is_signed_sum(node.expr, long_type, is_signed)
        case ir.BinaryOp(op="+" | "-" | "*"):
            return _is_signed_sum(node.left, long_type, is_signed) and _is_signed_sum(node.right, long_type, is_signed)
        case ir.Cast():
            return _spelling(node) == long_type and _is_signed_sum(node.expr, long_type, is_signed)
    return False


def only_addresses(root: Any, name: str) -> bool:
    """Whether a pointer is only used to reach what it points to: ``p[i]``, ``*p``, ``*(p + i)``, ``*p++``, ``p->x``."""

    def visit(node: Any, address: bool) -> bool:
        if isinstance(node, ir.ID):
            return address or node.name != name
        if isinstance(node, ir.StructRef):
            return visit(node.name, True)
        follows = isinstance(node, ir.UnaryOp) and node.op == "*"
        passes = address and isinstance(node, (ir.BinaryOp, ir.UnaryOp)) and node.op in ("+", "-", *STEPS)
        return all(
            visit(child, follows or passes or (isinstance(node, ir.ArrayRef) and role == "name"))
            for role, child in node.children()
        )

    return visit(root, False)


def unconditional(node: Any) -> Iterator[Any]:
    """The parts of an expression statement or declaration that are evaluated once whenever it is executed."""
    match node:
        case ir.Assignment() | ir.ArrayRef() | ir.Cast() | ir.StructRef() | ir.ExprList() | ir.FuncCall():
            parts: Sequence[Any] = node.parts
        case ir.UnaryOp():
            parts = [node.expr] if node.op not in ("sizeof", "_Alignof") else []
        case ir.BinaryOp():
            parts = [node.left] if node.op in ("&&", "||") else [node.left, node.right]
        case ir.TernaryOp():
            parts = [node.cond]
        case ir.Decl(init=init) if init is not None:
            parts = [init]
        case _:
            return
    for part in parts:
        yield part
        yield from unconditional(part)
