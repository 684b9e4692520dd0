"""How much work a loop has: guards for parallel loops.

A parallel loop costs some microseconds for forking, however short it runs. Its work is estimated as a product of trip
counts over the names in scope there; inner iterators are replaced by the ends of their ranges, and a range that shrinks
to nothing counts half.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product
from math import ceil, floor, log10, prod

from msgspec import Struct
from msgspec.structs import replace

from scopt.astgen.emit.own_loops import OwnLoop
from scopt.astgen.emit.statement_costs import Costs, VectorCosts, likely_size, statement_costs, vector_costs
from scopt.ir.expr import exceeds, floor_div, from_linear, linear, minimum, names, plus, substitute, subtract, weighted
from scopt.ir.nest import Block, Call, Compare, Const, Expr, For, Hold, If, LoopMark, LoopNest, Max, Min, Mod, Name
from scopt.ir.nest_walks import Item, calls, children, items, map_block
from scopt.ir.scop import Scop
from scopt.machine import DEFAULT, Machine
from scopt.machine.costs import (
    threads_cost,
    work_again,
)

_HARDLY = 64
# Iterations, so many of which are worth a fork, are short: fetching them takes time beside them (chosen).
_LIGHT = 64
# Iterations of a loop that borders cut the first and the last one of.
_CUT = 2


def add_work_guards(
    scop: Scop,
    nest: LoopNest,
    weights: Mapping[str, tuple[str, int]] | None = None,
    machine: Machine = DEFAULT,
) -> LoopNest:
    """Guard each outermost parallel loop by a condition that says that its work is worth a fork.

    weights: for statements that stand for many instances of another one, which one and how many; vectors make them
      quick.
    machine: says what operations and a fork cost. A loop that surely has less work is not parallel any more; one that
    surely has more has no guard. Loops inside a parallel loop lose their parallel mark, loops inside a simd loop every
    mark.
    """
    costs = statement_costs(scop, weights or {}, machine)
    cells = {name: prod(size or 1 for size in array.sizes) for name, array in scop.arrays.items()}
    threads = _Threads(machine, cells, vector_costs(scop, costs, machine), _writing_anew(scop))
    return LoopNest(_Guards(costs, threads, frozenset(p.name for p in scop.parameters)).block(nest.body))


def with_uncopied_loops(nest: LoopNest) -> LoopNest:
    """The nest where loops with copies of arrays stand beside the same loops without, for too little work: with an `if`
    clause, one thread would have its copy all the same.
    """

    def visit(item: Item) -> tuple[Item, ...]:
        match item:
            case For(work=Compare() as enough) if any(one.whole for one in item.mark.reductions):
                return (
                    If(
                        enough,
                        Block((replace(item, work=None),)),
                        Block((replace(item, work=None, mark=without_threads(item.mark)),)),
                    ),
                )
        return (item,)

    return LoopNest(map_block(nest.body, visit))


class _Threads(Struct, frozen=True):
    """What threads cost, and what they save. cells: of each array. vectors: nanoseconds of an instance of each
    statement in a vector loop. anew: the statements each of whose instances has a cell of its own to write."""

    machine: Machine
    cells: Mapping[str, int]
    vectors: VectorCosts
    anew: frozenset[str]

    def nanoseconds(self, mark: LoopMark) -> Fraction:
        """Starting and joining; setting up each thread's copies of arrays,
        and adding one after the other to the array."""
        return threads_cost(self.machine, sum(self.cells[one.array] for one in mark.reductions if one.whole))


def _writing_anew(scop: Scop) -> frozenset[str]:
    return frozenset(
        one.name
        for one in scop.statements
        if any(a.is_write and scop.arrays[a.array].rank and a.relation.is_injective() for a in one.accesses)
    )


class _Guards(Struct, frozen=True):
    """costs: of an instance of each statement, one by one. again: a loop around comes to parallel loops again and
    again."""

    costs: Mapping[str, Fraction]
    threads: _Threads
    parameters: frozenset[str]
    again: bool = False

    def block(self, block: Block) -> Block:
        return Block(tuple(map(self.item, block.items)))

    def item(self, item: Item) -> Item:
        match item:
            case If():
                otherwise = None if item.otherwise is None else self.block(item.otherwise)
                return If(item.condition, self.block(item.then), otherwise)
            case For() if item.mark.parallel:
                share, factors = self.forks(item)
                factors = tuple(rough(factor, self.parameters) for factor in factors)
                mark = replace(item.mark, again=self.again and _is_light(item, share, factors))
                inner = replace(item, mark=mark, body=_unmark(item.body, item.mark.simd))
                if factors:
                    least = max(rounded(1 / share), _CUT if item.mark.cut else 1)
                    return replace(inner, work=exceeds(factors, least))
                return replace(inner, mark=without_threads(item.mark)) if share < 1 else inner
            case For():
                inside = replace(self, again=True)
                return replace(item, body=_unmark(item.body, True) if item.mark.simd else inside.block(item.body))
            case Call() | Hold():
                return item

    def forks(self, loop: For) -> tuple[Fraction, tuple[Expr, ...]]:
        """How many forks a parallel loop's work is worth, to be multiplied with some factors. Where a fork follows
        others, threads wait for it; it costs less, but as much as that for loops that aren't vector loops, whose work
        is less well known."""
        cost = self.threads.nanoseconds(loop.mark)
        weight, factors = loop_work(loop, self.costs, self.threads.vectors)
        if not self.again:
            return weight / cost, factors
        plain, others = loop_work(loop, self.costs)
        anew = any(call.statement in self.threads.anew for call in calls(loop.body))
        quick = weight / work_again(cost, anew=anew)
        return (min(plain / cost, quick), factors) if factors == others else (plain / cost, others)


def _is_light(loop: For, share: Fraction, factors: tuple[Expr, ...]) -> bool:
    """Whether many of a loop's iterations take as long as a fork, as far as that is known of one."""
    trips, own = _own_trips(loop)
    return factors == own and share * _LIGHT <= trips


