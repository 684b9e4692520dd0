"""Loops over lines, and how much there is to do in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf, prod

import islpy as isl
from msgspec import Struct

from scopt.ir.scop import Access, Array, Dependence, Dependences, Scop, Statement
from scopt.machine import Machine
from scopt.machine.batch_costs import BATCH_BYTES
from scopt.machine.costs import arithmetic
from scopt.poly.body_rewriting import agree
from scopt.poly.isl_utils import IN, PARAM, SET
from scopt.poly.linear import subscript_rows
from scopt.poly.loop_lengths import at_estimates, long_loops
from scopt.poly.reductions import update_of
from scopt.poly.source_iterations import in_one_iteration, is_carried
from scopt.poly.source_loops import Loops, source_loops
from scopt.scheduler.decisions.contractions import shape_of
from scopt.scheduler.decisions.items import items_of
from scopt.scheduler.decisions.latencies import on_circuits
from scopt.scheduler.decisions.small_loops import reach

# So many operations one run of such a loop has at least for each nanosecond that starting threads takes: their first
# meeting, and new pages for their buffers, take several times as long.
_MUCH = 48
# So many times as much where compilers make vectors along the lines anyway: threads alone are gained.
_READY = 8
# Loops of unknown length are that long at least.
_SHORTEST = 32
# Loops around a statement of a loop along a line, from the line's on.
_ALONG = 2


class Lines(Struct, frozen=True, eq=False):
    """The statements in a loop. loops: those around them, the last one itself; `scop`: as it was read."""

    scop: Scop
    loops: Loops
    statements: Mapping[str, Statement]

    @property
    def row(self) -> int:
        """The position of the loop's iterator."""
        return len(self.loops) - 1

    def together(self, relation: isl.Map) -> isl.Map:
        """The pairs of one execution of the loop."""
        return in_one_iteration(relation, self.row)

    def carried(self, relation: isl.Map) -> isl.Map:
        """The pairs of different iterations in one execution of the loop."""
        return self.together(relation).subtract(in_one_iteration(relation, self.row + 1))

    def carries(self, one: Dependence) -> bool:
        return {one.source, one.sink} <= self.statements.keys() and is_carried(one.relation, self.row)

    def has_inside(self, one: Dependence) -> bool:
        """Whether some pairs are of one iteration of the loop."""
        both = {one.source, one.sink} <= self.statements.keys()
        return both and not in_one_iteration(one.relation, self.row + 1).is_empty()

    def uses(self, array: Array) -> Iterator[tuple[Statement, Access]]:
        for statement in self.statements.values():
            yield from ((statement, access) for access in statement.accesses if access.array == array.name)

    def walked_along(self) -> bool:
        """Whether lines lie beside each other in memory: some array's last subscript is the loop's iterator alone, up
        to a constant."""
        accesses = (access for one in self.statements.values() for access in one.accesses)
        return any(_is_last(access.relation, self.row) for access in accesses)


def orders_of_lines(scop: Scop, leaving: frozenset[str]) -> list[list[Lines]]:
    """The loops around others, first with those in front whose lines lie beside each other, where strips of lines are
    made of whole vectors, then from the outside in. leaving: statements that aren't in the loops any more."""
    loops = source_loops(scop)
    found = list[Lines]()
    for own in sorted({around[:depth] for around in loops.values() for depth in range(1, len(around))}):
        inside = (one for one in scop.statements if one.name not in leaving)
        found.append(Lines(scop, own, {one.name: one for one in inside if loops[one.name][: len(own)] == own}))
    found = [one for one in found if one.statements]
    beside = sorted(found, key=lambda one: not one.walked_along())
    return [beside, found] if beside != found else [found]


def _is_last(relation: isl.Map, iterator: int) -> bool:
    rows = subscript_rows(relation)
    if not rows or iterator >= relation.dim(IN):  # tiles of the source's own may have left a statement fewer iterators
        return False
    return abs(rows[-1][iterator]) == 1 and sum(map(bool, rows[-1][:-1])) == 1


