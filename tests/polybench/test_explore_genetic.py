"""Genetic search: generations and their parameters, operators whose children are legal schedules, and what a generation
is bred from."""

from __future__ import annotations

import math
import random
from pathlib import Path
from typing import Any

import pytest

from scopt.poly.dependences import dependences
from scopt.poly.legality import check_order
from scopt.polybench.explore import candidates, genetic
from scopt.polybench.explore.candidates import Candidate, DrawJob, draw, generator
from scopt.polybench.explore.database import Database, open_database
from scopt.polybench.explore.genetic import annealed, child, generation_of, is_random, numbers_of
from scopt.polybench.explore.programs import file_program
from scopt.polybench.explore.records import (
    Baseline,
    CompilerRecord,
    ProgramRecord,
    Rows,
    Sample,
    Search,
    Series,
    Status,
    this_machine,
)
from scopt.polybench.explore.rounds import rounds
from scopt.polybench.toolchains import find_compiler
from scopt.scheduler.space.complete import completed
from scopt.scheduler.space.matrix import carries, schedule_of_rows
from scopt.scheduler.space.polytope import Polytopes
from scopt.scheduler.space.space_problem import space_problem
from scopt.scheduler.space.walk import random_sample
from tests.polybench.explored import write_matvec
from tests.sources import scop_of

STENCIL = (
    "for (t = 0; t < n; t++) { for (i = 1; i < m; i++) x[i] = y[i - 1] + y[i + 1];"
    " for (i = 1; i < m; i++) y[i] = x[i]; }"
)
PRODUCT = (
    "for (i = 0; i < n; i++) for (j = 0; j < m; j++) { A[i][j] = 0;"
    " for (k = 0; k < n; k++) A[i][j] += B[i][k] * B[k][j]; }"
)


@pytest.fixture(params=[STENCIL, PRODUCT], scope="module")
def polytopes(request: pytest.FixtureRequest) -> Polytopes:
    scop = scop_of(request.param)
    return Polytopes(space_problem(scop, dependences(scop)))


def sampled(polytopes: Polytopes, seed: int) -> Rows:
    return random_sample(polytopes, "bias_coeff_0", random.Random(seed)).rows


def assert_legal(polytopes: Polytopes, rows: Rows) -> None:
    """By the exact check of the schedule tree."""
    scop = polytopes.problem.scop
    check_order(scop, dependences(scop), schedule_of_rows(polytopes.problem, rows).get_map())


def primitive(x: int, y: int) -> tuple[int, int]:
    return x // math.gcd(x, y), y // math.gcd(x, y)


def test_generations_cover_the_numbers() -> None:
    assert [generation_of(number) for number in (0, 29, 30, 44, 45, 629)] == [0, 0, 1, 1, 2, 40]
    assert [number for generation in range(41) for number in numbers_of(generation)] == list(range(630))
    assert [number for number in range(29, 61) if is_random(number)] == [29, 30, 31, 45, 46, 60]


def test_annealing() -> None:
    assert annealed(0.4, 1) == pytest.approx(0.4)
    assert annealed(0.4, 10) == pytest.approx(0.4 / math.sqrt(math.log(9 + math.e)))
    assert annealed(0.4, 40) < annealed(0.4, 2) < 0.4


@pytest.mark.parametrize("operator", genetic.OPERATORS, ids=lambda operator: operator.__name__)
def test_operators_change_rows_and_children_are_legal(polytopes: Polytopes, operator: genetic.Operator) -> None:
    changed = 0
    for seed in range(8):
        first, second = sampled(polytopes, seed), sampled(polytopes, seed + 100)
        rng = random.Random(seed)
        made = completed(polytopes, operator(polytopes, first, second, "uniform", rng, 0.4), "uniform", rng)
        assert_legal(polytopes, made)
        changed += made not in (first, second)
    assert changed


def test_mutations_and_combinations_carry_what_their_rows_carry(polytopes: Polytopes) -> None:
    """Without completion: rays lead to points of the same polytope."""
    problem = polytopes.problem
    rows = sampled(polytopes, 1)
    for operator in (genetic.replace_dims, genetic.replace_blocks_of_dims, genetic.mutate_generator_coeffs):
        made = operator(polytopes, rows, rows, "uniform", random.Random(5), 1.0)
        left = problem.numbers()
        for row, other in zip(rows, made, strict=True):
            strong, _ = carries(problem, row, left)
            carried, violated = carries(problem, other, left)
            assert strong <= carried
            assert not violated
            left -= strong


