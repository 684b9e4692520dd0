"""Which values subscripts can have, where they aren't affine: constant intervals, from types, literals and branches.

``count[pixel[i]]`` of 8-bit pixels reaches 256 cells, and so does ``curve[v]`` behind ``if (v > 255) v = 255;``. The
statements are run through in the order of the source, with an interval for each local variable (Cousot and Cousot,
"Static determination of dynamic properties of programs", 1976). What a loop may change is forgotten where it begins,
but for variables whose intervals, or the least powers of two around them, it leaves as they are. Results that don't fit
their type may be any of its values: nothing rests on overflow being undefined.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from scopt import ir
from scopt.frontend.model.intervals import Range, any_of, converted, fitting, quotient, union, widened
from scopt.ir.constants import typed_constant, usual_conversion
from scopt.ir.ctypes import Symbol, limits_of, shape_of
from scopt.ir.effects import bases, effects
from scopt.ir.scop import CType
from scopt.ir.truths import COMPARISONS
from scopt.ir.walks import walk

_JUMPS = (ir.Goto, ir.Label, ir.Switch)
_LOOPS = (ir.For, ir.While, ir.DoWhile)
_NOTHING = (1, 0)
# How often a loop is run through to find out what it leaves as it is, and how many loops inside of each other are.
_ROUNDS, _DEPTH = 4, 2
# Cells of a table at most whose subscripts are known by their range alone: those of 16 bits.
MAX_TABLE = 1 << 16
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


def subscript_ranges(
    items: Iterable[Any], symbols: Mapping[str, Symbol], iterators: Mapping[str, CType], variables: Iterable[str]
) -> dict[str, tuple[int, int]]:
    """For each name that is only ever subscripted: the least and the greatest value of its first subscripts, as far as
    types and constants bound them.

    symbols: what names mean, each one thing. iterators: types of variables that loops declare. variables: those that
    nothing but their names leads to.
    """
    reader = read_values(items, symbols, iterators, variables)
    return {name: found for name, found in reader.found.items() if found is not None} if reader is not None else {}


def values_of_subscripts(
    items: Iterable[Any], symbols: Mapping[str, Symbol], iterators: Mapping[str, CType], variables: Iterable[str]
) -> dict[Any, tuple[int, int]]:
    """For each subscript, told by its node, the least and the greatest value, where types and constants bound it closer
    than by all that an integer may be. The rest as for `subscript_ranges`."""
    reader = read_values(items, symbols, iterators, variables)
    return {node: found for node, found in reader.each.items() if found is not None} if reader is not None else {}


def read_values(
    items: Iterable[Any], symbols: Mapping[str, Symbol], iterators: Mapping[str, CType], variables: Iterable[str]
) -> Values | None:
    """All subscripts' values; None where statements jump. Arguments as for `subscript_ranges`."""
    items = tuple(items)
    if any(isinstance(node, _JUMPS) for node in walk(*items)):
        return None
    reader = Values(symbols, iterators, frozenset(variables) | frozenset(iterators))
    reader.block(items, {})
    return reader


