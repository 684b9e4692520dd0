"""The random programs themselves: no undefined behaviour, and the variety that the fuzzer is there for."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from tests.fuzz.expressions import Compare, Extremum, Int, Linear, Quotient, Remainder, Var, shifted
from tests.fuzz.generate import generate
from tests.fuzz.harness import SANITIZERS, run, without_thresholds
from tests.fuzz.program import Loop, walk


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_programs_have_no_undefined_behaviour(seed: int, tmp_path: Path) -> None:
    sources = {f"p{number}": program.source(f"p{number}") for number, program in enumerate(generate(seed, 25))}
    ran = run(sources, tmp_path, SANITIZERS)
    assert not ran.failures
    assert all(ran.lines[name] for name in sources)


def test_one_seed_is_one_sequence_of_programs() -> None:
    assert generate(7, 12) == generate(7, 12)
    assert generate(7, 12) != generate(8, 12)


def test_programs_have_the_constructs_that_matter() -> None:
    programs = generate(5, 150)
    text = "\n".join(program.source("p") for program in programs)
    loops = [statement for program in programs for statement in walk(program.body) if isinstance(statement, Loop)]
    assert {loop.comparison for loop in loops} == {"<", "<=", ">", ">=", "!="}
    assert {1, 2, 3, -1, -2} <= {loop.step for loop in loops}
    assert {loop.iterator for loop in loops} == {"i", "j", "k", "l"}
    assert {loop.inside for loop in loops} == {True, False}
    for pattern in (r"\[[^]]*%", r"\[[^]]*/", r"if \(.*%", r"for .*/", r"for .*&&", r"for .*\?", r"\} else", r"\|\|", "sqrt", "MAX", r" \*= "):
        assert re.search(pattern, text), pattern


@pytest.mark.parametrize("i", range(-5, 8))
def test_ranges_and_text_agree_with_c(i: int) -> None:
    ranges = {"i": (i, i), "n": (3, 3)}
    low, high = Remainder(Var("i"), 3).range(ranges)
    assert low <= math.fmod(i, 3) <= high
    quotient = Quotient(shifted(Var("i"), 1), 2)
    smaller = Extremum("min", Var("i"), Var("n"))
    assert quotient.range(ranges) == (int((i + 1) / 2),) * 2
    assert smaller.range(ranges) == (min(i, 3),) * 2
    assert str(Linear(((2, quotient), (-1, Var("n"))), -4)) == "2 * ((i + 1) / 2) - n - 4"
    assert str(Compare(Remainder(Var("i"), 3), "==", Int(-1))) == "i % 3 == -1"


def test_thresholds_are_removed_from_pragmas_alone() -> None:
    text = "if (n > 3)\n#pragma omp parallel for private(t) if((n + 1) * m > 9) schedule(static)\n  for (;;) { if (a) b(); }\n"
    assert without_thresholds(text) == "if (n > 3)\n#pragma omp parallel for private(t) schedule(static)\n  for (;;) { if (a) b(); }\n"
