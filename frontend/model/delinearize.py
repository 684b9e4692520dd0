"""Arrays of several dimensions that a program keeps in one: ``a[i * n + j]`` as cell ``a[i][j]`` of rows of `n`.

After Grosser, Ramanujam, Pouchet, Sadayappan, Pop, "Optimistic delinearization of parametrically sized arrays" (ICS
2015): the products of iterators with parameters tell the distances of rows; a subscript is divided by them; and the
inner subscripts have to lie within their rows, for whatever parameters that is so. Where it isn't so for all, it is a
condition that the program tests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise, product
from math import gcd
from typing import Any

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.frontend.model.product_sums import (
    Atom,
    Monomial,
    Terms,
    constant_sum,
    plus,
    product_node,
    sum_node,
    sum_value,
    times,
)
from scopt.frontend.model.row_conditions import all_hold, always_all, executed_by
from scopt.frontend.model.subscript_reading import Subscript
from scopt.ir.walks import walk
from scopt.poly.isl_utils import constant_pw_aff, param_pw_aff
from scopt.poly.same_object import of_same

# A constant distance of rows under which a condition on parameters isn't worth it: `x[3 * i + k]` is no array of rows
# of 3 unless k is below.
SHORT_ROW = 32


class Stride(Struct, frozen=True, eq=False):
    """Elements from one row to the next: factor · product of parametric atoms."""

    factor: int
    atoms: Monomial


class Shape(Struct, frozen=True, eq=False):
    """How an array's elements lie. strides: of each dimension, outermost first;
    the last is 1. sizes: of all but the first dimension. products: variables with the factors whose product they are,
    which stand for these in subscripts. first: of each size, the subscript that rows begin with: 1 where a program
    counts as Fortran does, so that a row may be as long as the loops over it."""

    strides: tuple[Stride, ...]
    sizes: tuple[Stride, ...]
    atoms: Mapping[str, Atom]
    products: Mapping[str, Monomial] = {}
    first: tuple[int, ...] = ()

    @property
    def rank(self) -> int:
        return len(self.strides)

    @property
    def is_constant(self) -> bool:
        """Whether all rows have a constant length, so that subscripts are affine without it."""
        return not self.distances

    @property
    def distances(self) -> frozenset[str]:
        """The parameters that say how long rows are."""
        return frozenset(key for stride in self.strides for key in stride.atoms)

    def extents(self) -> tuple[Any, ...]:
        """C expressions; None for the first."""
        return (None, *(product_node(size.factor, [self.atoms[key].node for key in size.atoms]) for size in self.sizes))


class Parts(Struct, frozen=True, eq=False):
    """A subscript in a shape's dimensions: C expressions, functions on the parameter domain, and the parameter set
    where it is right."""

    nodes: tuple[Any, ...]
    values: tuple[isl.PwAff, ...]
    holds: isl.Set


# --- shapes -----------------------------------------------------------------------------------------------------------


def shape_of(
    subscripts: Sequence[Subscript], products: Mapping[str, Monomial] | None = None
) -> tuple[Shape, isl.Set] | None:
    """A shape that all subscripts of an array fit into, and the parameter set for which they do; None if there is none,
    or only that of one dimension.

    products: variables that bound loops, with their factors: rows may be as long as one of them says, as
    ``a[(i * rows + r) * cols + c]`` where a loop runs up to ``rows * cols``.
    """
    if any(subscript.quotients for subscript in subscripts):
        return None
    found = _shape_of(subscripts, {})
    return found if found is not None or not products else _shape_of(subscripts, products)


def _shape_of(subscripts: Sequence[Subscript], products: Mapping[str, Monomial]) -> tuple[Shape, isl.Set] | None:
    subscripts = [_with_products(subscript, products) for subscript in subscripts]
    atoms = {key: atom for subscript in subscripts for key, atom in subscript.atoms.items()}
    found: tuple[Shape, isl.Set] | None = None
    for strides in _stride_lists(subscripts):
        sizes = _sizes(strides)
        if sizes is None or any(_is_chosen(atoms[key].node) for size in sizes for key in size.atoms):
            continue
        shape = Shape(tuple(strides), sizes, atoms, products)
        holds = all_hold(subscripts, partial(parts_of, shape=shape))
        if holds is None:
            continue
        if not _always(holds):
            shape, holds = _with_first(subscripts, shape, holds)
        short = any(not stride.atoms and stride.factor < SHORT_ROW for stride in strides[:-1])
        worth = found is None and (not short or _always(holds) or any(stride.atoms for stride in strides))
        if worth or (found is not None and found[1].is_subset(holds) and not holds.is_subset(found[1])):
            found = shape, holds
    return found


def _with_first(subscripts: Sequence[Subscript], shape: Shape, holds: isl.Set) -> tuple[Shape, isl.Set]:
    """The shape whose rows begin with the least of their subscripts, where that one is known, if that holds for more
    parameters: rows of `n` have room for ``1 <= i <= n``, and not for ``0 <= i <= n``. holds: where the shape does."""
    parts = [one for one in (parts_of(subscript, shape=shape) for subscript in subscripts) if one is not None]
    domains = [subscript.domain for subscript in subscripts]
    first = []
    for k, size in enumerate(shape.sizes, 1):
        least = [one.values[k].intersect_params(domain).min_val() for one, domain in zip(parts, domains, strict=True)]
        known = bool(size.atoms) and all(one.is_int() for one in least)
        first.append(max(0, min(one.to_python() for one in least)) if known else 0)
    if not any(first):
        return shape, holds
    shifted = replace(shape, first=tuple(first))
    found = all_hold(subscripts, partial(parts_of, shape=shifted))
    return (shape, holds) if found is None or found.is_subset(holds) else (shifted, found)


def _with_products(subscript: Subscript, products: Mapping[str, Monomial]) -> Subscript:
    """A subscript in whose terms variables stand for the products that they are."""
    if not products:
        return subscript
    terms, atoms = dict(subscript.terms), dict(subscript.atoms)
    for name, factors in products.items():
        made: Terms = {}
        for monomial, coefficient in terms.items():
            rest = _without(monomial, factors)
            made = plus(made, {monomial if rest is None else tuple(sorted((*rest, name))): coefficient})
        if made != terms:
            terms, atoms[name] = made, Atom(ir.ID(name), param_pw_aff(name), moves=False)
    return replace(subscript, terms=terms, atoms=atoms)


def longer_than_rows(shape: Shape, subscripts: Sequence[Subscript], *, planes: bool = False) -> bool:
    """Whether some subscripts stay in one row, and ask more of its length than those that go from row to row: ``C[i]``
    with i < n_m beside ``C[i * m + j]`` is more likely to run over all rows than to end in the first.

    planes: rows of rows, and so on, as pixels of channels, are asked about too: ``C[i * k + j]`` beside
    ``C[(i * m + j) * k + l]``.
    """
    parts = {one: parts_of(one, shape=shape) for one in subscripts}
    levels = range(0 if planes else max(0, shape.rank - 2), shape.rank - 1)
    return any(_asks_more(shape, subscripts, parts, level) for level in levels)


def _asks_more(
    shape: Shape, subscripts: Sequence[Subscript], parts: Mapping[Subscript, Parts | None], level: int
) -> bool:
    """The same of the rows of one dimension."""
    moving = [
        one for one in subscripts if (part := parts[one]) is not None and _involves(part.values[level], one.iterators)
    ]
    if not moving or len(moving) == len(subscripts):
        return False
    rows, both = all_hold(moving, partial(parts_of, shape=shape)), all_hold(subscripts, partial(parts_of, shape=shape))
    return rows is not None and both is not None and not rows.intersect(executed_by(subscripts)).is_subset(both)


def _involves(value: isl.PwAff, iterators: Iterable[str]) -> bool:
    positions = (value.find_dim_by_name(isl.dim_type.param, name) for name in iterators)
    return any(position >= 0 and value.involves_dims(isl.dim_type.param, position, 1) for position in positions)


def _stride_lists(subscripts: Sequence[Subscript]) -> Iterator[list[Stride]]:
    """Distances of rows that the products with iterators show, with and without those that are constants."""
    factors: dict[Monomial, list[int]] = {}
    for subscript in subscripts:
        for monomial, coefficient in subscript.terms.items():
            moving = [key for key in monomial if subscript.atoms[key].moves]
            if len(moving) > 1:
                return
            if moving:
                factors.setdefault(tuple(key for key in monomial if key != moving[0]), []).append(coefficient)
    parametric = sorted((monomial for monomial in factors if monomial), key=len, reverse=True)
    strides = [Stride(gcd(*factors[monomial]), monomial) for monomial in parametric]
    constants = sorted(_row_lengths(subscripts), reverse=True)
    chain: list[Stride] = []
    for constant in constants:
        last = chain[-1].factor if chain else strides[-1].factor if strides else constant
        if last % constant == 0 and (chain or not strides or last != 1):
            chain.append(Stride(constant, ()))
    # Some loops go through the rows of a record one by one, others through all of its cells: records are rows then.
    for length in range(len(chain), 0, -1):
        yield [*strides, *chain[:length], Stride(1, ())]
    if strides:
        yield [*strides, Stride(1, ())]
        if any(stride.factor != 1 for stride in strides):
            yield [*(Stride(1, stride.atoms) for stride in strides), Stride(1, ())]


def _row_lengths(subscripts: Sequence[Subscript]) -> set[int]:
    """Constants that an iterator is multiplied with where another one moves within what it skips."""
    found: set[int] = set()
    for subscript in subscripts:
        steps = [abs(c) for m, c in subscript.terms.items() if len(m) == 1 and subscript.atoms[m[0]].moves]
        found.update(step for step in steps if step > min(steps))
    return found


def _sizes(strides: Sequence[Stride]) -> tuple[Stride, ...] | None:
    """Each stride divided by the next; None where they don't divide, or a size isn't affine."""
    sizes = []
    for outer, inner in pairwise(strides):
        rest = _without(outer.atoms, inner.atoms)
        if rest is None or outer.factor % inner.factor or len(rest) > 1 or (not rest and outer.factor == inner.factor):
            return None
        sizes.append(Stride(outer.factor // inner.factor, rest))
    return tuple(sizes)


def _is_chosen(node: Any) -> bool:
    """Whether a condition decides about a value: rows are of lengths that are sums and products."""
    return any(isinstance(one, ir.TernaryOp) for one in walk(node))


def _without(monomial: Monomial, other: Monomial) -> Monomial | None:
    rest = list(monomial)
    for key in other:
        if key not in rest:
            return None
        rest.remove(key)
    return tuple(rest)


# --- dividing a subscript ---------------------------------------------------------------------------------------------


@of_same(256)
def parts_of(subscript: Subscript, shape: Shape) -> Parts | None:
    """A subscript in a shape's dimensions, in the way that holds for the most parameters; None if it doesn't fit. Kept:
    who looks for a shape asks about all subscripts again and again."""
    best: Parts | None = None
    if subscript.quotients:
        return None
    subscript = _with_products(_multiplied_out(subscript, shape), shape.products)
    tried: list[list[Terms]] = []
    for first, nearest in product(range(shape.rank), (True, False)):
        split = _split(subscript, shape, first, nearest=nearest)
        if split is None or split in tried:
            continue
        tried.append(split)
        atoms = {**shape.atoms, **subscript.atoms}
        for borrowed in _borrowed(split, shape):
            values = tuple(sum_value(terms, atoms) for terms in borrowed)
            holds = _inside(subscript, shape, values)
            if best is None or (best.holds.is_subset(holds) and not holds.is_subset(best.holds)):
                best = Parts(tuple(sum_node(terms, atoms) for terms in borrowed), values, holds)
            if _always(best.holds):
                return best
    return best


def _multiplied_out(subscript: Subscript, shape: Shape) -> Subscript:
    """The subscript without sums as factors that say nothing of the distance of rows: ``(4 * ny + ny / 2) * nx`` is a
    cell in the middle of a plane of ``ny * nx``."""
    terms: Terms = {}
    for monomial, coefficient in subscript.terms.items():
        made: Terms = {(): coefficient}
        for key in monomial:
            own = subscript.sums.get(key) if len(monomial) > 1 and key not in shape.distances else None
            made = times(made, {(key,): 1} if own is None else own)
        terms = plus(terms, made)
    return replace(subscript, terms=terms)


def _borrowed(split: list[Terms], shape: Shape) -> Iterator[list[Terms]]:
    """The division, and those with the length of a row more or less in one dimension, and a row less or more in the one
    outside of it."""
    yield split
    for k, size in enumerate(shape.sizes, 1):
        for sign in (1, -1):
            other = list(split)
            other[k - 1] = plus(split[k - 1], constant_sum(-sign))
            other[k] = plus(split[k], {size.atoms: sign * size.factor})
            yield other


def _split(subscript: Subscript, shape: Shape, first: int, *, nearest: bool) -> list[Terms] | None:
    """The sum's terms by dimension. first: outermost dimension for parameters alone; nearest: constants are divided to
    the nearest row."""
    split: list[Terms] = [{} for _ in shape.strides]
    for monomial, coefficient in subscript.terms.items():
        if not monomial:
            _divide(coefficient, shape, split, nearest=nearest)
            continue
        moves = any(subscript.atoms[key].moves for key in monomial)
        for k in range(0 if moves else first, shape.rank):
            stride = shape.strides[k]
            rest = _without(monomial, stride.atoms)
            if rest is not None and len(rest) <= 1 and coefficient % stride.factor == 0:
                split[k] = plus(split[k], {rest: coefficient // stride.factor})
                break
        else:
            return None
    return split


def _divide(constant: int, shape: Shape, split: list[Terms], *, nearest: bool) -> None:
    for k, stride in enumerate(shape.strides):
        if not stride.atoms:
            count = (constant + stride.factor // 2) // stride.factor if nearest else constant // stride.factor
            split[k] = plus(split[k], constant_sum(count))
            constant -= count * stride.factor


def _inside(subscript: Subscript, shape: Shape, values: Sequence[isl.PwAff]) -> isl.Set:
    """Parameters for which each inner subscript lies within its row, and nothing wraps around, in all iterations."""
    zero = constant_pw_aff(0)
    conditions = []
    sizes = _size_values(shape)
    for value, size, least in zip(values[1:], sizes, shape.first or (0,) * len(sizes), strict=True):
        first = constant_pw_aff(least)
        conditions += [value.ge_set(first), value.sub(first).lt_set(size)]
    if subscript.unsigned:
        most = constant_pw_aff(_largest(min(subscript.unsigned, 63), shape.rank))
        conditions += [values[0].ge_set(zero), values[0].lt_set(most), *(size.le_set(most) for size in sizes)]
    return always_all(subscript, conditions)


@of_same(16)
def _size_values(shape: Shape) -> tuple[isl.PwAff, ...]:
    return tuple(sum_value({size.atoms: size.factor}, shape.atoms) for size in shape.sizes)


def _always(condition: isl.Set) -> bool:
    return bool(condition.complement().is_empty())


def _largest(bits: int, rank: int) -> int:
    """So many rows, each so long, have less than 2^bits elements."""
    return 1 << (bits // rank)
