"""How large the arrays are that a SCoP's references reach."""

from __future__ import annotations

from collections.abc import Sequence

import islpy as isl

from scopt.ir.expr import maximum, weighted
from scopt.ir.nest import Expr, Name
from scopt.ir.scop import Scop
from scopt.poly.isl_utils import SET
from scopt.poly.linear import affine_row


def extents(scop: Scop, relations: Sequence[isl.Map], *, loose: bool = False) -> tuple[Expr, ...] | None:
    """One more than the largest subscript in each dimension, as expressions of the parameters; None if there is no such
    expression, if a subscript may be negative, or if there is no reference at all. relations: ``{ S[…] -> A[…] }``, of
    one array. loose: it may be more, where the largest one is the least of several."""
    cells = relations[0].range()
    for relation in relations[1:]:
        cells = cells.union(relation.range())
    cells = cells.intersect_params(scop.context)
    names = [p.name for p in scop.parameters]
    pieces = [isl.Set.from_basic_set(piece) for piece in cells.coalesce().get_basic_sets()]
    if not pieces:
        return None
    found = []
    for dimension in range(cells.dim(SET)):
        if not cells.lower_bound_val(SET, dimension, isl.Val(0)).is_equal(cells):
            return None
        most = [piece.dim_max(dimension).coalesce() for piece in pieces]
        if loose:
            most = [isl.PwAff.from_aff(aff) for one in most for _, aff in one.get_pieces()]
        rows = {affine_row(one, names) for one in most}
        if None in rows:
            return None
        found.append(maximum(_value(row, names) for row in sorted(row for row in rows if row is not None)))
    return tuple(found)


def _value(row: tuple[int, ...], names: Sequence[str]) -> Expr:
    """One more than a bound, which depends on nothing but the parameters."""
    factors = row[len(row) - 1 - len(names) : -1]
    return weighted([(c, Name(n)) for c, n in zip(factors, names, strict=True) if c], row[-1] + 1)
