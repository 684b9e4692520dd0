"""From points of a schedule space to schedule trees: legal, in the order of the matrix where it counts, and no larger
than they have to be."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import combinations_with_replacement

import islpy as isl
import pytest
from hypothesis import given, settings, strategies as st
from msgspec.structs import replace

from scopt.options import Options, Walk
from scopt.poly import trees
from scopt.poly.generators import Row
from scopt.poly.isl_utils import maps_of, union_of_maps
from scopt.poly.legality import check_order
from scopt.scheduler.space.complete import completed
from scopt.scheduler.space.matrix import carries, schedule_of_rows
from scopt.scheduler.space.polytope import Polytopes
from scopt.scheduler.space.space_problem import DelayRow, SpaceDependence
from scopt.scheduler.space.walk import WALKS, random_sample
from tests.conftest import RunC
from tests.scheduler.spaces import (
    Case,
    Instance,
    Sizes,
    executed,
    instance_count,
    kernel,
    matrix_date,
    pairs_of,
    snippet,
)
from tests.sources import optimize, source_of

KERNELS = ("gemm", "atax", "trisolv", "jacobi-1d", "lu", "cholesky", "gesummv", "seidel-2d")

# A private scalar, a loop nest with a guard, strides and a statement outside all loops.
MIXED = """s = 0;
for (i = 0; i < n; i++) {
  for (j = i; j < n; j += 2)
    if (i + j >= 3)
      A[i][j] = A[j][i] + B[i][j];
  s = x[i];
  y[i] = s * y[n - 1 - i];
}"""
SNIPPETS = {
    "mixed": MIXED,
    "reduction": "for (i = 0; i < n; i++) for (j = 0; j < n; j++) s += A[i][j];",
    "shifted": "for (i = 1; i < n; i++) { x[i] = x[i - 1]; y[i] = x[i]; }\nfor (i = 0; i < m; i++) y[i] = y[i] + 1;",
}
RESTRICT = "int n, int m, double A[100][100], double B[100][100], double *restrict x, double *restrict y"


def case_of(name: str) -> Case:
    return snippet(SNIPPETS[name], RESTRICT) if name in SNIPPETS else kernel(name)


def sizes_of(case: Case, size: int = 4) -> Sizes:
    """Different for each parameter, so that none stands in for another."""
    return {parameter.name: size + k for k, parameter in enumerate(case.scop.parameters)}


# --- samples ----------------------------------------------------------------------------------------------------------


def check_tree(case: Case, rows: Sequence[Row]) -> None:
    """Legal, every instance once and at a date of its own, in the order of the matrix's dates as far as dependences are
    left.

    Of two statements, or two instances of one, these are the dates up to the last dimension that carries a dependence
    between the two.
    """
    tree = schedule_of_rows(case.problem, rows)
    check_order(case.scop, case.deps, tree.get_map())
    sizes = sizes_of(case)
    found = executed(case, tree, sizes)
    assert len(found) == instance_count(case, sizes) == len({instance for _, instance in found})
    assert len({date for date, _ in found}) == len(found)
    carried = carrying(case, rows)
    dates = [(instance[0], matrix_date(case.problem, rows, instance, sizes)) for _, instance in found]
    for one, other in combinations_with_replacement(case.problem.statements, 2):
        last = max(
            (carried[d.number] for d in case.problem.dependences if {d.source, d.sink} == {one, other}), default=0
        )
        latest: dict[str, tuple[int, ...]] = {}
        for name, date in dates:
            if name in (one, other):
                # Whatever came before from the other statement has no later date.
                partner = other if name == one else one
                assert latest.get(partner, date[:last]) <= date[:last]
                latest[name] = max(latest.get(name, date[:last]), date[:last])


def carrying(case: Case, rows: Sequence[Row]) -> dict[int, int]:
    """The dimension that carries each dependence, from 1."""
    found: dict[int, int] = {}
    for dim, row in enumerate(rows, 1):
        strong, violated = carries(case.problem, row, case.problem.numbers() - found.keys())
        assert not violated
        found |= dict.fromkeys(strong, dim)
    return found


@pytest.mark.parametrize("walk", WALKS)
@pytest.mark.parametrize("name", [*KERNELS, *SNIPPETS])
def test_samples_run_in_the_order_of_their_matrices(name: str, walk: Walk) -> None:
    case = case_of(name)
    polytopes = Polytopes(case.problem)
    rng = random.Random(f"{name} {walk}")
    for _ in range(4):
        sample = random_sample(polytopes, walk, rng)
        assert all(sample.carried)
        assert len(sample.rows) >= max(sample.carried)
        check_tree(case, sample.rows)


def test_the_same_seed_takes_the_same_sample() -> None:
    case = kernel("trisolv")
    drawn = [
        [random_sample(Polytopes(case.problem), "uniform", random.Random(seed)) for seed in range(5)] for _ in range(2)
    ]
    assert drawn[0] == drawn[1]
    assert len(set(drawn[0])) == 5
    trees_of_them = [[str(schedule_of_rows(case.problem, sample.rows)) for sample in samples] for samples in drawn]
    assert trees_of_them[0] == trees_of_them[1]


def test_a_sample_does_not_depend_on_what_was_asked_before() -> None:
    case = kernel("lu")
    used = Polytopes(case.problem)
    for seed in range(3):
        random_sample(used, "bias_select_dep", random.Random(seed))
    assert random_sample(used, "uniform", random.Random(9)) == random_sample(
        Polytopes(case.problem), "uniform", random.Random(9)
    )


# --- any rows ---------------------------------------------------------------------------------------------------------


def random_rows(case: Case, rng: random.Random, count: int) -> list[Row]:
    """Rows of some use: few entries, of samples and at random, in any order."""
    sample = random_sample(Polytopes(case.problem), "bias_coeff_0", rng).rows
    sparse = [tuple(rng.choice((0, 0, 0, 1, -1, 2)) for _ in range(case.problem.width)) for _ in range(count)]
    return rng.sample([*sample, *sparse], count)


@pytest.mark.parametrize("name", ["gemm", "trisolv", "shifted", "jacobi-1d", "reduction"])
def test_completed_rows_are_legal(name: str) -> None:
    case = case_of(name)
    polytopes = Polytopes(case.problem)
    rng = random.Random(name)
    for _ in range(6):
        rows = random_rows(case, rng, 3)
        made = completed(polytopes, rows, "uniform", rng)
        check_tree(case, made)
        # What violates nothing is kept, in its order, until all are carried.
        uncarried, expected = case.problem.numbers(), []
        for row in rows:
            strong, violated = carries(case.problem, row, uncarried)
            if uncarried and not violated:
                expected.append(row)
                uncarried -= strong
        assert list(made[: len(expected)]) == expected
        assert bool(uncarried) == (len(made) > len(expected))
        # Sampled rows each carry something.
        for row in made[len(expected) :]:
            strong, violated = carries(case.problem, row, uncarried)
            assert strong
            assert not violated
            uncarried -= strong
        assert not uncarried


def test_a_complete_matrix_is_not_touched() -> None:
    case = kernel("atax")
    polytopes = Polytopes(case.problem)
    rows = random_sample(polytopes, "uniform", random.Random(5)).rows
    made = completed(polytopes, rows, "uniform", random.Random(0))
    assert made == rows[: len(made)]


@pytest.mark.parametrize("name", ["gemm", "trisolv", "shifted", "mixed", "jacobi-1d"])
def test_rows_are_refused_unless_they_are_legal(name: str) -> None:
    case = case_of(name)
    rng = random.Random(name)
    refused = 0
    for _ in range(25):
        rows = random_rows(case, rng, 4)
        try:
            check_tree(case, rows)
        except ValueError:
            refused += 1
    assert refused


def test_a_row_that_violates_and_rows_that_do_not_carry() -> None:
    case = snippet("for (i = 1; i < n; i++) x[i] = x[i - 1];", RESTRICT)
    up, down, still = (tuple(sign * (column == "S0.i") for column in case.problem.columns) for sign in (1, -1, 0))
    with pytest.raises(ValueError, match="dimension 1 violates the dependence 1"):
        schedule_of_rows(case.problem, [down, up])
    with pytest.raises(ValueError, match="dimension 2 violates the dependence 1"):
        schedule_of_rows(case.problem, [still, down])
    for rows in ([], [still]):
        with pytest.raises(ValueError, match="no dimension carries the dependence 1"):
            schedule_of_rows(case.problem, rows)
    # Once it is carried, anything goes.
    check_tree(case, [still, up, down])


# --- carries ----------------------------------------------------------------------------------------------------------


def exactly(case: Case, row: Row) -> tuple[frozenset[int], frozenset[int]]:
    """What `carries` says, from the pairs themselves: all of them advance, some go backwards."""
    own = case.problem.statement_rows(row)
    strong, violated = set(), set()
    for dependence in case.problem.dependences:
        delays = [
            _delays(case, pairs, own[dependence.source], own[dependence.sink]) for pairs in maps_of(dependence.relation)
        ]
        if any(below(part, delay, 0) for part, delay in delays):
            violated.add(dependence.number)
        elif not any(below(part, delay, 1) for part, delay in delays):
            strong.add(dependence.number)
    return frozenset(strong), frozenset(violated)


def below(pairs: isl.Set, delay: isl.Aff, bound: int) -> bool:
    """Whether some pair has a delay below the bound."""
    return not pairs.intersect(
        isl.Set.from_basic_set(delay.add_constant_val(isl.Val(-bound)).neg_basic_set())
    ).is_empty()


def _delays(case: Case, pairs: isl.Map, source: Row, sink: Row) -> tuple[isl.Set, isl.Aff]:
    """The pairs as a set, and (sink's date - source's date) on it."""
    inputs, outputs = pairs.dim(isl.dim_type.in_), pairs.dim(isl.dim_type.out)
    flat = pairs.wrap().flatten()
    for parameter in case.scop.parameters:
        flat = flat.align_params(
            isl.Space.params_alloc(flat.get_ctx(), 1).set_dim_name(isl.dim_type.param, 0, parameter.name)
        )
    delay = isl.Aff.zero_on_domain(isl.LocalSpace.from_space(flat.get_space()))
    for position in range(inputs + outputs):
        value = -source[position] if position < inputs else sink[position - inputs]
        delay = delay.set_coefficient_val(isl.dim_type.in_, position, isl.Val(value))
    for position, parameter in enumerate(case.scop.parameters):
        at = flat.find_dim_by_name(isl.dim_type.param, parameter.name)
        delay = delay.set_coefficient_val(
            isl.dim_type.param, at, isl.Val(sink[outputs + position] - source[inputs + position])
        )
    return flat, delay.set_constant_val(isl.Val(sink[-1] - source[-1]))


@pytest.mark.parametrize("name", [*KERNELS, *SNIPPETS])
def test_what_a_row_carries(name: str) -> None:
    case = case_of(name)
    polytopes = Polytopes(case.problem)
    rng = random.Random(name)
    rows = [*random_rows(case, rng, 6), *random_sample(polytopes, "uniform", rng).rows]
    for row in rows:
        strong, violated = carries(case.problem, row, case.problem.numbers())
        exact = exactly(case, row)
        assert strong <= exact[0]
        assert exact[1] <= violated
        if name in KERNELS:
            # The dependence polyhedra of these have integer vertices.
            assert (strong, violated) == exact


def test_only_what_is_asked_for_is_looked_at() -> None:
    problem = kernel("gemm").problem
    row = tuple(-int(column == "S1.k") for column in problem.columns)
    everything = carries(problem, row, problem.numbers())
    assert everything[1]
    assert carries(problem, row, problem.numbers() - everything[1]) == (everything[0], frozenset())
    assert carries(problem, row, ()) == (frozenset(), frozenset())


# --- trees by hand ----------------------------------------------------------------------------------------------------


def waiting(body: str) -> Case:
    """A SCoP without dependences, whose statements are made to wait for something: a coefficient of the parameter m
    that is at least 1. So any rows without m can stand before the last one, `go`, and their order counts; they are what
    is tested."""
    case = snippet(body, RESTRICT)
    problem = case.problem
    assert not problem.dependences
    units = {name: tuple(int(column == f"{name}.m") for column in problem.columns) for name in problem.statements}
    rows = [(name, (DelayRow(unit, 1),)) for name, unit in units.items()]
    nothing = isl.UnionMap("{ }")
    ends = [(name, name, delays) for name, delays in rows]
    # And all statements wait for each other, so that their order counts.
    ends += [(name, other, delays) for name, delays in rows for other, _ in rows if other != name]
    made_up = [
        SpaceDependence(number, source, sink, 0, nothing, delays)
        for number, (source, sink, delays) in enumerate(ends, 1)
    ]
    return replace(case, problem=replace(problem, dependences=tuple(made_up)))


def go(case: Case) -> Row:
    """The row that all statements wait for, which orders nothing."""
    return tuple(int(column.endswith(".m")) for column in case.problem.columns)


TWO = waiting("for (i = 0; i < n; i++) if (m >= 0) x[i] = 1;\nfor (i = 0; i < n; i++) if (m >= 0) y[i] = 2;")
PLANE = waiting("for (i = 0; i < n; i++) for (j = 0; j < m; j++) A[i][j] = 1;")


def shape(tree: trees.Tree) -> str:
    """``2(S0 S1)``: a band of two loops around a sequence."""
    match tree:
        case trees.Leaf(domain):
            names: list[str] = []
            domain.foreach_set(lambda part: names.append(str(part.get_tuple_name())))
            (name,) = names
            return name
        case trees.Band(body=body):
            inner = shape(body)
            return f"{tree.width}{inner}" if inner.startswith("(") else f"{tree.width}({inner})"
        case trees.Sequence(parts):
            return f"({' '.join(shape(part) for part in parts)})"


def shape_of(case: Case, *rows: Row) -> str:
    check_tree(case, [*rows, go(case)])
    return shape(trees.read(schedule_of_rows(case.problem, [*rows, go(case)]).get_root()))


def row_of(case: Case, **values: int) -> Row:
    """A row by its entries that aren't zero: ``S0_i=1``, ``S1_1=3`` for a constant."""
    assert {name.replace("_", ".") for name in values} <= set(case.problem.columns)
    return tuple(values.get(column.replace(".", "_"), 0) for column in case.problem.columns)


