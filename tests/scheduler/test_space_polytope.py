"""The polytopes of a schedule space: against PPL where it is installed, against small enumerations, and by hand."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import islice, product
from math import lcm
from typing import Any

import highspy
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from msgspec.structs import replace

from scopt.poly.generators import (
    Row,
    TooManyRays,
    _neighbours,
    _neighbours_packed,
    cut,
    generators_of_cone,
    normalized,
    whole_space,
)
from scopt.poly.quiet_solver import quiet_solver
from scopt.scheduler.space.matrix import carries
from scopt.scheduler.space.polytope import Polytope, Polytopes
from scopt.scheduler.space.space_problem import DelayRow, SpaceDependence, SpaceProblem
from tests.scheduler.spaces import kernel, snippet

# Small ones; lu and durbin have polytopes with several vertices.
KERNELS = ("gemm", "atax", "trisolv", "jacobi-1d", "lu", "cholesky")
Rational = Sequence[Fraction | int]
Numbers = frozenset[int]

small = st.integers(-2, 2)


def dot(a: Rational, b: Rational) -> Fraction:
    return sum((Fraction(x) * y for x, y in zip(a, b, strict=True)), Fraction(0))


def rows_of(problem: SpaceProblem, numbers: Iterable[int]) -> list[DelayRow]:
    return [row for number in sorted(numbers) for row in problem.dependence(number).rows]


def homogeneous(problem: SpaceProblem, strong: Numbers, weak: Numbers) -> tuple[list[Row], list[Row]]:
    """(inequalities, equalities) over (columns, weight) of the cone above a polytope."""
    rows = [(row, row.strong) for row in rows_of(problem, strong)] + [(row, 0) for row in rows_of(problem, weak)]
    inequalities = [(*row.weak, -bound) for row, bound in rows if not row.line]
    return [*inequalities, (*(0,) * problem.width, 1)], [(*row.weak, 0) for row, _ in rows if row.line]


def splits(problem: SpaceProblem, polytopes: Polytopes, count: int, seed: int) -> list[tuple[Numbers, Numbers]]:
    """All weak, and random sets of strong and weak dependences with a point,
    each after some have been carried before."""
    rng = random.Random(seed)
    found = [(frozenset[int](), problem.numbers())]
    while len(found) < count:
        uncarried = frozenset(n for n in problem.numbers() if rng.random() < 0.8)
        strong = frozenset[int]()
        for number in rng.sample(sorted(uncarried), len(uncarried)):
            wanted = strong | {number}
            if rng.random() < 0.6 and polytopes.feasible(wanted, uncarried - wanted):
                strong = wanted
        found.append((strong, uncarried - strong))
    return found


# --- random problems --------------------------------------------------------------------------------------------------

# Three statements of one loop each and no parameters: six columns.
THREE = snippet(
    "for (i = 0; i < 9; i++) x[i] = 1;\nfor (i = 0; i < 9; i++) y[i] = 2;\nfor (i = 0; i < 9; i++) A[i][0] = 3;"
)


@st.composite
def problems(draw: st.DrawFn, entries: st.SearchStrategy[int] = small) -> SpaceProblem:
    """Made-up dependences between three statements."""
    base = THREE.problem
    found = []
    for number in range(1, draw(st.integers(1, 3)) + 1):
        source, sink = (draw(st.sampled_from(base.statements)) for _ in range(2))
        columns = sorted({*base.positions[source], *base.positions[sink]})
        rows = []
        for _ in range(draw(st.integers(1, 3))):
            wide = [0] * base.width
            for column in columns:
                wide[column] = draw(entries)
            line = draw(st.integers(0, 5)) == 0
            rows.append(DelayRow(tuple(wide), 0 if line else draw(st.integers(0, 2)), line))
        found.append(SpaceDependence(number, source, sink, 0, base_relation(), tuple(rows)))
    return replace(base, dependences=tuple(found))


def base_relation() -> Any:
    """Relations play no part in polytopes."""
    return THREE.scop.order


@st.composite
def split_problems(draw: st.DrawFn) -> tuple[SpaceProblem, Numbers, Numbers]:
    problem = draw(problems())
    strong = frozenset(n for n in problem.numbers() if draw(st.booleans()))
    return problem, strong, problem.numbers() - strong


# --- what a combination is, by a linear program -----------------------------------------------------------------------


def is_combination(polytope: Polytope, point: Rational, *, direction: bool = False) -> bool:
    """Whether the point is a convex combination of each group's vertices and a combination of rays, factors >= 0;
    direction: of rays alone."""
    generators: list[Rational] = [*([] if direction else polytope.vertices), *polytope.rays]
    groups = [] if direction else sorted(set(polytope.groups))
    solver = quiet_solver()  # as many threads as all others: HiGHS has one number of them
    model = highspy.HighsLp()
    rows = [[float(generator[k]) for generator in generators] for k in range(polytope.width)]
    rows += [[float(group == one) for one in polytope.groups] + [0.0] * len(polytope.rays) for group in groups]
    bounds = np.array([*map(float, point), *[1.0] * len(groups)])
    matrix = np.array(rows).reshape(len(rows), len(generators))
    model.num_col_, model.num_row_ = len(generators), len(rows)
    model.col_cost_, model.col_lower_ = np.zeros(len(generators)), np.zeros(len(generators))
    model.col_upper_ = np.full(len(generators), highspy.kHighsInf)
    model.row_lower_ = model.row_upper_ = bounds
    model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    model.a_matrix_.start_ = np.arange(len(rows) + 1, dtype=np.int32) * len(generators)
    model.a_matrix_.index_ = np.tile(np.arange(len(generators), dtype=np.int32), len(rows))
    model.a_matrix_.value_ = matrix.ravel()
    solver.passModel(model)
    solver.run()
    return bool(solver.getModelStatus() == highspy.HighsModelStatus.kOptimal)


def test_is_combination() -> None:
    square = Polytope(2, ((Fraction(0), Fraction(0)), (Fraction(2), Fraction(0))), (0, 0), ((0, 1),))
    assert is_combination(square, (1, 5))
    assert not is_combination(square, (3, 5))
    assert not is_combination(square, (1, -1))
    assert is_combination(square, (0, 3), direction=True)
    assert not is_combination(square, (1, 3), direction=True)


# --- soundness and completeness ---------------------------------------------------------------------------------------


def check_generators(problem: SpaceProblem, polytope: Polytope, strong: Numbers, weak: Numbers) -> None:
    """Sums of a vertex of each group satisfy the rows, strong ones strongly;
    rays and their multiples can be added forever."""
    rows = [(row, row.strong) for row in rows_of(problem, strong)] + [(row, 0) for row in rows_of(problem, weak)]
    choices = [
        [v for v, group in zip(polytope.vertices, polytope.groups, strict=True) if group == one]
        for one in sorted(set(polytope.groups))
    ]
    for chosen in islice(product(*choices), 50) if choices else ():
        point = [sum(column, Fraction(0)) for column in zip(*chosen, strict=True)]
        values = [(dot(row.weak, point), bound, row.line) for row, bound in rows]
        assert all(value == 0 if line else value >= bound for value, bound, line in values)
    for ray in polytope.rays:
        values = [(dot(row.weak, ray), 0, row.line) for row, _ in rows]
        assert all(value == 0 if line else value >= 0 for value, _, line in values)


def check_whole(problem: SpaceProblem, polytope: Polytope, strong: Numbers, weak: Numbers) -> None:
    """The generators of the undecomposed polytope, found in one go, are combinations of these, and as many."""
    rays, lines = generators_of_cone(*homogeneous(problem, strong, weak), problem.width + 1)
    vertices = [tuple(Fraction(x, ray[-1]) for x in ray[:-1]) for ray in rays if ray[-1]]
    assert polytope.is_empty == (not vertices)
    if polytope.is_empty:
        return
    directions = [ray[:-1] for ray in rays if not ray[-1]]
    along = [tuple(sign * x for x in line[:-1]) for line in lines for sign in (1, -1)]
    counts = [polytope.groups.count(group) for group in sorted(set(polytope.groups))]
    assert len(vertices) == np.prod(counts)
    assert len(polytope.rays) == len(directions) + len(along)
    assert all(is_combination(polytope, vertex) for vertex in vertices[:40])
    assert all(is_combination(polytope, ray, direction=True) for ray in (*directions[:40], *along))


@given(split_problems())
@settings(max_examples=120, deadline=None)
def test_random_polytopes(case: tuple[SpaceProblem, Numbers, Numbers]) -> None:
    problem, strong, weak = case
    polytopes = Polytopes(problem)
    polytope = polytopes.polytope(strong, weak)
    assert polytopes.feasible(strong, weak) == (not polytope.is_empty)
    assert polytope.is_empty == (not polytope.vertices) == (not polytope.groups)
    check_generators(problem, polytope, strong, weak)
    check_whole(problem, polytope, strong, weak)


@pytest.mark.parametrize("name", KERNELS)
def test_polytopes_of_kernels(name: str) -> None:
    problem = kernel(name).problem
    polytopes = Polytopes(problem)
    for strong, weak in splits(problem, polytopes, 5, seed=1):
        polytope = polytopes.polytope(strong, weak)
        assert not polytope.is_empty
        assert not polytope.partial
        check_generators(problem, polytope, strong, weak)
        check_whole(problem, polytope, strong, weak)


@given(split_problems(), st.integers(0, 1 << 30))
@settings(max_examples=40, deadline=None)
def test_every_small_integer_point_is_a_combination(case: tuple[SpaceProblem, Numbers, Numbers], seed: int) -> None:
    problem, strong, weak = case
    polytope = Polytopes(problem).polytope(strong, weak)
    points = list(product((-1, 0, 1, 2), repeat=problem.width))
    inside = outside = 0
    for point in random.Random(seed).sample(points, 60):
        found, violated = carries(problem, point, problem.numbers())
        # `carries` looks at strong and weak satisfaction of a whole dependence, and a random one may have no vertex.
        legal = not violated and strong <= found
        assert legal == (not polytope.is_empty and is_combination(polytope, point))
        inside, outside = inside + legal, outside + (not legal)
    assert inside + outside == 60


def test_every_small_integer_point_of_a_kernels_polytope() -> None:
    problem = snippet(
        "for (i = 1; i < n; i++) { x[i] = x[i - 1]; y[i] = x[i]; }", "int n, double *restrict x, double *restrict y"
    ).problem
    polytopes = Polytopes(problem)
    for strong, weak in splits(problem, polytopes, 4, seed=3):
        polytope, legal = polytopes.polytope(strong, weak), 0
        for point in product((-1, 0, 1), repeat=problem.width):
            found, violated = carries(problem, point, strong | weak)
            assert (not violated and strong <= found) == is_combination(polytope, point)
            legal += not violated and strong <= found
        assert 0 < legal < 3**problem.width


# --- emptiness --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "empty"),
    [
        pytest.param([DelayRow((0, 0, 0, 0, 0, 0), 1)], True, id="0 >= 1"),
        pytest.param([DelayRow((0, 0, 0, 0, 0, 0), 0)], False, id="0 >= 0"),
        pytest.param([DelayRow((1, 0, 0, 0, 0, 0), 1), DelayRow((-1, 0, 0, 0, 0, 0), 1)], True, id="both ways"),
        pytest.param([DelayRow((1, 0, 0, 0, 0, 0), 1), DelayRow((1, 0, 0, 0, 0, 0), 0, line=True)], True, id="a line"),
        pytest.param(
            [DelayRow((1, 0, 0, 1, 0, 0), 1), DelayRow((1, 0, 0, 0, 0, 0), 0, line=True)], False, id="beside a line"
        ),
    ],
)
def test_emptiness(rows: list[DelayRow], *, empty: bool) -> None:
    problem = replace(THREE.problem, dependences=(SpaceDependence(1, "S0", "S0", 0, base_relation(), tuple(rows)),))
    one, none = frozenset({1}), frozenset[int]()
    polytopes = Polytopes(problem)
    assert polytopes.polytope(one, none).is_empty == empty
    assert polytopes.feasible(one, none) != empty
    # 0 satisfies all of them weakly.
    assert not polytopes.polytope(none, one).is_empty
    assert polytopes.feasible(none, one)


def test_an_empty_polytope_has_no_slots_and_no_point() -> None:
    empty = Polytope(2, (), (), (), is_empty=True)
    assert empty.slots == ()
    assert empty.point(()) is None


def test_one_empty_component_makes_the_whole_empty() -> None:
    fine = SpaceDependence(1, "S0", "S0", 0, base_relation(), (DelayRow((1, 0, 0, 0, 0, 0), 1),))
    broken = SpaceDependence(2, "S1", "S2", 0, base_relation(), (DelayRow((0, 0, 0, 0, 0, 0), 1),))
    problem = replace(THREE.problem, dependences=(fine, broken))
    assert Polytopes(problem).polytope(frozenset({1, 2}), frozenset()).is_empty
    assert not Polytopes(problem).polytope(frozenset({1}), frozenset({2})).is_empty


# --- decomposition ----------------------------------------------------------------------------------------------------


def test_statements_without_dependences_are_free() -> None:
    polytope = Polytopes(replace(THREE.problem, dependences=())).polytope(frozenset(), frozenset())
    assert polytope.vertices == ((0,) * 6,)
    assert len(polytope.rays) == 12


def test_components_have_vertices_of_their_own() -> None:
    """S0 has two vertices, S1 and S2 together one: the product has two, and only the first two have coefficients."""
    two = SpaceDependence(
        1,
        "S0",
        "S0",
        0,
        base_relation(),
        tuple(
            DelayRow(row, bound)
            for row, bound in (
                ((1, 0, 0, 0, 0, 0), 0),
                ((0, 0, 0, 1, 0, 0), 0),
                ((1, 0, 0, 1, 0, 0), 1),
            )
        ),
    )
    one = SpaceDependence(2, "S1", "S2", 0, base_relation(), (DelayRow((0, -1, 1, 0, -1, 1), 0),))
    problem = replace(THREE.problem, dependences=(two, one))
    polytope = Polytopes(problem).polytope(frozenset({1}), frozenset({2}))
    vertices = {tuple(map(int, v)): g for v, g in zip(polytope.vertices, polytope.groups, strict=True)}
    assert vertices == {(1, 0, 0, 0, 0, 0): 0, (0, 0, 0, 1, 0, 0): 0, (0, 0, 0, 0, 0, 0): 1}
    assert [slot.group for slot in polytope.slots] == [0, 0, *[None] * len(polytope.rays)]
    rest = [0] * len(polytope.rays)
    assert polytope.point((1, 1, *rest)) == (1, 0, 0, 1, 0, 0)
    assert polytope.point((0, 2, *rest)) in {(1, 0, 0, 0, 0, 0), (0, 0, 0, 1, 0, 0)}
    assert polytope.point((0, 0, *rest)) is None


# --- points -----------------------------------------------------------------------------------------------------------

HALF, THIRD, ZERO = Fraction(1, 2), Fraction(1, 3), Fraction(0)


@pytest.mark.parametrize(
    ("coefficients", "point"),
    [
        pytest.param((1, 0, 0), (1, 0), id="half a vertex, times two"),
        pytest.param((0, 2, 0), (0, 1), id="a lone coefficient is 1"),
        pytest.param((1, 1, 0), (3, 2), id="a half and a third, halved: (1/4, 1/6)"),
        pytest.param((1, 2, 0), (3, 4), id="(1/6, 2/9)"),
        pytest.param((2, 2, 0), (3, 2), id="only the ratio counts"),
        pytest.param((1, 0, 1), (3, 2), id="(1/2 + 1, 0 + 1): the rays are scaled too"),
        pytest.param((0, 0, 2), None, id="no vertex"),
        pytest.param((0, 0, 0), None, id="nothing"),
    ],
)
def test_points_of_several_vertices(coefficients: tuple[int, ...], point: Row | None) -> None:
    assert Polytope(2, ((HALF, ZERO), (ZERO, THIRD)), (0, 0), ((1, 1),)).point(coefficients) == point


def test_points_of_groups() -> None:
    """Each group has its own convex combination; a lone vertex is always there."""
    vertices = ((HALF, ZERO, ZERO), (ZERO, Fraction(1), ZERO), (ZERO, ZERO, THIRD))
    polytope = Polytope(3, vertices, (0, 0, 1), ())
    assert [slot.generator for slot in polytope.slots] == list(vertices[:2])
    assert polytope.point((0, 1)) == (0, 3, 1)
    assert polytope.point((1, 0)) == (3, 0, 2)
    assert polytope.point((1, 1)) == (3, 6, 4)
    assert polytope.point((0, 0)) is None


def test_points_of_many_vertices_have_numbers_that_loops_can_have() -> None:
    """The least common denominator of them all has 24 digits: those with the largest coefficients have to do."""
    primes = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59)
    polytope = Polytope(2, tuple((Fraction(1, p), ZERO) for p in primes), (0,) * len(primes), ((0, 5), (0, 700)))
    assert polytope.point((1, 1, 2, *(0 for _ in primes[3:]), 0, 0)) == (37, 0)
    assert polytope.point((*(1 for _ in primes), 0, 0)) == (31, 0)
    assert polytope.point((*(1 + (p == 59) for p in primes), 0, 0)) == (307, 0)
    assert polytope.point((*(int(p == 2) for p in primes), 1, 2)) == (1, 0)


def test_as_many_coefficients_as_slots() -> None:
    with pytest.raises(ValueError, match="zip"):
        Polytope(1, ((ZERO,),), (0,), ((1,),)).point((1, 2))


def test_points_of_kernels_with_several_vertices() -> None:
    """The original order's strong sets of lu have several vertices now and then: their combinations are legal too."""
    problem = kernel("lu").problem
    polytopes = Polytopes(problem)
    rng = random.Random(2)
    several = [
        (strong, weak)
        for strong, weak in splits(problem, polytopes, 20, seed=2)
        if len(polytopes.polytope(strong, weak).slots) > len(polytopes.polytope(strong, weak).rays)
    ]
    assert several
    for strong, weak in several:
        polytope = polytopes.polytope(strong, weak)
        for _ in range(5):
            point = polytope.point(
                [rng.choice((0, 0, 1, 2)) if slot.group is None else rng.choice((1, 2)) for slot in polytope.slots]
            )
            assert point is not None
            found, violated = carries(problem, point, strong | weak)
            assert (strong <= found, violated) == (True, frozenset())


