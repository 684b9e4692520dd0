"""Values of integer expressions as sums of products of names, with what branches say of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from scopt import ir
from scopt.frontend.normalize.constant_tables import table_of
from scopt.frontend.reach.code import Code, Operand, Unbounded
from scopt.frontend.reach.conditions import at_least, told
from scopt.frontend.reach.ends import Ends, Limits, floor_limits
from scopt.frontend.reach.floats import Floats, limits_of_facts
from scopt.frontend.reach.states import NARROW_BITS, State, Value, key_of
from scopt.frontend.reach.sums import (
    Sum,
    constant_of,
    denominator,
    is_multiple,
    name,
    number,
    plus,
    scaled,
    times,
)
from scopt.ir.constants import promotion, typed_constant, usual_conversion
from scopt.ir.ctypes import Symbol, limits_of, shape_of
from scopt.ir.effects import effects
from scopt.ir.scop import CType
from scopt.ir.truths import COMPARISONS

_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


class Reader(Struct, frozen=True):
    """Reads expressions. symbols: what names mean. changed: variables of the region that get values in it.
    code: what the program computes. wrapping: signed arithmetic wraps around, too. order: when symbols were made.
    used: parameters that values depend on. inspect: asked for the least and the greatest value of a cell.
    intervals: asked for what bounds a variable where it stands, of those that get values in the region."""

    symbols: Mapping[str, Symbol]
    changed: frozenset[str]
    code: Code
    wrapping: bool = False
    inspect: Callable[[ir.ArrayRef, CType], tuple[Operand, Operand]] | None = None
    intervals: Callable[[ir.ID], tuple[int, int] | None] = lambda _node: None
    order: dict[str, int] = field(default_factory=dict)
    used: dict[str, CType] = field(default_factory=dict)

    # --- expressions --------------------------------------------------------------------------------------------------

    def value(self, node: Any, state: State) -> Value | None:
        """None for what nothing is known of. Nothing in the expression may change variables."""
        constant = typed_constant(node, self.symbols)
        if constant is not None:
            return Value(number(constant[0]), constant[1])
        try:
            match node:
                case ir.ID():
                    return self.of_name(node, state)
                case ir.ArrayRef():
                    return self.cell(node, state)
                case ir.Cast():
                    return self.cast(node, state)
                case ir.UnaryOp(op="-" | "+" as op):
                    operand = self.promoted(self.value(node.expr, state), state)
                    return operand if op == "+" or operand is None else self.made(scaled(operand.sum, -1), operand)
                case ir.UnaryOp(op="!") | ir.BinaryOp(op="&&" | "||"):
                    return self.between(number(0), number(1), self.symbols["int"].type, state)
                case ir.BinaryOp(op=op) if op in COMPARISONS:
                    return self.between(number(0), number(1), self.symbols["int"].type, state)
                case ir.BinaryOp():
                    return self.operation(node, state)
                case ir.TernaryOp():
                    return self.choice(node, state)
        except Unbounded:
            return None
        return None

    def of_name(self, node: ir.ID, state: State) -> Value | None:
        own = node.name
        if own in state.values:
            return state.values[own]
        symbol = self.symbols.get(own)
        if symbol is None or symbol.dims or symbol.pointer or symbol.type.volatile or not _is_number(symbol.type):
            return None
        if own in self.changed:
            ends = self.intervals(node) if symbol.type.bits > NARROW_BITS else None
            if ends is not None and ends[1] - ends[0] < 1 << NARROW_BITS:
                return self.between(number(ends[0]), number(ends[1]), symbol.type, state)
            return self.of_type(symbol.type, state)
        self.used[own] = symbol.type
        return Value(name(own), symbol.type)

    def cell(self, node: ir.ArrayRef, state: State) -> Value | None:
        """The value of an array's element, of which its type is known."""
        base: Any = node
        depth = 0
        while isinstance(base, ir.ArrayRef):
            base, depth = base.name, depth + 1
        symbol = self.symbols.get(base.name) if isinstance(base, ir.ID) else None
        if symbol is None or len(symbol.dims) != depth or not _is_number(symbol.type):
            return None
        table = table_of(symbol, self.symbols)
        if table is not None:
            values = table.cells.values()
            return self.between(number(min(values)), number(max(values)), symbol.type, state)
        try:
            seen = self.inspected(node, symbol.type, state)
        except Unbounded:
            if symbol.type.bits > NARROW_BITS:
                raise
            seen = None
        return seen or self.of_type(symbol.type, state)

    def inspected(self, node: ir.ArrayRef, ctype: CType, state: State) -> Value | None:
        """A cell's value between the least and the greatest one that it has, as the program finds out. None if
        nobody is to be asked; raises Unbounded."""
        if self.inspect is None:
            return None
        key = ("cell", id(node))
        if key not in state.atoms:
            with self.code.tried():
                low, high = self.inspect(node, ctype)
            state.atoms[key] = self.symbol("cell", Limits((_sum_of(low),), (_sum_of(high),)), state)
        return Value(name(state.atoms[key]), ctype)

    def of_type(self, ctype: CType, state: State) -> Value | None:
        """Any value of a type: of one that isn't narrow, conditions have to say more."""
        if ctype.spelling == "_Bool":
            return None
        low, high = limits_of(ctype)
        if ctype.bits <= NARROW_BITS:
            return self.between(number(low), number(high), ctype, state)
        return Value(name(self.symbol("any", Limits(() if ctype.signed else (number(0),)), state)), ctype)

    def cast(self, node: ir.Cast, state: State) -> Value | None:
        target = shape_of(node.to_type, self.symbols)
        if target.layers or not _is_number(target.type):
            return None
        operand = self.value(node.expr, state)
        if operand is not None:
            return self.converted(operand, target.type, state)
        found = self.truncated(node.expr, target.type, state) or self.of_type(target.type, state)
        if found is not None:
            self.floats.becomes(node.expr, found, state)
        return found

    def truncated(self, node: Any, target: CType, state: State) -> Value | None:
        """A floating-point number as an integer. What isn't in its type's range has no value in C."""
        facts = self.floats.facts(node, state)
        if not facts or target.bits <= NARROW_BITS or target.spelling == "_Bool":
            return None
        for condition in sorted({one for fact in facts for one in fact.needed}):
            self.code.require_that(condition)
        return Value(name(self.symbol("number", limits_of_facts(facts), state)), target)

    @property
    def floats(self) -> Floats:
        return Floats(self)

    def choice(self, node: ir.TernaryOp, state: State) -> Value | None:
        then, other = self.where(node.cond, state, True), self.where(node.cond, state, False)
        a, b = self.value(node.iftrue, then), self.value(node.iffalse, other)
        if a is None or b is None:
            return None
        common = usual_conversion(a.type, b.type, self.symbols)
        a, b = self.converted(a, common, then), self.converted(b, common, other)
        return self.union(a, then, b, other, state) if a is not None and b is not None else None

    def union(self, a: Value, at: State, b: Value, at_b: State, state: State) -> Value:
        """One of two values of one type, each at a place of its own."""
        first, second = self.exact(a, at), self.exact(b, at_b)
        ends: list[tuple[Sum, ...]] = []
        for up in (False, True):
            try:
                with self.code.tried():
                    one, other = self.end(first, at, up=up), self.end(second, at_b, up=up)
                    ends.append((_sum_of(self.code.extreme(one, other, greatest=up)),))
            except Unbounded:
                ends.append(())
        return Value(name(self.symbol("value", Limits(*ends), state)), a.type)

    def operation(self, node: ir.BinaryOp, state: State) -> Value | None:
        left, right = (self.promoted(self.value(part, state), state) for part in (node.left, node.right))
        if node.op in ("<<", ">>"):
            return self.shift(node.op, left, right, state)
        if left is None or right is None:
            return self.bounded(node.op, left, right, state)
        common = usual_conversion(left.type, right.type, self.symbols)
        a, b = self.converted(left, common, state), self.converted(right, common, state)
        if a is None or b is None:
            return None
        wraps = replace(a, wraps=a.wraps or b.wraps)
        match node.op:
            case "+":
                return self.made(plus(a.sum, b.sum), wraps)
            case "-":
                return self.made(plus(a.sum, b.sum, -1), wraps)
            case "*":
                return self.made(times(a.sum, b.sum), wraps)
            case "/" | "%":
                return self.division(node.op, a, b, state)
        return self.bounded(node.op, a, b, state)

    def bounded(self, op: str, a: Value | None, b: Value | None, state: State) -> Value | None:
        """What an operand alone says: a mask that isn't negative, a divisor."""
        if op == "&":
            for mask in (b, a):
                limit = constant_of(mask.sum) if mask is not None and not mask.wraps else None
                if mask is not None and limit is not None and limit >= 0:
                    return self.between(number(0), number(limit), mask.type, state)
        if op == "%" and b is not None and a is None:
            divisor = self.exact(b, state)
            self.code.require_positive(self.end(divisor, state, up=False))
            last = self.code.minus(self.end(divisor, state, up=True), 1)
            low = self.code.minus(0, last)
            return self.between(_sum_of(low), _sum_of(last), b.type, state) if b.type.signed else None
        return None

    def division(self, op: str, a: Value, b: Value, state: State) -> Value | None:
        dividend, divisor = self.exact(a, state), self.exact(b, state)
        constant = constant_of(divisor)
        if constant is not None and constant <= 0:
            return None
        if op == "/" and constant is not None and denominator(dividend) == 1 and is_multiple(dividend, int(constant)):
            return Value(scaled(dividend, 1 / constant), a.type)
        key = (op, key_of(dividend), key_of(divisor))
        if key in state.atoms:
            return Value(name(state.atoms[key]), a.type)
        code = self.code
        try:
            with code.tried():
                low, high = (self.end(dividend, state, up=up) for up in (False, True))
        except Unbounded:
            return self.bounded(op, None, b, state)
        least, greatest = self.end(divisor, state, up=False), self.end(divisor, state, up=True)
        code.require_positive(least)
        if op == "%":
            last = code.minus(greatest, 1)
            above = code.extreme(code.extreme(high, 0, greatest=True), last, greatest=False)
            below = code.chosen((low, ">=", 0), 0, code.extreme(low, code.minus(0, last), greatest=True))
            limits = Limits((_sum_of(below),), (_sum_of(above),))
        elif constant is not None:
            limits = self.quotient_limits(dividend, int(constant), low)
        else:
            least_of, greatest_of = (
                code.chosen((end, ">=", 0), code.quotient(end, some), code.quotient(end, other))
                for end, some, other in ((low, greatest, least), (high, least, greatest))
            )
            limits = Limits((_sum_of(least_of),), (_sum_of(greatest_of),))
        state.atoms[key] = self.symbol(op, limits, state)
        return Value(name(state.atoms[key]), a.type)

    def quotient_limits(self, dividend: Sum, divisor: int, low: Operand) -> Limits:
        """By a number; `low` is the least that is divided: what is negative is rounded up."""
        limits = floor_limits(dividend, divisor)
        more = self.code.chosen((low, ">=", 0), 0, divisor - 1)
        highs = tuple(plus(high, scaled(_sum_of(more), 1 / number(divisor)[()])) for high in limits.highs)
        return Limits(limits.lows, highs)

    def shift(self, op: str, a: Value | None, b: Value | None, state: State) -> Value | None:
        by = constant_of(b.sum) if b is not None and not b.wraps else None
        if a is None or by is None or not 0 <= by < min(a.type.bits, 32):
            return None
        if op == "<<":
            return self.made(scaled(a.sum, 1 << int(by)), a)
        dividend = self.exact(a, state)
        key = (">>", key_of(dividend), by)
        if key not in state.atoms:
            # of a negative number, too, as compilers do it
            state.atoms[key] = self.symbol("shift", floor_limits(dividend, 1 << int(by)), state)
        return Value(name(state.atoms[key]), a.type)

    # --- types --------------------------------------------------------------------------------------------------------

    def promoted(self, value: Value | None, state: State) -> Value | None:
        if value is None:
            return None
        wider = promotion(value.type, self.symbols)
        return value if wider.bits == value.type.bits else self.converted(value, wider, state)

    def made(self, total: Sum, like: Value) -> Value:
        """A result in the type of an operand: signed arithmetic doesn't overflow, as a rule; unsigned wraps around."""
        constant = constant_of(total)
        if constant is not None and limits_of(like.type)[0] <= constant <= limits_of(like.type)[1]:
            return Value(total, like.type)
        return Value(total, like.type, self.wrapping or not like.type.signed)

    def converted(self, value: Value, target: CType, state: State) -> Value | None:
        if target.spelling == "_Bool" or not _is_number(target):
            return None
        least, greatest = limits_of(target)
        own = limits_of(value.type)
        if least <= own[0] and own[1] <= greatest:
            if value.wraps and value.type.bits < target.bits:
                value = Value(self.exact(value, state), target)
            return replace(value, type=target)
        if not target.signed:
            if value.wraps and value.type.bits < target.bits:
                value = Value(self.exact(value, state), target)
            constant = constant_of(value.sum)
            return Value(value.sum, target, constant is None or not least <= constant <= greatest)
        total = self.exact(value, state)
        self.require_within(total, target, state)
        return Value(total, target)

    def exact(self, value: Value, state: State) -> Sum:
        """The value's sum where it doesn't wrap around, which the program finds out. Raises Unbounded."""
        if value.wraps:
            self.require_within(value.sum, value.type, state)
        return value.sum

    def require_within(self, total: Sum, ctype: CType, state: State) -> None:
        least, greatest = limits_of(ctype)
        self.code.require(self.end(total, state, up=False), ">=", max(least, -(1 << 62)))
        self.code.require(self.end(total, state, up=True), "<=", min(greatest, 1 << 62))

    # --- symbols and branches -----------------------------------------------------------------------------------------

    def between(self, low: Sum, high: Sum, ctype: CType, state: State) -> Value:
        return Value(name(self.symbol("value", Limits((low,), (high,)), state)), ctype)

    def symbol(self, of: str, limits: Limits, state: State) -> str:
        made = f"{of} {len(self.order)}"
        self.order[made] = len(self.order)
        state.limits[made] = limits
        return made

    def end(self, total: Sum, state: State, *, up: bool) -> Operand:
        return Ends(self.code, self.order, state.limits).of(told(total, state), up=up)

    def where(self, cond: Any, state: State, holds: bool) -> State:
        """A copy of the state where a condition holds, or fails."""
        state = state.copy()
        if not effects(cond).changed:
            self.learn(cond, state, holds)
        return state

    def learn_sum(self, total: Sum, state: State) -> None:
        """That a sum isn't negative."""
        part = at_least(total, self.order, state)
        if part is not None:
            state.known[key_of(part)] = self.symbol("sum", Limits((part,), (part,)), state)
            at_least(total, self.order, state)

    def learn(self, cond: Any, state: State, holds: bool) -> None:
        match cond:
            case ir.UnaryOp(op="!"):
                self.learn(cond.expr, state, not holds)
            case ir.BinaryOp(op="&&" | "||") if (cond.op == "&&") == holds:
                self.learn(cond.left, state, holds)
                self.learn(cond.right, state, holds)
            case ir.BinaryOp(op=op) if op in COMPARISONS:
                try:
                    with self.code.tried():
                        self.compared(cond, op if holds else _OPPOSITE[op], state)
                except Unbounded:
                    return

    def compared(self, node: ir.BinaryOp, op: str, state: State) -> None:
        """That two values compare like this."""
        left, right = (self.promoted(self.value(part, state), state) for part in (node.left, node.right))
        if left is None or right is None or op == "!=":
            self.floats.compared(node, op, state)
            return
        common = usual_conversion(left.type, right.type, self.symbols)
        a, b = self.converted(left, common, state), self.converted(right, common, state)
        if a is None or b is None:
            return
        difference = plus(self.exact(a, state), self.exact(b, state), -1)
        if op in (">", ">=", "=="):
            self.learn_sum(plus(difference, number(-1 if op == ">" else 0)), state)
        if op in ("<", "<=", "=="):
            self.learn_sum(plus(scaled(difference, -1), number(-1 if op == "<" else 0)), state)


def _is_number(ctype: CType) -> bool:
    return bool(ctype.integer and 0 < ctype.bits <= 64)


def _sum_of(operand: Operand) -> Sum:
    return number(operand) if isinstance(operand, int) else name(operand)
