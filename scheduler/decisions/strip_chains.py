"""Chains of operations that loops along rows carry: how long each step waits for the one before."""

from __future__ import annotations

import islpy as isl
from msgspec import Struct, field
from msgspec.structs import replace

from scopt import ir
from scopt.ir.scop import Dependence, Dependences, Scop, Statement
from scopt.machine.costs import SUMMED
from scopt.options import Options
from scopt.poly.bands import Ordered, agreeing_at
from scopt.poly.first_best import is_first_best
from scopt.poly.isl_utils import walk
from scopt.poly.linear import subscript_rows
from scopt.poly.pair_classes import Agreement
from scopt.poly.reductions import selected, update_of
from scopt.poly.reordering import is_best_in_any_order
from scopt.scheduler.decisions.band_costs import Work
from scopt.scheduler.decisions.contractions import contraction_of
from scopt.scheduler.decisions.jam import jam_of
from scopt.scheduler.decisions.latencies import Edge, cycles_to, longest_circuit
from scopt.scheduler.decisions.loop_values import iterations
from scopt.scheduler.decisions.strip_trees import is_leaf_band, statements_of
from scopt.scheduler.locality.strides import Strides, linear_schedule, strides

# Iterations of a loop whose sums are worth adding up the lanes of.
_LONG = 128