def loop_values(case: Case, *rows: Row, size: int = 3) -> dict[str, set[int]]:
    """The values of the outermost loop, by statement."""
    found: dict[str, set[int]] = {}
    for date, (name, _) in executed(
        case, schedule_of_rows(case.problem, [*rows, go(case)]), dict.fromkeys(("n", "m"), size)
    ):
        found.setdefault(name, set()).add(date[0])
    return found


BOTH = row_of(TWO, S0_i=1, S1_i=1)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        pytest.param([], "(1(S0) 1(S1))", id="nothing: each statement gets its loops"),
        pytest.param([BOTH], "1(S0 S1)", id="one loop around both"),
        pytest.param([row_of(TWO, S0_i=-1, S1_i=1)], "1(S0 S1)", id="in opposite directions"),
        pytest.param([row_of(TWO, S0_1=1)], "(1(S1) 1(S0))", id="constants are places in a sequence"),
        pytest.param([row_of(TWO, S0_n=2, S1_n=2)], "(1(S0) 1(S1))", id="a common offset alone orders nothing"),
        pytest.param([row_of(TWO, S0_n=2, S1_n=2, S0_1=1)], "(1(S1) 1(S0))", id="constants beside a common offset"),
        pytest.param([row_of(TWO, S0_i=1, S1_i=1, S1_n=1)], "(1(S0) 1(S1))", id="one after the other by a parameter"),
        pytest.param([row_of(TWO, S0_i=1, S1_i=1, S0_n=1)], "(1(S1) 1(S0))", id="the other way round"),
        pytest.param([row_of(TWO, S0_i=1, S1_i=1, S1_1=1)], "1(S0 S1)", id="shifted"),
        pytest.param([row_of(TWO, S0_i=2, S1_i=2, S1_1=1)], "1(S0 S1)", id="2i and 2i+1: i, and a sequence"),
        pytest.param([row_of(TWO, S0_i=2, S1_i=2, S0_1=1)], "1(S0 S1)", id="2i+1 and 2i: i and i-1, and a sequence"),
        pytest.param([row_of(TWO, S0_i=6, S1_i=4)], "1(S0 S1)", id="3i and 2i"),
        pytest.param([BOTH, row_of(TWO, S0_1=1)], "1(S1 S0)", id="a sequence in a loop"),
        pytest.param(
            [BOTH, row_of(TWO, S0_i=3, S1_i=3, S0_n=1, S1_n=1)], "1(S0 S1)", id="a multiple of the loop around"
        ),
        pytest.param([BOTH, row_of(TWO, S0_i=3, S1_i=3, S0_1=4, S1_1=2)], "1(S1 S0)", id="a multiple and constants"),
        pytest.param([BOTH, row_of(TWO, S1_n=1)], "1(S0 S1)", id="a parameter as a place"),
        pytest.param([BOTH, row_of(TWO, S0_n=1)], "1(S1 S0)", id="a parameter as a place, the other way round"),
        pytest.param(
            [BOTH, BOTH, row_of(TWO, S0_1=1), row_of(TWO, S1_1=5)], "1(S1 S0)", id="the first sequence counts"
        ),
        pytest.param([row_of(TWO, S0_1=1), BOTH], "(1(S1) 1(S0))", id="loops in a sequence"),
    ],
)
def test_trees_of_two_loops(rows: list[Row], expected: str) -> None:
    assert shape_of(TWO, *rows) == expected


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        pytest.param([], "2(S0)", id="completed"),
        pytest.param([row_of(PLANE, S0_j=1)], "2(S0)", id="completed by i"),
        pytest.param([row_of(PLANE, S0_i=1, S0_j=1)], "2(S0)", id="skewed, and completed"),
        pytest.param(
            [row_of(PLANE, S0_i=1, S0_j=1), row_of(PLANE, S0_i=1, S0_j=-1)], "2(S0)", id="two that tell all apart"
        ),
        pytest.param(
            [row_of(PLANE, S0_i=1), row_of(PLANE, S0_j=2), row_of(PLANE, S0_i=5, S0_j=7)],
            "2(S0)",
            id="a dependent third one",
        ),
    ],
)
def test_trees_of_a_plane(rows: list[Row], expected: str) -> None:
    assert shape_of(PLANE, *rows) == expected


