"""Conditions on the place in a row: the loops that a vector loop becomes, and that they run the same instances."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from scopt.astgen.passes.borders_apart import with_borders_apart
from scopt.ir.expr import conjunction, disjunction, evaluate, plus, satisfied
from scopt.ir.nest import Block, Call, Compare, Condition, Const, For, If, LoopMark, LoopNest, Name
from scopt.ir.nest_walks import items
from tests.sources import scop_of

SCOP = scop_of("for (i = 0; i < n; i++) x[i] = 0;")
J, N, W, ROW = Name("j"), Name("n"), Name("w"), Name("i")
BORDERS = disjunction((Compare(J, "<", Const(3)), Compare(plus(J, 2), ">=", N)))
INSIDE = conjunction((Compare(J, ">=", W), Compare(W, ">", J)))


def nest(*conditions: Condition, **marks: bool) -> LoopNest:
    """A vector loop along a row, with a statement before each condition, below it, and behind them all."""
    body = list[Call | If]()
    for k, condition in enumerate(conditions):
        body += [Call(f"A{k}", (J,)), If(condition, Block((Call(f"B{k}", (J,)),)))]
    loop = For("j", Const(1), plus(N, -1), 1, Block((*body, Call("C", (J,)))), LoopMark(**{"simd": True, **marks}))
    return LoopNest(Block((loop,)))


def instances(block: Block, values: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    for item in block.items:
        match item:
            case Call():
                yield item.statement, values["j"]
            case If():
                part = item.then if satisfied(item.condition, values) else item.otherwise
                yield from instances(part, values) if part is not None else ()
            case For():
                for j in range(evaluate(item.lower, values), evaluate(item.upper, values) + 1):
                    yield from instances(item.body, {**values, "j": j})


@pytest.mark.parametrize(
    ("conditions", "loops", "asked"),
    [
        ((BORDERS,), 3, 0),
        # the middle has none of both, and a row is asked for once
        ((BORDERS, Compare(ROW, "<=", Const(0))), 6, 0),
        # one place cuts both
        ((Compare(J, "<", W), Compare(J, ">=", W)), 2, 0),
        # nothing is ever inside
        ((INSIDE,), 2, 0),
        # a single cell stays
        ((Compare(J, "==", W),), 1, 1),
        # but for the first and last ones
        ((Compare(J, "==", Const(1)),), 2, 0),
        ((Compare(J, "!=", plus(N, -2)), Compare(J, "==", plus(N, -1))), 3, 0),
        ((BORDERS, Compare(J, "==", W)), 3, 3),
        # too many: rows stay
        ((BORDERS, Compare(ROW, "<", N), Compare(ROW, ">", W)), 3, 6),
    ],
)
def test_loops_and_instances(conditions: tuple[Condition, ...], loops: int, asked: int) -> None:
    source = nest(*conditions)
    made = with_borders_apart(SCOP, source).body
    found = list(items(made))
    assert sum(isinstance(one, For) for one in found) == loops
    inside = [one for loop in found if isinstance(loop, For) for one in items(loop.body)]
    assert sum(isinstance(one, If) for one in inside) == asked
    for n in range(14):
        for w in (-2, 0, 1, 4, 20):
            for i in (0, 1):
                values = {"n": n, "w": w, "i": i}
                assert list(instances(made, values)) == list(instances(source.body, values))


def test_threads_share_the_middle_alone() -> None:
    made = with_borders_apart(SCOP, nest(BORDERS, parallel=True)).body
    assert [one.mark.parallel for one in made.items if isinstance(one, For)] == [False, True, False]
    source = nest(Compare(J, ">=", W), parallel=True)
    assert with_borders_apart(SCOP, source) == source


@pytest.mark.parametrize("mark", ["jammed", "beside"])
def test_others_stay(mark: str) -> None:
    source = nest(BORDERS, **{mark: True})
    assert with_borders_apart(SCOP, source) == source


def test_loops_in_order_stay() -> None:
    source = nest(BORDERS, simd=False)
    assert with_borders_apart(SCOP, source) == source
