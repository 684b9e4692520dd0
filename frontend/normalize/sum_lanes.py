"""Statements that add to sums, one below the other, as what the lanes of a vector do: alike but for subscripts that
grow by one from lane to lane."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from scopt import ir
from scopt.frontend.normalize.expression_types import ExpressionTypes
from scopt.frontend.normalize.tree_rewriting import names_of, number, plus, signed_number, value_of
from scopt.ir.scop import CType
from scopt.ir.walks import changed, mapped, same_node, same_tree, walk

# Lanes at most, bytes of them at least, and sums that a lane has.
_MOST_LANES, _LEAST_BYTES, _MOST_SUMS = 16, 16, 4
_NUMBERS = ("float", "double")
_PLAIN = (ir.ID, ir.Constant, ir.ArrayRef, ir.StructRef, ir.BinaryOp, ir.Cast, ir.Typename, ir.TypeDecl)
_PLAIN_TYPES = (ir.IdentifierType, ir.Struct, ir.Union, ir.Enum)


class Update(Struct, frozen=True, eq=False):
    """cell op value. Subscripts in the value are sums of an expression, if any, and a constant; moving: those that grow
    by one from lane to lane."""

    cell: Any
    op: str
    value: Any
    moving: frozenset[ir.Node] = frozenset()

    def at(self, lane: Any) -> Any:
        """The value in a lane."""

        def change(node: Any) -> Any:
            made = mapped(node, change)
            if not isinstance(made, ir.ArrayRef):
                return made
            rest, first = split(made.subscript)
            if node not in self.moving:
                return changed(made, subscript=signed_number(first) if rest is None else plus(rest, first))
            if rest is None and first == 0:
                return changed(made, subscript=lane)
            start = signed_number(first) if rest is None else plus(rest, first)
            return changed(made, subscript=ir.BinaryOp("+", start, lane))

        return change(self.value)


class Lanes(Struct, frozen=True, eq=False):
    """number: of lanes. statements: that they are. updates: those of the first lane. cells: what each of these updates
    in all lanes. type: of the sums. mentions: how often the statements name variables that are sums, or have them as
    cells."""

    number: int
    statements: int
    updates: tuple[Update, ...]
    cells: tuple[tuple[Any, ...], ...]
    type: str
    mentions: Mapping[str, int]


def lanes_at(items: Sequence[Any], first: int, types: ExpressionTypes) -> Lanes | None:
    """The lanes that begin with a statement; None if there are none."""
    for together in range(1, _MOST_SUMS + 1):
        found = _lanes(items[first : first + together * _MOST_LANES], together, types)
        if found is not None:
            return found
    return None


def _lanes(items: Sequence[Any], together: int, types: ExpressionTypes) -> Lanes | None:
    """together: statements of a lane."""
    updates = list[Update]()
    for item in items:
        update = update_of(item)
        if update is None:
            break
        updates.append(update)
    if len(updates) < 2 * together:
        return None
    starts = [_template(updates[k], updates[k + together]) for k in range(together)]
    templates = [one for one in starts if one is not None]
    ctype = _type(updates[0], types)
    if ctype is None or len(templates) < together or not all(one.moving for one in templates):
        return None
    moving = [types.of(node) for one in templates for node in one.moving]
    if any(one is None or one.bits != ctype.bits for one in moving):
        return None
    lanes = 0
    while (lanes + 1) * together <= len(updates):
        lane = updates[lanes * together : (lanes + 1) * together]
        if not all(_is_lane(one, own, lanes, types, ctype) for one, own in zip(templates, lane, strict=True)):
            break
        lanes += 1
    lanes = 1 << (lanes.bit_length() - 1) if lanes else 0
    if lanes < 2 or lanes * ctype.bytes < _LEAST_BYTES:
        return None
    whole = updates[: lanes * together]
    cells = tuple(tuple(one.cell for one in whole[k::together]) for k in range(together))
    return Lanes(lanes, len(whole), tuple(templates), cells, ctype.spelling, _mentions(items, whole))


def _mentions(items: Sequence[Any], whole: Sequence[Update]) -> Mapping[str, int]:
    names = {_name(one.cell) for one in whole}
    total = Counter[str]()
    for item, update in zip(items, whole, strict=False):
        # The cell stands there twice in `s = s + value`.
        total[_name(update.cell)] += 2 if item.op == "=" else 1
    return {name: total[name] for name in names}


def _name(cell: Any) -> str:
    return str((cell.name if isinstance(cell, ir.ArrayRef) else cell).name)


def update_of(item: Any) -> Update | None:
    """A statement that adds to a variable, or to a cell with a constant subscript, or subtracts from it."""
    match item:
        case ir.Assignment(op="+=" | "-=" as op, lvalue=cell, rvalue=value):
            pass
        case ir.Assignment(op="=", lvalue=cell, rvalue=ir.BinaryOp(op="+" | "-" as sign, left=own, right=value)):
            op = f"{sign}="
            if not same_tree(cell, own):
                return None
        case _:
            return None
    match cell:
        case ir.ID():
            pass
        case ir.ArrayRef(name=ir.ID(), subscript=subscript) if value_of(subscript) is not None:
            pass
        case _:
            return None
    if not all(map(_is_plain, walk(value))):
        return None
    return Update(cell, op, _summed(value))


def _is_plain(node: Any) -> bool:
    """Whether a part of an expression has no effect."""
    return isinstance(node, (*_PLAIN, *_PLAIN_TYPES)) or (isinstance(node, ir.UnaryOp) and node.op in ("-", "+", "*"))


def split(subscript: Any) -> tuple[Any, int]:
    """A subscript as an expression, None for 0, and a constant."""
    constant = value_of(subscript)
    if constant is not None:
        return None, constant
    match subscript:
        case ir.BinaryOp(op="+" | "-" as op, left=left, right=right) if (constant := value_of(right)) is not None:
            rest, more = split(left)
            return rest, more + constant if op == "+" else more - constant
        case ir.BinaryOp(op="+", left=left, right=right) if (constant := value_of(left)) is not None:
            rest, more = split(right)
            return rest, more + constant
    return subscript, 0


def _summed(value: Any) -> Any:
    """An expression whose subscripts are `_joined`."""
    made = mapped(value, _summed)
    return changed(made, subscript=_joined(*split(made.subscript))) if isinstance(made, ir.ArrayRef) else made


def _joined(rest: Any, constant: int) -> Any:
    if rest is None:
        return signed_number(constant)
    return ir.BinaryOp("-" if constant < 0 else "+", rest, number(abs(constant)), rest.coord)


def _template(first: Update, second: Update) -> Update | None:
    """The first lane's update, with the subscripts that are larger by one in the second lane; None if they differ in
    anything else."""
    moving = set[ir.Node]()

    def compare(mine: Any, other: Any) -> bool:
        if not same_node(mine, other):
            return False
        if isinstance(mine, ir.ArrayRef):
            (rest, at), (other_rest, other_at) = split(mine.subscript), split(other.subscript)
            if other_at == at + 1 and (rest is other_rest or same_tree(rest, other_rest)):
                moving.add(mine)
                return compare(mine.name, other.name)
        parts, others = [*mine.parts], [*other.parts]
        return len(parts) == len(others) and all(map(compare, parts, others))

    alike = first.op == second.op and compare(first.value, second.value)
    return Update(first.cell, first.op, first.value, frozenset(moving)) if alike else None


def _is_lane(template: Update, update: Update, lane: int, types: ExpressionTypes, wanted: CType) -> bool:
    """Whether an update is that of a lane, of numbers of the type."""
    own = _type(update, types)
    if own is None or own.spelling != wanted.spelling or update.op != template.op:
        return False
    return same_tree(_summed(template.at(number(lane))), update.value)


def _type(update: Update, types: ExpressionTypes) -> CType | None:
    """The type of a sum that no pointer leads to, and of what is added to it; None for others."""
    symbol = types.scope.get(_name(update.cell))
    if symbol is None or symbol.kind not in ("local", "parameter") or symbol.static or symbol.address_taken:
        return None
    ctype, dims = symbol.type, 1 if isinstance(update.cell, ir.ArrayRef) else 0
    if symbol.pointer or len(symbol.dims) != dims or ctype.volatile or ctype.atomic or ctype.spelling not in _NUMBERS:
        return None
    read = [types.scope[name].type for name in names_of(update.value) if name in types.scope]
    added = types.of(update.value)
    if added is None or added.spelling != ctype.spelling or any(one.volatile or one.atomic for one in read):
        return None
    return ctype
