"""What a region touches of arrays whose rows lie wherever pointers say: which rows, and which part of each of them.

Where the rows lie is looked up when the program runs, so that the first and the last one have to be rows that the
region asks for itself: pointers beyond them might not be there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import islpy as isl
from msgspec import Struct

from scopt import ir
from scopt.frontend.model.stretches import ends_of, polynomial_of_function
from scopt.ir.scop import Access, Array, Polynomial, Statement
from scopt.poly.isl_utils import SET, few_pieces

# Looking a row up takes as long as some cells' work: shorter ones are left to the original loops.
_SHORTEST_ROW = 16
# More alternatives than this make no condition that anybody could read.
_MOST_ALTERNATIVES = 2


class RowStretch(Struct, frozen=True, eq=False):
    """Rows from the first to the last one, and in each of them cells from the least of `low` to the greatest of `high`;
    all of them included. holds: parameter set, where that is so, and rows are long enough for looking them up."""

    array: Array
    first: Polynomial
    last: Polynomial
    low: tuple[Polynomial, ...]
    high: tuple[Polynomial, ...]
    holds: isl.Set


def row_stretch(array: Array, statements: Iterable[Statement], context: isl.Set) -> RowStretch | None:
    """None where no simple functions of the parameters bound what is touched.

    context: parameter set of what is known.
    """
    everything, sure = [], []
    for statement in statements:
        own = [access for access in statement.accesses if access.array == array.name]
        certain = {*_evaluated(statement.body)} if own else set()
        everything += own
        sure += [access for access in own if access.node in certain and access.relation.is_single_valued()]
    if not sure:
        return None
    holds = context
    for access in sure:
        holds = holds.intersect(access.relation.domain().params())
    holds = holds.coalesce()
    first, last = (_one_end(_cells(sure, 0), holds, lower=lower) for lower in (True, False))
    known = (_one_end(_cells(everything, 0), holds, lower=lower) for lower in (True, False))
    if holds.is_empty() or first is None or last is None or (first, last) != (*known,):
        return None
    columns = _cells(everything, 1).intersect_params(holds)
    low, high = (ends_of(columns, 0, lower=lower) for lower in (True, False))
    long = columns.lexmin().apply(isl.Map(f"{{ [x] -> [y] : y >= x + {_SHORTEST_ROW - 1} }}")).intersect(columns)
    if low is None or high is None:
        return None
    holds = few_pieces(holds.intersect(long.params()).coalesce())
    if holds.is_empty() or holds.n_basic_set() > _MOST_ALTERNATIVES:
        return None
    return RowStretch(array, first, last, low, high, holds)


def _cells(accesses: Sequence[Access], position: int) -> isl.Set:
    """All values of one subscript."""
    found: isl.Set | None = None
    for access in accesses:
        cells = access.relation.range().reset_tuple_id()
        kept = cells.project_out(SET, position + 1, cells.dim(SET) - position - 1).project_out(SET, 0, position)
        found = kept if found is None else found.union(kept)
    assert found is not None
    return found


def _one_end(values: isl.Set, context: isl.Set, *, lower: bool) -> Polynomial | None:
    """The least (greatest) value, if it is the same function of the parameters wherever `context` holds."""
    values = values.intersect_params(context)
    if not (values.dim_has_any_lower_bound(SET, 0) if lower else values.dim_has_any_upper_bound(SET, 0)):
        return None
    pieces: list[isl.Aff] = []
    bound = values.dim_min(0) if lower else values.dim_max(0)
    bound.coalesce().foreach_piece(lambda domain, aff: pieces.append(aff.gist(domain)))
    # Of several pieces one may be what all of them are where the others don't differ.
    same = (one for one in pieces if context.is_subset(isl.PwAff.from_aff(one).eq_set(bound)))
    found = next(same, None)
    return polynomial_of_function(found) if found is not None else None


def _evaluated(node: Any) -> Iterator[Any]:
    """The parts of a statement that are evaluated whatever its data are."""
    yield node
    parts = node.parts
    match node:
        case ir.If() | ir.TernaryOp():
            parts = [node.cond]
        case ir.BinaryOp(op="&&" | "||"):
            parts = [node.left]
        case ir.For() | ir.While() | ir.DoWhile() | ir.Switch():
            parts = []
    for part in parts:
        if part is not None:
            yield from _evaluated(part)
