"""A body of a loop over numbers where one bit of its iterator is known: conditions that ask for the bit are decided,
and the number that differs in that bit is a sum."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from scopt import ir
from scopt.frontend.normalize.tree_rewriting import value_of
from scopt.ir.effects import effects
from scopt.ir.truths import truth
from scopt.ir.walks import mapped, same_tree, used_names, walk

_OTHER_BELOW: Mapping[str, bool] = {"<": False, "<=": False, ">": True, ">=": True}


class Bit(Struct, frozen=True, eq=False):
    """A bit of an iterator. name: the iterator's. mask: an expression for the power of two that the bit is worth."""

    name: str
    mask: Any

    def is_set(self, node: Any) -> bool:
        """Whether an expression is the bit where it stands."""
        return self.joined(node, "&")

    def is_shifted(self, node: Any) -> bool:
        """Whether an expression is the bit as 0 or 1."""
        match node:
            case ir.BinaryOp(op="&" | "%" as op, left=ir.BinaryOp(op=">>", left=ir.ID(name=name), right=by), right=one):
                return name == self.name and value_of(one) == (1 if op == "&" else 2) and self.is_shift(by)
        return False

    def is_shift(self, by: Any) -> bool:
        match self.mask:
            case ir.BinaryOp(op="<<", left=ir.Constant() as one, right=right):
                return one.value.rstrip("uUlL") == "1" and same_tree(right, by)
        value, places = value_of(self.mask), value_of(by)
        return value is not None and places is not None and 0 <= places < 64 and value == 1 << places

    def is_other(self, node: Any) -> bool:
        """Whether an expression is the number that differs in the bit."""
        return self.joined(node, "^")

    def joined(self, node: Any, op: str) -> bool:
        if not isinstance(node, ir.BinaryOp) or node.op != op:
            return False
        return any(
            isinstance(one, ir.ID) and one.name == self.name and same_tree(other, self.mask)
            for one, other in ((node.left, node.right), (node.right, node.left))
        )

    def decided(self, node: Any, *, on: bool) -> bool | None:
        """Whether a condition holds where the bit is set, or isn't; None where that depends on something else too."""
        if self.is_set(node) or self.is_shifted(node):
            return on
        match node:
            case ir.UnaryOp(op="!", expr=inner):
                held = self.decided(inner, on=on)
                return None if held is None else not held
            case ir.BinaryOp(op="&&" | "||" as op):
                left, right = (self.decided(side, on=on) for side in (node.left, node.right))
                ends = op == "||"
                # What stands in front is evaluated in any case.
                return ends if left is ends else None if left is None else right
            case ir.BinaryOp(op="==" | "!=" as op):
                for side, value in ((node.left, node.right), (node.right, node.left)):
                    if (asked := self.asked(side, value)) is not None:
                        return (asked is on) is (op == "==")
            case ir.BinaryOp(op=op) if op in _OTHER_BELOW:
                for side, own, above in ((node.left, node.right, True), (node.right, node.left, False)):
                    if self.is_other(side) and isinstance(own, ir.ID) and own.name == self.name:
                        return (_OTHER_BELOW[str(op)] is above) is not on
        return None

    def asked(self, side: Any, value: Any) -> bool | None:
        """The value of the bit that a comparison of an expression with another one asks for."""
        if not (self.is_set(side) or self.is_shifted(side)):
            return None
        number = value_of(value)
        if number == 0:
            return False
        one = same_tree(value, self.mask) if self.is_set(side) else number == 1
        return True if one else None

    def half(self, node: Any, *, on: bool) -> Any:
        """A statement where the bit is set, or isn't."""
        match node:
            case ir.If(cond=condition, iftrue=then, iffalse=otherwise):
                held = self.decided(condition, on=on)
                chosen = then if held else otherwise
                if held is not None:
                    return ir.EmptyStatement(node.coord) if chosen is None else self.half(chosen, on=on)
            case ir.TernaryOp(cond=condition, iftrue=then, iffalse=otherwise):
                held = self.decided(condition, on=on)
                if held is not None:
                    return self.half(then if held else otherwise, on=on)
            case ir.BinaryOp(op="&&" | "||" as op, left=left, right=right):
                held = self.decided(node, on=on)
                if held is not None:
                    return ir.Constant("int", str(int(held)), node.coord)
                for side, other in ((left, right), (right, left)):
                    if self.decided(side, on=on) is (op == "&&"):
                        return truth(self.half(other, on=on))
            case ir.UnaryOp() | ir.BinaryOp() if not self.is_set(node) and self.decided(node, on=on) is not None:
                return ir.Constant("int", str(int(bool(self.decided(node, on=on)))), node.coord)
            case ir.BinaryOp():
                value = self.value(node, on=on)
                if value is not node:
                    return value
        return mapped(node, lambda child: self.half(child, on=on))

    def value(self, node: ir.BinaryOp, *, on: bool) -> Any:
        own, mask = ir.ID(self.name, node.coord), self.mask
        if self.is_other(node):
            return ir.BinaryOp("-" if on else "+", own, mask, node.coord)
        if self.is_set(node):
            return mask if on else ir.Constant("int", "0", node.coord)
        if self.joined(node, "|"):
            return own if on else ir.BinaryOp("+", own, mask, node.coord)
        if self.is_cleared(node):
            return ir.BinaryOp("-", own, mask, node.coord) if on else own
        return node

    def is_cleared(self, node: Any) -> bool:
        match node:
            case ir.BinaryOp(op="&", left=left, right=right):
                for one, other in ((left, right), (right, left)):
                    if isinstance(one, ir.ID) and one.name == self.name and isinstance(other, ir.UnaryOp):
                        return other.op == "~" and same_tree(other.expr, self.mask)
        return False


def bits_of(name: str, body: Any) -> Iterator[Bit]:
    """The bits of an iterator that tell a cell from another one that is used too: ``x[i ^ h]``, or, below a condition
    that asks for the bit, ``x[i - h]``, ``x[i | h]``."""
    subscripts = [node.subscript for node in walk(body) if isinstance(node, ir.ArrayRef)]
    conditions = [node.cond for node in walk(body) if isinstance(node, ir.If | ir.TernaryOp)]
    asking = [part for condition in conditions if name in used_names(condition) for part in walk(condition)]
    found: list[Any] = []
    for node in (node for subscript in subscripts for node in walk(subscript)):
        for mask in masks_of(node, name):
            if any(same_tree(mask, other) for other in found):
                continue
            bit = Bit(name, mask)
            if node.op == "^" or any(bit.decided(part, on=True) is not None for part in asking):
                found.append(mask)
                yield bit


def masks_of(node: Any, name: str) -> Iterator[Any]:
    """What an expression may differ from an iterator in: ``i ^ h``, ``i | h``, ``i & ~h``, ``i - h``."""
    if not isinstance(node, ir.BinaryOp) or node.op not in ("^", "|", "+", "-", "&"):
        return
    for own, mask in ((node.left, node.right), (node.right, node.left)):
        if not isinstance(own, ir.ID) or own.name != name or (node.op == "-" and own is node.right):
            continue
        if node.op != "&":
            yield mask
        elif isinstance(mask, ir.UnaryOp) and mask.op == "~":
            yield mask.expr


def does_something(body: Any) -> bool:
    """Whether a statement changes anything but its own variables."""
    done = effects(body)
    return bool((done.assigned | done.through | done.passed) - done.declared or done.called or done.opaque)
