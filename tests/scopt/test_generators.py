"""Generators against known polyhedra, and against isl's own duals."""

from __future__ import annotations

from itertools import product

import islpy as isl
import pytest
from hypothesis import given, settings, strategies as st

from scopt.frontend.extract import extract
from scopt.frontend.region.parse import parse
from scopt.ir.scop import Dependence
from scopt.options import Options
from scopt.poly.dependences import dependences
from scopt.poly.generators import MAX_CONSTANT, Generators, Row, defined, generators, generators_of_cone, nullspace
from scopt.polybench.catalog import load_suite, own_suite, select
from scopt.scheduler.constraints.edges import edges_of
from scopt.scheduler.constraints.scheduling_problem import Edge
from tests.sources import scop_of

KERNELS = ("gemm", "atax", "jacobi-1d", "trisolv", "lu", "mvt", "trmm", "durbin")


def of(text: str) -> Generators:
    return generators(isl.BasicSet(text))


def both_ways(found: Generators) -> list[Row]:
    return [*found.rays, *found.lines, *(tuple(-x for x in line) for line in found.lines)]


# --- known polyhedra --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "rays", "lines"),
    [
        pytest.param(
            "{ [i, j] : i >= 0 and j >= 0 and i + j <= 3 }", {(0, 0, 1), (3, 0, 1), (0, 3, 1)}, set(), id="simplex"
        ),
        pytest.param(
            "{ [i, j, k] : 0 <= i, j, k <= 1 }",
            {(*corner, 1) for corner in product((0, 1), repeat=3)},
            set(),
            id="cube",
        ),
        pytest.param("{ [i, j] : -i <= j <= i }", {(0, 0, 1), (1, 1, 0), (1, -1, 0)}, set(), id="cone"),
        pytest.param("{ [i, j] : i = j + 2 }", {(2, 0, 1)}, {(1, 1, 0)}, id="line"),
        pytest.param("{ [i] : i >= 5 }", {(5, 1), (1, 0)}, set(), id="unbounded"),
        pytest.param("{ [i, j] : 2i = 3 + 0j and 0 <= j <= 1 }", set(), set(), id="empty by divisibility"),
        pytest.param("{ [i] : i >= 1 and i <= 0 }", set(), set(), id="empty"),
        pytest.param("{ [] }", {(1,)}, set(), id="a point without coordinates"),
        pytest.param(
            "[n] -> { [i, j] : 0 <= j <= i < n }",
            {(1, 0, 0, 1), (1, 0, 0, 0), (1, 1, 0, 0), (1, 1, 1, 0)},
            set(),
            id="triangle",
        ),
    ],
)
def test_known_polyhedra(text: str, rays: set[Row], lines: set[Row]) -> None:
    found = of(text)
    assert found.is_empty == (not rays)
    if rays:
        # A vertex of a polyhedron with lines may stand anywhere on them.
        assert (set(found.rays) == rays) if not lines else len(found.rays) == len(rays)
        assert {line if line > tuple(-x for x in line) else tuple(-x for x in line) for line in found.lines} == lines


def test_a_half_integral_vertex_has_its_weight() -> None:
    found = generators_of_cone([(-2, 3), (1, 0), (0, 1)], [], 2)
    assert (set(found[0]), found[1]) == ({(0, 1), (3, 2)}, ())


def test_large_constants_are_dropped() -> None:
    assert set(of(f"{{ [i] : 0 <= i <= {MAX_CONSTANT} }}").rays) == {(0, 1), (1, 0)}
    assert set(of(f"{{ [i] : 0 <= i <= {MAX_CONSTANT - 1} }}").rays) == {(0, 1), (MAX_CONSTANT - 1, 1)}


def test_projection_keeps_the_weight() -> None:
    assert set(of("{ [i, j] : 0 <= i <= 2 and j = 7 }").projected([0]).rays) == {(0, 1), (2, 1)}


# The definitions of divisions are inequalities over the rationals;
# equalities and integrality together say more than they do.

small = st.integers(-3, 3)


def test_strided_bounds_are_tight() -> None:
    assert set(of("{ [i] : exists e : i = 2e and 1 <= i <= 7 }").rays) == {(2, 1), (6, 1)}


@given(
    st.integers(1, 4).flatmap(
        lambda width: st.tuples(st.just(width), st.lists(st.tuples(*[small] * width), max_size=4))
    )
)
def test_nullspace(case: tuple[int, list[Row]]) -> None:
    width, rows = case
    basis = nullspace(rows, width)
    assert all(sum(a * b for a, b in zip(row, vector, strict=True)) == 0 for row in rows for vector in basis)
    # dim of the null space + rank = width, where the rank is what is left of the rows' own null space's null space
    assert len(basis) + len(nullspace(basis, width)) == width
    assert len(nullspace(nullspace(basis, width), width)) == len(basis)


