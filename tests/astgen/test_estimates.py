"""Parallel loops that are never worth a fork."""

from __future__ import annotations

import pytest

from scopt.astgen.passes.estimates import drop_small_loops
from scopt.ir.nest import Block, Call, Compare, Condition, Const, Exceeds, For, LoopMark, LoopNest, Min, Name, Sum
from tests.sources import scop_of

N = Name("n")
FEW = Min((Const(5), N))


@pytest.mark.parametrize(
    ("work", "kept"),
    [
        (Compare(N, ">", Const(2000)), True),  # right for any size
        (Compare(Min((Const(-1995), Sum(((1, N),), -2000))), ">", Const(0)), False),
        (Exceeds((FEW, FEW), 1000), False),
        (Exceeds((FEW, N), 1000), True),
    ],
)
def test_tests_that_hold_for_no_parameters_are_dropped_anywhere(work: Condition, kept: bool) -> None:
    scop = scop_of("for (i = 0; i < n; i++) x[i] = 2 * x[i];", "int n, double x[50]")
    loop = For("i", Const(0), FEW, 1, Block((Call("S0", (Name("i"),)),)), LoopMark(parallel=True), work)
    (found,) = drop_small_loops(scop, LoopNest(Block((loop,)))).body.items
    assert isinstance(found, For)
    assert found.mark.parallel is kept
    assert (found.work is not None) is kept
