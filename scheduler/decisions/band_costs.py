"""What a band costs in cycles, by a model that is good enough to put mechanisms into an order.

An instance takes as long as the busiest of the units that it needs: arithmetic, loads, stores; or as long as the chain
that it waits for. Vectors do as many instances at once as they have lanes; loops that threads share take as many times
less as there are cores, and a fork each time. Lines from memory come as fast as its bandwidth lets them. (The roofline
of Williams, Waterman and Patterson 2009, with chains as in McCalpin's and Hager's models of execution in the core.)
Trip counts are hints from array extents (`scopt.scheduler.locality.footprints.trip_count`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import inf, prod

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt import ir
from scopt.ir.scop import Access, Scop, Statement
from scopt.machine import Machine
from scopt.machine.costs import (
    BESIDE,
    DIVISION,
    ELEMENT,
    FORKED_AGAIN,
    GATHER,
    LARGE_EXTENT,
    LOADS,
    SCATTER,
    STORES,
    arithmetic,
)
from scopt.machine.loop_costs import line_cycles
from scopt.poly.data_moves import data_moves
from scopt.poly.isl_utils import sets_of
from scopt.poly.linear import Vector, dot, subscript_rows
from scopt.poly.lookups import looks_up_in_branches
from scopt.poly.source_loops import source_loops
from scopt.scheduler.decisions.index_divisions import index_divisions
from scopt.scheduler.decisions.latencies import places_of, waiting
from scopt.scheduler.decisions.loop_values import guessed_spans, iterations, spans, values_in_turn
from scopt.scheduler.locality.footprints import (
    ReferenceGroup,
    TileSpace,
    reference_groups,
    tile_space,
    trip_count,
)
from scopt.scheduler.locality.row_steps import in_rows
from scopt.scheduler.locality.same_band import of_same_band
from scopt.scheduler.locality.strides import linear_schedule, whole_lines


class Uses(Struct, frozen=True):
    """Loads and stores."""

    loads: float
    stores: float

    def __sub__(self, other: Uses) -> Uses:
        return Uses(self.loads - other.loads, self.stores - other.stores)

    def times(self, factor: float) -> Uses:
        return Uses(self.loads * factor, self.stores * factor)


class Instance(Struct, frozen=True):
    """What one instance of a statement needs.

    count: of instances. arithmetic: cycles of its operations, several of which can start in one; a product that is
    added counts with the sum. latency: cycles that it waits for what the band computes. uses: of arrays.
    steady, jumping: by member, how many of these stay at one cell along it, and how many jump from line to line.
    divided: cycles of divisions that have no vector instructions. alone: no compiler makes vectors of it.
    """

    count: float
    arithmetic: float
    latency: int
    uses: Uses
    steady: tuple[Uses, ...]
    jumping: tuple[Uses, ...]
    divided: float = 0.0
    alone: bool = False

    def left(self, kept: Mapping[int, float]) -> Uses:
        """The uses that are left where cells that stay the same along some members are loaded and stored once for so
        many iterations."""
        uses = self.uses
        for member, times in kept.items():
            uses = uses - self.steady[member].times(1 - 1 / times)
        return Uses(max(uses.loads, 0.0), max(uses.stores, 0.0))

    def scalar(self, kept: Mapping[int, float]) -> float:
        """Cycles that the units are busy, without vectors."""
        uses = self.left(kept)
        return max(self.arithmetic, uses.loads / LOADS, uses.stores / STORES, self.divided)

    def vector(self, kept: Mapping[int, float], member: int, lanes: int) -> float:
        """The same in vectors along a member. What jumps is loaded and stored element by element."""
        if self.alone:
            return self.scalar(kept)
        uses, apart = self.left(kept) - self.jumping[member], self.jumping[member]
        loads = max(uses.loads, 0.0) / LOADS / lanes + apart.loads * GATHER
        stores = max(uses.stores, 0.0) / STORES / lanes + apart.stores * SCATTER
        return max(self.arithmetic / lanes, loads, stores, self.divided)


class Work(Struct, frozen=True, eq=False):
    """One run of a band. space, groups: of its members and the loops inside; trips: of those, about. skewed: iterations
    of some member aren't those of one loop of the source."""

    machine: Machine
    space: TileSpace
    groups: tuple[ReferenceGroup, ...]
    trips: tuple[int, ...]
    statements: dict[str, Instance]
    skewed: bool = False

    @staticmethod
    def of(scop: Scop, machine: Machine, node: isl.ScheduleNode) -> Work:
        """Of a band."""
        return _work(node, scop, machine)

    @staticmethod
    def found(scop: Scop, machine: Machine, node: isl.ScheduleNode) -> Work:
        """The same, asked anew."""
        schedule = linear_schedule(scop, node)
        space = tile_space(scop, schedule.prefix, schedule.members)
        groups = reference_groups(scop, space)
        width = max((len(rows) for rows in space.members.values()), default=int(node.band_n_member()))
        along = {name: _spans_along(scop, name, own) for name, own in space.directions.items()}
        counts = _counts(scop, schedule.prefix, space) if _is_skewed(space) else {}
        trips = tuple(
            round(max(one.turns[k] for one in counts.values() if k < len(one.turns)))
            if counts
            else _trips(groups, k, [own[k] for name, own in along.items() if space.directions[name][k] is not None])
            for k in range(width)
        )
        found = {}
        names = [str(part.get_tuple_name()) for part in sets_of(node.get_domain())]
        divisions = index_divisions([scop.statement(name) for name in names], source_loops(scop))
        written = places_of(a for name in names for a in scop.statement(name).accesses if a.is_write)
        members = max(map(len, schedule.members.values()), default=0)
        whole = [whole_lines(scop, schedule, k) if k < members else frozenset() for k in range(width)]
        for name in names:
            statement = scop.statement(name)
            waits = waiting(scop, statement, written, machine)
            directions = space.directions.get(name)
            if directions is None:  # not linear: one instance an iteration, as far as anybody knows
                found[name] = _instance(scop, machine, statement, waits, (None,) * width, whole, prod(trips, start=1))
                continue
            moving = [k for k, direction in enumerate(directions) if direction is not None]
            count = float(prod((min(trips[k], along[name][k].known or trips[k]) for k in moving), start=1))
            if name in counts:
                count = counts[name].instances
            one = _instance(scop, machine, statement, waits, directions, whole, count)
            found[name] = replace(one, divided=divisions[name] * DIVISION) if divisions[name] else one
        return Work(machine, space, groups, trips, found, bool(counts))

    def waiting_in(self, names: Collection[str]) -> Work:
        """The same where only instances of these statements wait for one another in chains: others overlap."""
        found = {
            name: one if name in names or not one.latency else replace(one, latency=0)
            for name, one in self.statements.items()
        }
        return replace(self, statements=found)

    @property
    def element(self) -> int:
        return max((group.element for group in self.groups), default=ELEMENT)

    @property
    def lanes(self) -> int:
        return self.machine.lanes(self.element)

    def scalar(self, names: Collection[str] | None, kept: Mapping[int, float]) -> float:
        """Cycles of all instances of some statements (None: of all), one by one. kept: see `Instance.left`."""
        return sum(one.count * one.scalar(kept) for one in self._of(names))

    def vector(self, names: Collection[str] | None, kept: Mapping[int, float], member: int) -> float:
        """Cycles of all instances of some statements in vectors along a member."""
        return sum(one.count * one.vector(kept, member, self.lanes) for one in self._of(names))

    def jumping(self, names: Collection[str] | None) -> float:
        """Cycles of all instances of some statements, one by one, each in other lines than the one before."""
        return sum(one.count * max(one.arithmetic, one.uses.loads, one.uses.stores) for one in self._of(names))

    def chained(self, names: Collection[str] | None = None, *, chains: int = 1) -> float:
        """Cycles where each instance waits for those before, and so many chains are under way."""
        return sum(one.count * one.latency for one in self._of(names)) / chains

    def instances(self, names: Collection[str] | None = None) -> float:
        """How many instances there are, about."""
        return sum(one.count for one in self._of(names))

    def _of(self, names: Collection[str] | None) -> list[Instance]:
        return [one for name, one in self.statements.items() if names is None or name in names]

    def fetched(self, sizes: Sequence[int]) -> float:
        """Cycles that lines from memory take, with all cores at work, if tiles of these sizes run one after the other
        and each brings its own lines."""
        machine, line = self.machine, self.machine.cache(1).line
        cut = tuple(min(size, trips) for size, trips in zip(sizes, self.trips, strict=True))
        lines = sum(group.lines(cut, line, borders=False) for group in self.groups)
        tiles = prod((trips / size for trips, size in zip(self.trips, cut, strict=True)), start=1.0)
        return float(lines) * line * tiles * machine.gigahertz / machine.bandwidth

    def tiled(self, sizes: Sequence[int], order: Sequence[int]) -> float:
        """The same for tiles around loops in some order, which have to fit into the last cache for that."""
        line, share = self.machine.cache(1).line, self.machine.caches[-1].share
        cut = tuple(min(size, trips) for size, trips in zip(sizes, self.trips, strict=True))
        fits = sum(group.lines(cut, line) for group in self.groups) * line <= share
        return self.fetched(sizes) if fits else self.streamed(order)

    def streamed(self, order: Sequence[int]) -> float:
        """The same for loops without tiles, outermost first: what the last cache keeps is fetched once."""
        share = self.machine.caches[-1].share
        line = self.machine.cache(1).line
        inside = [k for k in range(len(self.trips)) if k not in order]
        sizes = [1] * len(self.trips)
        for member in (*reversed(inside), *reversed(order)):
            wider = list(sizes)
            wider[member] = self.trips[member]
            sizes = wider
            if sum(group.lines(wider, line) for group in self.groups) * line > share:
                break  # the lines of this loop, whose body fits, are fetched once
        return self.fetched(sizes)

    def moved(self, loops: Sequence[tuple[int, int]], *, resident: bool) -> float:
        """Cycles that lines take between the caches of a core. loops: members with their iterations, innermost first;
        one that is tiled comes twice, with those up to then. resident: what a cache holds as a whole is in it already.
        """
        machine, line, total = self.machine, self.machine.cache(1).line, 0.0
        for level, cache in enumerate(machine.caches[:-1], start=1):
            if resident and self._lines(self.trips) * line <= cache.share:
                break
            sizes = [1] * len(self.trips)
            for member, count in loops:
                sizes[member] = min(count, self.trips[member])
                if self._lines(sizes) * line > cache.share:
                    break  # the lines of this loop, whose body fits, are fetched once
            runs = prod((trips / size for trips, size in zip(self.trips, sizes, strict=True)), start=1.0)
            first = next((member for member, count in loops if count > 1), None)
            for group in self.groups:
                stream = first is None or not any(row[first] for row in group.moves[:-1])
                total += group.lines(sizes, line, borders=False) * runs * line_cycles(level, stream=stream)
        return total

    def _lines(self, sizes: Sequence[int]) -> int:
        line = self.machine.cache(1).line
        return sum(group.lines(sizes, line) for group in self.groups)

    def parallel(self, compute: float, memory: float, forks: float, *, most: float = inf) -> float:
        """Cycles of a loop that threads share, at most so many, forked so many times; alone where that is no slower, as
        is tested when the program runs."""
        cost = (1 + (forks - 1) * FORKED_AGAIN) * self.machine.fork_nanoseconds * self.machine.gigahertz
        return min(self.alone(compute, memory), self.alone(compute / min(self.machine.cores, most), memory) + cost)

    def alone(self, compute: float, memory: float) -> float:
        """Cycles of loops that one thread runs, or that a parallel loop around them shares out anyway."""
        return max(compute, memory) + BESIDE * min(compute, memory)


