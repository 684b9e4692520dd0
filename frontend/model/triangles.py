"""Arrays of one dimension that hold rows of growing or shrinking length: ``p[i * (i + 1) / 2 + j]`` as cell ``p[i][j]``
of a triangle, ``d[n * i - i * (i + 1) / 2 + j - i - 1]`` as ``d[i][j - 1]``, ``y[l * l + l + m]`` as ``y[l][m]``.

A row begins at a function of second degree of its number. Of a subscript, the terms of second degree tell the row: they
are a square, once that of the function has been completed. What is left has to be linear, and to lie within the row
that is as long as the next one begins further on; so no two rows have a cell in common. Places in rows are counted so
that they have little to do with the rows' numbers: in each row from one further on, or back, than in the one before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import product
from math import isqrt, lcm
from typing import Any

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.frontend.model.product_sums import Atom, Monomial, Terms, sum_node, sum_value, summed
from scopt.frontend.model.row_conditions import all_hold, always_inside, executed_by
from scopt.frontend.model.subscript_reading import Subscript
from scopt.ir.scop import RowStarts
from scopt.poly.isl_utils import constant_pw_aff

Sum = dict[Monomial, Fraction]

# A row's beginning and the place in it can share multiples of the row's number: so many are tried.
_SHIFTS = (0, -1, 1, -2, 2)
# Parameters that have to be smaller are none: what holds for so few rows alone is no triangle.
_SHORT = 32


class Triangle(Struct, frozen=True, eq=False):
    """Row ``r`` begins at element square · r² + linear · r, with its place number slant · r. linear: of parameters."""

    square: Fraction
    linear: Sum
    atoms: Mapping[str, Atom]
    slant: int = 0

    def starts(self) -> RowStarts:
        """Where the place with number 0 would be, in integers and C's names."""
        linear = _plus(self.linear, {(): Fraction(-self.slant)})
        divisor = lcm(self.square.denominator, *(c.denominator for c in linear.values()))
        named = tuple((int(c * divisor), monomial[0] if monomial else "") for monomial, c in linear.items())
        return RowStarts(int(self.square * divisor), named, divisor)

    def extents(self) -> tuple[Any, ...]:
        """As of rows that pointers lead to."""
        return (None, None)

    def start(self, row: Sum) -> Sum:
        return _times(row, _plus(_scaled(row, self.square), self.linear))

    def length(self, row: Sum) -> Sum:
        """How far the next row begins behind this one."""
        return _plus(_scaled(row, 2 * self.square), _plus(self.linear, {(): self.square}))

    def same(self, other: Triangle) -> bool:
        return (self.square, self.linear) == (other.square, other.linear)


class Parts(Struct, frozen=True, eq=False):
    """Row and place in it, also as C expressions, and the parameter set where that is right."""

    row: Sum
    place: Sum
    nodes: tuple[Any, ...]
    holds: isl.Set


# --- triangles --------------------------------------------------------------------------------------------------------


def triangle_of(subscripts: Sequence[Subscript]) -> tuple[Triangle, isl.Set] | None:
    """The triangle that all subscripts of an array lie in, and the parameter set for which they do; None if there is
    none."""
    if not any(_degree(_expanded(subscript)) == 2 for subscript in subscripts):
        return None
    atoms = {key: atom for subscript in subscripts for key, atom in subscript.atoms.items()}
    executed = executed_by(subscripts)
    tried: list[Triangle] = []
    best: tuple[Triangle, isl.Set] | None = None
    for triangle in _candidates(subscripts, atoms):
        if any(triangle.same(other) for other in tried):
            continue
        tried.append(triangle)
        holds = all_hold(subscripts, partial(parts_of_triangle, triangle=triangle))
        if holds is None or not _is_worth(holds, executed):
            continue
        if best is None or _holds_for_more(holds, best[1], executed):
            best = triangle, holds
        if best[1].complement().is_empty():
            break
    return (_slanted(best[0], subscripts), best[1]) if best is not None else None


def _slanted(triangle: Triangle, subscripts: Sequence[Subscript]) -> Triangle:
    """The same, with places that have to do with as few iterators as possible."""

    def iterators(slant: int) -> int:
        parts = [parts_of_triangle(one, replace(triangle, slant=slant)) for one in subscripts]
        return sum(triangle.atoms[m[0]].moves for part in parts if part is not None for m in part.place if m)

    return replace(triangle, slant=min(_SHIFTS, key=iterators))


