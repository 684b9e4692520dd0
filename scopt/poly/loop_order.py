"""What keeps the iterations of a loop in order: the statements that wait for other iterations, and those that wait for
these. All others may run before them, for all iterations, in any order."""

from __future__ import annotations

from collections.abc import Iterator

from scopt.ir.scop import Dependence, Dependences, Scop
from scopt.poly.isl_utils import IN, OUT
from scopt.poly.source_loops import Loops, source_loops


def statements_in_order(scop: Scop, deps: Dependences, around: Loops) -> frozenset[str]:
    """The statements of a loop that wait for other iterations of it, or for statements that do; none of a parallel one.

    around: the loop, behind those around it. deps: with reductions in any order as far as that is allowed. Values of
    private arrays that iterations compute anew keep nothing in order: each may have cells of its own."""
    edges, waiting = dict[str, set[str]](), set[str]()
    row = len(around) - 1
    for one in _binding(scop, deps, around):
        together = one.relation
        for k in range(row):
            together = together.equate(IN, k, OUT, k)
        inside = together.equate(IN, row, OUT, row)
        carried = not together.is_subset(inside)
        if carried or (one.source != one.sink and not inside.is_empty()):
            edges.setdefault(one.source, set()).add(one.sink)
        if carried:
            waiting.add(one.sink)
    todo = [*waiting]
    while todo:
        more = edges.get(todo.pop(), set()) - waiting
        waiting |= more
        todo += more
    return frozenset(waiting)


def _binding(scop: Scop, deps: Dependences, around: Loops) -> Iterator[Dependence]:
    """The dependences between statements of a loop, but for those between live ranges of private cells."""
    names = {name for name, own in source_loops(scop).items() if own[: len(around)] == around}
    for one in deps.select("flow", "anti", "output"):
        if {one.source, one.sink} <= names and (one.kind == "flow" or not scop.arrays[one.array].private):
            yield one
