"""The schedule space of the polygym paper's example, step by step: sections II and IV, figures 5 and 6, and the kernel
at the end of section IV-B."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from msgspec.structs import replace

from scopt.options import Options
from scopt.pipeline import optimize
from scopt.poly.generators import Row
from scopt.poly.isl_utils import block_style
from scopt.poly.legality import check_order
from scopt.scheduler.space.construction import ConstructionAction, ConstructionMDP, ConstructionState
from scopt.scheduler.space.exploration import ExplorationMDP, ExplorationState, ScheduleSpace
from scopt.scheduler.space.matrix import carries, schedule_of_rows
from scopt.scheduler.space.polytope import Polytope, Polytopes
from tests.conftest import RunC
from tests.scheduler.spaces import executed, instance_count, matrix_date, snippet

# Statements S and T of section II: S0 and S1 here.
BODY = """for (i = 0; i < n; i++)
  y[i] = 0;
for (i = 0; i < n; i++)
  for (j = 0; j < n; j++)
    y[i] += A[i][j] * x[j];"""
PARAMS = "int n, double A[100][100], double *restrict x, double *restrict y"
CASE = snippet(BODY, PARAMS)
POLYTOPES = Polytopes(CASE.problem)
CONSTRUCTION = ConstructionMDP(POLYTOPES)

NEXT_DIM, NEXT_DEP, SELECT_DEP = ConstructionAction


def states(*actions: ConstructionAction, start: ConstructionState | None = None) -> list[tuple[int, ...]]:
    """The states that actions lead through, as the paper writes them, the first one included."""
    state = start or CONSTRUCTION.initial()
    found = [(state.dim, state.dep, *state.carried)]
    for action in actions:
        following = state.successor(action)
        assert following is not None
        state = following
        found.append((state.dim, state.dep, *state.carried))
    return found


# --- the space (section II) -------------------------------------------------------------------------------------------


def test_points_have_the_papers_seven_columns() -> None:
    assert CASE.problem.columns == ("S0.i", "S1.i", "S1.j", "S0.n", "S1.n", "S0.1", "S1.1")


def test_the_dependences_are_the_papers_in_its_order() -> None:
    assert [(d.number, d.source, d.sink) for d in CASE.problem.dependences] == [(1, "S0", "S1"), (2, "S1", "S1")]


# --- figure 5 ---------------------------------------------------------------------------------------------------------


def test_figure_5() -> None:
    run = (NEXT_DIM, NEXT_DEP, NEXT_DIM, NEXT_DEP, NEXT_DEP, SELECT_DEP, NEXT_DIM, NEXT_DEP, SELECT_DEP)
    assert states(*run) == [
        (1, 1, 0, 0),
        (2, 1, 0, 0),
        (2, 2, 0, 0),
        (3, 2, 0, 0),
        (3, 1, 0, 0),
        (3, 2, 0, 0),
        (3, 2, 0, 3),
        (4, 2, 0, 3),
        (4, 1, 0, 3),
        (4, 1, 4, 3),
    ]


# What the state (4, 1, 4, 3) stands for depends on the order of the dependences. The text sorts them S → T, T → T,
# which makes d_1 = 4 the dimension of S → T; but it says that the third dimension carries S → T and the fourth T → T,
# and its generators and p4 are those of such a space. They are the state's if T → T comes first. With our dependences,
# which are in the text's order, it is
# the state (4, ·, 3, 4).
FIGURE_5 = (4, 3)
ACCEPTING = ConstructionState(4, 2, FIGURE_5[::-1])


def test_the_end_of_figure_5_is_accepting_and_valid() -> None:
    for state in (ConstructionState(4, 1, FIGURE_5), ACCEPTING):
        assert state.is_accepting
        assert not CONSTRUCTION.is_invalid(state)
        assert not CONSTRUCTION.space(state).is_empty


def test_generators_of_the_four_dimensions() -> None:
    space = CONSTRUCTION.space(ACCEPTING)
    assert [len(polytope.rays) for polytope in space.polytopes] == [10, 10, 10, 13]
    assert space.counts == (10, 10, 10, 13)
    # One vertex each: in the last dimension nothing connects the two statements any more, and each has one of its own,
    # which add up to the paper's.
    assert [vertices(polytope) for polytope in space.polytopes] == [
        (0,) * 7,
        (0,) * 7,
        (0, 0, 0, 0, 0, -1, 0),
        (0, 0, 1, 0, 0, 0, 0),
    ]


def test_the_state_of_figure_5_has_these_generators_if_T_to_T_is_the_first_dependence() -> None:
    first, second = CASE.problem.dependences
    swapped = replace(CASE.problem, dependences=(replace(second, number=1), replace(first, number=2)))
    state = ConstructionState(4, 1, FIGURE_5)
    assert ConstructionMDP(Polytopes(swapped)).space(state) == CONSTRUCTION.space(ACCEPTING)
    # In the text's order the last dimension carries S → T, and T's j is free in it.
    assert CONSTRUCTION.space(state).counts == (10, 10, 10, 11)


def vertices(polytope: Polytope) -> Row:
    """The only point that is a combination of vertices alone."""
    assert len(set(polytope.groups)) == len(polytope.groups)
    total = tuple(sum(column, Fraction(0)) for column in zip(*polytope.vertices, strict=True))
    assert all(value.denominator == 1 for value in total)
    return tuple(map(int, total))


# --- transition rules (section IV-A) ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param((1, 1, 0, 0, 0), (1, 2, 0, 0, 0), id="the next one"),
        pytest.param((1, 1, 0, 1, 0), (1, 3, 0, 1, 0), id="carried ones are skipped"),
        pytest.param((1, 3, 0, 0, 0), (1, 1, 0, 0, 0), id="from the last one to the first"),
        pytest.param((2, 3, 1, 0, 2), (2, 2, 1, 0, 2), id="to the first one that is uncarried"),
        pytest.param((1, 2, 1, 0, 1), (1, 2, 1, 0, 1), id="to itself if it is the only one"),
    ],
)
def test_next_dep(before: tuple[int, ...], after: tuple[int, ...]) -> None:
    assert states(NEXT_DEP, start=ConstructionState(before[0], before[1], before[2:]))[-1] == after


def test_next_dep_has_nowhere_to_go_once_all_are_carried() -> None:
    assert ACCEPTING.successor(NEXT_DEP) is None


def test_to_select_a_dependence_twice_has_probability_0() -> None:
    once = CONSTRUCTION.initial().successor(SELECT_DEP)
    assert once == ConstructionState(1, 1, (1, 0))
    assert once.successor(SELECT_DEP) is None
    later = once.successor(NEXT_DIM)
    assert later is not None
    assert later.successor(SELECT_DEP) is None


def test_next_dim_changes_nothing_else() -> None:
    assert ConstructionState(2, 2, (1, 0)).successor(NEXT_DIM) == ConstructionState(3, 2, (1, 0))


@pytest.mark.parametrize(
    ("carried", "accepting"), [((0, 0), False), ((1, 0), False), ((0, 2), False), ((1, 1), True), ((2, 1), True)]
)
def test_accepting_states(carried: tuple[int, int], *, accepting: bool) -> None:
    assert ConstructionState(2, 1, carried).is_accepting == accepting


def test_a_space_without_dependences_is_accepting_from_the_start() -> None:
    case = snippet("for (i = 0; i < n; i++) x[i] = i;", "int n, double *x")
    state = ConstructionMDP(Polytopes(case.problem)).initial()
    assert state.is_accepting
    assert state.successor(SELECT_DEP) is None


def test_an_incomplete_state_has_no_space() -> None:
    with pytest.raises(ValueError, match="complete"):
        CONSTRUCTION.space(ConstructionState(1, 1, (1, 0)))


def test_an_empty_polytope_is_invalid() -> None:
    case = snippet(
        """for (i = 0; i < n; i++)
  for (j = 0; j < n; j++)
    y[0] = y[0] * x[j];""",
        "int n, double *x, double *y",
    )
    # One after the other in n² steps: no affine function of i and j counts them, if n isn't known.
    mdp = ConstructionMDP(Polytopes(case.problem))
    assert len(case.problem.dependences) == 2
    both = ConstructionState(1, 1, (1, 1))
    assert both.is_accepting
    assert mdp.is_invalid(both)
    space = mdp.space(both)
    assert space.is_empty
    assert space.counts == (0,)
    assert space.points(()) is None
    # It is the last selection that isn't allowed.
    before = ConstructionState(1, 2, (1, 0))
    assert not mdp.is_invalid(before)
    assert mdp.allowed(before) == (True, False, False)


# --- figure 6 ---------------------------------------------------------------------------------------------------------

# The action list of figure 6, by dimension: which ray each coefficient
# belongs to isn't said but for those of p1 and p4.
ACTIONS = (
    (0, 0, 0, 0, 0, 2, 2, 1, 0, 2),
    (0, 0, 0, 0, 2, 0, 0, 1, 0, 2),
    (0, 0, 0, 1, 0, 2, 0, 0, 0, 0),
    (0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
)
# Our rays are in another order. Of the paper's, those of p1 are the 6th, 7th, 8th and 10th; T's j is the third one of
# dimension 4.
#
# Its text contradicts itself: the sum that it prints for p1,
#   0 + 1·(0,0,0,0,0,-1,0) + 2·(0,0,0,0,0,-1,-1) + 2·(0,0,0,-1,-1,0,0) + 1·(-1,-1,0,0,0,0,0) = (-1,-1,0,-2,-2,-3,-1),
# is (-1,-1,0,-2,-2,-3,-2), and the action list has the coefficients 2, 2, 1 and 2. With the rays in the order below the
# list's point has the printed parameter coefficients and constants, (-2,-2,-3,-1), and the printed kernel comes of it;
# with the printed p1, which is legal too, S(i) has the date of T(i + 2, ·) in place of T(i + 1, ·).
RAYS: tuple[Row, ...] = (
    (1, 1, 0, 0, 0, 0, 0),
    (0, 0, 1, 0, 0, 0, 0),
    (1, 0, 0, -1, 0, 1, 0),
    (-1, 0, 0, 0, 0, 0, 0),
    (0, 0, 0, 1, 1, 0, 0),
    (0, 0, 0, 0, 0, -1, 0),
    (0, 0, 0, -1, -1, 0, 0),
    (0, 0, 0, 0, 0, -1, -1),
    (0, 0, 0, 0, 0, 1, 1),
    (-1, -1, 0, 0, 0, 0, 0),
)
PRINTED_P1 = (-1, -1, 0, -2, -2, -3, -1)
POINTS = (
    (-2, -2, 0, -2, -2, -3, -1),
    (-2, -2, 0, 2, 2, -1, -1),
    (-1, 0, 0, 0, 0, -3, 0),
    (0, 0, 3, 0, 0, 0, 0),
)


def space_of_figure_6() -> ScheduleSpace:
    return CONSTRUCTION.space(ACCEPTING)


def coefficients() -> tuple[int, ...]:
    """The action list in the order of our generators."""
    space = space_of_figure_6()
    chosen: list[int] = []
    for polytope, actions in zip(space.polytopes[:3], ACTIONS, strict=False):
        wanted = dict(zip(RAYS, actions, strict=True))
        assert {slot.generator for slot in polytope.slots} == set(RAYS)
        chosen += [wanted[tuple(map(int, slot.generator))] for slot in polytope.slots]
    return (*chosen, *(2 * int(slot.generator == RAYS[1]) for slot in space.polytopes[3].slots))


def test_figure_6() -> None:
    assert sorted(coefficients()) == sorted(action for actions in ACTIONS for action in actions)
    mdp = ExplorationMDP(space_of_figure_6(), 2)
    state = mdp.initial()
    assert state == ExplorationState((None,) * 43)
    for count, action in enumerate(coefficients()):
        assert not state.is_complete
        assert state.position == count
        assert mdp.allowed(state) == (True, True, True)
        state = state.successor(action)
        assert state.coefficients == (*coefficients()[: count + 1], *[None] * (42 - count))
    assert state.is_complete
    assert mdp.allowed(state) == (False, False, False)
    assert not mdp.is_invalid(state)
    assert mdp.space.points(coefficients()) == POINTS


def test_no_action_leads_on_from_a_complete_state() -> None:
    with pytest.raises(ValueError, match="selected"):
        ExplorationState((1, 0)).successor(0)


def test_bottom_is_not_0() -> None:
    assert ExplorationState((None, None)).position == 0
    assert ExplorationState((0, None)).position == 1
    assert not ExplorationState((0, None)).is_complete
    assert ExplorationState((0, 0)).is_complete


def test_the_list_of_coefficients_has_to_be_complete() -> None:
    with pytest.raises(ValueError, match="43"):
        space_of_figure_6().points(coefficients()[:-1])


def test_places_of_coefficients() -> None:
    space = space_of_figure_6()
    assert [space.place(k) for k in (0, 9, 10, 29, 30, 42)] == [(0, 0), (0, 9), (1, 0), (2, 9), (3, 0), (3, 12)]
    with pytest.raises(IndexError):
        space.place(43)


@pytest.mark.parametrize(
    "point", [PRINTED_P1, POINTS[0], (-1, -1, 0, -2, -2, -3, -2)], ids=["printed", "the list's", "the printed sum"]
)
def test_all_readings_of_p1_are_legal(point: Row) -> None:
    assert carries(CASE.problem, point, CASE.problem.numbers()) == (frozenset({1}), frozenset())


def test_all_vertex_coefficients_0_are_invalid() -> None:
    two = Polytope(2, ((Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))), (0, 0), ((1, 1),))
    mdp = ExplorationMDP(ScheduleSpace((two,)), 2)
    state = mdp.initial()
    assert mdp.allowed(state) == (True, True, True)
    once = state.successor(0)
    # Where the other one is 0 already, only this one makes it a convex combination.
    assert mdp.allowed(once) == (False, True, True)
    assert mdp.allowed(state.successor(1)) == (True, True, True)
    assert not mdp.is_invalid(once)
    assert mdp.is_invalid(once.successor(0))
    assert mdp.is_invalid(once.successor(0).successor(2))
    assert not mdp.is_invalid(once.successor(1))
    assert mdp.space.points((0, 0, 2)) is None
    assert mdp.space.points((0, 1, 2)) == ((2, 3),)


# --- the kernel -------------------------------------------------------------------------------------------------------

PRINTED = """int k, l;
if (n >= 1)
  for (k = -n; k <= 0; k += 1) {
    if (n + k >= 1)
      for (l = 0; l < n; l += 1)
        y[-k] += A[-k][l] * x[l];
    if (k <= -1)
      y[-k - 1] = 0;
  }"""


def printed_order(n: int) -> list[tuple[str, tuple[int, ...]]]:
    """The instances in the order in which the paper's kernel executes them."""
    order: list[tuple[str, tuple[int, ...]]] = []
    for k in range(-n, 1):
        if n + k >= 1:
            order += [("S1", (-k, l)) for l in range(n)]  # noqa: E741
        if k <= -1:
            order.append(("S0", (-k - 1,)))
    return order


