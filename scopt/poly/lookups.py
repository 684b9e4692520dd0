"""Cells that data name, in tables of narrow ones: no instruction gathers these."""

from __future__ import annotations

from collections.abc import Iterator

from scopt import ir
from scopt.ir.scop import Access, Scop, Statement
from scopt.ir.walks import walk
from scopt.poly.data_moves import data_moves
from scopt.poly.linear import whole

# The narrowest cells, in bits, that an instruction gathers.
GATHERED = 32
# Bytes of the vectors whose instructions load cells of any width for some lanes alone (AVX-512's).
_MASKED = 64


def narrow_lookups(scop: Scop, statement: Statement) -> int:
    """How many references of a statement read such cells."""
    return sum(1 for _ in _lookups(scop, statement))


def is_narrow_lookup(scop: Scop, statement: Statement, access: Access) -> bool:
    """Whether a reference reads such a cell."""
    array = scop.arrays[access.array]
    narrow = access.kind == "read" and array.rank and 0 < array.type.bits < GATHERED
    return bool(narrow) and not access.relation.is_single_valued() and not _lies_along(scop, statement, access)


def looks_up_in_branches(scop: Scop, statement: Statement) -> bool:
    """Whether a statement reads such cells where more than one condition on data lets it: nothing loads them for some
    lanes alone, and compilers make no vectors of a loop with it. (One condition around an assignment is a choice.)"""
    if not isinstance(statement.body, ir.If):
        return False
    inside = {id(node) for node in _below_branches(statement.body, 0)}
    return any(id(access.node) in inside for access in _lookups(scop, statement))


def loads_in_branches(scop: Scop, statement: Statement, vector_bytes: int) -> bool:
    """Whether a statement reads narrow cells, wherever these lie, where a condition on data lets it, with a branch
    inside that does several things: such branches are no choices, and of narrow cells only the longest vectors load
    some lanes alone. vector_bytes: of the longest vectors."""
    outer = statement.body
    if vector_bytes >= _MASKED or not isinstance(outer, ir.If) or not any(map(_is_branch, walk(outer.iftrue))):
        return False
    below = {id(node) for node in walk(outer.iftrue) if isinstance(node, ir.ArrayRef)}
    reads = [access for access in statement.accesses if access.kind == "read" and id(access.node) in below]
    return any(scop.arrays[one.array].rank and 0 < scop.arrays[one.array].type.bits < GATHERED for one in reads)


def _is_branch(node: ir.Node) -> bool:
    """Whether a node is a condition on several statements that change something."""
    if not isinstance(node, ir.If):
        return False
    parts = [one for part in (node.iftrue, node.iffalse) for one in getattr(part, "block_items", None) or ()]
    return sum(isinstance(one, (ir.Assignment, ir.UnaryOp)) for one in parts) > 1


def _lookups(scop: Scop, statement: Statement) -> Iterator[Access]:
    return (access for access in statement.accesses if is_narrow_lookup(scop, statement, access))


def _lies_along(scop: Scop, statement: Statement, access: Access) -> bool:
    """Whether no cell says where a reference goes, and iterations of a loop go from cell to cell: flat rows that a
    choice leads to, ``a[(y < 0 ? 0 : y) * stride + x]``."""
    if any(isinstance(one, ir.ArrayRef) for one in walk(*_subscripts(access.node))):
        return False
    count = len(statement.iterators)
    moves = (data_moves(scop, statement, access, tuple(whole(int(k == m)) for k in range(count))) for m in range(count))
    return any(one is not None and one[-1] == 1 and not any(one[:-1]) for one in moves)


def _subscripts(node: ir.Node | None) -> Iterator[ir.Node]:
    """Of a reference to an array; rows that have names, or pointers of their own, are the same reference's."""
    while isinstance(node, ir.ArrayRef):
        yield node.subscript
        node = node.name


def _below_branches(node: ir.Node, depth: int) -> Iterator[ir.ArrayRef]:
    """The references below more than one `if`."""
    if isinstance(node, ir.ArrayRef) and depth > 1:
        yield node
    parts = tuple(node.parts)
    if isinstance(node, ir.If):
        yield from _below_branches(node.cond, depth)
        parts, depth = tuple(one for one in (node.iftrue, node.iffalse) if one is not None), depth + 1
    for part in parts:
        yield from _below_branches(part, depth)
