"""Small parallel loops inside of others stand beside plain ones, and read back as one."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from scopt.astgen.emit.emit_c import emit
from scopt.astgen.emit.reparse import check_printed
from scopt.astgen.passes.two_forms import in_one_form, with_two_forms
from scopt.diagnostics import InternalError
from scopt.ir.nest import Block, Call, Compare, Condition, Const, Exceeds, For, If, LoopMark, LoopNest, Name, Sum
from tests.sources import scop_of

ROW, J, N = Name("i"), Name("j"), Name("n")
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
    assert item.condition == work
    assert [block.items[0].mark for block in (item.then, item.otherwise) if block] == [  # type: ignore[union-attr]
        mark,
        replace(mark, parallel=False),
    ]
    check_printed(SCOP, made, emit(SCOP, made))
    assert in_one_form(SCOP, made) == nest(None, mark)


def test_what_stays() -> None:
    (outer,) = nest().body.items
    assert isinstance(outer, For)
    alone = LoopNest(outer.body)
    assert with_two_forms(alone) == alone  # no loop around
    assert with_two_forms(nest(None)) == nest(None)  # always worth it


def test_forms_that_differ_are_refused() -> None:
    made = with_two_forms(nest())
    item = choice(made)
    other = replace(item, otherwise=Block(()))
    (outer,) = made.body.items
    with pytest.raises(InternalError, match="aren't the same"):
        in_one_form(SCOP, LoopNest(Block((replace(outer, body=Block((other,))),))))
