"""Neighbouring loops that work on the same lines: threads that share one of them should share the others, too.

What a thread has written lies in its core's own caches. A loop of one thread behind it brings those lines over, and
where a loop around comes back to both, they go to and fro. So parallel loops over the same iterations of a loop around
have one limit: the work of all of them is worth a fork for each. Where one of the loops can't be shared, the others are
only if there is more than a core's own caches keep, so that lines come from elsewhere anyway, or if they compute for
longer than lines travel. (Measured with two threads: the two loops of a step of advection, of 220 × 220 floats, take
149 µs for six steps on one thread, 173 if one loop is shared, and 118 if both are; where cores lie further apart, two
loops of a step of electric and magnetic fields take five to ten times as long if one is shared, from 100 KiB to the
size of the last cache.)
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import inf, prod

from msgspec import Struct
from msgspec.structs import replace

from scopt.astgen.emit.loop_work import known_length, loop_work, paths, rough, rounded
from scopt.astgen.emit.statement_costs import VectorCosts, statement_costs, vector_costs
from scopt.astgen.source_work import has_vectors, product_of, vector_elements
from scopt.ir.expr import exceeds, names
from scopt.ir.nest import Block, Call, Expr, For, Hold, If, LoopNest
from scopt.ir.nest_walks import Item, children, items, map_block
from scopt.ir.scop import Access, Array, Scop
from scopt.machine import Machine
from scopt.machine.costs import handed_cost, handed_iterations
from scopt.poly.linear import subscript_rows

Factors = frozenset[tuple[Expr, int]]


def with_common_guards(scop: Scop, nest: LoopNest) -> LoopNest:
    """The nest where parallel loops inside of another loop that do as many iterations each, and share arrays, have one
    test of their work: all of it together is worth as many forks."""

    def visit(item: Item) -> tuple[Item, ...]:
        if not isinstance(item, For) or item.mark.parallel:
            return (item,)
        groups = defaultdict[Factors, list[For]](list)
        for loop in _neighbours(item.body):
            if loop.mark.parallel and (factors := _factors(loop)):
                groups[factors].append(loop)
        found = {
            id(loop): new
            for group in groups.values()
            for loop, new in _together(_connected(scop, group))
            if new != loop
        }
        return (replace(item, body=_replaced(item.body, found)),)

    return LoopNest(map_block(nest.body, visit))


def with_lines_kept(
    scop: Scop,
    nest: LoopNest,
    weights: Mapping[str, tuple[str, int]],
    machine: Machine,
    beside: frozenset[str] | None = frozenset(),
) -> LoopNest:
    """The nest where threads leave loops alone that share lines with loops of one thread, as long as a core's own
    caches keep them. weights: as for `statement_costs`. beside: the nest is a part of what runs again and again, and
    the rest of it goes through what these names lead to in one thread; None: through anything."""
    costs = statement_costs(scop, weights, machine)
    keeping = _Keeping(scop, machine, costs, vector_costs(scop, costs, machine))

    def visit(item: Item) -> tuple[Item, ...]:
        if isinstance(item, For) and not item.mark.parallel:
            return (replace(item, body=keeping.block(item.body)),)
        return (item,)

    kept = keeping.block(map_block(nest.body, visit))
    if beside is None or beside:
        kept = _replaced(kept, {id(loop): keeping.from_elsewhere(loop, beside) for loop in _neighbours(kept)})
    return LoopNest(kept)


class _Keeping(Struct, frozen=True, eq=False):
    """costs, vectors: nanoseconds of an instance of each statement, one by one, and in a vector loop."""

    scop: Scop
    machine: Machine
    costs: Mapping[str, Fraction]
    vectors: VectorCosts

    def block(self, block: Block) -> Block:
        loops = list(_neighbours(block))
        alone = [loop for loop in loops if not any(map(_is_parallel, items(Block((loop,)))))]
        shared = [loop for loop in loops if loop.mark.parallel and _factors(loop)]
        found = {id(loop): self.kept(loop, alone) for loop in shared} if alone else {}
        return _replaced(block, found) if found else block

    def kept(self, loop: For, alone: Sequence[For]) -> For:
        """The loop with a test of what a core's caches keep, if one of these works on the same lines."""
        size = max((self.common(loop, other) for other in alone if self.like(loop, other)), default=0)
        return self.limited(loop, size, known=True)

    def from_elsewhere(self, loop: For, beside: frozenset[str] | None) -> For:
        """The loop with a test of what a core's caches keep, if there is something that one thread may have there:
        what some names lead to, or anything (None)."""
        if not loop.mark.parallel or not _factors(loop):
            return loop
        arrays, cells = self.scop.arrays, _arrays(self.scop, loop, len(_factors(loop)))
        size = sum(
            one.size(arrays[name])
            for name, one in cells.items()
            if beside is None or self.root(arrays[name].spelling) in beside
        )
        return self.limited(loop, size, known=beside is not None)

    def root(self, name: str) -> str:
        """The variable, or the member, that a pointer was loaded from where the region begins; other names as they
        are."""
        loads = dict(filter(None, map(_load, self.scop.prologue)))
        while name in loads and loads[name] != name:
            name = loads.pop(name)
        return name

    def limited(self, loop: For, size: int, *, known: bool) -> For:
        """The loop with a test of what a core's caches keep, where each iteration takes so many bytes from there.
        known: what one thread does beside it."""
        weight, _ = loop_work(loop, self.costs, self.vectors)
        if not size or handed_cost(self.machine, size) < weight / 2:
            return loop
        assert loop.work is not None
        product = product_of(loop.work)
        assert product is not None
        factors, limit = product
        # the region's own test asks for more of what compilers may make vectors of
        again = vector_elements(self.scop, self.machine) if not known and not has_vectors(loop) else 1
        least = handed_iterations(self.machine, size, limit * again, known=known) / again
        return replace(loop, work=exceeds(factors, rounded(least)))

    def like(self, loop: For, other: For) -> bool:
        """Whether another loop does as many iterations."""
        parameters = frozenset(p.name for p in self.scop.parameters)
        _, factors = loop_work(other, self.costs, self.vectors)
        return _counted(rough(factor, parameters) for factor in factors) == _factors(loop)

    def common(self, loop: For, other: For) -> int:
        """Bytes of the cells of each array that both access, others in each iteration, and one of them writes."""
        own, others = (_arrays(self.scop, one, len(_factors(loop))) for one in (loop, other))
        shared = [name for name in own if name in others and (own[name].written or others[name].written)]
        return sum(own[name].size(self.scop.arrays[name]) for name in shared)


