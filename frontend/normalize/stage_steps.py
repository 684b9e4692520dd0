"""Loops that step by a variable as loops over blocks."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from scopt import ir
from scopt.frontend.normalize.stage_values import LONG_BITS, CountedLoop, StageValues, loop_over, operand
from scopt.frontend.normalize.tree_rewriting import mentions, names_of, number, step_of, substituted, value_of
from scopt.frontend.syntax.scoping import loop_iterator
from scopt.ir.constants import constant_value
from scopt.ir.walks import changed, mapped, replaced, walk

_LARGEST = {32: "4294967295", 64: "9223372036854775807"}


class VariableSteps(Struct, frozen=True, eq=False):
    """Makes them."""

    known: StageValues

    def blocks(self, node: ir.For, loop: CountedLoop, around: tuple[ir.For, ...]) -> ir.For | None:
        """What stands in a loop's place. around: the loops around it."""
        known = self.known
        step = step_added(node.next, loop.name)
        if step is None or constant_value(step, known.fixed.symbols) is not None or not known.joins(loop.type, step):
            return None
        tests = self.tests(loop, step)
        if tests is None:
            return None
        read = [step, loop.end]
        outer = next((one for one in around if loop_iterator(one) == _name(loop.start)), None)
        counted = self.after_iterator(loop, step, outer) if outer is not None else self.from_start(loop, step)
        if counted is None:
            return None
        entry, whole, more, others = counted
        tests, read = [*tests, *more], [*read, *others]
        shifted = self.shifted(node.stmt, loop, step, tests, read)
        reached = known.reached(around)
        if shifted is None or reached is None:
            return None
        entry = " && ".join(dict.fromkeys([*reached, entry]))
        number_of = known.number(loop.name, f"{entry} ? {' && '.join(tests)} ? {whole} : -1 : 0", *read)
        if any(isinstance(one, ir.For) for one in walk(node.stmt)):
            known.distances.append((step, 2))
        block = known.iterator(f"{loop.name}_block")
        place: Any = ir.BinaryOp("*", ir.ID(block), _factor(step), node.coord)
        if value_of(loop.start) != 0:
            place = ir.BinaryOp("+", loop.start, place, node.coord)
        shifted = shifted if loop.type.signed else self.with_quotients(shifted, loop, entry)
        body = substituted(shifted, loop.name, place)
        return loop_over(block, loop.type, ir.ID(number_of), body, node)

    def with_quotients(self, body: Any, loop: CountedLoop, entry: str) -> Any:
        """A body with names for quotients of what it doesn't change: unsigned products that have quotients for operands
        may wrap around in ways that nobody can tell. entry: what has to hold for these to be evaluated."""
        names: dict[str, str] = {}

        def change(node: Any) -> Any:
            if not isinstance(node, ir.BinaryOp) or node.op not in ("/", ">>") or not self.known.joins(loop.type, node):
                return node
            value = constant_value(node.right, self.known.fixed.symbols)
            if value is None or value <= 0 or constant_value(node, self.known.fixed.symbols) is not None:
                return node
            text = operand(node)
            if text not in names:
                names[text] = self.known.named(f"{loop.name}_part", loop.type, f"{entry} ? {text} : 0", node)
            return ir.ID(names[text], node.coord)

        return replaced(body, change)

    def tests(self, loop: CountedLoop, step: Any) -> list[str] | None:
        """What has to hold for a loop to end behind its last block."""
        end = self.known.fixed.type_of(loop.end)
        if end is None or (not end.signed and (loop.type.signed or end.bits != loop.type.bits)):
            return None
        if loop.type.signed:
            return [f"{operand(step)} > 0"]
        if loop.op == "<=":
            return None
        wide, wide_step = self.known.wide(loop.end), self.known.wide(step)
        # The last step mustn't wrap around.
        return [f"{wide} >= 0", f"{wide_step} > 0", f"{wide} <= {_LARGEST[loop.type.bits]} - {wide_step}"]

    def after_iterator(
        self, loop: CountedLoop, step: Any, outer: ir.For
    ) -> tuple[str, str, list[str], list[Any]] | None:
        """Where a loop starts at the iterator of another one, which stays in the first block, ``for (i = k; …)``: when
        there are blocks, how many, what has to hold for that, and what is read."""
        found = self.known.header(outer)
        if found is None or not loop.type.signed or found.type.spelling != loop.type.spelling or loop.op != "<":
            return None
        first = value_of(found.start)
        if first is None or first < 0 or step_of(outer.next) != (found.name, 1):
            return None
        if self.known.fixed.type_of(found.end) is None:
            return None
        wide, wide_step = self.known.wide(loop.end), self.known.wide(step)
        inside = f"{self.known.wide(found.end)} {'<=' if found.op == '<' else '<'} {wide_step}"
        whole = f"{wide} % {wide_step} == 0"
        return f"0 < {operand(loop.end)}", f"{wide} / {wide_step}", [whole, inside], [found.end]

    def from_start(self, loop: CountedLoop, step: Any) -> tuple[str, str, list[str], list[Any]] | None:
        """The same of any other loop."""
        value = value_of(loop.start)
        if not self.known.joins(loop.type, loop.start):
            return None
        if (value is None or value < 0) and (loop.type.bits == LONG_BITS or not loop.type.signed):
            return None
        length = self.known.wide(loop.end)
        if value != 0:
            length = f"({length} - {self.known.wide(loop.start)})"
        if loop.op == "<":
            length = f"({length} - 1)"
        return self.known.entry(loop), f"{length} / {self.known.wide(step)} + 1", [], [loop.start]

    def shifted(self, body: Any, loop: CountedLoop, step: Any, tests: list[str], read: list[Any]) -> Any | None:
        """A body whose loops start where they did in the first block; None where one of them begins in a block, and
        ends somewhere else. tests, read: get what has to hold for that, and what it asks for."""
        failed = False

        def change(node: Any) -> Any:
            nonlocal failed
            if (
                failed
                or not isinstance(node, ir.For)
                or not any(mentions(part, loop.name) for part in (node.init, node.cond, node.next) if part is not None)
            ):
                return node if not isinstance(node, ir.For) else mapped(node, lambda child: replaced(child, change))
            made = self.from_zero(node, loop, step, tests, read)
            failed = failed or made is None
            return node if made is None else mapped(made, lambda child: replaced(child, change))

        made = replaced(body, change)
        return None if failed else made

    def from_zero(self, node: ir.For, loop: CountedLoop, step: Any, tests: list[str], read: list[Any]) -> ir.For | None:
        """A loop that starts in a block as one that starts in the first."""
        inner = self.known.header(node)
        if inner is None or inner.type.spelling != loop.type.spelling or mentions(node.next, loop.name):
            return None
        start, end = _without(inner.start, loop.name), _without(inner.end, loop.name)
        if start is None or end is None or loop.name in {*names_of(start), *names_of(end)}:
            return None
        if not loop.type.signed:
            # Beyond the last block the sums might wrap around.
            if self.known.fixed.type_of(end) is None or (value_of(start) or 0) < 0 or value_of(start) is None:
                return None
            if inner.op != "<" or not self.known.joins(loop.type, end):
                return None
            wide = self.known.wide(end)
            tests += [f"{wide} >= 0", f"{wide} <= {self.known.wide(step)}"]
            read.append(end)
        body = substituted(node.stmt, inner.name, ir.BinaryOp("+", ir.ID(loop.name), ir.ID(inner.name), node.coord))
        if isinstance(node.init, ir.DeclList):
            init: Any = changed(node.init, decls=[changed(node.init.decls[0], init=start)])
        else:
            init = changed(node.init, rvalue=start)
        return changed(node, init=init, cond=changed(node.cond, right=end), stmt=body)


