"""How long a loop nest in numbers takes to run, on a modelled machine.

What is modelled:

- arithmetic of the statements, divided by the vector's lanes in vector loops that walk through memory by one element or
  not at all; the latency of reductions in innermost loops; accesses to the first cache, apart from those that stay in a
  register during an innermost loop;
- loops: an iteration, a run (its bounds), guards and rounding divisions, wherever they stand;
- lines fetched into each cache: distinct lines of the largest part of the nest whose distinct lines fit into that
  cache, times its runs (Ferrante, Sarkar and Thrash 1991; the reuse analysis of Kennedy and McKinley 1992, with
  capacities). Lines that the prefetcher sees coming (strides up to a line) are cheaper than jumps;
- parallel loops: the work divided by the threads, a fork each time, memory bandwidth that fewer threads exhaust
  already.

What isn't: associativity and conflict misses, the TLB, out-of-order execution, unequal shares of the threads, false
sharing, what the C compiler does beyond vectorizing innermost loops, alias checks. It ranks schedules of one SCoP; it
doesn't predict seconds.

What loops are made of costs what `scopt.machine.costs` says. docs/environments.md has how well the model ranks
schedules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import prod

from msgspec import Struct, field

from scopt.machine import Machine
from scopt.machine.costs import ELEMENT
from scopt.machine.loop_costs import LoopCosts
from scopt.simulation.nest_samples import Guard, Instance, Item, Loop


class _Work(Struct, frozen=True):
    """Nanoseconds for each run of an item: in the core (and its own caches),
    and for lines from behind the last cache."""

    core: float = 0.0
    memory: float = 0.0

    def __add__(self, other: _Work) -> _Work:
        return _Work(self.core + other.core, self.memory + other.memory)

    def times(self, factor: float) -> _Work:
        return _Work(self.core * factor, self.memory * factor)

    @property
    def total(self) -> float:
        return self.core + self.memory


def _instances(items: Iterable[Item]) -> Iterator[Instance]:
    for item in items:
        match item:
            case Instance():
                yield item
            case Loop():
                yield from _instances(item.body)
            case Guard():
                yield from _instances((*item.then, *item.otherwise))


def counts_of(items: Iterable[Item]) -> dict[str, float]:
    """How many instances of each statement the samples stand for."""
    found: dict[str, float] = {}
    for instance in _instances(items):
        found[instance.statement] = found.get(instance.statement, 0.0) + instance.total
    return found


class _Lines(Struct, frozen=True):
    """Distinct lines that a part of the nest touches: those with a neighbour that is touched next, and the others."""

    stream: float = 0.0
    jump: float = 0.0

    @property
    def total(self) -> float:
        return self.stream + self.jump


class NestModel(Struct, frozen=True, eq=False):
    """Walks over one nest in numbers.

    costs: of what loops are made of, on the machine. operations: arithmetic ones of each statement. shares: of each
    statement, instances there are over instances that sampling found.
    """

    machine: Machine
    costs: LoopCosts
    operations: Mapping[str, float]
    shares: Mapping[str, float]
    known: dict[int, _Lines] = field(default_factory=dict)

    def run(self, items: Sequence[Item]) -> float:
        """Nanoseconds of one run of the whole SCoP."""
        return self.sequence(items, (), frozenset(), parallel=False).total

    def sequence(
        self, items: Sequence[Item], loops: tuple[Loop, ...], settled: frozenset[int], *, parallel: bool
    ) -> _Work:
        """Items one after the other. loops: around them. settled: caches that something around fits into, so that its
        lines are counted there."""
        work, settled = self.fetches(self.lines(items, ()), settled)
        for item in items:
            work += self.item(item, loops, settled, parallel=parallel)
        return work

    def item(self, item: Item, loops: tuple[Loop, ...], settled: frozenset[int], *, parallel: bool) -> _Work:
        costs = self.costs
        match item:
            case Instance():
                return self.instance(item, loops).times(item.weight * self.shares.get(item.statement, 1.0))
            case Guard():
                work = _Work(costs.test * (1 + item.operations) + costs.division * item.divisions)
                work += self.sequence(item.then, loops, settled, parallel=parallel).times(_ratio(item.holds))
                if item.otherwise:
                    work += self.sequence(item.otherwise, loops, settled, parallel=parallel).times(
                        _ratio(1 - item.holds)
                    )
                return work
            case Loop():
                return self.loop(item, loops, settled, parallel=parallel)

    def loop(self, loop: Loop, loops: tuple[Loop, ...], settled: frozenset[int], *, parallel: bool) -> _Work:
        """A loop whose body fits into a cache fetches the distinct lines of all iterations once."""
        costs = self.costs
        body = self.lines(loop.body, ())
        fitting = frozenset(level for level in range(len(self.machine.caches)) if self.fits(body, level))
        work = _Work()
        for level in fitting - settled:
            work += self.fetch(level, self.lines((loop,), ()))
        forks = loop.mark.parallel and not parallel
        inner = self.sequence(loop.body, (*loops, loop), settled | fitting, parallel=parallel or forks)
        lanes = self.lanes(loop)
        work += (inner + _Work(costs.iteration / lanes)).times(loop.trips)
        if forks:
            work = self.forked(work, loop.trips)
        return work + _Work(costs.iteration + costs.test * loop.operations + costs.division * loop.divisions)

    def forked(self, work: _Work, trips: float) -> _Work:
        """A parallel loop where that is faster, as its `if` clause decides."""
        costs = self.costs
        threads = min(float(self.machine.cores), max(trips, 1.0))
        shared = _Work(work.core / threads + costs.fork, work.memory / min(threads, costs.exhausting))
        return shared if shared.total < work.total else work

    @property
    def line(self) -> int:
        """Bytes of a line."""
        return self.machine.cache(1).line

    def fits(self, lines: _Lines, level: int) -> bool:
        """Whether lines stay in a cache, the whole of it: what threads use in common is there once."""
        return lines.total * self.line <= self.machine.caches[level].size

    def fetches(self, lines: _Lines, settled: frozenset[int]) -> tuple[_Work, frozenset[int]]:
        """What a part of the nest fetches into the caches that it fits into as a whole;
        and which caches are settled then."""
        work = _Work()
        for level in range(len(self.machine.caches)):
            if level not in settled and self.fits(lines, level):
                work += self.fetch(level, lines)
                settled |= {level}
        return work, settled

    def fetch(self, level: int, lines: _Lines) -> _Work:
        one = self.costs.fetches[level]
        time = lines.stream * one.stream + lines.jump * one.jump
        return _Work(memory=time) if level == len(self.machine.caches) - 1 else _Work(core=time)

    # --- arithmetic ---------------------------------------------------------------------------------------------------

    def lanes(self, loop: Loop) -> float:
        """How many iterations of a loop run at once."""
        if not loop.mark.simd or any(isinstance(item, Loop | Guard) for item in loop.body):
            return 1.0
        sizes = [reference.size for instance in _instances(loop.body) for reference in instance.references]
        return min(float(self.machine.lanes(max(sizes, default=ELEMENT))), max(loop.trips, 1.0))

    def instance(self, instance: Instance, loops: tuple[Loop, ...]) -> _Work:
        """One instance: its operations and accesses to the first cache.
        Accesses that jump take the vector's lanes one by one."""
        costs = self.costs
        inner = loops[-1] if loops else None
        lanes = self.lanes(inner) if inner is not None else 1.0
        accesses = kept = gathers = 0.0
        still_written: set[str] = set()
        for reference, moves in zip(instance.references, instance.moves, strict=True):
            step = moves[inner.key] if inner is not None else 0.0
            if not reference.known:
                accesses += 2.0
            elif inner is not None and step == 0 and (inner.trips > 1.5):
                kept += 1.0 / inner.trips
                if reference.write:
                    still_written.add(reference.array)
            elif step <= reference.size:
                accesses += 1.0 / lanes
            elif lanes > 1:
                gathers += 2.0 if reference.write else 1.0
            else:
                accesses += 1.0
        chained = any(
            r.array in still_written and not r.write and m[inner.key] == 0
            for r, m in zip(instance.references, instance.moves, strict=True)
            if inner is not None
        )
        arithmetic = self.operations[instance.statement] * costs.operation / lanes
        if chained and lanes == 1.0:
            arithmetic = max(arithmetic, costs.latency)
        return _Work(
            arithmetic + (accesses + kept) * costs.access + gathers * costs.gather + instance.divisions * costs.division
        )

    # --- lines --------------------------------------------------------------------------------------------------------

    def lines(self, items: Sequence[Item], loops: tuple[Loop, ...]) -> _Lines:
        """Distinct lines that one run of the items touches.
        loops: between the part of the nest that is looked at and the items."""
        key = id(items[0]) if items and not loops else 0
        if key and len(items) == 1 and key in self.known:
            return self.known[key]
        patterns: dict[_Pattern, list[float]] = {}
        jumps = 0.0
        for instance, around in _with_loops(items, loops):
            for reference, moves, address in zip(instance.references, instance.moves, instance.addresses, strict=True):
                if not reference.known:
                    jumps += prod(loop.trips for loop in around)
                    continue
                steps = tuple(
                    sorted(
                        (round(moves[loop.key]), round(loop.trips, 1))
                        for loop in around
                        if moves[loop.key] and loop.trips > 1
                    )
                )
                last = moves[around[-1].key] if around else 0.0
                patterns.setdefault(
                    _Pattern(reference.array, reference.total, reference.size, steps, last <= self.line), []
                ).append(address)
        found = self.merged(patterns)
        result = _Lines(found.stream, found.jump + jumps)
        if key and len(items) == 1:
            self.known[key] = result
        return result

    def merged(self, patterns: Mapping[_Pattern, Sequence[float]]) -> _Lines:
        """References that walk alike share what their distance leaves in common;
        an array has no more lines than fit into it."""
        arrays: dict[str, _Lines] = {}
        limits: dict[str, float] = {}
        for pattern, addresses in patterns.items():
            lines, span = pattern.lines(self.line), max(pattern.span, float(self.line))
            places = sorted(addresses)
            copies = 1 + sum(min((b - a) / span, 1.0) for a, b in pairwise(places))
            before = arrays.get(pattern.array, _Lines())
            more = _Lines(lines * copies, 0.0) if pattern.stream else _Lines(0.0, lines * copies)
            arrays[pattern.array] = _Lines(before.stream + more.stream, before.jump + more.jump)
            limits[pattern.array] = max(pattern.total / self.line, 1.0)
        shares = {name: min(1.0, limits[name] / lines.total) for name, lines in arrays.items() if lines.total}
        stream = sum(arrays[name].stream * share for name, share in shares.items())
        return _Lines(stream, sum(arrays[name].jump * share for name, share in shares.items()))


class _Pattern(Struct, frozen=True):
    """How a reference walks through its array: (bytes a step, steps) of each loop that moves it, in ascending order.
    stream: the innermost loop moves it by no more than a line."""

    array: str
    total: int
    size: int
    steps: tuple[tuple[int, float], ...]
    stream: bool

    @property
    def span(self) -> float:
        """Bytes from the first to the last one touched."""
        return self.size + sum(step * (trips - 1) for step, trips in self.steps)

    def lines(self, line: int) -> float:
        """Distinct lines: at most those of the span, at most one for each step."""
        touched = prod(trips if step >= line else max(1.0, trips * step / line) for step, trips in self.steps)
        return max(1.0, min(touched, self.span / line + 1))


def _with_loops(items: Iterable[Item], loops: tuple[Loop, ...]) -> Iterator[tuple[Instance, tuple[Loop, ...]]]:
    """Every instance with the loops between it and the items, outermost first."""
    for item in items:
        match item:
            case Instance():
                yield item, loops
            case Loop():
                yield from _with_loops(item.body, (*loops, item))
            case Guard():
                yield from _with_loops((*item.then, *item.otherwise), loops)


def _ratio(value: float) -> float:
    return min(max(value, 0.0), 1.0)
