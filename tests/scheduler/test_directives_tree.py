"""Wishes of pragmas: the influence constraint tree, the check of the loops, and the reason why not."""

from __future__ import annotations

import pytest

from scopt.astgen.loops.isl_loops import build
from scopt.ir.nest import For, LoopMark, LoopNest
from scopt.ir.scop import Scop
from scopt.options import Options
from scopt.poly.bands import band_nodes
from scopt.poly.dependences import dependences
from scopt.poly.readback import nest_to_schedule
from scopt.scheduler import get_scheduler
from scopt.scheduler.influence.honoured import (
    MarkedLoop,
    complaint,
    forbidding,
    loops_of_nest,
    loops_of_tree,
    unhonoured,
    wished_member,
    wishes,
)
from scopt.scheduler.influence.influence_tree import InfluenceTree
from scopt.scheduler.influence.wishes import directive_tree
from scopt.scheduler.passes.band_passes import apply_passes
from tests.sources import scop_of

MATMUL = "for (i = 0; i < n; i++) for (j = 0; j < n; j++) for (k = 0; k < n; k++) A[i][j] += B[i][k] * B[k][j];"
COPY = "for (i = 0; i < n; i++) for (j = 0; j < m; j++) A[i][j] = B[i][j];"


def scop_with(clauses: str, body: str) -> Scop:
    """The SCoP of a loop nest with a directive before it."""
    return scop_of(f"#pragma scopt {clauses}\n{body}")


def tree_of(scop: Scop) -> InfluenceTree | None:
    return directive_tree(scop, dependences(scop), scop.directives)


def scenarios(tree: InfluenceTree | None) -> list[list[tuple[str, bool]]]:
    """Each path from the root to a leaf: names and parallel flags."""
    assert tree is not None
    paths: list[list[tuple[str, bool]]] = []
    path: list[tuple[str, bool]] = []
    for depth, node in tree.walk():
        path = [*path[:depth], (node.name, node.parallel)]
        if not node.children:
            paths.append(path)
    return paths


def rows_at(tree: InfluenceTree | None, *names: str) -> set[str]:
    """The rows of the first node on the path of these names."""
    assert tree is not None
    nodes, rows = tree.branches, set[str]()
    for name in names:
        node = next(node for node in nodes if node.name == name)
        nodes, rows = node.children, {str(row) for row in node.rows}
    return rows


def generated(scop: Scop, **options: bool) -> tuple[MarkedLoop, ...]:
    """The loops of the default scheduler, read back."""
    deps, chosen = dependences(scop), Options(**options)  # type: ignore[arg-type]
    tree = get_scheduler("isl").schedule(scop, deps, chosen).tree
    marked = apply_passes(scop, deps, tree, chosen, scop.directives)
    nest = loops_of_nest(nest_to_schedule(scop, build(scop, marked)))
    # of register tiles, which are no loops yet, the tree knows more
    missing = [unhonoured(scop, scop.directives, some) for some in (nest, loops_of_tree(marked))]
    assert marked.tilings or missing[0] == missing[1]
    return loops_of_tree(marked)


# --- the tree ---------------------------------------------------------------------------------------------------------


def test_no_wish_no_tree() -> None:
    assert tree_of(scop_of(COPY)) is None
    assert tree_of(scop_with("notile", COPY)) is None


def test_a_parallel_loop_goes_outermost_if_it_can() -> None:
    tree = tree_of(scop_with("parallel(j)", COPY))
    assert scenarios(tree)[0] == [("parallel(j)", True)]
    assert scenarios(tree)[1] == [("any", False), ("parallel(j)", True)]
    exactly = {"1*T[S0,0,j] = 1", "1*T[S0,0,i] = 0", "1*T[S0,0,n] = 0", "1*T[S0,0,m] = 0", "1*T[S0,0,1] = 0"}
    assert rows_at(tree, "parallel(j)") == exactly
    assert rows_at(tree, "any") == set()