def test_iterators_that_others_fix_need_no_loops() -> None:
    diagonal = waiting("for (i = 0; i < m; i++) for (j = 0; j < m; j++) if (i == j) A[i][j] = 1;")
    assert shape_of(diagonal) == "1(S0)"
    assert shape_of(diagonal, row_of(diagonal, S0_j=1)) == "1(S0)"


def test_a_statement_outside_all_loops() -> None:
    single = waiting("x[0] = 1;\nfor (i = 0; i < n; i++) if (m >= 0) y[i] = 2;")
    assert shape_of(single) == "(S0 1(S1))"
    assert shape_of(single, row_of(single, S1_i=1, S0_1=2)) == "1(S0 S1)"
    assert shape_of(single, row_of(single, S1_i=1, S0_1=-1)) == "(S0 1(S1))"
    # It comes before or after only if that is so for all n.
    assert shape_of(single, row_of(single, S1_i=1, S0_n=1)) == "(1(S1) S0)"


def test_common_offsets_are_dropped() -> None:
    assert loop_values(TWO, row_of(TWO, S0_i=1, S1_i=1, S0_n=5, S1_n=5, S0_1=-7, S1_1=-7)) == {
        "S0": {0, 1, 2},
        "S1": {0, 1, 2},
    }


def test_common_factors_are_divided_out() -> None:
    assert loop_values(TWO, row_of(TWO, S0_i=2, S1_i=2, S1_1=1)) == {"S0": {0, 1, 2}, "S1": {0, 1, 2}}
    assert loop_values(TWO, row_of(TWO, S0_i=2, S1_i=2, S0_1=1)) == {"S0": {0, 1, 2}, "S1": {-1, 0, 1}}
    assert loop_values(TWO, row_of(TWO, S0_i=4, S1_i=4, S1_1=8)) == {"S0": {0, 1, 2}, "S1": {2, 3, 4}}
    # Every third date of S0 has S1 in between: i, 2 · i in steps of their common factor.
    assert loop_values(TWO, row_of(TWO, S0_i=3, S1_i=6)) == {"S0": {0, 1, 2}, "S1": {0, 2, 4}}


