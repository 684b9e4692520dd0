"""Pointer arithmetic as subscripts: ``*(a + i * n + j)``, ``(a + i * n)[j]``, ``&a[i]`` with an offset, and rows with
names of their own (``double *row = a + i * n;``) become references to the array with all of the offset in its
subscript.

The region's own copy of the tree is changed in place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from scopt import ir
from scopt.frontend.model.row_pointers import is_rows
from scopt.frontend.syntax.scoping import loop_iterator
from scopt.frontend.syntax.symbols import Symbol, ctype_of
from scopt.ir.effects import effects
from scopt.ir.scop import CType
from scopt.ir.walks import rebuilt, replaced, walk


def as_subscripts(
    items: tuple[Any, ...], symbols: Mapping[str, Symbol], long_type: str, flat: frozenset[str] = frozenset()
) -> tuple[Any, ...]:
    """The statements with their pointer arithmetic as subscripts.

    symbols: of everything that they use. long_type: an integer type of 64 bits. flat: names of arrays whose subscripts
    are to be divided: ``*a`` is ``a[0]`` then.
    """
    pointers = _Pointers(symbols, long_type, flat)
    for name in list(_row_declarations(ir.Compound(items), symbols)):
        root = ir.Compound(items)
        # Another row's value may have been put into this one.
        current = next(node for node in walk(root) if isinstance(node, ir.Decl) and node.name == name)
        if _is_row(root, name, current, symbols):
            items = tuple(_with_row(item, name, current) for item in items)
    return tuple(rebuilt(item, pointers.subscripted) for item in items)


def _with_row(item: Any, name: str, row: ir.Decl) -> Any:
    """An item with a row in the place of the pointer that is declared to be it; nothing is left of the declaration."""

    def change(node: Any) -> Any:
        return row.init if _names(node, name) else ir.EmptyStatement() if node is row else node

    return replaced(item, change)


# --- one reference ----------------------------------------------------------------------------------------------------


class _Pointers(Struct, frozen=True):
    symbols: Mapping[str, Symbol]
    long_type: str
    flat: frozenset[str] = frozenset()

    def subscripted(self, node: Any) -> Any:
        """A reference through a computed pointer as one with a subscript; what is below it has been done."""
        match node:
            case ir.UnaryOp(op="*", expr=ir.ID(name=name) as pointer) if name in self.flat:
                return ir.ArrayRef(pointer, ir.Constant("int", "0", node.coord), node.coord)
            case ir.UnaryOp(op="*", expr=ir.BinaryOp() | ir.UnaryOp(op="&") as pointer):
                found = self.base_and_offset(pointer)
                if found is not None:
                    return ir.ArrayRef(found[0], found[1] or ir.Constant("int", "0", node.coord), node.coord)
            case ir.ArrayRef(name=ir.BinaryOp() | ir.UnaryOp(op="&") as pointer, subscript=subscript):
                found = self.base_and_offset(pointer)
                if found is not None:
                    return ir.ArrayRef(found[0], self.sum("+", found[1], subscript), node.coord)
        return node

    def base_and_offset(self, node: Any) -> tuple[Any, Any] | None:
        """The pointer or row that a sum begins with, and what is added to it; None if the sum isn't of that form."""
        match node:
            case ir.ID(name=name) if name in self.symbols and len(self.symbols[name].dims) == 1:
                return node, None
            case ir.ArrayRef() if _missing(node, self.symbols) == 1:
                return node, None
            case ir.UnaryOp(op="&", expr=ir.ArrayRef(name=base, subscript=subscript) as whole) if (
                _missing(whole, self.symbols) == 0
            ):
                return base, subscript
            case ir.BinaryOp(op="+" | "-" as op, left=left, right=right):
                if (found := self.base_and_offset(left)) is not None:
                    return found[0], self.sum(op, found[1], right)
                if op == "+" and (found := self.base_and_offset(right)) is not None:
                    return found[0], self.sum("+", found[1], left)
        return None

    def sum(self, op: str, offset: Any, more: Any) -> Any:
        """offset op more, where C adds both to a pointer: what fits a pointer may not fit an int."""
        if offset is None:
            return more if op == "+" else ir.UnaryOp("-", self.wide(more), more.coord)
        return ir.BinaryOp(op, self.wide(offset), more, more.coord)

    def wide(self, node: Any) -> Any:
        """The expression in 64 bits."""
        if isinstance(node, ir.Constant) or self.bits(node) >= 64:
            return node
        spelled = ir.TypeDecl(None, [], None, ir.IdentifierType(self.long_type.split()))
        return ir.Cast(ir.Typename(None, [], None, spelled), node, node.coord)

    def bits(self, node: Any) -> int:
        """The width of an expression's type, as far as it is known to be more than that of int."""
        match node:
            case ir.ID(name=name) if name in self.symbols:
                return self.symbols[name].type.bits
            case ir.BinaryOp(op="+" | "-" | "*", left=left, right=right):
                return max(self.bits(left), self.bits(right))
            case ir.UnaryOp(op="+" | "-", expr=operand):
                return self.bits(operand)
            case ir.Cast(to_type=to_type):
                ctype = ctype_of(to_type, self.symbols)
                return ctype.bits if ctype is not None else 0
        return 0


