"""Chains of operations that loops along rows carry: how long each step waits for the one before."""

from __future__ import annotations

import islpy as isl
from msgspec import Struct

from scopt.ir.scop import Dependence, Dependences, Scop
from scopt.machine.costs import SUMMED
from scopt.options import Options
from scopt.poly.bands import Ordered, active
from scopt.poly.isl_utils import walk
from scopt.scheduler.decisions.band_costs import Work
from scopt.scheduler.decisions.contractions import contraction_of
from scopt.scheduler.decisions.jam import jam_of
from scopt.scheduler.decisions.latencies import Edge, cycles_to, longest_circuit
from scopt.scheduler.decisions.strip_trees import is_leaf_band, statements_of
from scopt.scheduler.locality.strides import Strides, linear_schedule, strides


class Chains(Struct, frozen=True, eq=False):
    """deps: with reductions in their order."""

    scop: Scop
    deps: Dependences
    dependences: Ordered
    options: Options

    def longest(self, node: isl.ScheduleNode, member: int) -> int:
        """Cycles a step of the longest chain that the innermost loops below the rows' loop carry; 0 if one of them is
        better off otherwise."""
        return max(self.below(node, member).values(), default=0)

    def below(
        self, node: isl.ScheduleNode, member: int, left_out: frozenset[str] = frozenset(), *, whole: bool = False
    ) -> dict[tuple[str, ...], int]:
        """Cycles a step of the longest chain that each of the innermost loops below the rows' loop carries, by their
        statements; nothing if one of them carries nothing, sums integers along lines (compilers make vectors of it), or
        has a better form in register tiles or jammed rows. left_out: statements whose loops don't count. whole: with
        what values pass through in other statements of an iteration."""
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
                if self.strides_along(inner, others[-1]).contiguous and chain <= SUMMED:
                    return {}
                found[tuple(statements_of(inner))] = chain
        return found

    def strides_along(self, inner: isl.ScheduleNode, member: int) -> Strides:
        return strides(self.scop, linear_schedule(self.scop, inner), member)

    def carried_chain(self, band: isl.ScheduleNode, last: int) -> int:
        """Cycles from an operand that an earlier iteration of a band's member has computed to the result that it goes
        into. What comes from farther away has been there for long."""
        longest = 0
        for flow in self.deps.select("flow"):
            pairs = _near(active(isl.UnionMap.from_map(flow.relation), band), band, last)
            if pairs.is_empty() or pairs.is_subset(pairs.eq_at_multi_union_pw_aff(band.band_get_partial_schedule())):
                continue
            longest = max(longest, self.waits(flow))
        return longest

    def waits(self, flow: Dependence) -> int:
        """Cycles from what a statement reads to its result."""
        longest, sink = 0, self.scop.statement(flow.sink)
        for access in sink.accesses:
            if access.array == flow.array and not access.is_write and access.node is not None:
                integer = self.scop.arrays[access.array].type.integer
                longest = max(longest, cycles_to(sink.body, access.node, self.options.machine, integer=integer) or 0)
        return longest

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
        place, inside, carried = band.band_get_partial_schedule(), dict[Edge, int](), dict[Edge, int]()
        for flow in self.deps.select("flow"):
            pairs = _near(active(isl.UnionMap.from_map(flow.relation), band), band, last)
            same = pairs.eq_at_multi_union_pw_aff(place)
            edge, waits = (flow.source, flow.sink), self.waits(flow)
            if not same.is_empty():
                inside[edge] = max(inside.get(edge, 0), waits)
            if not pairs.is_subset(same):
                carried[edge] = max(carried.get(edge, 0), waits)
        return longest_circuit(inside, carried)


def _near(pairs: isl.UnionMap, band: isl.ScheduleNode, last: int) -> isl.UnionMap:
    """The pairs that agree in all members but one."""
    partial = band.band_get_partial_schedule()
    for k in range(band.band_n_member()):
        if k != last and not pairs.is_empty():
            pairs = pairs.eq_at_multi_union_pw_aff(isl.MultiUnionPwAff.from_union_pw_aff(partial.get_at(k)))
    return pairs
