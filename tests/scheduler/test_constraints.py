"""Constraint builders: the rows they make let known good schedule rows pass, and no bad ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from msgspec.structs import replace

from scopt.ir.scop import DependenceKind
from scopt.poly.dependences import dependences
from scopt.poly.ilp import lexmin
from scopt.scheduler.constraints.coincidence import coincident
from scopt.scheduler.constraints.contiguity import small
from scopt.scheduler.constraints.edges import edges_of
from scopt.scheduler.constraints.feautrier_rows import carrying, early
from scopt.scheduler.constraints.influence_rows import constants_hold, coupled, injected
from scopt.scheduler.constraints.progression import complete, orthogonal_complement, progressing, progressing_in_sizes
from scopt.scheduler.constraints.proximity import ProximityForm, bounded
from scopt.scheduler.constraints.scheduling_problem import Bounds, Draft, Row, Rows, Step, statement_spaces
from scopt.scheduler.constraints.validity import strongly, weakly
from scopt.scheduler.influence.influence_tree import CONSTANT, Coefficient, InfluenceRow, equals
from tests.sources import scop_of

# Two statements of one loop, the second reads what the first has written one iteration earlier.
# Rows are over (i, n, 1).
PIPELINE = "for (i = 1; i < n; i++) { x[i] = i; y[i] = x[i - 1]; }"
# A dependence on itself with distance (1, -1), rows over (i, j, n, 1).
SKEWED = "for (i = 1; i < n; i++) for (j = 0; j < n; j++) A[i][j] = A[i - 1][j + 1];"
MATVEC = "for (i = 0; i < n; i++) for (j = 0; j < n; j++) x[i] = x[i] + A[i][j] * y[j];"


def step_of(body: str, kinds: Sequence[DependenceKind] = ("flow",), outer: Sequence[Rows] = ()) -> Step:
    scop = scop_of(body)
    spaces = statement_spaces(scop)
    edges = edges_of(scop, dependences(scop, inputs="input" in kinds).select(*kinds))
    return Step(spaces, tuple(spaces), edges, edges, outer=tuple(outer))


def draft_of(step: Step, **bounds: bool | int) -> Draft:
    draft = Draft(step.spaces, replace(Bounds(), **bounds))  # type: ignore[arg-type]
    for name in step.statements:
        draft.add_statement(name)
    return draft


def fixed(draft: Draft, rows: Mapping[str, Row]) -> Draft:
    """The draft with these schedule rows."""
    for name, row in rows.items():
        for position, value in enumerate(row):
            draft.require({draft.coefficient(name, position): 1}, -value, equality=True)
    return draft


def accepts(draft: Draft, **rows: Row) -> bool:
    """Whether the draft, which is left as it was, has a solution with these schedule rows."""
    trial = Draft(
        draft.spaces,
        draft.bounds,
        list(draft.columns),
        dict(draft.rows),
        [],
        dict(draft._first),
        dict(draft._magnitudes),
    )
    return lexmin(fixed(trial, rows).program()) is not None


def least(draft: Draft, **rows: Row) -> dict[str, int]:
    """Values of the columns by name, at the minimum with these schedule rows."""
    point = lexmin(fixed(draft, rows).program())
    assert point is not None
    return {column.name: value for column, value in zip(draft.columns, point, strict=True)}


# --- validity and coincidence -----------------------------------------------------------------------------------------


def test_weakly_satisfied() -> None:
    step = step_of(PIPELINE)
    draft = draft_of(step, negative=True)
    weakly(draft, step.edges)
    assert accepts(draft, S0=(1, 0, 0), S1=(1, 0, 0))
    assert accepts(draft, S0=(1, 0, 1), S1=(1, 0, 0))
    assert accepts(draft, S0=(0, 0, 0), S1=(0, 0, 0))
    assert not accepts(draft, S0=(1, 0, 2), S1=(1, 0, 0))
    assert not accepts(draft, S0=(-1, 0, 0), S1=(-1, 0, 0))
    assert not accepts(draft, S0=(1, 0, 0), S1=(0, 0, 5))


def test_strongly_satisfied() -> None:
    step = step_of(PIPELINE)
    draft = draft_of(step, negative=True)
    strongly(draft, step.edges)
    assert accepts(draft, S0=(1, 0, 0), S1=(1, 0, 0))
    assert accepts(draft, S0=(0, 0, 0), S1=(0, 0, 1))
    assert not accepts(draft, S0=(1, 0, 1), S1=(1, 0, 0))
    assert not accepts(draft, S0=(0, 0, 0), S1=(0, 0, 0))


def test_coincident() -> None:
    step = step_of(PIPELINE)
    draft = draft_of(step)
    coincident(draft, step.edges)
    assert accepts(draft, S0=(1, 0, 1), S1=(1, 0, 0))
    assert not accepts(draft, S0=(1, 0, 0), S1=(1, 0, 0))


def test_a_skew_makes_a_negative_distance_legal() -> None:
    step = step_of(SKEWED)
    draft = draft_of(step, negative=True)
    weakly(draft, step.edges)
    assert [accepts(draft, S0=row) for row in ((1, 0, 0, 0), (1, 1, 0, 0), (2, 1, 0, 0), (0, -1, 0, 0))] == [True] * 4
    assert [accepts(draft, S0=row) for row in ((0, 1, 0, 0), (1, 2, 0, 0), (-1, 0, 0, 0))] == [False] * 3


# --- progression ------------------------------------------------------------------------------------------------------


def test_orthogonal_complement() -> None:
    assert len(orthogonal_complement([], 3)) == 3
    (only,) = orthogonal_complement([(1, 1, 0), (0, 0, 1)], 3)
    assert only in ((1, -1, 0), (-1, 1, 0))
    assert orthogonal_complement([(1, 0), (1, 1)], 2) == []


@pytest.mark.parametrize("negative", [False, True])
def test_progression_from_the_outside(negative: bool) -> None:
    step = step_of(MATVEC)
    draft = draft_of(step, negative=negative)
    progressing(draft, step)
    assert accepts(draft, S0=(1, 0, 0, 0))
    assert accepts(draft, S0=(0, 2, 0, 0))
    assert not accepts(draft, S0=(0, 0, 0, 3))


def test_progression_needs_what_outer_rows_lack() -> None:
    step = step_of(MATVEC, outer=[{"S0": (1, 1, 0, 0)}])
    draft = draft_of(step, negative=True)
    progressing(draft, step)
    # H⊥ of (1, 1) is (1, -1): a sign has to be chosen.
    assert [accepts(draft, S0=row) for row in ((1, 0, 0, 0), (0, 1, 0, 0), (1, -1, 0, 0), (-2, 1, 0, 0))] == [True] * 4
    assert [accepts(draft, S0=row) for row in ((0, 0, 0, 0), (2, 2, 0, 0), (-1, -1, 0, 7))] == [False] * 3


def test_progression_with_signs_in_the_complement_alone() -> None:
    """The unknowns are non-negative, H⊥ isn't: both sides of the diagonal stay open."""
    step = step_of(MATVEC, outer=[{"S0": (1, 1, 0, 0)}])
    draft = draft_of(step)
    progressing(draft, step)
    assert accepts(draft, S0=(1, 0, 0, 0))
    assert accepts(draft, S0=(0, 1, 0, 0))
    assert not accepts(draft, S0=(3, 3, 0, 0))


