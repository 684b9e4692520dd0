"""Choices among narrow cells that stand several times in one expression, in variables of their own.

``MAX(MAX(a[i - 1], a[i]), a[i + 1])`` is a choice whose operands, written out, stand there twice: once where they are
compared, and once where one is taken. gcc computes what is taken behind a branch, and makes masks of that rather than
maxima, or no vectors at all (measured: six times as long for a maximum of five bytes).

Only what is evaluated anyway is computed before: what a choice compares, not what it takes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import count
from typing import Any

from msgspec import Struct, field

from scopt import ir
from scopt.frontend.model.narrow_variables import narrow_type
from scopt.frontend.syntax.symbols import symbol_of
from scopt.ir.ctypes import Symbol
from scopt.ir.effects import effects
from scopt.ir.walks import changed, copied, rebuilt, replaced, same_tree, walk

_NAME = "choice"
# Nodes of an expression: what is longer has too many choices to look at.
_LONGEST = 20_000


def with_choice_variables(
    items: Iterable[Any], symbols: Mapping[str, Symbol], reserved: Collection[str]
) -> tuple[tuple[Any, ...], dict[str, Symbol]]:
    """Statements with such variables, and the variables. symbols: what names mean, each one thing.
    reserved: names that may not be given to variables."""
    maker = _Maker(symbols, frozenset(reserved))

    def change(node: Any) -> Any:
        return maker.statement(node) if isinstance(node, ir.Assignment) else node

    made = tuple(rebuilt(item, _in_blocks(change)) for item in items)
    return made, maker.made


def _in_blocks(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Changes of statements that surely run: what conditions decide about stays one assignment."""

    def visit(node: Any) -> Any:
        match node:
            case ir.Compound():
                return changed(node, block_items=[change(one) for one in node.block_items or ()])
            case ir.For():
                return changed(node, stmt=change(node.stmt))
        return node

    return visit


class _Maker(Struct, frozen=True, eq=False):
    """made: the new variables."""

    symbols: Mapping[str, Symbol]
    reserved: frozenset[str]
    made: dict[str, Symbol] = field(default_factory=dict)

    def statement(self, node: ir.Assignment) -> Any:
        """An assignment, in a block behind the declarations of what it takes."""
        value = node.rvalue
        if node.op != "=" or not _is_pure(node) or sum(1 for _ in walk(value)) > _LONGEST:
            return node
        decls = list[ir.Decl]()
        while (found := self.repeated(value, node.lvalue)) is not None:
            choice, spelling = found
            decl = self.declared(choice, spelling)
            decls.append(decl)
            value = replaced(value, lambda one: ir.ID(decl.name) if same_tree(one, choice) else one)  # noqa: B023
        return ir.Compound([*decls, changed(node, rvalue=value)], node.coord) if decls else node

    def repeated(self, value: Any, written: Any) -> tuple[Any, str] | None:
        """The first choice inside of a value that is evaluated anyway, and stands there again; and its type."""
        own = _base(written)
        choices = [one for one in walk(value) if isinstance(one, ir.TernaryOp)]
        for one in _sure(value):
            if one is not value and sum(same_tree(one, other) for other in choices) > 1:
                spelling = narrow_type(one, {**self.symbols, **self.made})
                taken = {_base(cell) for cell in walk(one) if isinstance(cell, ir.ArrayRef)}
                if spelling is not None and own not in taken:
                    return one, spelling
        return None

    def declared(self, choice: Any, spelling: str) -> ir.Decl:
        taken = self.reserved | self.symbols.keys() | self.made.keys()
        name = next(name for k in count() if (name := f"{_NAME}_{k}") not in taken)
        kind = ir.TypeDecl(name, [], None, ir.IdentifierType(spelling.split()))
        decl = ir.Decl(name, [], [], [], [], kind, copied(choice), None)
        self.made[name] = symbol_of(decl, self.symbols)
        return decl


def _sure(node: Any) -> Iterator[Any]:
    """Choices in an expression that are evaluated whenever it is, inner ones first."""
    match node:
        case ir.TernaryOp(cond=cond):
            yield from _sure(cond)
            yield node
        case ir.BinaryOp(op="&&" | "||", left=left):
            yield from _sure(left)
        case _:
            for part in node.parts:
                yield from _sure(part)


def _is_pure(node: ir.Assignment) -> bool:
    """Whether an assignment does nothing but to write one cell."""
    done, own = effects(node.rvalue), effects(node.lvalue)
    return not any((one.written or one.called or one.opaque or one.unnamed or one.taken) for one in (done, own))


def _base(node: Any) -> str | None:
    while isinstance(node, ir.ArrayRef):
        node = node.name
    return node.name if isinstance(node, ir.ID) else None
