"""Loops with a constant length: when, where the choice stands, and that the instances stay what they are."""

from __future__ import annotations

import hypothesis.strategies as st
from hypothesis import given

from scopt.astgen.passes.lengths import with_constant_lengths
from scopt.ir.expr import evaluate, maximum, minimum, plus, satisfied
from scopt.ir.nest import Block, Call, Const, For, If, LoopMark, LoopNest, Name
from scopt.ir.nest_walks import items

LONGEST = 48
SIMD = LoopMark(simd=True)
ROW, COLUMN, N, T = Name("i"), Name("j"), Name("n"), Name("t")


def row(lower: object, upper: object, mark: LoopMark = SIMD) -> For:
    return For("j", lower, upper, 1, Block((Call("S", (ROW, COLUMN)),)), mark)  # type: ignore[arg-type]


TILE = row(T, minimum([plus(N, -1), plus(T, 23)]))


def made(*things: For | If | Call, rare: tuple[str, ...] = ()) -> tuple[object, ...]:
    return with_constant_lengths(LoopNest(Block(things)), LONGEST, rare).body.items


def test_the_choice_stands_outside_of_loops_that_it_does_not_depend_on() -> None:
    (choice,) = made(For("i", Const(0), N, 1, Block((TILE,))))
    assert isinstance(choice, If)
    assert choice.otherwise is not None
    (full,), (rest,) = choice.then.items, choice.otherwise.items
    assert isinstance(full, For)
    assert isinstance(rest, For)
    assert full.iterator == rest.iterator == "i"
    assert full.body.items == (row(T, plus(T, 23)),)
    assert rest.body.items == (TILE,)


def test_the_choice_stays_inside_of_parallel_loops_and_of_those_it_depends_on() -> None:
    parallel = For("t", Const(0), N, 24, Block((TILE,)), LoopMark(parallel=True))
    (loop,) = made(parallel)
    assert isinstance(loop, For)
    assert isinstance(loop.body.items[0], If)
    (loop,) = made(For("t", Const(0), N, 24, Block((TILE,))))
    assert isinstance(loop, For)
    assert isinstance(loop.body.items[0], If)


def test_neighbours_share_a_choice() -> None:
    (choice,) = made(TILE, TILE)
    assert isinstance(choice, If)
    assert len(choice.then.items) == 2


def test_what_is_left_alone() -> None:
    long, unrelated = row(T, minimum([plus(N, -1), plus(T, LONGEST)])), row(T, minimum([N, plus(ROW, 3)]))
    for loop in (row(T, plus(T, 23)), long, unrelated, row(T, TILE.upper, LoopMark())):
        assert made(loop) == (loop,)
    assert made(TILE, rare=("S",)) == (TILE,)


def test_what_fills_up_a_tile_goes_where_the_tile_is_not_whole() -> None:
    fill = For("j", N, plus(T, 23), 1, Block((Call("Z", (COLUMN,)),)))
    zeros = For("i", Const(0), N, 1, Block((fill,)))
    (choice,) = with_constant_lengths(LoopNest(Block((zeros, TILE))), LONGEST, (), ("Z",)).body.items
    assert isinstance(choice, If)
    assert choice.otherwise is not None
    assert choice.then.items == (row(T, plus(T, 23)),)
    assert choice.otherwise.items == (zeros, TILE)
    assert with_constant_lengths(LoopNest(Block((zeros,))), LONGEST, (), ("Z",)).body.items == (zeros,)


def instances(block: Block, values: dict[str, int]) -> list[tuple[int, ...]]:
    """The calls' arguments, in order."""
    found: list[tuple[int, ...]] = []
    for item in block.items:
        match item:
            case For():
                for value in range(evaluate(item.lower, values), evaluate(item.upper, values) + 1, item.step):
                    found += instances(item.body, {**values, item.iterator: value})
            case If():
                chosen = item.then if satisfied(item.condition, values) else item.otherwise
                found += instances(chosen, values) if chosen is not None else []
            case Call():
                found.append(tuple(evaluate(arg, values) for arg in item.args))
    return found


bounds = st.lists(st.tuples(st.sampled_from([ROW, T, N]), st.integers(-12, 12)), min_size=1, max_size=3)


@given(st.lists(st.tuples(bounds, bounds), min_size=1, max_size=3), st.integers(-3, 12), st.integers(-3, 12))
def test_the_same_instances_in_the_same_order(
    loops: list[tuple[list[tuple[Name, int]], list[tuple[Name, int]]]], n: int, t: int
) -> None:
    rows = [row(maximum(plus(x, c) for x, c in low), minimum(plus(x, c) for x, c in high)) for low, high in loops]
    fill = For("j", N, plus(T, 3), 1, Block((Call("Z", (COLUMN,)),)))
    block = Block(
        (
            For("i", Const(0), plus(N, 2), 1, Block((*rows, fill))),
            *[For("i", Const(0), N, 1, Block((one,))) for one in rows],
        )
    )
    result = with_constant_lengths(LoopNest(block), LONGEST, (), ("Z",)).body
    assert instances(result, {"n": n, "t": t}) == instances(block, {"n": n, "t": t})
    assert sum(isinstance(item, For) for item in items(result)) <= 2 * sum(
        isinstance(item, For) for item in items(block)
    )


def test_rows_beside_each_other_get_a_constant_length_without_being_a_vector_loop() -> None:
    (choice,) = made(row(T, TILE.upper, LoopMark(scalar=True, most=24)))
    assert isinstance(choice, If)
    assert made(row(T, TILE.upper, LoopMark(scalar=True))) == (row(T, TILE.upper, LoopMark(scalar=True)),)
