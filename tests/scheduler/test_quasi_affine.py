"""Quasi-affine schedules: dates that the literature gives, their latencies, and that they come through to C."""

from __future__ import annotations

from pathlib import Path

import islpy as isl
import pytest
from msgspec import Struct
from msgspec.structs import replace

from scopt import cli, pipeline
from scopt.frontend.extract import extract
from scopt.frontend.region.parse import parse
from scopt.ir.scop import Dependence, Scop
from scopt.options import Options
from scopt.poly.bands import band_nodes
from scopt.poly.dependences import dependences
from scopt.poly.legality import check_order
from scopt.scheduler.constraints.edges import edges_of
from scopt.scheduler.constraints.scheduling_problem import statement_spaces, with_parameters
from scopt.scheduler.construct import feautrier
from scopt.scheduler.construct.dimensions import Construction, Dimension, Strategy
from scopt.scheduler.construct.feautrier import FeautrierScheduler, FeautrierStrategy
from scopt.scheduler.construct.quasi_affine import Problem, Watching, lifted, quotient_text, with_divisors
from tests.conftest import RunC, everyday
from tests.fuzz.harness import without_thresholds
from tests.scheduler.schedules import row_text
from tests.sources import scop_of, source_of

POLYBENCH = Path(pipeline.__file__).parent.parent / "polybench"
# All but those that take half of the time.
KERNELS = sorted(one for one in (POLYBENCH / "kernels").glob("*.c") if one.stem not in ("deriche", "adi", "ludcmp"))
PARAMS = "int n, int m, double A[60][60], double x[200], double y[200]"
DATED = Options(scheduler="feautrier", quasi_affine=True, budget=0)

# Griebl, Feautrier and Lengauer (2000): the free schedule has two steps; affine ones have 2n.
MIRRORED = "for (i = 0; i <= 2 * n; i++) x[i] = x[2 * n - i] * 0.5 + 1;"
TWO_APART = "for (i = 2; i < n; i++) x[i] = x[i - 2] * 0.5 + y[i];"
THREE_APART = "for (i = 3; i < n; i++) x[i] = x[i - 3] * 0.5 + y[i];"
KNIGHT = "for (i = 2; i < n; i++) for (j = 2; j < m; j++) A[i][j] = A[i - 2][j - 1] + A[i - 1][j - 2] * 0.5;"
TWO_AND_THREE = "for (i = 2; i < n; i++) for (j = 3; j < m; j++) A[i][j] = A[i - 2][j] * 0.5 + A[i][j - 3] * 0.25;"
INNER = """for (i = 0; i < n; i++) for (j = 2; j < m; j++) {
  A[i][j] = A[i][j - 2] + y[0] * 0.01; if (j == m - 1) y[0] = A[i][j] * 0.5; }"""
TWO_STATEMENTS = "for (i = 2; i < n; i++) { x[i] = y[i - 2] * 0.5; y[i] = x[i - 1] + 1; }"
BACKWARDS = "for (i = n; i >= 2; i--) x[i] = x[i + 2] * 0.5 + 1;"
STRIDED = "for (i = 2; i < n; i += 2) x[i] = x[i - 2] * 0.5 + 1;"
FIXED = "for (i = 2; i < 100; i++) x[i] = x[i - 2] * 0.5 + 1;"


class Dated(Struct, frozen=True, eq=False):
    """A schedule with divisors."""

    problem: Problem
    dimensions: tuple[Dimension, ...]

    def rows(self, statement: str) -> tuple[str, ...]:
        columns = self.problem.spaces[statement].columns
        return tuple(
            row_text(d.rows[statement], columns)
            for d in self.dimensions
            if d.kinds[statement] == "loop" and any(d.rows[statement])
        )


def dated(body: str) -> Dated:
    """All dependences are respected, those over private arrays too."""
    return made(*problem_of(body))


def made(scop: Scop, given: Problem) -> Dated:
    return Dated(*with_divisors(scop, given, constructed, FeautrierStrategy))