# Rows of two statements, to find cases that nobody thought of.
entry = st.integers(-3, 3)


@given(st.lists(st.tuples(*[entry] * TWO.problem.width), max_size=3))
@settings(max_examples=60, deadline=None)
def test_any_rows_of_two_loops(rows: list[Row]) -> None:
    # Those of m are for `go`.
    without = [
        tuple(0 if column.endswith(".m") else value for value, column in zip(row, TWO.problem.columns, strict=True))
        for row in rows
    ]
    check_tree(TWO, [*without, go(TWO)])


def test_nothing_is_ordered_that_nothing_depends_on() -> None:
    free = snippet("for (i = 0; i < n; i++) x[i] = 1;\nfor (i = 0; i < n; i++) y[i] = 2;", RESTRICT)
    for rows in ([], [row_of(free, S0_i=1, S1_i=1)], [row_of(free, S0_1=1)]):
        check_tree(free, rows)
        assert shape(trees.read(schedule_of_rows(free.problem, rows).get_root())) == "(1(S0) 1(S1))"


def test_rows_after_the_last_carried_dependence_order_nothing() -> None:
    chain = snippet("for (i = 0; i < n; i++) x[i] = 1;\nfor (i = 0; i < n; i++) y[i] = x[i];", RESTRICT)
    apart, down, fused = row_of(chain, S1_1=1), row_of(chain, S0_i=-1, S1_i=-1), row_of(chain, S0_i=1, S1_i=1)

    def tree(*rows: Row) -> isl.Schedule:
        check_tree(chain, rows)
        return schedule_of_rows(chain.problem, rows)

    assert tree(apart, down).plain_is_equal(tree(apart))
    assert shape(trees.read(tree(apart).get_root())) == "(1(S0) 1(S1))"
    assert shape(trees.read(tree(fused, apart, down).get_root())) == "1(S0 S1)"
    # Before that they do: i runs down, since S1 has to wait for S0 yet.
    assert [instance for _, instance in executed(chain, tree(down, apart), {"n": 2})] == [
        ("S0", (1,)),
        ("S1", (1,)),
        ("S0", (0,)),
        ("S1", (0,)),
    ]