# --- random systems ---------------------------------------------------------------------------------------------------


@st.composite
def systems(draw: st.DrawFn) -> tuple[int, list[Row], list[Row]]:
    """(dimensions, inequalities, equalities) over (x…, 1)."""
    width = draw(st.integers(1, 3))
    row = st.tuples(*[small] * width, st.integers(-6, 6))
    return width, draw(st.lists(row, max_size=7)), draw(st.lists(row, max_size=1))


def cone(width: int, inequalities: list[Row], equalities: list[Row]) -> Generators:
    return Generators(*generators_of_cone([*inequalities, (*(0,) * width, 1)], equalities, width + 1))


@given(systems())
@settings(max_examples=150, deadline=None)
def test_generators_satisfy_the_system(system: tuple[int, list[Row], list[Row]]) -> None:
    _, inequalities, equalities = system
    found = cone(*system)
    for ray in both_ways(found):
        assert all(sum(a * b for a, b in zip(row, ray, strict=True)) >= 0 for row in inequalities)
        assert all(sum(a * b for a, b in zip(row, ray, strict=True)) == 0 for row in equalities)
    for line in found.lines:
        assert all(sum(a * b for a, b in zip(row, line, strict=True)) == 0 for row in inequalities)


@given(systems(), st.data())
@settings(max_examples=150, deadline=None)
def test_a_form_is_non_negative_iff_it_is_so_on_the_generators(
    system: tuple[int, list[Row], list[Row]], data: st.DataObject
) -> None:
    """isl decides by an exact linear program: form < 0 has no rational point.
    Over the cone: form·y <= -1 with y in it."""
    width, inequalities, equalities = system
    form = data.draw(st.tuples(*[small] * width, st.integers(-6, 6)))
    found = cone(*system)
    by_generators = all(sum(a * b for a, b in zip(form, ray, strict=True)) >= 0 for ray in both_ways(found))
    # In a cone every rational point has an integer multiple: the integer set is empty exactly if the rational one is.
    names = [f"x{k}" for k in range(width + 1)]

    def text(row: Row, relation: str) -> str:
        return " + ".join(f"{a} * {name}" for a, name in zip(row, names, strict=True)) + relation

    rows = [
        *(text(row, " >= 0") for row in inequalities),
        *(text(row, " = 0") for row in equalities),
        f"{names[-1]} >= 0",
        text(form, " < 0"),
    ]
    assert by_generators == isl.BasicSet(f"{{ [{', '.join(names)}] : {' and '.join(rows)} }}").is_empty()


# --- against isl's coefficients ---------------------------------------------------------------------------------------


def dual(rows: list[Row], order: list[int]) -> isl.BasicSet:
    """{c : row·c >= 0 for all rows}, with the rows' columns in this order."""
    inequalities = isl.Mat.alloc(isl.DEFAULT_CONTEXT, len(rows), len(order) + 1)
    for line, row in enumerate(rows):
        for position, value in enumerate([*(row[k] for k in order), 0]):
            inequalities = inequalities.set_element_val(line, position, isl.Val(value))
    nothing = isl.Mat.alloc(isl.DEFAULT_CONTEXT, 0, len(order) + 1)
    kinds = (isl.dim_type.set, isl.dim_type.div, isl.dim_type.param, isl.dim_type.cst)
    return isl.BasicSet.from_constraint_matrices(
        isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, len(order)), nothing, inequalities, *kinds
    )


def isl_dual(piece: isl.BasicSet) -> isl.BasicSet:
    """What isl says, over (constant, parameters, set dimensions).

    `coefficients` takes no divisions: they are made visible (`lift`), and their coefficients are zero. Constraints that
    `generators` drops go here, too.
    """
    visible = 1 + piece.dim(isl.dim_type.param) + piece.dim(isl.dim_type.set)
    lifted = piece.lift()
    bare = isl.BasicSet.universe(lifted.get_space())
    for constraint in lifted.get_constraints():
        if constraint.get_constant_val().abs().lt(isl.Val(MAX_CONSTANT)):
            bare = bare.add_constraint(constraint)
    found = bare.coefficients()
    kinds = (isl.dim_type.set, isl.dim_type.div, isl.dim_type.param, isl.dim_type.cst)
    width = found.dim(isl.dim_type.set)
    # isl's set is a rational one, which is never equal to a set of integers.
    space = isl.Space.set_alloc(isl.DEFAULT_CONTEXT, 0, width)
    integer = isl.BasicSet.from_constraint_matrices(
        space, found.equalities_matrix(*kinds), found.inequalities_matrix(*kinds), *kinds
    )
    for position in range(visible, width):
        integer = integer.fix_val(isl.dim_type.set, position, isl.Val(0))
    return integer.project_out(isl.dim_type.set, visible, width - visible)


