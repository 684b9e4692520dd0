"""The original statement as C text, with its iterators replaced."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scopt import ir
from scopt.astgen.emit.c_expr import ExprPrinter, Level, Text
from scopt.astgen.emit.flat import flat_subscript, reference_of
from scopt.astgen.emit.loop_hints import KEPT
from scopt.astgen.emit.subscripts import exact_unsigned, folded, linear_subscript
from scopt.ir.nest import Call, Const, Expr, Loaded
from scopt.ir.printing import CPrinter
from scopt.ir.scop import CType, Statement

_ARITHMETIC = ("+", "-", "*", "/", "%")
_RELATIONAL = ("<", "<=", ">", ">=", "==", "!=")


def statement_text(
    statement: Statement, call: Call, printer: ExprPrinter, kept: frozenset[ir.Node] = frozenset()
) -> str:
    """One instance of a statement, without the final newline; more than one line if it is a compound or an if, or if
    variables get what it has written.

    kept: the loops of its body that gcc is asked not to write out."""
    generator = StatementGenerator(statement, call, printer, kept)
    text = str(generator._generate_stmt(statement.body)).rstrip("\n")
    given = (f"{name} = {generator.visit(statement.accesses[k].node)};" for k, name in call.kept)
    return "\n".join((text, *given))


def load_text(statement: Statement, load: Loaded, printer: ExprPrinter) -> str:
    """The declaration of a variable with what a reference of an instance of a statement reads."""
    generator = StatementGenerator(statement, Call(load.statement, load.args), printer)
    space = "" if load.type.endswith("*") else " "
    return f"{load.type}{space}{load.name} = {generator.visit(load.reference)};"


def declaration_text(declaration: ir.Decl) -> str:
    """A local's declaration without its initializer, and not const: its value is assigned later."""
    bare = ir.Decl(
        declaration.name,
        [],
        declaration.align,
        declaration.storage,
        declaration.funcspec,
        assignable(declaration.type),
        None,
        None,
    )
    return f"{PlainGenerator().visit(bare)};"


def assignable(declared: Any) -> Any:
    """A declared type whose objects, or whose elements, aren't const."""
    if isinstance(declared, ir.ArrayDecl):
        return ir.ArrayDecl(assignable(declared.type), declared.dim, declared.dim_quals, declared.coord)
    quals = [qualifier for qualifier in declared.quals or () if qualifier != "const"]
    if isinstance(declared, ir.PtrDecl):
        return ir.PtrDecl(quals, declared.type, declared.coord)
    return ir.TypeDecl(declared.declname, quals, declared.align, declared.type, declared.coord)


class PlainGenerator(CPrinter):
    """C with the parentheses that a person would write; the association of operators never changes."""

    def __init__(self) -> None:
        super().__init__(reduce_parentheses=True)

    def visit_BinaryOp(self, n: ir.BinaryOp) -> str:
        left = self._parenthesize_if(n.left, lambda d: not self._fits(n.op, d, right=False))
        right = self._parenthesize_if(n.right, lambda d: not self._fits(n.op, d, right=True))
        return f"{left} {n.op} {right}"

    def _fits(self, op: str, operand: ir.Node, right: bool) -> bool:
        """Whether an operand of a binary operator is clear without parentheses."""
        if self._is_simple_node(operand) or isinstance(operand, ir.UnaryOp | ir.Cast):
            return True
        if not isinstance(operand, ir.BinaryOp):
            return False
        inner = operand.op
        if op in _ARITHMETIC and inner in _ARITHMETIC:
            return bool(self.precedence_map[inner] > self.precedence_map[op] - (not right))
        if op in _RELATIONAL:
            return inner in _ARITHMETIC
        return op in ("&&", "||") and (inner in _ARITHMETIC or inner in _RELATIONAL or (inner == op and not right))

    def visit_TernaryOp(self, n: ir.TernaryOp) -> str:
        return " ".join((self._branch(n.cond), "?", self._branch(n.iftrue), ":", self._branch(n.iffalse)))

    def _branch(self, n: ir.Node) -> str:
        return str(self._parenthesize_if(n, lambda d: isinstance(d, ir.TernaryOp | ir.Assignment)))

    def visit_Cast(self, n: ir.Cast) -> str:
        to_type = self._generate_type(n.to_type, emit_declname=False).strip()
        return f"({to_type}){self._parenthesize_unless_simple(n.expr)}"

    def visit_If(self, n: ir.If) -> str:
        text = f"if ({self._visit_expr(n.cond, allow_comma=True)}){self._nested(n.iftrue)}"
        if n.iffalse is None:
            return text
        text = f"{text[:-1]} else" if isinstance(n.iftrue, ir.Compound) else f"{text}{self._make_indent()}else"
        return f"{text} {self.visit(n.iffalse)}" if isinstance(n.iffalse, ir.If) else f"{text}{self._nested(n.iffalse)}"

    def visit_For(self, n: ir.For) -> str:
        init, cond, step = (
            self._visit_expr(e, allow_comma=True) if e is not None else "" for e in (n.init, n.cond, n.next)
        )
        return f"for ({init}; {cond}; {step}){self._nested(n.stmt)}"

    def visit_While(self, n: ir.While) -> str:
        return f"while ({self._visit_expr(n.cond, allow_comma=True)}){self._nested(n.stmt)}"

    def visit_DoWhile(self, n: ir.DoWhile) -> str:
        body = self._nested(n.stmt)
        body = f"{body.rstrip()} " if isinstance(n.stmt, ir.Compound) else f"{body}{self._make_indent()}"
        return f"do{body}while ({self._visit_expr(n.cond, allow_comma=True)});"

    def visit_Switch(self, n: ir.Switch) -> str:
        return f"switch ({self._visit_expr(n.cond, allow_comma=True)}){self._nested(n.stmt)}"

    def visit_Case(self, n: ir.Case) -> str:
        return self._labelled(f"case {self._visit_expr(n.expr)}:", n.stmts)

    def visit_Default(self, n: ir.Default) -> str:
        return self._labelled("default:", n.stmts)

    def _labelled(self, label: str, statements: list[ir.Node] | None) -> str:
        return label + "".join(self._nested(statement).rstrip("\n") for statement in statements or ())

    def _nested(self, n: ir.Node) -> str:
        """What follows the head of an if or loop, up to a newline:
        a block on the same line, another statement on the next one."""
        if isinstance(n, ir.Compound):
            return f" {self.visit(n).lstrip()}"
        self.indent_level += 2
        try:
            text: str = self._generate_stmt(n)
            return f"\n{text.rstrip()}\n"
        finally:
            self.indent_level -= 2