# --- the problem ------------------------------------------------------------------------------------------------------


def kept_pairs(case: Case) -> isl.UnionMap:
    """All pairs of the problem's dependences."""
    found = isl.UnionMap("{ }")
    for dependence in case.problem.dependences:
        found = found.union(dependence.relation)
    return found


@pytest.mark.parametrize("name", [*KERNELS, "durbin", *SNIPPETS])
def test_the_columns_of_a_point(name: str) -> None:
    case = case_of(name)
    problem = case.problem
    iterators = sum(len(statement.iterators) for statement in case.scop.statements)
    assert problem.width == iterators + len(case.scop.statements) * (len(case.scop.parameters) + 1)
    # Each belongs to one statement, whose row has them in the order of its own columns.
    assert sorted(k for positions in problem.positions.values() for k in positions) == list(range(problem.width))
    own = problem.statement_rows(tuple(range(problem.width)))
    for statement, row in own.items():
        assert [problem.columns[k].split(".")[0] for k in row] == [statement] * len(row)
        assert [problem.columns[k].split(".")[1] for k in row[:-1]] == list(problem.spaces[statement].columns[:-1])


@pytest.mark.parametrize("name", [*KERNELS, "shifted"])
def test_the_dependences_are_those_of_the_scop(name: str) -> None:
    case = case_of(name)
    assert not any(array.private for array in case.scop.arrays.values())
    given_ones = union_of_maps(d.relation for d in case.deps.select("flow", "anti", "output"))
    assert kept_pairs(case).is_equal(given_ones)