def own_dual(piece: isl.BasicSet) -> isl.BasicSet:
    found = generators(piece)
    width = len(found.rays[0])
    return dual(both_ways(found), [width - 1, *range(width - 1)])


@pytest.mark.parametrize(
    "text",
    [
        "{ S[i, j] : 0 <= j <= i <= 9 }",
        "[n, m] -> { S[i, j] : 0 <= i < n and i <= j < m and n >= 3 }",
        "[n] -> { S[i, j] : i = j + n and 2j <= n and j >= 0 }",
        "[n] -> { S[i] : exists e : i = 3e + 1 and 0 <= i < n }",
        "[n] -> { S[i, j] : 2j = n - i and 0 <= i < n }",
        "[n] -> { S[i] : (i + n) mod 4 <= 1 and 0 <= i < n }",
        f"[n] -> {{ S[i] : 0 <= i < n and n <= {(1 << 31) - 1} }}",
        "{ S[i, j] : }",
    ],
)
def test_dual_of_a_set(text: str) -> None:
    piece = isl.BasicSet(text)
    assert own_dual(piece).is_equal(isl_dual(piece))


def test_the_dual_tells_sets_apart() -> None:
    assert not own_dual(isl.BasicSet("{ S[i] : 0 <= i <= 9 }")).is_equal(
        isl_dual(isl.BasicSet("{ S[i] : 0 <= i <= 10 }"))
    )


@pytest.mark.parametrize("kernel", KERNELS)
def test_dual_of_every_dependence(kernel: str) -> None:
    (found,) = select(load_suite(own_suite()), [kernel])
    options = Options(cpp_flags=(*(f"-I{folder}" for folder in found.includes), "-DLARGE_DATASET"))
    unit = parse(found.source.read_bytes(), str(found.source), options)
    pieces = [
        piece
        for dependence in dependences(extract(unit, unit.regions[0], "scop0")).all
        for piece in dependence.relation.wrap().get_basic_sets()
        if not piece.is_empty()
    ]
    assert pieces
    assert [piece for piece in pieces if not own_dual(piece).is_equal(isl_dual(piece))] == []


# --- edges ------------------------------------------------------------------------------------------------------------


def flow_edge(body: str) -> Edge:
    scop = scop_of(body)
    (edge,) = edges_of(scop, [d for d in dependences(scop).all if d.kind == "flow"])
    return edge


def test_of_a_dependence_on_itself_only_the_distance_counts() -> None:
    edge = flow_edge("for (i = 2; i < n; i++) x[i] = x[i - 2];")
    assert {point.sink[0] for point in edge.points if point.weight} == {2}
    assert {point.sink[0] for point in edge.points if not point.weight} == {0}
    assert not any(any(point.source) for point in edge.points)


def test_strided_distances_are_exact() -> None:
    edge = flow_edge("for (i = 2; i < n; i += 2) x[i] = x[i - 2];")
    assert {point.sink[0] for point in edge.points if point.weight} == {2}


def test_a_strided_loop_is_coincident() -> None:
    edge = flow_edge("for (i = 0; i < n; i += 2) { x[i] = 1; y[i] = x[i]; }")
    assert edge.coincident({"S0": (1, 0, 0), "S1": (1, 0, 0)})


def test_pieces_without_integer_points_are_no_edges() -> None:
    scop = scop_of("for (i = 0; i < n; i++) x[i] = y[i];")
    nothing = isl.Map("[n] -> { S0[i] -> S0[j] : 2i = 1 + 2j }")
    assert edges_of(scop, [Dependence("flow", "x", "S0", "S0", nothing)]) == ()


def test_relations_with_integers_that_nothing_defines() -> None:
    """isl knows of some existential variables only which inequalities they satisfy;
    it can say what they are in other pieces."""
    relation = isl.Map("{ [i] -> [j] : exists a: 2a <= j - i <= 3a and 0 <= i <= 9 }")
    made = defined(relation)
    assert made.is_equal(relation)
    assert all(generators(piece).rays for piece in made.wrap().get_basic_sets())
    known = isl.Map("{ [i] -> [j] : j = 2 * floor(i / 2) and 0 <= i <= 9 }")
    assert defined(known).plain_is_equal(known)
