"""Quasi-affine schedules: dates ⌊(t·x + a) / c⌋, where they end earlier than affine ones.

Such a date q becomes one more iterator of its statements: D̃ = {(q, x) : x ∈ D, q·c <= t·x + a <= q·c + c - 1}. On
these spaces, and on dependences between them, the ordinary construction finds the row q, since it is affine there; q is
a function of x, and that is the way back.

Source: compilation notes, "Quasi-affine schedules"; Feautrier, "Some efficient solutions to the affine scheduling
problem", part I (1992), for the argument that rational schedules may be rounded down; Griebl, Feautrier and Lengauer,
"Index set splitting" (2000), for programs that gain.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import lcm

import islpy as isl
from msgspec import Struct, field
from msgspec.structs import replace

from scopt.ir.scop import Scop
from scopt.poly.generators import Row
from scopt.poly.ilp import lexmin
from scopt.poly.linear import parameter_space
from scopt.scheduler.constraints.contiguity import small
from scopt.scheduler.constraints.edges import points_of
from scopt.scheduler.constraints.feautrier_rows import carrying, early
from scopt.scheduler.constraints.scheduling_problem import (
    Bounds,
    Draft,
    Edge,
    Point,
    Rows,
    StatementSpace,
    Step,
    statement_space,
    with_parameters,
)
from scopt.scheduler.construct.assemble import row_function
from scopt.scheduler.construct.dimensions import Dimension, Strategy, Wish
from scopt.scheduler.influence.influence_tree import CONSTANT

# Divisors 2 … MAX_DIVISOR are tried. Every quotient by one of them is a multiple of 1/UNITS.
MAX_DIVISOR = 8
UNITS = lcm(*range(1, MAX_DIVISOR + 1))
# The largest coefficient of a date.
COEFFICIENT = 4
# A latency that is a plain number is a chain of some statements, for which no loop is worth it, or the length of a
# loop: from so many steps on.
LONG = 16


class Problem(Struct, frozen=True, eq=False):
    """What a construction works on. edges: all dependences to respect, numbered by their places."""

    spaces: Mapping[str, StatementSpace]
    edges: tuple[Edge, ...]


class Gain(Struct, frozen=True, eq=False):
    """A dimension that ends earlier with the floors of rows / divisor. step: where it was found."""

    step: Step
    rows: Rows
    divisor: int

    @property
    def rounded(self) -> tuple[str, ...]:
        """The statements whose dates are not affine."""
        return tuple(name for name, row in self.rows.items() if any(value % self.divisor for value in row[:-1]))


def with_divisors(
    scop: Scop,
    problem: Problem,
    construct: Callable[[Problem, Strategy], tuple[Dimension, ...]],
    strategy: Callable[[int], Strategy],
) -> tuple[Problem, tuple[Dimension, ...]]:
    """The dimensions of a construction, and the problem with the lifted spaces that they are rows over: the given one
    where nothing gains.

    construct: all dimensions of a problem by a strategy. strategy: the affine one, by the units of its latency. A
    statement is rounded once a dimension at most, and not more often than it has iterators.
    """
    domains = {s.name: with_parameters(s.domain, problem.spaces[s.name].parameters) for s in scop.statements}
    left = {name: max(space.depth, 1) for name, space in problem.spaces.items()}
    settled: frozenset[tuple[str, int]] = frozenset()
    units = 1
    while True:
        watching = Watching(strategy(units), frozenset(name for name, count in left.items() if count == 0), settled)
        dimensions = construct(problem, watching)
        if not watching.gains:
            return problem, dimensions
        seen: set[str] = set()
        for gain in watching.gains:
            # What was found inside an affine dimension may look different inside a rounded one: it is looked for again.
            if seen.isdisjoint(gain.rows):
                domains, problem = lifted(domains, problem, gain)
                settled |= {(name, len(gain.step.outer)) for name in gain.rows}
                left = {name: count - (name in gain.rounded) for name, count in left.items()}
            seen.update(gain.rows)
        units = UNITS


# --- which dimension gains --------------------------------------------------------------------------------------------


class Watching(Struct):
    """A strategy, and the dimensions that would end earlier with a divisor; its own rows stay affine.

    finished: statements that are rounded often enough. settled: (statement, dimension) that needn't be looked at again.
    """

    strategy: Strategy
    finished: frozenset[str] = frozenset()
    settled: frozenset[tuple[str, int]] = frozenset()
    gains: list[Gain] = field(default_factory=list)

    @property
    def bands(self) -> bool:
        return self.strategy.bands

    def solve(self, step: Step, wish: Wish) -> Rows | None:
        rows = self.strategy.solve(step, wish)
        if rows is not None and step.remaining and not wish.coincident and wish.node is None and self.open(step):
            gain = gain_of(step)
            if gain is not None:
                self.gains.append(gain)
        return rows

    def possible(self, step: Step, wish: Wish) -> bool:
        return self.strategy.possible(step, wish)

    def open(self, step: Step) -> bool:
        """Whether a dimension is still to be looked at."""
        return all(
            name not in self.finished and (name, len(step.outer)) not in self.settled for name in step.statements
        )


class _Dated(Struct, frozen=True):
    """Rows of dates, before they are divided. slope: of the latency after that, times UNITS;
    offset: its constant part, likewise."""

    rows: Rows
    slope: int
    offset: int

    @property
    def long(self) -> bool:
        """Whether it is worth looking for something shorter."""
        return self.slope > 0 or self.offset >= LONG * UNITS

    def ends_before(self, other: _Dated) -> bool:
        """A smaller slope; where the latency is a plain number, a smaller one."""
        return self.slope < other.slope or (
            other.slope == 0 and self.slope == 0 and self.offset // UNITS < other.offset // UNITS
        )


def gain_of(step: Step) -> Gain | None:
    """The divisor that lets a dimension end earliest, if there is one; the smallest of several. It carries as many
    dependences as affine dates."""
    whole = _dated(step, 1)
    if whole is None or not whole.long:
        return None
    least = sum(_carries(edge, whole.rows) for edge in step.remaining)
    # With so large a divisor the dates are nearly any rational ones: what they don't gain, no divisor does.
    bound = _dated(step, UNITS, least)
    if bound is None or not bound.ends_before(whole):
        return None
    best, best_divisor = whole, 1
    for divisor in range(2, MAX_DIVISOR + 1):
        found = _dated(step, divisor, least)
        if found is not None and found.ends_before(best):
            best, best_divisor = found, divisor
            if not bound.ends_before(best):
                break
    gain = Gain(step, best.rows, best_divisor)
    return gain if gain.rounded else None


def _dated(step: Step, divisor: int, least: int | None = None) -> _Dated | None:
    """The earliest dates with a divisor. least: the number of dependences that they have to carry; without it, as many
    as they can."""
    draft = Draft(step.spaces, Bounds(COEFFICIENT * divisor, negative=True, parametric=True))
    for name in step.statements:
        draft.add_statement(name)
    carrying(draft, step.remaining, divisor, least)
    slopes, offset = early(draft, step, step.spaces[step.statements[0]].parameters, UNITS // divisor)
    if divisor <= MAX_DIVISOR:
        small(draft, step)
    point = lexmin(draft.program())
    if point is None:
        return None
    return _Dated(draft.solution(point), sum(point[column] for column in slopes), point[offset])


def _carries(edge: Edge, rows: Rows) -> bool:
    pairs = zip(edge.delays(rows), edge.points, strict=True)
    return not edge.is_empty and all(delay >= point.weight for delay, point in pairs if point.weight)


# --- statements and dependences with one more iterator ----------------------------------------------------------------


def lifted(domains: Mapping[str, isl.Set], problem: Problem, gain: Gain) -> tuple[dict[str, isl.Set], Problem]:
    """The domains, spaces and edges with the quotient as the first iterator of the statements that are rounded."""
    wide = dict(domains)
    spaces = dict(problem.spaces)
    for name in gain.rounded:
        row = gain.rows[name]
        space = spaces[name]
        basis = domains[name].insert_dims(isl.dim_type.set, 0, 1).set_tuple_name(name)
        for terms, constant in _quotient(row, gain.divisor):
            iterators, parameters = terms[: space.depth + 1], terms[space.depth + 1 :]
            basis = basis.add_constraint(
                _inequality(basis.get_space(), {isl.dim_type.set: iterators}, parameters, constant)
            )
        wide[name] = basis
        names = (quotient_text(row, space.columns, gain.divisor), *space.iterators)
        spaces[name] = statement_space(
            name, names, space.parameters, basis, _embedding(domains[name], space, row, gain.divisor)
        )
    active = {edge.number for edge in gain.step.remaining}
    edges = tuple(_lifted_edge(edge, problem.spaces, gain, cut=edge.number in active) for edge in problem.edges)
    return wide, Problem(spaces, edges)


def quotient_text(row: Row, columns: Sequence[str], divisor: int) -> str:
    """⌊row / divisor⌋ as the name of an iterator."""
    terms = [(value, "" if column == CONSTANT else column) for value, column in zip(row, columns, strict=True) if value]
    words = [
        ("-" if value < 0 else "+") + (name if abs(value) == 1 and name else f"{abs(value)}{name}")
        for value, name in terms
    ]
    text = "".join(words).removeprefix("+")
    return f"⌊({text})/{divisor}⌋" if len(words) > 1 or text.startswith("-") else f"⌊{text}/{divisor}⌋"


def _quotient(row: Row, divisor: int) -> tuple[tuple[Row, int], ...]:
    """0 <= row - divisor·q <= divisor - 1, and q >= 0, for rational points, as dates are >= 0.

    As (terms over (q, iterators, parameters), constant), each >= 0.
    """
    terms, constant = (-divisor, *row[:-1]), row[-1]
    return (
        (terms, constant),
        (tuple(-value for value in terms), divisor - 1 - constant),
        ((1, *(0 for _ in row[:-1])), 0),
    )


def _embedding(domain: isl.Set, space: StatementSpace, row: Row, divisor: int) -> isl.MultiAff:
    """x ↦ (⌊row / divisor⌋, x), after the embedding that the space has already."""
    quotient = row_function(row, space, domain.get_space()).scale_down_val(isl.Val(divisor)).floor()
    same = isl.MultiAff.identity(domain.get_space().map_from_set())
    step = isl.MultiAff.from_aff(quotient).flat_range_product(same).set_tuple_name(isl.dim_type.out, space.name)
    return step if space.embedding is None else step.pullback_multi_aff(space.embedding)


def _lifted_edge(edge: Edge, spaces: Mapping[str, StatementSpace], gain: Gain, *, cut: bool) -> Edge:
    """The edge between lifted statements. cut: the dimension respects it, so that quotients keep its order.

    Rational points of the lifted piece don't all do so: they may lie anywhere between a quotient and the next one. The
    cut is for them.
    """
    if not {edge.source, edge.sink} & set(gain.rounded):
        return edge
    assert edge.piece is not None
    parameters = spaces[edge.source].parameters
    piece = edge.piece.align_params(parameter_space(edge.piece.get_ctx(), parameters))
    sides = ((edge.source, isl.dim_type.in_), (edge.sink, isl.dim_type.out))
    for name, side in sides:
        if name in gain.rounded:
            piece = piece.insert_dims(side, 0, 1).set_tuple_name(side, name)
    for name, side in sides:
        if name in gain.rounded:
            depth = spaces[name].depth + 1
            for terms, constant in _quotient(gain.rows[name], gain.divisor):
                piece = piece.add_constraint(
                    _inequality(piece.get_space(), {side: terms[:depth]}, terms[depth:], constant)
                )
    if cut:
        piece = piece.add_constraint(_cut(edge, piece.get_space(), spaces, gain))
    return replace(edge, piece=piece, points=points_of(piece, edge.dependence, parameters))


def _inequality(space: isl.Space, terms: Mapping[isl.dim_type, Row], parameters: Row, constant: int) -> isl.Constraint:
    """Σ terms + constant >= 0."""
    result = isl.Constraint.inequality_alloc(isl.LocalSpace.from_space(space)).set_constant_val(isl.Val(constant))
    for kind, row in (*terms.items(), (isl.dim_type.param, parameters)):
        for position, value in enumerate(row):
            if value:
                result = result.set_coefficient_val(kind, position, isl.Val(value))
    return result


def _cut(edge: Edge, space: isl.Space, spaces: Mapping[str, StatementSpace], gain: Gain) -> isl.Constraint:
    """q' - q + Σ M·(delay in an outer dimension) >= k on a whole lifted piece.

    k·c is the least delay of the dates where the outer dimensions leave none; elsewhere, each M makes up for what is
    missing. Without floors, Δ + c·Σ M·delay >= k·c holds at all generators; all but Δ are multiples of c, so it holds
    for floors too.
    """
    faces = [edge.points]
    for rows in gain.step.outer:
        faces.append(tuple(point for point in faces[-1] if _delay(point, edge, rows) == 0))
    rows, divisor = gain.rows, gain.divisor
    least = min((_delay(p, edge, rows) // (p.weight * divisor) for p in faces[-1] if p.weight), default=0)
    factors = [0] * len(gain.step.outer)
    for number in reversed(range(len(factors))):
        # The factors of outer dimensions are still 0 here.
        for point in faces[number]:
            step = _delay(point, edge, gain.step.outer[number])
            added = sum(
                factor * _delay(point, edge, outer) for factor, outer in zip(factors, gain.step.outer, strict=True)
            )
            missing = least * divisor * point.weight - _delay(point, edge, rows) - divisor * added
            if step > 0 and missing > 0:
                factors[number] += -(-missing // (divisor * step))
    source, sink = (_with_outer(name, gain, factors) for name in (edge.source, edge.sink))
    count = len(spaces[edge.source].parameters) + 1
    parametric = tuple(b - a for a, b in zip(source[-count:], sink[-count:], strict=True))
    terms = {isl.dim_type.in_: tuple(-value for value in source[:-count]), isl.dim_type.out: sink[:-count]}
    return _inequality(space, terms, parametric[:-1], parametric[-1] - least)


def _with_outer(name: str, gain: Gain, factors: Sequence[int]) -> Row:
    """A statement's quotient plus factors times its outer rows, over its lifted columns."""
    row, rounded = gain.rows[name], name in gain.rounded
    total = [1, *(0 for _ in row)] if rounded else [value // gain.divisor for value in row]
    for factor, outer in zip(factors, gain.step.outer, strict=True):
        for position, value in enumerate(outer[name], start=int(rounded)):
            total[position] += factor * value
    return tuple(total)


def _delay(point: Point, edge: Edge, rows: Rows) -> int:
    return point.delay(rows[edge.source], rows[edge.sink])