@pytest.mark.parametrize("name", ["mixed", "reduction", "durbin"])
def test_chains_of_dependences_imply_all_pairs_of_live_ranges(name: str) -> None:
    case = case_of(name)
    sizes = sizes_of(case)
    kept = set(pairs_of(kept_pairs(case), sizes))
    successors: dict[Instance, set[Instance]] = {}
    for source, sink in kept:
        successors.setdefault(source, set()).add(sink)

    def reached(start: Instance) -> set[Instance]:
        seen: set[Instance] = set()
        todo = [start]
        while todo:
            for following in successors.get(todo.pop(), set()) - seen:
                seen.add(following)
                todo.append(following)
        return seen

    after = {source: reached(source) for source in successors}
    wanted = set(pairs_of(union_of_maps(d.relation for d in case.deps.select("flow", "anti", "output")), sizes))
    order = {instance: date for date, instance in executed(case, case.scop.schedule, sizes)}
    assert all(order[source] < order[sink] for source, sink in kept)
    # Pairs of private arrays come without an order.
    assert [
        pair for pair in wanted if pair[1] not in after.get(pair[0], ()) and pair[0] not in after.get(pair[1], ())
    ] == []


def test_a_private_scalar_is_among_them() -> None:
    case = case_of("mixed")
    assert any(array.private for array in case.scop.arrays.values())


