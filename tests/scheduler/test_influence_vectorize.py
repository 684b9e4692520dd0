"""The non-linear optimizer for vectorization: Algorithm 2's scenarios,
which iterators correspond, and the tree made of both."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from scopt.ir.scop import Scop
from scopt.scheduler.influence.fusing import ties
from scopt.scheduler.influence.influence_tree import InfluenceNode, InfluenceTree
from scopt.scheduler.influence.scenarios import Weights, scenarios
from scopt.scheduler.influence.tree_files import dump_tree, load_tree
from scopt.scheduler.influence.vectorize import vectorize_tree
from tests.sources import scop_of

FIG2_PARAMS = "int n, double A[100][100], double B[100][100], double C[100][100], double D[100][100][100]"
FIG2 = """for (i = 0; i < n; i++) for (k = 0; k < n; k++) B[i][k] = 2 * A[i][k] + 1;
for (i = 0; i < n; i++) for (j = 0; j < n; j++) for (k = 0; k < n; k++) C[i][j] = C[i][j] + B[i][k] * D[k][i][j];"""
TRANSPOSE = "for (i = 0; i < n; i++) for (j = 0; j < n; j++) A[i][j] = B[j][i];"
FIG2_YAML = Path(__file__).resolve().parents[2] / "examples/influence/fig2.yaml"
# The dimensions' iterators by statement; "" for a zero row.
Order = Mapping[str, tuple[str, ...]]


@pytest.fixture(scope="module")
def fig2() -> Scop:
    return scop_of(FIG2, FIG2_PARAMS)


def innermost(scop: Scop, weights: Weights | None = None) -> list[str]:
    """The vector iterators of the best scenario, by statement."""
    return [choice.innermost for choice in scenarios(scop, weights or Weights())[0].choices]


def paths(tree: InfluenceTree) -> Iterator[tuple[InfluenceNode, ...]]:
    """Each scenario from the root to a leaf, in order of priority."""
    path: tuple[InfluenceNode, ...] = ()
    for depth, node in tree.walk():
        path = (*path[:depth], node)
        if not node.children:
            yield path


def admits(path: tuple[InfluenceNode, ...], order: Order) -> bool:
    """Whether a schedule of plain loops fulfils all rows of a path."""
    values = [
        sum(factor * (order[c.statement][c.dimension] == c.column) for factor, c in row.terms) + row.constant
        for node in path
        for row in node.rows
    ]
    kinds = [row.relation for node in path for row in node.rows]
    return all(value == 0 if kind == "=" else value >= 0 for value, kind in zip(values, kinds, strict=True))


# --- scenarios --------------------------------------------------------------------------------------------------------


def test_costs_of_the_running_example(fig2: Scop) -> None:
    x, y = scenarios(fig2)[0].choices
    # k in X: store and load contiguous; 5 + 3, stride 1 in 2 accesses, 100 iterations are more than 64 threads.
    assert (x.iterators, x.stores, x.loads, x.costs[0]) == (("i", "k"), 1, 1, 5 + 3 + 1 + 2)
    # i moves both by a row of 100.
    assert x.costs[1] == pytest.approx(1 / 100 + 2)
    # j in Y: the store, loads of C and D contiguous, B constant.
    assert (y.innermost, y.stores, y.loads, y.costs[0]) == ("j", 1, 3, 5 + 3 * 3 + 1 + 3)


def test_a_store_counts_more_than_a_load_by_the_weights() -> None:
    scop = scop_of(TRANSPOSE)
    assert innermost(scop) == ["j"]
    assert innermost(scop, Weights(stores=1, loads=9)) == ["i"]


def test_a_short_loop_is_no_better_for_its_threads() -> None:
    scop = scop_of(
        "for (i = 0; i < n; i++) for (j = 0; j < n; j++) for (k = 0; k < 3; k++) D[k][i][j] = 1;", FIG2_PARAMS
    )
    assert innermost(scop) == ["j"]


@pytest.mark.parametrize(("size", "share"), [(32, 32 / 64), (64, 0), (80, 0)])
def test_threads_count_below_the_limit(size: int, share: float) -> None:
    scop = scop_of(f"for (i = 0; i < {size}; i++) x[i] = 0;")
    assert scenarios(scop)[0].choices[0].costs == (5 + 1 + 1 + share,)


def test_steps_and_reversed_subscripts() -> None:
    (choice,) = scenarios(scop_of("for (i = 0; i < n; i += 2) x[i] = y[n - i];"))[0].choices
    assert (choice.stores, choice.loads) == (0, 0)
    (choice,) = scenarios(scop_of("for (i = 0; i < n; i++) x[i] = y[n - i];"))[0].choices
    assert (choice.stores, choice.loads) == (1, 1)


def test_sizes_of_arrays_are_taken_from_parameters_and_guesses() -> None:
    params = "int n, double a[n][20][n]"
    scop = scop_of("for (i = 0; i < n; i++) for (j = 0; j < 20; j++) a[i][j][0] = 0;", params)
    by_iterator = {s.choices[0].innermost: s.choices[0] for s in scenarios(scop)}
    # Nothing is contiguous: j jumps over n elements, which is not known; the smaller stride wins.
    assert by_iterator["j"].costs[0] == pytest.approx(1 / 1024 + 1 + 20 / 64)
    assert by_iterator["j"].costs[1] == pytest.approx(1 / (1024 * 20) + 1)


def test_at_most_three_dimensions_and_eight_scenarios() -> None:
    body = (
        "for (i = 0; i < n; i++) for (j = 0; j < n; j++) for (k = 0; k < n; k++)"
        " for (t = 0; t < n; t++) A[i][t] += x[j] * y[k] * A[t][i];"
    )
    found = scenarios(scop_of(f"{body}\n{body}"))
    assert len(found) == 8
    assert all(len(choice.iterators) == 3 for scenario in found for choice in scenario.choices)
    assert [scenario.costs for scenario in found] == sorted((scenario.costs for scenario in found), reverse=True)
    assert len({tuple(choice.iterators for choice in scenario.choices) for scenario in found}) == 8


# --- fusion -----------------------------------------------------------------------------------------------------------


def test_iterators_correspond_through_subscripts(fig2: Scop) -> None:
    (tie,) = ties(fig2, {"S0": "k", "S1": "j"})
    assert (tie.first, tie.second, tie.dimensions, tie.pairs) == ("S0", "S1", 2, (("i", "i"), ("k", "k")))
    assert tie.apart == (("S1", "j"),)


def test_a_vector_iterator_is_no_outer_dimension(fig2: Scop) -> None:
    (tie,) = ties(fig2, {"S0": "k", "S1": "k"})
    assert (tie.dimensions, tie.pairs) == (1, (("i", "i"),))


def test_names_do_not_matter_and_transposed_nests_are_no_tie() -> None:
    renamed = (
        "for (i = 0; i < n; i++) for (j = 0; j < n; j++) A[i][j] = 1;"
        " for (k = 0; k < n; k++) for (t = 0; t < n; t++) B[k][t] = A[t][k];"
    )
    (tie,) = ties(scop_of(renamed), {"S0": "j", "S1": "k"})
    assert tie.pairs == (("i", "t"), ("j", "k"))
    assert not ties(scop_of(renamed), {"S0": "j", "S1": "t"})


def test_a_common_time_loop_is_common() -> None:
    body = "for (t = 0; t < m; t++) { for (i = 1; i < n; i++) x[i] = y[i - 1]; for (j = 1; j < n; j++) y[j] = x[j]; }"
    (tie,) = ties(scop_of(body), {"S0": "i", "S1": "j"})
    assert tie.pairs == (("t", "t"), ("i", "j"))


def test_statements_without_common_data_are_no_tie() -> None:
    assert not ties(
        scop_of("for (i = 0; i < n; i++) x[i] = 1; for (i = 0; i < n; i++) y[i] = 1;"), {"S0": "i", "S1": "i"}
    )


# --- the tree ---------------------------------------------------------------------------------------------------------


def test_the_first_branch_is_the_paper_s(fig2: Scop) -> None:
    tree = vectorize_tree(fig2)
    first = next(paths(tree))
    rows = [{str(row) for row in node.rows} for node in first]
    paper = next(paths(load_tree(FIG2_YAML.read_text(), "fig2.yaml", fig2)))
    assert all({str(row) for row in node.rows} <= ours for node, ours in zip(paper, rows, strict=True))
    # Fig. 2c, and no other order of plain loops: the statements' original order least of all.
    assert admits(first, {"S0": ("i", "k", ""), "S1": ("i", "k", "j")})
    assert not admits(first, {"S0": ("i", "k", ""), "S1": ("i", "j", "k")})
    assert not admits(first, {"S0": ("k", "i", ""), "S1": ("k", "i", "j")})
    assert not admits(first, {"S0": ("i", "k", ""), "S1": ("k", "i", "j")})
    assert not admits(first, {"S0": ("i", "k", "k"), "S1": ("i", "k", "j")})


def test_alternatives_ask_for_less(fig2: Scop) -> None:
    found = list(paths(vectorize_tree(fig2)))
    order: Order = {"S0": ("i", "k", ""), "S1": ("k", "i", "j")}
    assert [admits(path, order) for path in found[:4]] == [False, False, True, True]
    assert [path[-1].parallel for path in found[:4]] == [True, False, True, False]
    assert [found[0][-1].rows, found[2][-1].rows] == [found[1][-1].rows, found[3][-1].rows]
    # The second scenario has k innermost in Y.
    assert any(admits(path, {"S0": ("i", "k", ""), "S1": ("i", "j", "k")}) for path in found[4:])


def test_common_prefixes_are_shared(fig2: Scop) -> None:
    tree = vectorize_tree(fig2)
    assert len(tree.branches[0].children[0].children) == 2
    for _, node in tree.walk():
        keys = [(frozenset(child.rows), child.parallel) for child in node.children]
        assert len(set(keys)) == len(keys)


def test_statements_may_be_left_free() -> None:
    body = "for (i = 0; i < n; i++) for (j = 0; j < n; j++) { A[i][j] = 1; B[j][0] = x[3 * i]; }"
    found = list(paths(vectorize_tree(scop_of(body))))
    assert not all(
        any(c.statement == "S1" for node in path for row in node.rows for _, c in row.terms) for path in found
    )
    assert all(
        any(c.statement == "S0" for node in path for row in node.rows for _, c in row.terms) for path in found[:2]
    )


def test_without_anything_contiguous_the_tree_is_empty() -> None:
    assert vectorize_tree(scop_of("for (i = 0; i < n; i++) x[2 * i] = y[0];")) == InfluenceTree()
    assert vectorize_tree(scop_of("x[0] = 0;")) == InfluenceTree()


@pytest.mark.parametrize("body", [FIG2, TRANSPOSE])
def test_trees_survive_the_round_trip(body: str) -> None:
    scop = scop_of(body, FIG2_PARAMS)
    tree = vectorize_tree(scop)
    assert tree.branches
    assert load_tree(dump_tree(tree), "t.yaml", scop) == tree