def test_row_operators() -> None:
    """Those that need no polytopes."""
    nothing = Polytopes(space_problem(scop := scop_of("x[0] = 1;"), dependences(scop)))
    rows, others = ((1, 0), (0, 1), (1, 1)), ((2, 2), (4, 0))
    assert genetic.replace_suffix(nothing, rows, others, "uniform", random.Random(0), 0.4) == ((1, 0), (0, 1))
    crossed = genetic.row_crossover(nothing, rows, others, "uniform", random.Random(0), 0.4)
    assert len(crossed) == 3
    assert all(row in pair for row, pair in zip(crossed, zip(rows, (*others, rows[2]), strict=True), strict=True))
    combined = genetic.geometric_crossover(nothing, others, rows, "uniform", random.Random(0), 0.4)
    # a·(2, 2) + b·(1, 0) and a·(4, 0) + b·(0, 1), in smallest terms
    assert combined[0] in {primitive(2 * a + b, 2 * a) for a in (1, 2, 3) for b in (1, 2, 3)}
    assert combined[1] in {primitive(4 * a, b) for a in (1, 2, 3) for b in (1, 2, 3)}
    assert combined[2] == (1, 1)


def test_children_depend_on_the_seed_alone(polytopes: Polytopes) -> None:
    parents = [sampled(polytopes, seed) for seed in range(3)]
    made = [
        child(polytopes, parents, "bias_coeff_0", generator("p", "w", 0, number, 0), 1)
        for number in (40, 41, 42, 43, 40)
    ]
    assert made[0] == made[4]
    assert len(set(made)) > 1
    for rows in made:
        assert_legal(polytopes, rows)


def test_draws_depend_on_nothing_else(tmp_path: Path, cc: str) -> None:
    """Sample 2 is the same after others, in another process or none, and as the child of the same parents."""
    compiler = find_compiler(cc)
    program = file_program(write_matvec(tmp_path), (f"-I{tmp_path / 'include'}",), compiler)

    def drawn(number: int, **more: Any) -> Candidate:
        return draw(DrawJob(program, compiler.path, "uniform", 5, number, **more))

    forwards = [drawn(number) for number in range(4)]
    assert [drawn(number) for number in reversed(range(4))] == forwards[::-1]
    assert draw(DrawJob(program, compiler.path, "uniform", 6, 2)) != forwards[2]
    parents = tuple(candidate.rows for candidate in forwards)
    assert drawn(30, parents=parents, generation=1) == drawn(30, parents=parents, generation=1)


def test_what_takes_too_long_is_no_schedule(tmp_path: Path, cc: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def forever(*arguments: object) -> None:
        while True:
            pass

    monkeypatch.setattr(candidates, "random_sample", forever)
    compiler = find_compiler(cc)
    program = file_program(write_matvec(tmp_path), (f"-I{tmp_path / 'include'}",), compiler)
    found = draw(DrawJob(program, compiler.path, "uniform", 0, 0, budget=0.1))
    assert (found.schedule, found.reason) == ("", "not drawn after 0.1 s")


# --- rounds -----------------------------------------------------------------------------------------------------------


def filled(database: Database, search: Search, numbers: range) -> tuple[Series, int]:
    """Samples with the rows ((number,),); the larger the number, the faster, but for those that fail: each fifth."""
    machine = database.machine(this_machine())
    program = database.program(ProgramRecord("in", "hash", "", "", 1))
    series = Series(program, database.compiler(CompilerRecord("cc", "")), search, "uniform", 0)
    database.add_baseline(program, machine, series.compiler, Baseline("original", (1.0,)))
    for number in numbers:
        status: Status = "timeout" if number % 5 == 0 else "ok"
        rows = (((number,),),)
        database.add_sample(
            series,
            machine,
            Sample(number, status, "", "-", rows, f"t{number}", f"c{number}", None, (1.0 / (number + 1),)),
        )
    return series, machine


def test_rounds_of_a_random_search(tmp_path: Path, cc: str) -> None:
    compiler = find_compiler(cc)
    program = file_program(write_matvec(tmp_path), (f"-I{tmp_path / 'include'}",), compiler)
    with open_database(tmp_path / "a.sqlite") as database:
        series, machine = filled(database, "random", range(3, 6))
        found = list(rounds(database, series, program, compiler.path, "uniform", 8, machine))
        assert [[job.number for job in jobs] for jobs in found] == [[0, 1, 2, 6, 7]]
        assert not any(job.parents for job in found[0])


def test_rounds_of_a_genetic_search(tmp_path: Path, cc: str) -> None:
    compiler = find_compiler(cc)
    program = file_program(write_matvec(tmp_path), (f"-I{tmp_path / 'include'}",), compiler)
    with open_database(tmp_path / "a.sqlite") as database:
        series, machine = filled(database, "genetic", range(33))
        ahead = rounds(database, series, program, compiler.path, "uniform", 50, machine)
        first = next(ahead)
        assert [job.number for job in first] == list(range(33, 45))
        # Of the first 30 the fastest 15 that have a time.
        best = [number for number in range(29, -1, -1) if number % 5][:15]
        assert first[0].parents == tuple((((number,),),) for number in best)
        assert {job.parents for job in first} == {first[0].parents}
        assert first[0].generation == 1
        filled(database, "genetic", range(33, 45))
        second = next(ahead)
        assert [(job.number, bool(job.parents)) for job in second] == [
            (45, False),
            (46, False),
            (47, True),
            (48, True),
            (49, True),
        ]
        assert second[-1].parents[0] == (((44,),),)
        assert len(second[-1].parents) == 15
        filled(database, "genetic", range(45, 50))
        assert next(ahead, None) is None
