"""Small things that rewriting a syntax tree takes: making expressions,
finding out what a part mentions and writes, substitution."""

from __future__ import annotations

from typing import Any

from scopt import ir
from scopt.ir.effects import STEPS
from scopt.ir.walks import replaced, walk


def number(value: int) -> ir.Constant:
    return ir.Constant("int", str(value))


def cast(spelling: str, node: Any) -> ir.Cast:
    """An expression converted to a type."""
    named = ir.TypeDecl(None, [], None, ir.IdentifierType(spelling.split()))
    return ir.Cast(ir.Typename(None, [], None, named), node, node.coord)


def plus(expression: Any, value: int) -> Any:
    """The expression with a constant added."""
    if value == 0:
        return expression
    return ir.BinaryOp("+" if value > 0 else "-", expression, number(abs(value)), expression.coord)


def value_of(node: Any) -> int | None:
    """The value of a plain decimal constant, None for anything else."""
    if isinstance(node, ir.UnaryOp) and node.op == "-" and (inner := value_of(node.expr)) is not None:
        return -inner
    plain = (
        isinstance(node, ir.Constant)
        and node.type == "int"
        and node.value.isdecimal()
        and (node.value == "0" or node.value[0] != "0")
    )
    return int(node.value) if plain else None


def mentions(node: Any, name: str) -> int:
    """How often a name is used in a node."""
    return sum(isinstance(found, ir.ID) and found.name == name for found in walk(node))


def is_plain(node: Any) -> bool:
    """Whether an expression is made of variables, constants and arithmetic alone: it has no effect, and only writes to
    its variables change it."""
    match node:
        case ir.ID() | ir.Constant():
            return True
        case ir.UnaryOp(op="+" | "-"):
            return is_plain(node.expr)
        case ir.BinaryOp(op="+" | "-" | "*"):
            return is_plain(node.left) and is_plain(node.right)
    return False


def step_of(node: Any) -> tuple[str, int] | None:
    """A statement or a part of an expression that adds a constant to a variable: the variable and the constant."""
    match node:
        case ir.UnaryOp(op=op, expr=ir.ID(name=name)) if op in STEPS:
            return name, 1 if "++" in op else -1
        case ir.Assignment(op="+=" | "-=" as op, lvalue=ir.ID(name=name), rvalue=value) if amount := value_of(value):
            return name, amount if op == "+=" else -amount
        case ir.Assignment(
            op="=", lvalue=ir.ID(name=name), rvalue=ir.BinaryOp(op="+" | "-" as op, left=left, right=right)
        ):
            amount = value_of(right)
            if isinstance(left, ir.ID) and left.name == name and amount:
                return name, amount if op == "+" else -amount
    return None


def amount_of(node: Any, name: str) -> Any | None:
    """What a statement, or a part of an expression, adds to a variable: a sum of variables and constants; None if it
    isn't of that form."""
    if (constant := step_of(node)) is not None:
        return signed_number(constant[1]) if constant[0] == name else None
    match node:
        case ir.Assignment(op="+=" | "-=" as op, lvalue=ir.ID(name=target), rvalue=amount) if (
            target == name and is_plain(amount)
        ):
            found = amount
        case ir.Assignment(
            op="=",
            lvalue=ir.ID(name=target),
            rvalue=ir.BinaryOp(op="+" | "-" as op, left=ir.ID(name=own), right=amount),
        ):
            if target != name or own != name or not is_plain(amount):
                return None
            found = amount
        case _:
            return None
    if mentions(found, name):
        return None
    return found if op.startswith("+") else ir.UnaryOp("-", found, found.coord)


def stepped_name(node: Any) -> str | None:
    """The variable that a statement, or a part of an expression, steps: by a constant or by any sum of variables."""
    target = node.expr if isinstance(node, ir.UnaryOp) else node.lvalue if isinstance(node, ir.Assignment) else None
    return str(target.name) if isinstance(target, ir.ID) and amount_of(node, target.name) is not None else None


def slope_of(node: Any, name: str) -> int | None:
    """By how much a sum of variables and constants grows with a variable; None where that isn't a constant."""
    match node:
        case ir.ID(name=own) if own == name:
            return 1
        case ir.UnaryOp(op="+" | "-" as op):
            inner = slope_of(node.expr, name)
            return inner if inner is None or op == "+" else -inner
        case ir.Cast():
            return slope_of(node.expr, name)
        case ir.BinaryOp(op="+" | "-" as op):
            left, right = slope_of(node.left, name), slope_of(node.right, name)
            return None if left is None or right is None else left + (right if op == "+" else -right)
        case ir.BinaryOp(op="*"):
            for factor, other in ((node.left, node.right), (node.right, node.left)):
                constant, inner = value_of(factor), slope_of(other, name)
                if constant is not None and inner is not None:
                    return constant * inner
    return None if mentions(node, name) else 0


def replaced_value(node: Any, name: str, value: Any) -> int | None:
    """The value of a sum with a constant in the place of a variable; None where other variables are left."""
    match node:
        case ir.ID(name=own) if own == name:
            return value_of(value)
        case ir.Cast():
            return replaced_value(node.expr, name, value)
        case ir.BinaryOp(op="+" | "-" | "*" as op):
            left, right = replaced_value(node.left, name, value), replaced_value(node.right, name, value)
            if left is None or right is None:
                return None
            return left * right if op == "*" else left + (right if op == "+" else -right)
    return value_of(node)


def signed_number(value: int) -> Any:
    return number(value) if value >= 0 else ir.UnaryOp("-", number(-value))


def names_of(node: Any) -> frozenset[str]:
    """The variables of an expression."""
    return frozenset(found.name for found in walk(node) if isinstance(found, ir.ID))


def substituted(root: Any, name: str, value: Any) -> Any:
    """The tree with an expression in the place of each use of a variable."""
    return replaced(root, lambda node: value if isinstance(node, ir.ID) and node.name == name else node)


def items_of(statement: Any) -> list[Any]:
    """The statements of a body."""
    return list(statement.block_items or ()) if isinstance(statement, ir.Compound) else [statement]