def problem_of(body: str) -> tuple[Scop, Problem]:
    scop = scop_of(body, PARAMS)
    return scop, Problem(statement_spaces(scop), edges_of(scop, dependences(scop).select("flow", "anti", "output")))


def far_back() -> tuple[Scop, Problem]:
    """One row of iterations waits for the one before; another dependence has distances (0, 2) and more, and (d, 2 -
    90d) and more."""
    scop = scop_of("for (i = 0; i < n; i++) for (j = 0; j < m; j++) A[i][j] = 1;", PARAMS)
    inside = "0 <= i and i' < n and 0 <= j < m and 0 <= j' < m"
    distances = ("i' = i + 1", "i <= i' and j' - j >= 2 - 90 i' + 90 i")
    relations = [isl.Map(f"[n, m] -> {{ S0[i, j] -> S0[i', j'] : {inside} and {distance} }}") for distance in distances]
    return scop, Problem(
        statement_spaces(scop), edges_of(scop, [Dependence("flow", "A", "S0", "S0", pairs) for pairs in relations])
    )


def constructed(problem: Problem, strategy: Strategy) -> tuple[Dimension, ...]:
    return Construction(problem.spaces, problem.edges, strategy, "max").run()


def tree_of(scop: Scop, options: Options) -> isl.Schedule:
    """The scheduler's tree, checked against the dependences."""
    deps = dependences(scop)
    tree = FeautrierScheduler().schedule(scop, deps, options).tree
    check_order(scop, deps, tree.get_map())
    return tree


def latency(body: str, *, quasi_affine: bool, n: int = 24, m: int = 30) -> int:
    """The number of dates that the outermost dimension has."""
    tree = tree_of(scop_of(body, PARAMS), replace(DATED, quasi_affine=quasi_affine))
    date = isl.UnionMap.from_union_pw_aff(band_nodes(tree)[0].band_get_partial_schedule().get_at(0)).intersect_domain(
        tree.get_domain()
    )
    values = isl.Set.from_union_set(date.intersect_params(isl.Set(f"[n, m] -> {{ : n = {n} and m = {m} }}")).range())
    return int(str(values.dim_max_val(0).sub(values.dim_min_val(0)))) + 1


# --- dates ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "rows"),
    [
        (MIRRORED, ["⌊i/2⌋", "i"]),
        (TWO_APART, ["⌊i/2⌋", "i"]),
        (THREE_APART, ["⌊i/3⌋", "i"]),
        (KNIGHT, ["⌊(i+j)/3⌋", "i", "j"]),
        (TWO_AND_THREE, ["⌊(3i+2j)/6⌋", "i", "j"]),
        (BACKWARDS, ["⌊(-i+n)/2⌋", "i"]),
        (FIXED, ["⌊(i-2)/2⌋", "i"]),
        # The outer dimension is affine, and carries what the inner one need not.
        (INNER, ["2i", "⌊j/2⌋", "j"]),
        # i is even: ⌊i/2⌋ alone tells all instances apart.
        (STRIDED, ["⌊i/2⌋"]),
    ],
    ids=["mirrored", "two", "three", "knight", "two and three", "backwards", "fixed", "inner", "strided"],
)
def test_dates(body: str, rows: list[str]) -> None:
    assert list(dated(body).rows("S0")) == rows


def test_dates_of_two_statements_in_a_cycle_of_three_steps() -> None:
    # S0(i) → S1(i + 1) → S0(i + 3): two steps in three iterations.
    result = dated(TWO_STATEMENTS)
    assert (result.rows("S0")[0], result.rows("S1")[0]) == ("⌊(2i-1)/3⌋", "⌊2i/3⌋")


@pytest.mark.parametrize(
    ("body", "affine", "rounded"),
    [(MIRRORED, 49, 25), (TWO_APART, 22, 11), (THREE_APART, 21, 7), (KNIGHT, 22, 17), (FIXED, 98, 49)],
    ids=["mirrored", "two", "three", "knight", "fixed"],
)
def test_latency(body: str, affine: int, rounded: int) -> None:
    assert (latency(body, quasi_affine=False), latency(body, quasi_affine=True)) == (affine, rounded)


