"""Types of expressions where the names of a region are visible."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from scopt import ir
from scopt.frontend.normalize.tree_rewriting import cast
from scopt.frontend.syntax.structs import Definitions, Typed, Types
from scopt.frontend.syntax.symbols import Symbol, constant_value, ctype_of, typed_constant
from scopt.ir.constants import promotion, usual_conversion
from scopt.ir.ctypes import Layer, is_complex
from scopt.ir.scop import CType

_TRUTHS = ("<", "<=", ">", ">=", "==", "!=", "&&", "||")


class ExpressionTypes(Struct, frozen=True, eq=False):
    """scope: what names mean. symbolic: integer macros with names of their own; spelled: the types of those that are no
    `int`."""

    scope: Mapping[str, Symbol]
    structs: Definitions
    symbolic: Mapping[str, int]
    spelled: Mapping[str, str]

    def declared(self, decl: Any) -> Typed | None:
        """The type that a declaration gives; None for structures and functions."""
        found = Types(self.scope, self.structs).declared(decl)
        if any(layer.kind == "function" for layer in found.layers):
            return None
        return found if found.layers or _is_number(found.type) or is_complex(found.type) else None

    def pointer(self, node: Any) -> Typed | None:
        """The type of an expression that is a pointer, or an array in the place of one; None for any other."""
        types = Types(self.scope, self.structs)
        match node:
            case ir.UnaryOp(op="&", expr=whole):
                found = types.of(whole)
                return found and found._replace(layers=(Layer("pointer"), *found.layers))
            case ir.BinaryOp(op="+" | "-", left=left, right=right):
                amount = self.of(right)
                return self.pointer(left) if amount is not None and amount.integer else None
            case ir.ID() | ir.ArrayRef() | ir.StructRef():
                found = types.of(node)
                return found if found is not None and (found.pointer or found.array) else None
            case ir.Cast():
                found = types.declared(node.to_type)
                return found if found.pointer else None
        return None

    def lead_to_the_same(self, wanted: Typed, found: Typed) -> bool:
        """Whether two pointers, or arrays in the place of them, lead to elements of one type, whatever their
        qualifiers."""
        inner, other = wanted.layers[1:], found.layers[1:]
        if [layer.kind for layer in inner] != [layer.kind for layer in other]:
            return False
        for a, b in zip(inner, other, strict=True):
            sizes = [constant_value(one.dim, self.scope) if one.dim is not None else None for one in (a, b)]
            if None not in sizes and sizes[0] != sizes[1]:
                return False
        if found.type.volatile or found.type.atomic or wanted.type.volatile or wanted.type.atomic:
            return False
        if wanted.struct is not None or found.struct is not None:
            return wanted.struct is found.struct
        numbers = _is_number(wanted.type) or is_complex(wanted.type)
        return numbers and _alike(wanted.type, found.type) and wanted.size == found.size

    def of(self, node: Any) -> CType | None:
        """The type of a number; None where it isn't told here."""
        match node:
            case ir.Constant(type="float" | "double" as spelling):
                return self.scope[spelling].type if spelling in self.scope else None
            case ir.Constant():
                found = typed_constant(node, self.scope)
                return found[1] if found is not None else None
            case ir.ID(name=name) if name in self.symbolic:
                symbol = self.scope.get(self.spelled.get(name, "int"))
                return symbol.type if symbol is not None else None
            case ir.ID(name=name) if (symbol := self.scope.get(name)) is not None and symbol.kind == "enum-constant":
                return symbol.type if symbol.type.integer else None
            case ir.ID() | ir.ArrayRef() | ir.StructRef() | ir.UnaryOp(op="*"):
                typed = Types(self.scope, self.structs).of(node)
                return typed.type if typed is not None and not typed.layers and _is_number(typed.type) else None
            case ir.UnaryOp(op="!"):
                return self.scope["int"].type
            case ir.UnaryOp(op="-" | "+" | "~"):
                return self.promoted(node.expr)
            case ir.BinaryOp(op=op) if op in _TRUTHS:
                return self.scope["int"].type
            case ir.BinaryOp(op="<<" | ">>"):
                return self.promoted(node.left)
            case ir.BinaryOp():
                return self.common(node.left, node.right)
            case ir.TernaryOp():
                return self.common(node.iftrue, node.iffalse)
            case ir.Cast():
                target = ctype_of(node.to_type, self.scope)
                return target if target is not None and _is_number(target) else None
        return None

    def complex(self, node: Any) -> CType | None:
        """The type of a complex number; None of a real one, and where it isn't told here."""
        match node:
            case ir.Constant(type=spelling) if spelling in self.scope:
                found: CType | None = self.scope[spelling].type
            case ir.ID() | ir.ArrayRef() | ir.StructRef() | ir.UnaryOp(op="*"):
                typed = Types(self.scope, self.structs).of(node)
                found = typed.type if typed is not None and not typed.layers else None
            case ir.UnaryOp(op="-" | "+" | "~", expr=inner):
                return self.complex(inner)
            case ir.BinaryOp(op="+" | "-" | "*" | "/", left=one, right=other) | ir.TernaryOp(iftrue=one, iffalse=other):
                parts = [self.complex(part) or self.of(part) for part in (one, other)]
                known = [part for part in parts if part is not None]
                widest = max((_part(part) for part in known), key=len, default="")
                complex_one = len(known) == len(parts) and any(map(is_complex, known))
                found = self.scope[f"{widest} _Complex"].type if complex_one and widest else None
            case ir.Cast():
                found = ctype_of(node.to_type, self.scope)
            case _:
                found = None
        return found if found is not None and is_complex(found) else None

    def promoted(self, node: Any) -> CType | None:
        own = self.of(node)
        return own if own is None or own.floating else promotion(own, self.scope)

    def common(self, left: Any, right: Any) -> CType | None:
        a, b = self.of(left), self.of(right)
        if a is None or b is None:
            return None
        if a.floating or b.floating:
            return max((one for one in (a, b) if one.floating), key=lambda one: one.bits)
        return usual_conversion(a, b, self.scope)

    def converted(self, node: Any, target: Typed | None) -> Any | None:
        """An expression as the value of a variable that it is assigned to; None if that is no number."""
        if target is None or target.layers or not (_is_number(target.type) or is_complex(target.type)):
            return None
        own = self.of(node) or self.complex(node)
        return node if own is not None and _alike(own, target.type) else cast(target.type.spelling, node)


def _part(ctype: CType) -> str:
    """The floating-point type that a number, or each part of one, is; nothing for an integer."""
    return ctype.spelling.removesuffix(" _Complex") if ctype.floating else ""


def _is_number(ctype: CType) -> bool:
    """Whether a type is that of real numbers of a known size."""
    return (ctype.integer or ctype.floating) and ctype.bits > 0 and not is_complex(ctype)


def _alike(a: CType, b: CType) -> bool:
    same = (a.integer, a.floating, a.signed, a.bits) == (b.integer, b.floating, b.signed, b.bits)
    return same and is_complex(a) == is_complex(b)
