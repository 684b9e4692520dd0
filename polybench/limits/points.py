"""How many integer points a set has, exactly, without visiting them one by one.

isl can't count without barvinok. For sets without parameters sums do: one variable after the other is summed out, the
one first whose constraints involve the smallest set of other variables (bucket elimination: Dechter, "Bucket
elimination: a unifying framework for reasoning", 1999). A sum over a variable depends on its neighbours' values, and is
kept as a table over them. Where bounds form chains, as in nearly all loop nests (a box, a triangle, a pyramid), no
table has more than one dimension: the work grows with the extent of a loop, not with the number of points.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import islpy as isl
import numpy as np
import numpy.typing as npt
from msgspec import Struct

from scopt.poly.isl_utils import SET

# Entries of a table: 8 bytes each, some tables at a time.
MAX_ENTRIES = 1 << 25
# Above it, sums might not fit into 64 bits.
MAX_VALUE = 1 << 62

Table = npt.NDArray[np.int64]
# The lowest and the highest value of a variable.
Range = tuple[int, int]


class NotCounted(Exception):
    """It can't be told how many there are; the message says why, in one line."""


class _Row(Struct, frozen=True):
    """Σ coefficient·variable + constant ≥ 0. coefficients: (variable, coefficient ≠ 0)."""

    coefficients: tuple[tuple[int, int], ...]
    constant: int

    @property
    def variables(self) -> frozenset[int]:
        return frozenset(variable for variable, _ in self.coefficients)


class _Factor(Struct, frozen=True, eq=False):
    """A function of variables. table: its values, an axis for each of `variables`, from the lowest value on. largest:
    its largest value."""

    variables: tuple[int, ...]
    table: Table
    largest: int


def count(points: isl.Set) -> int:
    """How many points a bounded set without parameters has. Raises NotCounted."""
    disjoint = points.coalesce().make_disjoint().compute_divs()
    return sum(_count_piece(piece) for piece in disjoint.get_basic_sets())


def _count_piece(piece: isl.BasicSet) -> int:
    """The points of a conjunction. Its quotients ⌊(…)/d⌋ become variables:
    the others determine them, so the count is the same."""
    if piece.is_empty():
        return 0
    piece = piece.remove_redundancies().lift().flatten()
    whole = isl.Set.from_basic_set(piece)
    ranges = [_range(whole, position) for position in range(piece.dim(SET))]
    rows: list[_Row] = []
    for constraint in piece.get_constraints():
        values = (constraint.get_coefficient_val(SET, position).to_python() for position in range(len(ranges)))
        terms = tuple((position, value) for position, value in enumerate(values) if value)
        constant = constraint.get_constant_val().to_python()
        rows.append(_Row(terms, constant))
        if constraint.is_equality():
            rows.append(_Row(tuple((position, -value) for position, value in terms), -constant))
    return _sum_out(ranges, rows)


def _range(piece: isl.Set, position: int) -> Range:
    low, high = piece.dim_min_val(position), piece.dim_max_val(position)
    if not (low.is_int() and high.is_int()):
        raise NotCounted("a loop has no constant bounds")
    return low.to_python(), high.to_python()


def _sum_out(ranges: Sequence[Range], rows: list[_Row]) -> int:
    """How many points of the box `ranges` satisfy all rows."""
    if any(not row.coefficients and row.constant < 0 for row in rows):
        return 0
    factors: list[_Factor] = []
    result = 1
    remaining = set(range(len(ranges)))
    while remaining:
        around = {variable: _neighbours(variable, rows, factors) for variable in remaining}
        chosen = min(remaining, key=lambda variable: (_size(around[variable], ranges), variable))
        own = [row for row in rows if chosen in row.variables]
        product = [factor for factor in factors if chosen in factor.variables]
        summed = _summed(chosen, tuple(sorted(around[chosen])), own, product, ranges)
        rows = [row for row in rows if chosen not in row.variables]
        factors = [factor for factor in factors if chosen not in factor.variables]
        remaining.remove(chosen)
        if summed.variables:
            factors.append(summed)
        else:
            result *= int(summed.table)
    return result


