"""Loops that count their iterations, as those are told apart whose iterations take turns: by remainders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct

from scopt import ir
from scopt.frontend.normalize.opaque import leaving, out_of_statements
from scopt.frontend.normalize.tree_rewriting import names_of, number, step_of, value_of
from scopt.frontend.syntax.scoping import loop_iterator
from scopt.ir.effects import effects
from scopt.ir.printing import CPrinter
from scopt.ir.walks import copied

# Iterations that take turns, at most.
MOST_TURNS = 4


class Turns(Struct, frozen=True, eq=False):
    """A loop over an iterator that steps by 1 or -1: from start, while it compares (op) with end."""

    name: str
    start: Any
    op: str
    end: Any
    step: int

    def since_start(self) -> Any:
        """How many iterations came before."""
        own = ir.ID(self.name)
        if self.step > 0 and value_of(self.start) == 0:
            return own
        ends = (own, copied(self.start)) if self.step > 0 else (copied(self.start), own)
        return ir.BinaryOp("-", *ends)

    def remainder(self, node: Any) -> tuple[int, int] | None:
        """What a node adds to the iterator, and what it divides by, if it is a remainder of what isn't negative."""
        first = value_of(self.start)
        if not isinstance(node, ir.BinaryOp) or node.op not in ("%", "&") or first is None or self.step != 1:
            return None
        divisor, added = value_of(node.right), 0
        match node.left:
            case ir.ID(name=own):
                pass
            case ir.BinaryOp(op="+" | "-" as op, left=ir.ID(name=own), right=right) if value_of(right) is not None:
                added = (value_of(right) or 0) * (1 if op == "+" else -1)
            case _:
                return None
        if own != self.name or divisor is None or first + added < 0:
            return None
        if node.op == "&":
            divisor = divisor + 1 if divisor & (divisor + 1) == 0 else 0
        return (added, divisor) if 2 <= divisor <= MOST_TURNS else None

    def remainders(self, turn: int) -> Callable[[Any], Any | None]:
        """The values of all such remainders in an iteration, and those that come a period later each."""

        def value(node: Any) -> Any | None:
            found = self.remainder(node)
            return number((turn + (value_of(self.start) or 0) + found[0]) % found[1]) if found is not None else None

        return value

    def number(self, long_type: str) -> str:
        """How many iterations there are, where that is positive."""
        low, high = (self.start, self.end) if self.step > 0 else (self.end, self.start)
        wide = [f"({long_type}){_operand(one)}" for one in (high, low)]
        text = wide[0] if value_of(low) == 0 else f"{wide[0]} - {wide[1]}"
        text = f"{text} + 1" if "=" in self.op else text
        return text if text is wide[0] else f"({text})"


def turns_of(loop: ir.For) -> Turns | None:
    """How a loop counts; None where it counts in another way, or its body may be left."""
    name = loop_iterator(loop)
    match loop.cond:
        case ir.BinaryOp(op="<" | "<=" | ">" | ">=" as op, left=ir.ID(name=own), right=end) if own == name:
            pass
        case _:
            return None
    step = step_of(loop.next)
    if name is None or step is None or step[0] != name or abs(step[1]) != 1:
        return None
    start = loop.init.decls[0].init if isinstance(loop.init, ir.DeclList) else loop.init.rvalue
    if (step[1] > 0) != op.startswith("<") or start is None or not (_is_value(start) and _is_value(end)):
        return None
    inside = effects(loop.stmt, loop.next).changed
    if name in effects(loop.stmt).changed or (names_of(start) | names_of(end)) & (inside | {name}):
        return None
    if next(leaving(loop.stmt), None) is not None or out_of_statements(loop.stmt) is not None:
        return None
    return Turns(name, start, op, end, step[1])


def _operand(node: Any) -> str:
    """An expression's text as an operand."""
    return text_of(node) if isinstance(node, ir.ID | ir.Constant) else f"({text_of(node)})"


def _is_value(node: Any) -> bool:
    """Whether an expression only computes from variables, members and constants."""
    match node:
        case ir.ID() | ir.Constant():
            return True
        case ir.StructRef():
            return _is_value(node.name)
        case ir.UnaryOp(op="+" | "-") | ir.Cast(to_type=ir.Typename(type=ir.TypeDecl())):
            return _is_value(node.expr)
        case ir.BinaryOp(op="+" | "-" | "*" | "/" | "%"):
            return _is_value(node.left) and _is_value(node.right)
    return False


def text_of(node: Any) -> str:
    return str(CPrinter(reduce_parentheses=True).visit(node))
