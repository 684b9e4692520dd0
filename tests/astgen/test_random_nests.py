"""Random schedules of random domains: the nest runs what it should in the right order,
reads back as that, and prints as that."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

import islpy as isl
import pytest

from scopt.astgen.emit.emit_c import emit
from scopt.astgen.emit.loop_work import add_work_guards
from scopt.astgen.emit.reparse import check_printed
from scopt.astgen.loops.isl_loops import build
from scopt.diagnostics import InternalError
from scopt.ir.marked_schedule import MarkedSchedule
from scopt.ir.nest import LoopMark
from scopt.ir.scop import Scop
from scopt.poly.readback import check_coverage, nest_to_schedule
from tests.astgen.scops import (
    INT,
    LONG,
    SIZE,
    TRACING,
    UNSIGNED,
    S,
    bands,
    dates,
    function,
    instances,
    make_scop,
    parse_trace,
    trace,
)
from tests.conftest import EVERYTHING, RunC

NAMES = "ijk"
SIZES = ({"n": 5, "m": 4}, {"n": 0, "m": 3}, {"n": 8, "m": 2})
MARKS = (LoopMark(parallel=True), LoopMark(simd=True), LoopMark(parallel=True, simd=True))
# Some combinations of strides and tiles keep isl busy for minutes; they are left out.
LIMIT = 1_000_000 if EVERYTHING else 200_000


def random_domain(random: Random, name: str, depth: int) -> str:
    constraints = []
    for level, iterator in enumerate(NAMES[:depth]):
        outer = NAMES[:level]
        low = random.choice(["0", "0", "1", "-3", *outer, *(f"n - {o}" for o in outer)])
        high = random.choice(
            ["n", "n", "m", "n + m - 2", "7", *(f"{o} + 4" for o in outer), *(f"n - {o}" for o in outer)]
        )
        constraints.append(f"{low} <= {iterator} < {high}")
        if random.random() < 0.15:
            total = " + ".join(random.sample(NAMES[: level + 1], random.randint(1, level + 1)))
            constraints.append(f"({total}) mod {random.choice([2, 3])} = {random.choice([0, 1])}")
    return f"{name}[{', '.join(NAMES[:depth])}] : {' and '.join(constraints)}"


def random_rows(random: Random, names: list[str], depth: int) -> list[str]:
    """The rows of an invertible schedule: scaled iterators in any order, each skewed by those before it."""
    order = random.sample(NAMES[:depth], depth)
    rows = []
    for level, iterator in enumerate(order):
        terms = [f"{random.choice([1, 1, 1, -1, 2])}{iterator}"]
        terms += [f"{factor}{other}" for other in order[:level] if (factor := random.choice([0, 0, 0, 1, 2, -1]))]
        row = " + ".join(terms)
        rows.append(
            "; ".join(
                f"{name}[{', '.join(NAMES[:depth])}] -> [{row} + {random.choice([0, 0, 1, -2])}]" for name in names
            )
        )
    return rows


def random_program(seed: int) -> tuple[Scop, MarkedSchedule]:
    random = Random(seed)
    depth = random.randint(1, 3)
    names = [f"S{k}" for k in range(random.choice([1, 1, 2]))]
    statements = [S(random_domain(random, name, depth), type=random.choice([INT, LONG])) for name in names]
    scop = make_scop(
        *statements, parameters={"n": random.choice([INT, UNSIGNED, SIZE, LONG]), "m": INT}, reserved=("trace",)
    )
    rows = random_rows(random, names, depth)
    sizes = [random.choice([2, 3, 4]) for _ in range(depth)] if random.random() < 0.5 else []
    marks = {random.randrange(depth + len(sizes)): random.choice(MARKS)} if random.random() < 0.6 else {}
    return scop, bands(scop, *rows, sizes=sizes, marks=marks)


@contextmanager
def limited(context: isl.Context) -> Iterator[None]:
    context.reset_operations()
    context.set_max_operations(LIMIT)
    try:
        yield
    finally:
        context.set_max_operations(0)


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_random_nests(run_c: RunC, first: int) -> None:
    functions, expected = [], []
    for seed in range(first, first + 10):
        scop, schedule = random_program(seed)
        try:
            with limited(schedule.tree.get_ctx()):
                nest = build(scop, schedule)
                read = nest_to_schedule(scop, nest)
                check_coverage(scop, read)
        except (isl.Error, InternalError) as error:
            if "operations" not in str(error):
                raise
            continue
        guarded = add_work_guards(scop, nest)
        check_printed(scop, guarded, emit(scop, guarded))
        wanted = schedule.tree.get_map().intersect_domain(scop.domain)
        for values in SIZES:
            ran = trace(nest, values)
            assert sorted(ran) == sorted(instances(scop, values)), seed
            scheduled, nested = dates(wanted, values), dates(read.schedule, values)
            assert [scheduled[i] for i in ran] == sorted(scheduled[i] for i in ran), seed
            assert [nested[i] for i in ran] == sorted(set(nested.values())), seed
            expected += ran
        functions.append(function(scop, nest, f"region{seed}", openmp=False))
    assert len(functions) >= 7
    calls = "".join(f"  {name}({values['n']}, {values['m']});\n" for name in map(_name, functions) for values in SIZES)
    helpers = sorted({line for text in functions for line in text.splitlines() if line.startswith("static inline")})
    bodies = "".join(text[text.index("\nvoid") :] for text in functions)
    program = f"{TRACING}{chr(10).join(helpers)}\n{bodies}int main(void)\n{{\n{calls}}}\n"
    assert parse_trace(run_c(program, "-Wall", "-Wextra", "-fsanitize=undefined", "-fno-sanitize-recover")) == expected


def _name(function: str) -> str:
    return function[function.index("void ") + 5 :].split("(")[0]
