"""Contractions as register tiles over packed operands: the schedule tree that says what is copied when, and the
statements that it runs.

The tree keeps its loops down to a register tile. Below, each `TileMark` says where operands are packed and where the
tile is: there its instances make room for statements of our own. In the order of execution, for a tile: instances in
ragged steps before, the steps that all cells of the tile make (`kernel`), ragged steps after. Where cells of a tile
don't exist, the kernel works on a copy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import islpy as isl
from msgspec import Struct, field
from msgspec.structs import replace

from scopt.astgen.lower.kernel import Kernel
from scopt.astgen.lower.register_tile import Tile
from scopt.astgen.lower.tile_records import Choice, Loops, Step, Turned
from scopt.astgen.lower.transposing import Transposed
from scopt.ir.marked_schedule import Mark, MarkedSchedule, TileMark, loop_of
from scopt.ir.nest import LoopMark
from scopt.ir.scop import Scop
from scopt.machine import Machine
from scopt.poly.isl_utils import joined, sets_of
from scopt.poly.set_pieces import coordinate, in_band, in_sequence, marked

_TYPE = isl.schedule_node_type


class Lowered(Struct, frozen=True, eq=False):
    """A schedule with register tiles, ready for the AST generator.

    scop: with the statements and buffers of the tiles. steps: by name of a statement that makes one step of a tile,
      what it claims to be.
    packs: names of statements that pack operands.
    turned: by name of a statement that packs an operand across its rows, the one that packs all rows and steps of two
      loops in one call.
    kernels, transposed: functions that the statements call. made: names of all new statements.
    choices: between a tile's forms. fills: names of the statements that fill packed operands up with zeros.
    weights: of which statement, and how many, instances a step stands for.
    """

    scop: Scop
    schedule: MarkedSchedule
    steps: Mapping[str, Step] = field(default_factory=dict)
    packs: frozenset[str] = frozenset()
    turned: Mapping[str, Turned] = field(default_factory=dict)
    kernels: tuple[Kernel, ...] = ()
    transposed: tuple[Transposed, ...] = ()
    made: frozenset[str] = frozenset()
    choices: tuple[Choice, ...] = ()
    fills: frozenset[str] = frozenset()
    weights: Mapping[str, tuple[str, int]] = field(default_factory=dict)

    def is_pack(self, name: str) -> bool:
        """Whether a statement packs operands."""
        return name in self.packs

    @property
    def definitions(self) -> tuple[str, ...]:
        """Of the functions that the statements call."""
        return (*(function.text for function in self.transposed), *(kernel.text for kernel in self.kernels))


def lower(scop: Scop, schedule: MarkedSchedule, machine: Machine) -> Lowered:
    """The schedule without its tilings, for the machine that they were made for. Raises `Irregular` if a tile's steps
    aren't an interval."""
    if not schedule.tilings:
        return Lowered(scop, schedule)
    rebuilt = _Rebuild(scop, schedule, machine)
    tree = rebuilt.tree(schedule.tree.get_root().child(0))
    statements = tuple(one for tile in rebuilt.tiles for one in tile.statements)
    arrays = {array.name: array for tile in rebuilt.tiles for array in tile.buffers}
    return Lowered(
        replace(scop, statements=(*scop.statements, *statements), arrays={**scop.arrays, **arrays}),
        MarkedSchedule(tree, rebuilt.marks, schedule.shapes),
        {name: step for tile in rebuilt.tiles for name, step in tile.steps.items()},
        frozenset(name for tile in rebuilt.tiles for name in tile.packs),
        {name: turned for tile in rebuilt.tiles for name, turned in tile.turned.items()},
        tuple({tile.kernel.name: tile.kernel for tile in rebuilt.tiles}.values()),
        tuple({one.name: one for tile in rebuilt.tiles for one in tile.transposed}.values()),
        frozenset(one.name for one in statements),
        tuple(choice for tile in rebuilt.tiles for choice in tile.choices),
        frozenset(name for tile in rebuilt.tiles for name in tile.fills),
        {
            name: (tile.statement.name, tile.tiling.rows * tile.tiling.columns)
            for tile in rebuilt.tiles
            for name in tile.steps
        },
    )


class _Rebuild(Struct):
    """Builds the tree anew from its leaves, since the statements that bands schedule change."""

    scop: Scop
    schedule: MarkedSchedule
    machine: Machine
    marks: dict[str, Mark] = field(default_factory=dict)
    tiles: list[Tile] = field(default_factory=list)
    current: Tile | None = None

    def tree(self, node: isl.ScheduleNode) -> isl.Schedule:
        """The subtree at a node as a schedule of its own."""
        match node.get_type():
            case _TYPE.leaf:
                return isl.Schedule.from_domain(node.get_domain())
            case _TYPE.band:
                return self.band(node)
            case _TYPE.mark:
                return self.mark(node)
            case _TYPE.sequence | _TYPE.set:
                parts = [self.tree(node.child(k).child(0)) for k in range(node.n_children())]
                return in_sequence(parts)
            case _TYPE.filter:
                return self.tree(node.child(0))
        raise AssertionError(f"unexpected schedule node {node.get_type()}")

    def band(self, node: isl.ScheduleNode) -> isl.Schedule:
        inner = self.tree(node.child(0))
        domain, depth = inner.get_domain(), node.get_schedule_depth()
        own = {part.get_tuple_name() for part in sets_of(self.scop.domain)}
        members = []
        for k in range(node.band_n_member()):
            member = node.band_get_partial_schedule().get_at(k)
            for part in sets_of(domain):
                if part.get_tuple_name() not in own:
                    member = member.union_add(coordinate(part, depth + k))
            members.append(member.intersect_domain(domain))
        return in_band(inner, members, node)

    def mark(self, node: isl.ScheduleNode) -> isl.Schedule:
        place = self.schedule.mark(node)
        if not isinstance(place, TileMark):
            before = len(self.tiles)
            inner = self.tree(node.child(0))
            mark = loop_of(place)
            if mark.parallel:
                buffers = tuple(array.name for tile in self.tiles[before:] for array in tile.buffers)
                mark = replace(mark, private=(*mark.private, *buffers))
            return self.marked(inner, node.mark_get_id().get_name(), mark)
        if place.place == "rows":
            self.current = Tile.of(self.scop, place.tiling, node, self.schedule, self.tiles, self.machine)
            self.tiles.append(self.current)
        tile = self.current
        assert tile is not None
        if place.place == "tile":
            return self.in_order(tile, tile.work())
        inner = self.tree(node.child(0))
        copies = self.in_order(tile, tile.packing(place.place))
        return copies.sequence(inner)

    def in_order(self, tile: Tile, loops: Iterator[Loops]) -> isl.Schedule:
        return in_sequence([self.loops(some) for some in loops])

    def loops(self, loops: Loops) -> isl.Schedule:
        result = isl.Schedule.from_domain(isl.UnionSet.from_set(loops.domain))
        *outer, last = loops.dimensions
        result = result.insert_partial_schedule(isl.MultiUnionPwAff.from_union_pw_aff(coordinate(loops.domain, last)))
        if loops.simd:
            result = self.marked(result, f"simd{len(self.marks)}", LoopMark(simd=True))
        if outer:
            result = result.insert_partial_schedule(joined([coordinate(loops.domain, k) for k in outer]))
        return result

    def marked(self, tree: isl.Schedule, name: str, mark: LoopMark) -> isl.Schedule:
        self.marks[name] = mark
        return marked(tree, name)
