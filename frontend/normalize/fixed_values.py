"""Expressions of integer variables that stay what they are in a region, and their types."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from msgspec import Struct

from scopt import ir
from scopt.ir.constants import promotion, typed_constant, usual_conversion
from scopt.ir.ctypes import Symbol, ctype_of
from scopt.ir.scop import CType


class FixedValues(Struct, frozen=True, eq=False):
    """symbols: what names mean. changing: names that the region sets, declares or steps, and macros, of whose values
    nothing is known."""

    symbols: Mapping[str, Symbol]
    changing: Collection[str]

    def type_of(self, node: Any) -> CType | None:
        """The type of such an expression; None for everything else."""
        symbols = self.symbols
        match node:
            case ir.ID(name=name):
                symbol = symbols.get(name)
                if symbol is None or not self.is_fixed(symbol):
                    return None
                return promotion(symbol.type, symbols)
            case ir.BinaryOp(op="+" | "-" | "*" | "/" | "%"):
                left, right = self.type_of(node.left), self.type_of(node.right)
                return usual_conversion(left, right, symbols) if left is not None and right is not None else None
            case ir.BinaryOp(op="<<" | ">>"):
                return self.type_of(node.left) if self.type_of(node.right) is not None else None
            case ir.UnaryOp(op="-" | "+" | "~"):
                return self.type_of(node.expr)
            case ir.Cast():
                ctype = ctype_of(node.to_type, symbols) if self.type_of(node.expr) is not None else None
                return promotion(ctype, symbols) if ctype is not None and ctype.integer and ctype.bits else None
            case ir.Constant():
                found = typed_constant(node, symbols)
                return promotion(found[1], symbols) if found is not None else None
        return None

    def is_fixed(self, symbol: Symbol) -> bool:
        """Whether a name is an integer variable that the region doesn't change."""
        if symbol.dims or symbol.pointer or not symbol.type.integer or not symbol.type.bits:
            return False
        if symbol.type.volatile or symbol.type.atomic or symbol.kind not in ("local", "parameter", "global"):
            return False
        return symbol.name not in self.changing
