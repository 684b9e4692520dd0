"""What stands where a pointer is used that is one of several: what is read is chosen, and what is written stands in the
branches of a condition."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from scopt import ir
from scopt.frontend.model.pointers import PointerSums
from scopt.frontend.normalize.tree_rewriting import mentions
from scopt.frontend.syntax.structs import reference_of
from scopt.ir.effects import bases, target, targets
from scopt.ir.walks import changed, mapped, rebuilt, replaced, walk

_REFERENCES = (ir.ArrayRef, ir.StructRef)
BODIES = ("stmt", "iftrue", "iffalse")


class NoChoiceError(Exception):
    """A pointer that stays as it is."""


class Choice(Struct, frozen=True, eq=False):
    """cond ? then : otherwise, of pointers or choices among them."""

    cond: Any
    then: Any
    otherwise: Any


def setting_of(node: Any) -> tuple[str, Any] | None:
    """The variable that a statement gives a value, and that."""
    match node:
        case ir.Decl(name=str(name), init=value) if value is not None and not node.storage:
            return name, value
        case ir.Assignment(op="=", lvalue=ir.ID(name=name), rvalue=value):
            return name, value
    return None


class Uses(Struct, frozen=True, eq=False):
    """What stands where a pointer is used. before: statements in front of those that follow its setting."""

    name: str
    setting: Any
    choice: Choice
    before: tuple[Any, ...]
    sums: PointerSums

    def put_in(self, root: ir.Compound) -> ir.Compound:
        made: ir.Compound = self.statement(rebuilt(root, self.but_setting))
        return made

    def but_setting(self, node: Any) -> Any:
        return node if node is self.setting else self.sums.subscripted(node)

    def statement(self, node: Any) -> Any:
        match node:
            case None:
                return None
            case ir.Compound() if any(self.is_setting(one) for one in node.block_items or ()):
                items: list[Any] = []
                for one in node.block_items:
                    items += self.in_place(one) if self.is_setting(one) else [self.statement(one)]
                return changed(node, block_items=items)
            case ir.DeclList() if isinstance(node.decls, (list, tuple)):
                return mapped(node, self.statement)
            case ir.Decl(name=name, init=None) if name == self.name:
                return ir.EmptyStatement()
            case ir.Compound() | ir.Label() | ir.Case() | ir.Default():
                return mapped(node, self.statement)
            case ir.If() | ir.For() | ir.While() | ir.DoWhile() | ir.Switch():
                parts = node.children()
                made = {key: (self.statement if key in BODIES else self.read)(child) for key, child in parts}
                return changed(node, **made)
            case _ if (written := target(node)) is not None and self.name in bases(written):
                return self.write(node, written)
        return self.read(node)

    def is_setting(self, node: Any) -> bool:
        return node is self.setting or (
            isinstance(node, ir.DeclList) and any(one is self.setting for one in node.decls)
        )

    def in_place(self, node: Any) -> list[Any]:
        if isinstance(node, ir.DeclList):
            return [part for one in node.decls for part in (self.before if one is self.setting else (self.read(one),))]
        return list(self.before)

    def write(self, node: Any, written: Any) -> Any:
        """A statement that writes what the pointer leads to, once for each that it may be."""
        others = [one for one in targets(node) if one is not written and self.name in bases(one)]
        if others or self.bare(node):
            raise NoChoiceError

        def chosen(choice: Any) -> Any:
            if not isinstance(choice, Choice):
                return ir.Compound([self.with_pointer(node, choice)], node.coord)
            return ir.If(choice.cond, chosen(choice.then), chosen(choice.otherwise), node.coord)

        return chosen(self.choice)

    def with_pointer(self, node: Any, pointer: Any) -> Any:
        put = replaced(node, lambda one: pointer if isinstance(one, ir.ID) and one.name == self.name else one)
        return rebuilt(put, self.sums.subscripted)

    def bare(self, node: Any) -> bool:
        """Whether the pointer is used but to be followed."""
        followed = sum(self.is_followed(one) for one in walk(node))
        return followed != mentions(node, self.name)

    def is_followed(self, node: Any) -> bool:
        match node:
            case ir.ArrayRef(name=ir.ID(name=name)) | ir.UnaryOp(op="*", expr=ir.ID(name=name)):
                return bool(name == self.name)
            case ir.StructRef(type="->", name=ir.ID(name=name)):
                return bool(name == self.name)
        return False

    def read(self, node: Any) -> Any:
        """An expression, or a declaration, that doesn't write what the pointer leads to."""
        if node is None or not mentions(node, self.name):
            return node
        if any(self.name in bases(one) for one in targets(node)):
            raise NoChoiceError
        found = setting_of(node)
        if found is not None and isinstance(found[1], (ir.ID, ir.BinaryOp)) and self.name in bases(found[1]):
            # Another pointer
            key = "init" if isinstance(node, ir.Decl) else "rvalue"
            choice = ternary(self.choice)
            inner = replaced(found[1], lambda one: choice if isinstance(one, ir.ID) and one.name == self.name else one)
            if not self.bare(found[1]) or mentions(found[1], self.name) > 1:
                return self.expression(node)
            return changed(node, **{key: inner})
        if self.bare(node):
            raise NoChoiceError
        return self.expression(node)

    def expression(self, node: Any) -> Any:
        if isinstance(node, (*_REFERENCES, ir.UnaryOp)):
            is_reference = not isinstance(node, ir.UnaryOp) or node.op == "*"
            base = reference_of(node).base if is_reference else None
            if isinstance(node, ir.UnaryOp) and node.op in ("&", "sizeof"):
                raise NoChoiceError
            if isinstance(base, ir.ID) and base.name == self.name:
                inner = self.below(node)
                return ternary(each(self.choice, lambda one: self.with_base(inner, one)))
        return mapped(node, self.expression)

    def below(self, node: Any) -> Any:
        """A reference with its subscripts done."""
        if isinstance(node, ir.ID):
            return node
        if isinstance(node, ir.ArrayRef):
            return changed(node, name=self.below(node.name), subscript=self.expression(node.subscript))
        key = "name" if isinstance(node, ir.StructRef) else "expr"
        inner = getattr(node, key)
        return changed(node, **{key: self.below(inner) if not isinstance(inner, ir.BinaryOp) else inner})

    def with_base(self, node: Any, pointer: Any) -> Any:
        """A reference with another pointer at its base."""

        def put(one: Any) -> Any:
            if isinstance(one, ir.ID):
                return pointer
            key = "expr" if isinstance(one, ir.UnaryOp) else "name"
            return self.sums.subscripted(changed(one, **{key: put(getattr(one, key))}))

        return put(node)


