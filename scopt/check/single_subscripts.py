"""Whether a statement that looks cells up by one subscript, where another one has several, reads the same ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scopt import ir
from scopt.astgen.passes.flat_lookups import fits_int, subscripts_in
from scopt.ir.scop import Access, Array, Scop, Statement
from scopt.ir.walks import same_node, same_tree


def is_flat(scop: Scop, statement: Statement, base: Statement) -> bool:
    """Whether bodies are alike, but for references that read cells of tables whose sizes are known: the distances of
    these from the first cell are ints, and so is all that such a distance is computed of."""
    if statement.iterators != base.iterators or len(statement.accesses) != len(base.accesses):
        return False
    moved = dict[ir.Node, ir.Node]()
    for mine, theirs in zip(base.accesses, statement.accesses, strict=True):
        if (mine.array, mine.kind) != (theirs.array, theirs.kind) or mine.relation is not theirs.relation:
            return False
        if mine.node is not theirs.node:
            if mine.node is None or theirs.node is None or not _is_cell(scop, base, mine, theirs.node):
                return False
            moved[mine.node] = theirs.node
    return _alike(base.body, statement.body, moved)


def _alike(mine: ir.Node, theirs: ir.Node, moved: dict[ir.Node, ir.Node]) -> bool:
    if mine in moved:
        return moved[mine] is theirs
    if not same_node(mine, theirs) or len(mine.children()) != len(theirs.children()):
        return False
    pairs = zip(mine.children(), theirs.children(), strict=True)
    return all(role == other and _alike(a, b, moved) for (role, a), (other, b) in pairs)


def _is_cell(scop: Scop, statement: Statement, access: Access, theirs: ir.Node) -> bool:
    """Whether a reference, through a pointer to the first cell of the array that another one reads, is to that one's
    cell: ``((const T *)a)[n * i + j]`` for ``a[i][j]``."""
    array = scop.arrays[access.array]
    mine = subscripts_in(array, access.node)
    if access.kind != "read" or mine is None or not fits_int(scop, statement, array, mine[0]):
        return False
    match theirs:
        case ir.ArrayRef(name=ir.Cast(to_type=to_type, expr=ir.ID(name=base)), subscript=distance):
            own = list(_terms(distance, array.sizes[1:]))
            alike = len(own) == len(mine) and all(map(same_tree, mine, own))
            return alike and base == array.spelling and _leads_to(to_type, array)
    return False


def _leads_to(to_type: ir.Node, array: Array) -> bool:
    """Whether a type is that of a pointer to cells of an array that aren't written through it."""
    match to_type:
        case ir.Typename(
            quals=["const"],
            type=ir.PtrDecl(quals=[], type=ir.TypeDecl(quals=["const"], type=ir.IdentifierType(names=words))),
        ):
            return " ".join(words) == array.type.spelling
    return False


def _terms(distance: ir.Node, sizes: Sequence[int | None]) -> Iterator[ir.Node]:
    """The subscripts that a distance is the sum of, outermost first; fewer where it is another sum."""
    *outer, last = sizes
    match distance:
        case ir.BinaryOp(
            op="+", left=ir.BinaryOp(op="*", left=ir.Constant(type="int", value=size), right=rest), right=subscript
        ) if size == str(last):
            if outer:
                yield from _terms(rest, outer)
            else:
                yield rest
            yield subscript
