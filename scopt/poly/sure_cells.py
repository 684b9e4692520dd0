"""Cells that a SCoP touches whatever its conditions say: these exist, so that they may be read at other times, too."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import islpy as isl

from scopt import ir
from scopt.ir.scop import Access, Scop, Statement
from scopt.poly.body_rewriting import always_evaluated
from scopt.poly.isl_utils import SET, union_of_sets


def is_made_always(statement: Statement, access: Access) -> bool:
    """Whether no condition on iterators and parameters keeps a reference from being made: `j > 0 && x[j - 1]` has no
    cell where j is 0."""
    return bool(statement.domain.is_subset(access.relation.domain()))


def surely_touched(scop: Scop, statement: Statement, access: Access, *, written: bool = False) -> bool:
    """Whether the cells of all instances of a reference are surely touched by some instance of the SCoP, or written.
    Variables are always there to be read."""
    if access.node is None or not access.relation.is_single_valued() or not is_made_always(statement, access):
        return False
    if not written and not scop.arrays[access.array].rank:
        return True
    touched = [
        other.relation.intersect_domain(one.domain).range()
        for one in scop.statements
        for other in one.accesses
        if other.array == access.array and other.kind in (("write",) if written else ("read", "write"))
        if other.relation.is_single_valued() and always_evaluated(one.body, other.node)
    ]
    cells = access.relation.intersect_domain(statement.domain).range().intersect_params(scop.context)
    # One reference often touches them all; many together are cut into all that they have in common.
    return any(cells.is_subset(one) for one in touched) or bool(
        isl.UnionSet.from_set(cells).is_subset(union_of_sets(touched))
    )


def is_in_its_array(scop: Scop, statement: Statement, access: Access) -> bool:
    """Whether C says that an array, which is no parameter, has the cells of all instances of a reference."""
    array = scop.arrays[access.array]
    if array.pointer or not array.sizes or None in array.sizes:
        return False
    if not access.relation.is_single_valued() or not is_made_always(statement, access):
        return False
    cells = access.relation.intersect_domain(statement.domain).range().intersect_params(scop.context)
    return bool(cells.is_subset(_box([size for size in array.sizes if size is not None], cells.get_space())))


def is_touched_each_way(statement: Statement, access: Access) -> bool:
    """Whether a statement touches the cell that one of its references names, whichever sides of its choices it
    takes."""
    touched = _each_way(statement, access.array, statement.body)
    return touched is not None and bool(access.relation.intersect_domain(statement.domain).is_subset(touched))


def _each_way(statement: Statement, array: str, node: ir.Node) -> isl.Map | None:
    """The cells of an array that a part of a statement surely touches, by instance; None if there are none."""
    own = [one for one in statement.accesses if one.node is node]
    if own:
        known = [one.relation for one in own if one.array == array and one.relation.is_single_valued()]
        return known[0] if known else None
    match node:
        case (
            ir.If(cond=condition, iftrue=then, iffalse=other) | ir.TernaryOp(cond=condition, iftrue=then, iffalse=other)
        ):
            asked = _each_way(statement, array, condition)
            if then is None or other is None:
                return asked
            sides = _each_way(statement, array, then), _each_way(statement, array, other)
            if sides[0] is None or sides[1] is None:
                return asked
            both = sides[0].intersect(sides[1])
            return both if asked is None else both.union(asked)
        case ir.BinaryOp(op="&&" | "||", left=left):
            return _each_way(statement, array, left)
        case ir.Compound(block_items=[ir.Node() as only]):
            return _each_way(statement, array, only)
        case ir.Assignment() | ir.BinaryOp() | ir.UnaryOp():
            parts = [part for one in node.parts if (part := _each_way(statement, array, one)) is not None]
            return reduce(isl.Map.union, parts) if parts else None
    return None


def _box(sizes: Sequence[int], space: isl.Space) -> isl.Set:
    box = isl.Set.universe(space)
    for k, size in enumerate(sizes):
        box = box.lower_bound_val(SET, k, isl.Val(0)).upper_bound_val(SET, k, isl.Val(size - 1))
    return box