def _missing(node: Any, symbols: Mapping[str, Symbol]) -> int | None:
    """How many subscripts a reference lacks to be an element; None if it isn't one to a named array."""
    depth = 0
    while isinstance(node, ir.ArrayRef):
        depth, node = depth + 1, node.name
    if not isinstance(node, ir.ID) or node.name not in symbols:
        return None
    symbol = symbols[node.name]
    return None if symbol.pointer_depth > 1 and not is_rows(symbol) else len(symbol.dims) - depth


# --- rows with names --------------------------------------------------------------------------------------------------


def _row_declarations(root: Any, symbols: Mapping[str, Symbol]) -> Iterator[str]:
    """Pointers that are declared in a block of the region and get their value there."""
    for node in walk(root):
        if (
            isinstance(node, ir.Decl)
            and isinstance(node.type, ir.PtrDecl)
            and node.init is not None
            and not node.storage
        ):
            symbol = symbols.get(node.name)
            if symbol is not None and symbol.pointer and symbol.pointer_depth == 1 and len(symbol.dims) == 1:
                yield node.name


def _is_row(root: Any, name: str, declaration: Any, symbols: Mapping[str, Symbol]) -> bool:
    """Whether its value in place of the name is the same wherever the name is used.

    It points into a named array of the same type, and nothing that its value depends on changes where it is visible.
    """
    found = _Pointers(symbols, "long").base_and_offset(declaration.init)
    if found is None:
        return False
    base = found[0]
    while isinstance(base, ir.ArrayRef):
        base = base.name
    array = symbols[base.name]
    if array.name == name or not _same_type(array.type, symbols[name].type):
        return False
    block = next(
        (node for node in walk(root) if isinstance(node, ir.Compound) and _has(node.block_items, declaration)), None
    )
    if block is None or sum(isinstance(node, ir.Decl) and node.name == name for node in walk(root)) != 1:
        return False
    used = {node.name for node in walk(declaration.init) if isinstance(node, ir.ID)}
    plain = all(
        isinstance(node, (ir.ID, ir.Constant, ir.BinaryOp, ir.ArrayRef, ir.Cast))
        or _is_address(node)
        or isinstance(node, (ir.Typename, ir.TypeDecl, ir.IdentifierType))
        for node in walk(declaration.init)
    )
    scalars = used - {base.name}
    # The block's own statements must not change what the value is made of; loops around it may, as it is computed anew
    # then.
    changed = effects(block).assigned | {str(loop_iterator(node)) for node in walk(block) if isinstance(node, ir.For)}
    return (
        plain
        and not scalars & changed
        and not _moved(root, {name, base.name})
        and all(not symbols[n].dims for n in scalars if n in symbols)
    )


def _same_type(a: CType, b: CType) -> bool:
    return (a.spelling, a.bits, a.integer, a.floating, a.signed) == (
        b.spelling,
        b.bits,
        b.integer,
        b.floating,
        b.signed,
    )


def _moved(root: Any, names: set[str]) -> bool:
    """Whether a pointer is assigned, stepped, or has its address taken."""
    found = effects(root)
    return not names.isdisjoint(found.assigned | {name for name in found.taken if _is_taken(root, name)})


def _is_taken(root: Any, name: str) -> bool:
    """Whether the address of a variable is taken, not of what it points to."""
    return any(isinstance(node, ir.UnaryOp) and node.op == "&" and _names(node.expr, name) for node in walk(root))


def _is_address(node: Any) -> bool:
    return isinstance(node, ir.UnaryOp) and node.op in ("&", "-", "+")


def _names(node: Any, name: str) -> bool:
    return isinstance(node, ir.ID) and node.name == name


def _has(items: Iterable[Any] | None, wanted: Any) -> bool:
    return any(
        item is wanted or (isinstance(item, ir.DeclList) and any(decl is wanted for decl in item.decls))
        for item in items or ()
    )