def test_progression_in_sizes_follows() -> None:
    """What may be taken stays: only the bound that a solver starts from changes."""
    step = step_of(MATVEC, outer=[{"S0": (1, 1, 0, 0)}])
    draft = draft_of(step, negative=True)
    progressing(draft, step)
    progressing_in_sizes(draft, step)
    assert all(accepts(draft, S0=row) for row in ((1, 0, 0, 0), (0, 1, 0, 0), (1, -1, 0, 0), (-2, 1, 0, 0)))
    assert not accepts(draft, S0=(0, 0, 0, 3))


def test_extreme_coefficients_progress() -> None:
    """The big-M constraints of the choice that isn't taken must not bind."""
    step = step_of(MATVEC, outer=[{"S0": (1, 1, 0, 0)}])
    draft = draft_of(step, negative=True, coefficient=4)
    progressing(draft, step)
    assert accepts(draft, S0=(4, -4, 0, 0))
    assert accepts(draft, S0=(-4, 4, 0, 0))


def test_completeness() -> None:
    assert not complete(step_of(MATVEC), "S0")
    assert not complete(step_of(MATVEC, outer=[{"S0": (1, 1, 0, 0)}, {"S0": (2, 2, 0, 1)}]), "S0")
    assert complete(step_of(MATVEC, outer=[{"S0": (1, 1, 0, 0)}, {"S0": (0, 1, 0, 0)}]), "S0")
    # What the domain fixes anyway needs no dimension.
    assert complete(
        step_of("for (i = 0; i < n; i++) for (j = i; j <= i; j++) A[i][j] = 0;", outer=[{"S0": (1, 0, 0, 0)}]), "S0"
    )


