"""Where conditions on a pixel's place are decided alike: ``x >= r && x + r < w``, and ``x + k < 0 ? 0 : …`` for all `k`
of a loop over a window.

A condition that tells pixels on the left from those on the right, by a place that only variables say which stay what
they are, is decided alike on either side of the place. One that names the row's end is about its right border, and any
other one about the left.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from msgspec import Struct, field

from scopt import ir
from scopt.frontend.normalize.tree_rewriting import cast, number, plus, signed_number, step_of, value_of
from scopt.frontend.syntax.scoping import loop_iterator
from scopt.ir.effects import effects
from scopt.ir.walks import changed, mapped, same_tree, used_names, walk

_ORDERS = ("<", "<=", ">", ">=")
_NEVER, _ALWAYS = number(0), number(1)


class Inner(Struct, frozen=True, eq=False):
    """The first and the last value of an iterator."""

    first: Any
    last: Any


def inner_loops(body: Any, places: Collection[str], is_int: Callable[[Any], bool]) -> Mapping[str, Inner] | None:
    """The loops in a body that step by one between values which stay what they are, by their iterators; None if others
    have an iterator of that name. places: of the pixel. is_int: whether an expression is one of variables of type int
    that stay what they are."""
    found: dict[str, Inner] = {}
    others: set[str] = set(places)
    for loop in (node for node in walk(body) if isinstance(node, ir.For)):
        name, known = loop_iterator(loop), None
        match loop:
            case ir.For(
                init=ir.DeclList(decls=[ir.Decl(type=ir.TypeDecl(type=ir.IdentifierType(names=["int"])), init=first)]),
                cond=ir.BinaryOp(op="<" | "<=" as op, left=ir.ID(name=tested), right=end),
            ) if name == tested and name is not None and step_of(loop.next) == (name, 1):
                plain = first is not None and all(is_int(one) or value_of(one) is not None for one in (first, end))
                if plain and name not in effects(loop.stmt).changed:
                    known = Inner(first, end if op == "<=" else ir.BinaryOp("-", end, number(1)))
        if name is None or name in others or (name in found and (known is None or not _alike(known, found[name]))):
            return None
        if known is None:
            others.add(name)
        else:
            found[name] = known
    return found


def _alike(one: Inner, other: Inner) -> bool:
    return same_tree(one.first, other.first) and same_tree(one.last, other.last)


class Borders(Struct, frozen=True, eq=False):
    """pixel: the iterator. width: where its loop ends. inner: loops inside. is_int: as in `inner_loops`. lows, highs:
    places from which on, and up to which, conditions are decided, as far as some have been; long_type: their type."""

    pixel: str
    width: Any
    inner: Mapping[str, Inner]
    is_int: Callable[[Any], bool]
    long_type: str
    lows: list[Any] = field(default_factory=list)
    highs: list[Any] = field(default_factory=list)

    def decided(self, node: Any) -> Any:
        """A statement without the conditions that are decided between `lows` and `highs`."""
        match node:
            case ir.If():
                cond = self.condition(node.cond)
                iftrue, iffalse = self.decided(node.iftrue), node.iffalse and self.decided(node.iffalse)
                if cond in (_NEVER, _ALWAYS):
                    taken = iftrue if cond is _ALWAYS else iffalse
                    return ir.EmptyStatement(node.coord) if taken is None else taken
                return changed(node, cond=cond, iftrue=iftrue, iffalse=iffalse)
            case ir.TernaryOp():
                cond = self.condition(node.cond)
                if cond in (_NEVER, _ALWAYS):
                    return self.decided(node.iftrue if cond is _ALWAYS else node.iffalse)
                return changed(node, cond=cond, iftrue=self.decided(node.iftrue), iffalse=self.decided(node.iffalse))
        return mapped(node, self.decided)

    def condition(self, node: Any) -> Any:
        """A condition, where it is decided: `_ALWAYS` or `_NEVER`."""
        if self.pixel not in used_names(node):
            return node
        match node:
            case ir.BinaryOp(op="&&" | "||" as op):
                left, right = self.condition(node.left), self.condition(node.right)
                none, all_of = (_ALWAYS, _NEVER) if op == "&&" else (_NEVER, _ALWAYS)
                if left is all_of or right is none:
                    return left
                return right if left is none else changed(node, left=left, right=right)
            case ir.BinaryOp(op=op) if op in _ORDERS:
                found = self.compared(node)
                return node if found is None else found
            case ir.UnaryOp(op="!"):
                inner = self.condition(node.expr)
                return _NEVER if inner is _ALWAYS else _ALWAYS if inner is _NEVER else node
        return node

    def compared(self, node: ir.BinaryOp) -> Any | None:
        """``x + … < …`` as a place that pixels lie in front of, or not."""
        parts = [*terms(node.left), *terms(node.right, -1)]
        own = [sign for sign, part in parts if isinstance(part, ir.ID) and part.name == self.pixel]
        rest = [(sign, part) for sign, part in parts if not (isinstance(part, ir.ID) and part.name == self.pixel)]
        if len(own) != 1 or not all(self.is_known(part) for _, part in rest):
            return None
        # x < place, or not: x + rest < 0 is x < -rest; -x + rest < 0 is not x < rest + 1
        front = (own[0] > 0) == (node.op in ("<", "<="))
        more = (own[0] > 0 and node.op in ("<=", ">")) or (own[0] < 0 and node.op in ("<", ">="))
        place = [(-own[0] * sign, part) for sign, part in rest]
        right = not set(used_names(self.width)).isdisjoint(name for _, part in rest for name in used_names(part))
        bound = self.extreme(place, int(more), greatest=not right)
        known = self.highs if right else self.lows
        known += [] if any(same_tree(bound, one) for one in known) else [bound]
        return _ALWAYS if front == right else _NEVER

    def is_known(self, part: Any) -> bool:
        return value_of(part) is not None or self.is_int(part) or (isinstance(part, ir.ID) and part.name in self.inner)

    def extreme(self, place: list[tuple[int, Any]], more: int, *, greatest: bool) -> Any:
        """The greatest or least value of a sum, whatever the iterators of inner loops are."""
        constant, others = more, list[tuple[int, Any]]()
        for sign, part in place:
            ends = self.inner.get(part.name) if isinstance(part, ir.ID) else None
            value = part if ends is None else ends.last if (sign > 0) == greatest else ends.first
            for own, term in terms(value, sign):
                known = value_of(term)
                constant += own * known if known is not None else 0
                others += [(own, term)] if known is None else []
        others.sort(key=lambda term: -term[0])
        if not others:
            return cast(self.long_type, signed_number(constant))
        (first, part), *rest = others
        total: Any = cast(self.long_type, part) if first > 0 else ir.UnaryOp("-", cast(self.long_type, part))
        for sign, part in rest:
            total = ir.BinaryOp("+" if sign > 0 else "-", total, part)
        return plus(total, constant)


def terms(node: Any, sign: int = 1) -> list[tuple[int, Any]]:
    """What a sum adds, with signs."""
    match node:
        case ir.BinaryOp(op="+" | "-" as op):
            return [*terms(node.left, sign), *terms(node.right, sign if op == "+" else -sign)]
        case ir.UnaryOp(op="-" | "+" as op):
            return terms(node.expr, sign if op == "+" else -sign)
    return [(sign, node)]


def is_product(node: Any) -> bool:
    """Whether a term is one of several factors."""
    while isinstance(node, ir.Cast):
        node = node.expr
    return isinstance(node, ir.BinaryOp) and node.op == "*"