def test_the_vector_loop_is_nowhere_but_innermost() -> None:
    tree = tree_of(scop_with("vector(j)", MATMUL))
    assert scenarios(tree)[0] == [("any", False), ("any", False), ("vector(j)", True)]
    assert rows_at(tree, "any") == {"1*T[S0,0,j] = 0"}
    assert rows_at(tree, "any", "any") == {"1*T[S0,1,j] = 0"}
    assert {"1*T[S0,2,j] = 1", "1*T[S0,2,i] = 0", "1*T[S0,2,k] = 0"} <= rows_at(tree, "any", "any", "vector(j)")


def test_both_in_one_tree() -> None:
    tree = tree_of(scop_with("parallel(i) vector(j)", MATMUL))
    assert scenarios(tree)[0] == [("parallel(i)", True), ("any", False), ("vector(j)", True)]
    # Never i and j in one dimension, never j outside.
    assert all([name for name, _ in path].index("parallel(i)") < 2 for path in scenarios(tree))
    assert "1*T[S0,0,j] = 0" in rows_at(tree, "parallel(i)")


def test_the_vector_loop_may_be_the_parallel_one() -> None:
    assert scenarios(tree_of(scop_with("parallel(j) vector(j)", COPY)))[0] == [
        ("any", False),
        ("parallel(j) vector(j)", True),
    ]


def test_flags_are_dropped_where_other_statements_share_the_dimension() -> None:
    scop = scop_of(f"for (i = 1; i < n; i++) x[i] = x[i - 1];\n#pragma scopt parallel(i)\n{COPY}")
    paths = scenarios(tree_of(scop))
    assert [("parallel(i)", True)] in paths
    assert [("parallel(i)", False)] in paths
    assert paths.index([("parallel(i)", True)]) < paths.index([("parallel(i)", False)])


def test_places_of_their_own() -> None:
    nest = f"for (k = 0; k < 1; k++) {{ {COPY} for (j = 0; j < n; j++) for (i = 0; i < n; i++) x[i] += A[i][j]; }}"
    tree = tree_of(scop_with("parallel(i)", nest))
    assert [("any", False), ("parallel(i)", True), ("parallel(i)", True)] in scenarios(tree)
    assert [("any", False), ("parallel(i)", True)] in scenarios(tree)


def test_two_iterators_never_share_a_dimension() -> None:
    paths = scenarios(tree_of(scop_with("parallel(i,j)", COPY)))
    assert {tuple(name for name, _ in path) for path in paths} == {
        ("parallel(i)", "parallel(j)"),
        ("parallel(j)", "parallel(i)"),
    }


# --- the result -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tile", [True, False])
@pytest.mark.parametrize(
    ("clauses", "body", "missing"),
    [
        ("parallel(i) vector(j)", MATMUL, []),
        ("parallel(k)", MATMUL, ["parallel(k)"]),
        ("parallel(i)", "for (i = n; i > 0; i--) x[i] = y[i];", []),
        ("parallel(i)", "for (i = 1; i < n; i++) x[i] = x[i - 1];", ["parallel(i)"]),
        ("parallel(i)", "for (i = 0; i < n; i++) { s = y[i]; x[i] = s * s; }", []),
        # Whether i or j: one of them forks the threads.
        ("parallel(i, j)", COPY, []),
    ],
)
def test_what_the_loops_fulfil(clauses: str, body: str, missing: list[str], tile: bool) -> None:
    scop = scop_with(clauses, body)
    assert [str(d) for d in unhonoured(scop, scop.directives, generated(scop, tile=tile))] == missing


def test_tiles_on_a_diagonal_run_over_one_of_the_iterators() -> None:
    body = "for (i = 1; i < n; i++) for (j = 1; j < m; j++) A[i][j] = A[i - 1][j] + A[i][j - 1];"
    scop = scop_with("parallel(i, j)", body)
    assert unhonoured(scop, scop.directives, generated(scop)) == ()
    assert unhonoured(scop, scop.directives, generated(scop, tile=False)) == scop.directives