def with_much_work(deps: Dependences, lines: Lines, machine: Machine, work: Iterable[Array]) -> isl.Set:
    """Parameters for which the loop has enough to do: by one of its statements alone, since whatever is computed about
    all of the SCoP would have to be computed for each of several cases; by that which asks for the fewest parameters,
    since others may be small (taps of a filter beside the bins of its transform). work: the arrays."""
    deepest = max(one.domain.dim(SET) for one in lines.statements.values())
    inner = [one for one in lines.statements.values() if one.domain.dim(SET) == deepest]
    much = _MUCH * machine.fork_nanoseconds * (1 if waits(deps, lines) else _READY)
    needed = int(much / sum(1 + arithmetic(one.body) for one in inner)) + 1
    context = lines.scop.context
    about = {one.name: one.estimate for one in lines.scop.parameters if one.estimate is not None}
    if all(array.private for array in work):  # threads have copies anyway
        about = {}
    found = (long_loops(one.domain.intersect_params(context), lines.row, needed, _SHORTEST, about) for one in inner)
    some = sorted((one for one in found if not one.is_empty()), key=_parameters)
    widest = (one for one in some if all(other.is_subset(one) for other in some))
    return next(iter((*widest, *some)), isl.Set.empty(context.get_space()))


def has_copies(deps: Dependences, lines: Lines, work: Sequence[Array]) -> bool:
    """Whether threads have copies of the arrays anyway, and there is more in a line than loops along it; not of small
    problems, which may be lanes."""
    deep = any(len(one.iterators) > lines.row + _ALONG for one in lines.statements.values())
    return deep and all(array.private for array in work) and not _are_problems(deps, lines, work)


def _are_problems(deps: Dependences, lines: Lines, work: Iterable[Array]) -> bool:
    """Whether lines are small problems of the same size, whose steps wait for each other: these may be lanes, however
    many loops a problem has (`scopt.scheduler.decisions.batches`). Those with nothing but small loops compilers write
    out, and keep in registers."""
    if not items_of(lines.scop).keys().isdisjoint(lines.statements):
        return False
    # sums of floating-point numbers wait, too, but mostly have cells beside each other, which are lanes as they are
    # (measured for products of blocks of 8 x 8: two thirds of the time that batches take)
    updates = (update_of(lines.scop, lines.scop.statement(name)) for name in lines.statements)
    if any(one is not None and lines.scop.arrays[one.array].type.floating for one in updates):
        return False
    sizes = [one.type.bytes * prod(inf if size is None else size for size in one.sizes) for one in work]
    if sum(sizes) > BATCH_BYTES or not waits(deps, lines):
        return False
    inner = lines.row + 1
    return all(
        reach(one.domain, inner, k) is not None
        for one in lines.statements.values()
        for k in range(inner, one.domain.dim(SET))
    )


def _parameters(context: isl.Set) -> int:
    """How many parameters a set says anything about."""
    return sum(context.involves_dims(PARAM, k, 1) for k in range(context.dim(PARAM)))


def has_products(deps: Dependences, lines: Lines, machine: Machine) -> bool:
    """Whether a line has a contraction with enough to do for threads to share that as well, and that waits for no other
    statement that waits for it: a scheduler gives it loops of its own, whose tiles are worth more than lines. Of
    parameters that nobody knows anything about it is long."""
    kinds = deps.select("flow", "anti", "output")
    edges = {(one.source, one.sink) for one in kinds if one.source != one.sink and lines.has_inside(one)}
    around = on_circuits(lines.statements, edges)
    about = {one.name: one.estimate for one in lines.scop.parameters if one.estimate is not None}
    for name in lines.statements.keys() - around:
        statement = lines.statements[name]
        shape = shape_of(lines.scop, statement)
        if shape is None or min(shape) <= lines.row:
            continue
        needed = int(_MUCH * machine.fork_nanoseconds / (1 + arithmetic(statement.body))) + 1
        inside = statement.domain.intersect_params(lines.scop.context)
        long = long_loops(inside, lines.row + 1, needed, estimates=about)
        if not at_estimates(long, about).is_empty():
            return True
    return False


def waits(deps: Dependences, lines: Lines) -> bool:
    """Whether steps along a line wait for each other: that is what lanes, and lines beside each other, are for."""
    loops = source_loops(lines.scop)
    for one in deps.select("flow"):
        own = loops[one.source]
        if one.source not in lines.statements or own != loops[one.sink] or len(own) <= len(lines.loops):
            continue
        if not agree(one.relation, len(own)):
            return True
    return False