class _Counts(Struct, frozen=True):
    """Of a statement in one run of a band. instances: how many, about. turns: how many values the members have, each
    while those before it stand still."""

    instances: float
    turns: tuple[float, ...]


def _is_skewed(space: TileSpace) -> bool:
    """Whether iterations of some member aren't those of one loop of the source."""
    return any(
        one is not None and sum(map(abs, one)) != 1 for directions in space.directions.values() for one in directions
    )


@of_same_band(512)
def _work(node: isl.ScheduleNode, scop: Scop, machine: Machine) -> Work:
    return Work.found(scop, machine, node)


def _counts(scop: Scop, prefix: Mapping[str, tuple[Vector, ...]], space: TileSpace) -> dict[str, _Counts]:
    """By statement."""
    found, loops = {}, iterations(scop)
    for name, rows in space.members.items():
        outer, turns = values_in_turn(prefix.get(name, ()), rows, loops[name])
        found[name] = _Counts(max(prod(loops[name], start=1.0) / prod(outer, start=1.0), 1.0), turns)
    return found


class _Span(Struct, frozen=True):
    """How many values an iterator has: if that is a constant, and if the values of parameters can be guessed."""

    known: int | None
    guessed: int | None


def _trips(groups: Sequence[ReferenceGroup], member: int, spans: Sequence[_Span]) -> int:
    """Iterations of a member. spans: by statement, of its iterator. Sizes that nobody knows are taken to be large:
    whether threads are worth it is tested when the program runs. What nothing moves along has one iteration."""
    if not spans:
        return 1
    constant = [one.known for one in spans if one.known is not None]
    if constant and len(constant) == len(spans):
        return max(*constant, 1)
    known = any(
        row[member] and extent is not None
        for group in groups
        for row, extent in zip(group.moves, group.extents, strict=True)
    )
    if known:
        return trip_count(groups, member)
    guessed = [one.guessed for one in spans if one.guessed is not None]
    return max(*guessed, 1) if guessed and len(guessed) == len(spans) else LARGE_EXTENT