def held_references(statement: Statement, call: Call) -> dict[ir.Node | None, str]:
    """The variables that stand for references of the statement's body, by the references."""
    return {statement.accesses[position].node: name for position, name in call.held}


class StatementGenerator(PlainGenerator):
    """Prints a statement's body for one call.

    A subscript that is linear in iterators and parameters becomes one sum over the new iterators, where its value is
    the mathematical one. Elsewhere an iterator becomes its value cast to the original iterator's type, and the rest of
    the expression is as it was.
    """

    def __init__(
        self, statement: Statement, call: Call, printer: ExprPrinter, kept: frozenset[ir.Node] = frozenset()
    ) -> None:
        super().__init__()
        self.printer = printer
        self.kept = kept
        self.values: Mapping[str, Expr] = dict(zip(statement.iterators, call.args, strict=True))
        self.parameters = {p.spelling: p for p in printer.parameters.values()}
        self.types: Mapping[str, CType] = dict(zip(statement.iterators, statement.iterator_types, strict=True))
        self.exact = exact_unsigned(statement, self.parameters, self.printer.long_type)
        self.held = held_references(statement, call)
        self.chosen: Mapping[ir.Node, str] = dict(call.chosen)

    def visit(self, node: Any) -> str:
        return self.chosen[node] if node in self.chosen else str(super().visit(node))

    def visit_For(self, n: ir.For) -> str:
        text = super().visit_For(n)
        return f"\n{self._make_indent()}".join((*KEPT, text)) if n in self.kept else text

    def visit_ID(self, n: ir.ID) -> str:
        return self.value(n.name) if n.name in self.values else self.held.get(n) or n.name

    def visit_BinaryOp(self, n: ir.BinaryOp) -> str:
        constant = folded(n, self.values, self.types)
        if constant is not None:
            return self.printer.constant(constant).text
        text: str = super().visit_BinaryOp(n)
        return text

    def visit_StructRef(self, n: ir.StructRef) -> str:
        return f"{self._parenthesize_unless_simple(n.name)}{n.type}{n.field}"  # a field is no variable

    def visit_ArrayRef(self, n: ir.ArrayRef) -> str:
        if n in self.held:
            return self.held[n]
        reference = reference_of(n, self.printer.flat)
        if reference is not None:
            array, subscripts = reference
            wide = [self.subscript(node, wide=True) for node in subscripts]
            return f"{array.variable}[{flat_subscript(array, wide, self.printer)}]"
        return f"{self._parenthesize_unless_simple(n.name)}[{self.subscript(n.subscript).text}]"

    def subscript(self, node: ir.Node, *, wide: bool = False) -> Text:
        """A subscript's text; wide: of the long type, unless it is one sum over iterators and parameters."""
        if node in self.chosen:
            return Text(self.chosen[node], Level.PRIMARY)
        value = linear_subscript(
            node, self.values, self.types, self.parameters, self.printer.long_type, exact=self.exact
        )
        if value is not None:
            return self.printer.expr(value)
        if wide and isinstance(node, ir.Constant) and node.value.isdecimal():
            return self.printer.constant(int(node.value))
        text = self._visit_expr(node, allow_comma=True)
        if wide:
            return Text(f"({self.printer.long_type})({text})", Level.UNARY)
        return Text(text, Level.PRIMARY)

    def value(self, iterator: str) -> str:
        """The iterator's value, of its original type."""
        value, ctype = self.values[iterator], self.types[iterator]
        if isinstance(value, Const) and ctype.spelling == "int" and abs(value.value) < 2**31:
            return self.printer.constant(value.value).at(Level.PRIMARY)
        if ctype.spelling == self.printer.long_type:
            return self.printer.long(value).at(Level.PRIMARY)
        return f"({ctype.spelling}){self.printer.expr(value).at(Level.PRIMARY)}"