# --- proximity --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "sink", "u", "w"),
    [
        ((1, 0, 0), (1, 0, 0), 0, 1),
        ((1, 0, 1), (1, 0, 0), 0, 0),
        ((1, 0, 0), (2, 0, 0), 1, 0),
        ((1, 0, 0), (1, 0, 9), 0, 10),
    ],
)
@pytest.mark.parametrize("form", ["pluto", "isl"])
def test_reuse_distances(form: ProximityForm, source: Row, sink: Row, u: int, w: int) -> None:
    """The pairs are i → i + 1 with 1 <= i <= n - 2."""
    step = step_of(PIPELINE)
    draft = draft_of(step)
    bounded(draft, step.edges, ("n",), form)
    found = least(draft, S0=source, S1=sink)
    assert (found["u[n]"], found["w"]) == (u, w)


@pytest.mark.parametrize(("form", "slopes"), [("pluto", (0, 2)), ("isl", (1, 0))])
def test_pluto_wants_the_first_slope_least_and_isl_the_sum(form: ProximityForm, slopes: tuple[int, int]) -> None:
    """The distance is i, which is less than n and than 2m: n or 2m bound it."""
    step = step_of("for (i = 0; i < n; i++) x[i] = 0; for (i = 0; i < 2 * m; i++) y[i] = x[i];")
    assert step.spaces["S0"].parameters == ("n", "m")
    draft = draft_of(step)
    bounded(draft, step.edges, ("n", "m"), form)
    found = least(draft, S0=(0, 0, 0, 0), S1=(1, 0, 0, 0))
    assert (found["u[n]"], found["u[m]"]) == slopes


def test_input_dependences_are_bounded_in_both_directions() -> None:
    step = step_of("for (i = 0; i < n; i++) { x[i] = A[i][0]; y[i] = A[i][0]; }", kinds=("input",))
    draft = draft_of(step)
    bounded(draft, step.edges, ("n",), "isl")
    assert least(draft, S0=(1, 0, 5), S1=(1, 0, 0))["w"] == 5


# --- Feautrier --------------------------------------------------------------------------------------------------------


def carried(body: str, **rows: Row) -> list[int]:
    """e of each edge."""
    step = step_of(body)
    draft = draft_of(step, negative=True, parametric=True)
    carrying(draft, step.remaining)
    found = least(draft, **rows)
    return [found[f"e[{edge.number}]"] for edge in step.remaining]


def test_carried_edges() -> None:
    assert carried(PIPELINE, S0=(1, 0, 0), S1=(1, 0, 0)) == [1]
    assert carried(PIPELINE, S0=(1, 0, 1), S1=(1, 0, 0)) == [0]
    assert carried(PIPELINE, S0=(0, 0, 0), S1=(0, 0, 1)) == [1]


def test_as_many_as_possible_are_carried() -> None:
    both = "for (i = 1; i < n; i++) for (j = 1; j < n; j++) { A[i][j] = A[i - 1][j]; B[i][j] = B[i][j - 1]; }"
    assert sorted(carried(both, S0=(1, 0, 0, 0), S1=(1, 0, 0, 0))) == [0, 1]
    assert carried(both) == [1, 1]


def test_nothing_goes_backwards_while_carrying() -> None:
    step = step_of(PIPELINE)
    draft = draft_of(step, negative=True)
    carrying(draft, step.remaining)
    assert not accepts(draft, S0=(1, 0, 2), S1=(1, 0, 0))


