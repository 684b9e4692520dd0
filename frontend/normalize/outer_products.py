"""Variables that hold products from in front of a region, as ``int size = h * w;``, where subscripts have them.

``a[t * size + y * w + x]`` has cells ``a[t][y][x]`` once the product stands there, and ``a[y * w + x - size]`` is the
row `h` rows above; of `size` alone nobody knows how it goes together with `w`. Only variables whose declaration gives
them their one value count, of factors that have one, too: then the product has that value wherever the variable is
known. Members may be factors for those who ask at run time whether the variable still is their product
(`scopt.frontend.model.asked_products`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from scopt import ir
from scopt.frontend.normalize.tree_rewriting import names_of
from scopt.frontend.syntax.facts import FunctionFacts
from scopt.frontend.syntax.structs import Types
from scopt.frontend.syntax.symbols import Symbol, is_value
from scopt.ir.constants import promotion, usual_conversion
from scopt.ir.ctypes import ctype_of
from scopt.ir.effects import changes_of, effects
from scopt.ir.scop import CType
from scopt.ir.walks import changed, replaced, same_items, walk


def with_outer_products(
    items: Iterable[Any], facts: FunctionFacts, symbols: Mapping[str, Symbol], inside: frozenset[str]
) -> tuple[Any, ...]:
    """A region's statements with products in the place of such variables, in subscripts. inside: names that the region
    declares, and its iterators."""
    items = tuple(items)
    distances = frozenset(strides(items))
    heads = frozenset(name for node in walk(*items) if isinstance(node, ir.For) for name in _head(node))
    wanted = frozenset(name for one in _subscripts(items) for name in names_of(one)) - heads - inside
    if not (wanted and distances) or facts.hidden_jumps or facts.entered:
        return items
    outer = OuterVariables(facts.function, symbols, inside)
    found: dict[str, Any] = {}
    for name in sorted(wanted):
        product = outer.product(name)
        if product is not None and not distances.isdisjoint(names_of(product)):
            found[name] = product
    if not found:
        return items
    made = tuple(in_subscripts(item, found) for item in items)
    return items if same_items(made, items) else made


# Bits of the narrowest type that C computes in.
_LEAST = 32


class OuterVariables(Struct, frozen=True, eq=False):
    """The variables of the function around a region. types: where members may be factors, what these are."""

    function: Any
    symbols: Mapping[str, Symbol]
    inside: frozenset[str]
    types: Types | None = None

    def product(self, name: str) -> Any | None:
        """The product of variables, of the variable's own type, that a variable holds; None for any other."""
        symbol = self.symbols.get(name)
        value = symbol.decl.init if symbol is not None and isinstance(symbol.decl, ir.Decl) else None
        if not isinstance(value, ir.BinaryOp) or value.op != "*" or (symbol := self.fixed(name)) is None:
            return None
        kind = self.type_of(value)
        same = kind is not None and (kind.bits, kind.signed) == (symbol.type.bits, symbol.type.signed)
        if not same:
            return None
        return replaced(value, lambda node: self.product(node.name) or node if isinstance(node, ir.ID) else node)

    def member(self, name: str) -> Any | None:
        """The member that a variable is initialized with; None for any other."""
        symbol = self.fixed(name)
        value = symbol.decl.init if symbol is not None and isinstance(symbol.decl, ir.Decl) else None
        return value if is_plain_member(value) else None

    def fixed(self, name: str) -> Symbol | None:
        """An integer variable of the function with one value, which only its name leads to."""
        symbol = self.symbols.get(name)
        if symbol is None or name in self.inside or symbol.kind not in ("local", "parameter"):
            return None
        if symbol.pointer or not is_value(symbol) or not symbol.type.integer or symbol.type.bits < _LEAST:
            return None
        body = self.function.body
        changes = changes_of(name, body) - (symbol.kind == "local")
        done = effects(body)
        return None if changes or done.opaque or name in done.taken | done.assigned else symbol

    def type_of(self, node: Any) -> CType | None:
        """The type of a product of such variables; None for everything else."""
        match node:
            case ir.StructRef() if self.types is not None and is_plain_member(node):
                typed = self.types.of(node)
                plain = typed is not None and not typed.layers and typed.type.integer and typed.type.bits
                steady = plain and typed is not None and not (typed.type.volatile or typed.type.atomic)
                return promotion(typed.type, self.symbols) if steady and typed is not None else None
            case ir.ID(name=name):
                symbol = self.fixed(name)
                return promotion(symbol.type, self.symbols) if symbol is not None else None
            case ir.BinaryOp(op="*"):
                left, right = self.type_of(node.left), self.type_of(node.right)
                return usual_conversion(left, right, self.symbols) if left is not None and right is not None else None
            case ir.Cast(expr=ir.ID() | ir.StructRef()) if self.type_of(node.expr) is not None:
                kind = ctype_of(node.to_type, self.symbols)
                return promotion(kind, self.symbols) if kind is not None and kind.integer and kind.bits else None
        return None


def is_plain_member(node: Any) -> bool:
    """Whether a node is a member of an object, or of what a variable points to."""
    return isinstance(node, ir.StructRef) and all(isinstance(one, ir.StructRef | ir.ID) for one in walk(node))


def _head(loop: ir.For) -> Iterator[str]:
    for part in (loop.init, loop.cond, loop.next):
        if part is not None:
            yield from names_of(part)


def strides(items: Iterable[Any]) -> Iterator[str]:
    """Variables that subscripts multiply by."""
    for subscript in _subscripts(items):
        for node in walk(subscript):
            if isinstance(node, ir.BinaryOp) and node.op == "*":
                yield from (side.name for side in (node.left, node.right) if isinstance(side, ir.ID))


def _subscripts(items: Iterable[Any]) -> Iterator[Any]:
    for node in walk(*items):
        match node:
            case ir.ArrayRef():
                yield node.subscript
            case ir.UnaryOp(op="*"):
                yield node.expr


def in_subscripts(item: Any, values: Mapping[str, Any]) -> Any:
    """A statement with values in the place of names, in its subscripts."""

    def inner(node: Any) -> Any:
        return values.get(node.name, node) if isinstance(node, ir.ID) else node

    def outer(node: Any) -> Any:
        made: Any = node
        match node:
            case ir.ArrayRef():
                made = changed(node, name=replaced(node.name, outer), subscript=replaced(node.subscript, inner))
            case ir.UnaryOp(op="*"):
                made = changed(node, expr=replaced(node.expr, inner))
        return node if all(a is b for a, b in zip(made.parts, node.parts, strict=True)) else made

    return replaced(item, outer)
