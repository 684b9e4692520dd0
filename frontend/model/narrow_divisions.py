"""Divisions of weighted averages, ``(a[i] * m[i] + b[i] * (255 - m[i]) + 127) / 255``, in 16 bits.

Compilers divide vectors of 16 bits at half the cost, or less, of those of 32, but bound each operand by itself: 130177
in the example, where the weights' sum leaves 65152 at most. Here a dividend is a polynomial over cells of narrow types,
and what is read of one cell is one variable. A polynomial that has each of its variables to the first power at most has
its extremes at corners of their box. Where only that shows that a dividend fits, the text says so by a cast, which
changes no value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product
from math import prod
from typing import Any

from msgspec import Struct, field

from scopt import ir
from scopt.frontend.normalize.tree_rewriting import cast, value_of
from scopt.ir.constants import typed_constant
from scopt.ir.ctypes import Symbol, limits_of, shape_of
from scopt.ir.effects import effects
from scopt.ir.scop import CType
from scopt.ir.walks import changed, distinct, replaced, same_tree, used_names, walk

_JUMPS = (ir.Goto, ir.Label, ir.Switch)
_NARROW, _LONGEST, _CORNERS = 16, 24, 10
_INT = (-(1 << 31), (1 << 31) - 1)
# By products of variables, told by their numbers: coefficients.
Terms = dict[tuple[int, ...], int]


def with_narrow_divisions(
    items: Iterable[Any], symbols: Mapping[str, Symbol], is_variable: Callable[[str], bool]
) -> tuple[Any, ...]:
    """Statements with casts of dividends that fit an unsigned short as compilers don't see.

    symbols: what names mean, each one thing. is_variable(name): nothing but its name leads to a variable.
    """
    items = tuple(items)
    if not any(_is_division(node) for node in walk(*items)) or any(isinstance(node, _JUMPS) for node in walk(*items)):
        return items
    items = tuple(distinct(items))  # a division may be right in one of its places
    reader = _Reader(symbols, is_variable)
    reader.block(items, {})
    found = reader.narrow
    if not found:
        return items

    def narrowed(node: Any) -> Any:
        return changed(node, left=cast("unsigned short", node.left)) if node in found else node

    return tuple(replaced(item, narrowed) for item in items)


def _is_division(node: Any) -> bool:
    """Of a sum of products, or a variable, by a number."""
    if not isinstance(node, ir.BinaryOp) or node.op not in ("/", "%") or not isinstance(node.right, ir.Constant):
        return False
    divisor = value_of(node.right)
    return divisor is not None and 1 < divisor < 1 << _NARROW and isinstance(node.left, ir.BinaryOp | ir.ID)


class _Reader(Struct, frozen=True, eq=False):
    """Runs once through statements. cells: read, and not written since as far as is known, with their variables.
    bounds: of the variables. narrow: divisions whose dividends are to be cast."""

    symbols: Mapping[str, Symbol]
    is_variable: Callable[[str], bool]
    bounds: list[tuple[int, int]] = field(default_factory=list)
    cells: list[tuple[Any, int]] = field(default_factory=list)
    narrow: set[Any] = field(default_factory=set)

    # --- statements: `state`, the variables' values, is changed to what holds behind them -----------------------------

    def block(self, items: Iterable[Any], state: dict[str, Terms]) -> None:
        for item in items:
            self.statement(item, state)

    def statement(self, node: Any, state: dict[str, Terms]) -> None:
        match node:
            case ir.Compound():
                self.block(node.block_items or (), state)
            case ir.DeclList():
                self.block(node.decls, state)
            case ir.If():
                self.forget(node.cond, state)
                then, otherwise = dict(state), dict(state)
                self.apart(node.iftrue, then)
                self.apart(node.iffalse, otherwise)
                self.forget(node, state)
            case ir.For() | ir.While() | ir.DoWhile():
                self.forget(node, state)
                self.apart(node.stmt, dict(state))
            case ir.Decl(name=name, init=value) if value is not None:
                self.assign(name, value, node, state)
            case ir.Assignment(op="=", lvalue=ir.ID(name=name), rvalue=value):
                self.assign(name, value, node, state)
            case ir.Assignment(op="=", lvalue=ir.ArrayRef(), rvalue=value):
                self.value(value, state)
                self.forget(node, state)
            case None:
                return
            case _:
                self.forget(node, state)

    def apart(self, node: Any, state: dict[str, Terms]) -> None:
        """A part that may not run, or again and again: what was read before it is told apart."""
        self.cells.clear()
        self.statement(node, state)
        self.cells.clear()

    def assign(self, name: str, value: Any, node: Any, state: dict[str, Terms]) -> None:
        found = self.value(value, state)
        self.forget(node, state)
        symbol = self.symbols.get(name)
        if found is not None and symbol is not None and self.is_number(name) and self.holds(symbol.type, found):
            state[name] = found

    def value(self, node: Any, state: Mapping[str, Terms]) -> Terms | None:
        """`terms` of a whole expression; nothing is known of one that has effects between its reads."""
        done = effects(node)
        return None if done.changed or done.called or done.opaque else self.terms(node, state)

    def forget(self, node: Any, state: dict[str, Terms]) -> None:
        """What a node changes isn't known any more."""
        if node is None:
            return
        done = effects(node)
        for name in done.changed:
            state.pop(name, None)
        written = done.written | done.passed | done.taken
        if done.opaque or done.unnamed or done.called or any(not self.is_number(name) for name in written):
            self.cells.clear()
        self.cells[:] = [one for one in self.cells if not written & {*used_names(one[0])}]

    def is_number(self, name: str) -> bool:
        """Whether a name is that of a variable that is no cell of an array."""
        symbol = self.symbols.get(name)
        return symbol is not None and self.is_variable(name) and not symbol.dims and not symbol.pointer

    # --- expressions --------------------------------------------------------------------------------------------------

    def terms(self, node: Any, state: Mapping[str, Terms]) -> Terms | None:
        """The value of an expression of type int, or a narrower one; None if it is another one, or not known. Divisions
        in it are looked at."""
        match node:
            case ir.Constant():
                constant = typed_constant(node, self.symbols)
                plain = constant is not None and constant[1].signed and constant[1].bits == self.int_bits
                return {(): constant[0]} if constant is not None and plain else None
            case ir.ID(name=name):
                return state.get(name)
            case ir.ArrayRef():
                return self.cell(node)
            case ir.Cast(to_type=to_type, expr=inner):
                value, target = self.terms(inner, state), shape_of(to_type, self.symbols)
                plain = not target.layers and target.type.integer and 0 < target.type.bits <= self.int_bits
                if not plain or (target.type.bits == self.int_bits and not target.type.signed):
                    return None
                return value if value is not None and self.holds(target.type, value) else self.narrow_one(target.type)
            case ir.BinaryOp(op="+" | "-" | "*" as op):
                left, right = self.terms(node.left, state), self.terms(node.right, state)
                made = _combined(op, left, right) if left is not None and right is not None else None
                return made if made is not None and len(made) <= _LONGEST and self.fits(made, _INT) else None
            case ir.BinaryOp(op="/" | "%"):
                return self.division(node, state)
        for child in () if node is None or isinstance(node, ir.FuncCall) else node.parts:
            self.terms(child, state)
        return None

    def division(self, node: Any, state: Mapping[str, Terms]) -> Terms | None:
        value, divisor = self.terms(node.left, state), value_of(node.right)
        if value is None or divisor is None or divisor < 1 or (ends := self.extremes(value)) is None or ends[0] < 0:
            return None
        high = (1 << _NARROW) - 1
        if _is_division(node) and ends[1] <= high < self.apart_extremes(value)[1]:
            self.narrow.add(node)
        last = ends[1] // divisor if node.op == "/" else min(ends[1], divisor - 1)
        return self.variable(0, last)

    def cell(self, node: Any) -> Terms | None:
        base = node
        while isinstance(base, ir.ArrayRef):
            base = base.name
        symbol = self.symbols.get(base.name) if isinstance(base, ir.ID) else None
        if symbol is None or symbol.type.volatile or symbol.type.atomic or effects(node).changed:
            return None
        rank = sum(isinstance(one, ir.ArrayRef) for one in _references(node))
        if len(symbol.dims) != rank or not symbol.type.integer or not 0 < symbol.type.bits <= _NARROW:
            return None
        known = next((number for other, number in self.cells if same_tree(other, node)), None)
        if known is None:
            known = len(self.bounds)
            self.bounds.append(limits_of(symbol.type))
            self.cells.append((node, known))
        return {(known,): 1}

    def narrow_one(self, ctype: CType) -> Terms | None:
        """Any value of a narrow type."""
        return self.variable(*limits_of(ctype)) if ctype.bits <= _NARROW else None

    def variable(self, low: int, high: int) -> Terms:
        self.bounds.append((low, high))
        return {(len(self.bounds) - 1,): 1}

    @property
    def int_bits(self) -> int:
        return self.symbols["int"].type.bits

    # --- bounds -------------------------------------------------------------------------------------------------------

    def holds(self, ctype: CType, value: Terms) -> bool:
        """Whether a value is the same after its conversion to a type."""
        exact = ctype.bits < self.int_bits or (ctype.signed and ctype.bits == self.int_bits)
        return ctype.integer and ctype.bits > 0 and exact and self.fits(value, limits_of(ctype))

    def fits(self, value: Terms, limits: tuple[int, int]) -> bool:
        ends = self.extremes(value)
        return ends is not None and limits[0] <= ends[0] and ends[1] <= limits[1]

    def apart_extremes(self, value: Terms) -> tuple[int, int]:
        """Bounds of a sum from those of its terms, each by itself."""
        low = high = 0
        for names, coefficient in value.items():
            ends = [coefficient * prod(one) for one in product(*(self.bounds[name] for name in names))]
            low, high = low + min(ends), high + max(ends)
        return low, high

    def extremes(self, value: Terms) -> tuple[int, int] | None:
        """The least and the greatest value, at corners; None of polynomials that have too many, or higher powers."""
        if any(len({*one}) < len(one) for one in value):
            return None
        names = sorted({name for one in value for name in one})
        if len(names) > _CORNERS:
            return self.apart_extremes(value)
        found = [
            sum(c * prod(corner[name] for name in one) for one, c in value.items())
            for ends in product(*(self.bounds[name] for name in names))
            for corner in [dict(zip(names, ends, strict=True))]
        ]
        return min(found), max(found)


def _combined(op: str, left: Terms, right: Terms) -> Terms:
    made = dict(left) if op != "*" else {}
    if op == "*":
        for one, a in left.items():
            for other, b in right.items():
                both = tuple(sorted((*one, *other)))
                made[both] = made.get(both, 0) + a * b
    else:
        for one, b in right.items():
            made[one] = made.get(one, 0) + (b if op == "+" else -b)
    return {one: c for one, c in made.items() if c}


def _references(node: Any) -> Iterator[Any]:
    while isinstance(node, ir.ArrayRef):
        yield node
        node = node.name
