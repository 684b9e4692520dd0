"""The walk over the bands of a tree: what becomes of each, parents first."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import islpy as isl

from scopt.ir.marked_schedule import MarkedSchedule, PanelMark, RegisterTiling, TileMark, TileShape
from scopt.ir.nest import LoopMark, Reduction
from scopt.ir.scop import Dependences, LoopDirective, Scop
from scopt.options import Options
from scopt.poly.bands import (
    Ordered,
    active,
    distances,
    nonnegative,
    private_arrays,
    reductions_of,
    with_properties_below,
)
from scopt.poly.isl_utils import joined, sets_of, walk
from scopt.poly.restructure import filters_of, has_inner_bands, reordered, sequence_of, united
from scopt.scheduler import shapes_tiles
from scopt.scheduler.decisions.contractions import contraction_of
from scopt.scheduler.decisions.inner_contraction import InnerPart, inner_contraction, inner_part
from scopt.scheduler.decisions.jam import Jam, blocks, jam_of, parts_of
from scopt.scheduler.decisions.marks import Marks
from scopt.scheduler.decisions.panels import TiledLoops, packed_tile
from scopt.scheduler.decisions.plans import LeafPlan, Planner
from scopt.scheduler.decisions.register_tiles import band_tile, pure_tiling, register_bands, register_tiling, wanted
from scopt.scheduler.decisions.setting import Setting
from scopt.scheduler.influence.honoured import wished_member
from scopt.scheduler.locality.diamond import tile_shape
from scopt.scheduler.locality.footprints import free_members
from scopt.scheduler.locality.strides import LinearSchedule, linear_schedule, shape_rows, strides, unskewed
from scopt.scheduler.locality.tile_sizes import band_sizes, diamond_sizes, vector_sizes
from scopt.scheduler.locality.tiling import atomic, interleaved, shaped_tiles, sizes_for, tiled, wavefront
from scopt.scheduler.passes.sinking import sunk

_BAND = isl.schedule_node_type.band


def decided(schedule: MarkedSchedule, setting: Setting) -> MarkedSchedule:
    """The tree with its bands reordered, distributed, tiled, skewed, and marked parallel or vector."""
    walk = _Walk(setting.scop, setting.deps, setting.dependences, setting.options, setting.loops)
    walk.marks.found.update(schedule.marks)
    node = walk.visit(schedule.tree.get_root(), parallel_above=not setting.options.parallel)
    return MarkedSchedule(node.get_schedule(), dict(walk.marks.found), tuple(walk.shapes))


@dataclass(slots=True)
class _Walk:
    """One walk over the tree, parents first; `marks` collects what the inserted mark nodes mean, `shapes` the tiles'
    shapes.

    deps: as they were computed; dependences: the same, sorted by what they ask of a schedule.
    """

    scop: Scop
    deps: Dependences
    dependences: Ordered
    options: Options
    loops: tuple[LoopDirective, ...] = ()
    shapes: list[TileShape] = field(default_factory=list)
    tilings: list[RegisterTiling] = field(default_factory=list)
    marks: Marks = field(default_factory=Marks)

    @property
    def planner(self) -> Planner:
        return Planner(self.scop, self.dependences, self.options, self.loops)

    def visit(self, node: isl.ScheduleNode, parallel_above: bool) -> isl.ScheduleNode:
        """Transform the subtree; returns the node at the same place."""
        if node.get_type() == isl.schedule_node_type.mark:
            return node  # finished
        if node.get_type() != _BAND:
            for position in range(node.n_children()):
                node = self.visit(node.child(position), parallel_above).parent()
            return node
        if has_inner_bands(node):
            return self.inner_band(node, parallel_above)
        return self.leaf_band(node, parallel_above)

    # --- bands with bands below ---------------------------------------------------------------------------------------

    def inner_band(self, node: isl.ScheduleNode, parallel_above: bool) -> isl.ScheduleNode:
        """A band around a sequence of others: a coincident member goes outermost and runs in parallel; else tiles run
        in wavefronts."""
        width = node.band_n_member()
        threads = wished_member(self.scop, node, self.loops, "parallel")
        coincident = sorted((k for k in range(width) if node.band_member_get_coincident(k)), key=lambda k: k != threads)
        chosen = coincident[0] if coincident and not parallel_above else None
        reductions: tuple[Reduction, ...] = ()
        if not coincident and not parallel_above and (reduced := self.planner.reduced_member(node)) is not None:
            chosen, reductions = reduced
        if chosen is not None:
            node = reordered(node, [chosen, *(k for k in range(width) if k != chosen)])
        skew = chosen is None and not parallel_above and width >= 2 and self.options.tile
        private = self.private_for(node, 0) if chosen is not None else self.private_for_wavefront(node) if skew else ()
        levels = 0
        tiles: TiledLoops | None = None
        if width >= 2 and self.options.tile:
            apart = self.inner_tiles(node) if skew and not self.loops else None
            if apart is not None:
                node, part = apart
                return self.with_inner_part(node, part, private)
            schedule, partial = linear_schedule(self.scop, node), node.band_get_partial_schedule()
            defaults = band_sizes(self.scop, self.options.machine, schedule, [1] * width, simd=False)
            sizes = sizes_for(self.options.tile_sizes, defaults)
            node = tiled(node, sizes, scaled=not skew)
            levels = 1
            tiles = TiledLoops(schedule, partial, sizes)
        if skew:
            node = wavefront(node, 2)
            node = self.sunk_points(node.child(0)).parent()
        if levels:
            node = atomic(atomic(node).child(0)).parent()
        node = self.below(node, levels, parallel_above or chosen is not None or skew)
        if tiles is not None and not reductions and not (parallel_above and self.options.parallel):
            node = self.packed(node, tiles)
        if chosen is not None:
            node = self.marks.above_member(node, 0, LoopMark(parallel=True, private=private, reductions=reductions))
        elif skew:
            node = self.marks.above_member(node, 1, LoopMark(parallel=True, private=private))
        return node

    def inner_tiles(self, node: isl.ScheduleNode) -> tuple[isl.ScheduleNode, InnerPart] | None:
        """The band in wavefronts of tiles of which a part can run in register tiles, and that part; None if there is
        none."""
        inner = inner_contraction(self.scop, node, self.options)
        if inner is None:
            return None
        size = band_tile(inner.contraction, self.options)
        node = wavefront(tiled(node, (size,) * node.band_n_member(), scaled=False), 2)
        part = inner_part(self.scop, self.dependences, node.child(0), inner, self.options)
        return (node, part) if part is not None else None

    def with_inner_part(self, node: isl.ScheduleNode, part: InnerPart, private: tuple[str, ...]) -> isl.ScheduleNode:
        """A tile band with a part of each tile before or after all the rest, in register tiles."""
        rest = node.get_domain().subtract(part.instances)
        points = node.child(0).insert_sequence(
            filters_of([part.instances, rest] if part.first else [rest, part.instances])
        )
        tile, other = (0, 1) if part.first else (1, 0)
        child = points.child(tile).child(0).cut().insert_partial_schedule(joined(part.members)).band_set_permutable(1)
        points = self.register_tiles(child, part.tiling, True).parent().parent()
        points = self.below(atomic(self.sunk_points(points.child(other).child(0))), 0, True).parent().parent()
        return self.marks.above_member(atomic(points.parent()), 1, LoopMark(parallel=True, private=private))

    def sunk_points(self, node: isl.ScheduleNode) -> isl.ScheduleNode:
        """The band over the points of a tile, its last member sunk where that gains."""
        points = sunk(self.scop, self.dependences, node)
        return node if points is None else with_properties_below(self.scop, self.dependences, points)

    def packed(self, node: isl.ScheduleNode, tiles: TiledLoops) -> isl.ScheduleNode:
        """A tile band with a mark below, where its tiles are worth panels and nothing inside has buffers of its own."""
        below = (inner for inner in walk(node.child(0)) if inner.get_type() == isl.schedule_node_type.mark)
        inside = [self.marks.found[inner.mark_get_id().get_name()] for inner in below]
        if (
            self.loops
            or not wanted(self.options)
            or not all(isinstance(mark, LoopMark) and not mark.parallel for mark in inside)
        ):
            return node
        found = packed_tile(self.scop, self.deps, self.options.machine, node.child(0), tiles)
        if found is None:
            return node
        count = sum(isinstance(mark, PanelMark) for mark in self.marks.found.values())
        return self.marks.named(node.child(0), f"panels{count}", PanelMark(found)).parent()

    def below(self, node: isl.ScheduleNode, levels: int, parallel_above: bool) -> isl.ScheduleNode:
        """Visit what lies below a band and, if it was tiled, below its point band; returns the band."""
        for _ in range(levels + 1):
            node = node.child(0)
        node = self.visit(node, parallel_above)
        for _ in range(levels + 1):
            node = node.parent()
        return node

    # --- bands with nothing but statements below ----------------------------------------------------------------------

    def leaf_band(self, node: isl.ScheduleNode, parallel_above: bool) -> isl.ScheduleNode:
        plan = self.planner.plan(node, parallel_above)
        tiling = register_tiling(self.scop, node, self.options) if not self.loops else None
        if tiling is not None:
            return self.register_tiles(node, tiling, parallel_above)
        jam = jam_of(self.scop, self.dependences, node, self.options) if not self.loops else None
        jammed = self.jammed(node, jam, parallel_above) if jam is not None else None
        if jammed is not None:
            return jammed
        # Inside of other loops a band starts anew each time: shapes for a good start pay for outermost ones.
        shaped = plan.skew and node.get_schedule_depth() == 0 and shapes_tiles(self.options.scheduler)
        shape = self.shape_for(node) if shaped else None
        node = reordered(node, plan.order)
        width = len(plan.order)
        private = (
            ()
            if plan.parallel is None
            else self.private_for_wavefront(node)
            if plan.skew
            else self.private_for(node, plan.parallel)
        )
        if plan.tile or plan.tile_vector:
            node = self.tile_leaf(node, plan, shape.rows if shape is not None else None)
        depth = 1 if plan.tile or plan.tile_vector else 0
        if depth:
            node = node.child(0)
        overlap = shape is not None and shape.interleave and plan.serial
        if shape is not None and (overlap or shape.rows is not None):
            self.shapes.append(shape)
        if overlap:
            node = interleaved(node)
            jumping = strides(self.scop, linear_schedule(self.scop, node), width - 1).jumping
            plan = replace(plan, scalar=(self.options.simd and jumping,))
        node = self.point_loops(node, plan)
        if depth:
            node = node.parent()
        if plan.parallel is not None:
            at = 1 if plan.skew else plan.parallel
            both = not depth and plan.parallel == width - 1  # the vector loop itself: it was marked above
            if not both:
                node = self.marks.above_member(
                    node, at, LoopMark(parallel=True, private=private, reductions=plan.threads)
                )
        return node

    def register_tiles(self, node: isl.ScheduleNode, tiling: RegisterTiling, parallel_above: bool) -> isl.ScheduleNode:
        """The band of a contraction as loops over blocks, over register tiles, and over a tile's instances, with marks
        for packing."""
        key = f"tiling{len(self.tilings)}"
        _, column, reduction = tiling.contraction.members
        coincident = {k for k in range(node.band_n_member()) if node.band_member_get_coincident(k)}
        bands = register_bands(
            node, tiling, self.options, chunks=not coincident - {column, reduction} and column in coincident
        )
        parallel = not parallel_above and bool(coincident - {reduction})
        self.tilings.append(tiling)
        node = node.delete()
        for place, band in reversed(bands):
            node = node.insert_partial_schedule(band).band_set_permutable(1)
            node = atomic(node)
            if place:
                node = self.marks.named(node, f"{place}:{key}", TileMark(place, tiling))
        if parallel:
            node = node.band_member_set_coincident(0, 1)
            node = self.marks.above_member(node, 0, LoopMark(parallel=True, coarse=True))
        return node

    def jammed(self, node: isl.ScheduleNode, jam: Jam, parallel_above: bool) -> isl.ScheduleNode | None:
        """The band as loops over blocks of rows, which run through the columns together; None where the dependences
        don't allow that."""
        partial = node.band_get_partial_schedule()
        row, column = partial.get_at(jam.row), partial.get_at(jam.column)
        chunks = jam.parallel == jam.column and not parallel_above
        outer = [blocks(column, jam.chunk)] if chunks else []
        node = atomic(
            node.delete().insert_partial_schedule(joined([*outer, blocks(row, jam.rows)])).band_set_permutable(1)
        )
        parts = parts_of(self.dependences, node.child(0), row, column, jam.rows)
        if parts is None:
            return None
        node = node.child(0).insert_sequence(
            filters_of([part for part in (parts.before, parts.full, parts.after) if not part.is_empty()])
        )
        for position in range(node.n_children()):
            child = node.child(position).child(0)
            domain = child.get_domain()
            rows, columns = (joined([member.intersect_domain(domain)]) for member in (row, column))
            together = domain.is_equal(parts.full)
            child = child.insert_partial_schedule(rows if together else columns).band_set_permutable(1)
            if together:
                child = child.band_member_set_ast_loop_type(0, isl.ast_loop_type.unroll)
                child = child.insert_partial_schedule(columns).band_set_permutable(1)
            reductions = (
                reductions_of(self.scop, self.dependences, child, columns.get_at(0))
                if together and self.options.simd
                else None
            )
            child = self.marks.above(
                child, LoopMark(simd=jam.simd or bool(reductions), jammed=True, reductions=reductions or ())
            )
            if not together:
                child = child.insert_partial_schedule(rows).band_set_permutable(1)
                child = self.marks.above(child, LoopMark(most=jam.rows))
            node = child.parent().parent()
        node = node.parent()
        if jam.parallel is not None and not parallel_above:
            node = self.marks.above_member(node.band_member_set_coincident(0, 1), 0, LoopMark(parallel=True))
        return node

    def shape_for(self, node: isl.ScheduleNode) -> TileShape:
        """The shape of a band's tiles; rows only if they are legal there: no active pair goes backwards in any of
        them."""
        pairs = [active(some, node) for some in (self.dependences.must, *self.dependences.reuse.values())]
        shape = tile_shape(self.scop, pairs, node)
        rows = [shape.rows.get_at(k) for k in range(shape.rows.dim(isl.dim_type.out))] if shape.rows is not None else []
        return (
            shape
            if all(nonnegative(distances(some, row)) for some in pairs for row in rows)
            else TileShape(shape.statements)
        )

    def tile_leaf(self, node: isl.ScheduleNode, plan: LeafPlan, rows: isl.MultiUnionPwAff | None) -> isl.ScheduleNode:
        """Tile what the plan tiles, between `rows` if there are some. Returns the tile band, above the point band.

        A vector tile loop that alone can be parallel goes outermost.
        """
        width = len(plan.order)
        if plan.skew and rows is not None:
            between = self.between(node, rows)
            own = diamond_sizes(self.scop, self.options.machine, node, rows, len(between), simd=any(plan.simd))
            planes = joined([rows.get_at(k) for k in range(rows.dim(isl.dim_type.out))] + between)
            return atomic(wavefront(shaped_tiles(node, planes, sizes_for(self.options.tile_sizes, own)), 2))
        defaults = self.default_sizes(node, plan)
        user = self.options.tile_sizes
        sizes = sizes_for(user, defaults) if plan.tile else (*defaults[:-1], *sizes_for(user[-1:], defaults[-1:]))
        node = tiled(node, sizes, scaled=not plan.skew)
        node = atomic(node.child(0)).parent()
        keep = list(range(width)) if plan.tile else []
        if not plan.tile_vector and plan.tile:
            keep = keep[:-1]
        if plan.tile_vector and not plan.tile:
            keep = [width - 1]
        elif plan.tile_vector and plan.parallel == 0 and not plan.skew and not node.band_member_get_coincident(0):
            keep = [width - 1, *range(width - 1)]
        node = reordered(node, keep)
        return atomic(wavefront(node, 2) if plan.skew else node)

    def between(self, node: isl.ScheduleNode, rows: isl.MultiUnionPwAff) -> list[isl.UnionPwAff]:
        """The members of a band that tiles between hyperplanes leave free, but for the last one, whose loop is the
        vector loop."""
        schedule, partial = linear_schedule(self.scop, node), node.band_get_partial_schedule()
        planes = {name: shape_rows(self.scop, rows, name) for name in schedule.members}
        free = free_members(schedule.prefix, schedule.members, planes)
        return [partial.get_at(k) for k in free if k < node.band_n_member() - 1]

    def default_sizes(self, node: isl.ScheduleNode, plan: LeafPlan) -> tuple[int, ...]:
        """Sizes of a band's members, in the plan's order, for tiles between them; 1 for those that aren't tiled."""
        machine, schedule = self.options.machine, linear_schedule(self.scop, node)
        contraction = contraction_of(self.scop, node) if plan.skew else None
        if contraction is not None:
            return tuple(band_tile(contraction, self.options) * slope for slope in plan.slopes)
        if plan.skew:
            return band_sizes(self.scop, machine, schedule, plan.slopes, simd=any(plan.simd))
        balance = plan.parallel == 0 and bool(node.band_member_get_coincident(0))
        return vector_sizes(
            self.scop, machine, schedule, len(plan.order), jumps=plan.jumps, only=not plan.tile, balance=balance
        )

    def point_loops(self, node: isl.ScheduleNode, plan: LeafPlan) -> isl.ScheduleNode:
        """The loops inside a tile; the part that is a contraction, and may run before or after all the rest, in
        register tiles. Returns the band or sequence that stands in the band's place."""
        apart = pure_tiling(self.scop, self.dependences, node, self.options) if plan.skew and not self.loops else None
        if apart is None:
            return self.vector_loops(node, plan)
        tiling, pure, first = apart
        rest = node.get_domain().subtract(pure)
        parts = [pure, rest] if first else [rest, pure]
        filters = isl.UnionSetList.alloc(node.get_ctx(), 2).add(parts[0]).add(parts[1])
        node = node.insert_sequence(filters)
        tile, other = (0, 1) if first else (1, 0)
        node = self.register_tiles(node.child(tile).child(0), tiling, True).parent().parent()
        return self.vector_loops(node.child(other).child(0), plan).parent().parent()

    def vector_loops(self, node: isl.ScheduleNode, plan: LeafPlan) -> isl.ScheduleNode:
        """Split the innermost member off, give each statement group a loop of its own, and mark the loops. Returns the
        band it was given."""
        width = node.band_n_member()
        schedule = linear_schedule(self.scop, node)
        whole_parallel = plan.parallel == width - 1 and not plan.tile and not plan.tile_vector
        if width > 1:
            node = node.band_split(width - 1).child(0)
        if len(plan.groups) > 1:
            partial = node.band_get_partial_schedule()
            node = node.cut().insert_sequence(sequence_of([united(parts) for parts in plan.groups]))
            for position, parts in enumerate(plan.groups):
                group = united(parts)
                loop = self.unskewed(schedule, width - 1, group) or partial
                child = (
                    node.child(position)
                    .child(0)
                    .insert_partial_schedule(loop.intersect_domain(group))
                    .band_set_permutable(1)
                )
                if len(parts) > 1:
                    child = child.child(0).insert_sequence(sequence_of(parts)).parent()
                node = self.mark_vector(child, plan, position, whole_parallel).parent().parent()
        else:
            if plan.skew and (own := self.unskewed(schedule, width - 1, node.get_domain())) is not None:
                node = (
                    node.delete()
                    .insert_partial_schedule(own.intersect_domain(node.get_domain()))
                    .band_set_permutable(1)
                )
            node = self.mark_vector(node, plan, 0, whole_parallel)
        return node.parent() if width > 1 else node

    def unskewed(self, schedule: LinearSchedule, member: int, group: isl.UnionSet) -> isl.MultiUnionPwAff | None:
        """The innermost loop of a group of one statement as a loop over that statement's iterator."""
        names = [part.get_tuple_name() for part in sets_of(group)]
        plain = unskewed(self.scop, schedule, member, names[0]) if len(names) == 1 else None
        return isl.MultiUnionPwAff.from_union_pw_aff(plain) if plain is not None else None

    def mark_vector(self, node: isl.ScheduleNode, plan: LeafPlan, group: int, parallel: bool) -> isl.ScheduleNode:
        scalar = plan.scalar[group] and not parallel
        if not (plan.simd[group] or parallel or scalar):
            return node
        names = {part.get_tuple_name() for part in sets_of(node.get_domain())}
        inside = {access.array for one in self.scop.statements if one.name in names for access in one.accesses}
        private, reductions = plan.private[group], plan.reductions[group]
        if parallel and plan.threads:
            private, reductions = self.private_for(node, 0), tuple(one for one in plan.threads if one.array in inside)
        mark = LoopMark(parallel, plan.simd[group], private, scalar=scalar, reductions=reductions)
        return self.marks.above(node, mark)

    # --- private arrays -----------------------------------------------------------------------------------------------

    def private_for(self, node: isl.ScheduleNode, member: int) -> tuple[str, ...]:
        """Private arrays of a parallel loop over one member (or over its tiles: a range that stays in an iteration
        stays in a tile)."""
        chosen = node.band_get_partial_schedule().get_at(member)
        found = private_arrays(node, chosen, self.dependences)
        if found is None and self.dependences.relaxed is not None:  # its reductions apart
            found = private_arrays(node, chosen, self.dependences.relaxed)
        return found or ()

    def private_for_wavefront(self, node: isl.ScheduleNode) -> tuple[str, ...]:
        """Private arrays of the tiles of one wavefront: those whose live ranges stay in one iteration of the first two
        members."""
        partial = node.band_get_partial_schedule()
        first = set(private_arrays(node, partial.get_at(0), self.dependences) or ())
        return tuple(name for name in private_arrays(node, partial.get_at(1), self.dependences) or () if name in first)
