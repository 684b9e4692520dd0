"""All elements of an object, one after the other: loops over those of arrays, and the members of structures."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

from msgspec import Struct

from scopt import ir
from scopt.frontend.normalize.tree_rewriting import number
from scopt.frontend.syntax.structs import Typed, Types
from scopt.frontend.syntax.symbols import shape_of
from scopt.ir.constants import constant_value

# The sizes of numbers all of whose bytes are used: not those of long double.
_SIZES = (1, 2, 4, 8)
Cells = tuple[Any, ...]


class NoElementsError(Exception):
    """An object whose elements aren't known, or don't make up all of it."""


class ElementLoops(Struct, frozen=True, eq=False):
    """types: of what is named where the loops stand. fresh: names for iterators. symbolic: macros with names of their
    own."""

    types: Types
    fresh: Callable[[], str]
    symbolic: Collection[str] = ()

    def size(self, typed: Typed) -> tuple[int, list[Any]]:
        """The bytes of an object, all of which are used: a constant, and names of macros to multiply it by. Raises
        NoElementsError."""
        factors: list[Any] = []
        constant = 1
        while typed.array:
            length = self.length(typed)
            value = constant_value(length, self.types.scope)
            if value is None:
                factors.append(length)
            else:
                constant *= value
            element = typed.element()
            assert element is not None
            typed = element
        return constant * self._extent(typed)[0], factors

    def _extent(self, typed: Typed) -> tuple[int, int]:
        """Size and alignment."""
        if typed.pointer:
            size = self.types.scope["void *"].size
            return size, size
        if typed.array:
            element, length = typed.element(), constant_value(self.length(typed), self.types.scope)
            if element is None or length is None:
                raise NoElementsError
            size, alignment = self._extent(element)
            return size * length, alignment
        if not typed.composite:
            if typed.size not in _SIZES or "omplex" in typed.type.spelling:
                raise NoElementsError
            return typed.size, typed.size
        size, widest = 0, 1
        for _, member in self.members(None, typed):
            extent, alignment = self._extent(member)
            if size % alignment:
                raise NoElementsError  # a gap
            size, widest = size + extent, max(widest, alignment)
        if size % widest or not size:
            raise NoElementsError
        return size, widest

    def length(self, typed: Typed) -> Any:
        """How many elements an array has: a constant, or the name of a macro. Raises NoElementsError."""
        dim = typed.layers[0].dim
        if isinstance(dim, ir.ID) and dim.name in self.symbolic:
            return dim
        size = constant_value(dim, self.types.scope) if dim is not None else None
        if size is None or size < 1:
            raise NoElementsError
        return number(size)

    def members(self, cell: Any, typed: Typed) -> Iterator[tuple[Any, Typed]]:
        """The members of a structure in an object. Raises NoElementsError."""
        members = typed.struct.decls if isinstance(typed.struct, ir.Struct) else None
        if members is None or not all(isinstance(one, ir.Decl) and one.name and one.bitsize is None for one in members):
            raise NoElementsError
        for one in members:
            yield cell and ir.StructRef(cell, ".", one.name, cell.coord), self.types.declared(one)

    def loops(
        self, cells: Cells, typed: Typed, leaf: Callable[[Cells, Typed], Iterable[Any]], *, whole: bool = False
    ) -> list[Any]:
        """Statements about all elements of some objects of one type. leaf: those about one element. whole: structures
        are elements."""
        if typed.type.volatile or typed.type.atomic or typed.pointer:
            raise NoElementsError
        if typed.array:
            element, length = typed.element(), self.length(typed)
            assert element is not None
            name = self.fresh()
            inner = tuple(ir.ArrayRef(cell, ir.ID(name), cell.coord) for cell in cells)
            body = self.loops(inner, element, leaf, whole=whole)
            return [counting(name, "int", length, body, cells[0].coord)]
        if not typed.composite or whole:
            return list(leaf(cells, typed))
        made: list[Any] = []
        for parts in zip(*(self.members(cell, typed) for cell in cells), strict=True):
            made += self.loops(tuple(part for part, _ in parts), parts[0][1], leaf)
        return made


def counting(name: str, spelling: str, bound: Any, body: list[Any], coord: Any) -> ir.For:
    """``for (spelling name = 0; name < bound; name++) body``"""
    kind = ir.TypeDecl(name, [], None, ir.IdentifierType(spelling.split(), coord), coord)
    start = ir.DeclList([ir.Decl(name, [], [], [], [], kind, number(0), None, coord)], coord)
    condition = ir.BinaryOp("<", ir.ID(name, coord), bound, coord)
    stepped = ir.UnaryOp("p++", ir.ID(name, coord), coord)
    return ir.For(start, condition, stepped, ir.Compound(body, coord), coord)


def sized(node: Any, loops: ElementLoops) -> tuple[int, list[Any]] | None:
    """The bytes, as of `ElementLoops.size`, that ``sizeof x`` or ``sizeof(type)`` means; None for any other node."""
    if not isinstance(node, ir.UnaryOp) or node.op != "sizeof":
        return None
    inner, types = node.expr, loops.types
    if isinstance(inner, ir.Typename):
        layers, element, size = shape_of(inner, types.scope)
        typed: Typed | None = Typed(layers, element, size, types.definition(inner))
    else:
        typed = types.of(inner)
    try:
        return None if typed is None else loops.size(typed)
    except NoElementsError:
        return None