@pytest.mark.parametrize("name", [*KERNELS, *SNIPPETS])
def test_dependences_are_split_by_depth(name: str) -> None:
    case = case_of(name)
    sizes = sizes_of(case)
    statements = list(case.problem.statements)
    keys = [(statements.index(d.source), statements.index(d.sink), d.depth) for d in case.problem.dependences]
    assert keys == sorted(set(keys))
    assert [d.number for d in case.problem.dependences] == list(range(1, len(keys) + 1))
    dates = {source: date for source, (_, date) in pairs_of(case.scop.order, sizes)}
    for dependence in case.problem.dependences:
        for source, sink in pairs_of(dependence.relation, sizes):
            assert (source[0], sink[0]) == (dependence.source, dependence.sink)
            differing = [depth for depth, (a, b) in enumerate(zip(dates[source], dates[sink], strict=True)) if a != b]
            assert differing[0] == dependence.depth
            assert dates[source] < dates[sink]


def test_pairs_that_are_carried_at_different_depths_are_different_dependences() -> None:
    case = snippet("for (i = 0; i < n; i++) for (j = 0; j < m; j++) y[0] = y[0] * x[j];", RESTRICT)
    inner, outer = sorted(case.problem.dependences, key=lambda d: -d.depth)
    assert inner.depth > outer.depth
    # The original order's dimensions carry one of them each.
    i, j = row_of(case, S0_i=1), row_of(case, S0_j=1)
    assert carries(case.problem, i, case.problem.numbers()) == (frozenset({outer.number}), frozenset())
    assert carries(case.problem, j, {inner.number}) == (frozenset({inner.number}), frozenset())
    assert carries(case.problem, j, {outer.number}) == (frozenset(), frozenset({outer.number}))


# --- the scheduler ----------------------------------------------------------------------------------------------------

SOURCE = source_of(
    "for (i = 1; i < n; i++) { x[i] = 2 * x[i - 1]; for (j = 0; j < m; j++) A[i][j] = x[i] + A[i - 1][j]; }", RESTRICT
)
# As Options has it for a sample that is compared: nothing else in the way.
SAMPLE = Options(scheduler="sample", tile=False, parallel=False, simd=False)


def test_the_scheduler_is_deterministic_and_says_what_it_did() -> None:
    results = [optimize(SOURCE, replace(SAMPLE, seed=seed)) for seed in (1, 1, 2, 3)]
    assert all(result.regions[0].transformed for result in results)
    assert results[0].text == results[1].text
    assert len({result.text for result in results}) > 1
    for result in results:
        ids = [remark.id for remark in result.remarks]
        assert ids.count("schedule.sampled") == 1
        assert "region.transformed" in ids
        assert "schedule.simplified" not in ids


def test_walks_are_different() -> None:
    texts = {walk: [optimize(SOURCE, replace(SAMPLE, seed=seed, walk=walk)).text for seed in (0, 1)] for walk in WALKS}
    assert len({text for some in texts.values() for text in some}) > 2


def test_sampled_programs_compute_the_same(run_c: RunC) -> None:
    main = """
#include <stdio.h>
static double A[100][100], B[100][100], x[100], y[100];
int main(void) {
  for (int i = 0; i < 100; i++) { x[i] = i + 0.5; for (int j = 0; j < 100; j++) A[i][j] = 1.0 / (i + j + 1); }
  f(7, 9, A, B, x, y);
  for (int i = 0; i < 10; i++) for (int j = 0; j < 10; j++) printf("%a %a\\n", x[i], A[i][j]);
  return 0;
}
"""
    expected = run_c(SOURCE.decode() + main, name="original")
    for seed in (1, 2):
        text = optimize(SOURCE, Options(scheduler="sample", seed=seed, walk="uniform", tile=False)).text.decode()
        assert run_c(text + main, "-fopenmp", name=f"sample{seed}") == expected


def test_statements_that_no_dependence_connects_do_not_share_loops() -> None:
    case = snippet("for (i = 1; i < n; i++) x[i] = x[i - 1];\nfor (i = 1; i < n; i++) y[i] = y[i - 1];", RESTRICT)
    together = row_of(case, S0_i=1, S1_i=2, S1_n=-1)
    assert shape(trees.read(schedule_of_rows(case.problem, [together]).get_root())) == "(1(S0) 1(S1))"
    # Where the matrix says that one comes first, it does.
    apart = row_of(case, S0_i=1, S0_n=1, S1_i=1)
    assert shape(trees.read(schedule_of_rows(case.problem, [apart]).get_root())) == "(1(S1) 1(S0))"
