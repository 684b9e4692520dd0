"""The polytope of one dimension: all schedule rows that carry some dependences strongly and others weakly, by its
generators.

Source: polygym paper, sections II and IV: D_i = strong_deps ∩ weak_deps and its generators (Algorithm 1), points as
combinations of them (equation 2, Algorithm 2).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property
from math import gcd, lcm

from msgspec import Struct, field

from scopt.poly.generators import Cone, Row, TooManyRays, cut, normalized, nullspace, whole_space
from scopt.scheduler.space.inner_points import inner_generators
from scopt.scheduler.space.linear_program import has_point
from scopt.scheduler.space.space_problem import DelayRow, SpaceProblem

Vertex = tuple[Fraction, ...]
# With more generators than this on the way, a polytope takes too long: some of them have to do.
MAX_RAYS = 2000
# A point's largest entry, where fewer generators have a smaller one: loops run through all dates in between, and those
# of some hundred vertices have no common denominator that fits into 64 bits.
LARGEST_ENTRY = 1000
_ZERO = Fraction(0)


class Slot(Struct, frozen=True):
    """What one coefficient is chosen for. group: of a vertex, the component of statements that it is a vertex of; None
    for a ray."""

    generator: tuple[Fraction | int, ...]
    group: int | None


class Polytope(Struct, frozen=True, dict=True):
    """The generators of one dimension's polytope, over the columns of the problem.

    vertices, groups: where no dependence leads from some statements to others, the polytope is a product; each vertex
    is one of its group's (zero elsewhere), and a point takes a convex combination in each group. With one group these
    are the polytope's vertices.
    rays: of all groups; a line is two rays. is_empty: no row carries all these dependences.
    partial: the generators are not all (see `scopt.scheduler.space.inner_points`), so that some legal rows are no
      combination of them.
    """

    width: int
    vertices: tuple[Vertex, ...]
    groups: tuple[int, ...]
    rays: tuple[Row, ...]
    is_empty: bool = False
    partial: bool = False

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """What coefficients are chosen for, in order: the vertices of groups that have several,
        then the rays (section IV-B)."""
        several = {group for group in self.groups if self.groups.count(group) > 1}
        vertices = [
            Slot(vertex, group) for vertex, group in zip(self.vertices, self.groups, strict=True) if group in several
        ]
        return (*vertices, *(Slot(ray, None) for ray in self.rays))

    @cached_property
    def _lone(self) -> tuple[_Entries, ...]:
        """The vertices that are their groups' only ones: their coefficients are 1."""
        return tuple(
            _entries(v) for v, group in zip(self.vertices, self.groups, strict=True) if self.groups.count(group) == 1
        )

    def point(self, coefficients: Sequence[int]) -> Row | None:
        """The point that the coefficients of `slots` choose, multiplied by its least common denominator; None where all
        of a group's vertices have coefficient 0: no convex combination (Algorithm 2).

        Coefficients are not negative. Where they lead to numbers that no loop can have, those of some generators count
        as 0, of the smaller ones first. Raises ValueError if there aren't as many as slots.
        """
        if self.is_empty:
            return None
        chosen: dict[int | None, list[tuple[_Entries, int]]] = {slot.group: [] for slot in self.slots}
        for slot, coefficient in zip(self.slots, coefficients, strict=True):
            if coefficient:
                chosen[slot.group].append((_entries(slot.generator), coefficient))
        rays = chosen.pop(None, [])
        if not all(chosen.values()):
            return None
        groups = [*chosen.values(), *([(vertex, 1)] for vertex in self._lone)]
        point = self._combined(groups, rays)
        while max(map(abs, point), default=0) > LARGEST_ENTRY and (rays or max(map(len, groups)) > 1):
            if max(map(len, groups)) > 1:
                groups = [_largest_half(group) for group in groups]
            else:
                rays = _largest_half(rays)[: len(rays) - 1]
            point = self._combined(groups, rays)
        return point

    def _combined(self, groups: Sequence[Sequence[tuple[_Entries, int]]], rays: Sequence[tuple[_Entries, int]]) -> Row:
        """A convex combination of the vertices in each group, and of rays, multiplied by its least common denominator.
        Of each generator, its entries and its coefficient."""
        totals = [sum(coefficient for _, coefficient in group) for group in groups]
        scale = lcm(
            *(total * denominator for total, group in zip(totals, groups, strict=True) for (_, denominator), _ in group)
        )
        point = [0] * self.width
        for total, generators in (*zip(totals, groups, strict=True), (1, rays)):
            for (entries, denominator), coefficient in generators:
                factor = coefficient * scale // (total * denominator)
                for k, value in entries:
                    point[k] += factor * value
        common = gcd(scale, *point)
        return tuple(value // common for value in point)


# The entries of a vector that aren't 0, with their positions, multiplied by the denominator.
_Entries = tuple[tuple[tuple[int, int], ...], int]


def _largest_half(generators: Sequence[tuple[_Entries, int]]) -> list[tuple[_Entries, int]]:
    """Those with the larger coefficients, at least one of some."""
    ordered = sorted(generators, key=lambda one: -one[1])
    return ordered[: (len(ordered) + 1) // 2]


def _entries(vector: Sequence[Fraction | int]) -> _Entries:
    kept = [(k, value) for k, value in enumerate(vector) if value]
    scale = lcm(*(value.denominator for _, value in kept))
    return tuple((k, int(value * scale)) for k, value in kept), scale


class Polytopes(Struct):
    """The polytopes of a SCoP's schedule space, each computed once: whatever is uncarried decomposes into components,
    which often come again."""

    problem: SpaceProblem
    limit: int = MAX_RAYS
    _cones: dict[frozenset[int], _WeakCone | None] = field(default_factory=dict)
    _parts: dict[tuple[frozenset[int], frozenset[int]], _Part] = field(default_factory=dict)
    _feasible: dict[tuple[frozenset[int], frozenset[int]], bool] = field(default_factory=dict)

    def polytope(self, strong: frozenset[int], weak: frozenset[int]) -> Polytope:
        """All rows that satisfy the dependences `strong` strongly and `weak` weakly,
        by their numbers; others are not respected."""
        parts = [self._part(strong & inside, weak & inside) for inside in self._components(strong | weak)]
        # Statements that nothing constrains: every row will do.
        bound = {name for number in strong | weak for name in self._ends(number)}
        free = tuple(k for name in self.problem.statements if name not in bound for k in self.problem.positions[name])
        parts += [_free_part(self.problem.width, free)] if free else []
        if not all(part.vertices for part in parts):
            return Polytope(self.problem.width, (), (), (), is_empty=True)
        vertices = tuple(vertex for part in parts for vertex in part.vertices)
        groups = tuple(group for group, part in enumerate(parts) for _ in part.vertices)
        rays = tuple(ray for part in parts for ray in part.rays)
        return Polytope(self.problem.width, vertices, groups, rays, partial=any(part.partial for part in parts))

    def feasible(self, strong: frozenset[int], weak: frozenset[int]) -> bool:
        """Whether the polytope isn't empty, by a linear program: much less work than its generators."""
        return all(
            self._has_point(strong & inside, weak & inside)
            for inside in self._components(strong | weak)
            if strong & inside
        )

    def _ends(self, number: int) -> tuple[str, str]:
        dependence = self.problem.dependence(number)
        return dependence.source, dependence.sink

    def _components(self, numbers: frozenset[int]) -> list[frozenset[int]]:
        """The dependences, apart where no chain of them connects their statements; in textual order."""
        found: list[tuple[set[str], set[int]]] = []
        for number in sorted(numbers):
            ends, inside = set(self._ends(number)), {number}
            for component in [one for one in found if one[0] & ends]:
                found.remove(component)
                ends, inside = ends | component[0], inside | component[1]
            found.append((ends, inside))
        return [frozenset(inside) for _, inside in sorted(found, key=lambda one: min(one[1]))]

    def _has_point(self, strong: frozenset[int], weak: frozenset[int]) -> bool:
        key = (strong, weak)
        if key not in self._feasible:
            rows = [(row, True) for row in self._rows(strong)] + [(row, False) for row in self._rows(weak)]
            self._feasible[key] = has_point(self.problem.width, rows)
        return self._feasible[key]

    def _rows(self, numbers: Iterable[int]) -> list[DelayRow]:
        return [row for number in sorted(numbers) for row in self.problem.dependence(number).rows]

    def _part(self, strong: frozenset[int], weak: frozenset[int]) -> _Part:
        """The polytope of a component: its cone, of what it satisfies weakly,
        cut by what it has to satisfy strongly."""
        key = (strong, weak)
        if key not in self._parts:
            columns = sorted(
                k
                for name in {end for number in strong | weak for end in self._ends(number)}
                for k in self.problem.positions[name]
            )
            try:
                self._parts[key] = _cut_part(
                    self.problem.width, self._cone(columns, strong | weak), self._rows(strong), self.limit
                )
            except TooManyRays:
                vertices, rays = inner_generators(self.problem.width, columns, self._rows(strong), self._rows(weak))
                self._parts[key] = _Part(vertices, rays, partial=True)
        return self._parts[key]

    def _cone(self, columns: Sequence[int], numbers: frozenset[int]) -> _WeakCone:
        """Raises TooManyRays."""
        if numbers not in self._cones:
            try:
                self._cones[numbers] = _weak_cone(columns, self._rows(numbers), self.limit)
            except TooManyRays:
                self._cones[numbers] = None
        cone = self._cones[numbers]
        if cone is None:
            raise TooManyRays
        return cone


class _Part(Struct, frozen=True):
    """The generators of one component's polytope, over all columns of the problem.
    No vertex: it is empty. partial: as in `Polytope`."""

    vertices: tuple[Vertex, ...]
    rays: tuple[Row, ...]
    partial: bool = False


class _WeakCone(Struct, frozen=True):
    """The rows that satisfy some dependences weakly, times a weight >= 0; the recession cone of all polytopes with
    these dependences.

    columns: of the problem that it is about. basis: of the space in which its equalities hold, over (columns, weight);
      the cone is in its terms.
    """

    columns: tuple[int, ...]
    basis: tuple[Row, ...]
    cone: Cone

    def reduced(self, row: DelayRow, *, strongly: bool) -> Row:
        """A delay row in the cone's coordinates."""
        entries = [(k, row.weak[column]) for k, column in enumerate(self.columns) if row.weak[column]]
        entries += [(len(self.columns), -row.strong)] if strongly else []
        return normalized([sum(value * vector[k] for k, value in entries) for vector in self.basis])

    def points(self, vectors: Iterable[Row]) -> list[Row]:
        """Rays or lines of the cone, over (columns, weight)."""
        sparse = [[(k, entry) for k, entry in enumerate(vector) if entry] for vector in self.basis]
        found = []
        for vector in vectors:
            result = [0] * (len(self.columns) + 1)
            for factor, entries in zip(vector, sparse, strict=True):
                if factor:
                    for k, entry in entries:
                        result[k] += factor * entry
            found.append(normalized(result))
        return found


def _weak_cone(columns: Sequence[int], rows: Sequence[DelayRow], limit: int) -> _WeakCone:
    width = len(columns) + 1
    equalities = [(*(row.weak[k] for k in columns), 0) for row in rows if row.line]
    basis = tuple(nullspace(equalities, width))
    empty = _WeakCone(tuple(columns), basis, whole_space(len(basis)))
    weight = normalized([vector[-1] for vector in basis])
    inequalities = {empty.reduced(row, strongly=False) for row in rows if not row.line}
    return _WeakCone(empty.columns, basis, cut(empty.cone, [weight, *sorted(inequalities, key=_insertion_key)], limit))


def _insertion_key(row: Row) -> tuple[int, ...]:
    """Rows with few entries first, of these the ones about late columns:
    of several orders the one with the fewest rays in between."""
    return (sum(1 for value in row if value), *(abs(value) for value in reversed(row)), *row)


def _cut_part(width: int, weak: _WeakCone, strong: Sequence[DelayRow], limit: int) -> _Part:
    """The polytope's generators. A strong row cuts off only what has weight,
    so few rays take part beside the cone's."""
    rows = sorted(
        {weak.reduced(row, strongly=True) for row in strong if not row.line and row.strong}, key=_insertion_key
    )
    cone = cut(weak.cone, rows, limit)

    generators = weak.points(ray for ray, _ in cone.rays)
    lines = weak.points(cone.lines)
    vertices = [_vertex(width, weak.columns, ray) for ray in sorted(generators) if ray[-1]]
    rays = [ray for ray in generators if not ray[-1]] + [
        one for line in lines for one in (line, tuple(-x for x in line))
    ]
    return _Part(tuple(vertices), tuple(_widened(width, weak.columns, ray) for ray in rays))


def _vertex(width: int, columns: Sequence[int], ray: Row) -> Vertex:
    vertex = [_ZERO] * width
    for column, value in zip(columns, ray[:-1], strict=True):
        if value:
            vertex[column] = Fraction(value, ray[-1])
    return tuple(vertex)


def _widened(width: int, columns: Sequence[int], ray: Row) -> Row:
    wide = [0] * width
    for column, value in zip(columns, ray[:-1], strict=True):
        wide[column] = value
    return tuple(wide)


def _free_part(width: int, columns: Sequence[int]) -> _Part:
    units = [tuple(sign * int(k == column) for k in range(width)) for column in columns for sign in (1, -1)]
    return _Part(((_ZERO,) * width,), tuple(units))
