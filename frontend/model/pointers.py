"""Pointer arithmetic as subscripts: ``*a``, ``*(a + i * n + j)``, ``(a + i * n)[j]``, ``(a + i)->x``, ``&a[i]`` with
an offset become references to the array with all of the offset in its subscript.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from scopt import ir
from scopt.frontend.model.row_pointers import is_rows
from scopt.frontend.syntax.symbols import Symbol, ctype_of
from scopt.ir.constants import constant_value
from scopt.ir.walks import changed


class PointerSums(Struct, frozen=True):
    """symbols: of all that is used. long_type: an integer type of 64 bits."""

    symbols: Mapping[str, Symbol]
    long_type: str

    def subscripted(self, node: Any) -> Any:
        """A reference through a computed pointer as one with a subscript; what is below it has been done."""
        match node:
            case ir.UnaryOp(op="*", expr=ir.ID() as pointer) if self.base_and_offset(pointer) is not None:
                return ir.ArrayRef(pointer, ir.Constant("int", "0", node.coord), node.coord)
            case ir.UnaryOp(op="*", expr=ir.BinaryOp() | ir.UnaryOp(op="&") as pointer):
                found = self.base_and_offset(pointer)
                if found is not None:
                    return ir.ArrayRef(found[0], found[1] or ir.Constant("int", "0", node.coord), node.coord)
            case ir.ArrayRef(name=ir.BinaryOp() | ir.UnaryOp(op="&") as pointer, subscript=subscript):
                found = self.base_and_offset(pointer)
                if found is not None:
                    return self.element(found[0], found[1], subscript, node)
            case ir.StructRef(type="->", name=ir.BinaryOp() | ir.UnaryOp(op="&") as pointer):
                found = self.base_and_offset(pointer)
                if found is not None:
                    element = ir.ArrayRef(found[0], found[1] or ir.Constant("int", "0", node.coord), node.coord)
                    return changed(node, name=element, type=".")
        return node

    def element(self, base: Any, offset: Any, more: Any, node: Any) -> Any:
        """``base[offset + more]``. A constant that leaves the row goes on in other rows, as `(&b[0][j])[3 * 8]` does of
        `b[4][8]`: the reference is to that row's element."""
        size, by = self.row_size(base), constant_value(more, self.symbols)
        start = 0 if offset is None else constant_value(offset, self.symbols)
        rows = 0
        if size is not None and by is not None:
            nearest = (by + size // 2) // size if abs(by) >= size else 0
            rows = nearest if start is None else (start + by) // size
        if size is None or by is None or not rows:
            return ir.ArrayRef(base, self.sum("+", offset, more), node.coord)
        row = ir.ArrayRef(base.name, ir.BinaryOp("+", base.subscript, _number(rows, node), base.coord), base.coord)
        return ir.ArrayRef(row, self.sum("+", offset, _number(by - rows * size, node)), node.coord)

    def row_size(self, base: Any) -> int | None:
        """How many elements a row has, of an array of rows; None if that isn't known, or it isn't one."""
        whole, depth = base, 0
        while isinstance(whole, ir.ArrayRef):
            depth, whole = depth + 1, whole.name
        dims = self.symbols[whole.name].dims if isinstance(whole, ir.ID) and depth else ()
        rows = depth and len(dims) == depth + 1 and not self.symbols[whole.name].pointer_depth > 1
        size = constant_value(dims[-1], self.symbols) if rows else None
        return size if size is not None and size > 0 else None

    def base_and_offset(self, node: Any) -> tuple[Any, Any] | None:
        """The pointer or row that a sum begins with, and what is added to it; None if the sum isn't of that form."""
        match node:
            case ir.ID(name=name) if name in self.symbols and len(self.symbols[name].dims) == 1:
                return node, None
            case ir.ArrayRef() if _missing(node, self.symbols) == 1:
                return node, None
            case ir.UnaryOp(op="&", expr=ir.ArrayRef(name=base, subscript=subscript) as whole) if (
                _missing(whole, self.symbols) == 0
            ):
                return base, subscript
            case ir.BinaryOp(op="+" | "-" as op, left=left, right=right):
                if (found := self.base_and_offset(left)) is not None:
                    return found[0], self.sum(op, found[1], right)
                if op == "+" and (found := self.base_and_offset(right)) is not None:
                    return found[0], self.sum("+", found[1], left)
        return None

    def sum(self, op: str, offset: Any, more: Any) -> Any:
        """offset op more, where C adds both to a pointer: what fits a pointer may not fit an int."""
        if offset is None:
            return more if op == "+" else ir.UnaryOp("-", self.wide(more), more.coord)
        return ir.BinaryOp(op, self.wide(offset), more, more.coord)

    def wide(self, node: Any) -> Any:
        """The expression in 64 bits."""
        if isinstance(node, ir.Constant) or self.bits(node) >= 64:
            return node
        spelled = ir.TypeDecl(None, [], None, ir.IdentifierType(self.long_type.split()))
        return ir.Cast(ir.Typename(None, [], None, spelled), node, node.coord)

    def bits(self, node: Any) -> int:
        """The width of an expression's type, as far as it is known to be more than that of int."""
        match node:
            case ir.ID(name=name) if name in self.symbols:
                return self.symbols[name].type.bits
            case ir.BinaryOp(op="+" | "-" | "*", left=left, right=right):
                return max(self.bits(left), self.bits(right))
            case ir.UnaryOp(op="+" | "-", expr=operand):
                return self.bits(operand)
            case ir.Cast(to_type=to_type):
                ctype = ctype_of(to_type, self.symbols)
                return ctype.bits if ctype is not None else 0
        return 0


def _number(value: int, node: Any) -> Any:
    number = ir.Constant("int", str(abs(value)), node.coord)
    return ir.UnaryOp("-", number, node.coord) if value < 0 else number


def _missing(node: Any, symbols: Mapping[str, Symbol]) -> int | None:
    """How many subscripts a reference lacks to be an element; None if it isn't one to a named array."""
    depth = 0
    while isinstance(node, ir.ArrayRef):
        depth, node = depth + 1, node.name
    if not isinstance(node, ir.ID) or node.name not in symbols:
        return None
    symbol = symbols[node.name]
    return None if symbol.pointer_depth > 1 and not is_rows(symbol) else len(symbol.dims) - depth