class Values(Struct, frozen=True, eq=False):
    """What subscripts may be. found: by name, what its first subscripts have been so far; each: by the subscript's
    node, what it has been itself; None: anything."""

    symbols: Mapping[str, Symbol]
    iterators: Mapping[str, CType]
    variables: frozenset[str]
    found: dict[str, tuple[int, int] | None] = field(default_factory=dict)
    each: dict[Any, tuple[int, int] | None] = field(default_factory=dict)

    # --- statements: `state` is changed to what holds behind them -----------------------------------------------------

    def block(self, items: Sequence[Any], state: dict[str, Range]) -> None:
        for item in items:
            self.statement(item, state)

    def statement(self, node: Any, state: dict[str, Range]) -> None:
        match node:
            case ir.Compound():
                self.block(node.block_items or (), state)
            case ir.DeclList():
                self.block(node.decls, state)
            case ir.Decl():
                self.set(node.name, self.plain(node.init, state) if node.init is not None else None, state)
            case ir.If():
                self.plain(node.cond, state)
                then, otherwise = self.where(node.cond, state, True), self.where(node.cond, state, False)
                self.statement(node.iftrue, then)
                if node.iffalse is not None:
                    self.statement(node.iffalse, otherwise)
                state.clear()
                state.update({name: union(then[name], otherwise[name]) for name in then.keys() & otherwise.keys()})
            case ir.For() | ir.While() | ir.DoWhile():
                self.loop(node, state)
            case ir.Assignment(op="=", lvalue=ir.ID(name=name)):
                self.set(name, self.plain(node.rvalue, state), state)
            case ir.Assignment(op=op, lvalue=ir.ID(name=name)) if not effects(node.rvalue).changed:
                self.set(name, self.value(ir.BinaryOp(op[:-1], node.lvalue, node.rvalue), state), state)
            case None:
                return
            case _:
                self.plain(node, state)

    def loop(self, node: Any, state: dict[str, Range]) -> None:
        head = node.init if isinstance(node, ir.For) else None
        if isinstance(head, ir.ExprList):
            self.block(head.exprs, state)
        elif head is not None:
            self.statement(head, state)
        first = dict(state)
        repeated = [part for part in (node.cond, node.stmt, getattr(node, "next", None)) if part is not None]
        changed = effects(*repeated).changed
        _forget(changed, state)
        if isinstance(node, ir.For):
            self.from_first_value(node, first, state)
        kept = self.kept(node, {name: first[name] for name in changed & first.keys() - state.keys()}, state)
        state.update(kept)
        if node.cond is not None:
            self.plain(node.cond, state)
        inside = (
            dict(state) if isinstance(node, ir.DoWhile) or node.cond is None else self.where(node.cond, state, True)
        )
        self.statement(node.stmt, inside)
        if isinstance(node, ir.For) and node.next is not None:
            # what `continue` skips is unknown there
            self.plain(node.next, dict(state))
        _forget(changed, state)
        if not any(isinstance(one, ir.Break) for one in walk(node.stmt)):
            state.update(kept)

    def kept(self, node: Any, first: Mapping[str, Range], state: Mapping[str, Range]) -> dict[str, Range]:
        """Intervals that hold whenever a loop's condition is looked at, of variables that have some before it. first:
        these; state: what else holds there.

        Each is what the first iteration makes of it besides, or widened to the next power of two, until another
        iteration leaves all as they are."""
        inside = max((_depth(part) for part in (node.cond, node.stmt) if part is not None), default=0)
        if not first or inside >= _DEPTH or any(isinstance(one, ir.Continue) for one in walk(node.stmt)):
            return {}
        quiet, found = replace(self, found={}, each={}), dict(first)
        for round in range(_ROUNDS + 1):
            before = {**state, **found}
            if node.cond is not None:
                quiet.plain(node.cond, before)
            if node.cond is not None and not isinstance(node, ir.DoWhile):
                before = quiet.where(node.cond, before, True)
            quiet.statement(node.stmt, before)
            if isinstance(node, ir.For) and node.next is not None:
                quiet.statement(node.next, before)
            wider = widened if round else union  # `at = k` has the iterator's values, and no others
            made = {name: wider(old, before[name]) for name, old in found.items() if name in before}
            if made == found:
                return found
            found = made
        return {}

    def from_first_value(self, node: ir.For, first: Mapping[str, Range], state: dict[str, Range]) -> None:
        """An iterator that only its head steps stays on one side of its first value."""
        match node.next:
            case ir.UnaryOp(op="++" | "p++", expr=ir.ID(name=name)):
                up = True
            case ir.UnaryOp(op="--" | "p--", expr=ir.ID(name=name)):
                up = False
            case _:
                return
        start = first.get(name)
        if start is None or not start.type.signed or name in effects(node.stmt, node.cond).changed:
            return
        everything = any_of(start.type)
        last = self.where(node.cond, {name: everything}, True)[name] if node.cond is not None else everything
        # whatever overflow does, a counter that stops before its type's end doesn't pass it
        if up and last.high < everything.high:
            state[name] = replace(start, high=everything.high)
        elif not up and last.low > everything.low:
            state[name] = replace(start, low=everything.low)

    def set(self, name: str, value: Range | None, state: dict[str, Range]) -> None:
        own = self.type_of(name)
        state.pop(name, None)
        if own is not None and name in self.variables:
            state[name] = converted(value, own)

    # --- expressions --------------------------------------------------------------------------------------------------

    def plain(self, node: Any, state: dict[str, Range]) -> Range | None:
        """The value of an expression that may have effects: nothing is known of what it changes, before and after."""
        changed = effects(node).changed
        _forget(changed, state)
        return self.value(node, state)

    def value(self, node: Any, state: Mapping[str, Range]) -> Range | None:
        """The values of an expression, whose subscripts are noted; None if it is no integer, or of unknown type."""
        match node:
            case ir.ID(name=name):
                self.found[name] = None  # it is used as a whole
                known = self.of_name(name, state)
                self.each[node] = _both(self.each.get(node, _NOTHING), known)
                return known
            case ir.ArrayRef():
                return self.element(node, state)
            case ir.TernaryOp():
                self.value(node.cond, state)
                then = self.value(node.iftrue, self.where(node.cond, state, True))
                other = self.value(node.iffalse, self.where(node.cond, state, False))
                if then is None or other is None:
                    return None
                common = usual_conversion(then.type, other.type, self.symbols)
                return union(converted(then, common), converted(other, common))
            case ir.BinaryOp(op="&&" | "||"):
                self.value(node.left, state)
                self.value(node.right, self.where(node.left, state, node.op == "&&"))
                return Range(0, 1, self.symbols["int"].type)
            case ir.BinaryOp():
                return self.operation(node, self.value(node.left, state), self.value(node.right, state))
            case ir.UnaryOp(op="-" | "+" as op):
                operand = self.value(node.expr, state)
                if operand is None:
                    return None
                promoted = self.promoted(operand)
                return promoted if op == "+" else fitting(-promoted.high, -promoted.low, promoted.type)
            case ir.UnaryOp(op="&"):
                self.value(node.expr, state)
                self.found.update(dict.fromkeys(bases(node.expr)))  # it may lead to other cells
                return None
            case ir.UnaryOp(op="!"):
                self.value(node.expr, state)
                return Range(0, 1, self.symbols["int"].type)
            case ir.Cast():
                operand = self.value(node.expr, state)
                target = shape_of(node.to_type, self.symbols)
                number = not target.layers and target.type.integer and target.type.bits
                return converted(operand, target.type) if number else None
            case ir.Constant():
                constant = typed_constant(node, self.symbols)
                return Range(constant[0], constant[0], constant[1]) if constant is not None else None
            case ir.Typename():
                return None
        for child in [] if node is None else node.parts:
            self.value(child, state)
        return None

    def element(self, node: ir.ArrayRef, state: Mapping[str, Range]) -> Range | None:
        """The value of a cell, of which only its type is known."""
        base: Any = node
        subscripts = []
        while isinstance(base, ir.ArrayRef):
            subscripts.append(self.value(base.subscript, state))
            self.each[base.subscript] = _both(self.each.get(base.subscript, _NOTHING), subscripts[-1])
            base = base.name
        if not isinstance(base, ir.ID):
            self.value(base, state)
            return None
        self.found[base.name] = _both(self.found.get(base.name, _NOTHING), subscripts[-1])
        symbol = self.symbols.get(base.name)
        own = symbol is not None and len(symbol.dims) == len(subscripts) and _is_integer(symbol.type)
        return Range(*limits_of(symbol.type), symbol.type) if symbol is not None and own else None

    def of_name(self, name: str, state: Mapping[str, Range]) -> Range | None:
        if name in state:
            return state[name]
        constant = typed_constant(ir.ID(name), self.symbols)
        if constant is not None:
            return Range(constant[0], constant[0], constant[1])
        own = self.type_of(name)
        return Range(*limits_of(own), own) if own is not None else None

    def type_of(self, name: str) -> CType | None:
        if name in self.iterators:
            return self.iterators[name]
        symbol = self.symbols.get(name)
        plain = symbol is not None and not symbol.dims and not symbol.pointer and symbol.value is None
        return symbol.type if symbol is not None and plain and _is_integer(symbol.type) else None

    def promoted(self, operand: Range) -> Range:
        integer = self.symbols["int"].type
        return replace(operand, type=integer) if operand.type.bits < integer.bits else operand

    def operation(self, node: ir.BinaryOp, left: Range | None, right: Range | None) -> Range | None:
        if node.op in COMPARISONS:
            return Range(0, 1, self.symbols["int"].type)
        if left is None or right is None:
            return None
        left, right = self.promoted(left), self.promoted(right)
        if node.op == "<<" and left.low >= 0 and 0 <= right.low <= right.high < left.type.bits:
            return fitting(left.low << right.low, left.high << right.high, left.type)
        if node.op in ("<<", ">>"):
            shifted = node.op == ">>" and left.low >= 0 and right.low == right.high >= 0
            return fitting(left.low >> right.low, left.high >> right.low, left.type) if shifted else any_of(left.type)
        common = usual_conversion(left.type, right.type, self.symbols)
        left, right = converted(left, common), converted(right, common)
        a, b, c, d = left.low, left.high, right.low, right.high
        match node.op:
            case "+":
                return fitting(a + c, b + d, common)
            case "-":
                return fitting(a - d, b - c, common)
            case "*":
                products = (a * c, a * d, b * c, b * d)
                return fitting(min(products), max(products), common)
            case "/" if c > 0:
                ends = [quotient(end, divisor) for end in (a, b) for divisor in (c, d)]
                return fitting(min(ends), max(ends), common)
            case "%" if c > 0:
                return fitting(max(a, 1 - d) if a < 0 else 0, max(min(b, d - 1), 0), common)
            case "&" if c >= 0 or a >= 0:
                return fitting(0, min(end for start, end in ((a, b), (c, d)) if start >= 0), common)
            case "|" | "^" if a >= 0 and c >= 0:
                return fitting(0, (1 << max(b, d).bit_length()) - 1, common)
        return any_of(common)

    # --- branches -----------------------------------------------------------------------------------------------------

    def where(self, cond: Any, state: Mapping[str, Range], holds: bool) -> dict[str, Range]:
        """The state where a condition holds, or fails. An empty interval, of code that never runs, isn't told."""
        match cond:
            case ir.UnaryOp(op="!"):
                return self.where(cond.expr, state, not holds)
            case ir.BinaryOp(op="&&" | "||") if (cond.op == "&&") == holds:
                return self.where(cond.right, self.where(cond.left, state, holds), holds)
            case ir.BinaryOp(op=op) if op in COMPARISONS and not effects(cond).changed:
                op = op if holds else _OPPOSITE[op]
                made = self.compared(cond.left, op, cond.right, state)
                return self.compared(cond.right, _MIRRORED[op], cond.left, made)
        return dict(state)

    def compared(self, node: Any, op: str, other: Any, state: Mapping[str, Range]) -> dict[str, Range]:
        """The state where a variable compares like this with something."""
        made = dict(state)
        if not isinstance(node, ir.ID) or node.name not in self.variables:
            return made
        quiet = replace(self, found={})
        own, limit = quiet.of_name(node.name, state), quiet.value(other, state)
        if own is None or limit is None:
            return made
        common = usual_conversion(quiet.promoted(own).type, quiet.promoted(limit).type, self.symbols)
        if not common.signed and (own.low < 0 or limit.low < 0):
            return made  # what is compared are other values
        low, high = own.low, own.high
        if op in ("<", "<="):
            high = min(high, limit.high - (op == "<"))
        elif op in (">", ">="):
            low = max(low, limit.low + (op == ">"))
        elif op == "==":
            low, high = max(low, limit.low), min(high, limit.high)
        if low <= high:
            made[node.name] = Range(low, high, own.type)
        return made


# --- small things -----------------------------------------------------------------------------------------------------


def _is_integer(ctype: CType) -> bool:
    return bool(ctype.integer and ctype.bits)


def _depth(node: Any) -> int:
    """How many loops there are inside of each other."""
    inside = max((_depth(part) for part in node.parts), default=0)
    return inside + isinstance(node, _LOOPS)


def _both(old: tuple[int, int] | None, new: Range | None) -> tuple[int, int] | None:
    """An interval that holds the values of both."""
    if old is None or new is None:
        return None
    return (min(old[0], new.low), max(old[1], new.high)) if old != _NOTHING else (new.low, new.high)


def _forget(names: Iterable[str], state: dict[str, Range]) -> None:
    for name in names:
        state.pop(name, None)


__all__ = ["MAX_TABLE", "Values", "read_values", "subscript_ranges", "values_of_subscripts"]