def _unmark(block: Block, simd: bool) -> Block:
    """Drop parallel marks in the block, and simd marks too inside a simd loop: OpenMP forbids nesting them."""

    def visit(item: Item) -> Item:
        match item:
            case For():
                keep = (item.mark.simd or item.mark.ended) and not simd
                mark = (
                    replace(item.mark, parallel=False)
                    if keep
                    else replace(item.mark, parallel=False, simd=False, private=(), reductions=())
                )
                return replace(item, mark=mark, work=None, body=_unmark(item.body, simd or keep))
            case If():
                otherwise = None if item.otherwise is None else _unmark(item.otherwise, simd)
                return If(item.condition, _unmark(item.then, simd), otherwise)
            case Call() | Hold():
                return item

    return Block(tuple(map(visit, block.items)))


def without_threads(mark: LoopMark) -> LoopMark:
    """The mark of the same loop on one thread."""
    alone = replace(mark, parallel=False, collapse=1)
    return alone if mark.simd or mark.ended else replace(alone, private=(), reductions=())


def rounded(value: Fraction) -> int:
    """To one significant digit, at least 1: it is an estimate, and people read it."""
    if value < 1:
        return 1
    unit = int(10 ** floor(log10(value)))
    return round(value / unit) * unit


def rough(factor: Expr, parameters: frozenset[str]) -> Expr:
    """A factor without what hardly changes an estimate: remainders, and constants beside parameters."""
    coefficients, constant = linear(factor)
    kept: dict[Expr, int] = {x: c for x, c in coefficients.items() if not isinstance(x, Mod)}
    if not kept:
        return factor
    alone = all(isinstance(x, Name) and x.name in parameters and c > 0 for x, c in kept.items())
    return from_linear(kept, 0 if alone and abs(constant) <= _HARDLY else constant)


# --- trip counts ------------------------------------------------------------------------------------------------------


def loop_work(
    loop: For, costs: Mapping[str, Fraction], vectors: VectorCosts | None = None
) -> tuple[Fraction, tuple[Expr, ...]]:
    """The heaviest statement under the loop: a weight in nanoseconds,
    and the symbolic factors it is multiplied with. vectors: what statements cost in vector loops, if that is less."""
    totals: dict[tuple[Expr, ...], Fraction] = {}
    for path, call in paths(loop):
        weight, factors = _own_trips(loop)
        cost = costs[call.statement]
        if vectors is not None:
            quick = vectors if any(outer.mark.simd for outer in path) else vectors.sums
            cost = min(cost, quick.get(call.statement, cost))
        inside = costs.own.get(call.statement) if isinstance(costs, Costs) else None
        if inside is not None and (trips := _trips_inside(inside, call, path)) is not None:
            cost, factors = inside.cost * trips[0], factors + trips[1]
        weight *= cost
        for depth in range(1, len(path)):
            share, factor = _inner_trips(path[depth], path[: depth + 1])
            weight *= share
            factors += factor
        totals[factors] = totals.get(factors, Fraction(0)) + weight
    if not totals:
        return Fraction(0), ()
    sizes = costs.sizes if isinstance(costs, Costs) else {}
    factors = max(totals, key=lambda f: (totals[f] * prod(likely_size(one, sizes) for one in f), len(f)))
    return totals[factors], factors


def paths(item: Item, outer: tuple[For, ...] = ()) -> Iterator[tuple[tuple[For, ...], Call]]:
    """The calls below an item, each with the loops around it, outermost first."""
    if isinstance(item, Call):
        yield outer, item
        return
    path = (*outer, item) if isinstance(item, For) else outer
    for block in children(item):
        for child in block.items:
            yield from paths(child, path)


def known_length(loop: For) -> int | None:
    """How many iterations a loop has, if that is a constant."""
    trips, factors = _own_trips(loop)
    return None if factors else int(trips)


def _own_trips(loop: For) -> tuple[Fraction, tuple[Expr, ...]]:
    """Trips of a loop whose bounds are in scope: constant part and factors."""
    return _share(plus(subtract(loop.upper, loop.lower), 1), loop.step)