def each(choice: Any, make: Callable[[Any], Any]) -> Any:
    if not isinstance(choice, Choice):
        return make(choice)
    return Choice(choice.cond, each(choice.then, make), each(choice.otherwise, make))


def ternary(choice: Any) -> Any:
    if not isinstance(choice, Choice):
        return choice
    return ir.TernaryOp(choice.cond, ternary(choice.then), ternary(choice.otherwise), choice.cond.coord)


def pointers_of(choice: Any) -> Iterator[Any]:
    if isinstance(choice, Choice):
        yield from pointers_of(choice.then)
        yield from pointers_of(choice.otherwise)
    else:
        yield choice


def conditions_of(choice: Any) -> Iterator[Any]:
    if isinstance(choice, Choice):
        yield choice.cond
        yield from conditions_of(choice.then)
        yield from conditions_of(choice.otherwise)


def parts_of(choice: Any) -> Iterator[Any]:
    yield from conditions_of(choice)
    yield from pointers_of(choice)


def number_of(choice: Any) -> int:
    return sum(1 for _ in pointers_of(choice))


def subscripts_of(node: Any) -> Iterator[Any]:
    """What is added to a pointer, or subscripts an array."""
    match node:
        case ir.BinaryOp():
            yield from subscripts_of(node.left)
            yield node.right
        case ir.ArrayRef():
            yield from subscripts_of(node.name)
            yield node.subscript
        case ir.StructRef():
            yield from subscripts_of(node.name)
        case ir.UnaryOp(op="&"):
            yield from subscripts_of(node.expr)
