"""Algorithm 1 of the constraint injection paper: schedules under influence constraint trees, and every way out where a
node is infeasible."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import islpy as isl
import pytest
from hypothesis import HealthCheck, Phase, given, settings, strategies as st

from scopt.ir.scop import Scop
from scopt.options import Options
from scopt.poly.dependences import dependences
from scopt.scheduler import get_scheduler
from scopt.scheduler.construct.separation import FusionPolicy
from scopt.scheduler.influence.influence_tree import Coefficient, InfluenceNode, InfluenceRow, InfluenceTree
from scopt.scheduler.influence.tree_files import load_tree
from scopt.scheduler.influence.vectorize import vectorize_tree
from tests.scheduler.schedules import Made, feautrier, pluto
from tests.sources import scop_of

FIG2_PARAMS = "int n, double A[100][100], double B[100][100], double C[100][100], double D[100][100][100]"
FIG2 = """for (i = 0; i < n; i++) for (k = 0; k < n; k++) B[i][k] = 2 * A[i][k] + 1;
for (i = 0; i < n; i++) for (j = 0; j < n; j++) for (k = 0; k < n; k++) C[i][j] = C[i][j] + B[i][k] * D[k][i][j];"""
FIG2_YAML = (Path(__file__).resolve().parents[2] / "examples/influence/fig2.yaml").read_text()

FREE = "for (i = 0; i < n; i++) for (j = 0; j < n; j++) A[i][j] = B[i][j];"
DOWN = "for (i = 1; i < n; i++) for (j = 0; j < n; j++) A[i][j] = A[i - 1][j];"
DIAGONAL = "for (i = 1; i < n; i++) for (j = 1; j < n; j++) A[i][j] = A[i - 1][j - 1];"
CHAIN = "for (i = 0; i < n; i++) x[i] = 1; for (i = 0; i < n; i++) y[i] = x[i];"
REVERSED = "for (i = 0; i < n; i++) x[i] = 1; for (i = 0; i < n; i++) y[i] = x[n - 1 - i];"
UNRELATED = "for (i = 0; i < n; i++) x[i] = 1; for (i = 0; i < n; i++) y[i] = 2;"


def influenced(body: str, branches: str, by: Callable[..., Made] = pluto, fusion: FusionPolicy = "max") -> Made:
    """The schedule under a tree that is given by the lines of its branches."""
    scop = scop_of(body)
    return by(scop, fusion, load_tree(f"branches:\n{branches}", "tree.yaml", scop))


# --- the running example ----------------------------------------------------------------------------------------------


def test_the_plain_scheduler_has_two_nests() -> None:
    scop = scop_of(FIG2, FIG2_PARAMS)
    root = get_scheduler("isl").schedule(scop, dependences(scop), Options()).tree.get_root()
    # As in the paper's Fig. 2b.
    assert root.child(0).get_type() == isl.schedule_node_type.sequence
    assert pluto(scop, "no").fused() == [("S0",), ("S1",)]


@pytest.mark.parametrize("fusion", ["max", "smart", "no", "typed"])
@pytest.mark.parametrize("source", ["file", "vectorize"])
def test_the_tree_of_the_running_example(source: str, fusion: FusionPolicy) -> None:
    scop = scop_of(FIG2, FIG2_PARAMS)
    tree = load_tree(FIG2_YAML, "fig2.yaml", scop) if source == "file" else vectorize_tree(scop)
    made = pluto(scop, fusion, tree)
    # As in the paper's Fig. 2c: i and k in common, i parallel, and j inside of Y.
    assert made.rows("S0")[:2] == ("i", "k")
    assert made.rows("S1")[:3] == ("i", "k", "j")
    assert made.fused() == [("S0", "S1")]
    assert made.bands()[0].coincident[0]
    assert "dropped" not in made.events


@pytest.mark.parametrize("source", ["file", "vectorize"])
def test_the_running_example_needs_no_second_choice(source: str) -> None:
    scop = scop_of(FIG2, FIG2_PARAMS)
    tree = load_tree(FIG2_YAML, "fig2.yaml", scop) if source == "file" else vectorize_tree(scop)
    events = pluto(scop, "max", tree).events
    assert "backtrack" not in events
    assert events.count("reached") == 1


# --- rows -------------------------------------------------------------------------------------------------------------


def test_a_feasible_scenario_is_followed() -> None:
    made = influenced(DOWN, '  - {name: inner first, rows: ["T[S0,0,j] = 1", "T[S0,0,i] = 0"]}')
    assert (made.rows("S0"), made.events) == (("j", "i"), ("reached",))


def test_rows_may_bound_constants_and_coefficients_from_below() -> None:
    made = influenced(FREE, '  - {name: a, rows: ["T[S0,0,1] = 3", "T[S0,0,i] >= 2"]}')
    assert (made.rows("S0")[0], made.events) == ("2i+3", ("reached",))


def test_rows_may_refer_to_outer_dimensions() -> None:
    made = influenced(
        FREE,
        """  - name: outer
    rows: ["T[S0,0,j] = 1", "T[S0,0,i] = 0"]
    children:
      - {name: inner, rows: ["T[S0,1,i] - 2*T[S0,0,j] = 0", "T[S0,1,j] - T[S0,0,i] = 0"]}""",
    )
    assert (made.rows("S0"), made.events) == (("j", "2i"), ("reached",))


@pytest.mark.parametrize("by", [pluto, feautrier])
def test_a_row_may_be_on_outer_dimensions_alone(by: Callable[..., Made]) -> None:
    made = influenced(
        FREE,
        """  - name: any
    children: [{name: if the outer one is i, rows: ["T[S0,0,i] = 2"]}]
  - {name: other, rows: ["T[S0,0,j] = 1"]}""",
        by,
    )
    assert (made.rows("S0")[0], made.events) == ("j", ("backtrack", "reached"))


def test_rows_tie_statements_that_no_dependence_joins() -> None:
    made = influenced(UNRELATED, '  - {name: a, rows: ["T[S0,0,i] - T[S1,0,i] = 1", "T[S1,0,i] >= 2"]}')
    assert (made.rows("S0"), made.rows("S1")) == (("3i",), ("2i",))


@pytest.mark.parametrize("by", [pluto, feautrier])
def test_rows_on_statements_that_nothing_joins(by: Callable[..., Made]) -> None:
    made = influenced(UNRELATED, '  - {name: a, rows: ["T[S0,0,i] = 1", "T[S1,0,i] = 2"]}', by)
    assert (made.rows("S0")[0], made.rows("S1")[0]) == ("i", "2i")


@pytest.mark.parametrize("by", [pluto, feautrier])
def test_a_parallel_node_is_a_loop_that_carries_nothing(by: Callable[..., Made]) -> None:
    made = influenced(DOWN, "  - {name: a, parallel: true}", by)
    assert (made.rows("S0"), made.events) == (("j", "i"), ("reached",))
    assert made.bands()[0].coincident[0]


def test_feautrier_follows_rows() -> None:
    made = influenced(DIAGONAL, '  - {name: a, rows: ["T[S0,0,i] = 0"]}', feautrier)
    assert (made.rows("S0"), made.events) == (("j", "i"), ("reached",))


# --- ways out ---------------------------------------------------------------------------------------------------------


def test_the_right_sibling_is_next() -> None:
    made = influenced(
        DOWN,
        """  - {name: backwards, rows: ["T[S0,0,i] = -1"]}
  - {name: carried, parallel: true, rows: ["T[S0,0,i] = 1"]}
  - {name: possible, rows: ["T[S0,0,i] = 1"]}""",
    )
    assert (made.rows("S0"), made.events) == (("i", "j"), ("sibling", "sibling", "reached"))


# j backwards: not permutable with i, but fine within a band of its own since i carries the dependence.
BACKWARDS_INSIDE = """  - name: outer
    rows: ["T[S0,0,i] = 1", "T[S0,0,j] = 0"]
    children:
      - {name: inner, rows: ["T[S0,1,j] = -1", "T[S0,1,i] = 0"], permutable: %s}"""


def without_progression(made: Made) -> tuple[str, ...]:
    """Events of searches where dropping progression is tried on the way."""
    return tuple(event for event in made.events if event != "progression")


def test_carried_dependences_are_dropped() -> None:
    made = influenced(DIAGONAL, BACKWARDS_INSIDE % "false")
    assert made.rows("S0") == ("i", "-j")
    assert without_progression(made) == ("carried", "reached")
    assert [len(band.coincident) for band in made.bands()] == [1, 1]


def test_a_permutable_node_keeps_them() -> None:
    made = influenced(DIAGONAL, BACKWARDS_INSIDE % "true")
    assert without_progression(made) == ("dropped",)
    assert made.rows("S0") == pluto(scop_of(DIAGONAL)).rows("S0")


def test_progression_is_only_said_to_be_dropped_where_that_helps() -> None:
    assert "progression" not in influenced(DIAGONAL, BACKWARDS_INSIDE % "true").events


def test_the_closest_ancestors_sibling_is_next() -> None:
    made = influenced(
        DIAGONAL,
        BACKWARDS_INSIDE % "true"
        + """
  - name: other
    rows: ["T[S0,0,j] = 1", "T[S0,0,i] = 0"]
    children:
      - {name: inner, permutable: true, rows: ["T[S0,1,i] = 1", "T[S0,1,j] = 0"]}""",
    )
    assert made.rows("S0") == ("j", "i")
    assert without_progression(made) == ("backtrack", "reached")


def test_siblings_come_before_ancestors() -> None:
    made = influenced(
        DIAGONAL,
        """  - {name: backwards, rows: ["T[S0,0,i] = -1", "T[S0,0,j] = 0"]}
