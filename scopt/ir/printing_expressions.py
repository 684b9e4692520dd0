"""Expressions as C text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from scopt import ir

_SIMPLE = (ir.Constant, ir.ID, ir.ArrayRef, ir.StructRef, ir.FuncCall, ir.GenericSelection)


class ExpressionPrinter:
    """C text of expressions, one method for each kind; `CPrinter` has the others."""

    precedence_map: ClassVar[dict[str, int]] = {
        "||": 0,
        "&&": 1,
        "|": 2,
        "^": 3,
        "&": 4,
        "==": 5,
        "!=": 5,
        ">": 6,
        ">=": 6,
        "<": 6,
        "<=": 6,
        ">>": 7,
        "<<": 7,
        "+": 8,
        "-": 8,
        "*": 9,
        "/": 9,
        "%": 9,
    }

    def __init__(self, reduce_parentheses: bool = False) -> None:
        """reduce_parentheses: none around operands of binary operators that bind more tightly."""
        self.indent_level = 0
        self.reduce_parentheses = reduce_parentheses

    def visit(self, node: ir.Node) -> str:
        """The text of a node."""
        text: str = getattr(self, f"visit_{type(node).__name__}")(node)
        return text

    def _make_indent(self) -> str:
        return " " * self.indent_level

    def visit_Constant(self, n: ir.Constant) -> str:
        return str(n.value)

    def visit_ID(self, n: ir.ID) -> str:
        return str(n.name)

    def visit_ArrayRef(self, n: ir.ArrayRef) -> str:
        return f"{self._parenthesize_unless_simple(n.name)}[{self._visit_expr(n.subscript, allow_comma=True)}]"

    def visit_StructRef(self, n: ir.StructRef) -> str:
        return f"{self._parenthesize_unless_simple(n.name)}{n.type}{n.field}"

    def visit_FuncCall(self, n: ir.FuncCall) -> str:
        return f"{self._parenthesize_unless_simple(n.name)}({'' if n.args is None else self.visit(n.args)})"

    def visit_UnaryOp(self, n: ir.UnaryOp) -> str:
        if n.op == "sizeof":
            return f"sizeof({self._visit_expr(n.expr, allow_comma=True)})"
        operand = self._parenthesize_unless_simple(n.expr)
        return f"{operand}{n.op[1:]}" if n.op in ("p++", "p--") else f"{n.op}{operand}"

    def visit_BinaryOp(self, n: ir.BinaryOp) -> str:
        # Operators associate to the left: an operand on the right has to bind more tightly.
        left = self._parenthesize_if(n.left, lambda d: not self._binds(d, self.precedence_map[n.op]))
        right = self._parenthesize_if(n.right, lambda d: not self._binds(d, self.precedence_map[n.op] + 1))
        return f"{left} {n.op} {right}"

    def _binds(self, operand: ir.Node, least: int) -> bool:
        """Whether an operand binds at least so tightly, or shows that it does."""
        if self._is_simple_node(operand):
            return True
        if not self.reduce_parentheses:
            return False
        return isinstance(operand, ir.UnaryOp) or (
            isinstance(operand, ir.BinaryOp) and self.precedence_map[operand.op] >= least
        )

    def visit_Assignment(self, n: ir.Assignment) -> str:
        value = self._parenthesize_if(n.rvalue, lambda d: isinstance(d, ir.Assignment))
        return f"{self._visit_expr(n.lvalue)} {n.op} {value}"

    def visit_TernaryOp(self, n: ir.TernaryOp) -> str:
        return f"({self._visit_expr(n.cond)}) ? ({self._visit_expr(n.iftrue)}) : ({self._visit_expr(n.iffalse)})"

    def visit_ExprList(self, n: ir.ExprList) -> str:
        return ", ".join(self._visit_expr(expr) for expr in n.exprs)

    def visit_InitList(self, n: ir.InitList) -> str:
        return ", ".join(self._visit_expr(expr) for expr in n.exprs)

    def visit_CompoundLiteral(self, n: ir.CompoundLiteral) -> str:
        return f"({self.visit(n.type)}){{{self.visit(n.init)}}}"

    def visit_NamedInitializer(self, n: ir.NamedInitializer) -> str:
        return f"{''.join(map(self.visit, n.name))} = {self._visit_expr(n.expr)}"

    def visit_FieldDesignator(self, n: ir.FieldDesignator) -> str:
        return f".{n.name}"

    def visit_ArrayDesignator(self, n: ir.ArrayDesignator) -> str:
        return f"[{self._visit_expr(n.expr)}]"

    def visit_GenericSelection(self, n: ir.GenericSelection) -> str:
        return f"_Generic({self._visit_expr(n.expr)}, {', '.join(self.visit(a) for a in n.associations)})"

    def visit_GenericAssociation(self, n: ir.GenericAssociation) -> str:
        return f"{'default' if n.type is None else self.visit(n.type)}: {self._visit_expr(n.expr)}"

    def _visit_expr(self, n: ir.Node, *, allow_comma: bool = False) -> str:
        """An expression or an initial value with the delimiters that it needs;
        allow_comma: a comma separates nothing else here."""
        if isinstance(n, ir.InitList):
            return f"{{{self.visit(n)}}}"
        if isinstance(n, ir.Compound) or (isinstance(n, ir.ExprList) and not allow_comma):
            return f"({self.visit(n)})"
        return self.visit(n)

    def _parenthesize_if(self, n: ir.Node, condition: Callable[[Any], bool]) -> str:
        text = self._visit_expr(n)
        return f"({text})" if condition(n) else text

    def _parenthesize_unless_simple(self, n: ir.Node) -> str:
        return self._parenthesize_if(n, lambda d: not self._is_simple_node(d))

    def _is_simple_node(self, n: ir.Node) -> bool:
        """Whether a node binds more tightly than any operator."""
        return isinstance(n, _SIMPLE)


def words(several: Sequence[str] | None) -> str:
    """Words with a blank behind each."""
    return "".join(f"{word} " for word in several or ())