def test_latency_of_a_pipeline() -> None:
    """θ = i + j on 0 <= i, j < n is at most 2n - 2, and 2n + w with w >= 0; the least l comes before the least w."""
    step = step_of("for (i = 0; i < n; i++) for (j = 0; j < n; j++) A[i][j] = 1;")
    draft = draft_of(step, negative=True, parametric=True)
    early(draft, step, ("n",))
    found = least(draft, S0=(1, 1, 0, 0))
    assert (found["l[n]"], found["w"]) == (2, 0)


def test_dates_are_not_negative() -> None:
    step = step_of("for (i = 0; i < n; i++) x[i] = 1;")
    draft = draft_of(step, negative=True, parametric=True)
    early(draft, step, ("n",))
    assert accepts(draft, S0=(-1, 1, 0))
    assert not accepts(draft, S0=(-1, 0, 0))
    assert not accepts(draft, S0=(1, 0, -1))


def test_the_earliest_schedule_of_a_chain() -> None:
    """S1 after S0: dates 0 and 1, whatever the parameter."""
    step = step_of("for (i = 0; i < n; i++) { x[i] = i; y[i] = x[i]; }")
    draft = draft_of(step, negative=True, parametric=True)
    carrying(draft, step.remaining)
    early(draft, step, ("n",))
    small(draft, step)
    point = lexmin(draft.program())
    assert point is not None
    assert draft.solution(point) == {"S0": (0, 0, 0), "S1": (0, 0, 1)}


# --- contiguity -------------------------------------------------------------------------------------------------------


def smallest(step: Step, penalties: Mapping[str, tuple[int, ...]] | None = None, *, negative: bool = False) -> Row:
    draft = draft_of(step, negative=negative)
    progressing(draft, step)
    small(draft, step, penalties)
    point = lexmin(draft.program())
    assert point is not None
    return draft.solution(point)["S0"]


def test_the_outermost_iterator_is_taken_first() -> None:
    assert smallest(step_of(MATVEC)) == (1, 0, 0, 0)
    assert smallest(step_of(MATVEC), negative=True) in ((1, 0, 0, 0), (-1, 0, 0, 0))


def test_a_contiguous_iterator_is_taken_last() -> None:
    assert smallest(step_of(MATVEC), {"S0": (64, 0)}) == (0, 1, 0, 0)
    # It is what is left in the end.
    assert smallest(step_of(MATVEC, outer=[{"S0": (0, 1, 0, 0)}]), {"S0": (64, 0)}) == (1, 0, 0, 0)


# --- influence --------------------------------------------------------------------------------------------------------


def test_outer_coefficients_are_put_in() -> None:
    """T[S0,1,j] = 2·T[S0,0,i] + 1, where dimension 0 is known: (1, 0)."""
    outer = [{"S0": (1, 0, 0, 0)}]
    step = step_of(MATVEC, outer=outer)
    row = equals(((1, Coefficient("S0", 1, "j")), (-2, Coefficient("S0", 0, "i"))), 1)
    draft = draft_of(step)
    injected(draft, [row], outer, dict(step.spaces))
    assert accepts(draft, S0=(0, 3, 0, 0))
    assert not accepts(draft, S0=(0, 1, 0, 0))


def test_rows_over_outer_dimensions_alone_hold_or_dont() -> None:
    outer = [{"S0": (1, 0, 0, 5)}]
    step = step_of(MATVEC, outer=outer)
    for least_shift, possible in ((5, True), (6, False)):
        rows = [InfluenceRow(((1, Coefficient("S0", 0, CONSTANT)),), -least_shift)]
        assert constants_hold(rows, outer, step.spaces) == possible


def test_inequalities_and_parameters() -> None:
    step = step_of(PIPELINE)
    draft = draft_of(step, parametric=True)
    injected(
        draft, [InfluenceRow(((1, Coefficient("S1", 0, "n")), (-1, Coefficient("S0", 0, "i"))))], [], dict(step.spaces)
    )
    assert accepts(draft, S0=(1, 0, 0), S1=(1, 1, 0))
    assert not accepts(draft, S0=(1, 0, 0), S1=(1, 0, 0))


def test_rows_couple_statements_of_their_dimension() -> None:
    row = equals(((1, Coefficient("S0", 1, "i")), (-1, Coefficient("S1", 1, "i")), (1, Coefficient("S2", 0, "i"))), 0)
    assert coupled([row], 1) == [{"S0", "S1"}]
    assert coupled([row], 0) == [{"S2"}]