"""
        + BACKWARDS_INSIDE % "true"
        + """
      - {name: forwards, permutable: true, rows: ["T[S0,1,j] = 1", "T[S0,1,i] = 0"]}
  - {name: last, rows: ["T[S0,0,j] = 1"]}""",
    )
    assert made.rows("S0") == ("i", "j")
    assert without_progression(made) == ("sibling", "sibling", "reached")


def test_strongly_connected_components_are_cut_apart() -> None:
    made = influenced(REVERSED, '  - {name: a, rows: ["T[S0,0,i] = 1", "T[S1,0,i] = 1"]}')
    assert (made.rows("S0"), made.rows("S1")) == (("[0]", "i"), ("[1]", "i"))
    assert made.events[0] == "cut"


def test_rows_that_do_not_hold_are_not_said_to_hold() -> None:
    made = influenced(REVERSED, '  - {name: a, rows: ["T[S0,0,i] = 2", "T[S1,0,i] = 2"]}')
    held = "2i" in made.rows("S0") and "2i" in made.rows("S1")
    assert held == ("reached" in made.events)


def test_what_is_left_at_a_leaf_is_cut() -> None:
    made = influenced(CHAIN, '  - {name: a, rows: ["T[S0,0,i] = 1", "T[S1,0,i] = 1"]}')
    assert (made.rows("S0"), made.rows("S1")) == (("i", "[0]"), ("i", "[1]"))
    assert made.events == ("reached", "cut")


def test_a_cut_at_a_leaf_comes_before_another_scenario() -> None:
    made = influenced(
        CHAIN,
        """  - {name: best, rows: ["T[S0,0,i] = 1", "T[S1,0,i] = 1"]}
  - {name: second, rows: ["T[S0,0,i] = 1", "T[S1,0,i] = 2"]}""",
    )
    assert (made.rows("S0"), made.rows("S1")) == (("i", "[0]"), ("i", "[1]"))
    assert made.events == ("reached", "cut")


def test_progression_is_dropped_where_no_dependence_is_left() -> None:
    made = influenced(
        FREE,
        """  - name: one loop
    rows: ["T[S0,0,i] = 1", "T[S0,0,j] = 0"]
    children:
      - name: the same once more
        rows: ["T[S0,1,i] = 1", "T[S0,1,j] = 0"]
        children:
          - {name: the other, rows: ["T[S0,2,j] = 1"]}""",
    )
    assert (made.rows("S0"), made.events) == (("i", "i", "j"), ("progression", "reached"))


def test_progression_is_kept_where_dependences_are_left() -> None:
    made = influenced(DOWN, '  - {name: nothing, rows: ["T[S0,0,i] = 0", "T[S0,0,j] = 0"]}')
    assert made.events == ("dropped",)


def test_without_a_feasible_scenario_there_is_no_influence() -> None:
    made = influenced(DOWN, '  - {name: backwards, rows: ["T[S0,0,i] = -1", "T[S0,0,j] = 0"]}')
    assert made.events == ("dropped",)
    assert made.rows("S0") == pluto(scop_of(DOWN)).rows("S0")


@pytest.mark.parametrize("by", [pluto, feautrier])
def test_a_row_about_one_statement_may_have_an_outer_coefficient_of_another(by: Callable[..., Made]) -> None:
    scop = scop_of(
        "for (i = 1; i < n; i++) for (j = 1; j < n; j++) A[i][j] = A[i - 1][j - 1];\n"
        "for (i = 1; i < n; i++) for (j = 1; j < n; j++) B[i][j] = B[i - 1][j - 1];"
    )
    below = 'branches: [{name: a, rows: ["T[S1,0,i] >= 1"], children: [{name: b, rows: ["T[S0,1,j] = T[S1,0,i]"]}]}]'
    made = by(scop, "max", load_tree(below, "tree.yaml", scop))
    assert made.events == ("reached",)
    assert made.rows("S0")[1] == "j"


def test_remarks_come_with_the_schedulers_result() -> None:
    scop = scop_of(DOWN)
    tree = load_tree('branches: [{name: a, rows: ["T[S0,0,j] = 1"]}]', "tree.yaml", scop)
    for name in ("pluto", "feautrier"):
        result = get_scheduler(name).schedule(scop, dependences(scop), Options(), tree)
        assert [remark.id for remark in result.remarks] == ["influence.reached"]
        assert {remark.location for remark in result.remarks} == {scop.location}


# --- random trees -----------------------------------------------------------------------------------------------------


@st.composite
def influence_rows(draw: st.DrawFn, depth: int) -> InfluenceRow:
    """A row over the two statements' coefficients of the dimensions up to `depth`."""
    names = st.tuples(st.sampled_from(("S0", "S1")), st.integers(0, depth), st.sampled_from(("i", "j", "1")))
    chosen = draw(st.lists(names, min_size=1, max_size=2, unique=True))
    terms = tuple((draw(st.sampled_from((1, -1, 2))), Coefficient(*name)) for name in chosen)
    return InfluenceRow(terms, draw(st.sampled_from((0, -1, 1))), draw(st.sampled_from(("=", ">="))))


