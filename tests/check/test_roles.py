"""Statements that do something else than they are there for are refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from scopt import ir
from scopt.astgen.lower.body_syntax import integer
from tests.check.planted import MATRICES, PRODUCT, ROWS, SWEEP, moved, program_of, refused, with_body

Change = Callable[[ir.Node], ir.Node]


def with_value(value: ir.Node) -> Change:
    return lambda body: ir.Assignment("=", body.lvalue, value)


def operator(op: str) -> Change:
    return lambda body: ir.Assignment(op, body.lvalue, body.rvalue)


@pytest.mark.parametrize(
    ("body", "statement", "change", "match"),
    [
        pytest.param(SWEEP, "S0_rows", with_value(integer(1)), "another statement", id="another value"),
        pytest.param(
            SWEEP,
            "S1_rows",
            lambda body: ir.Assignment("=", body.lvalue, body.rvalue.left),
            "another statement",
            id="a part",
        ),
        pytest.param(SWEEP, "S1_rows", operator("+="), "another statement", id="a sum"),
        pytest.param(SWEEP, "S2_rows", moved("C"), "no array|another|copy|parts", id="another cell of an array"),
        pytest.param(SWEEP, "thread", with_value(integer(0)), "something else", id="the first thread's part"),
        pytest.param(SWEEP, "B_in", operator("+="), "no copy", id="a sum instead of a copy"),
        pytest.param(SWEEP, "A_out", with_value(integer(0)), "between two|no copy", id="nothing is copied out"),
        pytest.param(PRODUCT, "S0_load", operator("+="), "no copy", id="a sum instead of a load"),
        pytest.param(PRODUCT, "S0_store", lambda body: body.lvalue, "no copy", id="no assignment"),
    ],
)
def test_other_statements_are_refused(body: str, statement: str, change: Change, match: str) -> None:
    program, deps = program_of(body, ROWS if body is SWEEP else MATRICES)
    refused(with_body(program, statement, change), deps, match)