@pytest.mark.parametrize("first", [POINTS[0], PRINTED_P1])
@pytest.mark.parametrize("n", [1, 2, 4])
def test_the_matrix_runs_the_instances_in_the_printed_order(n: int, first: Row) -> None:
    rows = (first, *POINTS[1:])
    tree = schedule_of_rows(CASE.problem, rows)
    check_order(CASE.scop, CASE.deps, tree.get_map())
    order = [instance for _, instance in executed(CASE, tree, {"n": n})]
    assert len(order) == instance_count(CASE, {"n": n}) == n * n + n
    dates = [matrix_date(CASE.problem, rows, instance, {"n": n}) for instance in order]
    assert dates == sorted(dates)
    assert len(set(dates)) == len(dates)
    if first != PRINTED_P1:
        assert order == printed_order(n)


def program(body: str, before: str = "") -> str:
    return f"""#include <stdio.h>
static double A[100][100], x[100], y[100];
{before}
static void f({PARAMS}) {{
  int i, j;
{body}
}}
int main(void) {{
  for (int n = 1; n <= 6; n++) {{
    for (int i = 0; i < 100; i++) {{
      x[i] = 1.0 / (i + 3);
      y[i] = -1;
      for (int j = 0; j < 100; j++) A[i][j] = 0.1 * i - 1.0 / (j + 1);
    }}
    f(n, A, x, y);
    for (int i = 0; i <= n; i++) printf("%a ", y[i]);
  }}
  return 0;
}}
"""


def test_the_printed_kernel(tmp_path: Path, run_c: RunC) -> None:
    file = tmp_path / "schedule.yaml"
    file.write_text("---\n" + block_style(str(schedule_of_rows(CASE.problem, POINTS))) + "\n")
    source = program(f"#pragma scop\n{BODY}\n#pragma endscop")
    result = optimize(source, Options(schedule_file=str(file), tile=False, parallel=False, simd=False))
    assert result.regions[0].transformed
    text = result.text.decode()
    kernel = text[text.index("static void f(") : text.index("int main")]
    # One loop around everything, and T's j loop in it, before S.
    assert kernel.count("for (") == 2
    assert kernel.index("for (") < kernel.rindex("for (") < kernel.index("+=") < kernel.index("] = 0;")
    expected = run_c(program(BODY), name="original")
    assert run_c(text, name="transformed") == expected
    assert run_c(program(PRINTED), name="printed") == expected
