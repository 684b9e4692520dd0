"""Linear views of isl functions: coefficient vectors of schedule dimensions
and subscripts over a statement's iterators."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import cast

import islpy as isl

from scopt.poly.isl_utils import IN
from scopt.poly.same_object import of_same

# Whole numbers in it are ints, which are computed with ten times as fast, and divided by `quotient` alone.
Vector = tuple[Fraction, ...]


def coefficients(function: isl.PwAff) -> Vector | None:
    """Coefficients of the domain's dimensions, if the function is one affine piece without divisions; else None."""
    if function.n_piece() != 1:
        return None
    aff = function.get_pieces()[0][1]
    if aff.dim(isl.dim_type.div) > 0:
        return None
    return tuple(_fraction(aff.get_coefficient_val(IN, k)) for k in range(aff.dim(IN)))


def affine_row(function: isl.PwAff, parameters: Sequence[str]) -> tuple[int, ...] | None:
    """Coefficients of the domain's dimensions, of the parameters, and the constant, if all pieces are the same integer
    affine function; else None."""
    rows = set()
    for _, aff in function.align_params(parameter_space(function.get_ctx(), parameters)).get_pieces():
        if aff.dim(isl.dim_type.div) > 0 or aff.dim(isl.dim_type.param) != len(parameters):
            return None
        values = [aff.get_coefficient_val(IN, k) for k in range(aff.dim(IN))]
        values += [aff.get_coefficient_val(isl.dim_type.param, k) for k in range(len(parameters))]
        rows.add(tuple(_fraction(value) for value in (*values, aff.get_constant_val())))
    if len(rows) != 1:
        return None
    row = rows.pop()
    return tuple(int(value) for value in row) if all(value.denominator == 1 for value in row) else None


@of_same(4096)
@lru_cache(maxsize=2048)
def affine_rows(relation: isl.Map, parameters: tuple[str, ...] | None = None) -> tuple[tuple[int, ...] | None, ...]:
    """The `affine_row` of each subscript, over all parameters that the relation has if nobody says which."""
    if not relation.is_single_valued():
        return (None,) * int(relation.dim(isl.dim_type.out))
    function = relation.as_pw_multi_aff()
    own = (str(function.get_dim_name(isl.dim_type.param, k)) for k in range(function.dim(isl.dim_type.param)))
    names = tuple(own) if parameters is None else parameters
    return tuple(affine_row(function.get_pw_aff(k), names) for k in range(function.dim(isl.dim_type.out)))


def whole(number: int) -> Fraction:
    """A whole number as a vector has it."""
    return cast(Fraction, number)


def quotient(dividend: Fraction, divisor: Fraction) -> Fraction:
    """The exact quotient of two numbers of vectors."""
    if divisor == 1:
        return dividend
    found = Fraction(dividend) / divisor
    return whole(found.numerator) if found.denominator == 1 else found


def _fraction(value: isl.Val) -> Fraction:
    number = int(value.get_num_si())
    return whole(number) if value.is_int() else Fraction(number, int(value.get_den_val().get_num_si()))


def solve(rows: Sequence[Vector], wanted: Sequence[int]) -> Vector | None:
    """A vector v with rows·v = wanted; None if there is none.
    Free unknowns are zero (Gauss-Jordan over the rationals)."""
    return _solved(tuple(rows), tuple(wanted)) if rows else None


@lru_cache(maxsize=2048)
def _solved(rows: tuple[Vector, ...], wanted: tuple[int, ...]) -> Vector | None:
    """The same: statements of one body have the same rows."""
    width = len(rows[0])
    matrix = [[*row, whole(value)] for row, value in zip(rows, wanted, strict=True)]
    pivots: list[int] = []
    line = 0
    for column in range(width):
        pivot = next((r for r in range(line, len(matrix)) if matrix[r][column]), None)
        if pivot is None:
            continue
        matrix[line], matrix[pivot] = matrix[pivot], matrix[line]
        matrix[line] = [quotient(value, matrix[line][column]) for value in matrix[line]]
        for r in range(len(matrix)):
            if r != line and (factor := matrix[r][column]):
                matrix[r] = [a - factor * b for a, b in zip(matrix[r], matrix[line], strict=True)]
        pivots.append(column)
        line += 1
    if any(row[-1] for row in matrix[line:]):
        return None
    result = [whole(0)] * width
    for r, column in enumerate(pivots):
        result[column] = matrix[r][-1]
    return tuple(result)


def dot(a: Vector, b: Vector) -> Fraction:
    return sum((x * y for x, y in zip(a, b, strict=True) if x and y), whole(0))


@of_same(4096)
@lru_cache(maxsize=2048)
def subscript_rows(relation: isl.Map) -> tuple[Vector, ...] | None:
    """One coefficient vector a subscript, over the statement's iterators; None where a subscript isn't affine (whole
    arrays, piecewise ones)."""
    if not relation.is_single_valued():
        return None
    function = relation.as_pw_multi_aff()
    rows = []
    for position in range(function.dim(isl.dim_type.out)):
        row = coefficients(function.get_pw_aff(position))
        if row is None:
            return None
        rows.append(row)
    return tuple(rows)


def subscript_moves(relation: isl.Map, direction: Vector) -> Vector | None:
    """By how much each subscript grows when the statement's iterators move by a direction; None where that differs from
    place to place. A quotient or remainder of what stays doesn't move."""
    rows = subscript_rows(relation)
    if rows is not None:
        return tuple(dot(row, direction) for row in rows)
    return _piecewise_moves(relation, direction) if all(step.denominator == 1 for step in direction) else None


@of_same(4096)
@lru_cache(maxsize=2048)
def _piecewise_moves(relation: isl.Map, direction: Vector) -> Vector | None:
    """The same for whole steps where a subscript isn't affine."""
    if not relation.is_single_valued():
        return None
    function = relation.as_pw_multi_aff()
    moved = _moved(function.get_domain_space(), direction)
    found = []
    for position in range(function.dim(isl.dim_type.out)):
        subscript = function.get_pw_aff(position)
        growth = subscript.pullback_multi_aff(moved).sub(subscript)
        least, most = growth.min_val(), growth.max_val()
        if not least.is_rat() or not least.eq(most):
            return None
        found.append(_fraction(least))
    return tuple(found)


def _moved(space: isl.Space, direction: Vector) -> isl.MultiAff:
    """``{ S[i] -> S[i + direction] }``."""
    result = isl.MultiAff.identity(space.map_from_set())
    for position, step in enumerate(direction):
        result = result.set_aff(position, result.get_aff(position).add_constant_val(isl.Val(int(step))))
    return result


def parameter_space(context: isl.Context, parameters: Sequence[str]) -> isl.Space:
    """The space of these parameters, in this order."""
    space = isl.Space.params_alloc(context, len(parameters))
    for position, name in enumerate(parameters):
        space = space.set_dim_name(isl.dim_type.param, position, name)
    return space