@pytest.mark.parametrize(
    "body",
    [
        "for (i = 1; i < n; i++) for (j = 1; j < n; j++) A[i][j] = A[i - 1][j] + A[i][j - 1];",
        "for (i = 2; i < n; i++) x[i] = x[i - 1] + x[i - 2];",
        # The slope of a date is what counts, not its coefficients: i <= n / 2.
        "for (i = 1; 2 * i < n; i++) x[i] = x[i - 1] * 0.5;",
        # A chain of some statements: a latency without parameters that is not the length of a loop.
        "for (i = 0; i < n; i++) { x[i] = 1; y[i] = x[i]; A[i][0] = y[i]; }",
    ],
    ids=["pipeline", "one apart", "half", "chain"],
)
def test_where_nothing_is_gained_the_schedule_is_the_affine_one(body: str) -> None:
    scop = scop_of(body, PARAMS)
    assert tree_of(scop, DATED).plain_is_equal(tree_of(scop, replace(DATED, quasi_affine=False)))


@pytest.mark.parametrize("kernel", everyday(KERNELS), ids=lambda path: path.stem)
def test_kernels_are_legal(kernel: Path) -> None:
    options = replace(DATED, cpp_flags=(f"-I{POLYBENCH}", f"-I{kernel.parent}", "-DMINI_DATASET"))
    tu = parse(kernel.read_bytes(), str(kernel), options)
    scop = extract(tu, tu.regions[0], "scop0")
    assert tree_of(scop, options).get_domain().is_equal(scop.domain)


def test_without_the_option_nobody_looks_for_divisors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feautrier, "with_divisors", None)
    tree_of(scop_of(TWO_APART, PARAMS), Options(scheduler="feautrier"))
    with pytest.raises(TypeError):
        tree_of(scop_of(TWO_APART, PARAMS), DATED)


# --- lifted problems --------------------------------------------------------------------------------------------------


def test_an_outer_dimension_carries_a_part_of_a_dependence() -> None:
    assert made(*far_back()).rows("S0") == ("i", "⌊j/2⌋", "j")


@pytest.mark.parametrize(
    "body",
    [MIRRORED, KNIGHT, INNER, TWO_STATEMENTS, BACKWARDS, ""],
    ids=["mirrored", "knight", "inner", "two statements", "backwards", "far back"],
)
def test_cuts_cost_no_pair_of_instances(body: str) -> None:
    scop, given = problem_of(body) if body else far_back()
    watching = Watching(FeautrierStrategy())
    constructed(given, watching)
    gain = watching.gains[0]
    domains = {s.name: with_parameters(s.domain, given.spaces[s.name].parameters) for s in scop.statements}
    wide, problem = lifted(domains, given, gain)
    for name in gain.rounded:
        assert domains[name].is_equal(wide[name].project_out(isl.dim_type.set, 0, 1).set_tuple_name(name))
        embedding = problem.spaces[name].embedding
        assert embedding is not None
        assert wide[name].is_equal(domains[name].apply(isl.Map.from_multi_aff(embedding)))
    for before, after in zip(given.edges, problem.edges, strict=True):
        back = isl.Map.from_basic_map(after.piece)
        for name, side in ((before.source, isl.dim_type.in_), (before.sink, isl.dim_type.out)):
            if name in gain.rounded:
                back = back.project_out(side, 0, 1).set_tuple_name(side, name)
        assert back.is_equal(isl.Map.from_basic_map(before.piece))


def test_rational_points_of_a_lifted_dependence_keep_the_order_of_floors() -> None:
    result = dated(TWO_APART)
    (edge,) = [edge for edge in result.problem.edges if edge.dependence.kind == "flow"]
    assert min(point.delay(row := result.dimensions[0].rows["S0"], row) - point.weight for point in edge.points) == 0


