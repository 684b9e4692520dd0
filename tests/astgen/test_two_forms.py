"""Small parallel loops stand beside plain ones, and read back as one."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from scopt.astgen.emit.emit_c import emit
from scopt.astgen.emit.reparse import check_printed
from scopt.astgen.passes.two_forms import in_one_form, with_two_forms
from scopt.diagnostics import InternalError
from scopt.ir.expr import conjunction
from scopt.ir.nest import (
    Block,
    Call,
    Compare,
    Condition,
    Const,
    Exceeds,
    Expr,
    For,
    If,
    LoopMark,
    LoopNest,
    Max,
    Min,
    Name,
    Sum,
    Threads,
)
from scopt.ir.nest_walks import map_block
from tests.sources import scop_of

ROW, J, N, ZERO = Name("i"), Name("j"), Name("n"), Const(0)
LAST = Sum(((1, N),), -1)
SCOP = scop_of("for (i = 0; i < n; i++) for (j = 0; j < n; j++) A[i][j] = 0;")
WORK = Exceeds((N, N), 500)


def nest(work: Condition | None = WORK, mark: LoopMark = LoopMark(parallel=True)) -> LoopNest:  # noqa: B008 - frozen
    inner = For("j", Const(0), LAST, 1, Block((Call("S0", (ROW, J)),)), mark, work)
    return LoopNest(Block((For("i", Const(0), LAST, 1, Block((inner,))),)))


def choice(loops: LoopNest) -> If:
    (outer,) = loops.body.items
    assert isinstance(outer, For)
    (item,) = outer.body.items
    assert isinstance(item, If)
    return item


@pytest.mark.parametrize("work", [WORK, Compare(N, ">", Const(500))])
@pytest.mark.parametrize("mark", [LoopMark(parallel=True), LoopMark(parallel=True, simd=True)])
def test_with_threads_or_without(work: Condition, mark: LoopMark) -> None:
    made = with_two_forms(nest(work, mark))
    item = choice(made)
    assert item.condition == conjunction((work, Threads()))
    assert [block.items[0].mark for block in (item.then, item.otherwise) if block] == [  # type: ignore[union-attr]
        mark,
        replace(mark, parallel=False),
    ]
    check_printed(SCOP, made, emit(SCOP, made))
    assert in_one_form(SCOP, made) == nest(None, mark)


def test_what_stays() -> None:
    assert with_two_forms(nest(None)) == nest(Threads())  # always worth it, but where other programs have the cores
    assert with_two_forms(LoopNest(nest(None).body.items[0].body)) == LoopNest(nest(None).body.items[0].body)
    (outer,) = nest().body.items
    assert isinstance(outer, For)
    (inner,) = outer.body.items
    assert isinstance(inner, For)
    tiles = LoopNest(Block((replace(inner, step=32, work=WORK),)))
    assert with_two_forms(tiles) == tiles


def test_loops_over_tiles_have_two_forms_where_they_are_asked_for() -> None:
    (outer,) = nest().body.items
    assert isinstance(outer, For)
    (inner,) = outer.body.items
    assert isinstance(inner, For)
    (item,) = with_two_forms(LoopNest(Block((replace(inner, step=32),))), tiles=True).body.items
    assert isinstance(item, If)
    assert item.condition == conjunction((WORK, Compare(LAST, ">", Const(31)), Threads()))  # one tile is for one thread
    many = LoopNest(Block((replace(inner, step=32, body=Block(inner.body.items * 17)),)))
    (loop,) = with_two_forms(many, tiles=True).body.items  # its guard asks for several tiles all the same
    several = conjunction((WORK, Compare(LAST, ">", Const(31))))
    assert loop == replace(inner, step=32, body=Block(inner.body.items * 17), work=several)


def test_an_outermost_loop_has_two_forms_as_well() -> None:
    (outer,) = nest().body.items
    assert isinstance(outer, For)
    (item,) = with_two_forms(LoopNest(outer.body)).body.items
    assert isinstance(item, If)
    assert item == choice(with_two_forms(nest()))


def test_a_region_s_test_stands_for_that_of_its_loops() -> None:
    """Threads are asked for below it, if nothing has asked for them yet."""
    (outer,) = nest(None).body.items
    assert isinstance(outer, For)
    loops = LoopNest(outer.body)
    assert with_two_forms(loops, tiles=True) == loops
    (item,) = with_two_forms(loops, tiles=True, enough=True).body.items
    assert isinstance(item, If)
    assert item.condition == Threads()
    assert in_one_form(SCOP, LoopNest(Block((item,)))) == loops
    assert with_two_forms(LoopNest(Block((item,))), tiles=True, enough=True) == LoopNest(Block((item,)))
    assert with_two_forms(nest(None), tiles=True, enough=True) == nest(Threads())  # again and again
    long = LoopNest(Block((replace(outer.body.items[0], body=Block(nest().body.items * 41)),)))  # type: ignore[type-var]
    (loop,) = with_two_forms(long, tiles=True, again=True).body.items  # such a function may be called again and again
    assert isinstance(loop, For)
    assert loop.work == Threads()
    assert with_two_forms(long, tiles=True) == long


def test_forms_that_differ_are_refused() -> None:
    made = with_two_forms(nest())
    item = choice(made)
    other = replace(item, otherwise=Block(()))
    (outer,) = made.body.items
    assert isinstance(outer, For)
    for condition in (item.condition, Threads()):
        wrong = replace(outer, body=Block((replace(other, condition=condition),)))
        with pytest.raises(InternalError, match="aren't the same"):
            in_one_form(SCOP, LoopNest(Block((wrong,))))


def strips(mark: LoopMark, *, first: Const = ZERO, row: Expr = ROW) -> For:
    """Of 32 columns, in each of which a loop over rows runs in order."""
    end = Min((LAST, Sum(((1, Name("jt")),), 31)))
    along = For("j", first if first.value else Name("jt"), end, 1, Block((Call("S0", (row, J)),)), LoopMark(simd=True))
    if first.value:
        along = replace(along, lower=Max((first, Name("jt"))))
    rows = For("i", Const(0), LAST, 1, Block((along,)))
    return For("jt", Const(0), LAST, 32, Block((rows,)), mark, WORK)


@pytest.mark.parametrize("first", [Const(0), Const(3)])
def test_strips_that_only_share_are_whole_rows_for_one_thread(first: Const) -> None:
    loop = strips(LoopMark(parallel=True, sharing=True), first=first)
    made = with_two_forms(LoopNest(Block((loop,))), tiles=True)
    (item,) = made.body.items
    assert isinstance(item, If)
    along = For("j", first, LAST, 1, Block((Call("S0", (ROW, J)),)), LoopMark(simd=True))
    assert item.otherwise == Block((For("i", Const(0), LAST, 1, Block((along,))),))
    check_printed(SCOP, made, emit(SCOP, made))
    assert in_one_form(SCOP, made) == LoopNest(item.then)
    cut = replace(along, lower=Const(first.value + 1))
    wrong = replace(item, otherwise=Block((For("i", Const(0), LAST, 1, Block((cut,))),)))
    with pytest.raises(InternalError, match="aren't the same"):
        in_one_form(SCOP, LoopNest(Block((wrong,))))


@pytest.mark.parametrize(("value", "same"), [("A[i][j] = s;", True), ("{ s = j; A[i][j] = s; }", False)])
def test_a_private_cell_that_strips_only_read_is_none_of_their_own(value: str, same: bool) -> None:
    scop = scop_of(f"s = n; for (i = 0; i < n; i++) for (j = 0; j < n; j++) {value}")
    assert scop.arrays["s"].private
    inside = tuple(Call(one.name, (ROW, J)) for one in scop.statements if one.iterators)
    loop = strips(LoopMark(parallel=True, sharing=True))
    loop = replace(loop, body=map_block(loop.body, lambda item: inside if isinstance(item, Call) else (item,)))
    made = with_two_forms(LoopNest(Block((loop,))), tiles=True)
    if same:
        (item,) = made.body.items
        assert isinstance(item, If)
        assert in_one_form(scop, made) == LoopNest(item.then)
    else:
        with pytest.raises(InternalError, match="aren't the same"):
            in_one_form(scop, made)


@pytest.mark.parametrize(
    "loop",
    [
        strips(LoopMark(parallel=True)),  # they bring lines back
        strips(LoopMark(parallel=True, sharing=True, private=("x",))),  # each has cells of its own
        strips(LoopMark(parallel=True, sharing=True), row=Name("jt")),
        strips(LoopMark(parallel=True, sharing=True), first=Const(-1)),  # before the first one begins
    ],
)
def test_other_strips_are_strips_for_one_thread(loop: For) -> None:
    (item,) = with_two_forms(LoopNest(Block((loop,))), tiles=True).body.items
    assert isinstance(item, If)
    assert item.otherwise == Block((replace(loop, mark=LoopMark(sharing=loop.mark.sharing), work=None),))
