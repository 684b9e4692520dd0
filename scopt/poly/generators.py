"""Generators of rational polyhedra: vertices, rays and lines by the double description method, in exact integers.

An affine function is non-negative on a polyhedron exactly if it is so at every vertex, its linear part is so along
every ray and zero along every line. That is Farkas' lemma without multipliers: one row over the function's coefficients
for each generator.
Source: Motzkin et al., "The double description method" (1953); Fukuda and Prodon, "Double description method revisited"
  (1996), for adjacency.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache, reduce
from math import gcd

import islpy as isl
import numpy as np
from msgspec import Struct

Row = tuple[int, ...]

# Constraints with larger constants are dropped (types' limits, such as n <= 2147483647): a larger polyhedron is safe,
# and has small numbers.
MAX_CONSTANT = 1 << 28
# Rays that are compared with all others at once, and from how many rays on that pays.
BLOCK = 8
MANY_RAYS = 200


class Generators(Struct, frozen=True):
    """A polyhedron in homogeneous form: {x : (x, 1) is a combination of rays with factors >= 0 and of lines}.

    rays: (direction…, weight): weight > 0 is the vertex direction/weight, 0 a ray of the recession cone. lines:
    (direction…, 0). Without any ray of positive weight the polyhedron is empty. All are integer vectors without common
    factor.
    """

    rays: tuple[Row, ...]
    lines: tuple[Row, ...]

    @property
    def is_empty(self) -> bool:
        return not any(ray[-1] > 0 for ray in self.rays)

    def projected(self, columns: Sequence[int]) -> Generators:
        """The generators of the projection onto some columns (the weight is kept): not minimal, but right."""

        def project(rows: Iterable[Row]) -> tuple[Row, ...]:
            kept = (normalized((*(row[k] for k in columns), row[-1])) for row in rows)
            return tuple(dict.fromkeys(row for row in kept if any(row)))

        return Generators(project(self.rays), project(self.lines))


def normalized(row: Sequence[int]) -> Row:
    """The row without its entries' common factor; its sign stays."""
    factor = gcd(*row)
    return tuple(row) if factor <= 1 else tuple(value // factor for value in row)


def generators_of_cone(
    inequalities: Sequence[Row], equalities: Sequence[Row], width: int
) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
    """(extreme rays, lines) of {y ∈ Qʷⁱᵈᵗʰ : a·y >= 0 for inequalities, = 0 for equalities}, as integer vectors."""
    basis = nullspace(equalities, width)
    # In coordinates of the basis the equalities are gone.
    reduced = {normalized([_dot(row, vector) for vector in basis]) for row in inequalities}
    cone = cut(whole_space(len(basis)), sorted(reduced, key=_insertion_key))
    sparse = [[(k, value) for k, value in enumerate(vector) if value] for vector in basis]

    def back(vector: Row) -> Row:
        result = [0] * width
        for factor, entries in zip(vector, sparse, strict=True):
            if factor:
                for k, value in entries:
                    result[k] += factor * value
        return normalized(result)

    return tuple(back(ray) for ray, _ in cone.rays), tuple(back(line) for line in cone.lines)


def _insertion_key(row: Row) -> tuple[int, ...]:
    """Simple constraints on the last columns first: the order decides how many rays there are in between."""
    return (*(abs(value) for value in reversed(row)), *row)


class Cone(Struct, frozen=True):
    """A cone under construction. rays: each with the inequalities that it saturates, as bits. count: how many
    inequalities have been inserted."""

    rays: tuple[tuple[Row, int], ...]
    lines: tuple[Row, ...]
    count: int = 0


def whole_space(width: int) -> Cone:
    return Cone((), tuple(tuple(int(k == position) for k in range(width)) for position in range(width)))


class TooManyRays(Exception):
    """A cone has more rays than were asked for, at the end or on the way there."""


def cut(cone: Cone, inequalities: Iterable[Row], limit: int = 0) -> Cone:
    """The part of the cone where a·y >= 0 for each of the inequalities, inserted one after the other.

    Raises TooManyRays where combinations of rays make more than `limit` of them (0: however many there are).
    """
    rays, lines, count = list(cone.rays), list(cone.lines), cone.count
    for row in inequalities:
        if not any(row):
            continue
        bit, before = 1 << count, (1 << count) - 1
        count += 1
        entries = [(k, factor) for k, factor in enumerate(row) if factor]
        pivot = next((line for line in lines if _value(entries, line)), None)
        if pivot is not None:
            lines.remove(pivot)
            value = _value(entries, pivot)
            if value < 0:
                pivot, value = tuple(-x for x in pivot), -value
            lines = [_combined(value, line, -_value(entries, line), pivot) for line in lines]
            rays = [(_combined(value, ray, -_value(entries, ray), pivot), zeros | bit) for ray, zeros in rays]
            rays.append((pivot, before))
            continue
        signed = [(ray, zeros, _value(entries, ray)) for ray, zeros in rays]
        if all(value >= 0 for _, _, value in signed):
            rays = [(ray, zeros | bit if value == 0 else zeros) for ray, zeros, value in signed]
            continue
        rays = [(ray, zeros) for ray, zeros, value in signed if value > 0] + [
            (ray, zeros | bit) for ray, zeros, value in signed if value == 0
        ]
        for up, down in _adjacent(signed):
            (high, facets, above), (low, others, below) = signed[up], signed[down]
            rays.append((_combined(above, low, -below, high), facets & others | bit))
        if limit and len(rays) > limit:
            raise TooManyRays
    return Cone(tuple(rays), tuple(lines), count)


def _adjacent(signed: Sequence[tuple[Row, int, int]]) -> list[tuple[int, int]]:
    """Pairs of a positive and a negative ray with no third ray on all the facets that the two share, in order.

    signed: rays, the facets that each lies on as bits, their values. For one ray of the smaller side: what it shares
    with each other ray, largest first. Whoever shares part of what another one shares is no neighbour.
    """
    positive = [k for k, item in enumerate(signed) if item[2] > 0]
    negative = [k for k, item in enumerate(signed) if item[2] < 0]
    few, many = (positive, set(negative)) if len(positive) <= len(negative) else (negative, set(positive))
    neighbours = _neighbours_packed if len(signed) > MANY_RAYS else _neighbours
    pairs = [
        (one, other)
        for one, others in neighbours([item[1] for item in signed], few)
        for other in others
        if other in many
    ]
    return sorted(pairs if few is positive else ((other, one) for one, other in pairs))


def _neighbours(facets: Sequence[int], of: Sequence[int]) -> Iterable[tuple[int, list[int]]]:
    """The neighbours of some rays. facets: that each ray lies on, as bits."""
    for one in of:
        shared = sorted(
            ((facets[one] & other, k) for k, other in enumerate(facets) if k != one),
            key=lambda pair: -pair[0].bit_count(),
        )
        found = []
        while shared:
            most, other = shared[0]
            if all(common != most for common, _ in shared[1:]):
                found.append(other)
            shared = [pair for pair in shared if pair[0] & most != pair[0]]
        yield one, found


def _neighbours_packed(facets: Sequence[int], of: Sequence[int]) -> Iterable[tuple[int, list[int]]]:
    """The same for many rays, with bits packed into words and a block of
    the largest compared with all others at once."""
    words = max(facets).bit_length() // 64 + 1
    packed = np.frombuffer(b"".join(value.to_bytes(words * 8, "little") for value in facets), dtype=np.uint64).reshape(
        -1, words
    )
    for one in of:
        shared = packed & packed[one]
        sizes = np.bitwise_count(shared).sum(axis=1, dtype=np.int64)
        order = np.argsort(-sizes, kind="stable")
        order = order[order != one]
        shared, sizes = shared[order], sizes[order]
        found: list[int] = []
        while len(order):
            inside = ~(shared[:, None, :] & ~shared[None, :BLOCK, :]).any(axis=2)
            block = inside.shape[1]
            equal = inside[block:] & (sizes[block:, None] == sizes[None, :block])
            alone = (inside[:block].sum(axis=1) == 1) & ~equal.any(axis=0)
            found.extend(order[:block][alone].tolist())
            beyond = ~inside.any(axis=1)
            order, shared, sizes = order[beyond], shared[beyond], sizes[beyond]
        yield one, found


def _value(entries: Sequence[tuple[int, int]], vector: Row) -> int:
    """The product of a row, by its entries (position, factor), and a vector."""
    return sum([factor * vector[k] for k, factor in entries])


def _combined(a: int, first: Row, b: int, second: Row) -> Row:
    if not b:
        return first
    return normalized([a * x + b * y for x, y in zip(first, second, strict=True)])


def _dot(a: Sequence[int], b: Sequence[int]) -> int:
    return sum(x * y for x, y in zip(a, b, strict=True) if x and y)


def nullspace(rows: Sequence[Row], width: int) -> list[Row]:
    """An integer basis of {y : row·y = 0 for all rows} (over the rationals), by fraction-free elimination."""
    matrix: list[list[int]] = []
    pivots: list[int] = []
    for row in rows:
        rest = list(row)
        for line, pivot in zip(matrix, pivots, strict=True):
            if rest[pivot]:
                rest = list(_combined(line[pivot], tuple(rest), -rest[pivot], tuple(line)))
        # The entry of least size as pivot keeps the numbers small.
        pivot = min((k for k in range(width) if rest[k]), key=lambda k: abs(rest[k]), default=-1)
        if pivot < 0:
            continue
        if rest[pivot] < 0:
            rest = [-value for value in rest]
        matrix = [
            list(_combined(rest[pivot], tuple(line), -line[pivot], tuple(rest))) if line[pivot] else line
            for line in matrix
        ]
        matrix = [[-v for v in line] if line[p] < 0 else line for line, p in zip(matrix, pivots, strict=True)]
        matrix.append(rest)
        pivots.append(pivot)
    free = [k for k in range(width) if k not in pivots]
    scale = reduce(lambda a, b: a * b // gcd(a, b), (line[p] for line, p in zip(matrix, pivots, strict=True)), 1)
    basis = []
    for column in free:
        vector = [0] * width
        vector[column] = scale
        for line, pivot in zip(matrix, pivots, strict=True):
            vector[pivot] = -line[column] * scale // line[pivot]
        basis.append(normalized(vector))
    return basis


def generators(piece: isl.BasicSet) -> Generators:
    """The generators of a basic set's rational relaxation, in columns (parameters, set dimensions, 1).

    Existentially quantified dimensions, which have to be `defined`, are lifted into the space, with their definitions
    as constraints, and projected away at the end.
    Constraints with constants beyond `MAX_CONSTANT` are left out.
    """
    equalities, inequalities = constraint_rows(piece)
    visible = piece.dim(isl.dim_type.param) + piece.dim(isl.dim_type.set)
    width = visible + piece.dim(isl.dim_type.div) + 1
    return _of_rows(tuple(equalities), tuple(inequalities), visible, width)


@lru_cache(maxsize=1 << 12)
def _of_rows(equalities: tuple[Row, ...], inequalities: tuple[Row, ...], visible: int, width: int) -> Generators:
    """Those of a piece with these constraints, in its visible columns: most dependences of straight code are from an
    iteration to itself, and the bands of several trees for one region have much the same dependences."""
    weight = tuple([0] * (width - 1) + [1])
    rays, lines = generators_of_cone([*tightened(equalities, inequalities), weight], equalities, width)
    return Generators(rays, lines).projected(range(visible))


def defined(relation: isl.Map) -> isl.Map:
    """The same relation, all of whose divisions have definitions, as `generators` needs them. Where they have already,
    the pieces are the same."""
    try:
        for piece in relation.wrap().get_basic_sets():
            local = piece.get_local_space()
            for number in range(piece.dim(isl.dim_type.div)):
                local.get_div(number)
    except isl.Error as error:
        if "unknown" not in str(error):
            raise
        return relation.compute_divs()
    return relation


def tightened(equalities: Sequence[Row], inequalities: Sequence[Row]) -> list[Row]:
    """Inequalities that cut off more of the rational points and no integer one: the equalities put in, constants
    rounded down to multiples.

    Strides need it: of i = 2a, i' = 2b and 0 <= i' - i <= 1 it makes b = a, without which no two statements of a
    strided loop would be coincident.
    """
    equalities, inequalities = list(equalities), list(inequalities)
    while equalities:
        row = equalities.pop(0)
        # An unknown with factor ±1 takes an integer value wherever the others do.
        column = next((k for k, value in enumerate(row[:-1]) if abs(value) == 1), None)
        if column is not None:
            equalities = [_without(other, row, column) for other in equalities]
            inequalities = [_without(other, row, column) for other in inequalities]
    factors = [gcd(*row[:-1]) or 1 for row in inequalities]
    return [tuple(value // factor for value in row) for row, factor in zip(inequalities, factors, strict=True)]


def _without(row: Row, equality: Row, column: int) -> Row:
    """The row with an unknown replaced by what an equality says, in which its factor is ±1."""
    if not row[column]:
        return row
    factor = row[column] * equality[column]
    return tuple(a - factor * b for a, b in zip(row, equality, strict=True))


def constraint_rows(piece: isl.BasicSet) -> tuple[list[Row], list[Row]]:
    """(equalities, inequalities >= 0) over (parameters, set dimensions, divisions, 1)."""
    kinds = (isl.dim_type.param, isl.dim_type.set, isl.dim_type.div, isl.dim_type.cst)
    equalities = [row for row in _rows(piece.equalities_matrix(*kinds)) if abs(row[-1]) < MAX_CONSTANT]
    inequalities = [row for row in _rows(piece.inequalities_matrix(*kinds)) if abs(row[-1]) < MAX_CONSTANT]
    local = piece.get_local_space()
    visible = piece.dim(isl.dim_type.param) + piece.dim(isl.dim_type.set)
    for number in range(piece.dim(isl.dim_type.div)):
        inequalities += _definition(local.get_div(number), visible, number)
    return equalities, inequalities


def _definition(div: isl.Aff, visible: int, number: int) -> list[Row]:
    """q = ⌊e / d⌋ as 0 <= e - d·q <= d - 1; nothing for a division that isl doesn't define."""
    if div.is_nan():
        return []
    denominator = div.get_denominator_val()
    aff = div.scale_val(denominator)
    kinds = (isl.dim_type.param, isl.dim_type.in_, isl.dim_type.div)
    row = [_integer(aff.get_coefficient_val(kind, k)) for kind in kinds for k in range(aff.dim(kind))]
    divisor = _integer(denominator)
    row[visible + number] -= divisor
    constant = _integer(aff.get_constant_val())
    return [(*row, constant), (*(-value for value in row), divisor - 1 - constant)]


def _rows(matrix: isl.Mat) -> list[Row]:
    columns = range(matrix.cols())
    return [
        tuple(_integer(matrix.get_element_val(line, column)) for column in columns) for line in range(matrix.rows())
    ]


def _integer(value: isl.Val) -> int:
    return int(value.to_str())