def _name(node: Any) -> str | None:
    return node.name if isinstance(node, ir.ID) else None


def _factor(step: Any) -> Any:
    """A step as what blocks are long: shifts to the left by constants are products."""
    match step:
        case ir.BinaryOp(op="<<", left=left, right=right) if (places := value_of(right)) is not None and places < 31:
            return ir.BinaryOp("*", number(1 << places), left, step.coord)
    return step


def step_added(node: Any, name: str) -> Any | None:
    """What a step adds to a variable."""
    match node:
        case ir.Assignment(op="+=", lvalue=ir.ID(name=own), rvalue=step) if own == name:
            return step
        case ir.Assignment(op="=", lvalue=ir.ID(name=own), rvalue=ir.BinaryOp(op="+", left=left, right=right)) if (
            own == name
        ):
            for one, step in ((left, right), (right, left)):
                if isinstance(one, ir.ID) and one.name == name:
                    return step
    return None


def _without(node: Any, name: str) -> Any | None:
    """A sum without a variable that it has once; None if it is of another form."""
    match node:
        case ir.ID(name=own) if own == name:
            return number(0)
        case ir.BinaryOp(op="+" | "-" as op, left=left, right=right):
            if mentions(left, name):
                rest = _without(left, name)
                if op == "+" and rest is not None and value_of(rest) == 0:
                    return right
                return _sum(op, rest, right, node)
            if op == "+" and mentions(right, name):
                rest = _without(right, name)
                return left if rest is not None and value_of(rest) == 0 else _sum("+", left, rest, node)
    return None


def _sum(op: str, left: Any, right: Any, node: Any) -> Any | None:
    return None if left is None or right is None else ir.BinaryOp(op, left, right, node.coord)
