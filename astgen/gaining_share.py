"""How much of a region's work is done in loops that gain something.

Threads or vectors for the loops that clear an array don't pay for what becomes of the nest behind them, deeper by a
loop, that runs in order as before.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import islpy as isl
from msgspec.structs import replace

from scopt import ir
from scopt.astgen.emit.kept_inside import kept_inside
from scopt.astgen.emit.loop_work import is_tile_loop
from scopt.astgen.gained import calls_with_loops
from scopt.astgen.library_loops import is_library_loop
from scopt.astgen.one_thread import SHARED_INSIDE
from scopt.astgen.passes.masking import has_masks
from scopt.astgen.passes.reads_ahead import reads_ahead
from scopt.astgen.passes.skipping import has_searches
from scopt.ir.expr import names
from scopt.ir.marked_schedule import MarkedSchedule
from scopt.ir.nest import Block, Call, For, LoopNest, Name
from scopt.ir.nest_walks import Item, calls, map_block
from scopt.ir.scop import Scop, Statement
from scopt.ir.trip_counts import iterations
from scopt.ir.walks import used_names
from scopt.machine import Machine
from scopt.machine.costs import ITERATIONS, UNKNOWN_EXTENT, instance_cost, takes_its_time
from scopt.poly.isl_utils import PARAM, SET
from scopt.poly.same_object import of_same

# A share that isn't worth what becomes of the rest (chosen: with two threads it makes a region faster by a twentieth).
LEAST_SHARE = 0.1
# How often something is repeated at least, if nothing is known of that: steps in time, sweeps (chosen).
_REPEATED = 32


def gains_too_little(scop: Scop, marked: MarkedSchedule, nest: LoopNest, machine: Machine) -> bool:
    """Whether loops that gain something have a small share of the work, with sizes as arrays and macros tell them.

    Where nothing is known of how often loops run that gain nothing, they are taken to run seldom if they are what they
    were, often if they are others now. Where none gains anything, that is another question, unless there are some that
    compilers call a function for.
    """
    calls = list(calls_with_loops(nest.body, ()))
    known = {statement.name for statement in scop.statements}
    made = marked.strips or marked.tilings or marked.packed
    if made or any(call.statement not in known for _, call in calls):
        return False  # what is made of statements is for something
    gaining = _gaining(scop, nest)
    if not gaining:
        return any(_is_cleared(scop, call) and any(_gains(one, call) for one in path) for path, call in calls)
    often = {call.statement for path, call in calls if not _is_as_it_was(path, call)} | gaining
    work = {one.name: _work(scop, one, machine, often=one.name in often) for one in scop.statements}
    return sum(work[name] for name in gaining & known) < LEAST_SHARE * sum(work.values())


def gains_by_threads_alone(scop: Scop, marked: MarkedSchedule, nest: LoopNest, machine: Machine) -> bool:
    """Whether loops that threads share in another order than the source's do nearly all of the work, and one thread
    gains nothing by them: compilers know less of loops over sums of iterators (a parser by rules: 1.4 times as long by
    clang)."""
    if not any(choice.mechanism == SHARED_INSIDE for choice in marked.choices):
        return False

    def alone(item: Item) -> tuple[Item, ...]:
        return (replace(item, mark=replace(item.mark, parallel=False)),) if isinstance(item, For) else (item,)

    known, one_thread = {one.name for one in scop.statements}, LoopNest(map_block(nest.body, alone))
    if marked.strips or marked.tilings or marked.packed or not {call.statement for call in calls(nest.body)} <= known:
        return False
    return not _gaining(scop, one_thread) or gains_too_little(scop, marked, one_thread, machine)


def leaves_the_deepest(scop: Scop, marked: MarkedSchedule, nest: LoopNest) -> bool:
    """Whether there are loops, in statements that are executed as a whole, that gain nothing, and are deeper than all
    that gain something: those take most of the time."""
    if marked.tilings or marked.packed:
        return False
    known = {one.name for one in scop.statements}
    own = (item for item in nest.body.items if {call.statement for call in calls(Block((item,)))} <= known)
    gaining = _gaining(scop, LoopNest(Block(tuple(own))))
    gaining |= {name for one in marked.strips.values() for name in one.statements}
    whole = [len(one.iterators) + _depth(one.body) for one in scop.statements if one.name not in gaining]
    return max(whole, default=0) > max(
        (len(one.iterators) for one in scop.statements if one.name in gaining), default=0
    )


def _depth(node: ir.Node) -> int:
    """How many loops stand in one another that count to what data say. No part is taken of other ones."""
    if isinstance(node, ir.While | ir.DoWhile):
        return 0
    own = isinstance(node, ir.For) and iterations(node) is None
    return own + max(map(_depth, node.parts), default=0)


def _gaining(scop: Scop, nest: LoopNest) -> set[str]:
    """The statements in loops that gain something."""
    found = {
        call.statement
        for path, call in calls_with_loops(nest.body, ())
        if any(_gains(one, call) for one in path) and (_is_shared(path) or not _is_cleared(scop, call))
    }
    for item in nest.body.items:
        part = LoopNest(Block((item,)))
        if has_searches(scop, part) or has_masks(scop, part) or reads_ahead(scop, part):
            found |= {call.statement for _, call in calls_with_loops(part.body, ())}
    return found | {one.name for one in scop.statements if kept_inside(scop, one)}


def _is_shared(path: tuple[For, ...]) -> bool:
    return any(one.mark.parallel for one in path)


def _is_cleared(scop: Scop, call: Call) -> bool:
    """Whether an instance is one of a loop that compilers call a function for."""
    statement = next((one for one in scop.statements if one.name == call.statement), None)
    return statement is not None and is_library_loop(scop, statement)


def _gains(loop: For, call: Call) -> bool:
    """Whether an instance gains by a loop around it. Tiles are what no instance is told the number of."""
    mark = loop.mark
    marked = mark.parallel or mark.simd or mark.jammed or mark.beside or mark.around or mark.reductions or mark.ended
    tile = is_tile_loop(loop) and loop.step > 1 and not any(loop.iterator in names(arg) for arg in call.args)
    return bool(marked) or tile


def _is_as_it_was(path: tuple[For, ...], call: Call) -> bool:
    """Whether loops run in the order of the source, from where it has them."""
    return [arg for arg in call.args if names(arg)] == [Name(loop.iterator) for loop in path]


def _work(scop: Scop, statement: Statement, machine: Machine, *, often: bool) -> float:
    """Nanoseconds that a statement takes, if what data say takes often or seldom."""
    cost = float(instance_cost(statement.body, machine))
    if not often and takes_its_time(statement.body):
        cost /= ITERATIONS
    return cost * prod(
        min(extent, _REPEATED) if not often and repeats and unknown else extent
        for extent, repeats, unknown in _extents(scop, statement)
    )


def _followed(scop: Scop, statement: Statement) -> set[str]:
    """The names that a statement uses, and those that what gives its variables their values does: such a statement has
    to do with the iterators of that."""
    found, fresh = set[str](), [statement]
    seen, writers = {statement.name}, _writers(scop)
    while fresh:
        one = fresh.pop()
        found |= set(used_names(one.body))
        for name in {access.array for access in one.accesses if access.kind != "write"} & writers.keys():
            fresh += [other for other in writers[name] if other.name not in seen]
            seen |= {other.name for other in writers[name]}
    return found


@of_same(4)
def _writers(scop: Scop) -> dict[str, list[Statement]]:
    """The statements that write variables of an iteration's own, by the variables' names."""
    found: dict[str, list[Statement]] = {}
    for one in scop.statements:
        for name in {access.array for access in one.accesses if access.is_write}:
            if not scop.arrays[name].rank and scop.arrays[name].private:
                found.setdefault(name, []).append(one)
    return found


def _extents(scop: Scop, statement: Statement) -> Iterator[tuple[int, bool, bool]]:
    """How many values each iterator takes at most where those of the loops around it stay, many where that isn't known.
    Each with whether the statement has nothing to do with the iterator, and whether the number is known."""
    domain, used = statement.domain, _followed(scop, statement)
    for parameter in scop.parameters:
        position = domain.find_dim_by_name(PARAM, parameter.name)
        if position >= 0 and parameter.estimate is not None:
            domain = domain.fix_val(PARAM, position, isl.Val(parameter.estimate))
    for k, iterator in enumerate(statement.iterators):
        own = domain.project_out(SET, k + 1, domain.dim(SET) - k - 1)
        pairs = isl.Map.from_domain_and_range(own, own)
        for outer in range(k):
            pairs = pairs.equate(isl.dim_type.in_, outer, isl.dim_type.out, outer)
        distances = pairs.deltas()
        most = distances.project_out(PARAM, 0, distances.dim(PARAM)).dim_max_val(k)
        known = most.is_int()
        yield int(most.to_python()) + 1 if known else UNKNOWN_EXTENT, iterator not in used, not known