def _candidates(subscripts: Sequence[Subscript], atoms: Mapping[str, Atom]) -> Iterator[Triangle]:
    """What each subscript would lie in whose row has an iterator's value, or its opposite, and no more; or a value
    whose square is all that it has of second degree, as ``(n - 1 - i) * (n - i) / 2``."""
    for subscript in subscripts:
        total = _expanded(subscript)
        second: Sum = {m: c for m, c in total.items() if len(m) == 2}
        moving: Sum = {m: c for m, c in second.items() if all(atoms[key].moves for key in m)}
        for unit in sorted({abs(c) for (a, b), c in moving.items() if a == b}):
            for square, squares in product((unit, -unit), (second, moving)):
                row = _root(_scaled(squares, 1 / square))
                beside = {m: c for m, c in total.items() if m not in squares}
                linear = _beside(beside, row, atoms) if row else None
                if linear is None:
                    continue
                for sign, shift in product((1, -1), _SHIFTS):
                    shifted = _plus(_scaled(linear, Fraction(sign)), {(): Fraction(shift)})
                    if _is_integral(square, shifted):
                        yield Triangle(square, shifted, atoms)


def _beside(total: Sum, row: Sum, atoms: Mapping[str, Atom]) -> Sum | None:
    """What a row's number is multiplied with besides: parameters, and as much as there is of its first iterator. None
    where that isn't linear, or other iterators are multiplied with other parameters."""
    first = next((m for m in row if atoms[m[0]].moves), None)
    if first is None:
        return None
    linear: Sum = {}
    for monomial, coefficient in total.items():
        rest = list(monomial)
        if first[0] in rest:
            rest.remove(first[0])
            if not any(atoms[key].moves for key in rest):
                linear[tuple(rest)] = coefficient / row[first]
    named = all(isinstance(atoms[key].node, ir.ID) for monomial in linear for key in monomial)
    return linear if named and _degree(linear) <= 1 else None


def _is_integral(square: Fraction, linear: Sum) -> bool:
    """Whether rows begin at integers, and are integers longer than the ones before them."""
    steps = [c for monomial, c in linear.items() if monomial]
    whole = square + linear.get((), Fraction(0))
    return all(c.denominator == 1 for c in (2 * square, whole, *steps))


def _holds_for_more(condition: isl.Set, other: isl.Set, executed: isl.Set) -> bool:
    """Whether a condition holds for all parameters that another one does, and for more, where something happens."""
    condition, other = condition.intersect(executed), other.intersect(executed)
    return bool(other.is_subset(condition)) and not condition.is_subset(other)


def _is_worth(holds: isl.Set, executed: isl.Set) -> bool:
    """Whether no parameter has to be small for there to be rows."""
    some = holds.intersect(executed)
    for k in range(some.dim(isl.dim_type.param)):
        if some.is_empty() or not some.involves_dims(isl.dim_type.param, k, 1):
            continue
        large = some.lower_bound_val(isl.dim_type.param, k, isl.Val(_SHORT))
        if large.is_empty() and not executed.lower_bound_val(isl.dim_type.param, k, isl.Val(_SHORT)).is_empty():
            return False
    return not some.is_empty()


# --- dividing a subscript ---------------------------------------------------------------------------------------------


def parts_of_triangle(subscript: Subscript, triangle: Triangle) -> Parts | None:
    """Row and place of a subscript, in the way that holds for the most parameters; None if it doesn't fit."""
    total, atoms = _expanded(subscript), {**triangle.atoms, **subscript.atoms}
    best: Parts | None = None
    for row in _rows(total, triangle):
        place = _plus(total, _scaled(triangle.start(row), Fraction(-1)))
        if _degree(place) > 1 or any(c.denominator != 1 for part in (row, place) for c in part.values()):
            continue
        holds = _inside(subscript, triangle, row, place, atoms)
        if best is None or _holds_for_more(holds, best.holds, executed_by([subscript])):
            numbered = _plus(place, _scaled(row, Fraction(triangle.slant)))
            nodes = (sum_node(_integers(one), atoms) for one in (row, numbered))
            best = Parts(row, numbered, tuple(nodes), holds)
        if best.holds.complement().is_empty():
            break
    return best


