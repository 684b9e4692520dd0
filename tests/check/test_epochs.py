"""Epochs are the innermost blocks in which what is read has been put there."""

from __future__ import annotations

from scopt.check.epochs import Epochs, epochs_of
from scopt.ir.nest import Block, Call, Compare, Const, For, If, LoopMark, LoopNest, Name


def loop(iterator: str, *items: For | Call | If) -> For:
    return For(iterator, Const(0), Name("n"), 1, Block(items))


def call(name: str) -> Call:
    return Call(name, ())


NEST = LoopNest(Block((call("before"), loop("i", loop("j", call("fill"), loop("k", call("use"))), call("other")))))


def found(nest: LoopNest, complete: int, chosen: tuple[str, ...] = ()) -> list[tuple[int, ...]]:
    """Paths, if blocks inside of fewer loops than that are complete."""
    return [
        one.path
        for one in epochs_of(
            nest, ("fill", "use"), ("fill",), ("fill",), chosen, lambda epochs: epochs.loops <= complete
        )
    ]


def test_the_innermost_complete_block() -> None:
    assert found(NEST, 9) == [(1, 0)]  # a loop that only uses opens no epoch
    assert found(NEST, 2) == [(1, 0)]
    assert found(NEST, 1) == [(1,)]
    assert found(NEST, 0) == [()]


def test_what_chooses_a_buffer_belongs_to_the_epoch() -> None:
    assert found(NEST, 9, ("other",)) == [(1,)]


def test_branches_of_an_if_share_their_place() -> None:
    condition = Compare(Name("n"), ">", Const(3))
    forms = If(
        condition, Block((loop("j", call("fill"), call("use")),)), Block((loop("j", call("use"), call("fill")),))
    )
    assert found(LoopNest(Block((loop("i", forms),))), 9) == [(0, 0)]


def test_dates_say_which_epoch_it_is() -> None:
    assert (Epochs((1, 0)).depth, Epochs((1, 0)).loops) == (4, 2)


def test_items_of_a_block_that_follow_each_other() -> None:
    """One tile stands outside of the loop over the others: it fills the buffer and uses it beside that loop."""
    alone = (loop("a", call("fill")), loop("b", call("use")))
    others = loop("j", loop("k", call("fill")), loop("l", call("use")))
    nest = LoopNest(Block((loop("i", *alone, others),)))
    every = epochs_of(nest, ("fill", "use"), ("fill",), ("fill",), (), lambda epochs: True)
    assert sorted((one.path, one.span) for one in every) == [((0,), (0, 1)), ((0, 2), None)]


def test_lanes_share_a_buffer_unless_they_have_one_each() -> None:
    """``for k: for lanes i: { fill; use; }``: what a lane finds is its own, but the buffer is the same for all."""

    def paths(mark: LoopMark) -> list[tuple[int, ...]]:
        lanes = For("i", Const(0), Name("n"), 1, Block((call("fill"), call("use"))), mark)
        nest, names = LoopNest(Block((loop("k", lanes),))), ("fill", "use")
        return [one.path for one in epochs_of(nest, names, ("fill",), ("fill",), (), lambda epochs: True, "rows")]

    assert paths(LoopMark(simd=True)) == [(0,)]
    assert paths(LoopMark(simd=True, private=("rows",))) == [(0, 0)]
