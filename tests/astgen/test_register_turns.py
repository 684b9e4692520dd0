"""Blocks that are turned in registers: what is done to lanes, and what stands in for longer vectors."""

from __future__ import annotations

import pytest

from scopt.astgen.lower.register_turns import Turns
from tests.check.definitions import TYPES


def turned(turns: Turns) -> list[list[tuple[int, int]]]:
    """The vectors of a block in the end, each element as the row and lane that it comes from."""
    shuffles = dict(turns.shuffles())
    values = {f"a{row}": [(row, lane) for lane in range(turns.lanes)] for row in range(turns.lanes)}
    for line in turns.rounds():
        for part in line.removeprefix(f"{turns.vector} ").removesuffix(";").split("), "):
            name, call = part.split(" = ")
            which, operands = call.removeprefix(f"{turns.name}_").removesuffix(")").split("(")
            one, other = operands.split(", ")
            values[name] = [[*values[one], *values[other]][at] for at in shuffles[which]]
    return [values[f"{turns.after()}{lane}"] for lane in range(turns.lanes)]


@pytest.mark.parametrize(("ctype", "lanes"), [("double", 8), ("double", 4), ("float", 8), ("short", 16)])
def test_rows_become_lanes(ctype: str, lanes: int) -> None:
    for form in Turns("f", TYPES[ctype], lanes).forms:
        assert turned(form) == [[(row, lane) for row in range(form.lanes)] for lane in range(form.lanes)]


def test_half_as_long_vectors_stand_in_for_the_longest() -> None:
    turns = Turns("f", TYPES["double"], 8)
    assert [(form.lanes, form.has_vectors) for form in turns.forms] == [(8, "f_vectors"), (4, "f_short")]
    (one, other) = (line for line in turns.definitions() if "AVX" in line)
    assert "#if defined(__AVX512F__)" in one
    assert "#elif defined(__AVX2__)" in other
    assert [form.lanes for form in Turns("f", TYPES["float"], 8).forms] == [8]
