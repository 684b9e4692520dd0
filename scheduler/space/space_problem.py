"""What a schedule space is made from: the columns of its points, and the dependences as rows over them.

Source: Brauckmann, Goens and Castrillon, "A Reinforcement Learning Environment for Polyhedral Optimizations" (2021),
  section II.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt.ir.scop import Dependence, Dependences, Scop
from scopt.poly.dependences import dependences
from scopt.poly.generators import Row, normalized
from scopt.poly.isl_utils import union_of_maps
from scopt.scheduler.constraints.edges import edges_of
from scopt.scheduler.constraints.scheduling_problem import Edge, StatementSpace, statement_spaces


class DelayRow(Struct, frozen=True):
    """The delay (sink's date - source's date) at one generator of a dependence polyhedron, as a row over a point's
    columns.

    weak: delay >= 0 is weak·p >= 0. strong: delay >= 1 is weak·p >= strong, with strong > 0 for a vertex (a multiple of
      it), 0 for a ray.
    line: both directions count: weak·p = 0.
    """

    weak: Row
    strong: int
    line: bool = False


class SpaceDependence(Struct, frozen=True, eq=False):
    """One dependence of the set D: all pairs from one statement to another that the original order carries at one
    depth.

    number: from 1, the index in construction states. depth: position in the original order's dates, whose textual
      levels count too.
    relation: its pairs. rows: its delay rows, without copies.
    """

    number: int
    source: str
    sink: str
    depth: int
    relation: isl.UnionMap
    rows: tuple[DelayRow, ...]


class SpaceProblem(Struct, frozen=True, eq=False, dict=True):
    """A SCoP as its schedule space sees it.

    columns: of a point: iterator coefficients statement by statement, then parameter coefficients, then one constant a
    statement: Σ iterators + statements · (parameters + 1). dependences: the set D, in textual order of sources, sinks,
      then by depth.
    """

    scop: Scop
    spaces: Mapping[str, StatementSpace]
    columns: tuple[str, ...]
    positions: Mapping[str, tuple[int, ...]]
    dependences: tuple[SpaceDependence, ...]

    @property
    def width(self) -> int:
        return len(self.columns)

    @cached_property
    def statements(self) -> tuple[str, ...]:
        return tuple(self.spaces)

    def dependence(self, number: int) -> SpaceDependence:
        return self.dependences[number - 1]

    def numbers(self) -> frozenset[int]:
        """The numbers of all dependences."""
        return frozenset(range(1, len(self.dependences) + 1))

    def statement_rows(self, point: Row) -> dict[str, Row]:
        """A point as a schedule row of each statement, over the statement's
        own columns (iterators, parameters, constant)."""
        return {name: tuple(point[k] for k in positions) for name, positions in self.positions.items()}


def space_problem(scop: Scop, deps: Dependences) -> SpaceProblem:
    """The dependences that a schedule has to carry, each once, however many accesses and arrays cause it.

    Pairs of two statements that the original order carries at different depths are different dependences: each of them
    can be carried by one dimension (the original order does so), which makes every set of uncarried dependences one
    that some further dimensions carry. Live ranges of private arrays keep their order, as all others do: what keeps
    them apart isn't affine.
    """
    if any(array.private for array in scop.arrays.values()):
        # The pairs of live ranges in `deps` are all there are; those between neighbours imply the others once their
        # order is kept.
        deps = dependences(
            replace(scop, arrays={name: replace(array, private=False) for name, array in scop.arrays.items()})
        )
    spaces = statement_spaces(scop)
    columns, positions = _columns(spaces)
    found: list[SpaceDependence] = []
    kept = deps.select("flow", "anti", "output")
    pairs = dict.fromkeys((d.source, d.sink) for d in kept)
    order = {name: number for number, name in enumerate(spaces)}
    for source, sink in sorted(pairs, key=lambda pair: (order[pair[0]], order[pair[1]])):
        edges = edges_of(scop, [d for d in kept if (d.source, d.sink) == (source, sink)])
        for depth, pieces in _by_depth(scop, edges):
            rows = _delay_rows(edges_of(scop, pieces), positions, len(columns))
            relation = union_of_maps(piece.relation for piece in pieces)
            found.append(SpaceDependence(len(found) + 1, source, sink, depth, relation, rows))
    return SpaceProblem(scop, spaces, columns, positions, tuple(found))


def _columns(spaces: Mapping[str, StatementSpace]) -> tuple[tuple[str, ...], dict[str, tuple[int, ...]]]:
    """The names of a point's columns, and where the columns of each statement's rows are among them."""
    names = [f"{name}.{iterator}" for name, space in spaces.items() for iterator in space.iterators]
    names += [f"{name}.{parameter}" for name, space in spaces.items() for parameter in space.parameters]
    names += [f"{name}.1" for name in spaces]
    iterators, parameters, constants = 0, sum(space.depth for space in spaces.values()), len(names) - len(spaces)
    positions = {}
    for name, space in spaces.items():
        count = len(space.parameters)
        positions[name] = (
            *range(iterators, iterators + space.depth),
            *range(parameters, parameters + count),
            constants,
        )
        iterators, parameters, constants = iterators + space.depth, parameters + count, constants + 1
    return tuple(names), positions


def _by_depth(scop: Scop, edges: Iterable[Edge]) -> list[tuple[int, list[Dependence]]]:
    """The pieces of the edges by the depth at which the original order carries them."""
    found: dict[int, list[Dependence]] = {}
    seen: set[str] = set()
    for edge in edges:
        assert edge.piece is not None
        for depth, part in _carried_parts(scop, isl.Map.from_basic_map(edge.piece)):
            # Accesses of several kinds and arrays often cause the same pairs.
            text = f"{depth} {part}"
            if text not in seen:
                seen.add(text)
                dependence = edge.dependence
                found.setdefault(depth, []).append(
                    Dependence(dependence.kind, dependence.array, dependence.source, dependence.sink, part)
                )
    return sorted(found.items())


def _carried_parts(scop: Scop, pairs: isl.Map) -> list[tuple[int, isl.Map]]:
    """(depth, those of the pairs whose dates first differ there), outermost first."""
    dates = scop.order
    before = _dates(dates, pairs.domain())
    after = _dates(dates, pairs.range())
    width = before.dim(isl.dim_type.out)
    parts = []
    rest = pairs
    for depth in range(width):
        equal = before.project_out(isl.dim_type.out, 0, depth).project_out(isl.dim_type.out, 1, width - depth - 1)
        other = after.project_out(isl.dim_type.out, 0, depth).project_out(isl.dim_type.out, 1, width - depth - 1)
        same = equal.apply_range(other.reverse())
        now = rest.subtract(same)
        if not now.is_empty():
            parts.append((depth, now))
            rest = rest.intersect(same)
            if rest.is_empty():
                break
    return parts


def _dates(order: isl.UnionMap, instances: isl.Set) -> isl.Map:
    return isl.Map.from_union_map(order.intersect_domain(isl.UnionSet.from_set(instances)))


def _delay_rows(edges: Iterable[Edge], positions: Mapping[str, tuple[int, ...]], width: int) -> tuple[DelayRow, ...]:
    rows: dict[DelayRow, None] = {}
    for edge in edges:
        for point in edge.points:
            weak = [0] * width
            for statement, vector, sign in ((edge.sink, point.sink, 1), (edge.source, point.source, -1)):
                for position, value in zip(positions[statement], vector, strict=True):
                    weak[position] += sign * value
            *direction, strong = normalized((*weak, point.weight))
            rows[DelayRow(tuple(direction), strong, point.line)] = None
    return tuple(rows)