# --- too many generators ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["jacobi-1d", "trisolv", "lu"])
def test_with_a_small_limit_some_generators_have_to_do(name: str) -> None:
    problem = kernel(name).problem
    whole, partial = Polytopes(problem), Polytopes(problem, limit=2)
    rng = random.Random(4)
    assert partial.polytope(frozenset(), problem.numbers()).partial
    for strong, weak in splits(problem, whole, 4, seed=4):
        polytope, all_of_it = partial.polytope(strong, weak), whole.polytope(strong, weak)
        assert not polytope.is_empty
        check_generators(problem, polytope, strong, weak)
        assert all(is_combination(all_of_it, ray, direction=True) for ray in polytope.rays)
        for _ in range(10):
            point = polytope.point([rng.choice((0, 0, 1, 2)) if slot.group is None else 1 for slot in polytope.slots])
            assert point is not None
            found, violated = carries(problem, point, strong | weak)
            assert (strong <= found, violated) == (True, frozenset())


def test_an_empty_polytope_is_empty_with_a_small_limit_too() -> None:
    rows = (DelayRow((1, 0, 0, 0, 0, 0), 1), DelayRow((-1, 0, 0, 0, 0, 0), 1), DelayRow((0, 0, 0, 1, 0, 0), 0))
    problem = replace(THREE.problem, dependences=(SpaceDependence(1, "S0", "S0", 0, base_relation(), rows),))
    assert Polytopes(problem, limit=1).polytope(frozenset({1}), frozenset()).is_empty