def _load(text: str) -> tuple[str, str] | None:
    """The name that a declaration gives what it loads, and the last one of where that comes from."""
    declared, _, value = text.partition(" = ")
    if re.fullmatch(r"[\w$]+ \+ [\w$]+;", value):
        value = value.partition(" ")[0]  # a place in what the name leads to
    names, roots = (re.findall(r"[A-Za-z_$][\w$]*", part) for part in (declared, value))
    return (names[-1], roots[-1]) if names and roots else None


def _is_parallel(item: Item) -> bool:
    return isinstance(item, For) and item.mark.parallel


def _neighbours(block: Block) -> Iterator[For]:
    """The loops of a block that no other one of it is around."""
    for item in block.items:
        if isinstance(item, For):
            yield item
        else:
            for part in children(item):
                yield from _neighbours(part)


def _replaced(block: Block, found: Mapping[int, For]) -> Block:
    """The block with other loops in the place of some of these, by their identity."""

    def other(item: Item) -> Item:
        match item:
            case If():
                otherwise = None if item.otherwise is None else _replaced(item.otherwise, found)
                return replace(item, then=_replaced(item.then, found), otherwise=otherwise)
            case Hold():
                return replace(item, body=_replaced(item.body, found))
        return found.get(id(item), item) if isinstance(item, For) else item

    return Block(tuple(map(other, block.items)))


def _factors(loop: For) -> Factors:
    """The factors of a loop's work, each with how often it is one; none without a test of a product."""
    product = None if loop.work is None else product_of(loop.work)
    return frozenset() if product is None else _counted(product[0])


def _counted(factors: Iterator[Expr] | Sequence[Expr]) -> Factors:
    return frozenset(Counter(factors).items())


class _Cells(Struct, frozen=True):
    """What a loop accesses of an array. number: of cells, for each iteration of the loops that nobody knows the length
    of."""

    written: bool = False
    number: int = 0

    def size(self, array: Array) -> int:
        """Bytes."""
        return self.number * array.type.bytes


def _arrays(scop: Scop, loop: For, iterators: int) -> dict[str, _Cells]:
    """The arrays that a loop accesses. iterators: so many decide about the cell, at least, the loop's own too."""
    found = dict[str, _Cells]()
    for path, call in paths(loop):
        given = frozenset[str]().union(*map(names, call.args))
        for access in scop.statement(call.statement).accesses:
            used = _used(access, call)
            own = loop.iterator in used or loop.iterator not in given
            if scop.arrays[access.array].rank and _iterators(access) >= iterators and own:
                known = found.get(access.array, _Cells())
                number = prod(length for one in path if one.iterator in used and (length := known_length(one)))
                found[access.array] = _Cells(known.written or access.is_write, max(known.number, number))
    return found


def _used(access: Access, call: Call) -> frozenset[str]:
    """The iterators of loops that decide about the cell."""
    rows = subscript_rows(access.relation)
    moving = [arg for k, arg in enumerate(call.args) if rows is None or any(row[k] for row in rows)]
    return frozenset[str]().union(*map(names, moving))


def _iterators(access: Access) -> float:
    """How many iterators a subscript, or another one, has; all where that isn't known."""
    rows = subscript_rows(access.relation)
    return inf if rows is None else sum(map(any, zip(*rows, strict=True)))


def _connected(scop: Scop, loops: Sequence[For]) -> list[For]:
    """The loops that share an array with another one of them."""
    arrays = [_arrays(scop, loop, 1).keys() for loop in loops]
    return [
        loop
        for k, loop in enumerate(loops)
        if any(arrays[k] & other for index, other in enumerate(arrays) if index != k)
    ]


def _together(loops: Sequence[For]) -> list[tuple[For, For]]:
    """Loops, each with the same one under their common test."""
    products = [product_of(loop.work) for loop in loops if loop.work is not None]
    forks = sum((Fraction(1, max(limit, 1)) for _, limit in filter(None, products)), Fraction(0))
    return [
        (loop, replace(loop, work=exceeds(product[0], rounded(len(products) / forks))))
        for loop, product in zip(loops, products, strict=True)
        if product is not None
    ]
