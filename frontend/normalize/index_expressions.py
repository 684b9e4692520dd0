"""Which expressions are made of iterators and parameters as subscripts and bounds are, and what types they have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from scopt import ir
from scopt.frontend.normalize.formulas import formula_of
from scopt.frontend.normalize.tree_rewriting import cast
from scopt.frontend.syntax.symbols import Symbol, constant_value, ctype_of, typed_constant
from scopt.ir.constants import promotion, usual_conversion
from scopt.ir.scop import CType
from scopt.ir.truths import is_truth
from scopt.ir.walks import walk

_SUMS = ("+", "-", "*")
_BY_CONSTANTS = ("/", "%", "<<", ">>", "&", "^")
_TRUTHS = ("<", "<=", ">", ">=", "==", "!=", "&&", "||")
# What is put in many places should stay short: longer values have no form that anybody would take for a subscript.
_LONGEST = 64


class IndexExpressions(Struct, frozen=True, eq=False):
    """symbols: what names mean, iterators apart. iterators: types of those of the loops around.
    is_steady(name): whether a variable keeps its value in the region; symbolic: macros with names of their own.
    functions: of the file, by name."""

    symbols: Mapping[str, Symbol]
    iterators: Mapping[str, CType]
    is_steady: Callable[[str], bool]
    symbolic: frozenset[str]
    functions: Mapping[str, Any]

    def is_short(self, node: Any) -> bool:
        """Whether an expression may stand in the place of a variable."""
        return sum(1 for _ in walk(node)) <= _LONGEST

    def holds(self, node: Any) -> bool:
        """Whether an expression has one value in an iteration of the loops around, which follows from their iterators
        and from parameters by the arithmetic of subscripts. It may still not be affine."""
        match node:
            case ir.Constant():
                return self.constant(node)
            case ir.ID(name=name):
                return name in self.iterators or self.is_steady(name) or self.constant(node)
            case ir.UnaryOp(op="sizeof" | "_Alignof" | "~"):
                return self.constant(node)
            case ir.UnaryOp(op="-" | "+" | "!"):
                return self.holds(node.expr)
            case ir.BinaryOp(op=op) if op in _SUMS or op in _TRUTHS:
                return self.holds(node.left) and self.holds(node.right)
            case ir.BinaryOp(op=op) if op in _BY_CONSTANTS:
                around = node.op == "%" and isinstance(node.right, ir.ID) and self.is_steady(node.right.name)
                return self.holds(node.left) and (around or self.constant(node.right))
            case ir.TernaryOp():
                return all(map(self.holds, node.parts))
            case ir.Cast():
                target = ctype_of(node.to_type, self.symbols)
                return target is not None and target.integer and bool(target.bits) and self.holds(node.expr)
            case ir.FuncCall():
                return self.is_formula(node) and all(map(self.holds, node.args.exprs))
        return False

    def constant(self, node: Any) -> bool:
        if isinstance(node, ir.ID) and node.name in self.symbolic:
            return True
        return constant_value(node, self.symbols) is not None

    def is_formula(self, call: ir.FuncCall) -> bool:
        """Whether a call is that of a function which is one expression of its parameters, such as min and max."""
        function = self.functions.get(call.name.name) if isinstance(call.name, ir.ID) else None
        if function is None:
            return False
        value = formula_of(function)
        if value is None or call.args is None:
            return False
        args = function.decl.type.args
        names = {parameter.name for parameter in args.params if isinstance(parameter, ir.Decl)} if args else set()
        inner = IndexExpressions(self.symbols, {}, lambda name: name in names, frozenset(), {})
        return len(names) == len(call.args.exprs) and inner.holds(value)

    def type_of(self, node: Any) -> CType | None:
        """The type of an expression, None where it isn't told here."""
        match node:
            case ir.Constant():
                found = typed_constant(node, self.symbols)
                return found[1] if found is not None else None
            case ir.ID(name=name):
                if name in self.iterators:
                    return self.iterators[name]
                return self.symbols[name].type if name in self.symbols and name not in self.symbolic else None
            case ir.UnaryOp(op="-" | "+" | "~"):
                inner = self.type_of(node.expr)
                return promotion(inner, self.symbols) if inner is not None else None
            case ir.BinaryOp(op=op) if op in _TRUTHS:
                return self.symbols["int"].type
            case ir.UnaryOp(op="!"):
                return self.symbols["int"].type
            case ir.BinaryOp(op="<<" | ">>"):
                inner = self.type_of(node.left)
                return promotion(inner, self.symbols) if inner is not None else None
            case ir.BinaryOp():
                return self.common(node.left, node.right)
            case ir.TernaryOp():
                return self.common(node.iftrue, node.iffalse)
            case ir.Cast():
                return ctype_of(node.to_type, self.symbols)
            case ir.FuncCall(name=ir.ID(name=name)) if name in self.functions:
                return ctype_of(self.functions[name].decl.type.type, self.symbols)
        return None

    def common(self, left: Any, right: Any) -> CType | None:
        a, b = self.type_of(left), self.type_of(right)
        return usual_conversion(a, b, self.symbols) if a is not None and b is not None else None

    def converted(self, node: Any, ctype: CType) -> Any:
        """An expression as it is read from a variable of a type that it was assigned to."""
        own = self.type_of(node)
        if own is not None and (own.signed, own.bits) == (ctype.signed, ctype.bits):
            return node
        if ctype.bits == 1 and is_truth(node):
            return node
        return cast(ctype.spelling, node)
