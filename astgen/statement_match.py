"""Whether a printed statement is a given instance of an original statement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pycparser import c_ast

from scopt.astgen.c_read import Reader, Unreadable, canonical, type_spelling
from scopt.astgen.expr import add, linear, names, scale, subtract
from scopt.model import Call, Const, CType, Expr, Name, Scop


@dataclass(frozen=True, slots=True)
class StatementMatch:
    """Compares trees: the original with its iterators' values and types, the printed one read by `reader`."""

    name: str
    body: c_ast.Node
    values: Mapping[str, Expr]
    types: Mapping[str, CType]
    reader: Reader

    @staticmethod
    def of(scop: Scop, call: Call, reader: Reader) -> StatementMatch:
        statement = scop.statement(call.statement)
        values = dict(zip(statement.iterators, call.args, strict=True))
        types = dict(zip(statement.iterators, statement.iterator_types, strict=True))
        return StatementMatch(statement.name, statement.body, values, types, reader)

    def check(self, printed: c_ast.Node) -> None:
        """Raise Unreadable unless `printed` is the instance."""
        self.match(self.body, printed)

    def match(self, original: c_ast.Node, printed: c_ast.Node) -> None:
        match original:
            case c_ast.ID(name=name) if name in self.values:
                self.value(name, printed)
                return
            case c_ast.ID(name=name) if name in self.reader.iterators:
                raise Unreadable(f"an iterator hides '{name}', which {self.name} uses")
            case c_ast.Decl(name=name) if name in self.reader.iterators:
                raise Unreadable(f"{self.name} declares '{name}', which is an iterator")
            case c_ast.ArrayRef() if isinstance(printed, c_ast.ArrayRef) and self.same_subscript(original.subscript, printed.subscript):
                self.match(original.name, printed.name)
                return
            case c_ast.StructRef() if isinstance(printed, c_ast.StructRef):
                self.match(original.name, printed.name)
                if (original.type, original.field.name) != (printed.type, printed.field.name):
                    raise Unreadable(f"{self.name} has another member")
                return
        if not same_node(original, printed):
            raise Unreadable(f"{self.name} is not as it was: {type(printed).__name__} for {type(original).__name__}")
        mine, theirs = original.children(), printed.children()
        if [role for role, _ in mine] != [role for role, _ in theirs]:
            raise Unreadable(f"{self.name} is not as it was: another number of operands in {type(original).__name__}")
        for (_, a), (_, b) in zip(mine, theirs, strict=True):
            self.match(a, b)

    def value(self, iterator: str, printed: c_ast.Node) -> None:
        """An iterator's value: a cast to its type, or an expression that has its type already."""
        ctype = self.types[iterator]
        match printed:
            case c_ast.Cast(to_type=to_type, expr=inner) if type_spelling(to_type) == ctype.spelling:
                found = self.reader.usable(inner).value
            case _:
                read = self.reader.usable(printed)
                literal = isinstance(read.value, Const) and ctype.spelling == "int" and abs(read.value.value) < 2**31
                if not literal and ctype.spelling != self.reader.long_type:
                    raise Unreadable(f"the value of '{iterator}' in {self.name} isn't of type {ctype.spelling}")
                found = read.value
        if canonical(found) != canonical(self.values[iterator]):
            raise Unreadable(f"the value of '{iterator}' in {self.name} is {found}, not {self.values[iterator]}")

    def same_subscript(self, original: c_ast.Node, printed: c_ast.Node) -> bool:
        """Whether both are the same linear expression, the original one without unsigned arithmetic."""
        meant = self.values.get(original.name) if isinstance(original, c_ast.ID) else self.linear(original)
        if meant is None:
            return False
        try:
            return canonical(self.reader.usable(printed).value) == canonical(meant)
        except Unreadable:
            return False

    def linear(self, n: c_ast.Node) -> Expr | None:
        """The original subscript's mathematical value; None if it isn't linear or not signed."""
        match n:
            case c_ast.ID(name=name) if name in self.values:
                return self.values[name] if self.types[name].integer and self.types[name].signed else None
            case c_ast.ID(name=name) if name in self.reader.parameters:
                parameter = self.reader.parameters[name]
                return Name(parameter.name) if parameter.type.integer and parameter.type.signed else None
            case c_ast.Constant(type="int", value=value) if value.isdecimal() and (value == "0" or not value.startswith("0")):
                return Const(int(value))
            case c_ast.UnaryOp(op="-" | "+" as op, expr=operand):
                inner = self.linear(operand)
                return None if inner is None else scale(inner, -1 if op == "-" else 1)
            case c_ast.BinaryOp(op="+" | "-" | "*" as op, left=left, right=right):
                a, b = self.linear(left), self.linear(right)
                if a is None or b is None:
                    return None
                if op != "*":
                    return add(a, b) if op == "+" else subtract(a, b)
                if names(a) and names(b):
                    return None
                return scale(b, linear(a)[1]) if not names(a) else scale(a, linear(b)[1])
        return None


def same_node(a: c_ast.Node, b: c_ast.Node) -> bool:
    """Whether two nodes are alike, their children left aside."""
    if type(a) is not type(b):
        return False
    return all((getattr(a, name) or None) == (getattr(b, name) or None) for name in a.attr_names)


def same_tree(a: c_ast.Node, b: c_ast.Node) -> bool:
    """Whether two trees are alike."""
    mine, theirs = a.children(), b.children()
    same = same_node(a, b) and [role for role, _ in mine] == [role for role, _ in theirs]
    return same and all(same_tree(x, y) for (_, x), (_, y) in zip(mine, theirs, strict=True))