class Chains(Struct, frozen=True, eq=False):
    """deps: with reductions in their order. known: their pairs, by their `id`."""

    scop: Scop
    deps: Dependences
    dependences: Ordered
    options: Options
    known: dict[int, isl.UnionMap] = field(default_factory=dict)

    def longest(self, node: isl.ScheduleNode, member: int) -> int:
        """Cycles a step of the longest chain that the innermost loops below the rows' loop carry; 0 if one of them is
        better off otherwise."""
        return max(self.below(node, member).values(), default=0)

    def below(
        self, node: isl.ScheduleNode, member: int, left_out: frozenset[str] = frozenset(), *, whole: bool = False
    ) -> dict[tuple[str, ...], int]:
        """Cycles a step of the longest chain that each of the innermost loops below the rows' loop carries, by their
        statements; nothing if one of them carries nothing, sums integers along lines (compilers make vectors of it,
        which are good ones unless they gather), or has a better form in register tiles or jammed rows. left_out:
        statements whose loops don't count. whole: with what values pass through in other statements of an
        iteration."""
        found: dict[tuple[str, ...], int] = {}
        for inner in walk(node):
            if not is_leaf_band(inner) or left_out.issuperset(statements_of(inner)):
                continue
            others = [
                k
                for k in range(inner.band_n_member())
                if inner.get_schedule_depth() > node.get_schedule_depth() or k != member
            ]
            carrying_nothing = [k for k in others if inner.band_member_get_coincident(k)]
            if carrying_nothing and all(self.strides_along(inner, k).leaves_lines for k in others):
                continue
            if carrying_nothing or contraction_of(self.scop, inner) is not None:
                return {}
            if jam_of(self.scop, self.dependences, inner, self.options) is not None:
                return {}
            if others:
                chain = self.circuit(inner, others[-1]) if whole else self.carried_chain(inner, others[-1])
                walks = self.strides_along(inner, others[-1])
                summed = chain <= SUMMED and walks.contiguous and walks.other_reads <= walks.tables
                if summed and not self.looks_by_records(inner, others[-1]):
                    return {}
                found[tuple(statements_of(inner))] = chain
        return found

    def looks_by_records(self, inner: isl.ScheduleNode, member: int) -> bool:
        """Whether a loop looks for the best floating-point number of records, whose components are some cells apart:
        lanes across rows need no shuffles (measured: two thirds of the time)."""
        rows = linear_schedule(self.scop, inner).members
        statements = [self.scop.statement(name) for name in statements_of(inner)]
        if not any(is_best_in_any_order(self.scop, one) for one in statements):
            return False
        known = ((one, rows[one.name][member]) for one in statements if one.name in rows)
        moving = ((one, k) for one, row in known for k, step in enumerate(row) if step)
        return any(
            any(cell[k] for cell in cells[:-1]) or abs(cells[-1][k]) > 1
            for one, k in moving
            for cells in (subscript_rows(access.relation) for access in one.accesses)
            if cells
        )

    def left_to_branches(self) -> Chains:
        """The same without steps of extrema of floating-point numbers, along rows: processors don't wait for a
        comparison that hardly ever lets anything through, nor do blocks that are looked at as vectors."""
        best = {one.name for one in self.scop.statements if is_first_best(self.scop, one)}
        kept = tuple(one for one in self.deps.all if not (one.kind == "flow" and one.source in best & {one.sink}))
        return replace(self, deps=Dependences(kept, self.deps.reductions)) if best else self

    def strides_along(self, inner: isl.ScheduleNode, member: int) -> Strides:
        return strides(self.scop, linear_schedule(self.scop, inner), member)

    def carried_chain(self, band: isl.ScheduleNode, last: int) -> int:
        """Cycles from an operand that an earlier iteration of a band's member has computed to the result that it goes
        into. What comes from farther away has been there for long."""
        longest, near = 0, self.near(band, last)
        member = band.band_get_partial_schedule().get_at(last)
        for flow in self.deps.select("flow"):
            if not near.moves(self.pairs(flow), member).zero:
                longest = max(longest, self.waits(flow))
        return longest

    def pairs(self, flow: Dependence) -> isl.UnionMap:
        """Of a dependence, always the same."""
        if id(flow) not in self.known:
            self.known[id(flow)] = isl.UnionMap.from_map(flow.relation)
        return self.known[id(flow)]

    def near(self, band: isl.ScheduleNode, last: int, *, same: bool = False) -> Agreement:
        """The pairs that agree in all members of a band but one; same: in that one, too."""
        place = band.band_get_partial_schedule()
        members = [place.get_at(k) for k in range(band.band_n_member()) if same or k != last]
        return agreeing_at(band, self.dependences, members)

    def waits(self, flow: Dependence) -> int:
        """Cycles from what a statement reads to its result."""
        longest, sink = 0, self.scop.statement(flow.sink)
        for access in sink.accesses:
            if access.array == flow.array and not access.is_write and access.node is not None:
                integer = self.scop.arrays[access.array].type.integer
                if self.is_one_instruction(sink) if integer else is_best_in_any_order(self.scop, sink):
                    longest = max(longest, SUMMED)
                    continue
                longest = max(longest, cycles_to(sink.body, access.node, self.options.machine, integer=integer) or 0)
        return longest

    def is_one_instruction(self, sink: Statement) -> bool:
        """Whether a statement takes an extremum, or sums up what a condition lets through, along some vectors: one
        instruction either way, which compilers make vectors of; what is added, or nothing, is known without waiting for
        the sum. (Of rows of 40 bytes, vectors across rows are up to five times as fast: lanes needn't be added up.)"""
        if selected(sink.body) is not None:
            return True
        if not isinstance(sink.body, ir.If) or update_of(self.scop, sink) is None:
            return False
        return bool(sink.iterators) and iterations(self.scop)[sink.name][-1] >= _LONG

    def waiting(self, work: Work, node: isl.ScheduleNode, along: frozenset[str]) -> float:
        """Cycles of the steps that wait for each other, in the loops below a loop over rows but those that carry
        nothing."""
        total = 0.0
        for inner in walk(node):
            names = statements_of(inner) if is_leaf_band(inner) else []
            if names and not along.issuperset(names):
                total += self.circuit(inner, inner.band_n_member() - 1) * max(
                    work.statements[name].count for name in names
                )
        return total

    def circuit(self, band: isl.ScheduleNode, last: int) -> int:
        """Cycles from a statement's result to the one that it goes into an iteration of a member later, through
        others."""
        inside, carried = dict[Edge, int](), dict[Edge, int]()
        near, same = self.near(band, last), self.near(band, last, same=True)
        member = band.band_get_partial_schedule().get_at(last)
        for flow in self.deps.select("flow"):
            edge, pairs, waits = (flow.source, flow.sink), self.pairs(flow), self.waits(flow)
            if same.ends(pairs):
                inside[edge] = max(inside.get(edge, 0), waits)
            if not near.moves(pairs, member).zero:
                carried[edge] = max(carried.get(edge, 0), waits)
        return longest_circuit(inside, carried)
