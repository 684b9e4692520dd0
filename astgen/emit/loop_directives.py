"""The OpenMP directives of loops, as text."""

from __future__ import annotations

import re

from scopt.astgen.emit.balance import imbalanced
from scopt.astgen.emit.c_expr import ExprPrinter
from scopt.astgen.emit.decided import decided_by
from scopt.astgen.emit.loop_work import is_tile_loop
from scopt.astgen.emit.own_loops import is_uneven
from scopt.diagnostics import InternalError
from scopt.ir.nest import Call, For, Hold, LoopMark
from scopt.ir.nest_walks import Item, calls, declared, items
from scopt.ir.scop import CType, Scop


def _takes_its_time(scop: Scop, item: Item, *, again: bool) -> bool:
    """Whether data say how long something in a loop takes."""
    match item:
        case For():
            return bool(decided_by(scop, item, frozenset()))
        case Call():
            return is_uneven(scop, item.statement, again=again)
    return False


def _has_loops(item: Item) -> bool:
    return isinstance(item, For) and any(isinstance(inner, For) for inner in items(item.body))


def pragma_text(scop: Scop, loop: For, exprs: ExprPrinter, text: str) -> str:
    """The OpenMP directive of a loop's mark, without ``#pragma``. text: the loop as it is printed.

    A parallel loop whose iterations take the same time is scheduled statically, since neighbours then share cache lines
    less often. Where the time depends on the iterator (a triangle), or there are few, heavy iterations, of tiles or
    with loops in loops, are handed out one by one, others in eights.
    """
    mark = loop.mark
    words = ["omp", *(("parallel", "for") if mark.parallel else ()), *(("simd",) if mark.simd else ())]
    if mark.collapse > 1:
        words.append(f"collapse({mark.collapse})")
    if mark.lanes:
        words.append(f"simdlen({mark.lanes})")
    if mark.parallel and loop.work is not None:
        # without the modifier, the condition would switch the vector instructions off too
        which = "parallel: " if mark.simd else ""
        words.append(f"if({which}{exprs.condition(loop.work).text})")
    if any(scop.arrays[name].pointer for name in mark.private):
        raise InternalError(
            f"{scop.location}: a private copy of a pointer would not point anywhere: {', '.join(mark.private)}"
        )
    if mark.private:
        words.append(f"private({', '.join(scop.arrays[name].spelling for name in mark.private)})")
    if mark.parallel and (copied := sorted(copyable(scop, loop) & set(re.findall(r"[A-Za-z_]\w*", text)))):
        words.append(f"firstprivate({', '.join(copied)})")
    words += [f"reduction({operator}: {', '.join(names)})" for operator, names in reduced_names(scop, mark).items()]
    uneven = mark.parallel and any(_takes_its_time(scop, item, again=mark.again) for item in items(loop.body))
    if mark.parallel and uneven and not mark.coarse and (mark.ended or not is_tile_loop(loop)):
        words.append("schedule(guided)")  # each instance takes as long as its data say
    elif mark.parallel and not mark.coarse and not imbalanced(loop):
        words.append("schedule(static)")
    elif mark.parallel:
        alone = mark.coarse or is_tile_loop(loop) or any(_has_loops(item) for item in items(loop.body))
        words.append("schedule(dynamic)" if alone else "schedule(dynamic, 8)")
    return " ".join(words)


def copyable(scop: Scop, loop: For) -> frozenset[str]:
    """The variables around the region, and of its own scalars, of which each thread may have a copy in a loop: it
    doesn't write them, nor has it others of their names. A scalar that threads share has an address, and clang keeps it
    in memory wherever the region computes it; a pointer to memory of the text's own that it reads again and again costs
    it the vectors of strips. Beside rows that run together, calls of `APART` keep clang from knowing what it has read.
    """
    reduced = (name for names in reduced_names(scop, loop.mark).values() for name in names)
    private = (scop.arrays[name].spelling for name in loop.mark.private)
    accesses = (access for call in calls(loop.body) for access in scop.statement(call.statement).accesses)
    written = (scop.arrays[access.array] for access in accesses if access.is_write)
    inner = (item.iterator for item in items(loop.body) if isinstance(item, For))
    held = {name for call in calls(loop.body) for _, name in (*call.held, *call.chosen)}
    own = (name for item in items(loop.body) if isinstance(item, Hold) for name in declared(item))
    memory = {array.spelling for array in scop.arrays.values() if array.memory}
    local = {one.spelling for one in scop.arrays.values() if one.local and not one.rank and _is_number(one.type)}
    return (scop.by_value | held | memory | local) - {
        *own,
        loop.iterator,
        *inner,
        *reduced,
        *private,
        *(array.spelling for array in written if not array.rank),
    }


def _is_number(ctype: CType) -> bool:
    return (ctype.integer or ctype.floating) and not (ctype.volatile or ctype.atomic)


def reduced_names(scop: Scop, mark: LoopMark) -> dict[str, tuple[str, ...]]:
    """The variables of the reduction clauses, by operator; arrays by their names, since clang 19 lets threads update a
    global array itself where the clause has a section of it (``h[0:256]``).
    """
    found: dict[str, tuple[str, ...]] = {}
    for one in mark.reductions:
        names = one.held if scop.arrays[one.array].rank and not one.whole else (scop.arrays[one.array].spelling,)
        found[one.operator] = (*found.get(one.operator, ()), *names)
    return found
