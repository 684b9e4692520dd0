"""The construction as a whole: every kernel and random loop nests are
scheduled legally by every strategy and fusion policy."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from scopt.frontend.extract import extract
from scopt.frontend.region.parse import parse
from scopt.ir.scop import Dependences, Scop
from scopt.options import Fusion, Options
from scopt.poly.dependences import dependences
from scopt.poly.legality import check_order
from scopt.scheduler import get_scheduler
from scopt.scheduler.constraints.edges import edges_of
from scopt.scheduler.constraints.scheduling_problem import Rows, Step, statement_spaces
from scopt.scheduler.construct.dimensions import Construction, NoSchedule, Wish
from scopt.scheduler.construct.feautrier import FeautrierStrategy
from scopt.scheduler.construct.pluto import PlutoStrategy
from scopt.scheduler.construct.separation import FusionPolicy
from tests.conftest import but_for, everyday
from tests.scheduler.schedules import feautrier, pluto
from tests.sources import scop_of

POLYBENCH = Path(__file__).resolve().parents[2] / "polybench"
KERNELS = sorted((POLYBENCH / "kernels").glob("*.c"))
# Policies that try what several statements have in common: long for many statements, and no different in kind.
TRYING: tuple[Fusion, ...] = ("max", "typed")
MANY_STATEMENTS = 8


@cache
def kernel(path: Path) -> tuple[Scop, Dependences]:
    flags = (f"-I{POLYBENCH}", f"-I{POLYBENCH / 'kernels'}")
    tu = parse(path.read_bytes(), str(path), Options(cpp_flags=flags))
    scop = extract(tu, tu.regions[0], "scop0")
    return scop, dependences(scop)


@pytest.mark.parametrize(
    "path",
    but_for(KERNELS, *(path for path in KERNELS if path.stem in ("covariance", "3mm", "atax", "doitgen", "bicg"))),
    ids=lambda path: path.stem,
)
def test_pluto_schedules_of_kernels_are_legal(path: Path) -> None:
    scop, deps = kernel(path)
    policies: tuple[Fusion, ...] = ("smart", "no", *(TRYING if len(scop.statements) < MANY_STATEMENTS else ()))
    for fusion in policies:
        check_order(
            scop, deps, get_scheduler("pluto").schedule(scop, deps, Options(fusion=fusion, tile=False)).tree.get_map()
        )


@pytest.mark.parametrize("path", everyday(KERNELS), ids=lambda path: path.stem)
def test_feautrier_schedules_of_kernels_are_legal(path: Path) -> None:
    scop, deps = kernel(path)
    check_order(scop, deps, get_scheduler("feautrier").schedule(scop, deps, Options()).tree.get_map())


# --- random nests -----------------------------------------------------------------------------------------------------

OFFSETS = st.sampled_from(("", " + 1", " - 1", " + 2", " - 2"))
SUBSCRIPTS = st.sampled_from(("[i{}][j{}]", "[j{}][i{}]", "[n - i{}][j{}]", "[i{}][i{}]", "[i + j{}][j{}]"))


@st.composite
def references(draw: st.DrawFn) -> str:
    """A reference to one of two arrays: uniform, transposed, reversed, along a diagonal, or skewed."""
    return draw(st.sampled_from("AB")) + draw(SUBSCRIPTS).format(draw(OFFSETS), draw(OFFSETS))


@st.composite
def nests(draw: st.DrawFn) -> str:
    """One to three statements of depth 2 with constant and other distances,
    in common or in separate loops, some of them triangular."""
    head = draw(st.sampled_from(("for (j = 2; j < m; j++)", "for (j = i; j < m; j++)", "for (j = 2; j <= i; j++)")))
    around = "for (i = 2; i < m; i++) " + head
    count = draw(st.integers(1, 3))
    statements = [f"{draw(references())} = {draw(references())} + {draw(references())};" for _ in range(count)]
    if draw(st.booleans()):
        return f"{around} {{ {' '.join(statements)} }}"
    return "\n".join(f"{around} {statement}" for statement in statements)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(nests(), st.sampled_from(("max", "smart", "no", "typed")))
def test_random_nests_are_scheduled_legally(body: str, fusion: FusionPolicy) -> None:
    # Both check the order of execution against the dependences.
    scop = scop_of(body)
    pluto(scop, fusion)
    feautrier(scop, fusion)


# --- the construction's own decisions ---------------------------------------------------------------------------------


def test_dimensions_have_a_row_for_every_statement() -> None:
    made = pluto(scop_of("for (i = 0; i < n; i++) { x[i] = 1; for (j = 0; j < n; j++) A[i][j] = x[i]; }"))
    for dimension in made.dimensions:
        assert set(dimension.rows) == set(dimension.kinds) == {"S0", "S1"}


def test_a_statement_without_loops() -> None:
    made = pluto(scop_of("x[0] = 1; y[0] = x[0];"))
    assert (made.rows("S0"), made.rows("S1")) == (("[0]",), ("[1]",))


def test_unrelated_statements_need_no_cut() -> None:
    made = pluto(scop_of("for (i = 0; i < n; i++) x[i] = 1; for (i = 0; i < n; i++) y[i] = 2;"))
    assert (made.rows("S0"), made.rows("S1")) == (("i",), ("i",))


def test_a_band_ends_where_the_next_loop_is_not_permutable() -> None:
    # The distances (1, *) leave nothing for a second member of the band; what the first doesn't carry is free again.
    made = pluto(scop_of("for (t = 0; t < m; t++) for (i = 0; i < n; i++) x[i] = x[n - 1 - i] + 1;"), negative=False)
    assert made.rows("S0")[0] == "t"
    assert [len(band.coincident) for band in made.bands()] == [1, 1]


class Nothing:
    """A strategy that never has a dimension."""

    bands = True

    def solve(self, step: Step, wish: Wish) -> Rows | None:
        return None

    def possible(self, step: Step, wish: Wish) -> bool:
        return False

    def finished(self, step: Step) -> bool:
        return False


CHAIN = "for (i = 1; i < n; i++) x[i] = x[i - 1];"


def test_the_rescue_is_asked_where_the_strategy_has_no_dimension() -> None:
    scop = scop_of(CHAIN)
    edges = edges_of(scop, dependences(scop).select("flow"))
    (dimension,) = Construction(statement_spaces(scop), edges, Nothing(), "max", FeautrierStrategy()).run()
    assert dimension.rows["S0"][0] == 1


def test_no_schedule_without_a_rescue() -> None:
    scop = scop_of(CHAIN)
    edges = edges_of(scop, dependences(scop).select("flow"))
    with pytest.raises(NoSchedule):
        Construction(statement_spaces(scop), edges, Nothing(), "max").run()


def test_only_given_edges_count() -> None:
    scop = scop_of("for (i = 1; i < n; i++) for (j = 1; j < n; j++) A[i][j] = A[i - 1][j - 1];")
    free = Construction(statement_spaces(scop), (), PlutoStrategy(), "max").run()
    bound = Construction(
        statement_spaces(scop), edges_of(scop, dependences(scop).select("flow")), PlutoStrategy(), "max"
    ).run()
    assert [dimension.rows["S0"][:2] for dimension in free] == [(1, 0), (0, 1)]
    assert bound[0].rows["S0"][:2] in ((1, -1), (-1, 1))


@pytest.mark.parametrize(
    "body",
    [
        # a chain through a window of two by two, whose polyhedron has a point without a distance between two steps
        "for (i = 0; i < n; i++) { s = 0; for (j = 0; j < 2; j++) for (k = 0; k < 2; k++) s += A[i + j][k];"
        " x[i] = s; }",
        # distances that grow without end where m falls
        "for (i = 0; i < n; i++) for (j = m; j < n; j++) if (A[i][j] > 0) x[i] += 1;",
    ],
)
def test_nothing_else_has_to_rescue_the_schedule(body: str) -> None:
    scop = scop_of(body)
    deps = dependences(scop)
    tree = get_scheduler("pluto").schedule(scop, deps.strict(), Options()).tree
    check_order(scop, deps.strict(), tree.get_map())