@st.composite
def influence_nodes(draw: st.DrawFn, depth: int = 0) -> tuple[InfluenceNode, ...]:
    """Up to two siblings with up to two rows each, and their children down to dimension 2."""
    siblings = draw(st.integers(1 if depth == 0 else 0, 2)) if depth < 3 else 0
    return tuple(
        InfluenceNode(
            f"{depth}.{place}",
            tuple(draw(st.lists(influence_rows(depth), max_size=2))),
            draw(st.booleans()),
            draw(st.booleans()),
            draw(influence_nodes(depth + 1)),
        )
        for place in range(siblings)
    )


TWO_STATEMENTS = (
    "for (i = 1; i < n; i++) for (j = 1; j < n; j++) { A[i][j] = A[i - 1][j - 1] + B[i - 1][j]; B[i][j] = A[i][j]; }",
    "for (i = 1; i < n; i++) for (j = 1; j < n; j++) A[i][j] = A[i - 1][j];\n"
    "for (i = 1; i < n; i++) for (j = 1; j < n; j++) B[i][j] = A[j][n - i];",
)


@pytest.mark.parametrize("by", [pluto, feautrier])
def test_no_tree_makes_a_schedule_illegal(by: Callable[..., Made]) -> None:
    scops = [scop_of(body) for body in TWO_STATEMENTS]

    @settings(
        max_examples=25,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.sampled_from(scops), influence_nodes())
    def check(scop: Scop, branches: tuple[InfluenceNode, ...]) -> None:
        by(scop, "max", InfluenceTree(branches))

    check()
