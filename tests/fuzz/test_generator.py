"""The random programs themselves: no undefined behaviour, and the variety that the fuzzer is there for."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.fuzz.choices import Choices, shrunk
from tests.fuzz.expressions import (
    Cast,
    Compare,
    Extremum,
    Int,
    IntExpr,
    Linear,
    Product,
    Quotient,
    Remainder,
    Var,
    shifted,
)
from tests.fuzz.generate import generate
from tests.fuzz.harness import PLAIN, SANITIZERS, run, without_thresholds
from tests.fuzz.kinds import KINDS
from tests.fuzz.statements import Loop, walk
from tests.fuzz.typed import defined, exact, exact_condition


@pytest.mark.parametrize("kind", KINDS)
def test_programs_have_no_undefined_behaviour(kind: str, tmp_path: Path) -> None:
    programs = generate(1, 12, [kind])
    for number in range(max(len(program.variants) for program in programs)):
        meant = [program for program in programs if len(program.variants) > number]
        sources = {f"p{index}": program.source(f"p{index}") for index, program in enumerate(meant)}
        ran = run(sources, tmp_path / str(number), replace(PLAIN, flags=(*SANITIZERS, *meant[0].variants[number])))
        assert not ran.failures
        assert all(lines for name in sources for lines in ran.lines[name])


def test_one_seed_is_one_sequence_of_programs() -> None:
    assert generate(7, 12) == generate(7, 12)
    assert generate(7, 12) != generate(8, 12)


def test_programs_have_the_constructs_that_matter() -> None:
    programs = generate(6, 150, ["nests"])
    text = "\n".join(program.source("p") for program in programs)
    loops = [statement for program in programs for statement in walk(program.body) if isinstance(statement, Loop)]
    assert {loop.comparison for loop in loops} == {"<", "<=", ">", ">=", "!="}
    assert {1, 2, 3, -1, -2} <= {loop.step for loop in loops}
    assert {loop.iterator for loop in loops} == {"i", "j", "k", "l"}
    assert {loop.inside for loop in loops} == {True, False}
    for pattern in (
        r"\[[^]]*%",
        r"\[[^]]*/",
        r"if \(.*%",
        r"for .*/",
        r"for .*&&",
        r"for .*\?",
        r"\} else",
        r"\|\|",
        "sqrt",
        "MAX",
        r" \*= ",
        r"< n \* \(m % ",
        r"\[[^]]*\? 0 : [25]\)",
    ):
        assert re.search(pattern, text), pattern


@pytest.mark.parametrize(
    ("kind", "patterns"),
    [
        (
            "pointers",
            (
                r"double \*A",
                r"\[\w+ \* A_1 \+ \w+\]",
                r"\* n \+",
                r"\(\*A\)\[A_1\]",
                r"\*restrict A",
                r"\(\*\(A \+",
                r"\(size_t\)",
            ),
        ),
        ("aliasing", (r"\(void \*\)\(\(double \*\)&B_data \+ \d+\)", r"&A_data \+ 0\)")),
        ("macros", (r"#ifndef N", r"< N;", r"\bHALF\b.*\{", r"static double A\[N", r"\[[^]]*BLOCK", r"< LEN")),
        (
            "iterators",
            (
                r"for \(size_t i = \w+.*; i-- > 0;\)",
                r"for \(unsigned char",
                r"for \(int64_t",
                r"< w - 1",
                "4294967295",
                r"; i < [nm]; i--\)",
            ),
        ),
        ("structures", (r"\]\.x", r"\]\.x\[", r"q->A\[", r"< q->n", r"struct Q \*q", "q->s0")),
        ("control", (r"while \(", r"do \{", "continue;", "break;", r"int i = 0, hi = ", r"p0 \+= ")),
        ("lookups", (r"A\[[BCD]\[i\]", r"\]\]\[")),
        ("reductions", (r"if \(.* < .*\) .* = ", "fmin", r"\|= ", r"\+\+;", r"\(\*r0\)", r" = MAX\(")),
        ("reassociate", (r"r0 \+= ", "float")),
        ("histograms", (r"\w\[[BCD]\[.*\]\]\+\+;", r"\w\[[BCD]\[.*\]\] [+&|^]= ", r"if \(.*\[[BCD]\[.*\]\] <")),
        ("units", (r"kernel_b_p", r"kernel_c_p")),
        ("steps", (r"for \(int t = .*\) \{ for .*\w+ \*kept = \w+;", r"w\d\[\d\] \+= 1;")),
    ],
)
def test_kinds_have_their_constructs(kind: str, patterns: Sequence[str]) -> None:
    text = "\n".join(program.source("p") for program in generate(7, 150, [kind]))
    for pattern in patterns:
        assert re.search(pattern, text), pattern


# --- integers ---------------------------------------------------------------------------------------------------------


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


UNSIGNED, INT, LONG = Var("u"), Var("i"), Var("l")
RANGES, TYPES = (
    {"u": (0, 10), "i": (-3, 10), "l": (0, 10), "c": (0, 200)},
    {"u": "unsigned", "i": "int", "l": "size_t", "c": "unsigned char"},
)


@pytest.mark.parametrize(
    ("expression", "is_exact", "is_defined"),
    [
        (Linear(((1, UNSIGNED), (-1, Var("c"))), 300), True, True),  # wraps around on the way, and back
        (shifted(UNSIGNED, -1), False, True),
        (Quotient(shifted(UNSIGNED, -1), 2), False, False),  # what wrapped around is divided
        (Linear(((1, shifted(UNSIGNED, -1)), (1, LONG)), 1), False, False),  # wrapped around at 32 bits, added at 64
        (Linear(((1, INT), (1, LONG)), 3), True, True),
        (Linear(((1, shifted(INT, -1)), (1, UNSIGNED)), 4), True, True),
        (Product(Var("c"), Product(Var("c"), Var("c"))), True, True),
        (Product(Int(1 << 20), Product(Var("c"), Var("c"))), False, False),  # int overflows
        (Cast("unsigned", INT), False, False),
        (Cast("long", shifted(Var("c"), -1)), True, True),
    ],
)
def test_types_of_expressions(expression: IntExpr, is_exact: bool, is_defined: bool) -> None:
    assert (exact(expression, RANGES, TYPES), defined(expression, RANGES, TYPES)) == (is_exact, is_defined)


def test_types_of_conditions() -> None:
    assert exact_condition(Compare(UNSIGNED, "<", LONG), RANGES, TYPES)
    assert not exact_condition(Compare(INT, "<", LONG), RANGES, TYPES)
    assert exact_condition(Compare(INT, "<", Var("c")), RANGES, TYPES)
    assert not exact(Var("c"), RANGES, TYPES, "signed char")


# --- choices ----------------------------------------------------------------------------------------------------------


def test_choices_are_replayed() -> None:
    first = Choices(random.Random(1))
    drawn = [first.up_to(9), first.pick("a", "b", "c"), first.chance(50)]
    again = Choices(given=first.made)
    assert [again.up_to(9), again.pick("a", "b", "c"), again.chance(50), again.up_to(9)] == [*drawn, 0]


def test_failing_choices_are_shrunk() -> None:
    assert shrunk([3, 9, 2, 7, 4, 8], lambda made: any(number >= 5 for number in made)) == (5,)
    assert shrunk([3, 9], lambda made: True, attempts=1) != (3, 9)
    assert shrunk([3, 9], lambda made: False) == (3, 9)


def test_thresholds_are_removed_from_pragmas_alone() -> None:
    text = (
        "if (n > 3)\n#pragma omp parallel for private(t) if((n + 1) * m > 9) "
        "schedule(static)\n  for (;;) { if (a) b(); }\n"
    )
    assert (
        without_thresholds(text)
        == "if (n > 3)\n#pragma omp parallel for private(t) schedule(static)\n  for (;;) { if (a) b(); }\n"
    )