def _spans_along(scop: Scop, name: str, directions: Sequence[Vector | None]) -> list[_Span]:
    """How many values the iterator has that each member is, if it is one."""
    statement = scop.statement(name)
    own = list(map(_Span, spans(statement), guessed_spans(scop, statement)))
    moving = [[k for k, c in enumerate(one) if c] if one is not None else [] for one in directions]
    return [own[few[0]] if len(few) == 1 else _Span(None, None) for few in moving]


def _instance(
    scop: Scop,
    machine: Machine,
    statement: Statement,
    waits: int,
    directions: Sequence[Vector | None],
    whole: Sequence[Collection[Access]],
    count: float,
) -> Instance:
    """whole: by member, the accesses that vectors have whole lines of, though they step."""
    busy = max(arithmetic(statement.body) - _fused(statement.body), 1.0) / machine.fma_per_cycle
    cells = [access for access in statement.accesses if scop.arrays[access.array].rank]
    kinds = [
        ["unit" if access in lines else _kind(scop, statement, access, direction) for access in cells]
        for direction, lines in zip(directions, whole, strict=True)
    ]
    writes = [access.is_write for access in cells]

    def uses(kind: str, found: Sequence[str]) -> Uses:
        those = [write for write, own in zip(writes, found, strict=True) if own == kind]
        return Uses(those.count(False), those.count(True))

    steady, jumping = (tuple(uses(kind, found) for found in kinds) for kind in ("steady", "jumping"))
    alone = looks_up_in_branches(scop, statement)
    return Instance(count, busy, waits, Uses(writes.count(False), writes.count(True)), steady, jumping, alone=alone)


def _kind(scop: Scop, statement: Statement, access: Access, direction: Vector | None) -> str:
    """What an access does along a member: ``steady``, ``unit``, ``jumping``."""
    if direction is None:
        return "steady"
    rows = subscript_rows(access.relation)
    known = tuple(dot(row, direction) for row in rows) if rows is not None else None
    moves = known if known is not None else data_moves(scop, statement, access, direction)
    if moves is None:
        return "jumping"
    moves = in_rows(scop.arrays[access.array], moves)
    if not any(moves):
        return "steady"
    return "unit" if not any(moves[:-1]) and abs(moves[-1]) == 1 else "jumping"


def _fused(node: ir.Node) -> int:
    """Products that are added to something: one instruction does both."""
    own = 0
    match node:
        case ir.ArrayRef():
            return 0
        case ir.BinaryOp(op="+" | "-", left=left, right=right):
            own = int(_is_product(left) or _is_product(right))
        case ir.Assignment(op="+=" | "-=", rvalue=value):
            own = int(_is_product(value))
    return own + sum(map(_fused, node.parts))


def _is_product(node: ir.Node) -> bool:
    return isinstance(node, ir.BinaryOp) and node.op == "*"