# --- the double description method, step by step ----------------------------------------------------------------------

cones = st.integers(2, 4).flatmap(
    lambda width: st.tuples(st.just(width), st.lists(st.tuples(*[small] * width), max_size=8))
)


@given(cones, st.data())
@settings(max_examples=100, deadline=None)
def test_an_incremental_cut_is_a_cut_at_once(case: tuple[int, list[Row]], data: st.DataObject) -> None:
    width, rows = case
    at = data.draw(st.integers(0, len(rows)))
    assert cut(cut(whole_space(width), rows[:at]), rows[at:]) == cut(whole_space(width), rows)


@given(cones, st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_the_order_of_rows_doesnt_matter_to_a_pointed_cone(case: tuple[int, list[Row]], rng: random.Random) -> None:
    width, rows = case
    pointed = [*rows, *(tuple(int(k == at) for k in range(width)) for at in range(width))]
    shuffled = rng.sample(pointed, len(pointed))
    one, other = (cut(whole_space(width), order) for order in (pointed, shuffled))
    assert one.lines == other.lines == ()
    assert {normalized(ray) for ray, _ in one.rays} == {normalized(ray) for ray, _ in other.rays}
    assert len(one.rays) == len({ray for ray, _ in one.rays})


def test_the_limit_of_rays() -> None:
    # The cone over a square has four rays.
    square = [(1, 0, 0), (0, 1, 0), (-1, 0, 1), (0, -1, 1)]
    assert len(cut(whole_space(3), square, limit=4).rays) == 4
    with pytest.raises(TooManyRays):
        cut(whole_space(3), square, limit=3)


facet_sets = st.integers(1, 140).flatmap(
    lambda bits: st.lists(st.integers(0, (1 << bits) - 1), min_size=1, max_size=40)
)
# Few bits: many rays share the same ones, and some are the same.
dense_sets = st.lists(st.integers(0, 63), min_size=1, max_size=40)


@given(st.one_of(facet_sets, dense_sets))
@settings(max_examples=150, deadline=None)
def test_packed_neighbours_are_the_neighbours(facets: list[int]) -> None:
    everyone = range(len(facets))
    plain = [(one, sorted(others)) for one, others in _neighbours(facets, everyone)]
    assert [(one, sorted(others)) for one, others in _neighbours_packed(facets, everyone)] == plain
    # By definition: two rays are neighbours if no third one lies on all facets that they share.
    expected = [
        (
            a,
            [
                b
                for b in everyone
                if b != a and not any(c not in (a, b) and facets[a] & facets[b] & ~facets[c] == 0 for c in everyone)
            ],
        )
        for a in everyone
    ]
    assert plain == expected


# --- against PPL ------------------------------------------------------------------------------------------------------


def ppl_polyhedron(width: int, strong: Iterable[DelayRow], weak: Iterable[DelayRow]) -> Any:
    """The polytope of these rows as PPL's."""
    ppl = pytest.importorskip("ppl")
    system = ppl.Constraint_System()
    # So that the space has all its dimensions.
    system.insert(ppl.Linear_Expression([0] * (width - 1) + [1], 0) * 0 >= -1)
    for row, bound in [*((row, row.strong) for row in strong), *((row, 0) for row in weak)]:
        expression = ppl.Linear_Expression(list(row.weak), 0)
        system.insert(expression == 0 if row.line else expression >= bound)
    found = ppl.C_Polyhedron(width, "universe")
    found.add_constraints(system)
    return found


def ppl_of_generators(polytope: Polytope) -> Any:
    """The polytope as PPL's, by its generators: the sum of the groups'."""
    ppl = pytest.importorskip("ppl")
    if polytope.is_empty:
        return ppl.C_Polyhedron(polytope.width, "empty")
    choices = [
        [v for v, group in zip(polytope.vertices, polytope.groups, strict=True) if group == one]
        for one in sorted(set(polytope.groups))
    ]
    system = ppl.Generator_System()
    for chosen in product(*choices):
        vertex = [sum(column, Fraction(0)) for column in zip(*chosen, strict=True)]
        scale = lcm(*(value.denominator for value in vertex))
        system.insert(ppl.point(ppl.Linear_Expression([int(value * scale) for value in vertex], 0), scale))
    for ray in polytope.rays:
        system.insert(ppl.ray(ppl.Linear_Expression(list(ray), 0)))
    found = ppl.C_Polyhedron(system)
    assert found.space_dimension() <= polytope.width
    found.add_space_dimensions_and_embed(polytope.width - found.space_dimension())
    return found


def check_against_ppl(problem: SpaceProblem, strong: Numbers, weak: Numbers) -> None:
    polytope = Polytopes(problem).polytope(strong, weak)
    expected = ppl_polyhedron(problem.width, rows_of(problem, strong), rows_of(problem, weak))
    assert polytope.is_empty == expected.is_empty()
    assert ppl_of_generators(polytope) == expected
    if not polytope.is_empty:
        kinds = [(g.is_point(), g.is_ray(), g.is_line()) for g in expected.minimized_generators()]
        points, rays, lines = (sum(column) for column in zip(*kinds, strict=True))
        assert len(polytope.rays) == rays + 2 * lines
        assert np.prod([polytope.groups.count(group) for group in set(polytope.groups)]) == points


@given(split_problems())
@settings(max_examples=120, deadline=None)
def test_random_polytopes_are_ppls(case: tuple[SpaceProblem, Numbers, Numbers]) -> None:
    pytest.importorskip("ppl")
    check_against_ppl(*case)


@pytest.mark.parametrize("name", [*KERNELS, "mvt", "gesummv", "trmm", "jacobi-2d", "floyd-warshall"])
def test_polytopes_of_kernels_are_ppls(name: str) -> None:
    pytest.importorskip("ppl")
    problem = kernel(name).problem
    for strong, weak in splits(problem, Polytopes(problem), 5, seed=7):
        check_against_ppl(problem, strong, weak)


def test_ppl_tells_polytopes_apart() -> None:
    pytest.importorskip("ppl")
    problem = kernel("gemm").problem
    all_weak = (frozenset[int](), problem.numbers())
    polytope = Polytopes(problem).polytope(*all_weak)
    expected = ppl_polyhedron(problem.width, (), rows_of(problem, problem.numbers()))
    assert ppl_of_generators(polytope) == expected
    assert ppl_of_generators(replace(polytope, rays=polytope.rays[1:])) != expected
