"""Nodes as C text."""

from __future__ import annotations

from collections.abc import Sequence

from scopt import ir
from scopt.ir.printing_expressions import ExpressionPrinter, words
from scopt.ir.shared_types import groups

_DECLARATORS = (ir.PtrDecl, ir.ArrayDecl, ir.FuncDecl, ir.TypeDecl)
# What needs a semicolon where it is a statement.
_WITHOUT_SEMICOLON = (
    ir.Decl,
    ir.Assignment,
    ir.Cast,
    ir.UnaryOp,
    ir.BinaryOp,
    ir.TernaryOp,
    ir.FuncCall,
    ir.ArrayRef,
    ir.StructRef,
    ir.Constant,
    ir.ID,
    ir.Typedef,
    ir.ExprList,
    ir.CompoundLiteral,
    ir.GenericSelection,
    ir.StaticAssert,
)


class CPrinter(ExpressionPrinter):
    """C text of nodes. Expressions and declarations have no semicolon,
    statements that are made of others end with a newline."""

    # --- statements ---------------------------------------------------------------------------------------------------

    def visit_Compound(self, n: ir.Compound) -> str:
        indent = self._make_indent()
        self.indent_level += 2
        body = self._generate_body(n.block_items or ())
        self.indent_level -= 2
        return f"{indent}{{\n{body}{indent}}}\n"

    def visit_EmptyStatement(self, n: ir.EmptyStatement) -> str:
        return ";"

    def visit_If(self, n: ir.If) -> str:
        text = f"if ({self._condition(n.cond)})\n{self._generate_stmt(n.iftrue, add_indent=True)}"
        if n.iffalse is None:
            return text
        return f"{text}{self._make_indent()}else\n{self._generate_stmt(n.iffalse, add_indent=True)}"

    def visit_For(self, n: ir.For) -> str:
        condition, step = (f" {self._condition(part)}" if part is not None else "" for part in (n.cond, n.next))
        return f"for ({self._condition(n.init)};{condition};{step})\n{self._generate_stmt(n.stmt, add_indent=True)}"

    def visit_While(self, n: ir.While) -> str:
        return f"while ({self._condition(n.cond)})\n{self._generate_stmt(n.stmt, add_indent=True)}"

    def visit_DoWhile(self, n: ir.DoWhile) -> str:
        return (
            f"do\n{self._generate_stmt(n.stmt, add_indent=True)}{self._make_indent()}while ({self._condition(n.cond)});"
        )

    def _condition(self, n: ir.Node | None) -> str:
        return "" if n is None else self._visit_expr(n, allow_comma=True)

    def visit_Switch(self, n: ir.Switch) -> str:
        return f"switch ({self._condition(n.cond)})\n{self._generate_stmt(n.stmt, add_indent=True)}"

    def visit_Case(self, n: ir.Case) -> str:
        label = f"case {self._visit_expr(n.expr)}:\n"
        return label + self._generate_body(n.stmts or (), add_indent=True)

    def visit_Default(self, n: ir.Default) -> str:
        return f"default:\n{self._generate_body(n.stmts or (), add_indent=True)}"

    def visit_Label(self, n: ir.Label) -> str:
        return f"{n.name}:\n{self._generate_stmt(n.stmt)}"

    def visit_Goto(self, n: ir.Goto) -> str:
        return f"goto {n.name};"

    def visit_Break(self, n: ir.Break) -> str:
        return "break;"

    def visit_Continue(self, n: ir.Continue) -> str:
        return "continue;"

    def visit_Return(self, n: ir.Return) -> str:
        return "return;" if n.expr is None else f"return {self._visit_expr(n.expr, allow_comma=True)};"

    def visit_Pragma(self, n: ir.Pragma) -> str:
        if isinstance(n.string, ir.Constant):
            return f"_Pragma({self.visit(n.string)})"
        return f"#pragma {n.string}" if n.string else "#pragma"

    def visit_StaticAssert(self, n: ir.StaticAssert) -> str:
        return (
            f"_Static_assert({self._visit_expr(n.cond)}{f', {self.visit(n.message)}' if n.message is not None else ''})"
        )

    def _generate_stmt(self, n: ir.Node, add_indent: bool = False) -> str:
        """A statement or declaration on lines of its own; add_indent: inside of another one."""
        indent = self._make_indent() + "  " * add_indent
        if isinstance(n, _WITHOUT_SEMICOLON):
            return f"{indent}{self.visit(n)};\n"
        if isinstance(n, ir.Compound):
            return self.visit(n)
        text = f"{indent}{self.visit(n)}"
        return text if isinstance(n, ir.If) else f"{text}\n"

    def _generate_body(self, items: Sequence[ir.Node], add_indent: bool = False) -> str:
        """Statements or members, one after the other."""
        indent = self._make_indent() + "  " * add_indent
        parts = []
        for group in groups(items):
            if len(group) > 1:
                parts.append(f"{indent}{self._group(group)};\n")
            else:
                parts.append(self._generate_stmt(group[0], add_indent=add_indent))
        return "".join(parts)

    # --- declarations -------------------------------------------------------------------------------------------------

    def visit_FileAST(self, n: ir.FileAST) -> str:
        parts = []
        for group in groups(n.ext):
            end = "" if isinstance(group[0], ir.FuncDef) else "\n" if isinstance(group[0], ir.Pragma) else ";\n"
            parts.append((self._group(group) if len(group) > 1 else self.visit(group[0])) + end)
        return "".join(parts)

    def visit_FuncDef(self, n: ir.FuncDef) -> str:
        head = self.visit(n.decl)
        self.indent_level = 0
        body = self.visit(n.body)
        return f"{head}\n{''.join(self._generate_stmt(p) for p in n.param_decls or ())}{body}\n"

    def visit_Decl(self, n: ir.Decl, no_type: bool = False) -> str:
        text = self._generate_type(n.type, emit_base_type=False) if no_type else self._generate_decl(n)
        if n.bitsize is not None:
            text += f" : {self._visit_expr(n.bitsize)}"
        return text if n.init is None else f"{text} = {self._visit_expr(n.init)}"

    def visit_DeclList(self, n: ir.DeclList) -> str:
        parts = [self.visit(n.decls[0])]
        for decl in n.decls[1:]:
            parts.append(
                f"\n{self._make_indent()}{self.visit(decl)}"
                if isinstance(decl, ir.Pragma)
                else f", {self.visit_Decl(decl, no_type=True)}"
            )
        if isinstance(n.decls[-1], ir.Pragma):
            parts.append(f"\n{self._make_indent()}")
        return "".join(parts)

    def visit_Typedef(self, n: ir.Typedef) -> str:
        return f"{words(n.storage)}{self._generate_type(n.type)}"

    def _group(self, group: Sequence[ir.Node]) -> str:
        """Declarations that define a type together, as one."""
        others = "".join(f", {self._generate_type(decl.type, emit_base_type=False)}" for decl in group[1:])
        return (
            self.visit(group[0]) + others
            if isinstance(group[0], ir.Typedef)
            else self.visit_DeclList(ir.DeclList(list(group)))
        )

    def _generate_decl(self, n: ir.Node) -> str:
        """A declaration without its value."""
        align = "".join(f"{self.visit(one)} " for one in n.align or ())
        text = f"{words(n.funcspec)}{words(n.storage)}{align}"
        if isinstance(n.type, _DECLARATORS):
            return text + self._generate_type(n.type)
        return f"{text}{words(n.quals)}{self._specifier(n.type)}"  # a member or type alone

    def _specifier(self, n: ir.Node) -> str:
        if isinstance(n, ir.Typename) and "_Atomic" in n.quals:
            return f"_Atomic({self.visit(n)})"
        return self._generate_type(n)

    def visit_ParamList(self, n: ir.ParamList) -> str:
        return ", ".join(self.visit(param) for param in n.params)

    def visit_EllipsisParam(self, n: ir.EllipsisParam) -> str:
        return "..."

    # --- types --------------------------------------------------------------------------------------------------------

    def visit_Cast(self, n: ir.Cast) -> str:
        return f"({self._generate_type(n.to_type, emit_declname=False)}) {self._parenthesize_unless_simple(n.expr)}"

    def visit_IdentifierType(self, n: ir.IdentifierType) -> str:
        return " ".join(n.names)

    def visit_Struct(self, n: ir.Struct) -> str:
        return self._tagged("struct", n, n.decls)

    def visit_Union(self, n: ir.Union) -> str:
        return self._tagged("union", n, n.decls)

    def visit_Enum(self, n: ir.Enum) -> str:
        return self._tagged("enum", n, None if n.values is None else n.values.enumerators)

    def _tagged(self, word: str, n: ir.Node, members: Sequence[ir.Node] | None) -> str:
        """A structure, union or enumeration; members: None if only its tag is named."""
        text = f"{word} {n.name or ''}"
        if members is None:
            return text
        indent = self._make_indent()
        self.indent_level += 2
        body = self._enumerators(members) if word == "enum" else self._generate_body(members)
        self.indent_level -= 2
        return f"{text}\n{indent}{{\n{body}{indent}}}"

    def _enumerators(self, members: Sequence[ir.Node]) -> str:
        last = next((k for k in reversed(range(len(members))) if isinstance(members[k], ir.Enumerator)), None)
        texts = [
            self._generate_stmt(member) if isinstance(member, ir.Pragma) else self.visit(member) for member in members
        ]
        return "".join(f"{text[:-2]}\n" if k == last else text for k, text in enumerate(texts))

    def visit_Enumerator(self, n: ir.Enumerator) -> str:
        return f"{self._make_indent()}{n.name}{'' if n.value is None else f' = {self._visit_expr(n.value)}'},\n"

    def visit_Alignas(self, n: ir.Alignas) -> str:
        return f"_Alignas({self._visit_expr(n.alignment)})"

    def visit_Typename(self, n: ir.Typename) -> str:
        return self._generate_type(n.type)

    def visit_FuncDecl(self, n: ir.FuncDecl) -> str:
        return self._generate_type(n)

    def visit_ArrayDecl(self, n: ir.ArrayDecl) -> str:
        return self._generate_type(n, emit_declname=False)

    def visit_TypeDecl(self, n: ir.TypeDecl) -> str:
        return self._generate_type(n, emit_declname=False)

    def visit_PtrDecl(self, n: ir.PtrDecl) -> str:
        return self._generate_type(n, emit_declname=False)

    def _generate_type(
        self, n: ir.Node, modifiers: Sequence[ir.Node] = (), emit_declname: bool = True, emit_base_type: bool = True
    ) -> str:
        """A declared type with its name; modifiers: the declarators around it, outermost first. emit_base_type: with
        what several declarations share."""
        match n:
            case ir.TypeDecl():
                base = words(n.quals) + self.visit(n.type) if emit_base_type else ""
                declarator = self._declarator(n, modifiers, emit_declname)
                if not emit_base_type:
                    return declarator
                base = base.rstrip() if declarator else base
                return f"{base} {declarator}" if base and declarator else base + declarator
            case ir.ArrayDecl() | ir.PtrDecl() | ir.FuncDecl():
                return self._generate_type(n.type, (*modifiers, n), emit_declname, emit_base_type)
            case ir.Decl():
                return self._generate_decl(n.type)
            case ir.Typename():
                return self._generate_type(n.type, (), emit_declname, emit_base_type)
            case ir.IdentifierType():
                return f"{' '.join(n.names)} "
        return self.visit(n)

    def _declarator(self, n: ir.TypeDecl, modifiers: Sequence[ir.Node], emit_declname: bool) -> str:
        """The name with what makes it an array, a pointer, a function."""
        text = n.declname if n.declname and emit_declname else ""
        before: ir.Node | None = None
        for modifier in modifiers:
            if isinstance(modifier, ir.PtrDecl):
                quals = f" {' '.join(modifier.quals)}" if modifier.quals else ""
                text = f"*{quals}{' ' if text and quals else ''}{text}"
            else:
                text = f"({text})" if isinstance(before, ir.PtrDecl) else text
                text += (
                    f"[{words(modifier.dim_quals)}{self._dimension(modifier)}]"
                    if isinstance(modifier, ir.ArrayDecl)
                    else self._parameters(modifier)
                )
            before = modifier
        return text

    def _dimension(self, n: ir.Node) -> str:
        return "" if n.dim is None else self._visit_expr(n.dim)

    def _parameters(self, n: ir.Node) -> str:
        return f"({'' if n.args is None else self.visit(n.args)})"
