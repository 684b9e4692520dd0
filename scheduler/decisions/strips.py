"""Recurrences along rows, vectors across rows: strips of rows whose loops run innermost, over what the recurrence steps
through.

A loop that carries a chain of operations runs at the chain's latency. Where the loop around it is coincident, its
iterations (rows) are independent, and a strip of them makes a vector loop inside of the recurrence: strip-mining and
interchange (Wolfe, "More iteration space tiling", 1989), legal since no dependence leads from row to row. Nests that
follow and use the same rows' values join the strip. Cells that lie apart in memory for neighbouring rows are kept in
buffers with the rows side by side; scalars that each row uses anew get a cell a row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import inf, prod

import islpy as isl
from msgspec import Struct, field
from msgspec.structs import replace

from scopt.ir.marked_schedule import BandChoice, Mark, StripMark, Strips
from scopt.ir.nest import LoopMark
from scopt.ir.scop import Dependences, Scop
from scopt.machine.costs import (
    GATHER,
    LEAST_CHAIN,
    LOADS,
    STORES,
    SUMMED,
    least_strip_rows,
    strip_bytes,
    strip_rows,
    thread_limit,
)
from scopt.options import Options
from scopt.poly import trees
from scopt.poly.bands import Ordered, active, distances, zero
from scopt.poly.isl_utils import sets_of, union_of_sets, walk
from scopt.poly.row_buffers import is_short, row_cells
from scopt.poly.set_pieces import in_sequence, marked
from scopt.scheduler.decisions.arbiter import arbitrate
from scopt.scheduler.decisions.claims import Band, Builder, Claim
from scopt.scheduler.decisions.contractions import contraction_of
from scopt.scheduler.decisions.jam import jam_of
from scopt.scheduler.decisions.latencies import cycles_to
from scopt.scheduler.decisions.setting import Setting
from scopt.scheduler.decisions.strip_places import Keeper, Places
from scopt.scheduler.decisions.strip_references import bytes_a_row, first_row, is_mixed, row_iterator, row_members
from scopt.scheduler.decisions.strip_trees import atomic_loop, constant_like, copied_tree, outside, with_band
from scopt.scheduler.decisions.user_sizes import fitted_rows, rounded, size_of
from scopt.scheduler.locality.strides import linear_schedule, strides

_TYPE = isl.schedule_node_type


class WithStrips(Struct, frozen=True, eq=False):
    """A tree with strips. marks, choices: as in `MarkedSchedule`."""

    tree: isl.Schedule
    marks: Mapping[str, Mark] = field(default_factory=dict)
    choices: tuple[BandChoice, ...] = ()

    @property
    def found(self) -> bool:
        """Whether there are any."""
        return bool(self.marks)


def with_strips(setting: Setting, tree: isl.Schedule) -> WithStrips:
    """The tree with strips wherever they pay. Bands that are coincident, or wider than one member, are left alone with
    all that is below them. setting: with reductions in their order."""
    options = setting.options
    if not options.tile or not options.simd:
        return WithStrips(tree)
    builder = _Builder(setting, setting.scop, setting.deps.strict(), setting.dependences, options)
    root = tree.get_root()
    if root.n_children() != 1:
        return WithStrips(tree)
    made = builder.tree(root.child(0))
    return WithStrips(made, builder.marks, tuple(builder.choices.values()))


class _Rows(Struct, frozen=True, eq=False):
    """A nest, or several one after another, with one loop each over the rows. lane: whose row an instance is in.
    streams: each step gets other lines, of more than the first cache keeps. outer: members of a single nest that carry
    nothing either, and stand outside of the strips, one that is to be parallel first."""

    nodes: tuple[isl.ScheduleNode, ...]
    members: tuple[int, ...]
    lane: isl.UnionPwAff
    places: Places
    streams: bool = False
    outer: tuple[int, ...] = ()

    @property
    def domain(self) -> isl.UnionSet:
        return union_of_sets(part for node in self.nodes for part in sets_of(node.get_domain()))


class _Builder(Struct):
    """Builds the tree anew, with strips in place of some nests. choices: by the nests' statements."""

    setting: Setting
    scop: Scop
    deps: Dependences
    dependences: Ordered
    options: Options
    marks: dict[str, Mark] = field(default_factory=dict)
    choices: dict[tuple[str, ...], BandChoice] = field(default_factory=dict)

    def tree(self, node: isl.ScheduleNode) -> isl.Schedule:
        match node.get_type():
            case _TYPE.leaf:
                return isl.Schedule.from_domain(node.get_domain())
            case _TYPE.filter:
                return self.tree(node.child(0))
            case _TYPE.band:
                rows = self.start(node)
                return self.strips(rows) if rows is not None else self.band(node)
            case _TYPE.sequence | _TYPE.set:
                return in_sequence(self.parts([node.child(k).child(0) for k in range(node.n_children())]))
        raise AssertionError(f"unexpected schedule node {node.get_type()}")

    def band(self, node: isl.ScheduleNode) -> isl.Schedule:
        """A band as it was; strips are looked for below it if it is one loop that runs in order."""
        plain = node.band_n_member() == 1 and not node.band_member_get_coincident(0)
        inner = self.tree(node.child(0)) if plain else copied_tree(node.child(0))
        return with_band(inner, node)

    def parts(self, nodes: Sequence[isl.ScheduleNode]) -> list[isl.Schedule]:
        """The parts of a sequence, those that share strips as one."""
        rest, made = list(nodes), []
        while rest:
            node = rest.pop(0)
            rows = self.start(node) if node.get_type() == _TYPE.band else None
            if rows is None:
                made.append(self.tree(node))
                continue
            while rest and (longer := self.joined(rows, rest[0])) is not None:
                rows = longer
                rest.pop(0)
            made.append(self.strips(rows))
        return made

    # --- what shares strips -------------------------------------------------------------------------------------------

    def start(self, node: isl.ScheduleNode) -> _Rows | None:
        """A nest that is a recurrence along rows, if strips of its rows are the best that can become of it."""
        band = Band(self.setting, node, not self.options.parallel)
        offers: list[tuple[Claim, _Rows | None]] = []
        longest = 0
        for member in row_members(node):
            chain = self.chain(node, member)
            longest = max(longest, chain)
            rows = self.rows_across(node, member) if chain else None
            if rows is not None:
                rows = replace(rows, outer=self.outer(band, rows, member))
                rows = replace(rows, streams=self.streams(band, rows))
                offers.append((self.claim(band, rows, member, chain), rows))
        if not offers:
            return None
        offers.append((_in_order(band, longest, offers[0][0].lanes), None))
        taken, choice = arbitrate(band, [claim for claim, _ in offers])
        chosen = next(rows for claim, rows in offers if claim is taken)
        if chosen is not None or choice.given_up:
            self.choices[choice.statements] = choice
        return chosen

    def rows_across(self, node: isl.ScheduleNode, member: int) -> _Rows | None:
        """The rows that a member walks through; None if strips of them can't be made, or if they need neither buffers
        nor cells of their own: then the loop over the rows can be the innermost one of all, an ordinary vector loop."""
        lane = node.band_get_partial_schedule().get_at(member)
        if is_mixed(self.scop, node, member, lane):
            return None
        rows = self.rows((node,), (member,), lane)
        return rows if rows is not None and (rows.places.buffers or rows.places.scalars) else None

    def outer(self, band: Band, rows: _Rows, member: int) -> tuple[int, ...]:
        """The other members that carry nothing, outside of which no buffer has to be chosen; one with enough values for
        threads first."""
        if not all(map(is_short, rows.places.buffers)):
            return ()
        others, trips = [k for k in band.coincident if k != member], band.work.trips
        wished, enough = band.setting.wished(band.node, "parallel"), thread_limit(self.options.machine)
        if wished is not None and wished not in others:
            return ()
        return tuple(sorted(others, key=lambda k: (k != wished, -min(trips[k], enough), k)))

    def streams(self, band: Band, rows: _Rows) -> bool:
        """Whether the lines along the rows come from farther away than the first cache, since each step of a strip gets
        others."""
        machine, work = self.options.machine, band.work
        if rows.places.buffers or not rows.places.moving:
            return False
        line, fixed = machine.cache(1).line, {*rows.outer, *rows.members}
        sizes = [1 if k in fixed else trips for k, trips in enumerate(work.trips)]
        sizes[rows.members[0]] = strip_rows(machine)
        return sum(group.lines(sizes, line) for group in work.groups) * line > machine.cache(1).share

    def claim(self, band: Band, rows: _Rows, member: int, chain: int) -> Claim:
        """Strips of rows."""
        names = {}
        for part in sets_of(rows.domain):
            place = row_iterator(rows.lane, part)
            assert place is not None
            names[str(part.get_tuple_name())] = self.scop.statement(part.get_tuple_name()).iterators[place[0]]
        count, user = self.count(rows), self.options.tile_sizes
        cycles = _strip_cycles(band, rows.places, member, chain, count)
        parallel = rows.outer[0] if rows.outer else member
        # buffers were measured to pay with any number of strips; how many there are is a guess from arrays' extents
        shares = inf if rows.places.buffers else max(band.work.trips[parallel] // (1 if rows.outer else count), 1)
        cost = cycles if band.parallel_above else band.work.parallel(cycles, 0.0, 1, most=shares)
        notes = rounded(user, rows_a_strip=(size_of(user, member), count)) if user else ()
        return Claim("strips of rows", f"of {count} rows", cost, _nothing, parallel, None, lanes=names, notes=notes)

    def joined(self, rows: _Rows, node: isl.ScheduleNode) -> _Rows | None:
        """The rows with one more nest, if it uses what they have computed and each of its rows needs only one of
        theirs."""
        if node.get_type() != _TYPE.band:
            return None
        products = [
            inner for inner in walk(node) if _is_leaf_band(inner) and contraction_of(self.scop, inner) is not None
        ]
        if products or self.depth(node) > self.depth(rows.nodes[0]):
            return None  # there is more in it than the strip
        both = rows.domain.union(node.get_domain())
        for member in row_members(node):
            lane = rows.lane.union_add(node.band_get_partial_schedule().get_at(member))
            between = self.inside(self.dependences.must, node, both)
            used = between.intersect_domain(rows.domain).intersect_range(node.get_domain())
            if not used.is_empty() and zero(distances(between, lane)):
                return self.rows((*rows.nodes, node), (*rows.members, member), lane)
        return None

    def inside(self, pairs: isl.UnionMap, node: isl.ScheduleNode, domain: isl.UnionSet) -> isl.UnionMap:
        """Pairs of some instances that agree in everything outside a node that stands among them."""
        pairs = pairs.intersect_domain(domain).intersect_range(domain)
        if node.get_schedule_depth() == 0 or pairs.is_empty():
            return pairs
        return pairs.eq_at_multi_union_pw_aff(outside(node))

    def rows(self, nodes: tuple[isl.ScheduleNode, ...], members: tuple[int, ...], lane: isl.UnionPwAff) -> _Rows | None:
        """Nests whose arrays all have a place; None if one has none."""
        domain = union_of_sets(part for node in nodes for part in sets_of(node.get_domain()))
        places = Keeper(self.scop, self.dependences, nodes, domain, lane).places()
        return _Rows(nodes, members, lane, places) if places is not None else None

    def depth(self, node: isl.ScheduleNode) -> int:
        """Of the deepest statement below a node."""
        return max((part.dim(isl.dim_type.set) for part in sets_of(node.get_domain())), default=0)

    def chain(self, node: isl.ScheduleNode, member: int) -> int:
        """Cycles a step of the longest chain that the innermost loops below the rows' loop carry; 0 if one of them
        carries nothing, sums integers along lines (compilers make vectors of it), or has a better form in register
        tiles or jammed rows."""
        longest = 0
        for inner in walk(node):
            if not _is_leaf_band(inner):
                continue
            others = [
                k
                for k in range(inner.band_n_member())
                if inner.get_schedule_depth() > node.get_schedule_depth() or k != member
            ]
            if any(inner.band_member_get_coincident(k) for k in others) or contraction_of(self.scop, inner) is not None:
                return 0
            if jam_of(self.scop, self.dependences, inner, self.options) is not None:
                return 0
            if others:
                chain = self.carried_chain(inner)
                along = strides(self.scop, linear_schedule(self.scop, inner), others[-1]).contiguous
                if along and chain <= SUMMED:
                    return 0
                longest = max(longest, chain)
        return longest

    def carried_chain(self, band: isl.ScheduleNode) -> int:
        """Cycles from an operand that an earlier iteration has computed to the result that it goes into."""
        longest = 0
        for flow in self.deps.select("flow"):
            pairs = active(isl.UnionMap.from_map(flow.relation), band)
            if pairs.is_empty() or pairs.is_subset(pairs.eq_at_multi_union_pw_aff(band.band_get_partial_schedule())):
                continue
            body = self.scop.statement(flow.sink).body
            for access in self.scop.statement(flow.sink).accesses:
                if access.array == flow.array and not access.is_write and access.node is not None:
                    integer = self.scop.arrays[access.array].type.integer
                    longest = max(longest, cycles_to(body, access.node, self.options.machine, integer=integer) or 0)
        return longest

    # --- strips -------------------------------------------------------------------------------------------------------

    def strips(self, rows: _Rows) -> isl.Schedule:
        """A parallel loop over strips around the nests, whose loops over the rows of a strip are innermost."""
        key = f"strips{sum(isinstance(mark, StripMark) for mark in self.marks.values())}"
        count = self.count(rows)
        first = first_row(rows.lane)
        names = tuple(sorted(part.get_tuple_name() for part in sets_of(rows.domain)))
        strips = Strips(names, rows.lane, first, count, rows.places.buffers, rows.places.scalars)
        inner = in_sequence(
            [self.nest(rows, node, member) for node, member in zip(rows.nodes, rows.members, strict=True)]
        )
        self.marks[key] = StripMark(strips)
        inner = marked(inner, key)
        place = (
            rows.lane.add(constant_like(rows.lane, -first))
            .scale_down_val(isl.Val(count))
            .floor()
            .scale_val(isl.Val(count))
        )
        strip = place.add(constant_like(rows.lane, first))
        tree = inner.insert_partial_schedule(isl.MultiUnionPwAff.from_union_pw_aff(strip))
        own = self.options.parallel and not rows.outer
        tree = atomic_loop(tree, parallel=own)
        loop = f"strips:{key}"
        self.marks[loop] = LoopMark(parallel=own, private=rows.places.temporaries if own else ())
        return self.around(rows, marked(tree, loop))

    def around(self, rows: _Rows, tree: isl.Schedule) -> isl.Schedule:
        """The strips inside of the loops that stand outside of them, the outermost one in parallel."""
        partial = rows.nodes[0].band_get_partial_schedule()
        for member in reversed(rows.outer):
            loop = isl.MultiUnionPwAff.from_union_pw_aff(partial.get_at(member))
            tree = atomic_loop(tree.insert_partial_schedule(loop), parallel=member == rows.outer[0])
        if rows.outer and self.options.parallel:
            name = f"around{len(self.marks)}"
            private = (*rows.places.temporaries, *rows.places.scalars)
            self.marks[name] = LoopMark(parallel=True, private=private)
            tree = marked(tree, name)
        return tree

    def count(self, rows: _Rows) -> int:
        """Rows of a strip: fewer where their buffers would be too large."""
        estimates = {p.name: p.estimate for p in self.scop.parameters}
        size = sum(bytes_a_row(self.scop.arrays[one.array], one, estimates) for one in rows.places.buffers)
        machine = self.options.machine
        user, least = self.options.tile_sizes, least_strip_rows(machine)
        count = fitted_rows(machine, user, rows.members[0]) if user else strip_rows(machine, streams=rows.streams)
        while count > least and size * count > strip_bytes(machine):
            count = max(count // 2 // least * least, least)
        return count

    def nest(self, rows: _Rows, node: isl.ScheduleNode, member: int) -> isl.Schedule:
        partial = node.band_get_partial_schedule()
        lane = partial.get_at(member)
        others = [partial.get_at(k) for k in range(node.band_n_member()) if k != member and k not in rows.outer]
        return self.lanes(trees.nested(others, trees.read(node.child(0))), lane, rows.places.temporaries)

    def lanes(self, tree: trees.Tree, lane: isl.UnionPwAff, temporaries: Sequence[str]) -> isl.Schedule:
        """The tree with a vector loop over the rows around each of its statements, or sequences of them."""
        match tree:
            case trees.Band(partial, body):
                inner = self.lanes(body, lane, temporaries)
                return inner.insert_partial_schedule(partial.intersect_domain(inner.get_domain()))
            case trees.Sequence(parts) if any(trees.has_bands(part) for part in parts):
                return in_sequence([self.lanes(part, lane, temporaries) for part in parts])
        inner = trees.build(tree)
        own = isl.MultiUnionPwAff.from_union_pw_aff(lane.intersect_domain(inner.get_domain()))
        name = f"rows{len(self.marks)}"
        inside = {
            a.array for part in sets_of(inner.get_domain()) for a in self.scop.statement(part.get_tuple_name()).accesses
        }
        private = tuple(one for one in temporaries if one in inside)
        self.marks[name] = LoopMark(simd=True, private=private)
        return marked(inner.insert_partial_schedule(own), name)


def _strip_cycles(band: Band, places: Places, member: int, chain: int, count: int) -> float:
    """Of strips of so many rows. A step of the chain serves a vector's lanes, and what copying rows to and fro takes is
    worth `LEAST_CHAIN` cycles a step. Where nothing but a few cells of each row is copied, the chains of a strip's
    vectors overlap."""
    work = band.work
    if not all(map(is_short, places.buffers)):
        return work.instances() * (chain / work.lanes + LEAST_CHAIN * (1 - 1 / work.lanes))
    copies = sum(prod(row_cells(buffer) or ()) for buffer in places.buffers)
    total = copies * work.trips[member] * LEAST_CHAIN / 2  # which is of a copy to the buffer and one back
    for name, one in work.statements.items():
        jumps = sum(statement == name for statement, _ in places.apart)
        loads = (one.uses.loads - jumps) / LOADS / work.lanes + jumps * GATHER
        stores = one.uses.stores / STORES / work.lanes
        total += one.count * max(one.arithmetic / work.lanes, loads, stores, one.latency / count)
    return total


def _in_order(band: Band, chain: int, lanes: Mapping[str, str]) -> Claim:
    """What else can become of a nest: its steps wait for each other; what is parallel is decided later. Vector loops
    can only be those over the rows, too. lanes: by statement, their iterator."""
    cycles = max(band.work.instances() * chain, band.work.scalar(None, {}))
    cost = cycles if band.parallel_above else band.work.parallel(cycles, 0.0, 1)
    wished = band.setting.wished(band.node, "parallel")
    parallel = wished if wished in band.coincident else next(iter(band.coincident), None)
    return Claim("loops along the rows", "", cost, _nothing, parallel, None, lanes=lanes)


def _nothing(build: Builder, node: isl.ScheduleNode) -> isl.ScheduleNode:
    """Strips are made by who asks for them, of several nests together."""
    return node


def _is_leaf_band(node: isl.ScheduleNode) -> bool:
    return node.get_type() == _TYPE.band and not any(below.get_type() == _TYPE.band for below in walk(node.child(0)))