def _neighbours(variable: int, rows: Sequence[_Row], factors: Sequence[_Factor]) -> frozenset[int]:
    """The other variables of the rows and factors that have this one."""
    sets = [row.variables for row in rows] + [frozenset(factor.variables) for factor in factors]
    return frozenset().union(*(others for others in sets if variable in others)) - {variable}


def _size(variables: frozenset[int], ranges: Sequence[Range]) -> int:
    return prod(ranges[variable][1] - ranges[variable][0] + 1 for variable in variables)


def _summed(
    variable: int, others: tuple[int, ...], rows: Sequence[_Row], factors: Sequence[_Factor], ranges: Sequence[Range]
) -> _Factor:
    """Σ over the values of `variable` that satisfy `rows`, of the product of `factors`: a factor over `others`."""
    low, high = ranges[variable]
    largest = (high - low + 1) * prod(factor.largest for factor in factors)
    if largest > MAX_VALUE:
        raise NotCounted("there are too many points for 64 bits")
    if (high - low + 1) * _size(
        frozenset().union(*(factor.variables for factor in factors)) - {variable}, ranges
    ) > MAX_ENTRIES:
        raise NotCounted("the loops' bounds depend on each other in too many ways")
    if _size(frozenset(others), ranges) > MAX_ENTRIES:
        raise NotCounted("the loops' bounds depend on each other in too many ways")
    values = {
        other: _along(np.arange(ranges[other][0], ranges[other][1] + 1), others.index(other), len(others))
        for other in others
    }
    lower, upper = _bounds(variable, rows, values, ranges)
    if not factors:
        table = np.maximum(upper - lower + 1, 0)
    else:
        within = tuple(sorted(frozenset().union(*(factor.variables for factor in factors)) - {variable}))
        sums = _prefix_sums(variable, within, factors)
        index = tuple(
            _along(np.arange(ranges[other][1] - ranges[other][0] + 1), others.index(other), len(others))
            for other in within
        )
        stop = np.maximum(upper + 1, lower) - low
        table = sums[(stop, *index)] - sums[(lower - low, *index)]
    shape = tuple(ranges[other][1] - ranges[other][0] + 1 for other in others)
    return _Factor(others, np.broadcast_to(table, shape), int(table.max(initial=0)))


def _bounds(
    variable: int, rows: Sequence[_Row], values: dict[int, Table], ranges: Sequence[Range]
) -> tuple[Table, Table]:
    """Lower and upper bound of `variable` over the grid `values` of its neighbours; both stay within its range, apart
    from an upper one below the lowest and a lower one above the highest value."""
    low, high = ranges[variable]
    lower, upper = np.asarray(low, dtype=np.int64), np.asarray(high, dtype=np.int64)
    for row in rows:
        coefficients = dict(row.coefficients)
        own = coefficients.pop(variable)
        rest: Table = sum(
            (values[other] * value for other, value in coefficients.items()), np.asarray(row.constant, dtype=np.int64)
        )
        if own > 0:
            lower = np.maximum(lower, -(rest // own))
        else:
            upper = np.minimum(upper, rest // -own)
    return np.minimum(lower, high + 1), np.maximum(upper, low - 1)


def _prefix_sums(variable: int, others: tuple[int, ...], factors: Sequence[_Factor]) -> Table:
    """The product of the factors, summed along `variable`, which is the first axis:
    entry k is the sum of the first k values."""
    axes = (variable, *others)
    product: Table = np.asarray(1, dtype=np.int64)
    for factor in factors:
        order = sorted(range(len(factor.variables)), key=lambda position: axes.index(factor.variables[position]))
        shape = [1] * len(axes)
        for position in order:
            shape[axes.index(factor.variables[position])] = factor.table.shape[position]
        product = product * factor.table.transpose(order).reshape(shape)
    sums = np.cumsum(product, axis=0)
    return np.concatenate([np.zeros((1, *sums.shape[1:]), dtype=np.int64), sums])


def _along(values: Table, axis: int, axes: int) -> Table:
    """A vector as an array that varies along one of its axes."""
    return values.reshape([-1 if position == axis else 1 for position in range(axes)])
