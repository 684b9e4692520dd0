"""Calls of kernels that run other instances, or find operands and cells elsewhere, are refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.lower.body_syntax import integer
from scopt.ir.walks import with_nodes
from tests.check.planted import PRODUCT, moved, program_of, refused, with_body

Change = Callable[[ir.Node], ir.Node]


def argument(position: int, value: ir.Node) -> Change:
    def change(body: ir.Node) -> ir.Node:
        assert isinstance(body, ir.FuncCall)
        return with_nodes(body, {body.args.exprs[position]: value})

    return change


@pytest.mark.parametrize(
    ("statement", "change", "match"),
    [
        pytest.param("S0_whole_steps", moved("C"), "updates other cells", id="the next column"),
        pytest.param("S0_whole_steps", moved("C", 0), "updates other cells", id="the next row"),
        pytest.param("S0_whole_steps", argument(4, integer(98)), "updates other cells", id="shorter rows"),
        pytest.param("S0_whole_steps", argument(0, ir.ID("k")), "no call of its kernel", id="another number of steps"),
        pytest.param(
            "S0_whole_steps",
            argument(1, ir.ID("A_rows")),
            "something else than a buffer",
            id="rows from the buffer's begin",
        ),
        pytest.param("S0_whole_steps", moved("A_rows"), "'A_rows'", id="rows one element further"),
        pytest.param("S0_whole_steps", moved("B_columns", by="24"), "'B_columns'", id="columns of the next step"),
        pytest.param("S0_part_steps", argument(3, ir.ID("A_rows")), "another copy", id="another copy"),
        pytest.param("S0_part_steps", argument(4, integer(8)), "another copy", id="a copy with shorter rows"),
    ],
)
def test_other_calls_are_refused(statement: str, change: Change, match: str) -> None:
    program, deps = program_of(PRODUCT)
    refused(with_body(program, statement, change), deps, match)


def test_claims_about_steps_are_not_believed() -> None:
    program, deps = program_of(PRODUCT)
    step = program.lowered.steps["S0_whole"]
    for other in (replace(step, corner=step.corner[::-1]), replace(step, position=0)):
        steps = {**program.lowered.steps, "S0_whole": other}
        refused(
            replace(program, lowered=replace(program.lowered, steps=steps)),
            deps,
            "updates|reads|runs|leaves|executed|buffer",
        )


def test_kernels_take_no_rows_at_no_fixed_distance() -> None:
    program, deps = program_of(PRODUCT)
    arrays = {name: replace(array, rows=name == "C") for name, array in program.source.arrays.items()}
    refused(replace(program, source=replace(program.source, arrays=arrays)), deps, "aren't linear")