@pytest.mark.parametrize(
    ("row", "columns", "text"),
    [
        ((1, 0), ("i", "1"), "⌊i/2⌋"),
        ((-1, 1, 3), ("i", "n", "1"), "⌊(-i+n+3)/2⌋"),
        ((3, 0), ("i", "1"), "⌊3i/2⌋"),
        ((-1, 0), ("i", "1"), "⌊(-i)/2⌋"),
    ],
)
def test_a_quotient_is_called_what_it_is(row: tuple[int, ...], columns: tuple[str, ...], text: str) -> None:
    assert quotient_text(row, columns, 2) == text


# --- as a whole -------------------------------------------------------------------------------------------------------

MAIN = """
#include <stdio.h>
static double A[60][60], x[200], y[200];
int main(void) {
  for (int n = -1; n <= 45; n += 1 + 8 * (n > 7)) for (int m = 1; m <= 40; m += 13) {
    for (int a = 0; a < 60; a++) for (int b = 0; b < 60; b++) A[a][b] = a * 7 % 11 + b * 0.37;
    for (int a = 0; a < 200; a++) { x[a] = a * 0.71; y[a] = a % 13 * 0.21; }
    f(n, m, A, x, y);
    for (int a = 0; a < 60; a++) for (int b = 0; b < 60; b++) x[a] = x[a] * 0.99 + A[a][b];
    for (int a = 0; a < 200; a++) printf("%a %a\\n", x[a], y[a]);
  }
  return 0;
}
"""
FLAGS = ("-O1", "-w", "-ffp-contract=off", "-fopenmp")


@pytest.mark.parametrize(
    "body",
    [MIRRORED, THREE_APART, KNIGHT, INNER, TWO_STATEMENTS, BACKWARDS, STRIDED],
    ids=["mirrored", "three", "knight", "inner", "two statements", "backwards", "strided"],
)
def test_results_are_the_same(body: str, run_c: RunC) -> None:
    source = source_of(body, PARAMS)
    want = run_c(source.decode() + MAIN, *FLAGS)
    for options in (replace(DATED, tile=False), replace(DATED, tile_sizes=(3, 4, 2))):
        result = pipeline.optimize(source, options, file="in.c")
        assert result.regions[0].transformed
        assert "floor" in result.regions[0].proposal or body == STRIDED
        assert "schedule.simplified" not in {remark.id for remark in result.remarks}
        assert run_c(without_thresholds(result.text.decode()) + MAIN, *FLAGS) == want


def test_a_quotient_that_is_linear_makes_no_second_loop() -> None:
    text = pipeline.optimize(source_of(STRIDED, PARAMS), DATED, file="in.c").text.decode()
    assert text.count("for (") == 1


def test_a_schedule_with_floors_is_read_back(tmp_path: Path) -> None:
    source = source_of(KNIGHT, PARAMS)
    made = pipeline.optimize(source, replace(DATED, explain=True), file="in.c")
    file = tmp_path / "schedule.yaml"
    file.write_text(made.regions[0].proposal)
    assert pipeline.optimize(source, Options(schedule_file=str(file)), file="in.c").text == made.text
    assert "floor((i + j)/3)" in made.regions[0].explanation


def test_influence_goes_first() -> None:
    result = pipeline.optimize(source_of(KNIGHT, PARAMS), replace(DATED, influence="vectorize"), file="in.c")
    assert result.regions[0].transformed
    assert not {"schedule.simplified", "internal.error"} & {remark.id for remark in result.remarks}


@pytest.mark.parametrize(("scheduler", "code"), [("feautrier", 0), ("pluto", 2)])
def test_the_option_belongs_to_feautrier(
    scheduler: str, code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "in.c"
    file.write_bytes(source_of(TWO_APART, PARAMS))
    assert cli.main([str(file), "--scheduler", scheduler, "--quasi-affine", "-o", str(tmp_path / "out.c")]) == code
    assert ("--quasi-affine" in capsys.readouterr().err) == (code == 2)
    assert (tmp_path / "out.c").exists() == (code == 0)
