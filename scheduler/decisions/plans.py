"""What is to become of a band with nothing but statements below: decided as a whole, from its dependences and strides,
before it is touched."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import islpy as isl
from msgspec import Struct
from msgspec.structs import replace

from scopt.ir.nest import Reduction
from scopt.ir.scop import Array, LoopDirective, Scop
from scopt.ir.trip_counts import ends_on_data
from scopt.machine.costs import ELEMENT, RECORD_BYTES, thread_limit
from scopt.machine.vector_forms import takes_vectors
from scopt.options import Options
from scopt.poly.bands import Ordered, active, agreeing_at, looks_in_between, reductions_of, with_copies
from scopt.poly.isl_utils import sets_of
from scopt.poly.pair_classes import Agreement
from scopt.poly.restructure import leaf_parts, united
from scopt.scheduler.decisions.hidden_vectors import hidden_vectors
from scopt.scheduler.decisions.items import is_in_item
from scopt.scheduler.decisions.latencies import decides
from scopt.scheduler.decisions.leaf_facts import Grouping, LeafFacts
from scopt.scheduler.decisions.leaf_plan import LeafPlan
from scopt.scheduler.decisions.loops_apart import loops_apart
from scopt.scheduler.decisions.merged_groups import may_stand_together, with_lines_together, with_nests_together
from scopt.scheduler.decisions.reading_ahead import CarryingLoop
from scopt.scheduler.decisions.small_loops import is_short_always, values_of_member
from scopt.scheduler.influence.honoured import wished_member, wished_members
from scopt.scheduler.locality.same_band import of_same_band
from scopt.scheduler.locality.strides import LinearSchedule, interleaved, linear_schedule, strides
from scopt.scheduler.locality.tile_reuse import has_far_reuse

# What a loop loses as the vector loop that is too short for vectors: more than strides can gain.
_SHORT = 100
# Members of a band where some may be bound to others: windows that move.
MANY_MEMBERS = 4
# Members from which on tiles may bring lines back that loops in their order lose.
_DEEP = 3


class Planner(Struct, frozen=True, eq=False):
    """Plans for leaf bands of one tree. dependences: sorted by what they ask of a schedule. loops: that pragmas want
    parallel or vector; hopes: vector loops that are taken where they are possible."""

    scop: Scop
    dependences: Ordered
    options: Options
    loops: tuple[LoopDirective, ...] = ()
    hopes: tuple[LoopDirective, ...] = ()

    def facts(self, node: isl.ScheduleNode, parallel_above: bool) -> LeafFacts:
        """What the plans of a leaf band are made from: its dependences and strides, and which loop is to be the vector
        loop."""
        about = (self.scop, self.dependences, self.options, self.loops, self.hopes)
        return _leaf_facts(node, *about, parallel_above=parallel_above)

    def found(self, node: isl.ScheduleNode, parallel_above: bool) -> LeafFacts:
        """The same, asked anew."""
        width = node.band_n_member()
        schedule = linear_schedule(self.scop, node)
        carried = tuple(not node.band_member_get_coincident(k) for k in range(width))
        walks = tuple(strides(self.scop, schedule, k) for k in range(width))
        groupings = [self.grouping(node, k, schedule) for k in range(width)]
        wished = wished_member(self.scop, node, self.loops, "vector")
        stubs = [k for k in range(width) if k != wished and self.is_stub(node, k)]
        groupings = [one.bound if k in stubs else one for k, one in enumerate(groupings)]
        serial = not any(any(one.free) or any(one.ahead) for one in groupings)
        quality = [
            (walk.score_in_order() if serial else walk.score()) - (_SHORT if k in stubs else grouping.penalty)
            for k, (walk, grouping) in enumerate(zip(walks, groupings, strict=True))
        ]
        if wished is None:
            # of several, that of the deepest statements: the others have their loops around it
            hoped = wished_members(self.scop, node, self.hopes, "vector")
            wished = next((k for k in reversed(hoped) if any(groupings[k].free)), None)
        vector = wished if wished is not None else max(range(width), key=lambda k: (quality[k], k))
        if wished is None and walks[vector].unknown and not walks[vector].contiguous and decides(self.scop, node):
            # it would be no vector loop: lines decide, since nothing waits for branches that are foreseen
            vector = max(range(width), key=lambda k: (walks[k].score_in_order(), k))
        threads = wished_member(self.scop, node, self.loops, "parallel")
        cells = width == 1 and node.get_schedule_depth() == 0  # a loop of its own: the variables stand around it
        reduced = self.reduced_member(node, cells=cells) if all(carried) and not parallel_above else None
        slopes = tuple(
            max((abs(int(c)) for rows in schedule.members.values() for c in rows[k]), default=1) or 1
            for k in range(width)
        )
        few = thread_limit(self.options.machine)
        short = frozenset(k for k in range(width) if values_of_member(node, k, few) is not None)
        tiny = wished is None and self.is_tiny(node, vector)
        far = (
            width < _DEEP
            or bool(self.options.tile_sizes)
            or has_far_reuse(self.scop, self.options.machine, schedule, vector)
        )
        grouping = groupings[vector] if wished is not None else self.in_chains(node, vector, groupings[vector])
        return LeafFacts(
            carried, walks, grouping, vector, wished is not None, threads, reduced, slopes, short, tiny, far
        )

    def along(self, facts: LeafFacts, node: isl.ScheduleNode, vector: int) -> LeafFacts:
        """What is known of a band if another member is to be innermost."""
        if vector == facts.vector:
            return facts
        tiny = self.is_tiny(node, vector)
        grouping = self.in_chains(node, vector, self.grouping(node, vector))
        return replace(facts, vector=vector, grouping=grouping, wished=False, tiny=tiny)

    def is_tiny(self, node: isl.ScheduleNode, member: int) -> bool:
        """Whether compilers make straight code of a loop: it doesn't fill half of a vector, or is inside of an item."""
        if is_in_item(self.scop, node.get_domain(), int(node.get_schedule_depth())):
            return True
        return values_of_member(node, member, self.lanes(node) // 2 - 1) is not None

    def lanes(self, node: isl.ScheduleNode) -> int:
        """Elements of a vector of the longest type that statements of a band access in arrays."""
        names = {str(part.get_tuple_name()) for part in sets_of(node.get_domain())}
        arrays = (self.scop.arrays[a.array] for s in self.scop.statements if s.name in names for a in s.accesses)
        sizes = [max(array.type.bits // 8, 1) for array in arrays if array.rank]
        return self.options.machine.lanes(max(sizes, default=ELEMENT))

    def is_stub(self, node: isl.ScheduleNode, member: int) -> bool:
        """Whether a member of a band has many values, but only a few wherever the others are: windows that move with
        another loop, or blocks that an element is in one of. Vectors would not be filled. In a band of few members
        there has to be another one."""
        if not self.is_window(node, member):
            return False
        width = node.band_n_member()
        return width >= MANY_MEMBERS or any(not self.is_window(node, k) for k in range(width) if k != member)

    def is_window(self, node: isl.ScheduleNode, member: int) -> bool:
        """The same for a member of any band."""
        few = self.options.machine.lanes(ELEMENT) // 2
        if values_of_member(node, member, few) is not None:
            return False
        return is_short_always(node, member, few)

    def plan(self, node: isl.ScheduleNode, parallel_above: bool) -> LeafPlan:
        """Everything about a leaf band that gets neither register tiles nor jammed rows."""
        return self.planned(self.facts(node, parallel_above), parallel_above)

    def planned(self, facts: LeafFacts, parallel_above: bool, *, waves: bool = True) -> LeafPlan:
        """The plan that follows from what is known of a leaf band. waves: tiles may run in wavefronts."""
        carried, vector, reduced = facts.carried, facts.vector, facts.reduced
        width, walk, tiling = len(carried), facts.walks[facts.vector], self.options.tile
        others = [k for k in range(width) if k != vector]
        coincident = [k for k in others if not carried[k]]
        parallel: int | None = None
        skew = tile_vector = False
        coincident.sort(key=lambda k: (k != facts.threads, k in facts.short))
        if facts.threads == vector and not carried[vector]:
            coincident = []
        if coincident:
            others = [coincident[0], *(k for k in others if k != coincident[0])]
            parallel = 0
        elif not carried[vector]:
            parallel, tile_vector = len(others), bool(others) and tiling
        elif reduced is not None and reduced[0] != vector:
            others = [reduced[0], *(k for k in others if k != reduced[0])]
            parallel = 0
        elif reduced is not None:
            parallel, tile_vector = len(others), bool(others) and tiling
        elif width >= 2 and tiling and (waves or parallel_above):
            parallel, skew = 1, True
        jumps = (walk.leaves_lines or walk.tables > 0) if self.options.tile_sizes else walk.crosses_rows
        deep = width - facts.tiny >= _DEEP and facts.far
        tile = tiling and width >= 2 and (deep or skew or (jumps and not facts.tiny))
        if skew and width == 2:
            tile_vector = True
        if tile and not carried[vector]:
            tile_vector = True
        if parallel_above:
            parallel, skew, tile_vector = None, False, tile and not carried[vector]
        if tile_vector and not skew and parallel == len(others):
            parallel = 0  # its tile loop goes outermost
        return LeafPlan(
            order=(*others, vector),
            **self.innermost(facts),
            tile=tile,
            tile_vector=tile_vector,
            parallel=parallel,
            skew=skew,
            slopes=tuple(facts.slopes[k] for k in (*others, vector)),
            jumps=jumps,
            tiny=facts.tiny and any(facts.grouping.free),
            threads=reduced[1] if reduced is not None and parallel is not None else (),
        )

    def innermost(self, facts: LeafFacts) -> dict[str, Any]:
        """What a plan says of the innermost loops."""
        found, walk = facts.grouping, facts.walks[facts.vector]
        groups, free, ahead = found.groups, found.free, found.ahead
        private, reductions = found.private, found.reductions
        serial = not any(free) and not any(found.ahead)
        if serial:
            # Loops of their own would gain nothing.
            groups, free = (tuple(part for group in groups for part in group),), (False,)
            private, reductions, ahead = ((),), ((),), (False,)
        vectors = (False,) if serial else found.vectors
        lone = (walk.jumping and not walk.stepping) or (walk.gathers and not walk.contiguous)
        along = walk.contiguous and not facts.tiny  # compilers make straight code of a few iterations
        return {
            "groups": groups,
            "simd": tuple(ok and self.options.simd and (along or facts.wished) for ok in vectors),
            "scalar": tuple(ok and self.options.simd and lone and not facts.wished for ok in vectors),
            "ahead": tuple(ok and self.options.simd and along for ok in ahead),
            "private": private,
            "reductions": reductions,
            "serial": serial,
            "hidden": found.hidden,
            "ended": tuple(
                ok and self.options.simd and not reduced and self.end_on_data(group)
                for ok, reduced, group in zip(free, reductions, groups, strict=True)
            ),
        }

    def end_on_data(self, parts: Sequence[isl.UnionSet]) -> bool:
        """Whether some statement has a loop of its own that data end."""
        names = {part.get_tuple_name() for some in parts for part in sets_of(some)}
        return any(ends_on_data(one.body) for one in self.scop.statements if one.name in names)

    def takes_vectors(self, parts: Sequence[isl.UnionSet]) -> bool:
        """Whether vector instructions do several instances of each statement at once."""
        names = (part.get_tuple_name() for some in parts for part in sets_of(some))
        return all(takes_vectors(self.scop, self.scop.statement(name)) for name in names)

    def grouping(
        self, node: isl.ScheduleNode, vector: int, schedule: LinearSchedule | None = None, *, gaining: bool = True
    ) -> Grouping:
        """The statement groups of an innermost loop over `vector`: distributed where legal. schedule: the node's, if it
        is known. gaining: see `loops_apart`."""
        parts = leaf_parts(node.child(0)) or [node.get_domain()]
        partial = node.band_get_partial_schedule()
        member = partial.get_at(vector)
        known: dict[int, tuple[isl.UnionMap, isl.UnionMap]] = {}  # by `id` of pairs, which it keeps

        def inner(pairs: isl.UnionMap) -> isl.UnionMap:
            if id(pairs) in known:
                return known[id(pairs)][1]
            found = active(pairs, node)
            for k in range(node.band_n_member()):
                if k != vector and not found.is_empty():
                    found = found.eq_at_multi_union_pw_aff(isl.MultiUnionPwAff.from_union_pw_aff(partial.get_at(k)))
            known[id(pairs)] = pairs, found
            return found

        outer = [partial.get_at(k) for k in range(node.band_n_member()) if k != vector]
        inside = agreeing_at(node, self.dependences, outer)

        order = loops_apart(
            self.dependences, node, parts, inside, inner, lambda some: self.carried(some, member) is not None, gaining
        )
        lines = self.lines(node, vector, schedule or linear_schedule(self.scop, node))

        def is_free(domain: isl.UnionSet) -> bool:
            return self.carried(inside.within(domain), member) == ((), ())

        def collects(domain: isl.UnionSet) -> bool:
            found = self.carried(inside.within(domain), member)
            if found is None or found[1] or not found[0]:
                return found == ((), ())
            return may_stand_together(self.scop, domain, found[0])

        order = with_lines_together(parts, order, lines, is_free)
        if len(order) > 1:
            order = with_nests_together(self.scop, node, parts, order, collects)
        groups = [tuple(parts[index] for index in indices) for indices in order]
        found = [self.carried(inside.within(united(group)), member) for group in groups]
        vectors = [one is not None and self.takes_vectors(group) for one, group in zip(found, groups, strict=True)]
        if len(groups) > 1 and any(one is not None for one in found) and not any(vectors):
            # loops of their own would gain nothing
            groups, vectors = [tuple(parts)], [False]
            found = [self.carried(inside.within(united(parts)), member)]
        return Grouping(
            tuple(groups),
            tuple(one is not None for one in found),
            tuple(vectors),
            tuple(one[1] if one is not None else () for one in found),
            tuple(one[0] if one is not None else () for one in found),
            tuple(
                one is None
                and self.takes_vectors(group)
                and CarryingLoop(self.scop, self.dependences, inner, group, member).goes_on()
                for one, group in zip(found, groups, strict=True)
            ),
        )

    def in_chains(self, node: isl.ScheduleNode, vector: int, grouping: Grouping) -> Grouping:
        """The groups, as no vector loops where a chain among them hides what could be."""
        apart = grouping
        if len(grouping.groups) == 1 and not (any(grouping.free) or any(grouping.ahead)):
            apart = self.grouping(node, vector, gaining=False)  # as a schedule might have it
        hidden = hidden_vectors(self.scop, self.options.machine, node, vector, apart)
        return replace(grouping.bound, hidden=hidden) if hidden is not None else grouping

    def lines(self, node: isl.ScheduleNode, vector: int, schedule: LinearSchedule) -> dict[str, frozenset[str]]:
        """What a loop over `vector` gets whole cache lines of for a part of their cells, by statement: arrays in steps,
        of records that cells stand in, and structures of members."""
        names = {str(part.get_tuple_name()) for part in sets_of(node.get_domain())}
        found, record = {}, max(RECORD_BYTES, self.options.machine.cache(1).line)
        for name in names:
            whole = (_structures_of(self.scop.arrays[access.array]) for access in self.scop.statement(name).accesses)
            stepped = interleaved(self.scop, schedule, vector, name, record)
            found[name] = frozenset(one for one in whole if one) | stepped
        return found

    def carried(
        self, inside: Agreement, member: isl.UnionPwAff
    ) -> tuple[tuple[Reduction, ...], tuple[str, ...]] | None:
        """The reductions that an innermost loop carries, and what its lanes need copies of; None if it carries anything
        else."""

        def apart(pairs: isl.UnionMap) -> bool:
            return not inside.moves(pairs, member).zero

        if not apart(self.dependences.shared) and (copies := self.copies(self.dependences, inside, member)) is not None:
            return (), copies
        relaxed = self.dependences.relaxed
        if relaxed is None or apart(relaxed.shared) or (copies := self.copies(relaxed, inside, member)) is None:
            return None
        names = inside.instances.parts.keys()
        found = tuple(clause for clause, pairs in self.dependences.reductions.items() if apart(pairs))
        if any(self.named_by_data(clause, names) for clause in found):
            return None  # lanes would need copies of all cells
        seen = any(looks_in_between(self.scop, clause, self.dependences.updating[clause], names) for clause in found)
        return None if seen or any(clause.array in copies for clause in found) else (found, copies)

    def named_by_data(self, clause: Reduction, names: Collection[str]) -> bool:
        """Whether which cell a reduction updates is only known at run time."""
        writes = (
            a
            for one in self.scop.statements
            if one.name in names
            for a in one.accesses
            if a.is_write and a.array == clause.array
        )
        return not all(access.relation.is_single_valued() for access in writes)

    def copies(self, dependences: Ordered, inside: Agreement, member: isl.UnionPwAff) -> tuple[str, ...] | None:
        """Private arrays that each lane of a vector loop needs a copy of; None if a live range would leave its lane."""
        needed = []
        for name, ranges in dependences.ranges.items():
            local = inside.moves(ranges, member).zero
            if local and inside.moves(dependences.reuse[name], member).zero:
                continue  # each lane has cells of its own
            if not local or not inside.stays_inside(ranges):
                return None
            needed.append(name)
        return tuple(needed)

    def reduced_member(
        self, node: isl.ScheduleNode, *, cells: bool = False
    ) -> tuple[int, tuple[Reduction, ...]] | None:
        """The outermost member of a band that may be a parallel loop if it reduces variables or small arrays, and
        those.

        cells: single cells of arrays will be held in variables.
        """
        for position in range(node.band_n_member()):
            found = reductions_of(self.scop, self.dependences, node, node.band_get_partial_schedule().get_at(position))
            if found and (clauses := with_copies(self.scop, node, found, cells=cells)) is not None:
                return position, clauses
        return None


@of_same_band(256)
def _leaf_facts(
    node: isl.ScheduleNode,
    scop: Scop,
    dependences: Ordered,
    options: Options,
    loops: tuple[LoopDirective, ...],
    hopes: tuple[LoopDirective, ...],
    *,
    parallel_above: bool,
) -> LeafFacts:
    return Planner(scop, dependences, options, loops, hopes).found(node, parallel_above)


def _structures_of(array: Array) -> str:
    """The array of structures that an array is, or whose members make it; empty if it has no part in structures."""
    return array.within or ("" if array.type.integer or array.type.floating else array.name)
