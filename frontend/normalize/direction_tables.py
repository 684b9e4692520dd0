"""Loops over the directions of a table, ``f[(y + cy[k]) * nx + x + cx[k]]``: as straight code, with the table's numbers
in the place of its cells. So subscripts that are data become affine: lattices, neighbourhoods, windows of offsets.

Likewise loops over the pointers that an array holds, ``w[k][i]`` with ``double *w[4]``: each of them has a name then
(`scopt.frontend.normalize.pointer_cells`), as where they lead to nobody knows of an array of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from scopt import ir
from scopt.frontend.normalize.constant_tables import Table, table_of
from scopt.frontend.normalize.tree_rewriting import number
from scopt.frontend.syntax.structs import Definitions, Types
from scopt.ir.constants import typed_constant
from scopt.ir.ctypes import Symbol, shape_of
from scopt.ir.effects import effects
from scopt.ir.scop import CType
from scopt.ir.walks import rebuilt, used_names, walk

# Directions at most, and statements that a loop may become.
_DIRECTIONS, _STATEMENTS = 32, 64
# Pointers at most that an array is taken to be a list of components by.
_POINTERS = 8
_LEAVES = (ir.Break, ir.Continue, ir.Goto, ir.Label, ir.Switch, ir.Return, ir.Pragma)


def without_direction_tables(
    items: tuple[Any, ...], symbols: Mapping[str, Symbol], structs: Definitions
) -> tuple[Any, ...]:
    """The statements with such loops as straight code. symbols: what names mean where the statements begin."""
    inner = {node.name for node in walk(*items) if isinstance(node, ir.Decl)}
    names = {node.name for node in walk(*items) if isinstance(node, ir.ID)} - inner
    tables = {name: found for name in sorted(names & symbols.keys()) if (found := table_of(symbols[name], symbols))}
    types = Types({name: symbol for name, symbol in symbols.items() if name not in inner}, structs)

    def change(node: Any) -> Any:
        return _straight(node, tables, symbols, types) if isinstance(node, ir.For) else node

    return tuple(rebuilt(item, change) for item in items)


def _straight(loop: ir.For, tables: Mapping[str, Table], symbols: Mapping[str, Symbol], types: Types) -> Any:
    """Copies of a loop's body, one for each direction; the loop if it isn't one over directions. types: of what is
    declared outside of the statements."""
    head = _head(loop, symbols)
    if head is None:
        return loop
    name, values, ctype = head
    leaves = sum(isinstance(node, (ir.Assignment, ir.UnaryOp, ir.Decl)) for node in walk(loop.stmt))
    simple = not any(isinstance(node, _LEAVES) for node in walk(loop.stmt)) and leaves * len(values) <= _STATEMENTS * 4
    if not simple or name in effects(loop.stmt).changed:
        return loop
    if not (_goes_by(loop.stmt, name, tables) or _picks_pointers(loop.stmt, name, len(values), types)):
        return loop
    integer = symbols["int"].type
    directions = (_Direction(name, value, ctype, tables, integer) for value in values)
    copies = [rebuilt(loop.stmt, direction.number_for) for direction in directions]
    return ir.Compound(tuple(copies), loop.coord)


def _head(loop: ir.For, symbols: Mapping[str, Symbol]) -> tuple[str, range, CType] | None:
    """The iterator that a loop declares, its values and its type, where these are few."""
    match loop:
        case ir.For(
            init=ir.DeclList(decls=[ir.Decl(name=name, type=declared, init=start)]),
            cond=ir.BinaryOp(op="<" | "<=" as op, left=ir.ID(name=tested), right=end),
            next=ir.UnaryOp(op="++" | "p++", expr=ir.ID(name=stepped)),
        ) if name == tested == stepped and start is not None:
            first, last = typed_constant(start, symbols), typed_constant(end, symbols)
            shape = shape_of(declared, symbols)
            if first is None or last is None or shape.layers or not shape.type.integer or shape.type.volatile:
                return None
            values = range(first[0], last[0] + (op == "<="))
            small = shape.type.bits >= symbols["int"].type.bits and first[0] >= 0
            return (name, values, shape.type) if small and 1 < len(values) <= _DIRECTIONS else None
    return None


def _goes_by(body: Any, name: str, tables: Mapping[str, Table]) -> bool:
    """Whether subscripts of a loop's body depend on cells of tables that the iterator chooses."""
    moving = {
        node.name
        for node in walk(body)
        if isinstance(node, ir.Decl) and node.init is not None and any(_cells(node.init, name, tables))
    }
    for node in walk(body):
        if isinstance(node, ir.ArrayRef) and not (isinstance(node.name, ir.ID) and node.name.name in tables):
            chosen = any(_cells(node.subscript, name, tables))
            if chosen or not moving.isdisjoint(used_names(node.subscript)):
                return True
    return False


def _picks_pointers(body: Any, name: str, count: int, types: Types) -> bool:
    """Whether the iterator chooses among the pointers of an array, as many as it has values."""
    if count > _POINTERS:
        return False
    for node in walk(body):
        if not isinstance(node, ir.ArrayRef) or name not in used_names(node.subscript):
            continue
        whole = types.of(node.name)
        if whole is not None and whole.array and len(whole.layers) > 1 and whole.layers[1].kind == "pointer":
            return True
    return False


def _cells(node: Any, name: str, tables: Mapping[str, Table]) -> Iterator[Any]:
    """The cells of tables in an expression that an iterator chooses."""
    for part in walk(node):
        base = part
        while isinstance(base, ir.ArrayRef):
            base = base.name
        known = isinstance(part, ir.ArrayRef) and isinstance(base, ir.ID) and base.name in tables
        if known and name in used_names(part.subscript):
            yield part


class _Direction(Struct, frozen=True):
    """name: of the iterator. value: that it has. type: of it. tables: by their names. integer: the type `int`."""

    name: str
    value: int
    type: CType
    tables: Mapping[str, Table]
    integer: CType

    def number_for(self, node: Any) -> Any:
        """What stands for a node in whose parts the iterator is a number already: one, if it is a cell of a table."""
        if isinstance(node, ir.ID) and node.name == self.name:
            return self.typed(self.value, self.type)
        base, subscripts = node, []
        while isinstance(base, ir.ArrayRef):
            subscripts.append(base.subscript)
            base = base.name
        if not subscripts or not isinstance(base, ir.ID) or base.name not in self.tables:
            return node
        table = self.tables[base.name]
        found = table.cell(tuple(map(_number, reversed(subscripts))))
        return node if found is None else self.typed(found, table.type)

    def typed(self, value: int, ctype: CType) -> Any:
        """A number of a type, or of the one that C makes of it."""
        made = number(value) if value >= 0 else ir.UnaryOp("-", number(-value))
        if (ctype.signed and ctype.bits == self.integer.bits) or ctype.bits < self.integer.bits:
            return made
        named = ir.TypeDecl(None, (), None, ir.IdentifierType(tuple(ctype.spelling.split())))
        return ir.Cast(ir.Typename(None, (), None, named), made)


def _number(node: Any) -> int | None:
    while isinstance(node, ir.Cast):
        node = node.expr
    return int(node.value) if isinstance(node, ir.Constant) and node.type == "int" and node.value.isdecimal() else None
