"""Schedule spaces of kernels and snippets, for tests of the space: their problems, and instances in the order in which
they are executed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import islpy as isl
from msgspec import Struct

from scopt.frontend.extract import extract
from scopt.frontend.region.parse import parse
from scopt.ir.scop import Dependences, Scop
from scopt.options import Options
from scopt.poly.dependences import dependences
from scopt.poly.generators import Row
from scopt.poly.isl_utils import maps_of, sets_of
from scopt.polybench.catalog import load_suite, own_suite, select
from scopt.scheduler.space.space_problem import SpaceProblem, space_problem
from tests.sources import PARAMS, scop_of

# A statement and the values of its iterators.
Instance = tuple[str, tuple[int, ...]]
Sizes = Mapping[str, int]


class Case(Struct, frozen=True, eq=False):
    """A SCoP, what its schedules have to respect, and what its space is made from."""

    scop: Scop
    deps: Dependences
    problem: SpaceProblem


@cache
def snippet(body: str, params: str = PARAMS) -> Case:
    """A body of tests/sources.py."""
    return _case(scop_of(body, params))


@cache
def kernel(name: str) -> Case:
    """A PolyBench kernel; its sizes are parameters."""
    (found,) = select(load_suite(own_suite()), [name])
    options = Options(cpp_flags=(*(f"-I{folder}" for folder in found.includes), "-DMINI_DATASET"))
    unit = parse(found.source.read_bytes(), str(found.source), options)
    return _case(extract(unit, unit.regions[0], "scop0"))


def _case(scop: Scop) -> Case:
    deps = dependences(scop)
    return Case(scop, deps, space_problem(scop, deps))


def executed(case: Case, schedule: isl.Schedule, sizes: Sizes) -> list[tuple[tuple[int, ...], Instance]]:
    """All instances with their dates under a schedule tree, in order of dates."""
    found: list[tuple[tuple[int, ...], Instance]] = []
    for one in maps_of(schedule.get_map().intersect_domain(schedule.get_domain())):
        name, inputs = str(one.get_tuple_name(isl.dim_type.in_)), one.dim(isl.dim_type.in_)
        found += [(values[inputs:], (name, values[:inputs])) for values in points_of(one.wrap(), sizes)]
    return sorted(found)


def pairs_of(relation: isl.UnionMap, sizes: Sizes) -> list[tuple[Instance, Instance]]:
    """The pairs of a relation."""
    found: list[tuple[Instance, Instance]] = []
    for one in maps_of(relation):
        source, sink, inputs = (
            str(one.get_tuple_name(isl.dim_type.in_)),
            str(one.get_tuple_name(isl.dim_type.out)),
            one.dim(isl.dim_type.in_),
        )
        found += [((source, values[:inputs]), (sink, values[inputs:])) for values in points_of(one.wrap(), sizes)]
    return found


def points_of(points: isl.Set, sizes: Sizes) -> list[tuple[int, ...]]:
    """The coordinates of a set's integer points, nested spaces flattened."""
    found: list[tuple[int, ...]] = []

    def add(point: isl.Point) -> None:
        found.append(tuple(int(point.get_coordinate_val(isl.dim_type.set, k).to_python()) for k in range(width)))

    flat = points.flatten().intersect_params(_fixed(sizes))
    width = flat.dim(isl.dim_type.set)
    flat.project_out(isl.dim_type.param, 0, flat.dim(isl.dim_type.param)).foreach_point(add)
    return found


def matrix_date(problem: SpaceProblem, rows: Sequence[Row], instance: Instance, sizes: Sizes) -> tuple[int, ...]:
    """The date that a matrix gives to an instance."""
    name, values = instance
    vector = (*values, *(sizes[parameter] for parameter in problem.spaces[name].parameters), 1)
    return tuple(sum(a * b for a, b in zip(problem.statement_rows(row)[name], vector, strict=True)) for row in rows)


def instance_count(case: Case, sizes: Sizes) -> int:
    """How many instances the original has."""
    return sum(int(one.intersect_params(_fixed(sizes)).count_val().to_python()) for one in sets_of(case.scop.domain))


def _fixed(sizes: Sizes) -> isl.Set:
    names = sorted(sizes)
    return isl.Set(
        f"[{', '.join(names)}] -> {{ : {' and '.join(f'{name} = {sizes[name]}' for name in names) or 'true'} }}"
    )