def _rows(total: Sum, triangle: Triangle) -> Iterator[Sum]:
    """Rows with which all terms of second degree cancel each other out: the square is completed, and its roots moved by
    constants so that little is left of an iterator."""
    square = triangle.square
    beside = _scaled({m: c for m, c in triangle.linear.items() if m}, 1 / (2 * square))
    second: Sum = {monomial: coefficient for monomial, coefficient in total.items() if len(monomial) == 2}
    root = _root(_plus(_scaled(second, 1 / square), _times(beside, beside)))
    if root is None:
        return
    for sign in (1, -1) if root else (1,):
        row = _plus(_scaled(root, Fraction(sign)), _scaled(beside, Fraction(-1)))
        rest = _plus(total, _scaled(triangle.start(row), Fraction(-1)))
        moved = next((key for key in row if triangle.atoms[key[0]].moves), None) if row else None
        for shift in _SHIFTS:
            if moved is None:
                yield _plus(row, {(): Fraction(shift)})
                continue
            count = (rest.get(moved, Fraction(0)) - shift) / (2 * square * row[moved])
            if count.denominator == 1:
                yield _plus(row, {(): count})


def _inside(subscript: Subscript, triangle: Triangle, row: Sum, place: Sum, atoms: Mapping[str, Atom]) -> isl.Set:
    """Parameters for which the place lies within the row, and nothing wraps around, in all iterations."""
    zero = constant_pw_aff(0)
    start, length = (sum_value(_integers(one), atoms) for one in (place, triangle.length(row)))
    inside = start.ge_set(zero).intersect(start.lt_set(length)).intersect(subscript.exact)
    if subscript.unsigned:
        most = 1 << max(min(subscript.unsigned, 63) // 2 - 3, 0)
        values = [atoms[key].value for key in {key for monomial in _expanded(subscript) for key in monomial}]
        for value in values:
            inside = inside.intersect(value.lt_set(constant_pw_aff(most))).intersect(
                value.gt_set(constant_pw_aff(-most))
            )
        factor = _scaled(_plus(_scaled(row, triangle.square), triangle.linear), Fraction(2))
        for one in (row, factor):
            inside = inside.intersect(sum_value(_integers(one), atoms).ge_set(zero))
    return always_inside(subscript, inside)


# --- sums of products with rational coefficients ----------------------------------------------------------------------


def _expanded(subscript: Subscript) -> Sum:
    """The subscript with sums as factors and quotients multiplied out."""
    total: Sum = {}
    for monomial, coefficient in summed(subscript.terms, subscript.sums).items():
        made: Sum = {(): Fraction(coefficient)}
        for key in monomial:
            whole, divisor = subscript.quotients.get(key, ({(key,): 1}, 1))
            made = _times(made, {m: Fraction(c, divisor) for m, c in whole.items()})
        total = _plus(total, made)
    return total


def _root(square: Sum) -> Sum | None:
    """The linear sum without constant whose square a sum is; None if it is none."""
    if not square:
        return {}
    first = next((m[0] for m in square if len(m) == 2 and m[0] == m[1]), None)
    own = _sqrt(square[first, first]) if first is not None else None
    if first is None or not own:
        return None
    root: Sum = {(first,): own}
    for monomial, coefficient in square.items():
        if first in monomial and monomial != (first, first):
            other = monomial[0] if monomial[1] == first else monomial[1]
            root[other,] = coefficient / (2 * own)
    return root if _times(root, root) == square else None


def _sqrt(value: Fraction) -> Fraction | None:
    if value < 0:
        return None
    root = Fraction(isqrt(value.numerator), isqrt(value.denominator))
    return root if root * root == value else None


def _plus(a: Sum, b: Sum) -> Sum:
    total = dict(a)
    for monomial, coefficient in b.items():
        total[monomial] = total.get(monomial, Fraction(0)) + coefficient
    return {monomial: coefficient for monomial, coefficient in total.items() if coefficient}


def _scaled(a: Mapping[Monomial, Fraction], factor: Fraction) -> Sum:
    return {monomial: coefficient * factor for monomial, coefficient in a.items() if factor}


def _times(a: Sum, b: Sum) -> Sum:
    total: Sum = {}
    for left, some in a.items():
        for right, others in b.items():
            total = _plus(total, {tuple(sorted((*left, *right))): some * others})
    return total


def _degree(total: Sum) -> int:
    return max(map(len, total), default=0)


def _integers(total: Sum) -> Terms:
    return {monomial: int(coefficient) for monomial, coefficient in total.items()}
