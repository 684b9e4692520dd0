"""Whether a statement that computes both sides of its choices, by calls, does what the original does.

What the functions give back is shown from their own text (`scopt.check.functions`).
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.c_expr import BLEND, PICKS, QUOTIENTS, helper_name
from scopt.astgen.passes.divided_ints import is_sure, quotient_number
from scopt.astgen.passes.eager import Sure
from scopt.astgen.passes.picking import changed_value, equality, has_value
from scopt.astgen.passes.value_kinds import Values
from scopt.astgen.passes.wrapped_ints import is_wrapped, may_overflow, may_wrap
from scopt.check.eager_conditions import is_truth_of, same_conditions
from scopt.ir.scop import Scop, Statement
from scopt.ir.walks import same_node, same_tree, walk


def is_picked(source: Scop, statement: Statement, base: Statement) -> bool:
    """Whether a statement assigns the cell that the original assigns each way, the value that this one gives it; what
    calls are given may be computed anyway."""
    if not any(one is base for one in source.statements):
        return False
    if (statement.iterators, statement.accesses) != (base.iterators, base.accesses):
        return False
    match statement.body:
        case ir.Assignment(op="=", lvalue=cell, rvalue=value):
            return _Original(source, base, cell).gives(base.body, value)
        case ir.Assignment(op=op, lvalue=cell, rvalue=value):
            return _Original(source, base, cell).changes(base.body, op, value)
    return False


class _Original(Struct, frozen=True, eq=False):
    """The original statement. cell: what the other one assigns."""

    scop: Scop
    statement: Statement
    cell: ir.Node

    def changes(self, mine: ir.Node, op: str, theirs: ir.Node) -> bool:
        """Whether the original changes the cell by this operator and value."""
        match mine:
            case ir.Compound(block_items=[ir.Node() as only]):
                return self.changes(only, op, theirs)
            case ir.Assignment(lvalue=target, rvalue=value):
                return mine.op == op and same_tree(target, self.cell) and self.gives(value, theirs)
        return False

    def gives(self, mine: ir.Node, theirs: ir.Node) -> bool:
        """Whether a part of the original, an assignment to the cell each way, or a value, gives this value."""
        match mine:
            case ir.Compound(block_items=[ir.Node() as only]):
                return self.gives(only, theirs)
            case ir.Assignment(op="=", lvalue=target, rvalue=value) if not same_tree(target, self.cell):
                # a value that is put into another cell on its way
                same = isinstance(theirs, ir.Assignment) and theirs.op == "=" and same_tree(target, theirs.lvalue)
                return same and self.gives(value, theirs.rvalue)
            case ir.Assignment(op="/=" | "%=", lvalue=target) if same_tree(target, self.cell):
                return self.divides(mine, theirs)
            case ir.Assignment(op="+=" | "-=" | "*=" as op, lvalue=target, rvalue=value) if self.may_keep():
                match theirs:
                    case ir.BinaryOp(left=ir.ID() as left, right=right) if theirs.op == op[0]:
                        same = same_tree(target, self.cell) and same_tree(left, self.cell)
                        return same and self.gives(value, right)
                return False
            case ir.Assignment(op=op, lvalue=target, rvalue=value):
                return op == "=" and same_tree(target, self.cell) and self.gives(value, theirs)
            case ir.If(cond=condition, iftrue=ir.Node() as one, iffalse=ir.Node() as other):
                return self.chooses(condition, (one, other), theirs)
            case ir.If(cond=condition, iftrue=ir.Node() as one, iffalse=None) if self.may_keep():
                return self.chooses(condition, (one, self.cell), theirs)
            case ir.If():
                return False
            case ir.TernaryOp(cond=condition, iftrue=one, iffalse=other):
                return self.chooses(condition, (one, other), theirs)
            case _ if mine is self.cell:
                return theirs is self.cell
        if same_conditions(Sure(self.scop, self.statement), mine, theirs) or self.divides(mine, theirs):
            return True
        return self.wraps(mine, theirs) or self.computes(mine, theirs)

    def wraps(self, mine: ir.Node, theirs: ir.Node) -> bool:
        """Whether a function has the value of a sum, a difference or a product of ints, where this is an int."""
        match mine, theirs:
            case ir.BinaryOp(op=op, left=left, right=right), ir.FuncCall(args=ir.ExprList(exprs=[one, other])):
                same = may_wrap(self.scop, self.statement, mine) and is_wrapped(self.scop, theirs, (op,))
                return same and self.gives(left, one) and self.gives(right, other)
        return False

    def divides(self, mine: ir.Node, theirs: ir.Node) -> bool:
        """Whether a function has the value of a quotient, or a remainder, of ints."""
        match mine, theirs:
            case ir.BinaryOp() | ir.Assignment(), ir.FuncCall(
                name=ir.ID(name=name), args=ir.ExprList(exprs=[one, other])
            ):
                number = quotient_number(self.scop, self.statement, mine)
                numbers = {"double": ("double", "any"), "float": ("float",)}[number] if number else ()
                same = name in (helper_name(QUOTIENTS[mine.op[0], one], self.scop.reserved) for one in numbers)
                if isinstance(mine, ir.Assignment):
                    return same and one is mine.lvalue and self.gives(mine.rvalue, other)
                return same and self.gives(mine.left, one) and self.gives(mine.right, other)
        return False

    def computes(self, mine: ir.Node, theirs: ir.Node) -> bool:
        """Whether a value is computed likewise from parts that have the same values."""
        if not isinstance(mine, ir.BinaryOp | ir.UnaryOp | ir.Cast | ir.FuncCall | ir.ExprList):
            return False
        parts, others = mine.children(), theirs.children()
        if not same_node(mine, theirs) or [role for role, _ in parts] != [role for role, _ in others]:
            return False
        return all(self.gives(part, other) for (_, part), (_, other) in zip(parts, others, strict=True))

    def may_keep(self) -> bool:
        """Whether the cell is a variable that has a value, which it may be given again."""
        return has_value(self.scop, self.statement, self.cell)

    def values(self) -> Values:
        return Values(self.scop, self.statement, self.cell)

    def chooses(self, condition: ir.Node, sides: tuple[ir.Node, ir.Node], theirs: ir.Node) -> bool:
        """Whether a value is chosen in the same way. Values of branches get the cell's type, so that all of them have
        one type before."""
        sure, values = Sure(self.scop, self.statement), self.values()
        kind = self.kind(*sides)
        if kind is None:
            return False
        match theirs:
            case ir.TernaryOp(cond=other, iftrue=one, iffalse=two):
                same = same_conditions(sure, condition, other)
            case ir.FuncCall(name=ir.ID(name=name), args=ir.ExprList(exprs=[other, one, two])):
                helpers = (PICKS[kind], BLEND) if kind == "int" else (PICKS[kind],)
                called = name in (helper_name(one, self.scop.reserved) for one in helpers)
                parts = list(walk(theirs))
                wraps = not any(may_overflow(self.scop, self.statement, part) for part in parts)
                values = replace(values, divides=all(map(self.is_sure, parts)), wraps=wraps)
                safe = values.may_be_computed(condition) and self.may_be_computed(values, sides[0])
                safe = safe and (
                    self.may_be_computed(values, sides[1]) or self.is_apart(values, sides[1], equality(condition))
                )
                same = called and safe and is_truth_of(sure, condition, other)
            case _:
                return False
        return same and self.gives(sides[0], one) and self.gives(sides[1], two)

    def parts(self, mine: ir.Node) -> tuple[list[ir.Node], list[ir.Node]] | None:
        """The conditions and the values of a part of the original; None if it is anything else."""
        match mine:
            case ir.Compound(block_items=[ir.Node() as only]):
                return self.parts(only)
            case ir.Assignment():
                return [], [changed_value(mine) or mine.rvalue]
            case ir.If(cond=condition, iftrue=ir.Node() as one, iffalse=ir.Node() as other):
                first, second = self.parts(one), self.parts(other)
                if first is None or second is None:
                    return None
                return [condition, *first[0], *second[0]], [*first[1], *second[1]]
            case ir.If(cond=condition, iftrue=ir.Node() as one, iffalse=None) if self.may_keep():
                inside = self.parts(one)
                return None if inside is None else ([condition, *inside[0]], [*inside[1], self.cell])
            case ir.If() | ir.Compound():
                return None
        return [], [mine]

    def kind(self, *some: ir.Node) -> str | None:
        """The type of all values of parts; None if there are several."""
        found = [self.parts(mine) for mine in some]
        return None if None in found else self.values().common(*(one for parts in found if parts for one in parts[1]))

    def is_sure(self, theirs: ir.Node) -> bool:
        return is_sure(self.scop, self.statement, theirs)

    def is_apart(self, values: Values, mine: ir.Node, asked: tuple[ir.Node, str] | None) -> bool:
        """Whether a part that is computed though something is that constant computes nothing but what may be, or what
        stands behind conditions that ask for other constants."""
        if self.may_be_computed(values, mine):
            return True
        match mine:
            case ir.Compound(block_items=[ir.Node() as only]):
                return self.is_apart(values, only, asked)
            case ir.Assignment(op="=", rvalue=value):
                return self.is_apart(values, value, asked)
            case ir.If(cond=condition, iffalse=ir.Node() as other) | ir.TernaryOp(cond=condition, iffalse=other):
                own = equality(condition)
                if asked is None or own is None or not values.may_be_computed(condition):
                    return False
                if not same_tree(asked[0], own[0]) or not _differ(asked[1], own[1]):
                    return False
                return self.is_apart(values, other, asked)
        return False

    def may_be_computed(self, values: Values, mine: ir.Node) -> bool:
        found = self.parts(mine)
        if found is None:
            return False
        return all(values.may_be_computed(one) for part in found for one in part)


def _differ(one: str, other: str) -> bool:
    """Whether two constants are different numbers."""
    return _is_plain(one) and _is_plain(other) and one != other


def _is_plain(constant: str) -> bool:
    """Whether it has one spelling: decimal, without leading zeros."""
    return constant.isdecimal() and constant == str(int(constant))
