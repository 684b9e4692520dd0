"""Dependences as edges: their convex pieces, and the generators of these."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import islpy as isl

from scopt.ir.scop import Dependence, Scop
from scopt.poly.generators import defined, generators
from scopt.poly.isl_utils import IN, OUT, maps_of
from scopt.scheduler.constraints.scheduling_problem import Edge, Point, with_parameters

# A dependence's pieces with their points, by its `id`: for while it lives.
Found = dict[int, list[tuple[isl.BasicMap, tuple[Point, ...]]]]


def edges_of(scop: Scop, dependences: Iterable[Dependence], known: Found | None = None) -> tuple[Edge, ...]:
    """Dependences as edges, one a basic map; pieces without integer points are left out. known: what is known of them,
    and is found out. Edges with equal points have the same ones."""
    parameters = tuple(parameter.name for parameter in scop.parameters)
    known = known if known is not None else {}
    same = {points: points for pieces in known.values() for _, points in pieces}
    found: list[Edge] = []
    for dependence in dependences:
        array = scop.arrays.get(dependence.array)
        live = dependence.kind == "flow" and array is not None and array.private
        if id(dependence) not in known:
            pieces = _pieces(dependence, parameters)
            known[id(dependence)] = [(piece, same.setdefault(points, points)) for piece, points in pieces]
        found += [
            Edge(len(found) + k, dependence, points, live, piece)
            for k, (piece, points) in enumerate(known[id(dependence)])
        ]
    return tuple(found)


def edges_between(scop: Scop, pairs: Iterable[isl.UnionMap]) -> tuple[Edge, ...]:
    """Any pairs of instances as edges."""
    parts = [part for relation in pairs for part in maps_of(relation)]
    named = [(str(part.get_tuple_name(IN)), str(part.get_tuple_name(OUT)), part) for part in parts]
    return edges_of(scop, [Dependence("flow", "", source, sink, part) for source, sink, part in named])


def _pieces(dependence: Dependence, parameters: tuple[str, ...]) -> list[tuple[isl.BasicMap, tuple[Point, ...]]]:
    """The pieces of a dependence, and their points."""
    found: list[tuple[isl.BasicMap, tuple[Point, ...]]] = []
    for piece in defined(dependence.relation).get_basic_maps():
        if piece.is_empty():
            continue
        points = points_of(piece, dependence, parameters)
        if dependence.source == dependence.sink and any(_stays(point) for point in points):
            found += [(part, points_of(part, dependence, parameters)) for part in by_level(piece)]
        else:
            found.append((piece, points))
    return found


def _stays(point: Point) -> bool:
    """Whether a vertex has no distance: no instance depends on itself, so that there are others between the integer
    points of the piece."""
    return point.weight > 0 and not any(point.sink)


def by_level(piece: isl.BasicMap) -> list[isl.BasicMap]:
    """The parts of a statement's dependence on itself by the first iterator that differs, and by its direction: each
    keeps a distance there, between its integer points too. In the original order of the loops each is then carried,
    which a piece whose polyhedron has points without a distance never is."""
    found, rest = [], isl.Map.from_basic_map(piece)
    for level in range(piece.dim(isl.dim_type.in_)):
        for order in (rest.order_lt, rest.order_gt):
            found += order(isl.dim_type.in_, level, isl.dim_type.out, level).get_basic_maps()
        rest = rest.equate(isl.dim_type.in_, level, isl.dim_type.out, level)
    return [part for part in found if not part.is_empty()]


def points_of(piece: isl.BasicMap, dependence: Dependence, parameters: Sequence[str]) -> tuple[Point, ...]:
    """The generators of a piece of a dependence."""
    wide = with_parameters(isl.Map.from_basic_map(piece).wrap(), parameters)
    inputs, outputs, count = piece.dim(isl.dim_type.in_), piece.dim(isl.dim_type.out), len(parameters)
    same = dependence.source == dependence.sink
    points = []
    for basic in wide.get_basic_sets():
        found = generators(basic)
        for row, line in (*((ray, False) for ray in found.rays), *((one, True) for one in found.lines)):
            values, source, sink, weight = (
                row[:count],
                row[count : count + inputs],
                row[count + inputs : count + inputs + outputs],
                row[-1],
            )
            if same:
                source, sink = (
                    (0,) * (inputs + count + 1),
                    (*(b - a for a, b in zip(source, sink, strict=True)), *(0,) * (count + 1)),
                )
            else:
                source, sink = (*source, *values, weight), (*sink, *values, weight)
            points.append(Point(source, sink, values, weight, line))
    return tuple(dict.fromkeys(points))
