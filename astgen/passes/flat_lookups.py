"""Cells of tables that data name in more than one subscript: gcc gathers them where there is one subscript.

``score[code[i]][base[j]]`` is a row, at a pointer that each lane computes, and a place in it. gcc gathers from one
pointer, at distances that fit into an int: ``((const int *)score)[5 * code[i] + base[j]]``. clang computes the same
either way. Only tables whose cells an instruction gathers, and whose distances are ints: their size is known, or,
behind a pointer, the values of what names their rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.passes.vector_calls import with_vector_statements
from scopt.ir.nest import LoopNest
from scopt.ir.scop import Access, Array, Scop, Statement
from scopt.ir.walks import replaced
from scopt.poly.lookups import GATHERED
from scopt.poly.value_limits import values

FLAT = "_flat"
# Values of an int, which a distance in a table is to be among.
_INTS = 1 << 31


class Lookup(Struct, frozen=True, eq=False):
    """A reference to a cell of a table. subscripts: outermost first; sizes: of the table's dimensions but the first
    one."""

    array: Array
    subscripts: tuple[ir.Node, ...]
    sizes: tuple[int, ...]


def with_flat_lookups(scop: Scop, nest: LoopNest) -> tuple[Scop, LoopNest]:
    """The nest, where statements in vector loops look up by one subscript, and the SCoP with these statements."""

    def flat(name: str) -> Statement | None:
        statement = scop.statement(name)
        become = dict[ir.Node, ir.Node]()
        for access in statement.accesses:
            found = lookup_of(scop, statement, access)
            if found is not None and access.node is not None:
                become[access.node] = flat_reference(found)
        return with_references(statement, become) if become else None

    return with_vector_statements(scop, nest, flat)


def with_references(statement: Statement, become: Mapping[ir.Node, ir.Node]) -> Statement:
    """The statement with other references in place of some."""
    body = replaced(statement.body, lambda node: become.get(node, node))
    accesses = tuple(
        access if access.node is None else replace(access, node=become.get(access.node, access.node))
        for access in statement.accesses
    )
    return replace(statement, name=statement.name + FLAT, body=body, accesses=accesses)


def lookup_of(scop: Scop, statement: Statement, access: Access) -> Lookup | None:
    """A reference that reads a cell which data name by several subscripts; None of any other one."""
    array = scop.arrays[access.array]
    if access.kind != "read" or array.type.bits < GATHERED or array.rank < 2 or access.relation.is_single_valued():
        return None
    if any(one.node is access.node and one.is_write for one in statement.accesses):
        return None  # nothing is written through such a pointer
    subscripts = subscripts_in(array, access.node)
    if subscripts is None or not fits_int(scop, statement, array, subscripts[0]):
        return None
    if not all(any(one.node is subscript for one in statement.accesses) for subscript in subscripts[:-1]):
        return None
    return Lookup(array, subscripts, tuple(size for size in array.sizes[1:] if size is not None))


def subscripts_in(array: Array, node: ir.Node | None) -> tuple[ir.Node, ...] | None:
    """Of a reference to a cell of an array whose cells follow each other in memory as C says, outermost first."""
    kind = array.type
    plain = (kind.integer or kind.floating) and not (kind.volatile or kind.atomic)
    if not plain or array.within or array.flat or array.rows or array.inner:
        return None
    found = list[ir.Node]()
    while isinstance(node, ir.ArrayRef):
        found.insert(0, node.subscript)
        node = node.name
    named = isinstance(node, ir.ID) and node.name == array.spelling
    return tuple(found) if named and len(found) == array.rank else None


def fits_int(scop: Scop, statement: Statement, array: Array, row: ir.Node) -> bool:
    """Whether the distance of each cell from the first one is an int, and so is each part of it. row: the first
    subscript. No subscript but the first one of what a pointer leads to leaves the array."""
    inner = [size for size in array.sizes[1:] if size is not None]
    if len(inner) + 1 < array.rank:
        return False
    if not array.pointer:
        return array.sizes[0] is not None and prod((array.sizes[0], *inner)) < _INTS
    known = values(scop, statement, row)
    return known is not None and (max(map(abs, known)) + 1) * prod(inner) < _INTS


def flat_reference(found: Lookup) -> ir.Node:
    """The same cell, by one subscript behind a pointer to the table's first one."""
    total: ir.Node = found.subscripts[0]
    for size, subscript in zip(found.sizes, found.subscripts[1:], strict=True):
        row = ir.BinaryOp("*", ir.Constant("int", str(size)), total)
        total = ir.BinaryOp("+", row, subscript)
    spelling = found.array.type.spelling.split()
    element = ir.TypeDecl(None, ["const"], None, ir.IdentifierType(spelling))
    pointer = ir.Typename(None, ["const"], None, ir.PtrDecl([], element))
    return ir.ArrayRef(ir.Cast(pointer, ir.ID(found.array.spelling)), total)
