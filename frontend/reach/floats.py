"""What is known of floating-point numbers that become subscripts: bounds that are integers.

``if (x >= 0 && x < n) … (int)x …`` lies between 0 and n - 1; ``(int)(sqrtf(q) / dt)`` isn't negative if ``dt`` is
positive, which the program finds out. Rounding moves no number past an integer that has a value in its type. What is
no number, or too large, has no integer value in C, so that nothing need hold of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, floor, isfinite
from typing import Any, Protocol

from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.frontend.reach.code import Code, Operand, Unbounded
from scopt.frontend.reach.ends import Limits
from scopt.frontend.reach.states import Fact, State, Value
from scopt.frontend.reach.sums import Sum, constant_of, name, names_of, number, plus
from scopt.frontend.syntax.symbols import is_value
from scopt.ir.ctypes import Symbol, is_complex, shape_of
from scopt.ir.scop import CType
from scopt.ir.walks import same_tree

_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "=="}
# Integers up to these are numbers of a type, by its bits.
_EXACT = {32: 1 << 24, 64: 1 << 53}
_NEVER_NEGATIVE = frozenset(name + kind for name in ("sqrt", "fabs", "exp", "exp2", "hypot") for kind in ("", "f"))
_ROUNDING = frozenset(name + kind for name in ("floor", "trunc") for kind in ("", "f"))


class Values(Protocol):
    """Of integers, as `scopt.frontend.reach.symbolic_values.Reader` reads them."""

    @property
    def symbols(self) -> Any: ...

    @property
    def changed(self) -> frozenset[str]: ...

    @property
    def code(self) -> Code: ...

    def value(self, node: Any, state: State) -> Value | None: ...

    @property
    def order(self) -> Mapping[str, int]: ...

    def exact(self, value: Value, state: State) -> Sum: ...

    def end(self, total: Sum, state: State, *, up: bool) -> Operand: ...


class Floats(Struct, frozen=True):
    """values: of integers."""

    values: Values

    def facts(self, node: Any, state: State) -> tuple[Fact, ...]:
        """What is known of an expression; nothing of one that is no floating-point number."""
        match node:
            case ir.ID(name=own) if self.variable(own) is not None:
                return state.facts.get(own) or self.sign(node, state)
            case ir.FuncCall(name=ir.ID(name=called), args=ir.ExprList(exprs=[inner])) if called in _ROUNDING:
                return self.facts(inner, state)
            case ir.Cast() if self.is_floating(node):
                return self.rounded(node.expr, shape_of(node.to_type, self.values.symbols).type.bits, state)
        return self.sign(node, state)

    def rounded(self, node: Any, bits: int, state: State) -> tuple[Fact, ...]:
        """What is known of an expression in a type: a narrower one may round what is less than an integer up to it."""
        found = self.facts(node, state)
        if bits == max(_EXACT):
            return found
        return tuple(replace(one, sign="<=") if one.sign == "<" else one for one in found)

    def sign(self, node: Any, state: State) -> tuple[Fact, ...]:
        needed = self.above(node, state) if self.is_floating(node) else None
        return (Fact(">=", number(0), needed),) if needed is not None else ()

    def set(self, own: str, init: Any, state: State) -> None:
        """A variable gets the value of an expression."""
        symbol = self.variable(own)
        found = self.rounded(init, symbol.type.bits, state) if init is not None and symbol is not None else ()
        state.facts.pop(own, None)
        state.truncated.pop(own, None)
        if found:
            state.facts[own] = found

    def becomes(self, node: Any, value: Value, state: State) -> None:
        """A number becomes an integer, of which later comparisons of the number tell, too: ``b = (int)x`` may stand in
        front of ``if (x >= 0)``."""
        while self.is_floating(node) and not isinstance(node, ir.ID):
            match node:
                case ir.FuncCall(name=ir.ID(name=called), args=ir.ExprList(exprs=[inner])) if called in _ROUNDING:
                    node = inner
                case _:
                    return
        symbols = [one for one in names_of([value.sum]) if one in self.values.order]
        if isinstance(node, ir.ID) and self.is_floating(node) and len(symbols) == 1 and value.sum == name(symbols[0]):
            state.truncated[node.name] = (*state.truncated.get(node.name, ()), symbols[0])

    def compared(self, node: ir.BinaryOp, op: str, state: State) -> None:
        """That two values compare like this. Raises Unbounded."""
        for side, other, sign in ((node.left, node.right, op), (node.right, node.left, _MIRRORED.get(op, "!="))):
            symbol = self.variable(side.name) if isinstance(side, ir.ID) else None
            if symbol is None or sign == "!=":
                continue
            known = [*state.facts.get(symbol.name, ())]
            for one in ("<=", ">=") if sign == "==" else (sign,):
                bound = self.integer(other, state, symbol.type.bits, up=one[0] == "<")
                if bound is not None:
                    known.append(Fact(one, bound))
            state.facts[symbol.name] = tuple(known)
            for integer in state.truncated.get(symbol.name, ()):
                self.narrow(integer, known, state)

    def narrow(self, integer: str, known: Sequence[Fact], state: State) -> None:
        """What is known of a number says where the integer lies that it became: by values older than that."""
        order = self.values.order
        earlier = [
            fact
            for fact in known
            if not fact.needed and all(order.get(one, -1) < order[integer] for one in names_of([fact.bound]))
        ]
        old, new = state.limits.get(integer, Limits()), limits_of_facts(earlier)
        state.limits[integer] = Limits((*old.lows, *new.lows), (*old.highs, *new.highs))

    # --- expressions --------------------------------------------------------------------------------------------------

    def integer(self, node: Any, state: State, bits: int, *, up: bool) -> Sum | None:
        """An integer that is no less than an expression (up), or no greater."""
        found = self.total(node, state, up)
        if found is None or bits not in _EXACT:
            return None
        for end, sign in ((True, "<="), (False, ">=")):
            most = _EXACT[bits] if end else -_EXACT[bits]
            self.values.code.require(self.values.end(found, state, up=end), sign, most)
        return found

    def total(self, node: Any, state: State, up: bool) -> Sum | None:
        value = self.values.value(node, state)
        if value is not None:
            return self.values.exact(value, state)
        match node:
            case ir.Constant(type="float" | "double", value=text):
                exact = _number(text)
                return None if exact is None else number(ceil(exact) if up else floor(exact))
            case ir.UnaryOp(op="-", expr=ir.Constant(type="float" | "double", value=text)):
                exact = _number(text)
                return None if exact is None else number(ceil(-exact) if up else floor(-exact))
            case ir.Cast() if self.is_floating(node):
                return self.total(node.expr, state, up)
            case ir.BinaryOp(op="+" | "-" as op, left=left, right=right):
                a, b = self.total(left, state, up), self.total(right, state, up if op == "+" else not up)
                return None if a is None or b is None else plus(a, b, 1 if op == "+" else -1)
        return None

    def above(self, node: Any, state: State) -> frozenset[str] | None:
        """What has to hold for an expression not to be negative; None if that isn't known."""
        value = self.values.value(node, state)
        if value is not None:
            return self.integer_above(value, state)
        match node:
            case ir.Constant(type="float" | "double"):
                return frozenset()
            case ir.ID(name=own) if self.variable(own) is not None:
                for fact in state.facts.get(own, ()):
                    low = constant_of(fact.bound)
                    if fact.sign[0] == ">" and low is not None and low >= 0:
                        return fact.needed
                # of what stays, the program may ask
                return None if own in self.values.changed else frozenset((f"{own} > 0",))
            case ir.FuncCall(name=ir.ID(name=called)) if called in _NEVER_NEGATIVE:
                return frozenset()
            case ir.FuncCall(name=ir.ID(name=called), args=ir.ExprList(exprs=[inner])) if called in _ROUNDING:
                return self.above(inner, state)
            case ir.Cast() if self.is_floating(node):
                return self.above(node.expr, state)
            case ir.BinaryOp(op="*", left=left, right=right) if same_tree(left, right):
                return frozenset()
            case ir.BinaryOp(op="*" | "/" | "+", left=left, right=right):
                return _both(self.above(left, state), self.above(right, state))
            case ir.TernaryOp(iftrue=then, iffalse=other):
                return _both(self.above(then, state), self.above(other, state))
        return None

    def integer_above(self, value: Value, state: State) -> frozenset[str] | None:
        """The same of an integer, without computing anything: it is a number, or a name."""
        found: list[Operand] = []
        try:
            with self.values.code.tried():
                found.append(self.values.end(self.values.exact(value, state), state, up=False))
                raise Unbounded
        except Unbounded:
            pass
        if not found:
            return None
        if isinstance(found[0], int):
            return frozenset() if found[0] >= 0 else None
        return frozenset((f"{found[0]} >= 0",)) if found[0] in self.values.symbols else None

    def is_floating(self, node: Any) -> bool:
        match node:
            case ir.ID(name=own):
                return self.variable(own) is not None
            case ir.Constant(type="float" | "double"):
                return True
            case ir.Cast():
                shape = shape_of(node.to_type, self.values.symbols)
                return not shape.layers and _is_exact(shape.type)
            case ir.FuncCall(name=ir.ID(name=called)):
                return called in _NEVER_NEGATIVE or called in _ROUNDING
            case ir.BinaryOp(op="+" | "-" | "*" | "/", left=left, right=right):
                return self.is_floating(left) or self.is_floating(right)
            case ir.TernaryOp(iftrue=then, iffalse=other):
                return self.is_floating(then) or self.is_floating(other)
        return False

    def variable(self, own: str) -> Symbol | None:
        """A floating-point variable that nothing changes but by its name."""
        symbol: Symbol | None = self.values.symbols.get(own)
        if symbol is None or not is_value(symbol) or symbol.pointer:
            return None
        return symbol if _is_exact(symbol.type) else None


def _is_exact(ctype: CType) -> bool:
    """Whether a type is one of real numbers, of which it is known up to where they hold all integers."""
    return ctype.floating and ctype.bits in _EXACT and not is_complex(ctype)


def limits_of_facts(facts: Sequence[Fact]) -> Limits:
    """Where the integer lies that a number becomes, of which something is known."""
    lows = tuple(fact.bound for fact in facts if fact.sign[0] == ">")
    known = [low for low in map(constant_of, lows) if low is not None]
    below = -1 if max(known, default=-1) >= 0 else 0  # what is negative is rounded up
    return Limits(
        lows, tuple(plus(one.bound, number(below * (one.sign == "<"))) for one in facts if one.sign[0] == "<")
    )


def _both(first: frozenset[str] | None, second: frozenset[str] | None) -> frozenset[str] | None:
    return None if first is None or second is None else first | second


def _number(text: str) -> float | None:
    try:
        found = float(text.rstrip("fF"))
    except ValueError:
        return None
    return found if isfinite(found) and abs(found) < _EXACT[32] else None
