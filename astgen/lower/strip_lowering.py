"""Strips of rows as loops over statements that use buffers, with copies before and after; tiles with panels likewise
(`scopt.astgen.lower.panel_statements`).

A strip of a `Strips` runs in this order: the thread's own buffers are chosen; cells that the strip reads before it has
written them are copied in; the statements; cells whose values are used outside the strip, or are left at the end of the
region, are copied out. No dependence leads from one row to another, so that nobody else looks at the cells of a strip
in the meantime.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import islpy as isl
from msgspec import Struct, field
from msgspec.structs import replace

from scopt.astgen.allocation import Allocation
from scopt.astgen.lower.panel_statements import PanelTile
from scopt.astgen.lower.panel_turns import PanelTurns
from scopt.astgen.lower.strip_cells import Copied
from scopt.astgen.lower.strip_statements import Names, Storage, copied, renamed, thread_choice
from scopt.astgen.lower.tile_records import Turned
from scopt.astgen.lower.transposing import Transposed
from scopt.ir.marked_schedule import Mark, MarkedSchedule, PackedTile, PanelMark, RowBuffer, StripMark, Strips
from scopt.ir.nest import LoopMark
from scopt.ir.scop import Access, Dependences, Scop, Statement
from scopt.ir.walks import used_names
from scopt.machine import Machine
from scopt.machine.costs import scattered_cells
from scopt.poly.isl_utils import IN, OUT, SET, joined, maps_of, sets_of, union_of_maps
from scopt.poly.row_buffers import is_short, keeps
from scopt.poly.set_pieces import coordinate, in_band, in_sequence, marked

_TYPE = isl.schedule_node_type


class Buffered(Struct, frozen=True, eq=False):
    """A schedule without strips and packed tiles, over a SCoP with their statements.

    expansions: by name of a statement that uses buffers, the original's instances: ``{ S[…] -> S_rows[…] }``. made:
      these and all other new statements. packed: names of statements that use panels. pointers: by the statement that
      sets it, what each thread must have of its own.
      parts: by name of a pointer to a thread's part, the array that has the parts.
      allocations, definitions: what the statements use. turned: by name of a statement that copies a panel's cells,
      the one that copies all rows and diagonals of a tile in one call. transposed: functions that these may call.
    """

    scop: Scop
    schedule: MarkedSchedule
    expansions: Mapping[str, isl.Map] = field(default_factory=dict)
    made: frozenset[str] = frozenset()
    packed: frozenset[str] = frozenset()
    pointers: Mapping[str, str] = field(default_factory=dict)
    parts: Mapping[str, str] = field(default_factory=dict)
    allocations: tuple[Allocation, ...] = ()
    definitions: tuple[str, ...] = ()
    turned: Mapping[str, Turned] = field(default_factory=dict)
    transposed: tuple[Transposed, ...] = ()


def lower_strips(scop: Scop, deps: Dependences, schedule: MarkedSchedule, machine: Machine) -> Buffered:
    """The schedule with its strips and packed tiles carried out, for the machine that they were made for."""
    if not schedule.strips and not schedule.packed:
        return Buffered(scop, schedule)
    names = Names(scop, machine)
    rebuilt = _Rebuild(scop, deps, schedule, names, dict(schedule.marks))
    tree = rebuilt.tree(schedule.tree.get_root().child(0))
    # where a loop was split, some instances of a statement may run outside of strips
    run = {str(one.get_tuple_name()) for one in sets_of(tree.get_domain())}
    made = tuple(one for strip in rebuilt.strips for one in strip.statements)
    tiles = [strip for strip in rebuilt.strips if isinstance(strip, PanelTile)]
    statements = (*(one for one in scop.statements if one.name in run), *made)
    used = set(used_names(*(one.body for one in statements)))
    arrays = {name: one for name, one in scop.arrays.items() if not one.local or one.spelling in used} | names.arrays
    return Buffered(
        replace(scop, statements=statements, arrays=arrays),
        replace(
            schedule,
            tree=tree,
            marks={name: mark for name, mark in rebuilt.marks.items() if not isinstance(mark, StripMark | PanelMark)},
        ),
        {name: relation for strip in rebuilt.strips for name, relation in strip.expansions.items()},
        frozenset(one.name for one in made),
        frozenset(name for tile in tiles for name in tile.expansions),
        {name: pointer for strip in rebuilt.strips for name, pointer in strip.pointers.items()},
        {pointer: memory for memory, pointer in names.pointers.items()},
        names.allocations(),
        names.definitions(),
        rebuilt.turns.turned,
        tuple(rebuilt.turns.functions),
    )


class _Rebuild(Struct):
    """Builds the tree anew from its leaves, since the statements that bands schedule change."""

    scop: Scop
    deps: Dependences
    schedule: MarkedSchedule
    names: Names
    marks: dict[str, Mark]
    strips: list[_Strip | PanelTile] = field(default_factory=list)
    turns: PanelTurns = field(default_factory=lambda: PanelTurns({}, []))
    current: _Strip | PanelTile | None = None

    def tree(self, node: isl.ScheduleNode) -> isl.Schedule:
        match node.get_type():
            case _TYPE.leaf:
                return isl.Schedule.from_domain(self.instances(node.get_domain()))
            case _TYPE.band:
                return self.band(node)
            case _TYPE.mark:
                return self.mark(node)
            case _TYPE.sequence | _TYPE.set:
                return in_sequence([self.tree(node.child(k).child(0)) for k in range(node.n_children())])
            case _TYPE.filter:
                return self.tree(node.child(0))
        raise AssertionError(f"unexpected schedule node {node.get_type()}")

    def instances(self, domain: isl.UnionSet) -> isl.UnionSet:
        """Of a leaf, for the parameters that the SCoP is for, as its bands are."""
        domain = domain.intersect_params(self.scop.context)
        return domain if self.current is None else domain.apply(union_of_maps(self.current.expansions.values()))

    def band(self, node: isl.ScheduleNode) -> isl.Schedule:
        inner = self.tree(node.child(0))
        domain, depth = inner.get_domain(), node.get_schedule_depth()
        new = union_of_maps(relation.reverse() for strip in self.strips for relation in strip.expansions.values())
        same = self.scop.domain.identity().union(new).intersect_domain(domain)
        own = {one.name for one in self.scop.statements} | {name for strip in self.strips for name in strip.expansions}
        members = []
        for k in range(node.band_n_member()):
            member = node.band_get_partial_schedule().get_at(k)
            member = member.pullback_union_pw_multi_aff(isl.UnionPwMultiAff.from_union_map(same))
            for part in sets_of(domain):
                if part.get_tuple_name() not in own:
                    member = member.union_add(coordinate(part, depth + k))
            members.append(member.intersect_domain(domain))
        return in_band(inner, members, node)

    def mark(self, node: isl.ScheduleNode) -> isl.Schedule:
        mark, name = self.schedule.mark(node), node.mark_get_id().get_name()
        if isinstance(mark, StripMark):
            return self.strip(node, mark.strips)
        if isinstance(mark, PanelMark):
            return self.packed(node, mark.tile)
        before = len(self.strips)
        inner = self.tree(node.child(0))
        if isinstance(mark, LoopMark) and mark.parallel:
            inside = self.strips[before:]
            private = tuple(dict.fromkeys(name for strip in inside for name in strip.private))
            # rows' cells stand for scalars, of which nobody else in the loop has a use
            gone = {name for strip in inside if isinstance(strip, _Strip) for name in strip.strips.scalars}
            kept = tuple(name for name in mark.private if name not in gone)
            self.marks[name] = replace(mark, private=(*kept, *private))
        return marked(inner, name)

    def strip(self, node: isl.ScheduleNode, strips: Strips) -> isl.Schedule:
        parallel = self.schedule.loop(node.parent().parent()).parallel
        return self.around(
            node, _Strip.of(self.scop, self.deps, strips, node, self.names, self.turns, parallel=parallel)
        )

    def packed(self, node: isl.ScheduleNode, tile: PackedTile) -> isl.Schedule:
        above, parallel = node, False
        while above.has_parent() and not parallel:
            above = above.parent()
            parallel = above.get_type() == _TYPE.mark and self.schedule.loop(above).parallel
        return self.around(
            node, PanelTile.of(self.scop, self.deps, tile, node, self.names, self.marks, self.turns, parallel=parallel)
        )

    def around(self, node: isl.ScheduleNode, strip: _Strip | PanelTile) -> isl.Schedule:
        """What is below a mark, between copies."""
        self.strips.append(strip)
        self.current = strip
        inner = self.tree(node.child(0))
        self.current = None
        return in_sequence([*strip.before(), inner, *strip.after()])


class _Strip(Copied, eq=False):
    """What strips become. prefix: ``{ S[…] -> [p0, …, strip] }`` for its statements.
    storage: where their arrays are. turns: what makes copies in one call."""

    strips: Strips
    storage: Storage
    turns: PanelTurns

    @staticmethod
    def of(
        scop: Scop,
        deps: Dependences,
        strips: Strips,
        node: isl.ScheduleNode,
        names: Names,
        turns: PanelTurns,
        *,
        parallel: bool,
    ) -> _Strip:
        """node: the strips' mark."""
        prefix = node.get_prefix_schedule_relation().intersect_domain(node.get_domain())
        storage = names.storage(strips, parallel=parallel)
        statements, expansions = [], {}
        for relation in maps_of(prefix):
            original = scop.statement(relation.get_tuple_name(IN))
            outer = relation.project_out(OUT, 0, relation.dim(OUT) - 1)
            identity = relation.domain().identity().reset_tuple_id(OUT)
            name = names.statement(f"{original.name}_rows")
            expansion = outer.flat_range_product(identity).set_tuple_name(OUT, name).coalesce()
            lane = lane_of(strips, relation.domain())
            statements.append(renamed(original, expansion, storage, lane, vectors=strips.vectors))
            expansions[name] = expansion
        return _Strip(scop, deps, prefix, statements, expansions, [], strips, storage, turns)

    @property
    def private(self) -> tuple[str, ...]:
        return self.storage.private

    @property
    def pointers(self) -> dict[str, str]:
        """What the choice sets, by its name."""
        return {name: self.storage.thread for name in self.choices if self.storage.thread is not None}

    def before(self) -> Iterator[isl.Schedule]:
        """The choice of buffers, and copies of what is read from outside."""
        if self.storage.thread is not None:
            places = self.prefix.range()
            domain = sets_of(places)[0].coalesce()
            name = self.storage.names.statement("thread")
            statement = thread_choice(self.scop, name, domain.set_tuple_name(name), self.storage)
            self.statements.append(statement)
            self.choices.append(name)
            yield isl.Schedule.from_domain(isl.UnionSet.from_set(statement.domain))
        for buffer in self.strips.buffers:
            yield from self.copies(
                buffer,
                [(a, self.exposed(s, a)) for s, a in self.kept(buffer) if not a.is_write],
                inwards=True,
            )

    def after(self) -> Iterator[isl.Schedule]:
        for buffer in self.strips.buffers:
            yield from self.copies(
                buffer, [(a, self.needed(s, a)) for s, a in self.kept(buffer) if a.is_write], inwards=False
            )

    def kept(self, buffer: RowBuffer) -> Iterator[tuple[Statement, Access]]:
        """The references to a buffer."""
        for statement, access in self.accesses(buffer.array):
            if keeps(buffer, access, lane_of(self.strips, statement.domain)[0]):
                yield statement, access

    def copies(
        self, buffer: RowBuffer, parts: Sequence[tuple[Access, isl.UnionSet]], *, inwards: bool
    ) -> Iterator[isl.Schedule]:
        """Loops that copy the cells that some instances refer to."""
        cells = None
        for access, instances in parts:
            for relation in maps_of(self.prefix.intersect_domain(instances)):
                found = (
                    relation.reverse().apply_range(access.relation.intersect_domain(relation.domain())).wrap().flatten()
                )
                cells = found if cells is None else cells.union(found)
        if cells is None or cells.intersect_params(self.scop.context).is_empty():
            return
        name = self.storage.names.statement(f"{buffer.array}_{'in' if inwards else 'out'}")
        domain = cells.coalesce().set_tuple_name(name)
        statement = copied(self.scop, name, domain, self.depth, buffer, self.storage, inwards=inwards)
        self.statements.append(statement)
        if not is_short(buffer) or buffer.problem:
            width, names = self.strips.count + buffer.spread, self.storage.names
            turned = self.turns.add_rows(self.scop, statement, buffer, width, names, inwards=inwards)
            self.statements += [turned] if turned is not None else []
        yield self.in_blocks(domain, buffer)

    def in_blocks(self, domain: isl.Set, buffer: RowBuffer) -> isl.Schedule:
        """Some cells of each row, then the next row, so that what is scattered stays in the first cache."""
        row, last = self.depth + buffer.dimension, domain.dim(SET) - 1
        others = [k for k in range(self.depth, domain.dim(SET)) if k not in (row, last)]
        if buffer.problem:
            order = [row, *others, *([] if last == row else [last])]
            return isl.Schedule.from_domain(isl.UnionSet.from_set(domain)).insert_partial_schedule(
                joined([coordinate(domain, k) for k in order])
            )
        size = isl.Val(scattered_cells(self.storage.names.machine))
        block = coordinate(domain, last).scale_down_val(size).floor().scale_val(size)
        members = [*(coordinate(domain, k) for k in others), block, coordinate(domain, row), coordinate(domain, last)]
        return isl.Schedule.from_domain(isl.UnionSet.from_set(domain)).insert_partial_schedule(joined(members))


def lane_of(strips: Strips, domain: isl.Set) -> tuple[int, int]:
    """The row of a statement's instances: an iterator's position, and a constant to be added."""
    # of all the statement's instances: a single row would be a constant
    own = isl.UnionSet.from_set(isl.Set.universe(domain.get_space()))
    pieces = strips.lane.intersect_domain(own).get_pw_aff_list()
    row = pieces.get_at(0).get_pieces()[0][1]
    position = next(k for k in range(row.dim(IN)) if not row.get_coefficient_val(IN, k).is_zero())
    return position, int(row.get_constant_val().get_num_si())
