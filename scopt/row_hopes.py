"""Whether rows with cells for their results may run together at all, told by dependences before any schedule is made.

A sum over all that an iteration does has its instances there one after the other. Where the next iteration waits for
the sum besides, as in a loop in time that goes on with a norm of its vectors, all of its instances have one order, and
no schedule lets two of them run together.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import islpy as isl

from scopt.form_work import apart_statements
from scopt.ir.scop import Dependence, Dependences, Scop, Statement
from scopt.poly.components import ordered_components
from scopt.poly.isl_utils import IN, OUT
from scopt.poly.source_loops import Loops, source_loops


def may_run_together(scop: Scop, deps: Dependences, made: Scop, cells: Collection[str]) -> bool:
    """Whether no statement that has to run together has all of its instances in one order. deps: of the SCoP without
    the cells, whose statements have the same names."""
    needed, depth = apart_statements(made, cells)
    loops = source_loops(scop)
    kept = [
        one for one in deps.select("flow", "anti", "output") if one.kind == "flow" or not scop.arrays[one.array].private
    ]
    sums = [name for name in sorted(needed) if _is_in_order(scop.statement(name), kept, depth)]
    return not any(_is_awaited(name, kept, depth, loops) for name in sums)


def _is_in_order(statement: Statement, kept: list[Dependence], depth: int) -> bool:
    """Whether a statement adds to one cell in all of its instances in an iteration of the outer loops."""
    own = {one.array for one in kept if one.kind == "flow" and one.source == one.sink == statement.name}
    inner = len(statement.iterators) - depth
    if inner < 0:  # outside of some of these loops
        return False
    return any(
        access.kind == "write"
        and access.array in own
        and access.relation.project_out(IN, depth, inner).is_single_valued()
        for access in statement.accesses
    )


def _is_awaited(name: str, kept: list[Dependence], depth: int, loops: Mapping[str, Loops]) -> bool:
    """Whether later iterations of the innermost of the outer loops wait for what they are waited for by, by statements:
    a circle of dependences, one of which the loop carries."""
    inside = [other for other, own in loops.items() if own[:depth] == loops[name][:depth]]
    number = {other: k for k, other in enumerate(inside)}
    successors: list[set[int]] = [set() for _ in inside]
    carried = set[tuple[int, int]]()
    for one in kept:
        if one.source not in number or one.sink not in number:
            continue
        ends, relation = (number[one.source], number[one.sink]), _within(one.relation, depth - 1)
        if ends in carried or relation.is_empty():
            continue
        successors[ends[0]].add(ends[1])
        if not relation.is_subset(relation.equate(IN, depth - 1, OUT, depth - 1)):
            carried.add(ends)
    circle = next(set(part) for part in ordered_components(successors) if number[name] in part)
    return any(first in circle and second in circle for first, second in carried)


def _within(relation: isl.Map, depth: int) -> isl.Map:
    """The pairs in one iteration of so many outer loops."""
    for k in range(depth):
        relation = relation.equate(IN, k, OUT, k)
    return relation