def test_loops_without_marks_fulfil_nothing() -> None:
    scop = scop_with("parallel(i) vector(j)", COPY)
    nest = build(scop, apply_passes(scop, dependences(scop), scop.schedule, Options(tile=False)))
    loop = nest.body.items[0]
    assert isinstance(loop, For)
    assert loop.mark.parallel
    sequential = LoopNest(
        type(nest.body)((For(loop.iterator, loop.lower, loop.upper, loop.step, loop.body, LoopMark()),))
    )
    assert [d.kind for d in unhonoured(scop, scop.directives, loops_of_nest(nest_to_schedule(scop, nest)))] == []
    assert [d.kind for d in unhonoured(scop, scop.directives, loops_of_nest(nest_to_schedule(scop, sequential)))] == [
        "parallel"
    ]


def test_wishes_count_where_their_pragmas_are_emitted() -> None:
    scop = scop_with("parallel(i) vector(j)", COPY)
    assert [d.kind for d in wishes(scop, Options())] == ["parallel", "vector"]
    assert [d.kind for d in wishes(scop, Options(parallel=False))] == ["vector"]
    assert [d.kind for d in wishes(scop, Options(simd=False))] == ["parallel"]


def test_the_member_of_a_band() -> None:
    scop = scop_with(
        "vector(i) parallel(j)", COPY.replace("i++", "i += 1").replace("i = 0; i < n; i += 1", "i = n; i > 0; i--")
    )
    outer, inner = band_nodes(scop.schedule)
    assert wished_member(scop, outer, scop.directives, "vector") == 0
    assert wished_member(scop, outer, scop.directives, "parallel") is None
    assert wished_member(scop, inner, scop.directives, "parallel") == 0


# --- why not ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("clauses", "body", "words"),
    [
        ("parallel(i)", "for (i = 1; i < n; i++) x[i] = x[i - 1];", ("flow", "'x'", "line 7", "S0[1] → S0[2]")),
        ("parallel(i)", "for (i = 1; i < n; i++) x[i] = x[i + 1];", ("anti", "'x'", "S0[1] → S0[2]")),
        ("parallel(k)", MATMUL, ("flow", "'A'", "S0[0, 0, 0] → S0[0, 0, 1]")),
        # A private scalar whose value is carried on.
        ("parallel(i)", "for (i = 1; i < n; i++) {\n s = y[i] + s;\n x[i] = s; }", ("flow", "'s'", "line 8")),
        # Of two dependences the one is named that no interchange carries elsewhere.
        (
            "vector(j)",
            "for (j = 1; j < m; j++) for (i = 1; i < n; i++) A[j][i] = A[j - 1][i - 1] + A[j - 1][i];",
            ("'A'", "S0[1, 1] → S0[2, 1]"),
        ),
    ],
)
def test_the_dependence_that_forbids(clauses: str, body: str, words: tuple[str, ...]) -> None:
    scop = scop_with(clauses, body)
    text = forbidding(scop, dependences(scop), scop.directives[0])
    assert text is not None
    assert [word for word in words if word not in text] == []


@pytest.mark.parametrize(
    ("clauses", "body"),
    [
        ("parallel(i) vector(j)", MATMUL),
        ("parallel(i)", "for (i = 0; i < n; i++) { s = y[i]; x[i] = s * s; }"),
        ("vector(j)", "for (i = 1; i < n; i++) for (j = 1; j < m; j++) A[i][j] = A[i - 1][j - 1];"),
    ],
)
def test_nothing_forbids(clauses: str, body: str) -> None:
    scop = scop_with(clauses, body)
    assert [forbidding(scop, dependences(scop), directive) for directive in scop.directives] == [None] * len(
        scop.directives
    )


def test_the_error_stands_at_the_iterator() -> None:
    scop = scop_with("vector(i)", "for (i = 1; i < n; i++) x[i] = x[i - 1];")
    assert complaint(scop, dependences(scop), scop.directives[0]).startswith(
        "in.c:6:22: error: vector(i) can't be honoured: flow dependence"
    )


def test_a_loop_of_an_opaque_statement() -> None:
    scop = scop_of(
        "for (i = 0; i < n; i++)\n if (x[i] > 0)\n#pragma scopt vector(k)\n  for (int k = 0; k < 3; k++) A[i][k] = 0;"
    )
    assert tree_of(scop) is None
    assert unhonoured(scop, scop.directives, generated(scop)) == scop.directives
    assert forbidding(scop, dependences(scop), scop.directives[0]) is not None
