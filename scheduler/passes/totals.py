"""Totals: what a nest accumulates in signed numbers, or in a single cell of an array, is accumulated in a variable of
its own, which is added to the number, or to the cell, behind the nest.

Threads, and lanes, that sum up parts of ``s += x[i] * y[i]`` might overflow where the source doesn't, in whose order
terms cancel each other; so the variable is unsigned. In ``peak[0] = max(peak[0], …)``, and in ``count[0]++``, each
iteration would wait for the last one's store, and threads have no copy of a cell. It is touched in the end, and only if
there was anything to add.
"""

from __future__ import annotations

from collections.abc import Mapping

import islpy as isl
from msgspec import Struct

from scopt import ir
from scopt.ir.ctypes import UNSIGNED
from scopt.ir.scop import Access, Array, Scop, Statement
from scopt.ir.walks import same_tree, walk
from scopt.poly.isl_utils import IN
from scopt.poly.reductions import BETTER, Update, update_of
from scopt.poly.source_loops import Loops, source_loops
from scopt.poly.sure_cells import surely_touched
from scopt.scheduler.passes.private_tables import Counted, with_table

_BYTE = 8
_SUBSCRIPTS = (ir.ID, ir.Constant, ir.BinaryOp, ir.UnaryOp)


class Totals(Struct, frozen=True, eq=False):
    """A SCoP with totals. numbers: those that stand for variables, which are for threads alone."""

    scop: Scop
    numbers: frozenset[str]


def with_totals(scop: Scop, allowed: frozenset[str]) -> Totals | None:
    """The SCoP with a total for each signed number, and each cell of an array, that a nest accumulates into; None if
    there are none.

    allowed: statements whose updates may be made in any order as they are.
    """
    made, numbers, some = scop, set[str](), False
    for array in scop.arrays.values():
        while (found := _found(made, array, allowed)) is not None:
            made, name = with_table(made, found)
            some = True
            if not array.rank:
                numbers.add(name)
    return Totals(made, frozenset(numbers)) if some else None


def _found(scop: Scop, array: Array, allowed: frozenset[str]) -> Counted | None:
    kind = array.type
    if array.within or array.flat or kind.volatile or kind.atomic or not kind.integer or kind.bits not in UNSIGNED:
        return None
    loops = source_loops(scop)
    updates = {one.name: update_of(scop, one) for one in scop.statements if _touching(one, array)}
    for first in (one for one in scop.statements if one.name in updates):
        update = updates[first.name]
        if update is None or update.array != array.name or not _fits(array, update):
            continue
        alone = sum(own == loops[first.name] for own in loops.values()) == 1
        if not array.rank and (first.name in allowed or (alone and _has_instructions(scop, first))):
            continue
        # a cell that moves with a loop is that loop's; a variable of an iteration's own has no need of another one
        deepest = 1 if array.rank or array.private else len(first.iterators)
        for depth in range(min(deepest, len(first.iterators))):
            found = total_around(scop, loops, first, updates, depth)
            if found is not None:
                return found
    return None


def _fits(array: Array, update: Update) -> bool:
    if not array.rank:
        return update.operator == "+" and array.type.signed
    return update.operator in ("+", "|", "^", *BETTER)


def _has_instructions(scop: Scop, statement: Statement) -> bool:
    """Whether a statement sums up products, or distances, of bytes: gcc has instructions for that, which it doesn't
    take where a clause asks for vectors, and loses more by that than a second thread gains; where a loop does nothing
    else."""
    bits = [scop.arrays[access.array].type.bits for access in statement.accesses if scop.arrays[access.array].rank]
    if not bits or max(bits) > _BYTE:
        return False
    return any(
        isinstance(one, ir.FuncCall) or (isinstance(one, ir.BinaryOp) and one.op == "*") for one in walk(statement.body)
    )


def _touching(statement: Statement, array: Array) -> list[Access]:
    return [access for access in statement.accesses if access.array == array.name]


def total_around(
    scop: Scop, loops: Mapping[str, Loops], first: Statement, updates: Mapping[str, Update | None], depth: int
) -> Counted | None:
    """What the loop at a depth around a statement accumulates into that one's cell, if it does nothing else with it."""
    update = updates[first.name]
    assert update is not None
    reference, array = update.own[0].node, scop.arrays[update.array]
    if reference is None or not stays(scop, reference):
        return None
    cells = _cells(update.own[0], depth)
    inside = [one for one in scop.statements if loops[one.name][: depth + 1] == loops[first.name][: depth + 1]]
    if any(len(one.iterators) <= depth for one in inside):
        return None  # no loop of the source is there
    counting = list[Statement]()
    for one in inside:
        touching, other = _touching(one, array), updates.get(one.name)
        if all(_cells(access, depth).intersect(cells).is_empty() for access in touching):
            continue
        if other is None or other.reduction != update.reduction or any(a not in other.own for a in touching):
            return None
        if not same_tree(other.own[0].node, reference):
            return None
        cells = cells.union(_cells(other.own[0], depth))
        counting.append(one)
    if not counting or (update.operator in BETTER and not all(_is_there(scop, one, array) for one in counting)):
        return None  # it never runs, or there is nothing to be compared with in the end
    if not cells.is_single_valued():
        return None  # which cell it is nobody knows
    names = frozenset(one.name for one in inside)
    return Counted(array, update.operator, tuple(counting), names, depth, (), scop.context, reference, cells.coalesce())


def _is_there(scop: Scop, statement: Statement, array: Array) -> bool:
    return all(surely_touched(scop, statement, access) for access in _touching(statement, array))


def stays(scop: Scop, reference: ir.Node) -> bool:
    """Whether a reference is to the same cell wherever it stands: parameters and constants are its subscripts."""
    fixed = {parameter.spelling for parameter in scop.parameters}
    while isinstance(reference, ir.ArrayRef):
        parts = list(walk(reference.subscript))
        if not all(isinstance(one, _SUBSCRIPTS) and (not isinstance(one, ir.ID) or one.name in fixed) for one in parts):
            return False
        reference = reference.name
    return isinstance(reference, ir.ID)


def _cells(access: Access, depth: int) -> isl.Map:
    """``{ [outer iterators] -> A[…] }``"""
    relation = access.relation
    return relation.project_out(IN, depth, relation.dim(IN) - depth).reset_tuple_id(IN)