def _share(extent: Expr, step: int) -> tuple[Fraction, tuple[Expr, ...]]:
    """Remainders, as of rows that are left over, are as large as they can be: beside them other loops count."""
    coefficients, constant = linear(extent)
    if coefficients and all(isinstance(x, Mod) and c > 0 for x, c in coefficients.items()):
        extent = Const(constant + sum(c * (x.divisor - 1) for x, c in coefficients.items() if isinstance(x, Mod)))
    if isinstance(extent, Const):
        return Fraction(max(0, ceil(Fraction(extent.value, step)))), ()
    return Fraction(1, step), (extent,)


def _inner_trips(loop: For, path: tuple[For, ...]) -> tuple[Fraction, tuple[Expr, ...]]:
    """Trips of an inner loop, without the iterators of `path`, the loops from the guarded one to this one."""
    extents = list(extent_candidates(loop))
    constants = [e for e in extents if isinstance(e, Const)]
    if constants:
        return _share(min(constants, key=lambda e: e.value), loop.step)
    ranges = {outer.iterator: outer for outer in path}
    found: dict[tuple[int, bool], dict[frozenset[str], Expr]] = {}
    for extent in extents:
        bound = bounded(extent, ranges)
        if bound is not None:
            shrinks = any(name in ranges for name in names(extent))
            found.setdefault((len(names(bound)), shrinks), {}).setdefault(frozenset(names(bound)), bound)
    if not found:
        return Fraction(1), ()
    simplest = min(found)
    share, factors = _share(minimum(found[simplest].values()), loop.step)
    return (share / 2 if simplest[1] else share), factors


def _trips_inside(loop: OwnLoop, call: Call, path: tuple[For, ...]) -> tuple[Fraction, tuple[Expr, ...]] | None:
    """The same of a loop that is part of a statement; None if it may be any number."""
    extent = substitute(loop.extent, dict(zip(loop.iterators, call.args, strict=True)))
    ranges = {outer.iterator: outer for outer in path}
    bound = bounded(extent, ranges)
    if bound is None:
        return None
    share, factors = _share(bound, 1)
    return (share / 2 if any(name in ranges for name in names(extent)) else share), factors


def extent_candidates(loop: For) -> Iterator[Expr]:
    """Upper bounds of the loop's extent upper - lower + 1, one for each pair of bounds."""
    if loop.mark.most:
        yield Const(loop.mark.most)
    yield from (plus(subtract(upper, lower), 1) for lower, upper in bound_pairs(loop))


def bound_pairs(loop: For) -> Iterator[tuple[Expr, Expr]]:
    lowers = loop.lower.args if isinstance(loop.lower, Max) else (loop.lower,)
    uppers = loop.upper.args if isinstance(loop.upper, Min) else (loop.upper,)
    return product(lowers, uppers)


def bounded(extent: Expr, ranges: Mapping[str, For]) -> Expr | None:
    """An upper bound of `extent` without the iterators in `ranges`;
    None if an iterator is used in a way that isn't linear."""
    for name, loop in reversed(list(ranges.items())):
        coefficients, constant = linear(extent)
        remainders = {x: c for x, c in coefficients.items() if isinstance(x, Mod) and name in names(x)}
        coefficients = {x: c for x, c in coefficients.items() if x not in remainders}
        constant += sum(c * (x.divisor - 1) for x, c in remainders.items() if c > 0 and isinstance(x, Mod))
        factor = coefficients.pop(Name(name), 0)
        if any(name in names(x) for x in coefficients):
            return None
        if factor:
            end = _simplest(loop.upper, Min) if factor > 0 else _simplest(loop.lower, Max)
            extent = weighted([(factor, end), *((c, x) for x, c in coefficients.items())], constant)
        else:
            extent = weighted([(c, x) for x, c in coefficients.items()], constant)
    return extent


def _simplest(bound: Expr, kind: type[Min] | type[Max]) -> Expr:
    return min(bound.args, key=lambda e: len(names(e))) if isinstance(bound, kind) else bound


# --- what loops are -------------------------------------------------------------------------------------------------


def last_iteration(loop: For) -> Expr:
    """The iterator's last value; smaller than the first where there is none."""
    return weighted([(1, loop.lower), (loop.step, floor_div(subtract(loop.upper, loop.lower), loop.step))])


def is_tile_loop(loop: For) -> bool:
    """Whether the iterator only picks tiles: it strides, or loops inside begin at multiples of it, or no statement's
    iterator depends on it."""
    if loop.step > 1 or any(
        _multiplies(inner.lower, loop.iterator) for inner in items(loop.body) if isinstance(inner, For)
    ):
        return True
    return all(loop.iterator not in names(arg) for call in calls(loop.body) for arg in call.args)


def _multiplies(bound: Expr, iterator: str) -> bool:
    ends = bound.args if isinstance(bound, Max) else (bound,)
    return any(abs(linear(end)[0].get(Name(iterator), 0)) > 1 for end in ends)
