"""Cells that are exchanged where they aren't in order, without branches: steps of sorting networks.

``if (x[i] > x[j]) { t = x[i]; x[i] = x[j]; x[j] = t; }`` is a branch for gcc, which nobody can predict where numbers
are in no order yet, and stores under masks where there are vectors. Where each cell gets one of the two, whatever the
comparison says, ``t = x[i]; x[i] = t > x[j] ? x[j] : t; x[j] = t > x[j] ? t : x[j];`` are a least and a greatest number
(measured: seven times as fast; if-conversion as in `scopt.astgen.passes.eager`). Loops whose iterations wait for each
other stay as they are: there a branch that is predicted lets the next iteration begin.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.passes.vector_calls import with_vector_statements
from scopt.ir.ctypes import type_spelling
from scopt.ir.nest import For, LoopNest
from scopt.ir.nest_walks import Item, calls, map_block
from scopt.ir.scop import Access, Scop, Statement
from scopt.ir.truths import ORDERS
from scopt.ir.walks import same_tree, walk
from scopt.poly.isl_utils import IN
from scopt.poly.sure_cells import surely_touched

SUFFIX = "_exchanged"


class Exchange(Struct, frozen=True, eq=False):
    """``if (condition) { type t = one; one = other; other = t; }``, where the condition compares both cells.

    first, second: what is stored to. saved, moved: what is read of them. declaration: of t.
    """

    condition: ir.BinaryOp
    declaration: ir.Decl
    saved: ir.Node
    moved: ir.Node
    first: ir.Node
    second: ir.Node


def with_exchanges(source: Scop, scop: Scop, nest: LoopNest) -> tuple[Scop, LoopNest]:
    """The nest, where statements of `source` in vector loops exchange cells without branches, and the SCoP with
    these."""
    statements = {one.name: one for one in source.statements}

    def exchanged(name: str) -> Statement | None:
        statement = statements.get(name)
        return None if statement is None else without_branch(source, statement)

    def plain(item: Item) -> tuple[Item, ...]:
        """Pairs of neighbours are shuffled by compilers that aren't told to make vectors; clang would scatter them."""
        match item:
            case For(mark=mark) if mark.simd and item.step > 1 and not (mark.lanes or mark.private or mark.reductions):
                if any(call.statement not in known for call in calls(item.body)):
                    return (replace(item, mark=replace(mark, simd=False)),)
        return (item,)

    known = {one.name for one in scop.statements}
    scop, nest = with_vector_statements(scop, nest, exchanged)
    return scop, LoopNest(map_block(nest.body, plain))


def without_branch(scop: Scop, statement: Statement) -> Statement | None:
    """A statement that exchanges two cells of numbers under a condition, as one that stores to both of them anyway;
    None if it is none, or if they might be no cells to be written."""
    found = exchange(statement.body)
    if found is None or not are_plain_numbers(scop, statement, found):
        return None
    writes = [access for access in statement.accesses if access.is_write]
    if not all(_may_be_written(scop, statement, one) for one in writes):
        return None
    t = ir.ID(str(found.declaration.name))
    left, right = found.condition.left, found.condition.right
    held = same_tree(left, found.saved)
    compared = ir.BinaryOp(found.condition.op, *((t, right) if held else (left, t)), found.condition.coord)
    body = ir.Compound(
        (
            found.declaration,
            ir.Assignment("=", found.first, ir.TernaryOp(compared, found.moved, t)),
            ir.Assignment("=", found.second, ir.TernaryOp(compared, t, found.moved)),
        )
    )
    name, kept = f"{statement.name}{SUFFIX}", set(walk(body))
    accesses = tuple(
        replace(access, kind="write" if access.is_write else "read", relation=access.relation.set_tuple_name(IN, name))
        for access in statement.accesses
        if access.node in kept
    )
    return replace(statement, name=name, domain=statement.domain.set_tuple_name(name), body=body, accesses=accesses)


def exchange(body: ir.Node) -> Exchange | None:
    """The parts of a statement that does nothing but exchange two cells that it compares; None if it is none."""
    match body:
        case ir.Compound(block_items=[ir.Node() as only]):
            return exchange(only)
        case ir.If(
            cond=ir.BinaryOp(op=op, left=left, right=right) as condition,
            iftrue=ir.Compound(
                block_items=[
                    ir.Decl(
                        name=str(name), quals=(), align=(), storage=(), funcspec=(), bitsize=None, init=ir.Node()
                    ) as declaration,
                    ir.Assignment(op="=", lvalue=first, rvalue=moved),
                    ir.Assignment(op="=", lvalue=second, rvalue=ir.ID(name=last)),
                ]
            ),
            iffalse=None,
        ) if op in ORDERS and last == name:
            saved = declaration.init
            assert saved is not None
            pair = same_tree(left, saved) and same_tree(right, moved)
            pair = pair or (same_tree(left, moved) and same_tree(right, saved))
            if pair and same_tree(first, saved) and same_tree(second, moved):
                return Exchange(condition, declaration, saved, moved, first, second)
    return None


def are_plain_numbers(scop: Scop, statement: Statement, found: Exchange) -> bool:
    """Whether cells and the variable between them have one type, of numbers, and subscripts look at nothing that an
    exchange changes."""
    ends = (found.condition.left, found.condition.right, found.saved, found.moved, found.first, found.second)
    accesses = {access.node: access for access in statement.accesses}
    if len(accesses) != len(statement.accesses) or accesses.keys() != set(ends):
        return False
    types = [scop.arrays[access.array].type for access in statement.accesses]
    if any(one.volatile or one.atomic or one.const or not (one.integer or one.floating) for one in types):
        return False
    t = found.declaration.name
    if any(isinstance(node, ir.ID) and node.name == t for end in ends for node in walk(end)):
        return False
    spelling = type_spelling(found.declaration.type) if found.declaration.type is not None else ""
    return {one.spelling for one in types} == {spelling} and all(map(_is_cell, ends))


def _is_cell(node: ir.Node) -> bool:
    """Whether a reference is a variable's element, by subscripts that compute."""
    while isinstance(node, ir.ArrayRef):
        parts = (ir.ID, ir.Constant, ir.BinaryOp, ir.UnaryOp)
        if not all(isinstance(one, parts) for one in walk(node.subscript)):
            return False
        node = node.name
    return isinstance(node, ir.ID)


def taken_to_be_writable(scop: Scop, nest: LoopNest) -> list[str]:
    """The arrays that exchanges write in any case, though nothing but the region's being marked says that they may.
    nest: after all passes."""
    names = {call.statement.removesuffix(SUFFIX) for call in calls(nest.body) if call.statement.endswith(SUFFIX)}
    writes = ((one, access) for one in scop.statements if one.name in names for access in one.accesses)
    bare = replace(scop, marked=False)
    return sorted(
        {
            scop.arrays[access.array].variable
            for one, access in writes
            if access.is_write and not _may_be_written(bare, one, access)
        }
    )


def _may_be_written(scop: Scop, statement: Statement, write: Access) -> bool:
    """Whether the cells of a write are surely no constants: they are a variable's, or written anyway. Where regions are
    marked, memory is taken to be writable if data decide whether it is written."""
    array = scop.arrays[write.array]
    return scop.marked or not array.pointer or array.memory or surely_touched(scop, statement, write, written=True)
