"""Rows that data pick: ``const int *row = table[s[i]];`` is ``int row_at; row_at = s[i]; const int *row =
table[row_at];``, for what the pointer leads to to take its place.

What is read where the pointer is set may be written before it is used; a variable keeps it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import count
from typing import Any

from msgspec import Struct, field

from scopt import ir
from scopt.frontend.normalize.expression_types import ExpressionTypes
from scopt.frontend.syntax.symbols import Symbol, symbol_of
from scopt.ir.constants import promotion
from scopt.ir.effects import effects
from scopt.ir.scop import CType
from scopt.ir.walks import changed, rebuilt, replaced, walk

# What a row is picked by: what memory holds, or a function returns.
_MEMORY = (ir.ArrayRef, ir.StructRef, ir.FuncCall)


def with_picked_rows(
    items: Iterable[Any],
    symbols: Mapping[str, Symbol],
    types: ExpressionTypes,
    inside: Collection[str],
    reserved: Collection[str],
    functions: Mapping[str, CType],
) -> tuple[tuple[Any, ...], dict[str, Symbol]]:
    """The statements of a region, in which each name has one meaning, in that form, and the new variables.

    inside: names of iterators, and of what the region declares. functions: the types of what those return
    that only compute a value from values."""
    maker = _Maker(symbols, types, frozenset(inside), frozenset(reserved), functions)

    def visit(node: Any) -> Any:
        if not isinstance(node, ir.Compound):
            return node
        made = [one for item in node.block_items or () for one in maker.statement(item)]
        return node if len(made) == len(node.block_items or ()) else changed(node, block_items=made)

    return tuple(rebuilt(item, visit) for item in items), maker.made


class _Maker(Struct, frozen=True, eq=False):
    """made: the new variables."""

    symbols: Mapping[str, Symbol]
    types: ExpressionTypes
    inside: frozenset[str]
    reserved: frozenset[str]
    functions: Mapping[str, CType]
    made: dict[str, Symbol] = field(default_factory=dict)

    def statement(self, node: Any) -> list[Any]:
        """What stands in the place of a statement."""
        match node:
            case ir.Decl(name=str(name), init=value) if value is not None and not node.storage and self.leads(name):
                before, init = self.picked(name, value)
                return [*before, changed(node, init=init)] if before else [node]
            case ir.Assignment(op="=", lvalue=ir.ID(name=name), rvalue=value) if self.leads(name):
                before, rvalue = self.picked(name, value)
                return [*before, changed(node, rvalue=rvalue)] if before else [node]
        return [node]

    def leads(self, name: str) -> bool:
        """Whether a name is that of a local pointer to numbers or structures."""
        symbol = self.symbols.get(name)
        if symbol is None or not symbol.pointer or symbol.pointer_depth != 1 or len(symbol.dims) != 1:
            return False
        return symbol.kind == "local"

    def picked(self, name: str, value: Any) -> tuple[list[Any], Any]:
        """Statements that set variables to what is read in the subscripts of a pointer's value, and the value."""
        done = effects(value)
        if done.written or not done.called <= self.functions.keys() or done.opaque or done.unnamed:
            return [], value
        before: list[Any] = []
        variables: dict[int, Any] = {}
        for cell in self.read(value):
            called = isinstance(cell, ir.FuncCall)
            if not called and not any(isinstance(one, ir.ID) and one.name in self.inside for one in walk(cell)):
                continue  # a size, which is read once in front of the region
            found = self.functions[cell.name.name] if called else self.types.of(cell)
            if found is None or not found.integer or found.volatile or found.atomic:
                return [], value
            decl = self.declared(f"{name}_at", promotion(found, self.symbols).spelling)
            before += [decl, ir.Assignment("=", ir.ID(decl.name), cell, cell.coord)]
            variables[id(cell)] = ir.ID(decl.name)
        return before, replaced(value, lambda one: variables.get(id(one), one))

    def read(self, value: Any) -> Iterator[Any]:
        """The cells whose values pick a row, the outermost ones."""
        match value:
            case ir.UnaryOp(op="&", expr=inner) | ir.StructRef(name=inner):
                yield from self.read(inner)
            case ir.ArrayRef(name=inner, subscript=subscript):
                yield from self.read(inner)
                yield from _cells(subscript)
            case ir.BinaryOp(op="+", left=left, right=right):
                yield from self.read(left)
                yield from _cells(right)

    def declared(self, base: str, spelling: str) -> ir.Decl:
        taken = self.reserved | self.symbols.keys() | self.made.keys()
        name = next(name for k in count(1) if (name := base if k == 1 else f"{base}_{k}") not in taken)
        kind = ir.TypeDecl(name, [], None, ir.IdentifierType(spelling.split()))
        decl = ir.Decl(name, [], [], [], [], kind, None, None)
        self.made[name] = symbol_of(decl, self.symbols)
        return decl


def _cells(node: Any) -> Iterator[Any]:
    if isinstance(node, _MEMORY):
        yield node
    elif not any(isinstance(one, _MEMORY) for one in walk(node)):
        return
    else:
        for part in node.parts:
            yield from _cells(part)
